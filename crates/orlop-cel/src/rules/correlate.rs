//! Whether errors are forgiven because what they are about did not change.
//!
//! After `ratchetingOptions` in `pkg/apiserver/schema/cel/validation.go`. What a value was before
//! is found by [`Correlation`].

use std::cell::Cell;

use orlop_machinery::structural::Correlation;

/// A value and what it was before. Whether both are the same is found out when it is asked, and
/// once.
pub(super) struct Correlated<'a> {
    correlation: Correlation<'a>,
    is_unchanged: Cell<Option<bool>>,
}

/// Whether errors about a value are forgiven.
#[derive(Clone, Copy, Default)]
pub(super) struct Ratchet<'c> {
    /// The value itself; none where it cannot be told what it was.
    current: Option<&'c Correlated<'c>>,
    /// The nearest value around it of which it can.
    nearest: Option<&'c Correlated<'c>>,
}

impl<'a> Correlated<'a> {
    pub(super) fn new(correlation: Correlation<'a>) -> Correlated<'a> {
        Correlated { correlation, is_unchanged: Cell::new(None) }
    }

    fn is_unchanged(&self) -> bool {
        if let Some(known) = self.is_unchanged.get() {
            return known;
        }
        let found = self.correlation.is_equal();
        self.is_unchanged.set(Some(found));
        found
    }
}

impl<'c> Ratchet<'c> {
    /// For an object and what it was.
    pub(super) fn new(root: &'c Correlated<'c>) -> Ratchet<'c> {
        Ratchet { current: Some(root), nearest: None }
    }

    /// Whether errors about the value are forgiven.
    pub(super) fn forgives(&self) -> bool {
        self.current.or(self.nearest).is_some_and(Correlated::is_unchanged)
    }

    /// What the value has under a name, and what that was.
    pub(super) fn key(&self, name: &str) -> Option<Correlated<'c>> {
        let current = self.current.filter(|_| !self.is_hidden(name))?;
        current.correlation.key(name).map(Correlated::new)
    }

    /// For what the value has under a name; `child` is what [`Ratchet::key`] says of it.
    pub(super) fn inside_key<'d>(
        &self,
        name: &str,
        child: Option<&'d Correlated<'d>>,
    ) -> Ratchet<'d>
    where
        'c: 'd,
    {
        if self.is_hidden(name) { Ratchet::default() } else { self.inside(child) }
    }

    /// For something inside the value, of which `child` says what it was.
    pub(super) fn inside<'d>(&self, child: Option<&'d Correlated<'d>>) -> Ratchet<'d>
    where
        'c: 'd,
    {
        match self.current {
            None => *self,
            nearest => Ratchet { current: child, nearest },
        }
    }

    /// Both objects were converted to one version, so nobody can tell whether these changed.
    fn is_hidden(&self, name: &str) -> bool {
        let is_root = self.current.is_some() && self.nearest.is_none();
        is_root && matches!(name, "apiVersion" | "kind")
    }
}
