//! Who manages which field of an object that is written at an endpoint.

use std::sync::Arc;

use orlop_machinery::apply::{
    ApplyError, ApplyOptions, FieldFilter, FieldManager, OnConflict, ResetFields, Typing, Versions,
};
use orlop_machinery::kind::Rules;
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::time::Time;
use orlop_machinery::{Value, decode};

use crate::catalog::Catalog;
use crate::definition::Definition;

/// Keeps track of who writes which fields at one endpoint.
#[derive(Clone)]
pub(crate) struct Manager<'a> {
    /// Where the other versions of the kind are.
    pub catalog: Arc<Catalog>,
    /// What is written.
    pub definition: &'a Definition,
    /// The rules of the endpoint.
    pub rules: &'a dyn Rules,
    /// The subresource, or empty.
    pub subresource: &'a str,
    /// The name of who writes.
    pub name: &'a str,
    /// When.
    pub now_seconds: i64,
}

impl Manager<'_> {
    /// The new object, with who manages what; `live` is null at creation.
    pub(crate) fn update(&self, live: &Value, new: Value) -> Value {
        self.with(|manager| manager.update(live, new, self.name, self.now()))
    }

    /// The live object, or null, with what is applied on top, in normal form and with defaults.
    pub(crate) fn apply(
        &self,
        live: &Value,
        applied: &Value,
        on_conflict: OnConflict,
    ) -> Result<Value, Status> {
        let options = ApplyOptions { on_conflict, now: self.now() };
        let outcome = self.with(|manager| manager.apply(live, applied, self.name, &options));
        let object = outcome.map_err(apply_error)?.object;
        let definition = self.definition;
        let decoded = decode::decode(&definition.schema, definition.id, object);
        let mut object = decoded.map_err(|error| Status::bad_request(error.to_string()))?.object;
        definition.kind.prune(&mut object).map_err(Status::bad_request)?;
        definition.set_defaults(&mut object);
        Ok(object)
    }

    fn now(&self) -> Time {
        Time::from_unix(self.now_seconds)
    }

    fn with<T>(&self, use_manager: impl FnOnce(FieldManager<'_>) -> T) -> T {
        let definition = self.definition;
        let resource = &definition.resource;
        let typing = definition.typing();
        let versions = OtherVersions { catalog: &self.catalog, definition };
        let mut manager = FieldManager::new(typing, &definition.api_version, &resource.kind)
            .with_versions(&versions)
            .with_reset_fields(reset_fields(definition, self.rules));
        if !self.subresource.is_empty() {
            manager = manager.for_subresource(self.subresource);
        }
        use_manager(manager)
    }
}

/// The fields that a write at the endpoint cannot set.
fn reset_fields(definition: &Definition, rules: &dyn Rules) -> ResetFields {
    let (reset, written) = (rules.reset_fields(), rules.written_fields());
    let filter = match (reset, written) {
        ([], []) => return ResetFields::default(),
        ([], written) => FieldFilter::include(written),
        (reset, _) => FieldFilter::exclude(reset),
    };
    ResetFields::new(&[&definition.api_version], &filter)
}

/// What a client is told whose apply failed.
fn apply_error(error: ApplyError) -> Status {
    match error {
        ApplyError::BadRequest(message) => Status::bad_request(message),
        ApplyError::Conflicts(conflicts) => {
            Status::apply_conflict(conflicts.to_string(), conflicts.causes())
        }
        ApplyError::ManagedFields(error) => {
            Status::internal_error(format!("failed to decode managed fields: {error}"))
        }
        // Upstream passes such errors on as they are.
        ApplyError::Internal(message) => Status::failure(500, Reason::Unknown, message),
    }
}

/// The other versions of a kind: those that are stored in the same place.
struct OtherVersions<'a> {
    catalog: &'a Catalog,
    definition: &'a Definition,
}

impl OtherVersions<'_> {
    fn find(&self, api_version: &str) -> Option<&Definition> {
        self.catalog.find_version(self.definition, api_version).map(|found| &**found)
    }
}

impl Versions for OtherVersions<'_> {
    fn typing(&self, api_version: &str) -> Option<Typing<'_>> {
        self.find(api_version).map(Definition::typing)
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        let find = |version: &str| {
            self.find(version).ok_or_else(|| format!("no conversion from or to {version}"))
        };
        let from = find(object.at("apiVersion").str())?;
        let to = find(api_version)?;
        from.form.convert(from, object, to)
    }
}
