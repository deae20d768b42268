//! Who is meant by the name in the path of a proxy: `name`, `name:port` or `scheme:name:port`.
//!
//! After `ResourceLocation` in `pkg/registry/core/{pod,node}/strategy.go` and
//! `pkg/registry/core/service/storage/storage.go`.

use std::net::IpAddr;

use orlop_machinery::Value;
use orlop_machinery::status::Status;
use orlop_machinery::text::quote;
use tokio::net::lookup_host;

use crate::backend::Address;
use crate::call::Call;
use crate::registry;
use crate::request::RequestInfo;
use crate::server::Inner;
use crate::subresource::connection::{asked, kubelet_of, read_pod};
use crate::verb::not_served;

/// The parts of such a name.
#[derive(Debug, PartialEq, Eq)]
struct Target<'a> {
    is_secure: bool,
    name: &'a str,
    port: &'a str,
}

impl<'a> Target<'a> {
    fn parse(id: &'a str) -> Option<Target<'a>> {
        let parts: Vec<&str> = id.split(':').collect();
        let (scheme, name, port) = match parts[..] {
            [name] => ("", name, ""),
            [name, port] => ("", name, port),
            [scheme, name, port] => (scheme, name, port),
            _ => return None,
        };
        let is_known = !name.is_empty() && matches!(scheme, "" | "http" | "https");
        is_known.then_some(Target { is_secure: scheme == "https", name, port })
    }
}

/// The address of who is meant.
pub(super) async fn find(server: &Inner, call: &mut Call) -> Result<Address, Status> {
    let (info, singular) = (&call.info, call.definition.resource.singular.as_str());
    let id = info.name.as_str();
    let target = Target::parse(id)
        .ok_or_else(|| Status::bad_request(format!("invalid {singular} request {}", quote(id))))?;
    match singular {
        "pod" => find_pod(server, info, &target).await,
        "service" => find_service(server, info, &target).await,
        "node" => find_node(server, info, &target).await,
        _ => Err(not_served()),
    }
}

async fn find_pod(
    server: &Inner,
    info: &RequestInfo,
    target: &Target<'_>,
) -> Result<Address, Status> {
    let pod = read_pod(server, info, target.name).await?;
    let mut port = target.port.to_owned();
    if port.is_empty() {
        let containers = pod.path(&["spec", "containers"]).list().iter();
        let mut first = containers.filter_map(|container| container.at("ports").list().first());
        port =
            first.next().map(|port| port.at("containerPort").int().to_string()).unwrap_or_default();
    }
    let host = pod.path(&["status", "podIPs"]).list().first();
    let host = host.map_or("", |known| known.at("ip").str()).to_owned();
    if !host.parse().is_ok_and(is_allowed) {
        return Err(address_not_allowed());
    }
    Ok(Address { is_secure: target.is_secure, host, port })
}

async fn find_node(
    server: &Inner,
    info: &RequestInfo,
    target: &Target<'_>,
) -> Result<Address, Status> {
    let kubelet = kubelet_of(server, info, target.name).await?;
    let host = kubelet.host.as_str();
    let found = lookup_host((host, 0)).await;
    let found = found.map_err(|_| Status::bad_request(format!("lookup {host}: no such host")))?;
    if !found.map(|address| address.ip()).all(is_allowed) {
        return Err(address_not_allowed());
    }
    if target.port.is_empty() || target.port == kubelet.port {
        return Ok(kubelet);
    }
    let port = target.port.to_owned();
    Ok(Address { is_secure: target.is_secure, port, ..kubelet })
}

async fn find_service(
    server: &Inner,
    info: &RequestInfo,
    target: &Target<'_>,
) -> Result<Address, Status> {
    let read = async |plural: &str| {
        let definition = server.built_in("", "v1", plural);
        let found = registry::read(server, definition, &info.namespace, target.name).await?;
        let missing = || Status::not_found(&asked(info), target.name);
        Ok::<Value, Status>(found.ok_or_else(missing)?.object)
    };
    let mut port = target.port.to_owned();
    if let Ok(number) = port.parse::<i64>() {
        let service = read("services").await?;
        let ports = service.path(&["spec", "ports"]).list();
        let Some(found) = ports.iter().find(|known| known.at("port").int() == number) else {
            let name = quote(target.name);
            let message = format!("no service port {number} found for service {name}");
            return Err(Status::service_unavailable(&message));
        };
        port = found.at("name").str().to_owned();
    }
    let endpoints = read("endpoints").await?;
    let none = |name: &str| {
        Status::service_unavailable(&format!("no endpoints available for service {}", quote(name)))
    };
    let subsets = endpoints.at("subsets").list();
    if subsets.is_empty() {
        return Err(none(target.name));
    }
    for subset in rotated(subsets, server) {
        let ports = subset.at("ports").list();
        let Some(found) = ports.iter().find(|known| known.at("name").str() == port) else {
            continue;
        };
        for address in rotated(subset.at("addresses").list(), server) {
            if is_pod(server, info, address).await {
                let host = address.at("ip").str().to_owned();
                let port = found.at("port").int().to_string();
                return Ok(Address { is_secure: target.is_secure, host, port });
            }
        }
    }
    Err(none(&info.name))
}

/// All items, from a random one on.
fn rotated<'a>(items: &'a [Value], server: &Inner) -> impl Iterator<Item = &'a Value> + use<'a> {
    let start = usize::from(server.random()[0]) % items.len().max(1);
    items[start..].iter().chain(&items[..start])
}

/// Whether an address of a service is that of a pod of the same namespace. Nobody else is reached
/// through a service.
async fn is_pod(server: &Inner, info: &RequestInfo, address: &Value) -> bool {
    let reference = address.at("targetRef");
    if reference.is_null() || reference.at("namespace").str() != info.namespace {
        return false;
    }
    let Ok(pod) = read_pod(server, info, reference.at("name").str()).await else { return false };
    let ips = pod.path(&["status", "podIPs"]).list();
    ips.iter().any(|known| known.at("ip") == address.at("ip"))
}

/// Whether an address is that of one machine which is not this one.
fn is_allowed(address: IpAddr) -> bool {
    let is_local = match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => return is_allowed(IpAddr::V4(address)),
            None => address.is_unicast_link_local(),
        },
    };
    !(is_local || address.is_loopback() || address.is_multicast() || address.is_unspecified())
}

fn address_not_allowed() -> Status {
    Status::bad_request("address not allowed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_a_scheme_and_a_port() {
        let check = |id: &str, expect: Option<(bool, &str, &str)>| {
            let found = Target::parse(id);
            assert_eq!(found.map(|found| (found.is_secure, found.name, found.port)), expect);
        };
        check("a", Some((false, "a", "")));
        check("a:80", Some((false, "a", "80")));
        check("a:", Some((false, "a", "")));
        check("https:a:web", Some((true, "a", "web")));
        check("http:a:", Some((false, "a", "")));
        check("ftp:a:1", None);
        check(":80", None);
        check("", None);
        check("a:b:c:d", None);
    }

    #[test]
    fn nobody_is_led_to_the_server_itself() {
        let check = |address: &str, expect: bool| {
            assert_eq!(is_allowed(address.parse().unwrap()), expect, "{address}");
        };
        check("10.0.0.1", true);
        check("fd00::1", true);
        for address in [
            "127.0.0.1",
            "0.0.0.0",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "ff02::1",
            "::ffff:127.0.0.1",
        ] {
            check(address, false);
        }
    }
}
