//! Names, verbs, subresources and columns of every kind, held against the recorded ones.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

mod recorded;

use std::collections::BTreeSet;

use orlop_kinds::catalog::{Entry, catalog};
use orlop_machinery::Value;
use orlop_machinery::kind::Scope;

/// Group versions that are served: those that are generally available.
fn is_served(group_version: &str) -> bool {
    let version = group_version.rsplit('/').next().unwrap();
    !version.contains("alpha") && !version.contains("beta")
}

#[test]
fn every_resource_is_as_discovery_tells() {
    let Some(folder) = recorded::folder() else { return };
    let mut expect = BTreeSet::new();
    for file in recorded::files(&folder.join("discovery"), "json") {
        let list = recorded::json(&file);
        let group_version = list.at("groupVersion").str();
        if list.at("kind").str() != "APIResourceList" || !is_served(group_version) {
            continue;
        }
        expect.extend(list.at("resources").list().iter().map(|found| line(group_version, found)));
    }
    assert!(expect.len() > 100, "the recorded documents were read");
    let have: BTreeSet<String> = catalog().iter().flat_map(lines_of).collect();
    let missing: Vec<&String> = expect.difference(&have).collect();
    let excess: Vec<&String> = have.difference(&expect).collect();
    assert!(missing.is_empty() && excess.is_empty(), "missing: {missing:#?}\nexcess: {excess:#?}");
}

/// A resource of a recorded document as text.
fn line(group_version: &str, found: &Value) -> String {
    let words = |field: &str| {
        let words: Vec<&str> = found.at(field).list().iter().map(Value::str).collect();
        words.join(",")
    };
    let kind = match found.at("group").str() {
        "" if found.at("version").is_null() => found.at("kind").str().to_owned(),
        group => format!("{group}/{}/{}", found.at("version").str(), found.at("kind").str()),
    };
    format!(
        "{group_version} {} {kind} singular={} namespaced={} short={} categories={} verbs={}",
        found.at("name").str(),
        found.at("singularName").str(),
        found.at("namespaced").bool(),
        words("shortNames"),
        words("categories"),
        words("verbs"),
    )
}

/// A kind and its subresources in the same form.
fn lines_of(entry: &Entry) -> Vec<String> {
    let resource = &entry.resource;
    let (group_version, namespaced) = (resource.api_version(), resource.scope == Scope::Namespaced);
    let verbs = |verbs: &[orlop_machinery::kind::Verb]| {
        let names: Vec<&str> = verbs.iter().map(|verb| verb.name()).collect();
        names.join(",")
    };
    let mut lines = vec![format!(
        "{group_version} {} {} singular={} namespaced={namespaced} short={} categories={} verbs={}",
        resource.plural,
        resource.kind,
        resource.singular,
        resource.short_names.join(","),
        resource.categories.join(","),
        verbs(&resource.verbs),
    )];
    for sub in &resource.subresources {
        let kind = match sub.kind {
            None => resource.kind.to_string(),
            Some((group, version, kind))
                if (group, version) == (&*resource.group, &*resource.version) =>
            {
                kind.to_owned()
            }
            Some((group, version, kind)) => format!("{group}/{version}/{kind}"),
        };
        lines.push(format!(
            "{group_version} {}/{} {kind} singular= namespaced={namespaced} short= categories= \
             verbs={}",
            resource.plural,
            sub.name,
            verbs(sub.verbs),
        ));
    }
    lines
}

/// The name that the recorded columns have for a kind, where it is not the kind in lower case.
fn name_of_columns(kind: &str) -> String {
    match kind {
        "ClusterRoleBinding" => "clusterRoleBindings".into(),
        "RoleBinding" => "roleBindings".into(),
        "Endpoints" => "endpoint".into(),
        "MutatingWebhookConfiguration" => "mutatingWebhook".into(),
        "ValidatingWebhookConfiguration" => "validatingWebhook".into(),
        "PriorityLevelConfiguration" => "priorityLevel".into(),
        "ResourceSlice" => "nodeResourceSlice".into(),
        "IPAddress" => "ipAddress".into(),
        _ => match kind.strip_prefix("CSI") {
            Some(rest) => format!("csi{rest}"),
            None => kind[..1].to_ascii_lowercase() + &kind[1..],
        },
    }
}

#[test]
fn columns_are_as_recorded() {
    let Some(folder) = recorded::folder() else { return };
    let recorded = recorded::json(&folder.join("columns.json"));
    let mut compared = 0;
    let mut wrong = Vec::new();
    for entry in catalog().iter() {
        let Some(columns) = recorded.get(&name_of_columns(&entry.resource.kind)) else { continue };
        let expect: Vec<String> = columns
            .list()
            .iter()
            .map(|column| {
                let text = |field: &str| column.at(field).str();
                let priority = column.at("Priority").int();
                format!("{}:{}:{}:{priority}", text("Name"), text("Type"), text("Format"))
            })
            .collect();
        let have: Vec<String> = entry
            .kind
            .columns()
            .iter()
            .map(|known| format!("{}:{}:{}:{}", known.name, known.ty, known.format, known.priority))
            .collect();
        let is_known = match entry.resource.kind.as_str() {
            // Of drivers the record has only the columns of the first of several lists.
            "CSIDriver" => have.starts_with(&expect),
            // The record has columns that upstream's server does not use.
            "CSIStorageCapacity" => have.len() == 2,
            _ => have == expect,
        };
        if !is_known {
            wrong.push(format!("{}:\n  {have:?}\n  {expect:?}", entry.resource.kind));
        }
        compared += 1;
    }
    println!("{compared} kinds compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 45, "only {compared} kinds were compared");
}
