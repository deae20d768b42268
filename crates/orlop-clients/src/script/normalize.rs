//! What differs from run to run is replaced by a word, so that the rest can be compared.
//!
//! Times, ages up to five minutes, uids, resource versions, allocated addresses and ports, the
//! server's address and the folder. Everything else is compared to the letter.

use std::path::Path;

use regex::{Captures, Regex};

/// Ages that may come about while a transcript runs; longer ones are facts.
const AGE_SECONDS_MAX: u64 = 299;

/// Replaces what differs.
#[derive(Debug)]
pub(super) struct Normalizer {
    folder: String,
    rules: Vec<(Regex, &'static str)>,
    age: Regex,
    address: Regex,
    gap: Regex,
}

impl Normalizer {
    /// For commands that run in a folder.
    pub(super) fn new(folder: &Path) -> Self {
        let rules = RULES.iter().map(|(pattern, with)| (regex(pattern), *with)).collect();
        Self {
            folder: folder.display().to_string(),
            rules,
            age: regex(AGE),
            address: regex(ADDRESS),
            gap: regex(GAP),
        }
    }

    /// The text with words for what differs.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut text = text.replace(&self.folder, "FOLDER");
        for (rule, with) in &self.rules {
            text = rule.replace_all(&text, *with).into_owned();
        }
        text = self.age.replace_all(&text, replace_age).into_owned();
        let tables: Vec<String> =
            text.split("\n\n").map(|table| self.replace_addresses(table)).collect();
        let text = tables.join("\n\n");
        let lines = text.lines().map(str::trim_end);
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// The width of an address decides the width of its column, so both go.
    fn replace_addresses(&self, table: &str) -> String {
        if !self.address.is_match(table) {
            return table.to_owned();
        }
        let table = self.address.replace_all(table, "ADDRESS");
        self.gap.replace_all(&table, "$1   ").into_owned()
    }
}

const RULES: [(&str, &str); 13] = [
    (r"https://(127\.0\.0\.1|localhost|0\.0\.0\.0):\d+", "https://SERVER"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UID"),
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME"),
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d \d\d:\d\d:\d\d [+]0000", "TIME"),
    (r#"(resourceVersion\\?"?: ?\\?")\d+\b"#, "${1}RV"),
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} [ \d]\d \d\d:\d\d:\d\d 20\d\d\b", "TIME"),
    (r#"(continue"?: ?)"?[A-Za-z0-9_=-]{20,}"?"#, "${1}TOKEN"),
    (r#"(nodePort"?: ?)3\d{4}\b"#, "${1}PORT"),
    (r"\b(\d+):3\d{4}/(TCP|UDP|SCTP)", "$1:PORT/$2"),
    (r"\b[EWI]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ ", "LOG "),
    (r"\b(kubectl-edit|LIVE|MERGED)-\d+", "$1-NUMBER"),
    (r"\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+]0000( UTC)?", "TIME"),
    (r"( )3\d{4}/(TCP|UDP|SCTP)", "${1}PORT/$2"),
];
/// An age that stands alone between spaces.
const AGE: &str = r"(?m)(^|[ (])(\d+)(m(\d+))?s(  ?|$|\)| ago)";
/// The addresses of the default range of services, without its first ones, which are facts.
const ADDRESS: &str = r"\b10\.(9[7-9]|10\d|11[01]|96\.(\d{3}|[1-9]\d|[2-9]))(\.\d+){1,2}\b";
/// Two or more spaces inside a line.
const GAP: &str = r"(\S) {2,}";

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

/// `AGE`, and as wide as before where a space can be spared.
fn replace_age(found: &Captures<'_>) -> String {
    let number = |group: usize| found.get(group).and_then(|part| part.as_str().parse().ok());
    let (first, second): (u64, Option<u64>) = (number(2).unwrap_or(u64::MAX), number(4));
    let seconds = second.map_or(first, |second| first.saturating_mul(60).saturating_add(second));
    if seconds > AGE_SECONDS_MAX {
        return found[0].to_owned();
    }
    let width = found[0].len() - found[1].len() - found[5].len();
    let after = match (width, &found[5]) {
        (2, "  ") => " ",
        (_, after) => after,
    };
    format!("{}AGE{after}", &found[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(Normalizer::new(Path::new("/tmp/x")).apply(text), format!("{expect}\n"));
    }

    #[test]
    fn ages_are_replaced_and_columns_stay() {
        check("a   0s    b", "a   AGE   b");
        check("a   10s   b", "a   AGE   b");
        check("a   2m3s", "a   AGE");
        check("Scaled up (0s ago)", "Scaled up (AGE ago)");
        check("for 300s", "for 300s");
        check("timeout=1s period=10s", "timeout=1s period=10s");
    }

    #[test]
    fn what_a_server_makes_up_is_replaced() {
        check("https://127.0.0.1:6443/api in /tmp/x/a", "https://SERVER/api in FOLDER/a");
        check("uid: 01234567-89ab-cdef-0123-456789abcdef", "uid: UID");
        check("at 2026-11-15T20:31:00Z", "at TIME");
        check("Created:  Sun, 15 Nov 2026 20:31:00 +0000", "Created:  TIME");
        check("LAST DEPLOYED: Sun Nov  1 20:31:00 2026", "LAST DEPLOYED: TIME");
        check(r#"  resourceVersion: "12""#, r#"  resourceVersion: "RV""#);
        check(r#"{"resourceVersion":"12"}"#, r#"{"resourceVersion":"RV"}"#);
        check(r#""{\"resourceVersion\":\"12\"}""#, r#""{\"resourceVersion\":\"RV\"}""#);
        check("--- /tmp/x/LIVE-7/a\t2026-11-15 20:31:00.1 +0000", "--- FOLDER/LIVE-NUMBER/a\tTIME");
        check("80:31234/TCP", "80:PORT/TCP");
    }

    #[test]
    fn allocated_addresses_are_replaced_with_their_columns() {
        check("web   ClusterIP   10.101.7.1       <none>", "web   ClusterIP   ADDRESS   <none>");
        check("dns   ClusterIP   10.96.0.10   <none>", "dns   ClusterIP   10.96.0.10   <none>");
        check("x     ClusterIP   10.96.14.10   <none>", "x   ClusterIP   ADDRESS   <none>");
    }
}
