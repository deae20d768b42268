//! The parameters of a request.
//!
//! Read as Go's `net/url` reads them: a pair with a semicolon or a broken escape is passed over, a
//! plus is a space. The work is linear in the length of the query, which the HTTP layer bounds.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Parameters in the order in which they came. A name may stand several times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Query<'a> {
    /// Reads the part of a URI behind the question mark.
    pub(crate) fn parse(text: &'a str) -> Query<'a> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).filter_map(parse_pair);
        Query { pairs: pairs.collect() }
    }

    /// The first value of a name.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The first value of a name, or nothing at all.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.first(name).unwrap_or_default()
    }

    /// All values of a name.
    pub(crate) fn all<'b>(&'b self, name: &str) -> impl Iterator<Item = &'b str> {
        self.pairs.iter().filter(move |(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// Whether a name is there, with whatever value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.first(name).is_some()
    }

    /// A truth as upstream reads one: everything but `0` and `false` is true, nothing too.
    pub(crate) fn truth(&self, name: &str) -> Option<bool> {
        self.first(name).map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// A whole number.
    ///
    /// # Errors
    ///
    /// When it is none, in Go's words.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, String> {
        self.first(name).map(parse_integer).transpose()
    }
}

fn parse_pair(pair: &str) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    if pair.contains(';') {
        return None;
    }
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    Some((unescape(name)?, unescape(value)?))
}

/// The text that stands for another; none when an escape is broken.
fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !has_whole_escapes(text) {
        return None;
    }
    if !text.contains('+') {
        return Some(percent_decode_str(text).decode_utf8_lossy());
    }
    let spaced = text.replace('+', " ");
    Some(Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned()))
}

/// Whether two hexadecimal digits stand behind each percent sign.
pub(crate) fn has_whole_escapes(text: &str) -> bool {
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    text.split('%').skip(1).all(is_escape)
}

/// Go's `strconv.ParseInt` for base 10 and 64 bits.
fn parse_integer(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let why = if is_number { "value out of range" } else { "invalid syntax" };
    let wrong =
        || format!("strconv.ParseInt: parsing {}: {why}", orlop_machinery::text::quote_bytes(text));
    if !is_number {
        return Err(wrong());
    }
    text.parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_as_go_reads_them() {
        let check = |text: &str, expect: &[(&str, &str)]| {
            let query = Query::parse(text);
            let pairs: Vec<(&str, &str)> =
                query.pairs.iter().map(|(name, value)| (&**name, &**value)).collect();
            assert_eq!(pairs, expect, "{text}");
        };
        check("", &[]);
        check("a=1&b=2&a=3", &[("a", "1"), ("b", "2"), ("a", "3")]);
        check("&&a&b=", &[("a", ""), ("b", "")]);
        check("a=1=2", &[("a", "1=2")]);
        check("a=x+y%20z%2B", &[("a", "x y z+")]);
        check("a=1;b=2&c=3", &[("c", "3")]);
        check("a=%zz&b=%4&c=%&d=%41", &[("d", "A")]);
        check("a=%ff", &[("a", "\u{fffd}")]);
        check("a%3Db=1", &[("a=b", "1")]);
    }

    #[test]
    fn truths_are_generous() {
        let check = |text: &str, expect: Option<bool>| {
            assert_eq!(Query::parse(text).truth("a"), expect, "{text}");
        };
        check("", None);
        check("a", Some(true));
        check("a=", Some(true));
        check("a=1", Some(true));
        check("a=no", Some(true));
        check("a=0", Some(false));
        check("a=FALSE", Some(false));
        check("a=false&a=true", Some(false));
    }

    #[test]
    fn numbers_are_not() {
        let check = |text: &str, expect: Result<i64, &str>| {
            let query = Query::parse(text);
            let number = query.integer("a").map(Option::unwrap_or_default);
            assert_eq!(number, expect.map_err(str::to_owned), "{text}");
        };
        check("", Ok(0));
        check("a=500", Ok(500));
        check("a=-5", Ok(-5));
        check("a=%2B5", Ok(5));
        check("a=-9223372036854775808", Ok(i64::MIN));
        check("a=", Err("strconv.ParseInt: parsing \"\": invalid syntax"));
        check("a=1.5", Err("strconv.ParseInt: parsing \"1.5\": invalid syntax"));
        check("a=1_0", Err("strconv.ParseInt: parsing \"1_0\": invalid syntax"));
        check("a=--5", Err("strconv.ParseInt: parsing \"--5\": invalid syntax"));
        let large = "9223372036854775808";
        let expect = "strconv.ParseInt: parsing \"9223372036854775808\": value out of range";
        check(&format!("a={large}"), Err(expect));
    }
}
