//! Warnings about single containers: profiles in annotations, amounts in parts of a byte,
//! variables that hide others.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;

use super::push;
use crate::rules::pod_spec::annotations;
use crate::rules::pod_spec::visit::for_each_container;
use crate::rules::resource_list::quantity;

/// Warns about the containers of a spec, of all three kinds.
pub(super) fn warn_about_containers(
    spec: &Node<'_>,
    annotations: &Node<'_>,
    is_template: bool,
    warnings: &mut Vec<String>,
) {
    let of_pod = spec.value().path(&["securityContext", "appArmorProfile"]);
    let is_windows = spec.value().path(&["os", "name"]).str() == "windows";
    for_each_container(spec, |container| {
        warn_about_seccomp(container, annotations, warnings);
        // In a pod for Windows the annotation is passed over altogether.
        if is_template || !is_windows {
            warn_about_app_armor(container, annotations, (of_pod, is_template), warnings);
        }
        for name in ["memory", "ephemeral-storage"] {
            for list in ["limits", "requests"] {
                let resources = container.at("resources");
                let amounts = resources.at(list);
                warn_about_fraction(&amounts.key(name), warnings);
            }
        }
        warn_about_hidden_variables(&container.at("env"), warnings);
    });
}

/// Warns about an amount that is no whole number of bytes.
pub(super) fn warn_about_fraction(amount: &Node<'_>, warnings: &mut Vec<String>) {
    let value = quantity(amount.value());
    if value.milli_value() % 1000 != 0 {
        let text = quote(&value.to_string());
        let message = format!("fractional byte value {text} is invalid, must be an integer");
        push(amount, &message, warnings);
    }
}

/// Warns about an annotation that nobody reads any more.
pub(super) fn warn_about_seccomp_annotation(annotation: &Node<'_>, warnings: &mut Vec<String>) {
    let message = r#"non-functional in v1.27+; use the "seccompProfile" field instead"#;
    push(annotation, message, warnings);
}

fn warn_about_seccomp(container: &Node<'_>, annotations: &Node<'_>, warnings: &mut Vec<String>) {
    let name = container.at("name");
    let key = annotations::seccomp_key(Some(name.str()));
    let profile = container.value().path(&["securityContext", "seccompProfile"]);
    if profile.is_null() && annotations.map().contains_key(&key) {
        warn_about_seccomp_annotation(&annotations.key(&key), warnings);
    }
}

/// A profile in an annotation alone. In a pod it was set in its field when the pod was made, so
/// only what could not be set is left to see there.
fn warn_about_app_armor(
    container: &Node<'_>,
    annotations: &Node<'_>,
    (of_pod, is_template): (&Value, bool),
    warnings: &mut Vec<String>,
) {
    let name = container.at("name");
    let key = annotations::app_armor_key(name.str());
    let own = container.value().path(&["securityContext", "appArmorProfile"]);
    let Some(annotation) = annotations.map().get(&key).filter(|_| own.is_null()) else { return };
    let profile = match is_template {
        true => annotations::app_armor_profile(annotation.str()),
        false => annotations::valid_app_armor_profile(annotation.str()),
    };
    if profile.as_ref() != Some(of_pod) {
        let message = r#"deprecated since v1.30; use the "appArmorProfile" field instead"#;
        push(&annotations.key(&key), message, warnings);
    }
}

/// A variable may extend an earlier one of its name, but not replace it.
fn warn_about_hidden_variables(variables: &Node<'_>, warnings: &mut Vec<String>) {
    let mut known = BTreeSet::new();
    for variable in variables.items() {
        let name = variable.value().at("name").str();
        if known.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let value = variable.at("value");
        let extends = value.str() != reference && value.str().contains(&reference);
        if variable.at("valueFrom").is_set() || !extends {
            let message = format!(
                "hides previous definition of {}, which may be dropped when using apply",
                quote(name)
            );
            push(&variable, &message, warnings);
        }
    }
}
