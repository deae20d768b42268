//! Server-side apply, and who manages which fields.
//!
//! Every write is recorded in `metadata.managedFields`: who has set which fields, in which
//! version, at which subresource. An apply says what its manager wants and nothing else; fields
//! that it no longer mentions go when nobody else manages them, and fields that others manage with
//! another value are conflicts.
//!
//! Everything here is driven by the schema of the object, or deduced where there is none; no kind
//! is known by name. [`FieldManager`] is the entry point. From the bottom up:
//!
//! | file | |
//! |---|---|
//! | `field_path`, `field_set`, `fields_v1`, `field_filter` | sets of fields |
//! | `typing`, `items`, `zero_object` | what the schema says |
//! | `value_order`, `value_text` | values as upstream compares and shows them |
//! | `validate`, `owned_fields`, `compare`, `merge`, `remove`, `reconcile` | walks over objects |
//! | `managers`, `cap_managers`, `versions` | who manages what, in which version |
//! | `updater`, `conflict` | what a write means for its managers |
//! | `last_applied`, `timestamps`, `scale` | special cases |
//! | `field_manager` | all together |

mod cap_managers;
mod compare;
mod conflict;
mod field_filter;
mod field_manager;
mod field_path;
mod field_set;
pub mod fields_v1;
mod items;
mod last_applied;
mod managers;
mod merge;
mod owned_fields;
mod reconcile;
mod remove;
mod scale;
mod timestamps;
mod typing;
mod updater;
mod validate;
mod value_order;
mod value_text;
mod versions;
mod zero_object;

pub use conflict::{ApplyError, Conflict, Conflicts};
pub use field_filter::{FieldFilter, FieldPattern, ResetFields};
pub use field_manager::{ApplyOptions, FieldManager, Outcome, UpdateError};
pub use field_path::{PathElement, path_text};
pub use field_set::FieldSet;
pub use managers::{ManagedFieldsError, ManagerId, Operation, check_managed_fields, manager_name};
pub use scale::ScaleFields;
pub use timestamps::keep_times_if_unchanged;
pub use typing::Typing;
pub use updater::OnConflict;
pub use validate::Misfits;
pub use versions::{OneVersion, Versions};
