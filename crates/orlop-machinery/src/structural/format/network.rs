//! Addresses of networks and network cards.

use core::net::IpAddr;

use crate::names::{parse_cidr, parse_ip};

/// An address with a dot in it. Leading zeros are fine.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && parse_ip(text).is_some()
}

/// An address with a colon in it.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<IpAddr>().is_ok()
}

/// An address and the length of a network. Leading zeros are fine.
pub(super) fn is_cidr(text: &str) -> bool {
    parse_cidr(text).is_some()
}

/// 6, 8 or 20 bytes in hexadecimal: after each a colon or a dash, after every second a dot, or
/// nothing between them. After Go's `net.ParseMAC`.
pub(super) fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 12 {
        return false;
    }
    let (separator, group) = match (bytes[2], bytes[4]) {
        (separator @ (b':' | b'-'), _) => (Some(separator), 2),
        (_, b'.') => (Some(b'.'), 4),
        _ => (None, 2),
    };
    let digits = |bytes: &[u8]| bytes.len() == group && bytes.iter().all(u8::is_ascii_hexdigit);
    let (is_fine, count) = match separator {
        Some(separator) => {
            let mut groups = bytes.split(|byte| *byte == separator);
            let count = groups.clone().count();
            (groups.all(digits), count * group / 2)
        }
        None => (bytes.chunks(group).all(digits), bytes.len() / 2),
    };
    is_fine && matches!(count, 6 | 8 | 20)
}
