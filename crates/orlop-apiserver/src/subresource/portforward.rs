//! `portforward`: connects to ports of a pod.
//!
//! After `PortForwardREST` in `pkg/registry/core/pod/rest/subresources.go`.

use std::sync::Arc;

use http::Response;
use orlop_machinery::meta::Meta;
use orlop_machinery::status::Status;
use orlop_machinery::text::quote;

use super::connection::{self, Location};
use crate::body::Body;
use crate::call::Call;
use crate::query::Query;
use crate::server::Inner;

/// Connects the client to ports of the pod.
pub(super) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let query_text = call.query().to_owned();
    let query = Query::parse(&query_text);
    connection::refuse_dry_run(&query)?;
    let ports = parse_ports(&query).map_err(Status::bad_request)?;
    let pod = connection::read_pod(server, &call.info, &call.info.name).await?;
    let address = connection::kubelet_of_pod(server, &call.info, &pod).await?;
    let meta = Meta::of(&pod);
    let path = format!("/portForward/{}/{}", meta.namespace(), meta.name());
    let mut query = String::new();
    if !ports.is_empty() {
        let mut out = form_urlencoded::Serializer::new(String::new());
        query = out.append_pair("port", &ports.join(",")).finish();
    }
    connection::stream_to(call, &Location { address, path, query }).await
}

/// The ports that are asked for, one or several in each parameter.
fn parse_ports(query: &Query<'_>) -> Result<Vec<String>, String> {
    let mut ports = Vec::new();
    for text in query.all("ports").flat_map(|ports| ports.split(',')) {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        let port: u16 = text.parse().map_err(|_| {
            let text = quote(text);
            format!("cannot convert to []int32: strconv.ParseUint: parsing {text}: {why}")
        })?;
        ports.push(port.to_string());
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_numbers() {
        let check = |query: &str, expect: &str| {
            let ports = parse_ports(&Query::parse(query)).map(|ports| ports.join(" "));
            assert_eq!(ports.unwrap_or_else(|message| message), expect);
        };
        check("", "");
        check("ports=80&ports=81,82", "80 81 82");
        check(
            "ports=x",
            "cannot convert to []int32: strconv.ParseUint: parsing \"x\": invalid syntax",
        );
        check(
            "ports=65536",
            "cannot convert to []int32: strconv.ParseUint: parsing \"65536\": value out of range",
        );
    }
}
