//! Where a node listens.
//!
//! After `GetConnectionInfo` in `pkg/kubelet/client/kubelet_client.go` and
//! `GetPreferredNodeAddress` in `pkg/util/node/node.go`.

use orlop_machinery::Value;
use orlop_machinery::status::Status;

use super::{asked, failed};
use crate::backend::Address;
use crate::registry;
use crate::request::RequestInfo;
use crate::server::Inner;

/// The types of addresses, the best first.
const PREFERRED: [&str; 5] = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];
/// Where a node listens that does not say it.
const DEFAULT_PORT: i64 = 10250;

/// The address of a node by its name. A node that is missing is told as if it were what was asked
/// for, as upstream does.
pub(crate) async fn kubelet_of(
    server: &Inner,
    info: &RequestInfo,
    name: &str,
) -> Result<Address, Status> {
    let nodes = server.built_in("", "v1", "nodes");
    let node = registry::read(server, nodes, "", name).await?;
    let missing = || Status::not_found(&asked(info), name);
    address(&node.ok_or_else(missing)?.object)
}

fn address(node: &Value) -> Result<Address, Status> {
    let addresses = node.path(&["status", "addresses"]).list();
    let of_type = |kind: &&str| addresses.iter().find(|known| known.at("type").str() == *kind);
    let Some(found) = PREFERRED.iter().find_map(of_type) else {
        let text =
            |known: &Value| format!("{{{} {}}}", known.at("type").str(), known.at("address").str());
        let known: Vec<String> = addresses.iter().map(text).collect();
        let known = known.join(" ");
        return Err(failed(format!("no preferred addresses found; known addresses: [{known}]")));
    };
    let port = node.path(&["status", "daemonEndpoints", "kubeletEndpoint", "Port"]).int();
    let port = if port > 0 { port } else { DEFAULT_PORT };
    let host = found.at("address").str().to_owned();
    Ok(Address { is_secure: true, host, port: port.to_string() })
}

#[cfg(test)]
mod tests {
    use orlop_machinery::json;

    use super::*;

    #[test]
    fn names_are_better_than_numbers() {
        let check = |status: &str, expect: &str| {
            let node = json::parse(format!(r#"{{"status":{status}}}"#).as_bytes()).unwrap();
            let found = address(&node).map(|address| address.authority());
            assert_eq!(found.unwrap_or_else(|status| status.message), expect);
        };
        check("{}", "no preferred addresses found; known addresses: []");
        check(
            r#"{"addresses":[{"type":"A","address":"1"},{"type":"B","address":"2"}]}"#,
            "no preferred addresses found; known addresses: [{A 1} {B 2}]",
        );
        check(r#"{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}"#, "10.0.0.1:10250");
        check(
            r#"{"addresses":[{"type":"InternalIP","address":"10.0.0.1"},
                {"type":"Hostname","address":"n"}],
                "daemonEndpoints":{"kubeletEndpoint":{"Port":77}}}"#,
            "n:77",
        );
        check(r#"{"addresses":[{"type":"ExternalIP","address":"fd00::1"}]}"#, "[fd00::1]:10250");
    }
}
