//! Something that lives as long as the program, or as long as somebody holds it.
//!
//! Built-in kinds are static; custom ones come and go. Whoever uses one does not ask which.

use std::ops::Deref;
use std::sync::Arc;

/// See the module's documentation.
pub enum Shared<T: ?Sized + 'static> {
    /// As long as the program.
    Static(&'static T),
    /// As long as somebody holds it.
    Counted(Arc<T>),
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Shared::Static(value) => value,
            Shared::Counted(value) => value,
        }
    }
}

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match self {
            Shared::Static(value) => Shared::Static(value),
            Shared::Counted(value) => Shared::Counted(value.clone()),
        }
    }
}
