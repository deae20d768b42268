//! A network from which addresses are given out, as numbers.
//!
//! After `pkg/registry/core/service/ipallocator/ipallocator.go` and `calculateRangeOffset` in
//! `bitmap.go` beside it. The first addresses are kept for those who ask for one by name: others
//! get them only when all the rest are in use. Which address is taken is said elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use orlop_machinery::names::{self, IpFamily};

/// A network without what nobody gets: its first address and, of IPv4, its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AddressRange {
    family: IpFamily,
    network: u128,
    /// The first and the last address that may be given out; the last may be before the first.
    first: u128,
    last: u128,
    /// How many addresses from `first` on are for those who ask by name.
    reserved: u128,
    /// As it prints.
    text: String,
}

/// Addresses from one to another, both included; none if the last is before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Band {
    first: u128,
    last: u128,
}

/// The shortest length of an IPv6 network, in bits.
const V6_LENGTH_MIN: u8 = 64;
/// Bounds of what is kept for those who ask by name, and its share of the network.
const RESERVED_MIN: u128 = 16;
const RESERVED_MAX: u128 = 256;
const RESERVED_SHARE: u128 = 16;

impl AddressRange {
    /// The range of a network in CIDR notation; none for a text that is none and for a network
    /// that is too large.
    pub(super) fn parse(text: &str) -> Option<AddressRange> {
        let cidr = names::parse_cidr(text)?;
        let (family, bits) = match cidr.network {
            IpAddr::V4(_) => (IpFamily::V4, 32),
            IpAddr::V6(_) if cidr.length < V6_LENGTH_MIN => return None,
            IpAddr::V6(_) => (IpFamily::V6, 128),
        };
        let size = 1u128.checked_shl(u32::from(bits - cidr.length))?;
        let network = to_number(cidr.network);
        let unused_at_end = if family == IpFamily::V4 { 2 } else { 1 };
        Some(AddressRange {
            family,
            network,
            first: network + 1,
            last: (network + size).saturating_sub(unused_at_end),
            reserved: reserved_of(size),
            text: cidr.to_string(),
        })
    }

    /// The family of its addresses.
    pub(super) fn family(&self) -> IpFamily {
        self.family
    }

    /// Whether an address may be given out of this range.
    pub(super) fn contains(&self, address: IpAddr) -> bool {
        let is_same_family = address.is_ipv4() == (self.family == IpFamily::V4);
        is_same_family && (self.first..=self.last).contains(&to_number(address))
    }

    /// The first address of the network, which nobody gets.
    pub(super) fn network(&self) -> IpAddr {
        self.address(self.network)
    }

    /// The bands in which to look for a free address, in order.
    pub(super) fn bands(&self) -> [Band; 2] {
        let middle = self.first + self.reserved;
        let lower = Band { first: self.first, last: (middle - 1).min(self.last) };
        [Band { first: middle, last: self.last }, lower]
    }

    /// An address of this range by its number.
    pub(super) fn address(&self, number: u128) -> IpAddr {
        match self.family {
            IpFamily::V4 => Ipv4Addr::from_bits(u32::try_from(number).unwrap_or(u32::MAX)).into(),
            IpFamily::V6 => Ipv6Addr::from_bits(number).into(),
        }
    }
}

impl std::fmt::Display for AddressRange {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

impl Band {
    /// All addresses of the band, each once, from a random one on.
    pub(super) fn starting_at_random(self, random: u64) -> impl Iterator<Item = u128> {
        let count = (self.last + 1).saturating_sub(self.first);
        let start = u128::from(random).checked_rem(count).unwrap_or(0);
        (0..count).map(move |step| self.first + (start + step) % count)
    }
}

fn to_number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn reserved_of(size: u128) -> u128 {
    if size <= RESERVED_MIN {
        return 0;
    }
    (size / RESERVED_SHARE).clamp(RESERVED_MIN, RESERVED_MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn the_upper_band_comes_first() {
        let check = |cidr: &str, bands: [(&str, &str, u128); 2]| {
            let range = AddressRange::parse(cidr).unwrap();
            for (band, (first, last, count)) in range.bands().into_iter().zip(bands) {
                assert_eq!((band.last + 1).saturating_sub(band.first), count, "{cidr}");
                if count > 0 {
                    assert_eq!(range.address(band.first).to_string(), first, "{cidr}");
                    assert_eq!(range.address(band.last).to_string(), last, "{cidr}");
                }
            }
        };
        check(
            "10.96.0.0/12",
            [("10.96.1.1", "10.111.255.254", 1_048_318), ("10.96.0.1", "10.96.1.0", 256)],
        );
        check("10.0.0.0/24", [("10.0.0.17", "10.0.0.254", 238), ("10.0.0.1", "10.0.0.16", 16)]);
        check("10.0.0.16/28", [("10.0.0.17", "10.0.0.30", 14), ("", "", 0)]);
        check("10.0.0.0/31", [("", "", 0), ("", "", 0)]);
        check("10.0.0.1/32", [("", "", 0), ("", "", 0)]);
        check("fd00::/112", [("fd00::101", "fd00::ffff", 65_279), ("fd00::1", "fd00::100", 256)]);
        assert_eq!(AddressRange::parse("fd00::/48"), None);
        assert_eq!(AddressRange::parse("10.0.0.0"), None);
    }

    #[test]
    fn nobody_gets_the_network_or_its_broadcast_address() {
        let check = |cidr: &str, address: &str, expect: bool| {
            let range = AddressRange::parse(cidr).unwrap();
            assert_eq!(range.contains(address.parse().unwrap()), expect, "{cidr} {address}");
        };
        check("10.0.0.0/24", "10.0.0.0", false);
        check("10.0.0.0/24", "10.0.0.1", true);
        check("10.0.0.0/24", "10.0.0.255", false);
        check("10.0.0.0/24", "10.0.1.1", false);
        check("10.0.0.0/24", "fd00::1", false);
        check("fd00::/112", "fd00::", false);
        check("fd00::/112", "fd00::ffff", true);
    }

    #[test]
    fn every_address_comes_once_wherever_it_starts() {
        let [upper, _] = AddressRange::parse("10.0.0.0/28").unwrap().bands();
        for random in [0, 5, 13, 14, u64::MAX] {
            let mut seen: Vec<u128> = upper.starting_at_random(random).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 14, "{random}");
        }
    }
}
