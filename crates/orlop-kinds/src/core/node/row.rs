//! What `kubectl get nodes` shows.
//!
//! After `printNode` in `pkg/printers/internalversion/printers.go`.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::kind::{Column, Context, Row};

pub(super) const COLUMNS: &[Column] = &[
    Column::NAME,
    Column::text("Status"),
    Column::text("Roles"),
    Column::AGE,
    Column::text("Version"),
    Column::text("Internal-IP").wide(),
    Column::text("External-IP").wide(),
    Column::text("OS-Image").wide(),
    Column::text("Kernel-Version").wide(),
    Column::text("Container-Runtime").wide(),
];

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";
const ROLE: &str = "kubernetes.io/role";

/// The cells of a node.
pub(super) fn row(context: &Context<'_>, node: &Value) -> Row {
    let status = node.at("status");
    let info = status.at("nodeInfo");
    let or_unknown = |field: &str| match info.at(field).str() {
        "" => "<unknown>".to_owned(),
        text => text.to_owned(),
    };
    let mut kernel = or_unknown("kernelVersion");
    let architecture = info.at("architecture").str();
    if !architecture.is_empty() {
        kernel += &format!(" ({architecture})");
    }
    Row::new(vec![
        node.path(&["metadata", "name"]).clone(),
        readiness(node).into(),
        roles(node).into(),
        context.age(node).into(),
        info.at("kubeletVersion").str().into(),
        address(status, "InternalIP"),
        address(status, "ExternalIP"),
        or_unknown("osImage").into(),
        kernel.into(),
        or_unknown("containerRuntimeVersion").into(),
    ])
}

/// Of several conditions the last counts.
fn readiness(node: &Value) -> String {
    let conditions = node.path(&["status", "conditions"]).list();
    let ready = conditions.iter().rev().find(|found| found.at("type").str() == "Ready");
    let mut text = match ready.map(|condition| condition.at("status").str()) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if node.path(&["spec", "unschedulable"]).bool() {
        text += ",SchedulingDisabled";
    }
    text
}

/// From labels of both kinds, each role once, in order.
fn roles(node: &Value) -> String {
    let labels = node.path(&["metadata", "labels"]).map().iter();
    let role = |(key, value): (&'_ str, &'_ Value)| match key.strip_prefix(ROLE_PREFIX) {
        Some(role) => Some(role.to_owned()),
        None if key == ROLE => Some(value.str().to_owned()),
        None => None,
    };
    let roles: BTreeSet<String> = labels.filter_map(role).filter(|role| !role.is_empty()).collect();
    if roles.is_empty() {
        return "<none>".to_owned();
    }
    roles.into_iter().collect::<Vec<String>>().join(",")
}

fn address(status: &Value, kind: &str) -> Value {
    let mut addresses = status.at("addresses").list().iter();
    let found = addresses.find(|address| address.at("type").str() == kind);
    found.map_or("<none>", |address| address.at("address").str()).into()
}
