//! URLs as Go reads and writes them: their parts, and why a text is none.
//!
//! Behaviour and words follow Go's package `net/url` (Go 1.26): `Parse`, `ParseRequestURI` and the
//! methods of `URL`. Not here: references relative to a URL, changing one.

mod escape;

use std::collections::BTreeMap;
use std::fmt;

use crate::ip_literal;
use crate::text::{from_utf8_as_go, quote, quote_lossless};

use escape::{Part, escape, is_escaped, unescape};

/// More parameters than this in a query are none, as in Go.
const QUERY_PARAMETERS_MAX: usize = 10_000;

/// The parts of a URL. What was escaped is bytes: perhaps no text any more.
///
/// ```
/// use orlop_machinery::url::Url;
///
/// let url = Url::parse("https://user@example.com:80/a b?c=d#e").unwrap();
/// assert_eq!((url.hostname(), url.port()), ("example.com".into(), "80".into()));
/// assert_eq!(url.to_string(), "https://user@example.com:80/a%20b?c=d#e");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// In lower case; empty when there is none.
    pub scheme: String,
    /// What follows the scheme where no slash does: `mailto:someone`.
    pub opaque: String,
    /// User and password, escaped; they may be given and empty.
    pub user: Option<String>,
    /// Host and port; an IPv6 address has brackets.
    pub host: Vec<u8>,
    /// Unescaped.
    pub path: Vec<u8>,
    /// The path as it was written, if that is not how it would be.
    raw_path: String,
    /// Whether a question mark stands there without a query.
    has_empty_query: bool,
    /// What follows the question mark, as it stands there.
    pub query: String,
    /// What follows the hash, unescaped.
    pub fragment: Vec<u8>,
    /// The fragment as it was written, if that is not how it would be.
    raw_fragment: String,
    /// Whether a path follows the scheme at once.
    is_without_authority: bool,
}

/// Why a text is no URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parse {}: {problem}", quote(text))]
pub struct UrlError {
    text: String,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    ControlCharacter,
    Empty,
    NoRequest,
    MissingScheme,
    ColonInFirstSegment,
    UserInformation,
    Escape(Vec<u8>),
    HostCharacter(u8),
    Port(String),
    OpenBracket,
    IpLiteral,
    Host(String),
}

/// What a URL may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Any,
    /// Absolute, or an absolute path.
    Request,
}

impl Url {
    /// Reads a URL, which may be relative.
    ///
    /// # Errors
    ///
    /// When the text is no URL.
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        let (body, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = parse(body, Form::Any)
            .map_err(|problem| UrlError { text: body.to_owned(), problem })?;
        url.fragment = unescape(fragment, Part::Fragment)
            .map_err(|problem| UrlError { text: text.to_owned(), problem })?;
        if escape(&url.fragment, Part::Fragment) != fragment {
            fragment.clone_into(&mut url.raw_fragment);
        }
        Ok(url)
    }

    /// Reads a URL as it stands in a request: absolute or an absolute path, without a fragment. A
    /// hash is as any other character.
    ///
    /// # Errors
    ///
    /// When the text is no such URL.
    pub fn parse_request_uri(text: &str) -> Result<Url, UrlError> {
        parse(text, Form::Request).map_err(|problem| UrlError { text: text.to_owned(), problem })
    }

    /// The host without its port and without brackets.
    #[must_use]
    pub fn hostname(&self) -> String {
        let host = from_utf8_as_go(self.host_and_port().0);
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        inner.unwrap_or(&host).to_owned()
    }

    /// The port, or nothing.
    #[must_use]
    pub fn port(&self) -> String {
        from_utf8_as_go(self.host_and_port().1).into_owned()
    }

    /// The path as it stands in the URL.
    #[must_use]
    pub fn escaped_path(&self) -> String {
        if !self.raw_path.is_empty() && is_escaped(&self.raw_path, Part::Path) {
            return self.raw_path.clone();
        }
        if self.path == b"*" {
            return "*".to_owned();
        }
        escape(&self.path, Part::Path)
    }

    /// The keys of the query and the values of each. What is malformed is left out.
    #[must_use]
    pub fn query_values(&self) -> BTreeMap<String, Vec<String>> {
        let mut values = BTreeMap::<String, Vec<String>>::new();
        if self.query.split('&').count() > QUERY_PARAMETERS_MAX {
            return values;
        }
        for parameter in self.query.split('&') {
            if parameter.is_empty() || parameter.contains(';') {
                continue;
            }
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let text = |part| unescape(part, Part::Query).map(|it| from_utf8_as_go(&it).into());
            if let (Ok(key), Ok(value)) = (text(key), text(value)) {
                values.entry(key).or_default().push(value);
            }
        }
        values
    }

    fn host_and_port(&self) -> (&[u8], &[u8]) {
        match self.host.iter().rposition(|byte| *byte == b':') {
            Some(at) if self.host[at + 1..].iter().all(u8::is_ascii_digit) => {
                (&self.host[..at], &self.host[at + 1..])
            }
            _ => (&self.host, &[]),
        }
    }

    fn escaped_fragment(&self) -> String {
        if !self.raw_fragment.is_empty() && is_escaped(&self.raw_fragment, Part::Fragment) {
            return self.raw_fragment.clone();
        }
        escape(&self.fragment, Part::Fragment)
    }

    /// The part before the path.
    fn write_authority(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_given = !self.host.is_empty() || self.user.is_some();
        let is_shown = is_given || !self.scheme.is_empty() && !self.is_without_authority;
        if is_shown && (is_given || !self.path.is_empty()) {
            out.write_str("//")?;
        }
        if let Some(user) = &self.user {
            write!(out, "{user}@")?;
        }
        out.write_str(&escape(&self.host, Part::Host))
    }
}

/// As Go writes it.
impl fmt::Display for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(out, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            self.write_authority(out)?;
            let path = self.escaped_path();
            let is_relative = self.scheme.is_empty() && self.host.is_empty() && self.user.is_none();
            if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
                out.write_str("/")?;
            }
            if is_relative && path.split('/').next().is_some_and(|first| first.contains(':')) {
                out.write_str("./")?;
            }
            out.write_str(&path)?;
        } else {
            out.write_str(&self.opaque)?;
        }
        if self.has_empty_query || !self.query.is_empty() {
            write!(out, "?{}", self.query)?;
        }
        if !self.fragment.is_empty() {
            write!(out, "#{}", self.escaped_fragment())?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Problem::ControlCharacter => "net/url: invalid control character in URL",
            Problem::Empty => "empty url",
            Problem::NoRequest => "invalid URI for request",
            Problem::MissingScheme => "missing protocol scheme",
            Problem::ColonInFirstSegment => "first path segment in URL cannot contain colon",
            Problem::UserInformation => "net/url: invalid userinfo",
            Problem::OpenBracket => "missing ']' in host",
            Problem::IpLiteral => "invalid IP-literal",
            Problem::Escape(escape) => {
                return write!(out, "invalid URL escape {}", quote_lossless(escape));
            }
            Problem::HostCharacter(byte) => {
                return write!(out, "invalid character {} in host name", quote_lossless(&[*byte]));
            }
            Problem::Port(port) => return write!(out, "invalid port {} after host", quote(port)),
            Problem::Host(wrong) => return write!(out, "invalid host: {wrong}"),
        };
        out.write_str(text)
    }
}

/// Reads all but the fragment.
fn parse(text: &str, form: Form) -> Result<Url, Problem> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(Problem::ControlCharacter);
    }
    if text.is_empty() && form == Form::Request {
        return Err(Problem::Empty);
    }
    let mut url = empty();
    if text == "*" {
        url.path = text.into();
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    query.clone_into(&mut url.query);
    url.has_empty_query = query.is_empty() && text.ends_with('?');
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if form == Form::Request {
            return Err(Problem::NoRequest);
        }
        if rest.split('/').next().is_some_and(|first| first.contains(':')) {
            return Err(Problem::ColonInFirstSegment);
        }
    }
    let mut path = rest;
    if let Some(rest) = rest.strip_prefix("//")
        && (!url.scheme.is_empty() || form == Form::Any && !rest.starts_with('/'))
    {
        let end = rest.find('/').unwrap_or(rest.len());
        (url.user, url.host) = parse_authority(&url.scheme, &rest[..end])?;
        path = &rest[end..];
    } else {
        url.is_without_authority = !url.scheme.is_empty();
    }
    url.path = unescape(path, Part::Path)?;
    if escape(&url.path, Part::Path) != path {
        path.clone_into(&mut url.raw_path);
    }
    Ok(url)
}

fn empty() -> Url {
    Url {
        scheme: String::new(),
        opaque: String::new(),
        user: None,
        host: Vec::new(),
        path: Vec::new(),
        raw_path: String::new(),
        has_empty_query: false,
        query: String::new(),
        fragment: Vec::new(),
        raw_fragment: String::new(),
        is_without_authority: false,
    }
}

/// The scheme, which may be missing, and what follows its colon.
fn split_scheme(text: &str) -> Result<(&str, &str), Problem> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let Some(end) = text.find(|c: char| !is_inside(c)) else { return Ok(("", text)) };
    if !text[end..].starts_with(':') {
        return Ok(("", text));
    }
    match text.chars().next() {
        Some(':') => Err(Problem::MissingScheme),
        Some(first) if first.is_ascii_alphabetic() => Ok((&text[..end], &text[end + 1..])),
        _ => Ok(("", text)),
    }
}

/// The user and the host.
fn parse_authority(scheme: &str, authority: &str) -> Result<(Option<String>, Vec<u8>), Problem> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return Ok((None, parse_host(scheme, authority)?));
    };
    let host = parse_host(scheme, host)?;
    if !user.chars().all(is_user_character) {
        return Err(Problem::UserInformation);
    }
    let parts: Result<Vec<String>, Problem> = user
        .splitn(2, ':')
        .map(|part| Ok(escape(&unescape(part, Part::User)?, Part::User)))
        .collect();
    Ok((Some(parts?.join(":")), host))
}

fn is_user_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c)
}

/// A name or an IPv4 address, or an IPv6 address in brackets, and perhaps a port.
fn parse_host(scheme: &str, host: &str) -> Result<Vec<u8>, Problem> {
    match host.rfind('[') {
        Some(0) => return parse_bracketed_host(host),
        Some(_) => return Err(Problem::IpLiteral),
        None => {}
    }
    // With other schemes, lists of hosts are in use.
    let is_web = matches!(scheme, "http" | "https");
    let colon = if is_web { host.find(':') } else { host.rfind(':') };
    if let Some(at) = colon {
        check_port(&host[at..])?;
    }
    unescape(host, Part::Host)
}

fn parse_bracketed_host(host: &str) -> Result<Vec<u8>, Problem> {
    let close = host.rfind(']').ok_or(Problem::OpenBracket)?;
    let (address, port) = (&host[1..close], &host[close + 1..]);
    check_port(port)?;
    let zone = address.find("%25").unwrap_or(address.len());
    let mut unescaped = unescape(&address[..zone], Part::Host)?;
    unescaped.extend(unescape(&address[zone..], Part::Zone)?);
    match ip_literal::parse(&unescaped) {
        Ok(literal) if literal.address.is_ipv6() => {}
        Ok(_) => return Err(Problem::IpLiteral),
        Err(wrong) => return Err(Problem::Host(wrong.to_string())),
    }
    Ok([b"[", unescaped.as_slice(), b"]", port.as_bytes()].concat())
}

/// Nothing, or a colon and digits.
fn check_port(text: &str) -> Result<(), Problem> {
    let is_port = match text.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()),
        None => text.is_empty(),
    };
    if is_port { Ok(()) } else { Err(Problem::Port(text.to_owned())) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn check_parts(text: &str, expect: &str) {
        let url = Url::parse(text).unwrap();
        let seen = format!(
            "scheme={} user={} host={} query={} fragment={}",
            url.scheme,
            url.user.as_deref().unwrap_or("none"),
            !url.host.is_empty(),
            url.query,
            quote_lossless(&url.fragment),
        );
        assert_eq!(seen, expect, "{text}");
    }

    fn check_wrong(text: &str, expect: &str) {
        let seen = Url::parse(text).unwrap_err().to_string();
        let body = text.split('#').next().unwrap();
        let whole = [body, text].map(|shown| format!("parse {}: {expect}", quote(shown)));
        assert!(whole.contains(&seen), "{text}: {seen}");
    }

    #[test]
    fn a_url_has_parts() {
        check_parts("", r#"scheme= user=none host=false query= fragment="""#);
        check_parts(
            "HTTPS://a:1/b?c#d",
            r#"scheme=https user=none host=true query=c fragment="d""#,
        );
        check_parts("a/b:c", r#"scheme= user=none host=false query= fragment="""#);
        check_parts("//a", r#"scheme= user=none host=true query= fragment="""#);
        check_parts("///a", r#"scheme= user=none host=false query= fragment="""#);
        check_parts("a:///b", r#"scheme=a user=none host=false query= fragment="""#);
        check_parts("a:b%zz", r#"scheme=a user=none host=false query= fragment="""#);
        check_parts("a://:80", r#"scheme=a user=none host=true query= fragment="""#);
        check_parts("a#%ff%41", r#"scheme= user=none host=false query= fragment="\xffA""#);
    }

    #[test]
    fn a_user_is_shown_escaped() {
        check_parts("a://@b", r#"scheme=a user= host=true query= fragment="""#);
        check_parts("a://b:@c", r#"scheme=a user=b: host=true query= fragment="""#);
        check_parts("a://b:c:@d@", r#"scheme=a user=b:c%3A%40d host=false query= fragment="""#);
        check_parts("a://%c3%a9@b", r#"scheme=a user=%C3%A9 host=true query= fragment="""#);
        check_wrong("a://b[@c", "net/url: invalid userinfo");
        check_wrong("a://%4@c", r#"invalid URL escape "%4""#);
    }

    #[test]
    fn what_is_no_url_is_said_as_go_does() {
        check_wrong("a\n", "net/url: invalid control character in URL");
        check_wrong(":", "missing protocol scheme");
        check_wrong("1a:b", "first path segment in URL cannot contain colon");
        check_wrong("a_b:c", "first path segment in URL cannot contain colon");
        check_wrong("/%", r#"invalid URL escape "%""#);
        check_wrong("/%a\u{e9}", r#"invalid URL escape "%a\xc3""#);
        check_wrong("/#%zzz", r#"invalid URL escape "%zz""#);
        check_wrong("a://b c", r#"invalid character " " in host name"#);
        check_wrong("a://%41", r#"invalid URL escape "%41""#);
        check_wrong("https://b:c:1", r#"invalid port ":c:1" after host"#);
        check_wrong("a://b:c:x", r#"invalid port ":x" after host"#);
    }

    #[test]
    fn only_an_ipv6_address_stands_in_brackets() {
        let fine = r#"scheme=a user=none host=true query= fragment="""#;
        for text in ["a://[::1]", "a://[::1]:80/b", "a://[fe80::1%25en%20]", "a://[::1%25%41]:"] {
            check_parts(text, fine);
        }
        check_wrong("a://b[::1]", "invalid IP-literal");
        check_wrong("a://[1.2.3.4]", "invalid IP-literal");
        check_wrong("a://[::1", "missing ']' in host");
        check_wrong("a://[::1]x", r#"invalid port "x" after host"#);
        check_wrong("a://[::1%25%0a]", r#"invalid URL escape "%0a""#);
        check_wrong("a://[b]", r#"invalid host: ParseAddr("b"): unable to parse IP"#);
    }

    #[test]
    fn a_request_has_an_absolute_url_or_path() {
        let check = |text: &str, expect: &str| {
            let seen = match Url::parse_request_uri(text) {
                Ok(url) => url.to_string(),
                Err(wrong) => wrong.to_string(),
            };
            assert_eq!(seen, expect, "{text}");
        };
        check("", r#"parse "": empty url"#);
        check("a", r#"parse "a": invalid URI for request"#);
        check("../a", r#"parse "../a": invalid URI for request"#);
        check("*", "*");
        check("//a/b", "//a/b");
        check("/a#b", "/a%23b");
        check("mailto:a", "mailto:a");
    }

    #[test]
    fn a_url_is_written_as_go_does() {
        let check = |text: &str, expect: &str| {
            assert_eq!(Url::parse(text).unwrap().to_string(), expect, "{text}");
        };
        for same in
            ["", "a", "/a", "//a", "a:b", "a:/b", "a://", "a:///b", "a://b?", "/a%2fb", "a?b#c"]
        {
            check(same, if same == "a://" { "a:" } else { same });
        }
        check("A://b%20c@d", "a://b%20c@d");
        check("/a b\u{e9}#c d", "/a%20b%C3%A9#c%20d");
        check("./a:b", "./a:b");
        check("a://%c3%a9", "a://%C3%A9");
        check("/a%3F?", "/a%3F?");
        check("/?a?", "/?a?");
    }

    #[test]
    fn the_host_has_a_name_and_a_port() {
        let check = |text: &str, host: &str, port: &str, path: &str| {
            let url = Url::parse(text).unwrap();
            let seen = (url.hostname(), url.port(), url.escaped_path());
            assert_eq!(seen, (host.to_owned(), port.to_owned(), path.to_owned()), "{text}");
        };
        check("a://b:80/c", "b", "80", "/c");
        check("a://b:/c", "b", "", "/c");
        check("a://[::1]:80", "::1", "80", "");
        check("a://[::1]", "::1", "", "");
        check("/a b%2F", "", "", "/a%20b/");
        check("/a%2Fb", "", "", "/a%2Fb");
        check("/a%2F\"", "", "", "/a/%22");
    }

    #[test]
    fn a_query_has_several_values_of_a_key() {
        let check = |text: &str, expect: &str| {
            let url = Url::parse(text).unwrap();
            assert_eq!(format!("{:?}", url.query_values()), expect, "{text}");
        };
        check("/", "{}");
        check("/?b=1&a=2&b=3&c&&=4", r#"{"": ["4"], "a": ["2"], "b": ["1", "3"], "c": [""]}"#);
        check("/?a+b=c%20d&e;f=g&%zz=1", r#"{"a b": ["c d"]}"#);
        check(&format!("/?{}", "&".repeat(QUERY_PARAMETERS_MAX)), "{}");
    }
}
