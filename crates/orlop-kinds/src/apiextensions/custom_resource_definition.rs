//! CustomResourceDefinition: a kind of objects that a user adds.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition`,
//! `pkg/apis/apiextensions/v1/defaults.go` and `pkg/apis/apiextensions/validation/validation.go`
//! there.
//!
//! Conditions that need no other definition are in `conditions.rs`; the server keeps all of them.

mod approval;
pub mod conditions;
mod conversion;
mod defaults;
mod format;
mod lifted;
mod names;
mod open_api_schema;
mod options;
mod schema;
mod schema_tree;
mod structural;
mod validations;
mod version;

use std::collections::BTreeMap;

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{BeginningOfEnd, Context, Defaulter, Kind, Resource, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::time::Time;
use orlop_machinery::{Value, meta};

use super::{GROUP_VERSION, PACKAGE, conversion_rules};
use crate::rules::{generation, status};
use lifted::Lifted;
use options::Options;

pub(crate) static KIND: CustomResourceDefinition = CustomResourceDefinition;

/// The kind.
pub(crate) struct CustomResourceDefinition;

/// Its status.
struct CustomResourceDefinitionStatus;

const STRUCT: &str =
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition";
const STATUS_STRUCT: &str =
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus";
const SERVICE_STRUCT: &str =
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference";

impl Kind for CustomResourceDefinition {
    fn resource(&self) -> Resource {
        let names = ("CustomResourceDefinition", "customresourcedefinitions");
        Resource::cluster(GROUP_VERSION, names.0, names.1, PACKAGE)
            .short(&["crd", "crds"])
            .categories(&["api-extensions"])
            .status(&CustomResourceDefinitionStatus)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[(STRUCT, set_defaults), (SERVICE_STRUCT, |service| service.set_default("port", 443))]
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    // The server deletes the objects of the kind and then takes the finalizer away.
    fn beginning_of_end(&self) -> BeginningOfEnd {
        BeginningOfEnd::SaidAlone
    }

    fn start_ending(&self, context: &Context<'_>, object: &mut Value) {
        let now = Time::from_unix(context.now_seconds);
        conditions::start_ending(object, &now.to_string());
    }

    fn restricts_finalizers(&self) -> bool {
        false
    }
}

fn set_defaults(object: &mut Value) {
    let spec = object.entry("spec");
    let kind = spec.path(&["names", "kind"]).str().to_owned();
    let names = spec.entry("names");
    if names.at("singular").is_empty() && !kind.is_empty() {
        names.set("singular", kind.to_lowercase());
    }
    if names.at("listKind").is_empty() && !kind.is_empty() {
        names.set("listKind", format!("{kind}List"));
    }
    spec.set_default("conversion", [("strategy", "None")]);
    if object.path(&["status", "storedVersions"]).is_empty() {
        store_version(object);
    }
}

/// Notes that objects are now stored in the storage version.
fn store_version(object: &mut Value) {
    let versions = object.path(&["spec", "versions"]).list();
    let Some(storage) = versions.iter().find(|version| version.at("storage").bool()) else {
        return;
    };
    let name = storage.at("name").clone();
    let stored = object.entry("status").entry("storedVersions").make_list();
    if !stored.contains(&name) {
        stored.push(name);
    }
}

impl Rules for CustomResourceDefinition {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear_struct(object, STATUS_STRUCT);
        object.entry("status").set("acceptedNames", [("kind", ""), ("plural", "")]);
        generation::start(object);
        store_version(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        generation::count_change(new, old, &["spec"]);
        store_version(new);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_name(object, errors);
        validate_spec(&object.at("spec"), &Options::default(), errors);
        validate_status(object, errors);
        approval::validate_approval(object, None, errors);
        validate_pruning(object, None, errors);
        conversion_rules::validate(object.value(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = Options::for_update(new.value(), old.value());
        let (spec, old_spec) = (new.at("spec"), old.at("spec"));
        validate_spec(&spec, &options, errors);
        let (names, old_names) = (spec.at("names"), old_spec.at("names"));
        if options.is_established {
            meta::validate_immutable(&spec.at("scope"), &old_spec.at("scope"), errors);
            meta::validate_immutable(&names.at("kind"), &old_names.at("kind"), errors);
        }
        meta::validate_immutable(&spec.at("group"), &old_spec.at("group"), errors);
        meta::validate_immutable(&names.at("plural"), &old_names.at("plural"), errors);
        validate_status(new, errors);
        approval::validate_approval(new, Some(old), errors);
        validate_pruning(new, Some(old), errors);
        if !conversion_rules::is_unchanged(new.value(), old.value()) {
            conversion_rules::validate(new.value(), errors);
        }
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warnings.extend(format::unknown_formats(object.value()).iter().map(format::warning));
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        let known = format::unknown_formats(old.value());
        let found = format::unknown_formats(new.value());
        warnings.extend(found.difference_from(&known).map(format::warning));
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

fn validate_name(object: &Node<'_>, errors: &mut Errors) {
    let spec = object.value().at("spec");
    let plural = spec.path(&["names", "plural"]).str();
    let wanted = format!("{plural}.{}", spec.at("group").str());
    let metadata = object.at("metadata");
    for field in ["generateName", "name"] {
        let name = metadata.at(field);
        if !name.is_empty() && name.str() != wanted {
            errors.invalid(&name, "must be spec.names.plural+\".\"+spec.group");
        }
    }
}

fn validate_spec(spec: &Node<'_>, options: &Options, errors: &mut Errors) {
    names::validate_group(&spec.at("group"), errors);
    names::validate_scope(&spec.at("scope"), errors);
    let lifted = Lifted::of(spec.value());
    let options = &schema::validate_presence(spec, options, errors);
    version::validate_versions(spec, &lifted, options, errors);
    names::validate_spec_names(&spec.at("names"), errors);
    version::validate_lifted(spec, &lifted, options, errors);
    conversion::validate_conversion(spec, options, errors);
}

fn validate_status(object: &Node<'_>, errors: &mut Errors) {
    let status = object.at("status");
    names::validate_names(&status.at("acceptedNames"), errors);
    let stored = status.at("storedVersions");
    if stored.is_empty() {
        errors.invalid(&stored, "must have at least one stored version");
        return;
    }
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    left.extend(stored.list().iter().enumerate().map(|(at, name)| (name.str(), at)));
    for version in object.value().path(&["spec", "versions"]).list() {
        let name = version.at("name").str();
        if left.remove(name).is_none() && version.at("storage").bool() {
            errors.invalid(&stored, format!("must have the storage version {name}"));
        }
    }
    for (at, name) in stored.items().enumerate() {
        if left.get(name.str()) == Some(&at) {
            let name_text: &str = name.str();
            errors.invalid(
                &name,
                format!(
                    "missing from spec.versions; {name_text} was previously a storage version, \
                     and must remain in spec.versions until a storage migration ensures no data \
                     remains persisted in {name_text} and removes {name_text} from \
                     status.storedVersions"
                ),
            );
        }
    }
}

/// Unknown fields are kept only where they always were.
fn validate_pruning(object: &Node<'_>, old: Option<&Node<'_>>, errors: &mut Errors) {
    let path = ["spec", "preserveUnknownFields"];
    if old.is_some_and(|old| old.value().path(&path).bool()) {
        return;
    }
    let spec = object.at("spec");
    let keeps = spec.at("preserveUnknownFields");
    if keeps.bool() {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        errors.invalid(&keeps, detail);
    }
}

impl Rules for CustomResourceDefinitionStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        // Metadata comes through, though it should not: that is what upstream does.
        status::keep(new, old, "spec");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        names::validate_names(&object.at("status").at("acceptedNames"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}
