//! What a request may ask for.
//!
//! After Go's `net/url.ParseRequestURI`.

use std::net::Ipv6Addr;

/// An absolute URI or an absolute path.
pub(super) fn is_request_uri(text: &str) -> bool {
    let has_control = text.bytes().any(|byte| byte < b' ' || byte == 0x7f);
    if has_control || text.is_empty() {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else { return false };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !is_authority(scheme, authority) {
                return false;
            }
            path
        }
        None => rest,
    };
    are_escapes_fine(path)
}

/// The scheme, which may be empty, and the rest; nothing when it begins with a colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(scheme: &str, authority: &str) -> bool {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_user = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    is_host(scheme, host) && user.chars().all(is_user) && are_escapes_fine(user)
}

fn is_host(scheme: &str, host: &str) -> bool {
    match host.rfind('[') {
        Some(0) => {
            let Some((address, port)) = host[1..].rsplit_once(']') else { return false };
            is_port(port) && is_ip_literal(address)
        }
        Some(_) => false,
        None => {
            let is_strict = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https");
            let colon = if is_strict { host.find(':') } else { host.rfind(':') };
            colon.is_none_or(|at| is_port(&host[at..])) && is_host_text(host)
        }
    }
}

fn is_ip_literal(text: &str) -> bool {
    let (address, zone) = match text.split_once("%25") {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    // A zone may escape what it may have anyway, and space.
    let is_zone = |zone: &str| {
        !zone.is_empty()
            && is_escaped(zone, |byte| byte == b' ' || byte == b'%' || is_host_byte(byte))
            && zone.bytes().all(|byte| byte >= 0x80 || byte == b'%' || is_host_byte(byte))
    };
    address.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(is_zone)
}

fn is_port(port: &str) -> bool {
    port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// Only bytes that are not ASCII may be escaped in a host, and the percent sign.
fn is_host_text(host: &str) -> bool {
    is_escaped(host, |byte| byte >= 0x80 || byte == b'%')
        && host.bytes().all(|byte| byte >= 0x80 || byte == b'%' || is_host_byte(byte))
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

fn are_escapes_fine(text: &str) -> bool {
    is_escaped(text, |_| true)
}

/// Whether after every percent sign come two digits of a byte that may be escaped.
fn is_escaped(text: &str, may_be: impl Fn(u8) -> bool) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.get(..2).unwrap_or_default();
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_number && u8::from_str_radix(digits, 16).is_ok_and(&may_be)
    })
}
