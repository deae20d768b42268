//! What RoleBinding and ClusterRoleBinding share: the role that is bound, the subjects, the cells.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Row, Scope};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::GROUP;

pub(super) static COLUMNS: &[Column] = &[
    Column::NAME,
    Column::text("Role"),
    Column::AGE,
    Column::text("Users").wide(),
    Column::text("Groups").wide(),
    Column::text("ServiceAccounts").wide(),
];

/// The defaults of a binding.
pub(super) fn set_defaults(binding: &mut Value) {
    let role = binding.entry("roleRef");
    if role.at("apiGroup").is_empty() {
        role.set("apiGroup", GROUP);
    }
}

/// The defaults of a subject.
pub(super) fn set_subject_defaults(subject: &mut Value) {
    if subject.at("apiGroup").is_empty() && matches!(subject.at("kind").str(), "User" | "Group") {
        subject.set("apiGroup", GROUP);
    }
}

/// `kinds` are those of the roles that may be bound.
pub(super) fn validate(binding: &Node<'_>, scope: Scope, kinds: &[&str], errors: &mut Errors) {
    let role = binding.at("roleRef");
    if role.at("apiGroup").str() != GROUP {
        errors.not_supported(&role.at("apiGroup"), &[GROUP]);
    }
    if !kinds.contains(&role.at("kind").str()) {
        errors.not_supported(&role.at("kind"), kinds);
    }
    let name = role.at("name");
    if name.is_empty() {
        errors.required(&name, "");
    }
    for message in names::path_segment_name(name.str()) {
        errors.invalid(&name, message);
    }
    for subject in binding.at("subjects").items() {
        validate_subject(&subject, scope, errors);
    }
}

/// What is bound stays; only the subjects change.
pub(super) fn validate_role_unchanged(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    if new.at("roleRef").value() != old.at("roleRef").value() {
        errors.invalid(&new.at("roleRef"), "cannot change roleRef");
    }
}

fn validate_subject(subject: &Node<'_>, scope: Scope, errors: &mut Errors) {
    let (name, group) = (subject.at("name"), subject.at("apiGroup"));
    if name.is_empty() {
        errors.required(&name, "");
    }
    match subject.at("kind").str() {
        "ServiceAccount" => {
            if !name.is_empty() {
                for message in names::dns_subdomain(name.str()) {
                    errors.invalid(&name, message);
                }
            }
            if !group.is_empty() {
                errors.not_supported(&group, &[""]);
            }
            if scope == Scope::Cluster && subject.at("namespace").is_empty() {
                errors.required(&subject.at("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group.str() != GROUP {
                errors.not_supported(&group, &[GROUP]);
            }
        }
        _ => errors.not_supported(&subject.at("kind"), &["ServiceAccount", "User", "Group"]),
    }
}

pub(super) fn row(context: &Context<'_>, binding: &Value) -> Row {
    let role = binding.at("roleRef");
    let role = format!("{}/{}", role.at("kind").str(), role.at("name").str());
    let of_kind = |kind: &'static str| {
        let subjects = binding.at("subjects").list().iter();
        subjects.filter(move |subject| subject.at("kind").str() == kind)
    };
    let named = |kind| {
        let names: Vec<&str> = of_kind(kind).map(|subject| subject.at("name").str()).collect();
        names.join(", ")
    };
    let accounts: Vec<String> = of_kind("ServiceAccount")
        .map(|subject| format!("{}/{}", subject.at("namespace").str(), subject.at("name").str()))
        .collect();
    Row::new(vec![
        binding.path(&["metadata", "name"]).clone(),
        role.into(),
        context.age(binding).into(),
        named("User").into(),
        named("Group").into(),
        accounts.join(", ").into(),
    ])
}
