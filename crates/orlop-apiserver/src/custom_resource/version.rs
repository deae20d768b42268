//! One version of a custom resource: what its definition says about it, compiled when it is first
//! needed.

use std::sync::OnceLock;

use orlop_cel::rules::{Extent, OBJECT_COST_MAX, Rules, Update};
use orlop_machinery::apply::Typing;
use orlop_machinery::field::Errors;
use orlop_machinery::json_path::JsonPath;
use orlop_machinery::openapi::CustomSchema;
use orlop_machinery::schema::{Schema, StructId};
use orlop_machinery::structural::{Malformed, Metadata, Position, Structural};
use orlop_machinery::table::CustomColumns;
use orlop_machinery::{Str, Value, version};

use super::envelope::envelope;

/// See the module's documentation.
pub(crate) struct Version {
    /// `v1`
    pub name: Str,
    /// `example.com/v1`
    pub api_version: Str,
    /// The name of its struct in documents: `com.example.v1.Widget`.
    pub schema_name: Str,
    /// Whether clients can ask for it.
    pub is_served: bool,
    /// Whether objects are stored in it.
    pub is_stored: bool,
    /// Whether status is written on its own.
    pub has_status: bool,
    /// Where the number of replicas is, if objects can be scaled.
    pub scale: Option<Scale>,
    /// What clients are told who use a version that has no future.
    pub deprecation: Option<String>,
    /// What the definition says, as it says it.
    said: Value,
    /// Whether fields that the schema does not know stay everywhere.
    keeps_unknown: bool,
    structural: OnceLock<Option<Structural>>,
    typed: OnceLock<Option<(Schema, StructId)>>,
    rules: OnceLock<Rules>,
    columns: OnceLock<CustomColumns>,
    selectable: OnceLock<Vec<(Str, Option<JsonPath>)>>,
}

/// Where an object keeps what its scale shows, without the dots at the start.
pub(crate) struct Scale {
    /// The number that is wanted.
    pub replicas: Str,
    /// The number that there is.
    pub status_replicas: Str,
    /// Which pods are the replicas; empty if nothing says it.
    pub selector: Str,
}

impl Version {
    /// What a definition says about one of its versions.
    pub(super) fn new(
        said: &Value,
        said_all: &[Value],
        (group, names): (&str, &Value),
        keeps_unknown: bool,
    ) -> Version {
        let name = Str::new(said.at("name").str());
        let api_version = Str::from(format!("{group}/{name}"));
        let kind = names.at("kind").str();
        let subresources = said.at("subresources");
        let path = |name: &str| {
            Str::new(subresources.path(&["scale", name]).str().trim_start_matches('.'))
        };
        let scale = (!subresources.at("scale").is_null()).then(|| Scale {
            replicas: path("specReplicasPath"),
            status_replicas: path("statusReplicasPath"),
            selector: path("labelSelectorPath"),
        });
        let deprecation = said.at("deprecated").bool().then(|| {
            let warning = said.at("deprecationWarning").as_str().map(str::to_owned);
            warning.unwrap_or_else(|| {
                let newer = newer(said_all, &name);
                let advice = newer.map(|newer| format!("; use {group}/{newer} {kind}"));
                format!("{api_version} {kind} is deprecated{}", advice.unwrap_or_default())
            })
        });
        Version {
            schema_name: Str::from(format!("{}.{name}.{kind}", reverse(group))),
            is_served: said.at("served").bool(),
            is_stored: said.at("storage").bool(),
            has_status: !subresources.at("status").is_null(),
            scale,
            deprecation,
            said: said.clone(),
            keeps_unknown,
            structural: OnceLock::new(),
            typed: OnceLock::new(),
            rules: OnceLock::new(),
            columns: OnceLock::new(),
            selectable: OnceLock::new(),
            name,
            api_version,
        }
    }

    /// The schema; none where the definition has none, or keeps everything.
    pub(super) fn structural(&self) -> Option<&Structural> {
        let structural = self.structural.get_or_init(|| {
            let schema = self.said.path(&["schema", "openAPIV3Schema"]);
            let mut read = match schema {
                Value::Null => return None,
                schema => Structural::read(schema).ok()?,
            };
            read.prune_defaults(metadata());
            Some(read)
        });
        structural.as_ref()
    }

    /// Reports what rules in CEL say against an object; `old` is what it was before.
    pub(super) fn validate_rules(&self, new: &Value, old: Option<&Value>, errors: &mut Errors) {
        let Some(schema) = self.structural() else { return };
        let rules = self.rules.get_or_init(|| Rules::compile(schema, Extent::Resource));
        let update = Update { schema, new, old, is_ratcheting: true };
        rules.validate_unless_blocked(&update, OBJECT_COST_MAX, errors);
    }

    /// What documents say about its objects.
    pub(super) fn custom_schema(&self) -> CustomSchema<'_> {
        CustomSchema {
            schema: self.said.path(&["schema", "openAPIV3Schema"]),
            keeps_unknown: self.keeps_unknown,
            selectable: self.said.at("selectableFields"),
        }
    }

    /// The columns of its table.
    pub(super) fn columns(&self) -> &CustomColumns {
        self.columns.get_or_init(|| {
            let (columns, error) = CustomColumns::read(self.said.at("additionalPrinterColumns"));
            if let Some(error) = error {
                let version = &self.api_version;
                tracing::warn!(%version, %error, "a column cannot be shown");
            }
            columns
        })
    }

    /// The fields that selectors may name, and where they are.
    pub(super) fn selectable(&self) -> &[(Str, Option<JsonPath>)] {
        self.selectable.get_or_init(|| {
            let fields = self.said.at("selectableFields").list().iter();
            fields
                .map(|field| {
                    let path = field.at("jsonPath").str();
                    (Str::new(path.trim_start_matches('.')), JsonPath::parse(path).ok())
                })
                .collect()
        })
    }

    /// What apply has to know of objects.
    pub(super) fn typing(&self) -> Typing<'_> {
        let typed = self.typed.get_or_init(|| {
            let structural = self.structural().filter(|_| !self.keeps_unknown)?;
            let mut schema = orlop_kinds::schema::custom_resources();
            let name = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
            let metadata = schema.find(name)?;
            let id = structural.compile(&mut schema, &self.schema_name, metadata);
            Some((schema, id))
        });
        typed.as_ref().map_or(Typing::Deduced, |(schema, id)| Typing::Struct(schema, *id))
    }

    /// Takes out of an object what it must not have: fields that are unknown, null where it is no
    /// value. Says where the fields were.
    ///
    /// # Errors
    ///
    /// When the metadata of something inside cannot be read and malformed things are refused.
    pub(super) fn prune(
        &self,
        object: &mut Value,
        malformed: Malformed,
    ) -> Result<Vec<String>, String> {
        let Some(structural) = self.structural() else { return Ok(Vec::new()) };
        let mut unknown = Vec::new();
        if !self.keeps_unknown {
            unknown = structural.prune(object, Position::Root);
            structural.prune_nulls(object);
        }
        let coerced = structural.coerce_embedded(object, metadata(), malformed);
        unknown.extend(coerced.map_err(|error| error.to_string())?);
        Ok(unknown)
    }

    /// Sets what is missing.
    pub(super) fn set_defaults(&self, object: &mut Value) {
        if let Some(structural) = self.structural().filter(|_| !self.keeps_unknown) {
            structural.set_defaults(object);
        }
    }
}

/// The newest version with a future that is served and newer than another.
fn newer<'a>(all: &'a [Value], than: &str) -> Option<&'a str> {
    let has_future =
        |version: &&Value| version.at("served").bool() && !version.at("deprecated").bool();
    let names = all.iter().filter(has_future).map(|version| version.at("name").str());
    names.filter(|name| version::compare(name, than).is_gt()).max_by(|a, b| version::compare(a, b))
}

/// The struct of metadata.
pub(super) fn metadata() -> Metadata<'static> {
    let envelope = envelope();
    Metadata { schema: &envelope.schema, id: envelope.metadata }
}

/// `example.com` as `com.example`.
fn reverse(group: &str) -> String {
    let mut parts: Vec<&str> = group.split('.').collect();
    parts.reverse();
    parts.join(".")
}
