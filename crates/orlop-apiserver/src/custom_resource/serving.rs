//! Puts custom resources into the catalog and takes them out.
//!
//! A definition that says something else than before is another resource: its watches end, and its
//! clients ask again. One that only got further on (it is established, it goes) keeps its caches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};

use super::Custom;
use crate::catalog::Catalog;
use crate::conversion::ConversionOptions;
use crate::custom_resource_definitions::{Serve, Served, ServedChange};
use crate::definition::Definition;
use crate::server::Inner;

/// See the module's documentation.
pub(crate) struct Serving {
    /// The server owns this, not the other way round.
    server: Weak<Inner>,
    options: ConversionOptions,
    /// What is served, by the names of the definitions.
    served: Mutex<HashMap<Str, Arc<Custom>>>,
}

impl Serving {
    /// Serves into the catalog of a server.
    pub(crate) fn new(server: &Arc<Inner>, options: ConversionOptions) -> Serving {
        Serving { server: Arc::downgrade(server), options, served: Mutex::default() }
    }
}

impl Serve for Serving {
    fn serve(&self, changes: Vec<ServedChange>) {
        let Some(server) = self.server.upgrade() else { return };
        let mut known = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let old = server.catalog();
        let mut new = Catalog::clone(&old);
        let mut steps = Vec::with_capacity(changes.len());
        for change in changes {
            let Some(step) = Step::new(change, &self.options, &mut known) else { continue };
            new = new.with_custom(&step.name, step.definitions.clone());
            steps.push(step);
        }
        if steps.is_empty() {
            return;
        }
        let caches = &server.reads.caches;
        for step in steps.iter().filter(|step| step.keeps_caches) {
            for (old, new) in old.custom(&step.name).iter().zip(&step.definitions) {
                caches.hand_over(old, new);
            }
        }
        server.serve(new);
        caches.retire(steps.iter().flat_map(|step| old.custom(&step.name)));
    }

    fn stored(&self, object: &Value) -> Result<Arc<Definition>, Status> {
        let served = Served {
            name: object.path(&["metadata", "name"]).str().into(),
            object: object.clone(),
            is_established: true,
            is_terminating: true,
        };
        let custom = Arc::new(Custom::new(&served, &self.options)?);
        custom.stored().ok_or_else(|| Status::internal_error("no version is stored"))
    }
}

/// What one change does to the catalog.
struct Step {
    name: Str,
    definitions: Vec<Arc<Definition>>,
    keeps_caches: bool,
}

impl Step {
    /// None if nothing changes for those who use the objects.
    fn new(
        change: ServedChange,
        options: &ConversionOptions,
        known: &mut HashMap<Str, Arc<Custom>>,
    ) -> Option<Step> {
        let served = match change {
            ServedChange::Set(served) => served,
            ServedChange::Remove(name) => {
                known.remove(&name);
                return Some(Step { name, definitions: Vec::new(), keeps_caches: false });
            }
        };
        let before = known.get(&served.name);
        let same = before.and_then(|custom| custom.further_on(&served));
        let keeps_caches = same.is_some();
        if let (Some(before), true) = (before, keeps_caches)
            && before.is_terminating == served.is_terminating
        {
            return None;
        }
        let custom = match same.map_or_else(|| Custom::new(&served, options), Ok) {
            Ok(custom) => Arc::new(custom),
            Err(status) => {
                tracing::error!(name = %served.name, %status, "cannot be served");
                known.remove(&served.name);
                let name = served.name;
                return Some(Step { name, definitions: Vec::new(), keeps_caches: false });
            }
        };
        let definitions = custom.definitions();
        known.insert(served.name.clone(), custom);
        Some(Step { name: served.name, definitions, keeps_caches })
    }
}
