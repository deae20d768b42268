//! Kinds of objects that users add: `apiextensions.k8s.io/v1`.

pub mod conversion_rules;

pub use custom_resource_definition::conditions as custom_resource_definition_conditions;

kinds![custom_resource_definition];

const GROUP_VERSION: (&str, &str) = ("apiextensions.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
