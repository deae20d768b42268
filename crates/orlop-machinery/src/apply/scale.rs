//! Who manages the number of replicas, seen through the `scale` subresource.
//!
//! The object behind it and its scale have the number at different paths and in different
//! versions; a manager of the one is a manager of the other. Behaviour after
//! `apimachinery/pkg/util/managedfields` (`scalehandler.go`).

use std::collections::{HashMap, HashSet};

use super::field_path::PathElement;
use super::field_set::FieldSet;
use super::managers::{ManagedFieldsError, Manager, ManagerId, Managers};
use crate::value::{Str, Value};

const SCALE_VERSION: &str = "autoscaling/v1";
const REPLICAS_IN_SCALE: &str = "spec.replicas";

/// Where objects of each version keep the number of replicas.
#[derive(Clone, Debug)]
pub struct ScaleFields<'a> {
    /// The version in which the object is written.
    pub api_version: &'a str,
    /// Versions and the path of field names in them (`spec.replicas`); none for a version that
    /// has no scale.
    pub paths: &'a [(&'a str, Option<&'a str>)],
}

impl ScaleFields<'_> {
    /// The managed fields of the scale: what is known of the number of replicas. Null when nobody
    /// manages it.
    ///
    /// # Errors
    ///
    /// When the managed fields of the object cannot be understood.
    pub fn to_scale(&self, of_object: &Value) -> Result<Value, ManagedFieldsError> {
        let mut managers = Managers::decode(of_object.list())?;
        let replicas = PathElement::fields(REPLICAS_IN_SCALE);
        managers.list.retain_mut(|manager| {
            let Some(Some(path)) = self.path(&manager.api_version) else { return false };
            if !manager.fields.contains(&path) {
                return false;
            }
            manager.api_version = Str::const_new(SCALE_VERSION);
            manager.fields = FieldSet::new();
            manager.fields.insert(&replicas);
            true
        });
        Ok(managers.encode().unwrap_or_default())
    }

    /// The managed fields of the object after its scale was written.
    ///
    /// # Errors
    ///
    /// When managed fields cannot be understood.
    pub fn to_object(
        &self,
        of_object: &Value,
        of_scale: &Value,
    ) -> Result<Value, ManagedFieldsError> {
        let mut managers = Managers::decode(of_object.list())?;
        let scale = Managers::decode(of_scale.list())?;
        let mut scalers: HashSet<&ManagerId> =
            scale.list.iter().map(|manager| &manager.id).collect();
        let times: HashMap<_, _> =
            managers.list.iter().map(|manager| (manager.id.clone(), manager.time)).collect();
        managers.list.retain_mut(|manager| {
            let Some(path) = self.path(&manager.api_version) else { return false };
            let Some(path) = path.filter(|path| manager.fields.contains(path)) else {
                return true;
            };
            // Who is no longer a manager of the scale has lost the number.
            if !scalers.remove(&manager.id) {
                let mut lost = FieldSet::new();
                lost.insert(&path);
                manager.fields.subtract(&lost);
            }
            !manager.fields.is_empty()
        });
        let ids = managers.list.iter().map(|manager| manager.id.clone());
        let places: HashMap<ManagerId, usize> = ids.zip(0..).collect();
        let replicas = PathElement::fields(REPLICAS_IN_SCALE);
        for manager in &scale.list {
            if !scalers.contains(&manager.id) || !manager.fields.contains(&replicas) {
                continue;
            }
            let mut fields = FieldSet::new();
            if let Some(Some(path)) = self.path(self.api_version) {
                fields.insert(&path);
            }
            let new = Manager {
                id: manager.id.clone(),
                api_version: Str::new(self.api_version),
                fields,
                time: times.get(&manager.id).copied().flatten(),
            };
            match places.get(&manager.id) {
                Some(place) => managers.list[*place] = new,
                None => managers.list.push(new),
            }
        }
        Ok(managers.encode().unwrap_or_default())
    }

    /// Where a version keeps the number; none when the version is not known.
    fn path(&self, version: &str) -> Option<Option<Vec<PathElement>>> {
        let (_, path) = self.paths.iter().find(|(known, _)| *known == version)?;
        Some(path.map(PathElement::fields))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::super::fields_v1;
    use super::*;
    use crate::json;

    const FIELDS: ScaleFields<'_> = ScaleFields {
        api_version: "apps/v1",
        paths: &[
            ("apps/v1", Some("spec.replicas")),
            ("apps/v1beta1", Some("spec.count")),
            ("apps/v0", None),
        ],
    };

    /// Entries from lines such as `a Apply apps/v1 12 {"f:spec":{}}`; a `/` before the name marks
    /// the scale subresource, the number is a day of January.
    fn entries(lines: &[&str]) -> Value {
        let entry = |line: &&str| {
            let [name, operation, version, day, fields] =
                line.splitn(5, ' ').collect::<Vec<_>>().try_into().unwrap();
            let mut entry = Value::from([
                ("manager", name.trim_start_matches('/')),
                ("operation", operation),
                ("apiVersion", version),
                ("fieldsType", "FieldsV1"),
            ]);
            entry.set("fieldsV1", json::parse(fields.as_bytes()).unwrap());
            if name.starts_with('/') {
                entry.set("subresource", "scale");
            }
            if day != "-" {
                entry.set("time", format!("2026-01-{day}T00:00:00Z"));
            }
            entry
        };
        Value::List(lines.iter().map(entry).collect())
    }

    fn lines(entries: &Value) -> Vec<String> {
        let line = |entry: &Value| {
            let text = |field: &str| entry.at(field).str();
            let slash = if text("subresource").is_empty() { "" } else { "/" };
            let day = text("time").get(8..10).unwrap_or("-");
            let fields = fields_v1::from_value(entry.at("fieldsV1")).unwrap();
            let fields = fields_v1::to_text(&fields);
            let (name, operation) = (text("manager"), text("operation"));
            format!("{slash}{name} {operation} {} {day} {fields}", text("apiVersion"))
        };
        entries.list().iter().map(line).collect()
    }

    fn check(object: &[&str], to_scale: &[&str], from_scale: &[&str], to_object: &[&str]) {
        let object = entries(object);
        assert_eq!(lines(&FIELDS.to_scale(&object).unwrap()), to_scale);
        let written = FIELDS.to_object(&object, &entries(from_scale)).unwrap();
        assert_eq!(lines(&written), to_object);
    }

    #[test]
    fn a_scaler_takes_the_number_from_its_manager() {
        check(
            &[
                r#"a Apply apps/v1 01 {"f:spec":{"f:replicas":{},"f:selector":{}}}"#,
                r#"b Update apps/v1 - {"f:spec":{"f:selector":{}}}"#,
                r#"c Update gone/v1 - {"f:spec":{"f:replicas":{}}}"#,
                r#"d Update apps/v0 - {"f:spec":{"f:replicas":{}}}"#,
            ],
            &[r#"a Apply autoscaling/v1 01 {"f:spec":{"f:replicas":{}}}"#],
            &[r#"/s Update autoscaling/v1 02 {"f:spec":{"f:replicas":{}}}"#],
            &[
                r#"a Apply apps/v1 01 {"f:spec":{"f:selector":{}}}"#,
                r#"b Update apps/v1 - {"f:spec":{"f:selector":{}}}"#,
                r#"d Update apps/v0 - {"f:spec":{"f:replicas":{}}}"#,
                r#"/s Update apps/v1 - {"f:spec":{"f:replicas":{}}}"#,
            ],
        );
    }

    #[test]
    fn a_manager_of_nothing_but_the_number_goes() {
        check(
            &[r#"a Apply apps/v1 01 {"f:spec":{"f:replicas":{}}}"#],
            &[r#"a Apply autoscaling/v1 01 {"f:spec":{"f:replicas":{}}}"#],
            &[r#"/s Update autoscaling/v1 - {"f:spec":{"f:replicas":{}}}"#],
            &[r#"/s Update apps/v1 - {"f:spec":{"f:replicas":{}}}"#],
        );
    }

    #[test]
    fn who_still_manages_the_scale_keeps_the_number() {
        check(
            &[r#"a Apply apps/v1 01 {"f:spec":{"f:replicas":{}}}"#],
            &[r#"a Apply autoscaling/v1 01 {"f:spec":{"f:replicas":{}}}"#],
            &[
                r#"a Apply autoscaling/v1 - {"f:spec":{"f:replicas":{}}}"#,
                r#"/s Apply autoscaling/v1 - {"f:spec":{"f:replicas":{}}}"#,
            ],
            &[
                r#"/s Apply apps/v1 - {"f:spec":{"f:replicas":{}}}"#,
                r#"a Apply apps/v1 01 {"f:spec":{"f:replicas":{}}}"#,
            ],
        );
    }

    #[test]
    fn each_version_has_its_own_path() {
        check(
            &[r#"a Update apps/v1beta1 - {"f:spec":{"f:count":{},"f:x":{}}}"#],
            &[r#"a Update autoscaling/v1 - {"f:spec":{"f:replicas":{}}}"#],
            &[r#"/s Update autoscaling/v1 - {"f:metadata":{}}"#],
            &[r#"a Update apps/v1beta1 - {"f:spec":{"f:x":{}}}"#],
        );
    }

    #[test]
    fn a_scaler_may_scale_again() {
        check(
            &[r#"/s Update apps/v1 01 {"f:spec":{"f:replicas":{}}}"#],
            &[r#"/s Update autoscaling/v1 01 {"f:spec":{"f:replicas":{}}}"#],
            &[r#"/s Update autoscaling/v1 02 {"f:spec":{"f:replicas":{}}}"#],
            &[r#"/s Update apps/v1 - {"f:spec":{"f:replicas":{}}}"#],
        );
    }

    #[test]
    fn without_managers_there_are_none() {
        check(&[], &[], &[], &[]);
        assert!(FIELDS.to_scale(&Value::List(vec![Value::Null])).is_err());
    }
}
