//! What whoever starts a server decides.
//!
//! Names and defaults are those of kube-apiserver's flags
//! (`cmd/kube-apiserver/app/options`, `staging/src/k8s.io/apiserver/pkg/server/options`).
//! Values, not files: certificates come as PEM.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use orlop_storage::{Clock, SystemClock};

use crate::serve::ShuttingDown;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Tells everybody that the end has begun: watches end, and new requests are refused.
    pub shutting_down: ShuttingDown,
    /// The name of the machine.
    pub hostname: String,
    /// The address under which the other members of the cluster reach the server.
    pub advertise_address: IpAddr,
    /// The port of the server.
    pub secure_port: u16,
    /// Where the addresses of Services come from: one network, or two of different families.
    pub service_cluster_ip_range: Vec<ServiceNetwork>,
    /// Where the node ports of Services come from.
    pub service_node_port_range: RangeInclusive<u16>,
    /// How long Events are kept.
    pub event_ttl: Duration,
    /// How many requests that only read may be under way; zero is no bound.
    pub max_requests_inflight: usize,
    /// How many requests that write may be under way; zero is no bound.
    pub max_mutating_requests_inflight: usize,
    /// How long a request may take.
    pub request_timeout: Duration,
    /// How long a watch lasts at least, if its client does not say.
    pub min_request_timeout: Duration,
    /// The authority of client certificates, as PEM.
    pub client_ca: Option<String>,
    /// Whom to believe that it speaks for somebody else.
    pub request_header: Option<RequestHeader>,
    /// The authorities that the machine trusts, as PEM: for webhooks that do not name their own.
    pub system_roots: String,
}

/// Proxies that speak for users, and how they say for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHeader {
    /// The authority of their certificates, as PEM.
    pub client_ca: String,
    /// The common names of those who may; everybody with a certificate if empty.
    pub allowed_names: Vec<String>,
    /// The headers that hold the name of the user.
    pub username_headers: Vec<String>,
    /// The headers that hold the id of the user.
    pub uid_headers: Vec<String>,
    /// The headers that hold the groups of the user.
    pub group_headers: Vec<String>,
    /// How headers begin that hold anything else about the user.
    pub extra_headers_prefix: Vec<String>,
}

/// A network that addresses of Services are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceNetwork {
    address: IpAddr,
    prefix: u8,
}

/// A network needs an address for the API server and some for others.
const HOST_BITS_MIN: u8 = 3;

/// Why a text is no network for Services.
#[derive(Debug, thiserror::Error)]
pub enum ServiceNetworkError {
    /// It is not an address, a slash and a number of bits.
    #[error("invalid CIDR address: {0}")]
    Invalid(String),
    /// It has hardly any address.
    #[error("{0} must have at least 8 IP addresses")]
    TooSmall(String),
}

impl Options {
    /// Upstream's defaults, and a network for Services as kubeadm has it.
    #[must_use]
    pub fn new(advertise_address: IpAddr, secure_port: u16) -> Options {
        Options {
            clock: Arc::new(SystemClock),
            shutting_down: ShuttingDown::new(),
            hostname: "localhost".to_owned(),
            advertise_address,
            secure_port,
            service_cluster_ip_range: vec![ServiceNetwork::default()],
            service_node_port_range: 30_000..=32_767,
            event_ttl: Duration::from_secs(60 * 60),
            max_requests_inflight: 400,
            max_mutating_requests_inflight: 200,
            request_timeout: Duration::from_secs(60),
            min_request_timeout: Duration::from_secs(30 * 60),
            client_ca: None,
            request_header: None,
            system_roots: String::new(),
        }
    }
}

impl ServiceNetwork {
    /// The first address of the network and how many of its bits are fixed.
    #[must_use]
    pub fn parts(&self) -> (IpAddr, u8) {
        (self.address, self.prefix)
    }

    /// The address of the API server itself: the first one after the network's own.
    #[must_use]
    pub fn first(&self) -> IpAddr {
        match self.address {
            IpAddr::V4(address) => IpAddr::V4((u32::from(address) + 1).into()),
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) + 1).into()),
        }
    }
}

impl Default for ServiceNetwork {
    fn default() -> ServiceNetwork {
        ServiceNetwork { address: Ipv4Addr::new(10, 96, 0, 0).into(), prefix: 12 }
    }
}

impl FromStr for ServiceNetwork {
    type Err = ServiceNetworkError;

    fn from_str(text: &str) -> Result<ServiceNetwork, ServiceNetworkError> {
        let invalid = || ServiceNetworkError::Invalid(text.into());
        let (address, prefix) = text.split_once('/').ok_or_else(invalid)?;
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let prefix: u8 = prefix.parse().map_err(|_| invalid())?;
        let bits: u8 = if address.is_ipv4() { 32 } else { 128 };
        let host_bits = bits.checked_sub(prefix).ok_or_else(invalid)?;
        if host_bits < HOST_BITS_MIN {
            return Err(ServiceNetworkError::TooSmall(text.into()));
        }
        let (v4, v6) =
            (u32::MAX.checked_shl(host_bits.into()), u128::MAX.checked_shl(host_bits.into()));
        let address = match address {
            IpAddr::V4(address) => IpAddr::V4((u32::from(address) & v4.unwrap_or(0)).into()),
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) & v6.unwrap_or(0)).into()),
        };
        Ok(ServiceNetwork { address, prefix })
    }
}

impl fmt::Display for ServiceNetwork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_services_are_read_as_upstream_reads_them() {
        let check = |text: &str, expect: &str| {
            let found = match text.parse::<ServiceNetwork>() {
                Ok(network) => format!("{network} {}", network.first()),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expect);
        };
        check("10.0.0.0/24", "10.0.0.0/24 10.0.0.1");
        check("10.0.0.77/24", "10.0.0.0/24 10.0.0.1");
        check("10.96.0.0/12", "10.96.0.0/12 10.96.0.1");
        check("fd00::/108", "fd00::/108 fd00::1");
        check("1.2.3.4/0", "0.0.0.0/0 0.0.0.1");
        check("fd00::1:2/64", "fd00::/64 fd00::1");
        check("10.0.0.0/30", "10.0.0.0/30 must have at least 8 IP addresses");
        check("10.0.0.0", "invalid CIDR address: 10.0.0.0");
        check("10.0.0.0/33", "invalid CIDR address: 10.0.0.0/33");
        check("x/8", "invalid CIDR address: x/8");
    }
}
