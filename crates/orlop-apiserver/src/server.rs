//! The server as a value: what every request needs.

use std::sync::Arc;

use orlop_storage::{Clock, Store};

use crate::catalog::Catalog;

/// What every request needs.
pub(crate) struct Inner {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// What is served.
    pub catalog: Catalog,
}

impl Inner {
    /// Seconds since 1970.
    pub(crate) fn now_seconds(&self) -> i64 {
        i64::try_from(self.clock.now().as_secs()).unwrap_or(i64::MAX)
    }

    /// Who keeps track of the fields that a write changes.
    pub(crate) fn manager<'a>(&'a self, write: &Write<'a>, name: &'a str) -> Manager<'a> {
        Manager {
            catalog: &self.catalog,
            definition: write.definition,
            rules: write.rules,
            subresource: write.subresource,
            name,
            now_seconds: self.now_seconds(),
        }
    }

    /// Bytes that nobody can guess.
    pub(crate) fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system has randomness");
        bytes
    }
}
