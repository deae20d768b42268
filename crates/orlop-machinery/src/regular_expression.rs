//! Regular expressions as Go has them: the same syntax, the same errors, the same meaning.
//!
//! Go's syntax is read into a tree, after `regexp/syntax/parse.go`, and the tree is written again
//! for the crate `regex`, which has the same semantics (leftmost match in linear time) but other
//! words: its classes `\d`, `\w`, `\s` and the boundary `\b` know all of Unicode, Go's are ASCII;
//! it has no `\Q..\E` and no octal escapes.
//!
//! Expressions may be nested less deeply than in Go. Names of scripts are those of `regex`, which
//! knows the four-letter ones too.

mod parse;
mod write;

use std::fmt;

use regex::{Regex, RegexBuilder};

use parse::parse;

/// A compiled expression is at most of this size, in bytes. Go bounds the number of instructions.
const SIZE_MAX: usize = 64 << 20;
/// How deep the expression that is written for `regex` may be: more than what is read may be, as
/// writing adds groups.
const NEST_MAX: u32 = 300;

/// Why a text is no regular expression. Prints as in Go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong, such as `missing closing ]`.
    pub code: &'static str,
    /// The part of the expression where it is.
    pub expression: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error parsing regexp: {}: `{}`", self.code, self.expression)
    }
}

impl std::error::Error for SyntaxError {}

/// Compiles an expression in Go's syntax.
///
/// # Errors
///
/// When Go would not compile it.
///
/// ```
/// use orlop_machinery::regular_expression::compile;
///
/// assert!(compile(r"^\Qa.b\E\d+$").unwrap().is_match("a.b42"));
/// let wrong = compile("a[b").unwrap_err().to_string();
/// assert_eq!(wrong, "error parsing regexp: missing closing ]: `[b`");
/// ```
pub fn compile(expression: &str) -> Result<Regex, SyntaxError> {
    compile_counted(expression).map(|(regex, _)| regex)
}

/// Compiles an expression, and tells how many instructions Go would make of it, about: at worst
/// each is looked at for each character of a text.
///
/// # Errors
///
/// When Go would not compile it.
pub fn compile_counted(expression: &str) -> Result<(Regex, u64), SyntaxError> {
    let tree = parse(expression)?;
    let text = write::write(&tree);
    let built = RegexBuilder::new(&text).size_limit(SIZE_MAX).nest_limit(NEST_MAX).build();
    let too_large = |_| SyntaxError { code: parse::TOO_LARGE, expression: expression.to_owned() };
    Ok((built.map_err(too_large)?, tree.size))
}

/// Checks an expression without compiling it.
///
/// # Errors
///
/// When Go would not compile it.
pub fn check(expression: &str) -> Result<(), SyntaxError> {
    parse(expression).map(|_| ())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn expressions_match_as_in_go() {
        let cases: &[(&str, &str, bool)] = &[
            ("a", "xay", true),
            ("^a$", "a\n", false),
            (r"^a\z", "a", true),
            (r"\d", "\u{665}", false),
            (r"\d", "5", true),
            (r"^\w+$", "h\u{e9}", false),
            (r"\s", "\u{a0}", false),
            (r"\s", "\u{b}", false),
            (r"[[:space:]]", "\u{b}", true),
            (r"[^[:alpha:]]", "a", false),
            (r"\bfoo\b", "a foo b", true),
            (r"\Bo", "foo", true),
            (r"\Qa.b\E+", "a.bbb", true),
            (r"^\Qa.b", "axb", false),
            (r"(?i)K", "\u{212a}", true),
            (r"(?i:a)b", "AB", false),
            (r"(?i:a)b", "Ab", true),
            (r"a(?i)b|c", "C", true),
            (r"(?s)^.$", "\n", true),
            (r"^.$", "\n", false),
            (r"(?m)^b$", "a\nb\nc", true),
            (r"^(?P<x>a)(?<y>b)$", "ab", true),
            (r"^\x41\x{42}\103$", "ABC", true),
            (r"^\pL+$", "a\u{e9}", true),
            (r"^\p{Greek}$", "\u{3b1}", true),
            (r"^\p{^Greek}$", "\u{3b1}", false),
            (r"^\PL$", "1", true),
            (r"^a{2,3}$", "aa", true),
            (r"^a{,3}$", "a{,3}", true),
            (r"^a{2$", "a{2", true),
            (r"^[]a]$", "]", true),
            (r"^[a-]$", "-", true),
            (r"^[\]\-^]$", "^", true),
            (r"^[a\-z]$", "m", false),
            (r"^[a&&b]$", "&", true),
            (r"^[[a]$", "[", true),
            (r"^x*$", "", true),
            (r"a||b", "zzz", true),
            (r"^(|a)$", "", true),
            (r"a(?i)*b", "b", true),
            (r"^\/\_\-$", "/_-", true),
            (r"^\a\f\n\r\t\v$", "\u{7}\u{c}\n\r\t\u{b}", true),
            (r"^(?:a|b)+?$", "abab", true),
            (r"^[^\n]$", "\n", false),
            (r"^\D\W\S$", "ab\u{a0}", false),
            (r"^\D\W\S$", "a\u{e9}\u{a0}", true),
            (r"(?i)^[^k]$", "\u{212a}", false),
            (r"^[\d\s-]+$", "1 -", true),
        ];
        for (expression, text, expect) in cases {
            let found = compile(expression).unwrap().is_match(text);
            assert_eq!(found, *expect, "{expression} on {text:?}");
        }
    }

    #[test]
    fn errors_are_those_of_go() {
        let cases = [
            ("a[b", "missing closing ]: `[b`"),
            ("(a", "missing closing ): `(a`"),
            ("a)", "unexpected ): `a)`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a|*", "missing argument to repetition operator: `*`"),
            ("(+)", "missing argument to repetition operator: `+`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a*?+", "invalid nested repetition operator: `*?+`"),
            ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{3,2}", "invalid repeat count: `{3,2}`"),
            ("(a{100}){11}", "invalid repeat count: `{11}`"),
            (r"a\", "trailing backslash at end of expression: ``"),
            (r"\q", r"invalid escape sequence: `\q`"),
            (r"\1", r"invalid escape sequence: `\1`"),
            (r"\C", r"invalid escape sequence: `\C`"),
            (r"\Z", r"invalid escape sequence: `\Z`"),
            (r"\xg", r"invalid escape sequence: `\xg`"),
            (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
            ("(?<!a)", "invalid named capture: `(?<!a)`"),
            ("(?<=a>b)", "invalid named capture: `(?<=a>`"),
            ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
            (r"\pX", r"invalid character class range: `\pX`"),
            ("[[:word:]x[:nope:]]", "invalid character class range: `[:nope:]`"),
        ];
        for (expression, expect) in cases {
            let found = compile(expression).unwrap_err().to_string();
            assert_eq!(found, format!("error parsing regexp: {expect}"), "{expression}");
        }
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let deep = "(".repeat(110) + "a" + &")".repeat(110);
        assert_eq!(check(&deep).unwrap_err().code, "expression nests too deeply");
        assert!(compile(&("(?:".repeat(40) + "a" + &")*".repeat(40))).is_ok());
        assert_eq!(check(&"a{1000}".repeat(4000)).unwrap_err().code, "expression too large");
    }
}
