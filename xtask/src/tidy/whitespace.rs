//! The small things that make diffs noisy: tabs, trailing space, missing last newline, width.

use super::{Finding, Tree};

const COLUMNS_MAX: usize = 100;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree.files_ending(&["rs", "md", "toml"]);
    files.flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |line: usize, message: &str| findings.push(Finding::new(path, line, message));
    for (index, line) in text.split_terminator('\n').enumerate() {
        if line.contains('\t') {
            found(index + 1, "tab");
        }
        if line.ends_with(char::is_whitespace) {
            found(index + 1, "trailing white space");
        }
        let is_wide = line.chars().count() > COLUMNS_MAX;
        if is_wide && path.ends_with(".rs") && !line.contains("://") {
            found(index + 1, "longer than 100 columns");
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        found(text.lines().count(), "no newline at the end of the file");
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expect: &[&str]) {
        let findings = check_file("a.rs", text);
        let messages: Vec<&str> = findings.iter().map(|found| &*found.message).collect();
        assert_eq!(messages, expect, "{text:?}");
    }

    #[test]
    fn noise_is_found() {
        check_text("a\n\nb\n", &[]);
        check_text("\ta \n", &["tab", "trailing white space"]);
        check_text("a\r\n", &["trailing white space"]);
        check_text("a", &["no newline at the end of the file"]);
    }

    #[test]
    fn wide_lines_are_found_unless_they_hold_an_address() {
        let wide = "x".repeat(101);
        check_text(&format!("{wide}\n"), &["longer than 100 columns"]);
        check_text(&format!("https://{wide}\n"), &[]);
        assert!(check_file("a.md", &format!("{wide}\n")).is_empty());
    }
}
