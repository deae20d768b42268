//! Versions as semver.org has them, read as `github.com/blang/semver/v4` reads them.

use std::cmp::Ordering;
use std::fmt;

use orlop_machinery::text::quote;

/// A version. Versions that differ in their build only are equal.
#[derive(Clone, Debug)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second.
    pub minor: u64,
    /// The third.
    pub patch: u64,
    prerelease: Vec<Identifier>,
    build: Vec<String>,
}

/// A part of a pre-release. Numbers are before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

impl Version {
    /// Reads a version.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in upstream's words.
    pub fn parse(text: &str) -> Result<Version, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let major = number(major, "Major")?;
        let minor = number(minor, "Minor")?;
        let (rest, build) = split(rest, '+');
        let (patch, prerelease) = split(rest, '-');
        let patch = number(patch, "Patch")?;
        let prerelease = prerelease.into_iter().map(identifier).collect::<Result<_, _>>()?;
        let build = build.into_iter().map(build_part).collect::<Result<_, _>>()?;
        Ok(Version { major, minor, patch, prerelease, build })
    }

    /// Reads a version that may start with `v`, miss its last numbers or have zeros in front.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in upstream's words.
    pub fn parse_tolerant(text: &str) -> Result<Version, String> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
                let message = "short version cannot contain PreRelease/Build meta data";
                return Err(message.to_owned());
            }
            parts.resize(3, "0".to_owned());
        }
        Version::parse(&parts.join("."))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        let numbers = |version: &Version| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            // Without a pre-release it is the release, which comes after.
            match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
                (false, false) => self.prerelease.cmp(&other.prerelease),
                (is_release, other_is_release) => is_release.cmp(&other_is_release),
            }
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (at, part) in self.prerelease.iter().enumerate() {
            out.write_str(if at == 0 { "-" } else { "." })?;
            match part {
                Identifier::Number(number) => write!(out, "{number}")?,
                Identifier::Word(word) => out.write_str(word)?,
            }
        }
        for (at, part) in self.build.iter().enumerate() {
            write!(out, "{}{part}", if at == 0 { "+" } else { "." })?;
        }
        Ok(())
    }
}

fn number(text: &str, name: &str) -> Result<u64, String> {
    if !is_number(text) {
        let name = name.to_ascii_lowercase();
        return Err(format!("Invalid character(s) found in {name} number {}", quote(text)));
    }
    if has_leading_zero(text) {
        return Err(format!("{name} number must not contain leading zeroes {}", quote(text)));
    }
    parse_number(text)
}

/// What is wrong is said as Go's `strconv` does.
fn parse_number(text: &str) -> Result<u64, String> {
    let why = if text.is_empty() { "invalid syntax" } else { "value out of range" };
    text.parse().map_err(|_| format!("strconv.ParseUint: parsing {}: {why}", quote(text)))
}

/// What is before a sign, and the parts behind it.
fn split(text: &str, sign: char) -> (&str, Vec<&str>) {
    match text.split_once(sign) {
        Some((before, after)) => (before, after.split('.').collect()),
        None => (text, Vec::new()),
    }
}

fn identifier(text: &str) -> Result<Identifier, String> {
    if text.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if is_number(text) {
        if has_leading_zero(text) {
            let shown = quote(text);
            return Err(format!(
                "Numeric PreRelease version must not contain leading zeroes {shown}"
            ));
        }
        return parse_number(text).map(Identifier::Number);
    }
    if !is_word(text) {
        return Err(format!("Invalid character(s) found in prerelease {}", quote(text)));
    }
    Ok(Identifier::Word(text.to_owned()))
}

fn build_part(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("Build meta data is empty".to_owned());
    }
    if !is_word(text) {
        return Err(format!("Invalid character(s) found in build meta data {}", quote(text)));
    }
    Ok(text.to_owned())
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

/// Keeps a zero where no other digit is in front.
fn without_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let rest = part.trim_start_matches('0');
    let zero = if rest.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
    format!("{zero}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let seen = Version::parse(text);
        assert_eq!(
            seen.map_or_else(|wrong| wrong, |version| version.to_string()),
            expect,
            "{text}"
        );
    }

    fn check_tolerant(text: &str, expect: &str) {
        let seen = Version::parse_tolerant(text);
        assert_eq!(
            seen.map_or_else(|wrong| wrong, |version| version.to_string()),
            expect,
            "{text}"
        );
    }

    #[test]
    fn a_version_has_three_numbers_and_perhaps_more() {
        for same in ["1.2.3", "0.1.0-alpha.1", "1.0.0-0.a-b+c.01", "1.0.0+b-c", "1.2.3--"] {
            check(same, same);
        }
        check("", "Version string empty");
        check("1.2", "No Major.Minor.Patch elements found");
        check("a.2.3", "Invalid character(s) found in major number \"a\"");
        check("v1.2.3", "Invalid character(s) found in major number \"v1\"");
        check("01.2.3", "Major number must not contain leading zeroes \"01\"");
        check("1.b.3", "Invalid character(s) found in minor number \"b\"");
        check("1.02.3", "Minor number must not contain leading zeroes \"02\"");
        check("1.2.c", "Invalid character(s) found in patch number \"c\"");
        check("1.2.03", "Patch number must not contain leading zeroes \"03\"");
        check("1.2.3.4", "Invalid character(s) found in patch number \"3.4\"");
        check(".2.3", "strconv.ParseUint: parsing \"\": invalid syntax");
        check(
            "99999999999999999999.2.3",
            "strconv.ParseUint: parsing \"99999999999999999999\": value out of range",
        );
        check("1.2.3-", "Prerelease is empty");
        check("1.2.3-a..b", "Prerelease is empty");
        check("1.2.3-01", "Numeric PreRelease version must not contain leading zeroes \"01\"");
        check("1.2.3-a_b", "Invalid character(s) found in prerelease \"a_b\"");
        check("1.2.3+", "Build meta data is empty");
        check("1.2.3+a_b", "Invalid character(s) found in build meta data \"a_b\"");
    }

    #[test]
    fn a_tolerated_version_is_completed() {
        check_tolerant("v1.0.0", "1.0.0");
        check_tolerant("1.0", "1.0.0");
        check_tolerant("v1", "1.0.0");
        check_tolerant("01.01.01", "1.1.1");
        check_tolerant("000.00.0-a", "0.0.0-a");
        check_tolerant("1.2.00-a", "1.2.0-a");
        check_tolerant("1.2-a", "short version cannot contain PreRelease/Build meta data");
        check_tolerant("", "strconv.ParseUint: parsing \"\": invalid syntax");
        check_tolerant("vv1.0.0", "Invalid character(s) found in major number \"0v1\"");
    }

    #[test]
    fn versions_are_ordered() {
        let in_order = [
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-beta",
            "1.0.0",
            "1.0.1",
            "1.1.0",
            "2.0.0",
        ];
        let versions: Vec<Version> =
            in_order.iter().filter_map(|text| Version::parse(text).ok()).collect();
        assert_eq!(versions.len(), in_order.len());
        assert!(versions.is_sorted_by(|a, b| a < b));
        assert_eq!(Version::parse("1.0.0+a"), Version::parse("1.0.0+b"));
    }
}
