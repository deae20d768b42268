//! What every source file has and has not: a module doc, ASCII only, no leftovers.
//!
//! A leftover is a marker of unfinished work that no issue follows, or a macro that stands in
//! for code. `TODO(#123)` is a marker that an issue follows.

use super::{Finding, Tree, rust_source};

const MARKERS: [&str; 3] = ["TODO", "FIXME", "XXX"];
const MACROS: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree.rust_files();
    files.flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |line: usize, message: String| findings.push(Finding::new(path, line, message));
    if !text.starts_with("//!") {
        let message = "start the file with a `//!` doc: what, the invariant, what is not here";
        found(1, message.to_owned());
    }
    let halves = rust_source::split(text);
    let halves = halves.code.lines().zip(halves.comments.lines());
    for (index, (line, (code, comment))) in text.lines().zip(halves).enumerate() {
        if !line.is_ascii() {
            found(index + 1, "not ASCII: write `\\u{..}` or another word".to_owned());
        }
        for marker in MARKERS.iter().filter(|marker| is_unfollowed(comment, marker)) {
            found(index + 1, format!("{marker} without an issue: write `TODO(#123)`"));
        }
        for name in MACROS.iter().filter(|name| rust_source::has_word(code, name)) {
            found(index + 1, format!("`{name}` does not land"));
        }
    }
    findings
}

/// Whether the marker stands in the comment without `(#`, digits and `)` behind it.
fn is_unfollowed(comment: &str, marker: &str) -> bool {
    rust_source::word_columns(comment, marker).any(|at| {
        let rest = &comment[at + marker.len()..];
        let issue = rest.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
        issue.is_none_or(|(number, _)| number.parse::<u64>().is_err())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expect: &[&str]) {
        let findings = check_file("a.rs", text);
        let messages: Vec<&str> = findings.iter().map(|found| &*found.message).collect();
        assert_eq!(messages, expect, "{text}");
    }

    #[test]
    fn files_start_with_their_doc() {
        check_text("//! Doc.\n", &[]);
        let message = "start the file with a `//!` doc: what, the invariant, what is not here";
        check_text("use std::fs;\n", &[message]);
    }

    #[test]
    fn source_is_ascii() {
        let message = "not ASCII: write `\\u{..}` or another word";
        check_text("//! Doc.\n// caf\u{e9}\n", &[message]);
    }

    #[test]
    fn markers_need_an_issue() {
        check_text("//! Doc.\n// TODO(#12): later\n", &[]);
        check_text("//! Doc.\nlet text = \"TODO\";\n", &[]);
        check_text("//! Doc.\n// TODOS\n", &[]);
        let message = "FIXME without an issue: write `TODO(#123)`";
        check_text(&format!("//! Doc.\n// {}: later\n", MARKERS[1]), &[message]);
    }

    #[test]
    fn stand_in_macros_do_not_land() {
        check_text("//! Doc.\ntodo!()\n", &["`todo!` does not land"]);
        check_text("//! Doc.\nstd::dbg!(x)\n", &["`dbg!` does not land"]);
        check_text("//! Doc.\nmy_todo!()\n// todo!\n", &[]);
    }
}
