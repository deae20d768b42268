//! What happens to an object on its way in, at one endpoint.
//!
//! After `staging/src/k8s.io/apiserver/pkg/registry/rest`: a strategy there is a [`Rules`] here.

use crate::field::Errors;
use crate::node::Node;
use crate::value::Value;

/// What a decision may need of the world.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// Seconds since 1970.
    pub now_seconds: i64,
    /// Who asks.
    pub user: User<'a>,
}

/// Who asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct User<'a> {
    /// The user's name.
    pub name: &'a str,
    /// The user's unique id, where the authenticator gives one.
    pub uid: &'a str,
    /// The user's groups.
    pub groups: &'a [&'a str],
    /// What else the authenticator says: a map of lists of strings, or null.
    pub extra: Option<&'a Value>,
}

/// What happens to an object at one endpoint: the resource itself, or one of its subresources.
///
/// Objects come decoded and defaulted. `old` is the object as stored. The generic rules of
/// metadata (names, labels, finalizers, ...) run before these and are not repeated here.
pub trait Rules: Send + Sync {
    /// Drops and sets what a client may not choose at creation. `metadata` is filled already.
    fn prepare_create(&self, _context: &Context<'_>, _object: &mut Value) {}

    /// Reports all that is wrong with an object, on creation and (by default) on update.
    fn validate(&self, _context: &Context<'_>, _object: &Node<'_>, _errors: &mut Errors) {}

    /// Brings a valid object into the one form in which it is kept. The name is known now.
    fn canonicalize(&self, _object: &mut Value) {}

    /// What a client should know about an object that is fine.
    fn warn(&self, _context: &Context<'_>, _object: &Node<'_>, _warnings: &mut Vec<String>) {}

    /// Drops and sets what a client may not choose on update; decides about the generation.
    fn prepare_update(&self, _context: &Context<'_>, _new: &mut Value, _old: &Value) {}

    /// Reports all that is wrong with an update.
    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        _old: &Node<'_>,
        errors: &mut Errors,
    ) {
        self.validate(context, new, errors);
    }

    /// What a client should know about an update that is fine.
    fn warn_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        _old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        self.warn(context, new, warnings);
    }

    /// The fields that a writer at this endpoint cannot set, as dotted paths: nobody comes to own
    /// them by writing here.
    fn reset_fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// The only fields that a writer at this endpoint can set, as dotted paths in which `*` is any
    /// step; none where [`Rules::reset_fields`] tells it from the other side.
    fn written_fields(&self) -> &'static [&'static str] {
        &[]
    }
}
