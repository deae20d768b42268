//! What is different between two texts, as a unified diff: lines that went, lines that came, and
//! three lines around them.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/diff/diff.go` and the library that it uses,
//! `github.com/pmezard/go-difflib`: not the smallest diff, but the longest run of equal lines
//! first, then the same on both sides of it. That takes time that grows with the square of the
//! lines at best, so of long texts only the equal lines at their start and end are found.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use crate::json;
use crate::value::Value;

/// Equal lines that are shown around a change.
const CONTEXT: usize = 3;
/// With more lines in both texts together the search is a simple one.
const LINES_MAX: usize = 2000;
/// From here on lines that are everywhere do not say what belongs together.
const POPULAR_FROM: usize = 200;

/// The difference of two values, as their JSON shows it with each field in a line of its own.
/// Empty when there is none.
///
/// ```
/// use orlop_machinery::{json, unified_diff};
///
/// let old = json::parse(br#"{"a":1,"b":[]}"#).unwrap();
/// let new = json::parse(br#"{"a":2,"b":[]}"#).unwrap();
/// let expect = "@@ -1,4 +1,4 @@\n {\n- \"a\": 1,\n+ \"a\": 2,\n  \"b\": []\n }\n";
/// assert_eq!(unified_diff::of_values(&old, &new), expect);
/// ```
#[must_use]
pub fn of_values(old: &Value, new: &Value) -> String {
    of_lines(&json_lines(old), &json_lines(new))
}

/// The difference of two texts, given as lines. Empty when there is none.
#[must_use]
pub fn of_lines<L: AsRef<str>>(old: &[L], new: &[L]) -> String {
    let old: Vec<&str> = old.iter().map(AsRef::as_ref).collect();
    let new: Vec<&str> = new.iter().map(AsRef::as_ref).collect();
    let blocks = match old.len() + new.len() {
        0..=LINES_MAX => Matcher::new(&old, &new).equal_blocks(),
        _ => equal_ends(&old, &new),
    };
    let mut out = String::new();
    for group in groups(&steps(&blocks, old.len(), new.len())) {
        write_group(&group, (&old, &new), &mut out);
    }
    out
}

/// Lines that are the same in both texts.
#[derive(Clone, Copy)]
struct Block {
    old: usize,
    new: usize,
    size: usize,
}

/// A part of the way from one text to the other: the old lines are replaced by the new ones.
#[derive(Clone)]
struct Step {
    is_equal: bool,
    old: Range<usize>,
    new: Range<usize>,
}

struct Matcher<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    /// Where each line of the new text is, but for lines that are everywhere.
    positions: HashMap<&'a str, Vec<usize>>,
}

/// What is still to be done.
enum Task {
    Search(Range<usize>, Range<usize>),
    Take(Block),
}

impl<'a> Matcher<'a> {
    fn new(old: &'a [&'a str], new: &'a [&'a str]) -> Matcher<'a> {
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in new.iter().enumerate() {
            positions.entry(line).or_default().push(at);
        }
        if new.len() >= POPULAR_FROM {
            let most = new.len() / 100 + 1;
            positions.retain(|_, places| places.len() <= most);
        }
        Matcher { old, new, positions }
    }

    /// All blocks of equal lines, in order; none ends where the next one starts.
    fn equal_blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut tasks = vec![Task::Search(0..self.old.len(), 0..self.new.len())];
        while let Some(task) = tasks.pop() {
            let (old, new) = match task {
                Task::Search(old, new) => (old, new),
                Task::Take(block) => {
                    join(&mut blocks, block);
                    continue;
                }
            };
            let block = self.longest_block(old.clone(), new.clone());
            if block.size == 0 {
                continue;
            }
            let (old_end, new_end) = (block.old + block.size, block.new + block.size);
            if old_end < old.end && new_end < new.end {
                tasks.push(Task::Search(old_end..old.end, new_end..new.end));
            }
            tasks.push(Task::Take(block));
            if old.start < block.old && new.start < block.new {
                tasks.push(Task::Search(old.start..block.old, new.start..block.new));
            }
        }
        blocks
    }

    /// The longest run of equal lines; of several the first.
    fn longest_block(&self, old: Range<usize>, new: Range<usize>) -> Block {
        let mut best = Block { old: old.start, new: new.start, size: 0 };
        // How many equal lines end at the line of the new text and the last one of the old text.
        let mut lengths: HashMap<usize, usize> = HashMap::new();
        for at in old.clone() {
            let places = self.positions.get(self.old[at]).map_or(&[][..], Vec::as_slice);
            let mut next = HashMap::new();
            for &place in places.iter().filter(|place| new.contains(place)) {
                let before = place.checked_sub(1).and_then(|before| lengths.get(&before));
                let size = before.copied().unwrap_or(0) + 1;
                next.insert(place, size);
                if size > best.size {
                    best = Block { old: at + 1 - size, new: place + 1 - size, size };
                }
            }
            lengths = next;
        }
        self.widen(best, &old, &new)
    }

    /// Takes in the equal lines around that are everywhere.
    fn widen(&self, mut block: Block, old: &Range<usize>, new: &Range<usize>) -> Block {
        while block.old > old.start
            && block.new > new.start
            && self.old[block.old - 1] == self.new[block.new - 1]
        {
            block = Block { old: block.old - 1, new: block.new - 1, size: block.size + 1 };
        }
        while block.old + block.size < old.end
            && block.new + block.size < new.end
            && self.old[block.old + block.size] == self.new[block.new + block.size]
        {
            block.size += 1;
        }
        block
    }
}

/// Adds a block, to the one before if there is nothing between them.
fn join(blocks: &mut Vec<Block>, block: Block) {
    match blocks.last_mut() {
        Some(last) if last.old + last.size == block.old && last.new + last.size == block.new => {
            last.size += block.size;
        }
        _ => blocks.push(block),
    }
}

/// The equal lines at both ends of the texts.
fn equal_ends(old: &[&str], new: &[&str]) -> Vec<Block> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (rest_old, rest_new) = (&old[start..], &new[start..]);
    let ends = rest_old.iter().rev().zip(rest_new.iter().rev());
    let end = ends.take_while(|(old, new)| old == new).count();
    let blocks = [
        Block { old: 0, new: 0, size: start },
        Block { old: old.len() - end, new: new.len() - end, size: end },
    ];
    blocks.into_iter().filter(|block| block.size > 0).collect()
}

fn steps(blocks: &[Block], old_len: usize, new_len: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut old, mut new) = (0, 0);
    let end = Block { old: old_len, new: new_len, size: 0 };
    for block in blocks.iter().chain([&end]) {
        if old < block.old || new < block.new {
            steps.push(Step { is_equal: false, old: old..block.old, new: new..block.new });
        }
        (old, new) = (block.old + block.size, block.new + block.size);
        if block.size > 0 {
            steps.push(Step { is_equal: true, old: block.old..old, new: block.new..new });
        }
    }
    steps
}

/// Changes that are close to each other, with the equal lines around them.
fn groups(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut groups = Vec::new();
    let mut group: Vec<Step> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        if !step.is_equal {
            group.push(step.clone());
            continue;
        }
        let (is_first, is_last) = (at == 0, at + 1 == steps.len());
        let is_long = step.old.len() > 2 * CONTEXT;
        if is_first || is_last || is_long {
            if !is_first {
                group.push(first_lines(step));
                groups.push(std::mem::take(&mut group));
            }
            if !is_last {
                group.push(last_lines(step));
            }
        } else {
            group.push(step.clone());
        }
    }
    groups.push(group);
    groups.retain(|group| group.iter().any(|step| !step.is_equal));
    groups
}

fn first_lines(step: &Step) -> Step {
    let size = step.old.len().min(CONTEXT);
    let (old, new) = (step.old.start, step.new.start);
    Step { is_equal: true, old: old..old + size, new: new..new + size }
}

fn last_lines(step: &Step) -> Step {
    let size = step.old.len().min(CONTEXT);
    let (old, new) = (step.old.end, step.new.end);
    Step { is_equal: true, old: old - size..old, new: new - size..new }
}

fn write_group(group: &[Step], (old, new): (&[&str], &[&str]), out: &mut String) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let old_range = range_text(first.old.start..last.old.end);
    let new_range = range_text(first.new.start..last.new.end);
    writeln!(out, "@@ -{old_range} +{new_range} @@").expect("a string grows");
    let mut write_lines = |sign: char, lines: &[&str]| {
        for line in lines {
            writeln!(out, "{sign}{line}").expect("a string grows");
        }
    };
    for step in group {
        if step.is_equal {
            write_lines(' ', &old[step.old.clone()]);
        } else {
            write_lines('-', &old[step.old.clone()]);
            write_lines('+', &new[step.new.clone()]);
        }
    }
}

/// The first line and how many; lines count from 1, and none come after the line before.
fn range_text(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// JSON with each field and item in a line of its own, as Go indents it by one space.
fn json_lines(value: &Value) -> Vec<String> {
    let mut lines = vec![String::new()];
    write_json(value, 0, &mut lines);
    lines
}

/// Goes on with the last line. Values are as deep as a decoder lets them be.
fn write_json(value: &Value, depth: usize, lines: &mut Vec<String>) {
    match value {
        Value::List(items) if !items.is_empty() => {
            write_entries(items.iter().map(|item| (None, item)), ('[', ']'), depth, lines);
        }
        Value::Map(map) if !map.is_empty() => {
            let entries = map.iter().map(|(key, value)| (Some(key), value));
            write_entries(entries, ('{', '}'), depth, lines);
        }
        value => add(&json::to_string(value), lines),
    }
}

fn write_entries<'a>(
    entries: impl ExactSizeIterator<Item = (Option<&'a str>, &'a Value)>,
    (open, close): (char, char),
    depth: usize,
    lines: &mut Vec<String>,
) {
    add(&open.to_string(), lines);
    let last = entries.len() - 1;
    for (at, (key, value)) in entries.enumerate() {
        lines.push(" ".repeat(depth + 1));
        if let Some(key) = key {
            add(&format!("{}: ", json::to_string(&key.into())), lines);
        }
        write_json(value, depth + 1, lines);
        if at < last {
            add(",", lines);
        }
    }
    lines.push(format!("{}{close}", " ".repeat(depth)));
}

fn add(text: &str, lines: &mut [String]) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines are words.
    fn check(old: &str, new: &str, expect: &str) {
        let words = |text: &str| -> Vec<String> {
            text.split_whitespace().map(ToOwned::to_owned).collect()
        };
        let found = of_lines(&words(old), &words(new));
        assert_eq!(found.trim_end().replace('\n', "|"), expect, "{old} to {new}");
    }

    #[test]
    fn equal_texts_have_no_difference() {
        check("", "", "");
        check("a b c", "a b c", "");
    }

    #[test]
    fn lines_come_and_go() {
        check("", "a", "@@ -0,0 +1 @@|+a");
        check("a b", "", "@@ -1,2 +0,0 @@|-a|-b");
        check("a b c", "a x c", "@@ -1,3 +1,3 @@| a|-b|+x| c");
        check("a b", "b", "@@ -1,2 +1 @@|-a| b");
    }

    #[test]
    fn the_longest_run_of_equal_lines_stays() {
        check("a b", "a c a b", "@@ -1,2 +1,4 @@|+a|+c| a| b");
    }

    #[test]
    fn changes_far_from_each_other_stand_alone() {
        let old = "x 1 2 3 4 5 6 7 8 9 y";
        check(old, "x 1 2 3 4 5 6 7 8 9 z", "@@ -8,4 +8,4 @@| 7| 8| 9|-y|+z");
        let expect = "@@ -1,4 +1,4 @@|-x|+a| 1| 2| 3|@@ -8,4 +8,4 @@| 7| 8| 9|-y|+z";
        check(old, "a 1 2 3 4 5 6 7 8 9 z", expect);
        let expect = "@@ -1,8 +1,8 @@|-x|+a| 1| 2| 3| 4| 5| 6|-y|+z";
        check("x 1 2 3 4 5 6 y", "a 1 2 3 4 5 6 z", expect);
    }

    #[test]
    fn values_are_shown_as_json() {
        let old = json::parse(br#"{"a":{},"b":["<",2]}"#).unwrap();
        let new = json::parse(br#"{"b":["<",2,{"c":null}]}"#).unwrap();
        let expect = concat!(
            "@@ -1,7 +1,9 @@\n {\n- \"a\": {},\n  \"b\": [\n   \"\\u003c\",\n-  2\n+  2,\n+  {\n",
            "+   \"c\": null\n+  }\n  ]\n }\n"
        );
        assert_eq!(of_values(&old, &new), expect);
    }

    #[test]
    fn long_texts_are_compared_at_their_ends() {
        let line = |at: usize| at.to_string();
        let old: Vec<String> = (0..5000).map(line).collect();
        let mut new = old.clone();
        new[1] = "x".into();
        new[3] = "y".into();
        let expect = "@@ -1,7 +1,7 @@\n 0\n-1\n-2\n-3\n+x\n+2\n+y\n 4\n 5\n 6\n";
        assert_eq!(of_lines(&old, &new), expect);
    }

    /// What the diff makes of the old text.
    fn apply(old: &[String], diff: &str) -> Vec<String> {
        let mut new = Vec::new();
        let mut at = 0;
        for line in diff.lines() {
            if let Some(header) = line.strip_prefix("@@ -") {
                let range = header.split(' ').next().unwrap();
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let start: usize = start.parse().unwrap();
                let start = if count == "0" { start } else { start - 1 };
                new.extend_from_slice(&old[at..start]);
                at = start;
            } else if let Some(line) = line.strip_prefix('+') {
                new.push(line.to_owned());
            } else {
                assert_eq!(&line[1..], old[at]);
                if line.starts_with(' ') {
                    new.push(old[at].clone());
                }
                at += 1;
            }
        }
        new.extend_from_slice(&old[at..]);
        new
    }

    proptest! {
        #[test]
        fn a_diff_leads_from_the_old_text_to_the_new_one(
            old in prop::collection::vec("[a-d]", 0..40),
            new in prop::collection::vec("[a-d]", 0..40),
        ) {
            prop_assert_eq!(apply(&old, &of_lines(&old, &new)), new);
        }

        #[test]
        fn so_it_does_for_texts_with_lines_that_are_everywhere(
            old in prop::collection::vec("[a-z]", 190..260),
            new in prop::collection::vec("[a-z]", 190..260),
        ) {
            prop_assert_eq!(apply(&old, &of_lines(&old, &new)), new);
        }
    }
}
