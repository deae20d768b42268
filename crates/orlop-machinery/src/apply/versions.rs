//! The other versions of a kind: fields are managed in the version in which they were written.
//!
//! After `structured-merge-diff/merge` (`Converter`) and `apimachinery/pkg/util/managedfields`
//! (`versionconverter.go`). The conversions themselves are not here.

use super::typing::Typing;
use crate::value::Value;

/// What an object is in the versions of its API.
pub trait Versions {
    /// What objects of a version (`apps/v1`) are made of; none when the version is not served.
    /// What was managed in such a version is forgotten.
    fn typing(&self, api_version: &str) -> Option<Typing<'_>>;

    /// The object in another version: one that [`Versions::typing`] knows, or the one in which
    /// the write takes place.
    ///
    /// # Errors
    ///
    /// With the reason, when the object cannot be converted.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String>;
}

/// A kind with one version only.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneVersion;

impl Versions for OneVersion {
    fn typing(&self, _api_version: &str) -> Option<Typing<'_>> {
        None
    }

    fn convert(&self, _object: &Value, api_version: &str) -> Result<Value, String> {
        Err(format!("no conversion to {api_version}"))
    }
}
