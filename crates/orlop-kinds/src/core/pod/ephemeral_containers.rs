//! The endpoint at which containers are added to a pod that runs, to look into it.
//!
//! After `podEphemeralContainersStrategy` in `pkg/registry/core/pod/strategy.go` and
//! `ValidatePodEphemeralContainersUpdate` in `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeMap;

use orlop_machinery::field::{Errors, Path};
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::{Value, meta, unified_diff};

use super::{is_mirror, options_from_old, prepare, update, validate_metadata_and_spec};
use crate::rules::meaning;
use crate::rules::status::keep;

pub(super) static RULES: EphemeralContainers = EphemeralContainers;

/// The subresource.
pub(super) struct EphemeralContainers;

const LIST: &str = "ephemeralContainers";
const CONTAINER_STRUCT: &str = "io.k8s.api.core.v1.EphemeralContainer";

impl Rules for EphemeralContainers {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        let containers = new.entry("spec").remove(LIST);
        keep(new, old, "spec");
        keep(new, old, "status");
        meta::update::keep_for_status(new, old);
        let spec = new.entry("spec");
        match containers {
            Some(containers) => spec.set(LIST, containers),
            None => drop(spec.remove(LIST)),
        }
        prepare::settle_spec(new, old);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        if is_mirror(old.value()) {
            // Upstream says it of no field at all, and nothing else.
            let at = Path::root();
            errors.forbidden(&at.key(""), "static pods do not support ephemeral containers");
            return;
        }
        let options = options_from_old(old.value());
        validate_metadata_and_spec(new, &options, errors);
        update::validate_annotation_updates(new, old, &options, errors);
        let spec = new.at("spec");
        validate_only_added(&spec.at(LIST), old.value().path(&["spec", LIST]).list(), errors);
    }

    fn written_fields(&self) -> &'static [&'static str] {
        &["spec.ephemeralContainers"]
    }
}

/// Containers that are there stay as they are, in whatever order.
fn validate_only_added(containers: &Node<'_>, old: &[Value], errors: &mut Errors) {
    let by_name: BTreeMap<&str, &Value> =
        containers.list().iter().map(|found| (found.at("name").str(), found)).collect();
    for old in old {
        let name = old.at("name").str();
        let quoted = quote(name);
        match by_name.get(name) {
            None => {
                let detail = format!("existing ephemeral containers {quoted} may not be removed\n");
                errors.forbidden(containers, detail);
            }
            Some(new) if !meaning::is_same(CONTAINER_STRUCT, new, old) => {
                let difference = unified_diff::of_values(old, new);
                let detail = format!(
                    "existing ephemeral containers {quoted} may not be changed\n{difference}"
                );
                errors.forbidden(containers, detail);
            }
            Some(_) => {}
        }
    }
}
