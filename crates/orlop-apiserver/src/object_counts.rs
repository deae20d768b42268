//! How many objects of each resource there are, for metrics.
//!
//! Where there is a cache it knows. Other resources are counted in the store, at most once a
//! minute, as upstream counts (`staging/src/k8s.io/apiserver/pkg/registry/generic/registry`).

use std::collections::HashMap;
use std::time::Duration;

use orlop_machinery::Str;
use orlop_machinery::kind::Verb;
use orlop_storage::{KeyRange, RangeRequest, Select};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::catalog::Catalog;
use crate::reads::Reads;

/// How long a count is good.
const COUNT_EVERY: Duration = Duration::from_secs(60);
/// What is told when it is not known.
const UNKNOWN: i64 = -1;

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct ObjectCounts {
    /// What was counted in the store, by prefix.
    counted: Mutex<HashMap<String, (Instant, i64)>>,
}

impl ObjectCounts {
    /// Group, plural and number of everything that can be listed.
    pub(crate) async fn all(&self, catalog: &Catalog, reads: &Reads) -> Vec<(Str, Str, i64)> {
        let mut counted = self.counted.lock().await;
        let mut all: Vec<(Str, Str, i64)> = Vec::new();
        for definition in catalog.iter() {
            let resource = &definition.resource;
            let is_same = |(group, plural, _): &(Str, Str, i64)| {
                *group == resource.group && *plural == resource.plural
            };
            // Other versions are the same objects.
            if !resource.verbs.contains(&Verb::List) || all.last().is_some_and(is_same) {
                continue;
            }
            let prefix = &definition.storage.prefix;
            let count = match (reads.caches.count(definition), counted.get(prefix)) {
                (Some(count), _) => i64::try_from(count).unwrap_or(i64::MAX),
                (None, Some((when, count))) if when.elapsed() < COUNT_EVERY => *count,
                (None, _) => {
                    let count = count(reads, prefix).await;
                    counted.insert(prefix.clone(), (Instant::now(), count));
                    count
                }
            };
            all.push((resource.group.clone(), resource.plural.clone(), count));
        }
        all.sort();
        all.dedup_by(|a, b| a.0 == b.0 && a.1 == b.1);
        all
    }
}

async fn count(reads: &Reads, prefix: &str) -> i64 {
    let range = RangeRequest::new(KeyRange::prefix(prefix.to_owned())).select(Select::Count);
    match reads.store.range(range).await {
        Ok(found) => i64::try_from(found.count).unwrap_or(i64::MAX),
        Err(_) => UNKNOWN,
    }
}
