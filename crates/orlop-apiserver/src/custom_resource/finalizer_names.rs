//! Warnings about the names of finalizers that custom resources get.
//!
//! After `generateWarningsFromObj` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource/strategy.go`.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::meta::Meta;
use orlop_machinery::names;
use orlop_machinery::text::quote;

/// Names that upstream itself uses.
const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];

/// Warns about finalizers that are new; `old` is null at creation.
pub(super) fn warn(new: &Value, old: &Value, warnings: &mut Vec<String>) {
    let old: BTreeSet<&str> = Meta::of(old).finalizers().collect();
    let added: BTreeSet<&str> =
        Meta::of(new).finalizers().filter(|name| !old.contains(name)).collect();
    for name in added {
        let start = format!("metadata.finalizers: {}: ", quote(name));
        warnings.extend(names::qualified_name(name).iter().map(|why| format!("{start}{why}")));
        if name.contains('/') || STANDARD.contains(&name) {
            continue;
        }
        let how = if name.contains('.') { " including a path (/)" } else { "" };
        warnings.push(format!(
            "{start}prefer a domain-qualified finalizer name{how} to avoid accidental conflicts \
             with other finalizer writers"
        ));
    }
}
