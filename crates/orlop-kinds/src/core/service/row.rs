//! What `kubectl get` shows of a service.
//!
//! After `printService` in `pkg/printers/internalversion/printers.go`.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::kind::{Context, Row};

use crate::rules::pod_template;

pub(super) fn row(context: &Context<'_>, service: &Value) -> Row {
    let spec = service.at("spec");
    let first = spec.at("clusterIPs").list().first();
    Row::new(vec![
        service.path(&["metadata", "name"]).clone(),
        spec.at("type").str().into(),
        first.map_or("<none>", Value::str).into(),
        external_address(service).into(),
        ports(spec.at("ports")).into(),
        context.age(service).into(),
        pod_template::label_cell(spec.at("selector")),
    ])
}

fn external_address(service: &Value) -> String {
    let spec = service.at("spec");
    let external = spec.at("externalIPs").list().iter().map(Value::str);
    let (addresses, without): (Vec<&str>, &str) = match spec.at("type").str() {
        "ClusterIP" | "NodePort" => (external.collect(), "<none>"),
        "LoadBalancer" => {
            let ingress = service.path(&["status", "loadBalancer", "ingress"]).list();
            let balancer: BTreeSet<&str> = ingress.iter().filter_map(address_of_ingress).collect();
            (balancer.into_iter().chain(external).collect(), "<pending>")
        }
        "ExternalName" => return spec.at("externalName").str().to_owned(),
        _ => (Vec::new(), "<unknown>"),
    };
    if addresses.is_empty() { without.to_owned() } else { addresses.join(",") }
}

fn address_of_ingress(point: &Value) -> Option<&str> {
    let fields = ["ip", "hostname"].into_iter();
    fields.map(|field| point.at(field).str()).find(|text| !text.is_empty())
}

fn ports(ports: &Value) -> String {
    let texts = ports.list().iter().map(|port| {
        let (number, protocol) = (port.at("port").int(), port.at("protocol").str());
        match port.at("nodePort").int() {
            node_port if node_port > 0 => format!("{number}:{node_port}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() { "<none>".to_owned() } else { texts.join(",") }
}
