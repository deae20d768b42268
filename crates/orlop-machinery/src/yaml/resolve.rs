//! What a scalar means that is not in quotes. After go-yaml's `resolve.go`.

use super::timestamp::is_timestamp;

/// What all tags start with that YAML itself defines.
const PREFIX: &str = "tag:yaml.org,2002:";

/// A scalar and what it turned out to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    /// Too large for a number with a sign.
    Uint(u64),
    Float(f64),
    /// Text that looks like a moment, and stays text.
    Timestamp,
    /// Text.
    Text,
}

impl Resolved {
    fn tag(self) -> &'static str {
        match self {
            Resolved::Null => "!!null",
            Resolved::Bool(_) => "!!bool",
            Resolved::Int(_) | Resolved::Uint(_) => "!!int",
            Resolved::Float(_) => "!!float",
            Resolved::Timestamp => "!!timestamp",
            Resolved::Text => "!!str",
        }
    }
}

/// What a scalar without quotes and without tag is.
pub(super) fn resolve(text: &str) -> Resolved {
    resolve_as(text, true)
}

/// What a scalar with a tag is. A tag that is not of YAML itself says nothing.
///
/// The error is Go's message.
pub(super) fn resolve_tagged(tag: &str, text: &str) -> Result<Resolved, String> {
    let short = match tag.strip_prefix(PREFIX) {
        Some(kind @ ("bool" | "int" | "float" | "null" | "timestamp")) => format!("!!{kind}"),
        _ => return Ok(Resolved::Text),
    };
    let resolved = resolve_as(text, short == "!!timestamp");
    match resolved {
        Resolved::Int(number) if short == "!!float" =>
        {
            #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
            Ok(Resolved::Float(number as f64))
        }
        resolved if resolved.tag() == short => Ok(resolved),
        resolved => Err(format!("cannot decode {} `{text}` as a {short}", resolved.tag())),
    }
}

/// Whether a tag says that the text is base64.
pub(super) fn is_binary(tag: &str) -> bool {
    tag.strip_prefix(PREFIX) == Some("binary")
}

/// Whether a tag says that a key is a merge key.
pub(super) fn is_merge(tag: &str) -> bool {
    tag.strip_prefix(PREFIX) == Some("merge")
}

fn resolve_as(text: &str, may_be_timestamp: bool) -> Resolved {
    if let Some(word) = word(text) {
        return word;
    }
    match text.as_bytes().first() {
        Some(b'.') => finite(text).map_or(Resolved::Text, Resolved::Float),
        Some(b'+' | b'-' | b'0'..=b'9') if may_be_timestamp && is_timestamp(text) => {
            Resolved::Timestamp
        }
        Some(b'+' | b'-' | b'0'..=b'9') => number(&text.replace('_', "")),
        _ => Resolved::Text,
    }
}

fn word(text: &str) -> Option<Resolved> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" => Resolved::Bool(true),
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "on" | "On" | "ON" => Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" => Resolved::Bool(false),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        "off" | "Off" | "OFF" => Resolved::Bool(false),
        "" | "~" | "null" | "Null" | "NULL" => Resolved::Null,
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Resolved::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// A number without underscores.
fn number(text: &str) -> Resolved {
    let (is_negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if let Some(size) = whole(digits) {
        let signed = i64::try_from(size).ok().map(|size| if is_negative { -size } else { size });
        match signed {
            Some(number) => return Resolved::Int(number),
            None if is_negative && size == i64::MIN.unsigned_abs() => {
                return Resolved::Int(i64::MIN);
            }
            // Go takes no sign for numbers of this size.
            None if digits.len() == text.len() => return Resolved::Uint(size),
            None => {}
        }
    }
    match is_float(digits) {
        true => finite(text).map_or(Resolved::Text, Resolved::Float),
        false => Resolved::Text,
    }
}

/// A whole number without a sign: `12`, `0x1f`, `0o17`, `017`, `0b11`.
fn whole(digits: &str) -> Option<u64> {
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    match digits.as_bytes().first() {
        Some(b'+' | b'-') | None => None,
        Some(_) => u64::from_str_radix(digits, base).ok(),
    }
}

/// Whether it is `1`, `1.`, `1.5` or `.5`, perhaps with an exponent.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_mantissa =
        is_digits(before) && is_digits(after) && !(before.is_empty() && after.is_empty());
    let is_exponent = exponent.is_none_or(|text| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && is_digits(digits)
    });
    is_mantissa && is_exponent
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Resolved) {
        assert_eq!(resolve(text), expect, "{text}");
    }

    #[test]
    fn words_of_yaml_1_1_are_no_text() {
        check("yes", Resolved::Bool(true));
        check("Off", Resolved::Bool(false));
        check("y", Resolved::Bool(true));
        check("N", Resolved::Bool(false));
        check("yEs", Resolved::Text);
        check("~", Resolved::Null);
        check("", Resolved::Null);
        check("nUll", Resolved::Text);
        check("-.INF", Resolved::Float(f64::NEG_INFINITY));
    }

    #[test]
    fn numbers_have_many_forms() {
        check("0", Resolved::Int(0));
        check("-0", Resolved::Int(0));
        check("+12", Resolved::Int(12));
        check("1_000", Resolved::Int(1000));
        check("0755", Resolved::Int(493));
        check("0o17", Resolved::Int(15));
        check("0x1F", Resolved::Int(31));
        check("-0x1f", Resolved::Int(-31));
        check("0b101", Resolved::Int(5));
        check("-9223372036854775808", Resolved::Int(i64::MIN));
        check("9223372036854775808", Resolved::Uint(1 << 63));
        check("+9223372036854775808", Resolved::Float(9_223_372_036_854_775_808.0));
        check("18446744073709551616", Resolved::Float(18_446_744_073_709_551_616.0));
        check("08", Resolved::Float(8.0));
        check("1e3", Resolved::Float(1000.0));
        check("1.", Resolved::Float(1.0));
        check(".5", Resolved::Float(0.5));
        check("-.5", Resolved::Float(-0.5));
        check("1.5E-3", Resolved::Float(0.0015));
    }

    #[test]
    fn what_nearly_is_a_number_is_text() {
        for text in ["-", "+", ".", "._5", "1e", "1e+", "0x", "0xg", "1.2.3", "1-2", "--1", "+-1"] {
            check(text, Resolved::Text);
        }
        for text in ["12:30:45", "1e400", "0x-1", "1,000", "1 000", "inf", "nan", "=", "<<"] {
            check(text, Resolved::Text);
        }
        check("2001-01-01", Resolved::Timestamp);
    }

    #[test]
    fn a_tag_must_fit() {
        let check = |kind: &str, text: &str, expect: Result<Resolved, &str>| {
            let resolved = resolve_tagged(&format!("{PREFIX}{kind}"), text);
            assert_eq!(resolved, expect.map_err(str::to_owned), "{kind} {text}");
        };
        check("str", "5", Ok(Resolved::Text));
        check("int", "5", Ok(Resolved::Int(5)));
        check("float", "5", Ok(Resolved::Float(5.0)));
        check("bool", "off", Ok(Resolved::Bool(false)));
        check("map", "x", Ok(Resolved::Text));
        check("int", "x", Err("cannot decode !!str `x` as a !!int"));
        check("null", "5", Err("cannot decode !!int `5` as a !!null"));
    }
}
