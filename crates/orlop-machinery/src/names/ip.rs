//! IP addresses and networks (CIDR).
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/validation/ip.go`. Old fields take what Go once
//! took: octets and groups with leading zeros ([`ip_legacy`]); since 1.36 they take such values
//! only if the object already has them ([`ip_legacy_strict`]). New fields take the one canonical
//! form ([`ip`]). An IPv4 address that is mapped into IPv6 counts as IPv4, as in Go.

use std::fmt;

// Addresses are only values: they are in `core`, where nothing can be sent to them.
use core::net::{IpAddr, Ipv6Addr};

use crate::field::At;
use crate::text::quote;

/// The number of bits before an IPv4 address that is mapped into IPv6.
const MAPPED_BITS: u8 = 96;

/// The family of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IpFamily {
    /// Four bytes.
    V4,
    /// Sixteen bytes.
    V6,
}

/// An address and the network that it is in.
///
/// Prints the network: `10.1.2.3/8` is `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    /// The address as it was written.
    pub address: IpAddr,
    /// The first address of the network.
    pub network: IpAddr,
    /// How many bits of an address of the network's family name the network.
    pub length: u8,
    /// The same as it was written.
    written: WrittenCidr,
}

impl Cidr {
    /// Whether an address is in the network.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let (network, address, bits) = match (self.network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                (network.to_bits().into(), u128::from(address.to_bits()), 32)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                (network.to_bits(), address.to_bits(), 128)
            }
            _ => return false,
        };
        let host_bits = u32::from(bits - self.length.min(bits));
        let shift = |bits: u128| bits.checked_shr(host_bits).unwrap_or(0);
        shift(network) == shift(address)
    }
}

/// How a network was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WrittenCidr {
    address: Written,
    length: u8,
    /// The largest length in this form.
    length_max: u8,
    /// Whether the length has leading zeros.
    has_leading_zeros: bool,
}

/// How an address was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    /// IPv4 as mapped.
    bits: u128,
    /// Whether it has dots only.
    is_v4: bool,
    /// Whether newer parsers refuse it for leading zeros.
    has_leading_zeros: bool,
}

/// Reads an address as Go once did: with leading zeros.
#[must_use]
pub fn parse_ip(value: &str) -> Option<IpAddr> {
    parse(value).map(Written::address)
}

/// Reads an address and the length of its network as Go once did.
#[must_use]
pub fn parse_cidr(value: &str) -> Option<Cidr> {
    let (address, length) = value.split_once('/')?;
    let address = parse_v4(address).or_else(|| parse_v6(address))?;
    let length_max = if address.is_v4 { 32 } else { 128 };
    let (number, digits) = decimal(length)?;
    let written = WrittenCidr {
        address,
        length: u8::try_from(number).ok().filter(|number| *number <= length_max)?,
        length_max,
        has_leading_zeros: digits > 1 && length.starts_with('0'),
    };
    if digits != length.len() {
        return None;
    }
    let network = normal(written.network());
    let is_mapped = !address.is_v4 && network.is_ipv4();
    let length = if is_mapped { written.length - MAPPED_BITS } else { written.length };
    Some(Cidr { address: address.address(), network, length, written })
}

/// The family of an address, if it is one.
#[must_use]
pub fn family_of_ip(value: &str) -> Option<IpFamily> {
    parse_ip(value).map(family)
}

/// The family of a network, if it is one.
#[must_use]
pub fn family_of_cidr(value: &str) -> Option<IpFamily> {
    parse_cidr(value).map(|cidr| family(cidr.address))
}

/// An address in its canonical form.
#[must_use]
pub fn ip(value: &str) -> Vec<String> {
    let wrong = ip_legacy_strict(value);
    match parse_ip(value) {
        Some(address) if wrong.is_empty() => canonical_error(value, &address.to_string()),
        _ => wrong,
    }
}

/// An address in an old field when strict validation is off.
#[must_use]
pub fn ip_legacy(value: &str) -> Vec<String> {
    if parse(value).is_some() {
        return Vec::new();
    }
    vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned()]
}

/// An address in an old field.
#[must_use]
pub fn ip_legacy_strict(value: &str) -> Vec<String> {
    let Some(written) = parse(value) else { return ip_legacy(value) };
    if written.has_leading_zeros {
        vec!["must not have leading 0s".to_owned()]
    } else if written.is_mapped() {
        vec!["must not be an IPv4-mapped IPv6 address".to_owned()]
    } else {
        Vec::new()
    }
}

/// A network in its canonical form.
#[must_use]
pub fn cidr(value: &str) -> Vec<String> {
    let wrong = cidr_legacy_strict(value);
    match parse_cidr(value) {
        Some(cidr) if wrong.is_empty() => canonical_error(value, &cidr.to_string()),
        _ => wrong,
    }
}

/// A network in an old field when strict validation is off.
#[must_use]
pub fn cidr_legacy(value: &str) -> Vec<String> {
    if parse_cidr(value).is_some() {
        return Vec::new();
    }
    vec!["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)".to_owned()]
}

/// A network in an old field.
#[must_use]
pub fn cidr_legacy_strict(value: &str) -> Vec<String> {
    let Some(Cidr { written, .. }) = parse_cidr(value) else { return cidr_legacy(value) };
    if written.is_refused() {
        vec!["must not have leading 0s in IP or prefix length".to_owned()]
    } else if written.address.is_mapped() {
        vec!["must not have an IPv4-mapped IPv6 address".to_owned()]
    } else if written.network() != written.address.bits {
        vec!["must not have bits set beyond the prefix length".to_owned()]
    } else {
        Vec::new()
    }
}

/// An address with the length of its network, in canonical form: `192.168.1.5/24`.
#[must_use]
pub fn interface_address(value: &str) -> Vec<String> {
    let Some(Cidr { address, written, .. }) = parse_cidr(value) else {
        let message = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
        return vec![message.to_owned()];
    };
    // As upstream counts it, also when the network is larger than all of IPv4.
    let is_of_mapped = address.is_ipv4() && written.length > 32;
    let mapped_bits = if is_of_mapped { i16::from(MAPPED_BITS) } else { 0 };
    let length = i16::from(written.length) - mapped_bits;
    canonical_error(value, &format!("{address}/{length}"))
}

/// What to warn of an address in an old field that passed its rule.
#[must_use]
pub fn ip_warnings(at: &impl At, value: &str) -> Vec<String> {
    let Some(written) = parse(value) else { return Vec::new() };
    let canonical = written.address().to_string();
    let (path, quoted) = (at.path(), quote(value));
    if written.has_leading_zeros || written.is_mapped() {
        let canonical = quote(&canonical);
        return vec![format!(
            "{path}: non-standard IP address {quoted} is invalid: use {canonical}"
        )];
    }
    if !written.is_v4 && canonical != value {
        let canonical = quote(&canonical);
        return vec![format!(
            "{path}: IPv6 address {quoted} should be in RFC 5952 canonical format ({canonical})"
        )];
    }
    Vec::new()
}

/// What to warn of a network in an old field that passed its rule.
#[must_use]
pub fn cidr_warnings(at: &impl At, value: &str) -> Vec<String> {
    let Some(cidr) = parse_cidr(value) else { return Vec::new() };
    let (path, quoted) = (at.path(), quote(value));
    let network = quote(&cidr.to_string());
    let mut warnings = Vec::new();
    if cidr.address != cidr.network {
        let single = quote(&format!("{}/{}", cidr.address, cidr.written.length_max));
        warnings.push(format!(
            "{path}: CIDR value {quoted} is ambiguous in this context (should be {network} or \
             {single}?)"
        ));
    }
    if cidr.written.is_refused() || cidr.written.address.is_mapped() {
        warnings
            .push(format!("{path}: non-standard CIDR value {quoted} is invalid: use {network}"));
    }
    if warnings.is_empty() && !cidr.written.address.is_v4 && network != quoted {
        warnings.push(format!(
            "{path}: IPv6 CIDR value {quoted} should be in RFC 5952 canonical format ({network})"
        ));
    }
    warnings
}

impl fmt::Display for Cidr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.network, self.length)
    }
}

impl WrittenCidr {
    /// The first address of the network.
    fn network(self) -> u128 {
        let free = u32::from(self.length_max - self.length);
        let mask = u128::MAX.checked_shl(free).unwrap_or(0);
        self.address.bits & mask
    }

    /// Whether newer parsers refuse it for leading zeros.
    fn is_refused(self) -> bool {
        self.has_leading_zeros || self.address.has_leading_zeros
    }
}

impl Written {
    fn address(self) -> IpAddr {
        normal(self.bits)
    }

    /// Whether it is an IPv4 address in the form of IPv6.
    fn is_mapped(self) -> bool {
        !self.is_v4 && self.address().is_ipv4()
    }
}

fn normal(bits: u128) -> IpAddr {
    Ipv6Addr::from_bits(bits).to_canonical()
}

fn family(address: IpAddr) -> IpFamily {
    if address.is_ipv4() { IpFamily::V4 } else { IpFamily::V6 }
}

fn canonical_error(value: &str, canonical: &str) -> Vec<String> {
    if value == canonical {
        return Vec::new();
    }
    vec![format!("must be in canonical form ({})", quote(canonical))]
}

/// The first dot or colon tells which it is.
fn parse(value: &str) -> Option<Written> {
    match value.bytes().find(|byte| matches!(byte, b'.' | b':'))? {
        b'.' => parse_v4(value),
        _ => parse_v6(value),
    }
}

fn parse_v4(value: &str) -> Option<Written> {
    let mut bits: u32 = 0;
    let mut has_leading_zeros = false;
    let mut count = 0;
    for octet in value.split('.') {
        let (number, digits) = decimal(octet)?;
        if digits != octet.len() || count == 4 {
            return None;
        }
        bits = bits << 8 | u32::from(u8::try_from(number).ok()?);
        has_leading_zeros |= digits > 1 && octet.starts_with('0');
        count += 1;
    }
    let bits = 0xffff << 32 | u128::from(bits);
    (count == 4).then_some(Written { bits, is_v4: true, has_leading_zeros })
}

fn parse_v6(value: &str) -> Option<Written> {
    let mut groups = Groups::default();
    match value.split_once("::") {
        None => groups.read(value, true)?,
        // A second pair of colons leaves an empty group, which is refused.
        Some((before, after)) => {
            if !before.is_empty() {
                groups.read(before, false)?;
            }
            let gap = groups.count;
            if !after.is_empty() {
                groups.read(after, true)?;
            }
            // The colons stand for at least one group.
            let missing = 8usize.checked_sub(groups.count).filter(|missing| *missing > 0)?;
            groups.list.copy_within(gap..groups.count, gap + missing);
            groups.list[gap..gap + missing].fill(0);
            groups.count = 8;
        }
    }
    let bits = Ipv6Addr::from(groups.list).to_bits();
    let has_leading_zeros = groups.has_leading_zeros;
    (groups.count == 8).then_some(Written { bits, is_v4: false, has_leading_zeros })
}

/// The groups of an IPv6 address, as far as they were read.
#[derive(Default)]
struct Groups {
    list: [u16; 8],
    count: usize,
    has_leading_zeros: bool,
}

impl Groups {
    /// Reads groups with colons between them; the last may be an IPv4 address if it is `last`.
    fn read(&mut self, text: &str, is_end: bool) -> Option<()> {
        let mut parts = text.split(':').peekable();
        while let Some(part) = parts.next() {
            if is_end && parts.peek().is_none() && part.contains('.') {
                let v4 = parse_v4(part)?;
                self.has_leading_zeros |= v4.has_leading_zeros;
                let [.., a, b, c, d] = v4.bits.to_be_bytes();
                self.push(u16::from_be_bytes([a, b]))?;
                return self.push(u16::from_be_bytes([c, d]));
            }
            if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            let number = part.trim_start_matches('0');
            let number =
                if number.is_empty() { 0 } else { u16::from_str_radix(number, 16).ok()? };
            self.has_leading_zeros |= part.len() > 4;
            self.push(number)?;
        }
        Some(())
    }

    fn push(&mut self, group: u16) -> Option<()> {
        *self.list.get_mut(self.count)? = group;
        self.count += 1;
        Some(())
    }
}

/// The number at the start of a text, if it is not too large, and how many digits it has.
fn decimal(text: &str) -> Option<(u32, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].trim_start_matches('0');
    let number = if number.is_empty() { 0 } else { number.parse().ok()? };
    (digits > 0).then_some((number, digits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::field::Path;

    const NO_IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    const NO_CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

    fn check(rule: fn(&str) -> Vec<String>, value: &str, expect: &[&str]) {
        assert_eq!(rule(value), expect, "{value:?}");
    }

    #[test]
    fn a_canonical_address_passes_everywhere() {
        for value in [
            "1.2.3.4",
            "0.0.0.0",
            "255.255.255.255",
            "::",
            "::1",
            "a::",
            "2001:db8::1:0",
            "1:2:3:4:5:6:7:8",
            "1:0:0:2::3",
            "1:0:2:3:4:5:6:7",
            "64:ff9b::102:304",
            "::fffe:102:304",
        ] {
            check(ip, value, &[]);
            check(ip_legacy, value, &[]);
            check(ip_legacy_strict, value, &[]);
        }
    }

    #[test]
    fn what_is_no_address_is_refused_everywhere() {
        for value in [
            "",
            ".",
            ":",
            "a",
            "1",
            "1.2.3",
            "1.2.3.",
            ".1.2.3",
            "1.2.3.4.5",
            "1.2.3.256",
            "1.2.3.-4",
            "1.2.3.4 ",
            "1.2.3.a",
            "1..2.3",
            ":::",
            "::1::",
            "1::2::3",
            "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9",
            "1:2:3:4:5:6:7::8",
            "::1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7:8::",
            ":1",
            "1:",
            "1::2:",
            "g::",
            "10000::",
            "fe80::1%eth0",
            "1.2.3.4::",
            "::1.2.3.4:5",
            "::1.2.3",
            "1:2:3:4:5:6:7:1.2.3.4",
            "1:2:3:4:5:1.2.3.4",
            "1.2.3.4/24",
            "[::1]",
            "+1.2.3.4",
            "::+1",
            "1.2.3.99999999999999999999",
            "::00000010000",
        ] {
            check(ip, value, &[NO_IP]);
            check(ip_legacy, value, &[NO_IP]);
            check(ip_legacy_strict, value, &[NO_IP]);
        }
    }

    #[test]
    fn leading_zeros_pass_only_where_they_always_did() {
        for value in [
            "01.2.3.4",
            "1.2.3.004",
            "0000000000001.2.3.4",
            "::00001",
            "::ffff:1.2.3.04",
            "00.0.0.0",
        ] {
            check(ip_legacy, value, &[]);
            check(ip_legacy_strict, value, &["must not have leading 0s"]);
            check(ip, value, &["must not have leading 0s"]);
        }
    }

    #[test]
    fn mapped_addresses_pass_only_where_they_always_did() {
        for value in ["::ffff:1.2.3.4", "::ffff:102:304", "0:0:0:0:0:FFFF:1.2.3.4"] {
            check(ip_legacy, value, &[]);
            check(ip_legacy_strict, value, &["must not be an IPv4-mapped IPv6 address"]);
            assert_eq!(family_of_ip(value), Some(IpFamily::V4));
            assert_eq!(parse_ip(value).unwrap().to_string(), "1.2.3.4");
        }
    }

    #[test]
    fn another_form_of_an_address_is_told_the_canonical_one() {
        let cases = [
            ("FE80::1", "fe80::1"),
            ("::0:1", "::1"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("::1.2.3.4", "::102:304"),
            ("0001::", "1::"),
        ];
        for (value, canonical) in cases {
            check(ip_legacy_strict, value, &[]);
            let expect = format!("must be in canonical form (\"{canonical}\")");
            check(ip, value, &[&expect]);
        }
    }

    #[test]
    fn a_network_has_no_bits_beyond_its_length() {
        for value in ["1.2.3.0/24", "0.0.0.0/0", "1.2.3.4/32", "::/0", "::1/128", "2001:db8::/64"] {
            check(cidr, value, &[]);
            check(cidr_legacy, value, &[]);
            check(cidr_legacy_strict, value, &[]);
        }
        for value in [
            "",
            "/",
            "1.2.3.4",
            "1.2.3.4/",
            "/24",
            "1.2.3.4/33",
            "::/129",
            "1.2.3.4/-1",
            "1.2.3.4/+1",
            "1.2.3.4/1/2",
            "1.2.3.4/a",
            "1.2.3.4/24 ",
            "1.2.3/24",
            "::%a/64",
            "1.2.3.4/99999999999",
        ] {
            check(cidr, value, &[NO_CIDR]);
            check(cidr_legacy, value, &[NO_CIDR]);
            check(cidr_legacy_strict, value, &[NO_CIDR]);
        }
        let beyond = "must not have bits set beyond the prefix length";
        let zeros = "must not have leading 0s in IP or prefix length";
        let mapped = "must not have an IPv4-mapped IPv6 address";
        for (value, expect) in [
            ("1.2.3.4/24", beyond),
            ("2001:db8::1/64", beyond),
            ("1.2.3.0/024", zeros),
            ("01.2.3.0/24", zeros),
            ("::ffff:1.2.3.0/120", mapped),
        ] {
            check(cidr_legacy, value, &[]);
            check(cidr_legacy_strict, value, &[expect]);
            check(cidr, value, &[expect]);
        }
        check(cidr, "2001:DB8::/64", &["must be in canonical form (\"2001:db8::/64\")"]);
        check(cidr_legacy_strict, "2001:DB8::/64", &[]);
    }

    #[test]
    fn a_network_prints_itself() {
        let check = |value: &str, expect: &str, family: IpFamily| {
            assert_eq!(parse_cidr(value).unwrap().to_string(), expect);
            assert_eq!(family_of_cidr(value), Some(family));
        };
        check("10.1.2.3/8", "10.0.0.0/8", IpFamily::V4);
        check("2001:db8::1/32", "2001:db8::/32", IpFamily::V6);
        check("::ffff:1.2.3.4/120", "1.2.3.0/24", IpFamily::V4);
        check("::ffff:1.2.3.4/64", "::/64", IpFamily::V4);
        check("1.2.3.4/0", "0.0.0.0/0", IpFamily::V4);
    }

    #[test]
    fn an_interface_address_keeps_its_bits() {
        for value in ["192.168.1.5/24", "2001:db8::1/64", "10.0.0.0/8"] {
            check(interface_address, value, &[]);
        }
        let bad = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
        check(interface_address, "1.2.3.4", &[bad]);
        let form = "must be in canonical form (\"192.168.0.1/24\")";
        check(interface_address, "::ffff:192.168.0.1/120", &[form]);
        check(interface_address, "192.168.000.1/24", &[form]);
        let odd = "must be in canonical form (\"1.2.3.4/-32\")";
        check(interface_address, "::ffff:1.2.3.4/64", &[odd]);
    }

    #[test]
    fn odd_forms_in_old_fields_are_warned_of() {
        let at = Path::field("f");
        let check = |value: &str, expect: &[&str]| {
            let seen = match value.contains('/') {
                true => cidr_warnings(&at, value),
                false => ip_warnings(&at, value),
            };
            assert_eq!(seen, expect, "{value:?}");
        };
        check("1.2.3.4", &[]);
        check("::1", &[]);
        check("x", &[]);
        check("01.2.3.4", &["f: non-standard IP address \"01.2.3.4\" is invalid: use \"1.2.3.4\""]);
        check(
            "::ffff:1.2.3.4",
            &["f: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\""],
        );
        check("::0", &["f: IPv6 address \"::0\" should be in RFC 5952 canonical format (\"::\")"]);
        check("1.2.3.0/24", &[]);
        check("x/24", &[]);
        let ambiguous = "f: CIDR value \"1.2.3.4/24\" is ambiguous in this context (should be \
                         \"1.2.3.0/24\" or \"1.2.3.4/32\"?)";
        check("1.2.3.4/24", &[ambiguous]);
        let odd = "f: non-standard CIDR value \"01.2.3.0/24\" is invalid: use \"1.2.3.0/24\"";
        check("01.2.3.0/24", &[odd]);
        let form =
            "f: IPv6 CIDR value \"::0/64\" should be in RFC 5952 canonical format (\"::/64\")";
        check("::0/64", &[form]);
    }

    proptest! {
        #[test]
        fn what_is_canonical_is_printed_as_it_is(value in "[0-9a-f:./]{0,20}|[0-9./]{0,20}") {
            if ip(&value).is_empty() {
                prop_assert_eq!(&parse_ip(&value).unwrap().to_string(), &value);
                prop_assert!(ip_legacy_strict(&value).is_empty() && ip_legacy(&value).is_empty());
                prop_assert!(ip_warnings(&Path::root(), &value).is_empty());
            }
            if cidr(&value).is_empty() {
                prop_assert_eq!(&parse_cidr(&value).unwrap().to_string(), &value);
                prop_assert!(cidr_legacy_strict(&value).is_empty());
                prop_assert!(cidr_legacy(&value).is_empty());
                prop_assert!(cidr_warnings(&Path::root(), &value).is_empty());
            }
            let _ = interface_address(&value);
        }

        #[test]
        fn every_address_is_canonical_as_it_prints(bits: u128, length in 0u8..=128) {
            for bits in [bits, bits & 0xffff_ffff | 0xffff << 32, bits & bits << 64] {
                let address = normal(bits);
                prop_assert_eq!(ip(&address.to_string()), Vec::<String>::new());
                let length = if address.is_ipv4() { length % 33 } else { length };
                let text = format!("{address}/{length}");
                prop_assert_eq!(interface_address(&text), Vec::<String>::new());
                let network = parse_cidr(&text).unwrap().to_string();
                prop_assert_eq!(cidr(&network), Vec::<String>::new());
            }
        }
    }
}
