//! As much of TOML as manifests use: sections, keys, values, and the comments behind them.
//!
//! A TOML library would drop the comments, and the comments are what is checked.

/// A `Cargo.toml` as a flat list of its entries.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) entries: Vec<Entry>,
}

/// One `key = value`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The heading above it, such as `dependencies`, without brackets.
    pub(super) section: String,
    /// As written: `tokio.workspace` stays one key.
    pub(super) key: String,
    /// As written, on one line.
    pub(super) value: String,
    /// What stands behind the value on its first or last line.
    pub(super) comment: Option<String>,
    /// Where it starts, counted from one.
    pub(super) line: usize,
}

impl Manifest {
    pub(super) fn parse(text: &str) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let mut section = String::new();
        let mut open = false;
        for (index, line) in text.lines().enumerate() {
            let (content, comment) = split_comment(line);
            let content = content.trim();
            if let (true, Some(entry)) = (open, entries.last_mut()) {
                entry.value += content;
                entry.comment = comment.map(str::to_owned).or(entry.comment.take());
                open = is_open(&entry.value);
            } else if content.starts_with('[') {
                section = content.trim_matches(['[', ']']).trim().to_owned();
            } else if let Some((key, value)) = content.split_once('=') {
                entries.push(Entry {
                    section: section.clone(),
                    key: key.trim().trim_matches('"').to_owned(),
                    value: value.trim().to_owned(),
                    comment: comment.map(str::to_owned),
                    line: index + 1,
                });
                open = is_open(value);
            }
        }
        Self { entries }
    }

    /// The line of a dependency, or the first line when it is written in an unknown way.
    pub(super) fn line_of(&self, dependency: &str) -> usize {
        let names = |entry: &&Entry| {
            entry.section.contains("dependencies") && entry.dependency() == dependency
        };
        self.entries.iter().find(names).map_or(1, |entry| entry.line)
    }
}

impl Entry {
    /// The name of the dependency that an entry of a dependency section is about.
    pub(super) fn dependency(&self) -> &str {
        match self.section.rsplit_once("dependencies.") {
            Some((_, name)) => name,
            None => self.key.split('.').next().unwrap_or_default(),
        }
    }
}

/// Splits a line at the first `#` outside quotes.
fn split_comment(line: &str) -> (&str, Option<&str>) {
    let mut quote = None;
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, '#') => return (&line[..at], Some(line[at + 1..].trim())),
            _ => {}
        }
    }
    (line, None)
}

/// Whether a value goes on in the next line.
fn is_open(value: &str) -> bool {
    let count = |bracket: char| value.matches(bracket).count();
    count('[') > count(']') || count('{') > count('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"
[package]
name = "a#b" # the name
[dependencies]
tokio.workspace = true
lz4 = { version = "1", features = [
    "std",
] } # small
[dependencies.serde]
workspace = true
"##;

    fn check(index: usize, expect: (&str, &str, &str, Option<&str>, usize)) {
        let entry = &Manifest::parse(TEXT).entries[index];
        let comment = entry.comment.as_deref();
        let (section, key, value) = (&*entry.section, &*entry.key, &*entry.value);
        assert_eq!((section, key, value, comment, entry.line), expect);
    }

    #[test]
    fn entries_keep_section_comment_and_line() {
        check(0, ("package", "name", "\"a#b\"", Some("the name"), 3));
        check(1, ("dependencies", "tokio.workspace", "true", None, 5));
        let lz4 = "{ version = \"1\", features = [\"std\",] }";
        check(2, ("dependencies", "lz4", lz4, Some("small"), 6));
        check(3, ("dependencies.serde", "workspace", "true", None, 10));
    }

    #[test]
    fn dependencies_are_found_in_every_spelling() {
        let manifest = Manifest::parse(TEXT);
        assert_eq!(manifest.line_of("tokio"), 5);
        assert_eq!(manifest.line_of("lz4"), 6);
        assert_eq!(manifest.line_of("serde"), 10);
        assert_eq!(manifest.line_of("none"), 1);
    }
}
