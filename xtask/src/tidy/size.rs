//! Files and functions stay small, and what is too large may only shrink.
//!
//! The limits are hard; wanted is half of them. `xtask/tidy-ratchet.txt` lists what was above a
//! limit when the limit came, as `path lines` or `path:function lines`. An entry that is larger
//! than the thing it names is an error too, so the list always says how things are.
//!
//! Functions are found by indentation, which rustfmt guarantees: from the line with `fn` to the
//! closing brace in the same column.

use std::collections::BTreeMap;

use super::{Finding, Tree, rust_source};

const FILE_LINES_MAX: usize = 800;
/// For `lib.rs` and `mod.rs`, which say what is where and hold no logic.
const INDEX_LINES_MAX: usize = 150;
const FUNCTION_LINES_MAX: usize = 70;
const RATCHET: &str = "xtask/tidy-ratchet.txt";

/// A file or function, how large it is and how large it may be.
struct Measured {
    path: String,
    line: usize,
    lines: usize,
    limit: usize,
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut measured = BTreeMap::new();
    for (path, text) in tree.rust_files() {
        measure(path, text, &mut measured);
    }
    let ratchet = tree.files.get(RATCHET).map_or("", String::as_str);
    compare(&measured, ratchet)
}

/// Adds the file and its functions by their names in the ratchet.
fn measure(path: &str, text: &str, measured: &mut BTreeMap<String, Measured>) {
    let is_index = path.ends_with("/lib.rs") || path.ends_with("/mod.rs");
    let file = Measured {
        path: path.to_owned(),
        line: 1,
        lines: text.lines().count(),
        limit: if is_index { INDEX_LINES_MAX } else { FILE_LINES_MAX },
    };
    measured.insert(path.to_owned(), file);
    for function in functions(text) {
        let name = format!("{path}:{}", function.name);
        // Of functions with the same name in one file, the largest counts.
        if measured.get(&name).is_some_and(|other| other.lines >= function.lines) {
            continue;
        }
        let function = Measured {
            path: path.to_owned(),
            line: function.line,
            lines: function.lines,
            limit: FUNCTION_LINES_MAX,
        };
        measured.insert(name, function);
    }
}

fn compare(measured: &BTreeMap<String, Measured>, ratchet: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut known = BTreeMap::new();
    for (index, entry) in ratchet.lines().enumerate() {
        if entry.is_empty() || entry.starts_with('#') {
            continue;
        }
        let mut found = |message: &str| findings.push(Finding::new(RATCHET, index + 1, message));
        let Some((name, Ok(lines))) = entry.rsplit_once(' ').map(|(n, l)| (n, l.parse())) else {
            found("not `path lines` or `path:function lines`");
            continue;
        };
        known.insert(name, lines);
        match measured.get(name) {
            None => found(&format!("{name} is gone: remove the entry")),
            Some(now) if now.lines <= now.limit => {
                found(&format!("{name} is small enough now: remove the entry"));
            }
            Some(now) if now.lines < lines => {
                found(&format!("{name} has {} lines now: lower the entry", now.lines));
            }
            Some(_) => {}
        }
    }
    for (name, now) in measured {
        let limit = known.get(name.as_str()).map_or(now.limit, |lines| now.limit.max(*lines));
        if now.lines > limit {
            let message = format!("{name} has {} lines, at most {limit}: split it", now.lines);
            findings.push(Finding::new(&now.path, now.line, message));
        }
    }
    findings
}

#[derive(Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// All functions with a body, nested ones too.
fn functions(text: &str) -> Vec<Function<'_>> {
    let halves = rust_source::split(text);
    let lines: Vec<&str> = halves.code.lines().collect();
    let mut functions = Vec::new();
    for (index, (raw, line)) in text.lines().zip(&lines).enumerate() {
        let Some(at) = function_name(line) else {
            continue;
        };
        let name = &raw[at..];
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(lines) = length(&lines[index..]) {
            functions.push(Function {
                name: &name[..end.unwrap_or(name.len())],
                line: index + 1,
                lines,
            });
        }
    }
    functions
}

/// The column of the name when the line begins a function.
fn function_name(line: &str) -> Option<usize> {
    let (before, _) = line.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        matches!(word, "const" | "async" | "unsafe" | "extern" | "default")
            || word.starts_with("pub")
            || word.starts_with('"')
            || word.ends_with(['"', ')'])
    };
    let begins = before.is_empty() || before.ends_with(' ');
    (begins && before.split_whitespace().all(is_qualifier)).then_some(before.len() + 3)
}

/// The number of lines of the function that begins on the first line, or none without a body.
fn length(lines: &[&str]) -> Option<usize> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let column = indentation(lines[0]);
    let mut in_body = false;
    for (index, line) in lines.iter().enumerate() {
        if indentation(line) != column {
            continue;
        }
        match line.trim().as_bytes() {
            b"}" => return Some(index + 1),
            _ if in_body => {}
            [.., b'{'] => in_body = true,
            [.., b'}'] => return Some(index + 1),
            [.., b';'] => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixture::{lines, tree};
    use super::*;

    fn check_functions(text: &str, expect: &[(&str, usize, usize)]) {
        let functions = functions(text);
        let found: Vec<_> = functions.iter().map(|f| (f.name, f.line, f.lines)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn functions_are_found_by_indentation() {
        check_functions("fn a() {}\n", &[("a", 1, 1)]);
        check_functions(
            "pub(crate) async fn a(\n    b: u8,\n) -> u8\n{\n    b\n}\n",
            &[("a", 1, 6)],
        );
        check_functions("trait T {\n    fn a(\n        &self,\n    );\n    fn b();\n}\n", &[]);
        let nested = "impl T {\n    fn a() {\n        fn b() {\n        }\n    }\n}\n";
        check_functions(nested, &[("a", 2, 4), ("b", 3, 2)]);
        check_functions("let f: fn (u8) = x;\n// fn a() {\nuse_fn (x);\n", &[]);
        check_functions("extern \"C\" fn a() {\n    r\"\n}\n\";\n}\n", &[("a", 1, 5)]);
    }

    fn check_sizes(function_lines: usize, ratchet: &str, expect: &[&str]) {
        let body = "    x();\n".repeat(function_lines - 2);
        let text = format!("fn long() {{\n{body}}}\n");
        let tree = tree(&[("a.rs", &text), (RATCHET, ratchet)]);
        assert_eq!(lines(&check(&tree)), expect);
    }

    #[test]
    fn limits_hold() {
        check_sizes(70, "", &[]);
        check_sizes(71, "", &["a.rs:1: a.rs:long has 71 lines, at most 70: split it"]);
        let expect = [
            "a.rs:1: a.rs has 801 lines, at most 800: split it",
            "a.rs:1: a.rs:long has 801 lines, at most 70: split it",
        ];
        check_sizes(801, "", &expect);
        let text = "\n".repeat(151);
        let tree = tree(&[("crates/a/src/lib.rs", text.as_str())]);
        assert_eq!(check(&tree).len(), 1);
    }

    #[test]
    fn exceptions_only_shrink() {
        check_sizes(80, "# known\na.rs:long 80\n", &[]);
        check_sizes(
            81,
            "a.rs:long 80\n",
            &["a.rs:1: a.rs:long has 81 lines, at most 80: split it"],
        );
        let lower = "xtask/tidy-ratchet.txt:1: a.rs:long has 79 lines now: lower the entry";
        check_sizes(79, "a.rs:long 80\n", &[lower]);
        let small = "xtask/tidy-ratchet.txt:1: a.rs:long is small enough now: remove the entry";
        check_sizes(70, "a.rs:long 80\n", &[small]);
        let gone = "xtask/tidy-ratchet.txt:1: a.rs:gone is gone: remove the entry";
        check_sizes(10, "a.rs:gone 80\n", &[gone]);
        let wrong = "xtask/tidy-ratchet.txt:1: not `path lines` or `path:function lines`";
        check_sizes(10, "a.rs:long\n", &[wrong]);
    }
}
