//! Who manages the number of replicas, seen through the `scale` subresource.
//!
//! The object behind it and its scale have the number at different paths and in different
//! versions; a manager of the one is a manager of the other. Behaviour after
//! `apimachinery/pkg/util/managedfields` (`scalehandler.go`).

use super::field_path::PathElement;
use super::field_set::FieldSet;
use super::managers::{ManagedFieldsError, Manager, Managers};
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
        let mut scale = Managers::decode(of_scale.list())?;
        let times: Vec<_> =
            managers.list.iter().map(|manager| (manager.id.clone(), manager.time)).collect();
        managers.list.retain_mut(|manager| {
            let Some(path) = self.path(&manager.api_version) else { return false };
            let Some(path) = path.filter(|path| manager.fields.contains(path)) else {
                return true;
            };
            // Who is no longer a manager of the scale has lost the number.
            if scale.take(&manager.id).is_none() {
                let mut lost = FieldSet::new();
                lost.insert(&path);
                manager.fields.subtract(&lost);
            }
            !manager.fields.is_empty()
        });
        let replicas = PathElement::fields(REPLICAS_IN_SCALE);
        for manager in scale.list {
            if !manager.fields.contains(&replicas) {
                continue;
            }
            let mut fields = FieldSet::new();
            if let Some(Some(path)) = self.path(self.api_version) {
                fields.insert(&path);
            }
            let time = times.iter().find(|(id, _)| *id == manager.id).and_then(|(_, time)| *time);
            let api_version = Str::new(self.api_version);
            managers.set(Manager { id: manager.id, api_version, fields, time });
        }
        Ok(managers.encode().unwrap_or_default())
    }

    /// Where a version keeps the number; none when the version is not known.
    fn path(&self, version: &str) -> Option<Option<Vec<PathElement>>> {
        let (_, path) = self.paths.iter().find(|(known, _)| *known == version)?;
        Some(path.map(PathElement::fields))
    }
}
