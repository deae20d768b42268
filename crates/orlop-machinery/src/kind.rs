//! What the rest of the server must know about a kind of object, built-in or custom.
//!
//! A [`Kind`] has names ([`Resource`]) and behaviour: defaults, what is dropped or set on the way
//! in, validation, warnings, columns. All of it is pure; what a decision needs of the world stands
//! in [`Context`]. The order in which a request uses these functions is the server's business.

mod columns;
mod resource;
mod rules;
mod scale;

pub use columns::{Column, Row, Selectable};
pub use resource::{Resource, Subresource, Verb};
pub use rules::{Context, Rules, User};
pub use scale::{ScalePaths, ScaleSelector};

pub use crate::meta::Scope;
pub use crate::meta::delete::GarbageCollection;

use std::borrow::Cow;

use crate::apply::Typing;
use crate::names::{self, NameRule};
use crate::openapi::CustomSchema;
use crate::status::Status;
use crate::table::TableColumn;
use crate::value::{Str, Value};

/// Sets the defaults of one struct, given in normal form. It does not descend: the structs inside
/// have their own.
pub type Defaulter = fn(&mut Value);

/// How the end of an object begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BeginningOfEnd {
    /// Like that of most objects: it goes at once, or waits for its finalizers.
    #[default]
    LikeOthers,
    /// The object says so, and others have to finish it. What the request says about dependents
    /// holds too.
    Said,
    /// The same, but what the request says about dependents holds from the next deletion on.
    SaidAlone,
}

/// A kind of object, as one of its API versions knows it.
///
/// A built-in kind is a unit struct in a file of its own. Every method has a default that suits
/// the plainest of kinds.
pub trait Kind: Rules {
    /// Its names, its verbs, its subresources.
    fn resource(&self) -> Resource;

    /// Whether its objects are kept. Others are answered and forgotten (reviews, bindings), and
    /// the generic rules of metadata do not apply to them.
    fn is_stored(&self) -> bool {
        true
    }

    /// Whether its objects go by themselves after some time, which the server chooses.
    fn expires(&self) -> bool {
        false
    }

    /// What a name must be. Rules that need more than the name belong to [`Rules::validate`].
    fn name_rule(&self) -> NameRule {
        names::name_is_dns_subdomain
    }

    /// The structs whose defaults stand in this file: the name in the schema and the function.
    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[]
    }

    /// Whether a PUT of an object that does not exist creates it.
    fn allows_create_on_update(&self) -> bool {
        false
    }

    /// Whether a PUT may come without a resource version.
    fn allows_unconditional_update(&self) -> bool {
        true
    }

    /// How long a deletion waits when the request does not say; none for kinds that are deleted
    /// at once.
    fn grace_period_seconds(&self, _object: &Value) -> Option<i64> {
        None
    }

    /// Whether a deletion does not wait whatever the request says: nobody is there to end the
    /// object.
    fn ends_at_once(&self, _object: &Value) -> bool {
        false
    }

    /// How the end of its objects begins.
    fn beginning_of_end(&self) -> BeginningOfEnd {
        BeginningOfEnd::LikeOthers
    }

    /// Says in an object that its end has begun, where that is said. The time of deletion is set
    /// afterwards.
    fn start_ending(&self, _context: &Context<'_>, _object: &mut Value) {}

    /// Whether something other than finalizers keeps an object that is being deleted.
    fn is_kept(&self, _object: &Value) -> bool {
        false
    }

    /// Whether finalizers without a domain have to be Kubernetes' own.
    fn restricts_finalizers(&self) -> bool {
        true
    }

    /// What becomes of dependents when a delete does not say.
    fn garbage_collection(&self) -> GarbageCollection {
        GarbageCollection::DeleteDependents
    }

    /// Where its objects keep what their `scale` shows; none for kinds without one.
    fn scale_paths(&self) -> Option<ScalePaths<'_>> {
        None
    }

    /// The fields that field selectors may name, besides `metadata.name` and
    /// `metadata.namespace`.
    fn selectable_fields(&self) -> &'static [Selectable] {
        &[]
    }

    /// What `kubectl get` shows.
    fn columns(&self) -> &'static [Column] {
        columns::DEFAULT
    }

    /// The cells of one object, one for each column.
    fn row(&self, _context: &Context<'_>, object: &Value) -> Row {
        columns::default_row(object)
    }

    /// Why no object can be made now; none if one can.
    fn refuses_create(&self, _name: &str) -> Option<Status> {
        None
    }

    /// What clients are told who use a version that has no future.
    fn deprecation(&self) -> Option<&str> {
        None
    }

    /// The headings of its table.
    fn headings(&self) -> Cow<'_, [TableColumn]> {
        self.columns().iter().map(TableColumn::from).collect()
    }

    /// The names of the selectable fields, whoever lists them.
    fn selectable_names(&self) -> Vec<&str> {
        self.selectable_fields().iter().map(|field| field.name).collect()
    }

    /// The values of the selectable fields of an object, in the order of their names.
    fn select(&self, object: &Value) -> Box<[Str]> {
        self.selectable_fields().iter().map(|field| (field.get)(object)).collect()
    }

    /// Takes out of an object what its struct lets through but the kind does not know; says where
    /// it was.
    ///
    /// # Errors
    ///
    /// When something in it cannot be what it has to be.
    fn prune(&self, _object: &mut Value) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Sets the defaults that its structs do not have.
    fn set_defaults(&self, _object: &mut Value) {}

    /// What documents say about its objects; none where its struct says it all.
    fn custom_schema(&self) -> Option<CustomSchema<'_>> {
        None
    }

    /// What apply has to know of an object; none where its struct says it all.
    fn typing(&self) -> Option<Typing<'_>> {
        None
    }

    /// Whether its structs say how lists are merged, so that strategic patches are understood.
    fn has_merge_strategies(&self) -> bool {
        true
    }

    /// Turns an object of this version into the version that is stored.
    fn to_storage(&self, _object: &mut Value) {}

    /// Turns a stored object into this version.
    #[allow(clippy::wrong_self_convention, reason = "the object comes from storage, not the kind")]
    fn from_storage(&self, _object: &mut Value) {}
}
