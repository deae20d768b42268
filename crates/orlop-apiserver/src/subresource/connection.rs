//! What `log`, `exec`, `attach`, `portforward` and `proxy` have in common: where a node listens,
//! which container is meant, and how a connection is handed over.
//!
//! After `pkg/registry/core/pod/strategy.go`, `pkg/kubelet/client/kubelet_client.go` and
//! `staging/src/k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go`. Not here: upstream answers
//! the newest dialects of WebSockets itself and speaks SPDY to nodes that do not know them; here a
//! node is spoken to in the dialect of the client.

mod kubelet;
mod upgrade;

use std::sync::Arc;

use http::Response;
use orlop_machinery::Value;
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::meta::Meta;
use orlop_machinery::status::{Reason, Status};

use crate::backend::Address;
use crate::body::Body;
use crate::call::Call;
use crate::query::Query;
use crate::registry;
use crate::request::RequestInfo;
use crate::server::Inner;

pub(super) use kubelet::kubelet_of;
pub(super) use upgrade::{hand_over, is_upgrade};

/// Where to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// Who listens.
    pub address: Address,
    /// The path; may be empty.
    pub path: String,
    /// The query, without its question mark.
    pub query: String,
}

impl Location {
    /// The path and the query, as a request line has them.
    pub(super) fn target(&self) -> String {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        if self.query.is_empty() { path.to_owned() } else { format!("{path}?{}", self.query) }
    }

    /// The whole URL.
    pub(super) fn url(&self) -> String {
        let (scheme, authority) = (self.address.scheme(), self.address.authority());
        format!("{scheme}://{authority}{}", self.target())
    }
}

/// Refuses a dry run: nobody can connect to something only as a trial.
pub(super) fn refuse_dry_run(query: &Query<'_>) -> Result<(), Status> {
    if query.has("dryRun") && !query.text("dryRun").is_empty() {
        return Err(Status::bad_request("dryRun is not supported"));
    }
    Ok(())
}

/// Connects the client to a container of the pod, to what the node has at `endpoint`.
pub(super) async fn stream_to_container(
    server: &Arc<Inner>,
    call: &mut Call,
    endpoint: &str,
) -> Result<Response<Body>, Status> {
    let query_text = call.query().to_owned();
    let query = Query::parse(&query_text);
    refuse_dry_run(&query)?;
    let pod = read_pod(server, &call.info, &call.info.name).await?;
    let container = choose_container(&pod, query.text("container"))?;
    let address = kubelet_of_pod(server, &call.info, &pod).await?;
    let meta = Meta::of(&pod);
    let path = format!("/{endpoint}/{}/{}/{container}", meta.namespace(), meta.name());
    let location = Location { address, path, query: stream_query(&query) };
    stream_to(call, &location).await
}

/// Connects the client to a place that is spoken to in another protocol.
pub(super) async fn stream_to(
    call: &mut Call,
    location: &Location,
) -> Result<Response<Body>, Status> {
    if !is_upgrade(&call.parts.headers) {
        return Err(Status::bad_request("Upgrade request required"));
    }
    hand_over(call, location).await
}

/// The parameters of a command as a node reads them, in the order of their names.
fn stream_query(query: &Query<'_>) -> String {
    let mut out = form_urlencoded::Serializer::new(String::new());
    for command in query.all("command") {
        out.append_pair("command", command);
    }
    for (asked, passed) in
        [("stderr", "error"), ("stdin", "input"), ("stdout", "output"), ("tty", "tty")]
    {
        if query.truth(asked) == Some(true) {
            out.append_pair(passed, "1");
        }
    }
    out.finish()
}

/// A pod of the namespace of the request.
pub(super) async fn read_pod(
    server: &Inner,
    info: &RequestInfo,
    name: &str,
) -> Result<Value, Status> {
    let pods = server.built_in("", "v1", "pods");
    let found = registry::read(server, pods, &info.namespace, name).await?;
    let missing = || Status::not_found(&asked(info), name);
    Ok(found.ok_or_else(missing)?.object)
}

/// What was asked for. When something else is missing, upstream says that this is.
pub(super) fn asked(info: &RequestInfo) -> GroupResource {
    GroupResource::new(&info.group, &info.resource)
}

/// Where the node of a pod listens.
pub(super) async fn kubelet_of_pod(
    server: &Inner,
    info: &RequestInfo,
    pod: &Value,
) -> Result<Address, Status> {
    let node = pod.path(&["spec", "nodeName"]).str();
    if node.is_empty() {
        let name = &info.name;
        return Err(Status::bad_request(format!("pod {name} does not have a host assigned")));
    }
    kubelet_of(server, info, node).await
}

/// The container that is meant: the one that is asked for, or the only one.
pub(super) fn choose_container<'a>(pod: &'a Value, asked: &str) -> Result<&'a str, Status> {
    let name = Meta::of(pod).name();
    let of_kind = |kind: &str| pod.path(&["spec", kind]).list().iter();
    let all = of_kind("initContainers")
        .chain(of_kind("containers"))
        .chain(of_kind("ephemeralContainers"))
        .map(|container| container.at("name").str());
    if !asked.is_empty() {
        return all.clone().find(|known| *known == asked).ok_or_else(|| {
            Status::bad_request(format!("container {asked} is not valid for pod {name}"))
        });
    }
    match pod.path(&["spec", "containers"]).list() {
        [only] => Ok(only.at("name").str()),
        [] => {
            let message = format!("a container name must be specified for pod {name}");
            Err(Status::bad_request(message))
        }
        _ => {
            let names: Vec<&str> = all.collect();
            Err(Status::bad_request(format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                names.join(" ")
            )))
        }
    }
}

/// That something failed which has no name of its own.
pub(super) fn failed(message: impl Into<String>) -> Status {
    Status::failure(500, Reason::Unknown, message)
}

#[cfg(test)]
mod tests {
    use orlop_machinery::json;

    use super::*;

    #[test]
    fn the_container_is_the_one_asked_for_or_the_only_one() {
        let check = |spec: &str, asked: &str, expect: &str| {
            let pod = format!(r#"{{"metadata":{{"name":"p"}},"spec":{spec}}}"#);
            let pod = json::parse(pod.as_bytes()).unwrap();
            let found = choose_container(&pod, asked).map_err(|status| status.message);
            assert_eq!(found.unwrap_or_else(|message| message.leak()), expect);
        };
        let one = r#"{"containers":[{"name":"c"}],"initContainers":[{"name":"i"}]}"#;
        check(one, "", "c");
        check(one, "i", "i");
        check(one, "x", "container x is not valid for pod p");
        check("{}", "", "a container name must be specified for pod p");
        let two = r#"{"containers":[{"name":"c"},{"name":"d"}],"initContainers":[{"name":"i"}],
            "ephemeralContainers":[{"name":"e"}]}"#;
        check(two, "e", "e");
        check(two, "", "a container name must be specified for pod p, choose one of: [i c d e]");
    }

    #[test]
    fn a_node_reads_other_names() {
        let check = |query: &str, expect: &str| {
            assert_eq!(stream_query(&Query::parse(query)), expect);
        };
        check("", "");
        check(
            "stdout=true&tty=1&command=ls&stdin=false&command=-l&stderr=1&container=c",
            "command=ls&command=-l&error=1&output=1&tty=1",
        );
    }
}
