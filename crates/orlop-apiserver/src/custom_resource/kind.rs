//! The behaviour of a custom resource: what its definition says, where a built-in kind has code.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource/strategy.go` and
//! `validator.go`.

use std::borrow::Cow;
use std::sync::Arc;

use orlop_machinery::apply::Typing;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::kind::{Context, Kind, Resource, Row, Rules, ScalePaths, ScaleSelector};
use orlop_machinery::meta::Meta;
use orlop_machinery::node::Node;
use orlop_machinery::openapi::CustomSchema;
use orlop_machinery::status::Status;
use orlop_machinery::structural::Malformed;
use orlop_machinery::table::TableColumn;
use orlop_machinery::{Str, Value, json_path};

use super::version::{Version, metadata};
use super::{Custom, finalizer_names, scale};
use crate::custom_resource_definitions::refuse_create;

/// See the module's documentation.
pub(super) struct CustomResource {
    custom: Arc<Custom>,
    version: Arc<Version>,
}

impl CustomResource {
    pub(super) fn new(custom: Arc<Custom>, version: Arc<Version>) -> CustomResource {
        CustomResource { custom, version }
    }
}

impl Kind for CustomResource {
    fn resource(&self) -> Resource {
        self.custom.resource(&self.version)
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn restricts_finalizers(&self) -> bool {
        false
    }

    fn refuses_create(&self, name: &str) -> Option<Status> {
        let resource = self.resource();
        let resource = orlop_machinery::group_version::GroupResource {
            group: resource.group,
            resource: resource.plural,
        };
        self.custom.is_terminating.then(|| refuse_create(&resource, name))
    }

    fn deprecation(&self) -> Option<&str> {
        self.version.deprecation.as_deref()
    }

    fn scale_paths(&self) -> Option<ScalePaths<'_>> {
        self.version.scale.as_ref().map(|scale| ScalePaths {
            replicas: &scale.replicas,
            status_replicas: &scale.status_replicas,
            selector: match scale.selector.as_str() {
                "" => ScaleSelector::None,
                path => ScaleSelector::Text(path),
            },
        })
    }

    fn headings(&self) -> Cow<'_, [TableColumn]> {
        Cow::Borrowed(self.version.columns().headings())
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        self.version.columns().row(context.now_seconds, object)
    }

    fn selectable_names(&self) -> Vec<&str> {
        self.version.selectable().iter().map(|(name, _)| name.as_str()).collect()
    }

    fn select(&self, object: &Value) -> Box<[Str]> {
        let value = |(_, path): &(Str, Option<json_path::JsonPath>)| {
            let found = path.as_ref().and_then(|path| path.first(object).ok().flatten());
            match found {
                None | Some(Value::Null) => Str::default(),
                Some(value) => Str::from(json_path::print(value)),
            }
        };
        self.version.selectable().iter().map(value).collect()
    }

    fn prune(&self, object: &mut Value) -> Result<Vec<String>, String> {
        self.version.prune(object, Malformed::Refused)
    }

    fn set_defaults(&self, object: &mut Value) {
        self.version.set_defaults(object);
    }

    fn custom_schema(&self) -> Option<CustomSchema<'_>> {
        Some(self.version.custom_schema())
    }

    fn typing(&self) -> Option<Typing<'_>> {
        Some(self.version.typing())
    }

    fn has_merge_strategies(&self) -> bool {
        false
    }
}

impl Rules for CustomResource {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        if self.version.has_status {
            object.remove("status");
        }
        object.entry("metadata").set("generation", 1);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        if self.version.has_status {
            match old.get("status") {
                Some(status) => new.set("status", status.clone()),
                None => drop(new.remove("status")),
            }
        }
        if !is_same_but_for_metadata(new, old) {
            let generation = Meta::of(old).generation().saturating_add(1);
            new.entry("metadata").set("generation", generation);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let (version, object) = (&self.version, object.value());
        let structural = version.structural();
        let root = Path::root();
        if let Some(structural) = structural {
            structural.validate(object, &root, errors);
        }
        scale::validate_spec(version, object, errors);
        scale::validate_status(version, object, errors);
        if let Some(structural) = structural {
            structural.validate_embedded(object, metadata(), &root, errors);
            structural.validate_lists(object, &root, errors);
        }
        version.validate_rules(object, None, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (version, new, old) = (&self.version, new.value(), old.value());
        let structural = version.structural();
        let root = Path::root();
        if let Some(structural) = structural {
            structural.validate_update(new, old, &root, errors);
        }
        scale::validate_spec(version, new, errors);
        scale::validate_status(version, new, errors);
        if let Some(structural) = structural {
            structural.validate_embedded(new, metadata(), &root, errors);
        }
        validate_lists(version, new, old, errors);
        version.validate_rules(new, Some(old), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        finalizer_names::warn(object.value(), &Value::Null, warnings);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        finalizer_names::warn(new.value(), old.value(), warnings);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        if self.version.has_status { &["status"] } else { &[] }
    }
}

/// Lists whose items have identities; what was wrong before may stay.
pub(super) fn validate_lists(version: &Version, new: &Value, old: &Value, errors: &mut Errors) {
    let Some(structural) = version.structural() else { return };
    let mut found = Errors::new();
    structural.validate_lists(old, &Path::root(), &mut found);
    if found.is_empty() {
        structural.validate_lists(new, &Path::root(), errors);
    }
}

fn is_same_but_for_metadata(new: &Value, old: &Value) -> bool {
    let entries = |object: &Value| -> usize {
        object.map().iter().filter(|(name, _)| *name != "metadata").count()
    };
    let fields = new.map().iter().filter(|(name, _)| *name != "metadata");
    let mut fields = fields.map(|(name, value)| old.get(name) == Some(value));
    entries(new) == entries(old) && fields.all(|is_same| is_same)
}
