//! CSIDriver: what the cluster must know about a driver for volumes.
//!
//! After `pkg/registry/storage/csidriver`, `pkg/apis/storage/validation/validation.go` and
//! `pkg/apis/storage/v1/defaults.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::generation;
use crate::rules::scalar::validate_choice;

pub(crate) static KIND: CsiDriver = CsiDriver;

/// The kind.
pub(crate) struct CsiDriver;

const FS_GROUP_POLICIES: &[&str] = &["File", "None", "ReadWriteOnceWithFSType"];
const LIFECYCLE_MODES: &[&str] = &["Persistent", "Ephemeral"];
const TOKEN_SECONDS_MIN: i64 = 10 * 60;
const TOKEN_SECONDS_MAX: i64 = 1 << 32;
const UPDATE_PERIOD_SECONDS_MIN: i64 = 10;

/// What errors call `attachRequired`.
const ATTACH_REQUIRED: &str = "attachedRequired";

const TOKENS_IN_ATTRIBUTES: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by \
                                    this CSI driver, set to true to prevent possible logging of \
                                    tokens in volume attributes";

impl Kind for CsiDriver {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "CSIDriver", "csidrivers", PACKAGE).returns_deleted()
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.storage.v1.CSIDriver", set_defaults)]
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::boolean("AttachRequired"),
                Column::boolean("PodInfoOnMount"),
                Column::boolean("StorageCapacity"),
                Column::text("TokenRequests"),
                Column::boolean("RequiresRepublish"),
                Column::text("Modes"),
                Column::AGE,
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let spec = object.at("spec");
        let tokens: Vec<&str> = spec
            .at("tokenRequests")
            .list()
            .iter()
            .map(|token| token.at("audience").str())
            .collect();
        let tokens = if tokens.is_empty() { "<unset>".into() } else { tokens.join(",") };
        let modes: Vec<&str> =
            spec.at("volumeLifecycleModes").list().iter().map(Value::str).collect();
        let modes = if modes.is_empty() { "<none>".into() } else { modes.join(",") };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            spec.at("attachRequired").as_bool().unwrap_or(true).into(),
            spec.at("podInfoOnMount").bool().into(),
            spec.at("storageCapacity").bool().into(),
            tokens.into(),
            spec.at("requiresRepublish").bool().into(),
            modes.into(),
            context.age(object).into(),
        ])
    }
}

fn set_defaults(driver: &mut Value) {
    let spec = driver.entry("spec");
    spec.set_default("attachRequired", true);
    for field in ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"] {
        spec.set_default(field, false);
    }
    spec.set_default("fsGroupPolicy", "ReadWriteOnceWithFSType");
    if spec.at("volumeLifecycleModes").is_empty() {
        spec.set("volumeLifecycleModes", vec!["Persistent"]);
    }
}

impl Rules for CsiDriver {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        drop_disabled_fields(object, None);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        drop_disabled_fields(new, Some(old));
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        if !spec.at("attachRequired").is_set() {
            errors.required(&spec.path().child(ATTACH_REQUIRED), "");
        }
        for field in ["podInfoOnMount", "storageCapacity"] {
            if !spec.at(field).is_set() {
                errors.required(&spec.at(field), "");
            }
        }
        validate_choice(&spec.at("fsGroupPolicy"), FS_GROUP_POLICIES, errors);
        let tokens = spec.at("tokenRequests");
        validate_token_requests(&tokens, errors);
        let modes = spec.at("volumeLifecycleModes");
        for mode in modes.list() {
            if !LIFECYCLE_MODES.contains(&mode.str()) {
                errors.not_supported_value(&modes, mode.str(), LIFECYCLE_MODES);
            }
        }
        if !spec.at("seLinuxMount").is_set() {
            errors.required(&spec.at("seLinuxMount"), "");
        }
        let period = spec.at("nodeAllocatableUpdatePeriodSeconds");
        if period.is_set() && period.int() < UPDATE_PERIOD_SECONDS_MIN {
            errors.invalid(&period, "must be greater than or equal to 10 seconds");
        }
        let in_secrets = spec.at("serviceAccountTokenInSecrets");
        if in_secrets.is_set() && tokens.is_empty() {
            let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
            errors.invalid(&in_secrets, detail);
        }
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        self.validate(context, new, errors);
        let (new_spec, old_spec) = (new.at("spec"), old.at("spec"));
        let (new_attach, old_attach) =
            (new_spec.at("attachRequired"), old_spec.at("attachRequired"));
        let at = new_spec.path().child(ATTACH_REQUIRED);
        meta::validate_immutable(&Node::new(new_attach.value(), at), &old_attach, errors);
        let modes = "volumeLifecycleModes";
        meta::validate_immutable(&new_spec.at(modes), &old_spec.at(modes), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let spec = object.at("spec");
        let is_undecided = !spec.at("serviceAccountTokenInSecrets").is_set();
        if is_undecided && !spec.at("tokenRequests").is_empty() {
            warnings.push(TOKENS_IN_ATTRIBUTES.to_owned());
        }
    }

    fn warn_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        let (new_spec, old_spec) = (new.at("spec"), old.at("spec"));
        if !new_spec.at("tokenRequests").means_same_as(&old_spec.at("tokenRequests")) {
            self.warn(context, new, warnings);
        }
    }
}

/// Takes out a field of a feature that is off, unless the old object has it.
fn drop_disabled_fields(object: &mut Value, old: Option<&Value>) {
    let field = "preventPodSchedulingIfMissing";
    if old.is_none_or(|old| old.path(&["spec", field]).is_null()) {
        object.entry("spec").remove(field);
    }
}

/// No two tokens are for the same audience.
fn validate_token_requests(tokens: &Node<'_>, errors: &mut Errors) {
    let mut audiences = BTreeSet::new();
    for token in tokens.items() {
        let (audience, seconds) = (token.at("audience"), token.at("expirationSeconds"));
        if !audiences.insert(token.value().at("audience").str()) {
            errors.duplicate(&audience);
            continue;
        }
        if !seconds.is_set() {
            continue;
        }
        if seconds.int() < TOKEN_SECONDS_MIN {
            errors.invalid(&seconds, "may not specify a duration less than 10 minutes");
        }
        if seconds.int() > TOKEN_SECONDS_MAX {
            errors.invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
        }
    }
}
