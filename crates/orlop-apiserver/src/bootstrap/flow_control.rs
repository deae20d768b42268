//! The flow control objects that every cluster begins with.
//!
//! After `staging/src/k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap/default.go` (what they are,
//! here in [`table`]) and `pkg/registry/flowcontrol/{rest,ensurer}` (how they are kept). Mandatory
//! ones are always made what they should be; suggested ones while their annotation says so, or
//! while nobody has touched them. What was suggested once and is not any more goes.

mod table;

use std::collections::HashSet;
use std::sync::Arc;

use orlop_machinery::Value;
use orlop_machinery::meta::{Meta, MetaMut};
use orlop_machinery::status::{Reason, Status};

use self::table::{Upkeep, Wanted};
use super::ensure::{ensure_all, place_of};
use crate::objects::{Objects, Place};

/// Who is said to have written them.
const FIELD_MANAGER: &str = "api-priority-and-fairness-config-producer-v1";
/// Whether the server keeps the spec of an object.
const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";
const API_VERSION: &str = "flowcontrol.apiserver.k8s.io/v1";
const KINDS: [&str; 2] = ["PriorityLevelConfiguration", "FlowSchema"];

/// Makes those that are not there.
pub(super) async fn ensure(objects: &Arc<dyn Objects>) -> Result<(), Status> {
    let wanted = table::wanted().into_iter().map(|wanted| new_object(&wanted));
    ensure_all(objects, wanted, FIELD_MANAGER).await
}

/// Makes those that are not there, and all of them what they should be.
pub(super) async fn reconcile(objects: &Arc<dyn Objects>) -> Result<(), Status> {
    ensure(objects).await?;
    let wanted = table::wanted();
    for kind in KINDS {
        let of_kind: Vec<&Wanted> = wanted.iter().filter(|wanted| wanted.kind == kind).collect();
        let names: HashSet<&str> = of_kind.iter().map(|wanted| wanted.name).collect();
        let place = Place { api_version: API_VERSION, kind, namespace: "", name: "" };
        for found in objects.list(place).await? {
            let name = Meta::of(&found).name();
            if !names.contains(name) {
                remove_if_ours(&**objects, &found).await?;
                continue;
            }
            let revised =
                of_kind.iter().find(|wanted| wanted.name == name).and_then(|it| revise(it, &found));
            let Some(revised) = revised else { continue };
            match objects.update(revised, FIELD_MANAGER).await {
                // Whoever was quicker will be looked at in the next round.
                Err(status) if !status.is(&Reason::Conflict) => return Err(status),
                _ => {}
            }
        }
    }
    Ok(())
}

async fn remove_if_ours(objects: &dyn Objects, found: &Value) -> Result<(), Status> {
    if auto_update_of(found) != Some(true) {
        return Ok(());
    }
    match objects.delete(place_of(found)).await {
        Err(status) if !status.is(&Reason::NotFound) => Err(status),
        _ => Ok(()),
    }
}

/// What an object should be, if it is not.
fn revise(wanted: &Wanted, found: &Value) -> Option<Value> {
    let is_untouched = || Meta::of(found).generation() == 1;
    let is_kept =
        wanted.upkeep == Upkeep::Mandatory || auto_update_of(found).unwrap_or_else(is_untouched);
    let is_annotation_right = auto_update_of(found) == Some(is_kept);
    let is_spec_right = !is_kept || *found.at("spec") == wanted.spec;
    if is_annotation_right && is_spec_right {
        return None;
    }
    let mut revised = found.clone();
    if !is_spec_right {
        revised.set("spec", wanted.spec.clone());
    }
    MetaMut::of(&mut revised).set_annotation(AUTO_UPDATE, if is_kept { "true" } else { "false" });
    Some(revised)
}

fn new_object(wanted: &Wanted) -> Value {
    let mut object = Value::from([
        ("apiVersion", Value::from(API_VERSION)),
        ("kind", wanted.kind.into()),
        ("metadata", Value::from([("name", wanted.name)])),
        ("spec", wanted.spec.clone()),
    ]);
    MetaMut::of(&mut object).set_annotation(AUTO_UPDATE, "true");
    object
}

/// What the annotation says, in the words that Go reads as a truth.
fn auto_update_of(object: &Value) -> Option<bool> {
    match Meta::of(object).annotation(AUTO_UPDATE)? {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn find(name: &str, kind: &str) -> Wanted {
        table::wanted().into_iter().find(|it| it.name == name && it.kind == kind).unwrap()
    }

    #[test]
    fn suggestions_may_be_changed_and_duties_may_not() {
        let check = |name: &str, annotation: &str, generation: i64, is_revised: bool| {
            let wanted = find(name, "PriorityLevelConfiguration");
            let mut found = new_object(&wanted);
            found.entry("spec").set("type", "changed");
            let mut meta = MetaMut::of(&mut found);
            meta.set_annotation(AUTO_UPDATE, annotation);
            meta.set_generation(generation);
            let revised = revise(&wanted, &found);
            let spec = revised.as_ref().map(|revised| revised.at("spec"));
            assert_eq!(spec == Some(&wanted.spec), is_revised, "{name} {annotation}");
        };
        check("catch-all", "true", 2, true);
        check("catch-all", "false", 2, true);
        check("system", "true", 2, true);
        check("system", "false", 1, false);
        check("system", "what", 1, true);
        check("system", "what", 2, false);
    }

    #[test]
    fn what_is_right_is_left_alone() {
        for wanted in table::wanted() {
            assert_eq!(revise(&wanted, &new_object(&wanted)), None, "{}", wanted.name);
        }
    }

    #[test]
    fn the_specs_are_complete_and_valid() {
        let catalog = orlop_kinds::catalog();
        for wanted in table::wanted() {
            let mut object = new_object(&wanted);
            let kind = catalog.find_kind(API_VERSION, wanted.kind).unwrap();
            catalog.set_defaults(kind, &mut object);
            assert_eq!(*object.at("spec"), wanted.spec, "{}", wanted.name);
            let mut errors = orlop_machinery::field::Errors::new();
            kind.kind.validate(&Default::default(), &kind.node(&object), &mut errors);
            assert_eq!(errors.to_string(), "", "{}", wanted.name);
        }
    }
}
