//! What reading verbs need of the server.

use std::sync::Arc;

use orlop_storage::{Clock, Store};

use crate::cache::Caches;
use crate::metrics::Metrics;

/// See the module's documentation.
pub(crate) struct Reads {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// What was counted.
    pub metrics: Arc<Metrics>,
    /// What is known of it.
    pub caches: Caches,
}

impl Reads {
    /// Reads from a store.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
    ) -> Reads {
        Reads { caches: Caches::new(store.clone()), store, clock, metrics }
    }
}
