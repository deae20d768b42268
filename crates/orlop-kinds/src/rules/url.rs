//! URLs as Go reads them: what of them rules look at, and why a text is none.
//!
//! Behaviour and words follow `Parse` of Go's package `net/url` (Go 1.26). The text of the path is
//! checked but not kept: no rule asks for it.

mod ip_literal;

use std::fmt::{self, Write};

use orlop_machinery::text::quote;

/// The parts of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url<'a> {
    /// In lower case; empty when there is none.
    pub(crate) scheme: String,
    /// User and password, escaped; they may be given and empty.
    pub(crate) user: Option<String>,
    /// Whether a host or a port is given.
    pub(crate) has_host: bool,
    /// What follows the question mark, as it stands there.
    pub(crate) query: &'a str,
    /// What follows the hash, unescaped: perhaps no text any more.
    pub(crate) fragment: Vec<u8>,
}

/// Why a text is no URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlError {
    text: String,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    ControlCharacter,
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

/// What is escaped, which decides what an escape may stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Host,
    /// The interface in an IPv6 address.
    Zone,
    /// User, password, path, fragment: anything goes.
    Other,
}

impl<'a> Url<'a> {
    /// Reads a URL.
    pub(crate) fn parse(text: &'a str) -> Result<Url<'a>, UrlError> {
        let (body, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url =
            parse_body(body).map_err(|problem| UrlError { text: body.to_owned(), problem })?;
        url.fragment = unescape(fragment, Part::Other)
            .map_err(|problem| UrlError { text: text.to_owned(), problem })?;
        Ok(url)
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "parse {}: {}", quote(&self.text), self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Problem::ControlCharacter => "net/url: invalid control character in URL",
            Problem::MissingScheme => "missing protocol scheme",
            Problem::ColonInFirstSegment => "first path segment in URL cannot contain colon",
            Problem::UserInformation => "net/url: invalid userinfo",
            Problem::OpenBracket => "missing ']' in host",
            Problem::IpLiteral => "invalid IP-literal",
            Problem::Escape(escape) => {
                return write!(out, "invalid URL escape {}", quote_bytes(escape));
            }
            Problem::HostCharacter(byte) => {
                return write!(out, "invalid character {} in host name", quote_bytes(&[*byte]));
            }
            Problem::Port(port) => return write!(out, "invalid port {} after host", quote(port)),
            Problem::Host(wrong) => return write!(out, "invalid host: {wrong}"),
        };
        out.write_str(text)
    }
}

/// Quotes bytes as Go's `%q` quotes a string of them: what is no text is shown as numbers.
pub(crate) fn quote_bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        let quoted = quote(chunk.valid());
        out += &quoted[1..quoted.len() - 1];
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}").expect("a string grows");
        }
    }
    out.push('"');
    out
}

/// Reads all but the fragment.
fn parse_body(text: &str) -> Result<Url<'_>, Problem> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(Problem::ControlCharacter);
    }
    let (scheme, rest) = split_scheme(text)?;
    let scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut url = Url { scheme, user: None, has_host: false, query, fragment: Vec::new() };
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            // Such as `mailto:someone`: what follows is nobody's business.
            return Ok(url);
        }
        let first = rest.split('/').next().unwrap_or_default();
        if first.contains(':') {
            return Err(Problem::ColonInFirstSegment);
        }
    }
    let mut path = rest;
    if let Some(rest) = rest.strip_prefix("//")
        && (!url.scheme.is_empty() || !rest.starts_with('/'))
    {
        let end = rest.find('/').unwrap_or(rest.len());
        (url.user, url.has_host) = parse_authority(&url.scheme, &rest[..end])?;
        path = &rest[end..];
    }
    unescape(path, Part::Other)?;
    Ok(url)
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

/// The user, and whether there is a host.
fn parse_authority(scheme: &str, authority: &str) -> Result<(Option<String>, bool), Problem> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        check_host(scheme, authority)?;
        return Ok((None, !authority.is_empty()));
    };
    check_host(scheme, host)?;
    if !user.chars().all(is_user_character) {
        return Err(Problem::UserInformation);
    }
    let parts: Result<Vec<String>, Problem> =
        user.splitn(2, ':').map(|part| Ok(escape_user(&unescape(part, Part::Other)?))).collect();
    Ok((Some(parts?.join(":")), !host.is_empty()))
}

fn is_user_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c)
}

/// User or password as a URL shows it.
fn escape_user(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"$&+,-.;=_~".contains(byte) {
            out.push(char::from(*byte));
        } else {
            write!(out, "%{byte:02X}").expect("a string grows");
        }
    }
    out
}

/// A name or an IPv4 address, or an IPv6 address in brackets, and perhaps a port.
fn check_host(scheme: &str, host: &str) -> Result<(), Problem> {
    match host.rfind('[') {
        Some(0) => return check_bracketed_host(host),
        Some(_) => return Err(Problem::IpLiteral),
        None => {}
    }
    // With other schemes, lists of hosts are in use.
    let is_web = matches!(scheme, "http" | "https");
    let colon = if is_web { host.find(':') } else { host.rfind(':') };
    if let Some(at) = colon {
        check_port(&host[at..])?;
    }
    unescape(host, Part::Host).map(drop)
}

fn check_bracketed_host(host: &str) -> Result<(), Problem> {
    let close = host.rfind(']').ok_or(Problem::OpenBracket)?;
    let (address, port) = (&host[1..close], &host[close + 1..]);
    check_port(port)?;
    unescape(port, Part::Host)?;
    let zone = address.find("%25").unwrap_or(address.len());
    let mut unescaped = unescape(&address[..zone], Part::Host)?;
    unescaped.extend(unescape(&address[zone..], Part::Zone)?);
    match ip_literal::read(&unescaped) {
        Ok(ip_literal::Family::V6) => Ok(()),
        Ok(ip_literal::Family::V4) => Err(Problem::IpLiteral),
        Err(wrong) => Err(Problem::Host(wrong)),
    }
}

/// Nothing, or a colon and digits.
fn check_port(text: &str) -> Result<(), Problem> {
    let is_port = match text.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()),
        None => text.is_empty(),
    };
    if is_port { Ok(()) } else { Err(Problem::Port(text.to_owned())) }
}

/// With escapes replaced by the bytes that they stand for.
fn unescape(text: &str, part: Part) -> Result<Vec<u8>, Problem> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            if part != Part::Other && first.is_ascii() && !is_host_byte(first) {
                return Err(Problem::HostCharacter(first));
            }
            out.push(first);
            rest = after;
            continue;
        }
        let escape = &rest[..rest.len().min(3)];
        let Some(byte) = unescaped_byte(escape).filter(|byte| may_stand_for(*byte, part)) else {
            return Err(Problem::Escape(escape.to_vec()));
        };
        out.push(byte);
        rest = &rest[3..];
    }
    Ok(out)
}

/// What `%41` stands for.
fn unescaped_byte(escape: &[u8]) -> Option<u8> {
    let &[b'%', high, low] = escape else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// Whether an escape may stand for the byte. In a host it is for what is not ASCII; in a zone it
/// may not bring in what could not stand there as it is, besides a space.
fn may_stand_for(byte: u8, part: Part) -> bool {
    match part {
        Part::Host => !byte.is_ascii() || byte == b'%',
        Part::Zone => matches!(byte, b'%' | b' ') || is_host_byte(byte),
        Part::Other => true,
    }
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!\"$&'()*+,-.:;<=>[]_~".contains(&byte)
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
            url.has_host,
            url.query,
            quote_bytes(&url.fragment),
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
}
