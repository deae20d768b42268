//! Annotations that mean something to a pod: what became fields later, and how much it hurts to
//! delete it.
//!
//! After `ValidatePodSpecificAnnotations`, `validateSeccompAnnotationsAndFields` and
//! `validateAppArmorAnnotationsAndFieldsMatchOnCreate` in
//! `pkg/apis/core/validation/validation.go`. What an update may do to annotations is the business
//! of the kind Pod; which of them do not change at all stands here.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::{Map, Value, json};

use super::visit::{containers, for_each_container};
use super::{PodOptions, security_context};
use crate::rules::local_path::validate_local_descending_path_at;
use crate::rules::tolerations::validate_tolerations;

/// Marks the image in the API of a pod that a node runs by itself.
pub(crate) const MIRROR_POD: &str = "kubernetes.io/config.mirror";

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_OF_CONTAINER: &str = "container.apparmor.security.beta.kubernetes.io/";

const RUNTIME_DEFAULT: &str = "runtime/default";
const DOCKER_DEFAULT: &str = "docker/default";
const UNCONFINED: &str = "unconfined";
const LOCALHOST: &str = "localhost/";

/// The fields of a toleration, as JSON in an annotation may spell them.
const TOLERATION_TEXTS: [&str; 4] = ["key", "operator", "value", "effect"];
const TOLERATION_SECONDS: &str = "tolerationSeconds";

/// The annotations of a pod or of a template, by themselves and with the containers they name.
pub(crate) fn validate_pod_annotations(
    annotations: &Node<'_>,
    spec: &Value,
    options: &PodOptions,
    errors: &mut Errors,
) {
    if let Some(value) = annotations.map().get(MIRROR_POD)
        && spec.at("nodeName").is_empty()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.invalid_value(&annotations.path().key(MIRROR_POD), value.clone(), detail);
    }
    if !annotations.value().at(TOLERATIONS).is_empty() {
        validate_tolerations_annotation(annotations, options, errors);
    }
    if !options.allow_invalid_deletion_cost && has_invalid_deletion_cost(annotations.value()) {
        let at = annotations.key(DELETION_COST);
        errors.invalid(&at, "must be a 32bit integer");
    }
    validate_seccomp_annotations(annotations, errors);
    validate_app_armor_annotations(annotations, spec, errors);
}

/// Where a profile stands in an annotation and in a field, both say the same.
pub(crate) fn validate_profiles_match_annotations(
    annotations: &Value,
    spec: &Node<'_>,
    errors: &mut Errors,
) {
    validate_seccomp_matches(annotations, spec, errors);
    if spec.value().path(&["os", "name"]).str() != "windows" {
        validate_app_armor_matches(annotations, spec, errors);
    }
}

/// What a seccomp profile of the pod, or of one of its containers, is called in annotations.
pub(super) fn seccomp_key(container: Option<&str>) -> String {
    match container {
        None => SECCOMP_OF_POD.to_owned(),
        Some(name) => format!("{SECCOMP_OF_CONTAINER}{name}"),
    }
}

/// What an AppArmor profile of a container is called in annotations.
pub(super) fn app_armor_key(container: &str) -> String {
    format!("{APP_ARMOR_OF_CONTAINER}{container}")
}

/// The annotation with the AppArmor profile of a container.
pub(crate) fn app_armor_annotation<'a>(annotations: &'a Map, container: &str) -> Option<&'a str> {
    annotations.get(&app_armor_key(container)).map(Value::str)
}

/// The AppArmor profile that an annotation means, as it stands in its field.
pub(super) fn app_armor_profile(annotation: &str) -> Option<Value> {
    match annotation {
        UNCONFINED => Some(Value::from([("type", "Unconfined")])),
        RUNTIME_DEFAULT => Some(Value::from([("type", "RuntimeDefault")])),
        _ => {
            let file = annotation.strip_prefix(LOCALHOST).filter(|file| !file.is_empty())?;
            Some(Value::from([("type", "Localhost"), ("localhostProfile", file)]))
        }
    }
}

/// The same, if the field may hold it.
pub(crate) fn valid_app_armor_profile(annotation: &str) -> Option<Value> {
    let profile = app_armor_profile(annotation)?;
    let mut errors = Errors::new();
    let node = Node::new(&profile, Path::root());
    security_context::validate_app_armor_profile(&node, &mut errors);
    errors.is_empty().then_some(profile)
}

/// What an annotation holds that does not change with an update, in the words of the error.
pub(crate) fn fixed_noun(key: &str) -> Option<&'static str> {
    if key.starts_with(APP_ARMOR_OF_CONTAINER) {
        Some("AppArmor annotations")
    } else if key == MIRROR_POD {
        Some("mirror pod annotation")
    } else {
        None
    }
}

/// Whether the cost of deleting a pod is no whole number of 32 bits, written as one writes it.
pub(super) fn has_invalid_deletion_cost(annotations: &Value) -> bool {
    let Some(cost) = annotations.get(DELETION_COST) else { return false };
    let is_plain = cost.str() == "0" || cost.str().starts_with(|c| matches!(c, '-' | '1'..='9'));
    !is_plain || cost.str().parse::<i32>().is_err()
}

/// Tolerations as JSON, from before there was a field.
fn validate_tolerations_annotation(
    annotations: &Node<'_>,
    options: &PodOptions,
    errors: &mut Errors,
) {
    let tolerations = match read_tolerations(annotations.value().at(TOLERATIONS).str()) {
        Ok(tolerations) => tolerations,
        Err(problem) => {
            errors.invalid_value(annotations, TOLERATIONS, problem);
            return;
        }
    };
    // What is inside the text has no place in the schema.
    let at = annotations.path().to_string();
    let at = Path::field(&at);
    let tolerations = Node::new(&tolerations, at.child(TOLERATIONS));
    validate_tolerations(&tolerations, options.allow_toleration_comparison_operators, errors);
}

fn read_tolerations(text: &str) -> Result<Value, String> {
    let parsed = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let items = match parsed {
        Value::Null => Vec::new(),
        Value::List(items) => items,
        _ => return Err("tolerations must be a list".into()),
    };
    let tolerations: Result<Vec<Value>, String> = items.into_iter().map(read_toleration).collect();
    tolerations.map(Value::List)
}

/// Go finds fields whatever the case of their names. No schema tells what is shown for a text that
/// is missing, so every text is there.
fn read_toleration(item: Value) -> Result<Value, String> {
    let mut toleration = Value::Map(Map::new());
    for text in TOLERATION_TEXTS {
        toleration.set(text, "");
    }
    let fields = match item {
        Value::Null => return Ok(toleration),
        Value::Map(fields) => fields,
        _ => return Err("a toleration must be an object".into()),
    };
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        let is_same = |known: &&str| known.eq_ignore_ascii_case(&name);
        if let Some(text) = TOLERATION_TEXTS.into_iter().find(is_same) {
            let Value::String(_) = value else {
                return Err(format!("the {text} of a toleration must be a string"));
            };
            toleration.set(text, value);
        } else if is_same(&TOLERATION_SECONDS) {
            let Value::Int(_) = value else {
                return Err(format!("the {TOLERATION_SECONDS} must be a whole number"));
            };
            toleration.set(TOLERATION_SECONDS, value);
        }
    }
    Ok(toleration)
}

fn validate_seccomp_annotations(annotations: &Node<'_>, errors: &mut Errors) {
    let of_pod = annotations.map().get(SECCOMP_OF_POD).map(|profile| (SECCOMP_OF_POD, profile));
    let of_containers =
        annotations.map().iter().filter(|(key, _)| key.starts_with(SECCOMP_OF_CONTAINER));
    for (key, profile) in of_pod.into_iter().chain(of_containers) {
        let at = annotations.path().child(key);
        match profile.str() {
            RUNTIME_DEFAULT | DOCKER_DEFAULT | UNCONFINED => {}
            profile => match profile.strip_prefix(LOCALHOST) {
                Some(file) => validate_local_descending_path_at(&at, file, errors),
                None => errors.invalid_value(&at, profile, "must be a valid seccomp profile"),
            },
        }
    }
}

fn validate_app_armor_annotations(annotations: &Node<'_>, spec: &Value, errors: &mut Errors) {
    let names: BTreeSet<&str> =
        containers(spec).map(|container| container.at("name").str()).collect();
    for (key, profile) in annotations.entries() {
        let Some(container) = key.strip_prefix(APP_ARMOR_OF_CONTAINER) else { continue };
        if !names.contains(container) {
            errors.invalid_value(&profile, container, "container not found");
        }
        let is_known = matches!(profile.str(), "" | RUNTIME_DEFAULT | UNCONFINED)
            || profile.str().starts_with(LOCALHOST);
        if !is_known {
            let name = quote(profile.str());
            errors.invalid(&profile, format!("invalid AppArmor profile name: {name}"));
        }
    }
}

fn validate_seccomp_matches(annotations: &Value, spec: &Node<'_>, errors: &mut Errors) {
    let defaults = [RUNTIME_DEFAULT, DOCKER_DEFAULT];
    let context = spec.at("securityContext");
    let profile = context.at("seccompProfile");
    if let Some(annotation) = annotations.get(SECCOMP_OF_POD) {
        let words = Words { noun: "seccomp", defaults: &defaults };
        words.validate(annotation.str(), profile.value(), profile.path(), errors);
    }
    for_each_container(spec, |container| {
        let context = container.at("securityContext");
        let profile = context.at("seccompProfile");
        let key = seccomp_key(Some(container.at("name").str()));
        if let Some(annotation) = annotations.get(&key) {
            let words = Words { noun: "seccomp", defaults: &defaults };
            words.validate(annotation.str(), profile.value(), profile.path(), errors);
        }
    });
}

/// A container without a profile of its own has that of the pod.
fn validate_app_armor_matches(annotations: &Value, spec: &Node<'_>, errors: &mut Errors) {
    let path = ["securityContext", "appArmorProfile"];
    for_each_container(spec, |container| {
        let name = container.at("name");
        let annotation = app_armor_annotation(annotations.map(), name.str());
        let Some(annotation) = annotation else { return };
        let profile = match container.value().path(&path) {
            Value::Null => spec.value().path(&path),
            own => own,
        };
        let context = container.path().child("securityContext");
        let words = Words { noun: "apparmor", defaults: &[RUNTIME_DEFAULT] };
        words.validate(annotation, profile, &context.child("appArmorProfile"), errors);
    });
}

/// How a kind of profile is called, and what an annotation says for that of the runtime.
struct Words<'a> {
    noun: &'static str,
    defaults: &'a [&'static str],
}

impl Words<'_> {
    fn validate(&self, annotation: &str, profile: &Value, at: &Path<'_>, errors: &mut Errors) {
        let file = annotation.strip_prefix(LOCALHOST);
        let is_same_type = match profile.at("type").str() {
            "Unconfined" => annotation == UNCONFINED,
            "RuntimeDefault" => self.defaults.contains(&annotation),
            "Localhost" => file.is_some(),
            _ => return,
        };
        let noun = self.noun;
        if !is_same_type {
            let detail = format!("{noun} type in annotation and field must match");
            errors.forbidden(&at.child("type"), detail);
        } else if profile.at("type").str() == "Localhost"
            && profile.at("localhostProfile").as_str() != file
        {
            let detail = format!("{noun} profile in annotation and field must match");
            errors.forbidden(&at.child("localhostProfile"), detail);
        }
    }
}
