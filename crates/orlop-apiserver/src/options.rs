//! What the parameters of a request ask for.
//!
//! Conversions, defaults, rules and texts after `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1`
//! (`conversion.go`, `zz_generated.conversion.go`), `.../pkg/apis/meta/internalversion` and the
//! handlers of `staging/src/k8s.io/apiserver/pkg/endpoints/handlers`. What cannot be read is a bad
//! request; what can be read but makes no sense is invalid. Parameters that nobody knows are
//! passed over.

mod delete;
mod list;
mod write;

pub(crate) use delete::{delete_options_from_query, validate_delete_options};
pub(crate) use list::{GetOptions, ListOptions, ListQuery};
pub(crate) use write::{WriteOptions, WriteVerb};

use orlop_machinery::field::Errors;
use orlop_machinery::group_version::GroupKind;
use orlop_machinery::status::Status;

/// Refuses options that break rules.
fn refuse(kind: &str, errors: &Errors) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(&GroupKind::new("meta.k8s.io", kind), "", errors))
}
