//! What the objects of every built-in kind are made of.
//!
//! The texts beside this file come from `cargo xtask gen`, one per API package; nobody writes them
//! by hand. They are read once, when the first one asks.

use std::sync::LazyLock;

use orlop_machinery::schema::{Schema, parse};

/// The schema of all built-in kinds, and of what travels with them: options, lists, status.
///
/// # Panics
///
/// Never: the texts are part of the program, and a test reads them.
#[must_use]
pub fn schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> =
        LazyLock::new(|| parse(&TEXTS).expect("the texts are part of the program and were tested"));
    &SCHEMA
}

/// The struct of any custom resource, in [`custom_resources`].
pub const CUSTOM_RESOURCE: &str = "orlop.CustomResource";

const META: &str = include_str!("schema/meta_v1.txt");

/// A schema with what every custom resource has, to which the structs of one can be added. Fields
/// stand in the order of their names: so custom resources are written.
///
/// # Panics
///
/// Never: the text is part of the program, and a test reads it.
#[must_use]
pub fn custom_resources() -> Schema {
    static TEXT: LazyLock<String> = LazyLock::new(custom_resource_text);
    parse(&[TEXT.as_str()]).expect("the text is part of the program and was tested")
}

fn custom_resource_text() -> String {
    let package = META.lines().find(|line| line.starts_with("package ")).unwrap_or_default();
    let mut text = format!("{package}\n");
    for name in ["ManagedFieldsEntry", "ObjectMeta", "OwnerReference"] {
        let is_start = |line: &&str| line.split(' ').next() == Some(name);
        let mut lines = META.lines().skip_while(|line| !is_start(line));
        let start = lines.next().unwrap_or_default();
        let mut fields: Vec<&str> = lines.take_while(|line| line.starts_with(' ')).collect();
        fields.sort_unstable();
        text.push_str(&format!("{start}\n{}\n", fields.join("\n")));
    }
    let metadata = package.replace("package ", "");
    text.push_str(&format!(
        "package orlop\nCustomResource keeps\n apiVersion string - omit\n kind string - omit\n \
         metadata {metadata}.ObjectMeta - omit\n"
    ));
    text
}

const TEXTS: [&str; 25] = [
    include_str!("schema/admission_v1.txt"),
    include_str!("schema/admissionregistration_v1.txt"),
    include_str!("schema/apidiscovery_v2.txt"),
    include_str!("schema/apiextensions_v1.txt"),
    include_str!("schema/apiregistration_v1.txt"),
    include_str!("schema/apps_v1.txt"),
    include_str!("schema/authentication_v1.txt"),
    include_str!("schema/authorization_v1.txt"),
    include_str!("schema/autoscaling_v1.txt"),
    include_str!("schema/autoscaling_v2.txt"),
    include_str!("schema/batch_v1.txt"),
    include_str!("schema/certificates_v1.txt"),
    include_str!("schema/coordination_v1.txt"),
    include_str!("schema/core_v1.txt"),
    include_str!("schema/discovery_v1.txt"),
    include_str!("schema/events_v1.txt"),
    include_str!("schema/flowcontrol_v1.txt"),
    META,
    include_str!("schema/networking_v1.txt"),
    include_str!("schema/node_v1.txt"),
    include_str!("schema/policy_v1.txt"),
    include_str!("schema/rbac_v1.txt"),
    include_str!("schema/resource_v1.txt"),
    include_str!("schema/scheduling_v1.txt"),
    include_str!("schema/storage_v1.txt"),
];

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::schema::{Field, Identity, Tag, Type};

    use super::*;

    fn field(kind: &str, name: &str) -> &'static Field {
        let id = schema().find(&format!("io.k8s.api.{kind}")).unwrap();
        schema().get(id).field(name).unwrap()
    }

    #[test]
    fn a_custom_resource_has_metadata_in_the_order_of_names() {
        let schema = custom_resources();
        let resource = schema.get(schema.find(CUSTOM_RESOURCE).unwrap());
        assert!(resource.keeps_unknown);
        let Type::Struct(metadata) = resource.field("metadata").unwrap().ty else { panic!() };
        let names: Vec<&str> =
            schema.get(metadata).in_order().map(|field| field.name.as_str()).collect();
        assert!(names.is_sorted());
        assert_eq!(names.len(), 15);
    }

    #[test]
    fn the_ports_of_a_container_are_told_apart_by_number_and_protocol() {
        let Type::List(list) = &field("core.v1.Container", "ports").ty else { panic!() };
        assert_eq!(list.identity, Identity::Keys(vec!["containerPort".into(), "protocol".into()]));
    }

    #[test]
    fn fields_of_embedded_structs_keep_the_numbers_of_their_messages() {
        let check = |kind, name, number, inside, outside| {
            assert_eq!(field(kind, name).tag, Some(Tag { number, inside, outside }));
        };
        check("core.v1.Pod", "metadata", 1, None, None);
        check("core.v1.Probe", "exec", 1, Some(1), None);
        check("admissionregistration.v1.NamedRuleWithOperations", "scope", 4, Some(2), Some(2));
        assert_eq!(field("core.v1.Pod", "kind").tag, None);
    }
}
