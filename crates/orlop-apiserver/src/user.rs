//! Who asks.

use orlop_machinery::{Str, Value, kind};

/// Somebody whom an authenticator knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User {
    /// The name, such as `kubernetes-admin`.
    pub name: Str,
    /// A unique id, where the authenticator gives one.
    pub uid: Str,
    /// The groups, `system:authenticated` among them.
    pub groups: Vec<Str>,
    /// What else the authenticator says: a map of lists of strings, or null.
    pub extra: Value,
}

/// The group that may do everything.
pub(crate) const MASTERS: &str = "system:masters";
/// The group of everybody who is known.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";
/// The group of those who are not.
pub(crate) const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The name of the server itself.
pub(crate) const APISERVER: &str = "system:apiserver";
/// The name of those who are not known.
pub(crate) const ANONYMOUS: &str = "system:anonymous";

impl User {
    /// Somebody without a name.
    #[must_use]
    pub fn anonymous() -> User {
        User {
            name: Str::const_new(ANONYMOUS),
            groups: vec![Str::const_new(UNAUTHENTICATED)],
            ..User::default()
        }
    }

    /// The server itself.
    #[must_use]
    pub fn apiserver() -> User {
        User {
            name: Str::const_new(APISERVER),
            groups: vec![Str::const_new(MASTERS), Str::const_new(AUTHENTICATED)],
            ..User::default()
        }
    }

    /// Whether the user is in a group.
    #[must_use]
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known == group)
    }

    /// Calls `use_user` with the user as the rules of kinds know it.
    pub fn lend<T>(&self, use_user: impl FnOnce(kind::User<'_>) -> T) -> T {
        let groups: Vec<&str> = self.groups.iter().map(Str::as_str).collect();
        let extra = (!self.extra.is_null()).then_some(&self.extra);
        use_user(kind::User { name: &self.name, uid: &self.uid, groups: &groups, extra })
    }
}
