//! IP addresses and networks as Go's package `net/netip` reads them, and in its words why a text is
//! none.
//!
//! Follows `ParseAddr` and `ParsePrefix`. What fields of objects may hold is in
//! [`names`](crate::names), which also takes what Go once took.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::text::quote_lossless;

/// An address as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpLiteral {
    /// An IPv4 address that is mapped into IPv6 stays what it is.
    pub address: IpAddr,
    /// Whether an interface is named.
    pub has_zone: bool,
}

/// A network: an address and how many of its bits name the network. Bits beyond may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPrefix {
    /// The address as it was written.
    pub address: IpAddr,
    /// At most the bits of the address.
    pub bits: u8,
}

/// Why a text is no address or no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IpLiteralError {
    /// It is no address.
    #[error("ParseAddr({}): {message}{}", quote_lossless(text), shown_at(at))]
    Address {
        /// The whole text.
        text: Vec<u8>,
        /// What is wrong.
        message: &'static str,
        /// From where on, where that is told.
        at: Vec<u8>,
    },
    /// It is no network.
    #[error("netip.ParsePrefix({}): {message}", quote_lossless(text.as_bytes()))]
    Prefix {
        /// The whole text.
        text: String,
        /// What is wrong.
        message: String,
    },
}

/// What is wrong, and from where on where that is told.
type Wrong<'a> = (&'static str, &'a [u8]);

const BYTES: usize = 16;
const NOWHERE: &[u8] = &[];

/// Reads an address.
///
/// # Errors
///
/// When the text is no address.
pub fn parse(text: &[u8]) -> Result<IpLiteral, IpLiteralError> {
    let sign = text.iter().find(|byte| matches!(byte, b'.' | b':' | b'%'));
    let read = match sign {
        Some(b'.') => read_v4(text)
            .map(|octets| IpLiteral { address: Ipv4Addr::from(octets).into(), has_zone: false }),
        Some(b':') => read_v6(text),
        Some(_) => Err(("missing IPv6 address", NOWHERE)),
        None => Err(("unable to parse IP", NOWHERE)),
    };
    read.map_err(|(message, at)| IpLiteralError::Address {
        text: text.to_vec(),
        message,
        at: at.to_vec(),
    })
}

impl FromStr for IpPrefix {
    type Err = IpLiteralError;

    fn from_str(text: &str) -> Result<IpPrefix, IpLiteralError> {
        parse_prefix(text)
            .map_err(|message| IpLiteralError::Prefix { text: text.to_owned(), message })
    }
}

impl IpPrefix {
    /// The first address of the network.
    #[must_use]
    pub fn network(self) -> IpAddr {
        first_address(self.address, self.bits)
    }

    /// Whether an address is in the network. A mapped IPv4 address is in no network of IPv4.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && first_address(address, self.bits) == self.network()
    }
}

fn parse_prefix(text: &str) -> Result<IpPrefix, String> {
    let (address, length) = text.rsplit_once('/').ok_or("no '/'")?;
    let literal = parse(address.as_bytes()).map_err(|wrong| wrong.to_string())?;
    if literal.has_zone {
        return Err("IPv6 zones cannot be present in a prefix".to_owned());
    }
    let bad = || format!("bad bits after slash: {}", quote_lossless(length.as_bytes()));
    let is_number = length.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || length.is_empty() || length.len() > 1 && length.starts_with('0') {
        return Err(bad());
    }
    let length: i64 = length.parse().map_err(|_| bad())?;
    let most = if literal.address.is_ipv4() { 32 } else { 128 };
    match u8::try_from(length) {
        Ok(bits) if bits <= most => Ok(IpPrefix { address: literal.address, bits }),
        _ => Err("prefix length out of range".to_owned()),
    }
}

fn first_address(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let free = 32_u32.saturating_sub(bits.into());
            Ipv4Addr::from_bits(v4.to_bits() & u32::MAX.checked_shl(free).unwrap_or(0)).into()
        }
        IpAddr::V6(v6) => {
            let free = 128_u32.saturating_sub(bits.into());
            Ipv6Addr::from_bits(v6.to_bits() & u128::MAX.checked_shl(free).unwrap_or(0)).into()
        }
    }
}

fn shown_at(at: &[u8]) -> String {
    if at.is_empty() { String::new() } else { format!(" (at {})", quote_lossless(at)) }
}

fn read_v4(text: &[u8]) -> Result<[u8; 4], Wrong<'_>> {
    let mut octets = [0; 4];
    let (mut value, mut digits, mut dots) = (0_u8, 0, 0);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", NOWHERE));
                }
                let larger = value.checked_mul(10).and_then(|tens| tens.checked_add(byte - b'0'));
                value = larger.ok_or(("IPv4 field has value >255", NOWHERE))?;
                digits += 1;
            }
            b'.' if digits == 0 || at + 1 == text.len() => {
                return Err(("IPv4 field must have at least one digit", &text[at..]));
            }
            b'.' if dots == 3 => return Err(("IPv4 address too long", NOWHERE)),
            b'.' => {
                octets[dots] = value;
                dots += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(("unexpected character", &text[at..])),
        }
    }
    octets[dots] = value;
    if dots < 3 { Err(("IPv4 address too short", NOWHERE)) } else { Ok(octets) }
}

fn read_v6(text: &[u8]) -> Result<IpLiteral, Wrong<'_>> {
    let mut rest = text;
    let mut has_zone = false;
    if let Some(at) = text.iter().position(|byte| *byte == b'%') {
        if at + 1 == text.len() {
            return Err(("zone must be a non-empty string", NOWHERE));
        }
        (rest, has_zone) = (&text[..at], true);
    }
    let mut groups = Groups { bytes: [0; BYTES], filled: 0, ellipsis: None };
    if let Some(after) = rest.strip_prefix(b"::") {
        (groups.ellipsis, rest) = (Some(0), after);
    }
    if !rest.is_empty() || groups.ellipsis.is_none() {
        rest = groups.read(rest)?;
    }
    let address = groups.finish(rest)?;
    Ok(IpLiteral { address: Ipv6Addr::from(address).into(), has_zone })
}

/// The bytes of an IPv6 address, as far as they were read.
struct Groups {
    bytes: [u8; BYTES],
    filled: usize,
    /// Where two colons stand for zeros.
    ellipsis: Option<usize>,
}

impl Groups {
    /// Reads numbers with colons between them; what is left when there is no room for more.
    fn read<'a>(&mut self, mut rest: &'a [u8]) -> Result<&'a [u8], Wrong<'a>> {
        while self.filled < BYTES {
            let digits = count_digits(rest)?;
            if rest.get(digits) == Some(&b'.') {
                self.read_embedded_v4(rest)?;
                return Ok(NOWHERE);
            }
            self.push_group(&rest[..digits]);
            rest = &rest[digits..];
            rest = match rest {
                [] => break,
                [b':'] => return Err(("colon must be followed by more characters", rest)),
                [b':', after @ ..] => after,
                _ => return Err(("unexpected character, want colon", rest)),
            };
            if let Some(after) = rest.strip_prefix(b":") {
                if self.ellipsis.is_some() {
                    return Err(("multiple :: in address", rest));
                }
                (self.ellipsis, rest) = (Some(self.filled), after);
                if rest.is_empty() {
                    break;
                }
            }
        }
        Ok(rest)
    }

    fn push_group(&mut self, digits: &[u8]) {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or_default();
        let number = digits.iter().fold(0, |number, byte| number << 4 | digit(byte));
        let [_, _, high, low] = number.to_be_bytes();
        self.bytes[self.filled] = high;
        self.bytes[self.filled + 1] = low;
        self.filled += 2;
    }

    /// An IPv4 address in place of the last two groups.
    fn read_embedded_v4<'a>(&mut self, text: &'a [u8]) -> Result<(), Wrong<'a>> {
        if self.ellipsis.is_none() && self.filled != BYTES - 4 {
            let message = "embedded IPv4 address must replace the final 2 fields of the address";
            return Err((message, text));
        }
        if self.filled + 4 > BYTES {
            let message = "too many hex fields to fit an embedded IPv4 at the end of the address";
            return Err((message, text));
        }
        self.bytes[self.filled..self.filled + 4].copy_from_slice(&read_v4(text)?);
        self.filled += 4;
        Ok(())
    }

    /// The whole address, with zeros where two colons stand.
    fn finish(mut self, rest: &[u8]) -> Result<[u8; BYTES], Wrong<'_>> {
        if !rest.is_empty() {
            return Err(("trailing garbage after address", rest));
        }
        let missing = BYTES - self.filled;
        match self.ellipsis {
            None if missing > 0 => Err(("address string too short", NOWHERE)),
            Some(_) if missing == 0 => {
                Err(("the :: must expand to at least one field of zeros", NOWHERE))
            }
            None => Ok(self.bytes),
            Some(at) => {
                self.bytes.copy_within(at..self.filled, at + missing);
                self.bytes[at..at + missing].fill(0);
                Ok(self.bytes)
            }
        }
    }
}

/// How many digits the next group has.
fn count_digits(text: &[u8]) -> Result<usize, Wrong<'_>> {
    match text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count() {
        0 => Err(("each colon-separated field must have at least one digit", text)),
        digits @ 1..=4 => Ok(digits),
        _ => Err(("each group must have 4 or less digits", text)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let start = format!("ParseAddr({text:?}): ");
        let seen = match parse(text.as_bytes()) {
            Ok(literal) => {
                format!("{}{}", literal.address, if literal.has_zone { "%" } else { "" })
            }
            Err(wrong) => wrong.to_string().replacen(&start, "", 1),
        };
        assert_eq!(seen, expect, "{text}");
    }

    #[test]
    fn an_address_is_of_one_of_two_families() {
        check("1.2.3.4", "1.2.3.4");
        for text in ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "1::2:3", "::ffff:1.2.3.4"] {
            check(text, text);
        }
        check("::1.2.3.4", "::102:304");
        check("1:2:3:4:5:6:7.8.9.10", "1:2:3:4:5:6:708:90a");
        check("fe80::1%eth0", "fe80::1%");
        check("A::b", "a::b");
    }

    #[test]
    fn a_network_is_an_address_and_a_length() {
        let check = |text: &str, expect: &str| {
            let seen = match text.parse::<IpPrefix>() {
                Ok(prefix) => format!("{}/{} {}", prefix.address, prefix.bits, prefix.network()),
                Err(wrong) => wrong.to_string(),
            };
            assert_eq!(seen, expect, "{text}");
        };
        check("10.1.2.3/8", "10.1.2.3/8 10.0.0.0");
        check("1.2.3.4/0", "1.2.3.4/0 0.0.0.0");
        check("2001:db8::1/32", "2001:db8::1/32 2001:db8::");
        check("::1/0", "::1/0 ::");
        check("a", r#"netip.ParsePrefix("a"): no '/'"#);
        check("a/1", r#"netip.ParsePrefix("a/1"): ParseAddr("a"): unable to parse IP"#);
        check("::%a/1", r#"netip.ParsePrefix("::%a/1"): IPv6 zones cannot be present in a prefix"#);
        for length in ["", "01", "+1", "-1", "a", "99999999999999999999"] {
            let text = format!("::/{length}");
            let expect =
                format!(r#"netip.ParsePrefix("{text}"): bad bits after slash: "{length}""#);
            check(&text, &expect);
        }
        check("1.2.3.4/33", r#"netip.ParsePrefix("1.2.3.4/33"): prefix length out of range"#);
        check("::/129", r#"netip.ParsePrefix("::/129"): prefix length out of range"#);
    }

    #[test]
    fn a_network_contains_addresses_of_its_family() {
        let check = |network: &str, address: &str, expect: bool| {
            let address = parse(address.as_bytes()).unwrap().address;
            let network: IpPrefix = network.parse().unwrap();
            assert_eq!(network.contains(address), expect, "{network:?} {address}");
        };
        check("10.1.2.3/8", "10.9.9.9", true);
        check("10.1.2.3/8", "11.1.2.3", false);
        check("0.0.0.0/0", "1.2.3.4", true);
        check("0.0.0.0/0", "::1", false);
        check("1.2.3.0/24", "::ffff:1.2.3.4", false);
        check("2001:db8::/32", "2001:db8:1::", true);
        check("::1/128", "::2", false);
    }

    #[test]
    fn what_is_no_ipv4_address_is_said_as_go_does() {
        check("a", "unable to parse IP");
        check("%a", "missing IPv6 address");
        check("1.2.3", "IPv4 address too short");
        check("1.2.3.4.5", "IPv4 address too long");
        check("1.02.3.4", "IPv4 field has octet with leading zero");
        check("1.2.3.256", "IPv4 field has value >255");
        check("1..2.3", r#"IPv4 field must have at least one digit (at ".2.3")"#);
        check("1.2.3.", r#"IPv4 field must have at least one digit (at ".")"#);
        check("1.2.x.4", r#"unexpected character (at "x.4")"#);
    }

    #[test]
    fn what_is_no_ipv6_address_is_said_as_go_does() {
        check("::1%", "zone must be a non-empty string");
        check("1:2", "address string too short");
        check("12345::", r#"each group must have 4 or less digits (at "12345::")"#);
        check(":1", r#"each colon-separated field must have at least one digit (at ":1")"#);
        check("1:x", r#"each colon-separated field must have at least one digit (at "x")"#);
        check("1x:", r#"unexpected character, want colon (at "x:")"#);
        check("1:2:", r#"colon must be followed by more characters (at ":")"#);
        check("1::2::3", r#"multiple :: in address (at ":3")"#);
        check("1:2:3:4:5:6:7:8:9", r#"trailing garbage after address (at "9")"#);
        check("1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros");
        let place = "embedded IPv4 address must replace the final 2 fields of the address";
        check("1:1.2.3.4", &format!(r#"{place} (at "1.2.3.4")"#));
        let room = "too many hex fields to fit an embedded IPv4 at the end of the address";
        check("::1:2:3:4:5:6:7:1.2.3.4", &format!(r#"{room} (at "1.2.3.4")"#));
        check("::1.2.3", "IPv4 address too short");
    }
}
