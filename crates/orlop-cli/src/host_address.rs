//! The address of this machine that others may be told.
//!
//! After `ResolveBindAddress` in `staging/src/k8s.io/apimachinery/pkg/util/net/interface.go`: a
//! server that listens everywhere, or on loopback, advertises the address from which the machine
//! reaches the world. Upstream reads the routes; here the kernel is asked which address it would
//! use, and nothing is sent. A machine without a way out has no such address, and loopback stays.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Addresses that exist for examples: whoever has a default route has a way to them.
const FAR_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const FAR_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
/// The port does not matter, but there must be one.
const FAR_PORT: u16 = 9;

/// The address to advertise for a server that listens at `bind_address`; the same family first.
pub(crate) fn advertised(bind_address: IpAddr) -> IpAddr {
    if !bind_address.is_unspecified() && !bind_address.is_loopback() {
        return bind_address;
    }
    let (v4, v6) = (IpAddr::from(FAR_V4), IpAddr::from(FAR_V6));
    let order = if bind_address.is_ipv4() { [v4, v6] } else { [v6, v4] };
    order.into_iter().find_map(towards).unwrap_or(match bind_address {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    })
}

/// The address from which this machine would reach another.
fn towards(far: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = match far {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).ok()?;
    socket.connect(SocketAddr::new(far, FAR_PORT)).ok()?;
    let own = socket.local_addr().ok()?.ip();
    let is_link_local = match own {
        IpAddr::V4(own) => own.is_link_local(),
        IpAddr::V6(own) => own.is_unicast_link_local(),
    };
    (!own.is_unspecified() && !own.is_loopback() && !is_link_local).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_its_own_is_advertised_as_it_is() {
        for own in ["192.0.2.7", "2001:db8::7"] {
            let own: IpAddr = own.parse().unwrap();
            assert_eq!(advertised(own), own);
        }
    }

    #[test]
    fn everywhere_is_never_advertised() {
        for any in ["0.0.0.0", "::", "127.0.0.1", "::1"] {
            assert!(!advertised(any.parse().unwrap()).is_unspecified(), "{any}");
        }
    }
}
