//! How long the store takes, by operation and resource.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/etcd3/metrics`. Names say etcd whatever keeps
//! the objects: dashboards and alerts know these. What an operation is about is told by its key;
//! keys of no resource are counted as one.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use orlop_machinery::Str;

use super::series::{DURATIONS, Histogram};
use crate::catalog::Catalog;
use crate::definition::REGISTRY;

/// What the store is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Delete,
    Get,
    List,
    ListOnlyKeys,
    ListWithCount,
    Update,
}

/// The times of every operation on every resource.
#[derive(Default)]
pub(crate) struct StoreTimes {
    /// By what keys begin with.
    resources: HashMap<Vec<u8>, Times>,
    others: Times,
}

/// The times of one resource.
#[derive(Default)]
struct Times {
    group: Str,
    resource: Str,
    operations: [OnceLock<Timing>; Operation::ALL.len()],
}

/// The times of one operation on one resource.
pub(super) struct Timing {
    pub durations: Histogram,
    pub errors: AtomicU64,
}

impl Operation {
    /// In the order of their names.
    pub(super) const ALL: [Operation; 7] = [
        Operation::Create,
        Operation::Delete,
        Operation::Get,
        Operation::List,
        Operation::ListOnlyKeys,
        Operation::ListWithCount,
        Operation::Update,
    ];

    /// The label.
    pub(super) fn name(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Delete => "delete",
            Operation::Get => "get",
            Operation::List => "list",
            Operation::ListOnlyKeys => "listOnlyKeys",
            Operation::ListWithCount => "listWithCount",
            Operation::Update => "update",
        }
    }
}

impl StoreTimes {
    /// For the resources of a catalog.
    pub(crate) fn new(catalog: &Catalog) -> StoreTimes {
        let mut resources: HashMap<Vec<u8>, Times> = HashMap::new();
        for definition in catalog.iter() {
            let (group, resource) =
                (definition.resource.group.clone(), definition.resource.plural.clone());
            let prefix = definition.storage.prefix.clone().into_bytes();
            // Whoever comes first of those that are stored at one place stands for all.
            resources.entry(prefix).or_insert(Times { group, resource, ..Times::default() });
        }
        let others = Times { resource: Str::const_new("other"), ..Times::default() };
        StoreTimes { resources, others }
    }

    /// Notes how long an operation took, and whether it failed.
    pub(crate) fn record(
        &self,
        operation: Operation,
        key: &[u8],
        took: Duration,
        has_failed: bool,
    ) {
        let timing = self.find(key).operations[operation as usize].get_or_init(|| Timing {
            durations: Histogram::new(&DURATIONS),
            errors: AtomicU64::new(0),
        });
        timing.durations.observe(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        if has_failed {
            timing.errors.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Places have one part or two: `/registry/pods/`, `/registry/services/specs/`.
    fn find(&self, key: &[u8]) -> &Times {
        let Some(below) = key.strip_prefix(REGISTRY.as_bytes()) else { return &self.others };
        let slashes = below.iter().enumerate().filter(|(_, byte)| **byte == b'/').take(2);
        let mut ends = slashes.map(|(place, _)| REGISTRY.len() + place + 1);
        ends.find_map(|end| self.resources.get(&key[..end])).unwrap_or(&self.others)
    }

    /// Everything that was recorded, in the order of labels: operation, group, resource.
    pub(super) fn all(&self) -> Vec<([&str; 3], &Timing)> {
        let mut all = Vec::new();
        for times in self.resources.values().chain([&self.others]) {
            for (operation, timing) in Operation::ALL.into_iter().zip(&times.operations) {
                let labels = [operation.name(), times.group.as_str(), times.resource.as_str()];
                all.extend(timing.get().map(|timing| (labels, timing)));
            }
        }
        all.sort_by_key(|(labels, _)| *labels);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_told_by_their_keys() {
        let times = StoreTimes::new(&Catalog::built_in());
        let check = |key: &str, expect: (&str, &str)| {
            let found = times.find(key.as_bytes());
            assert_eq!((found.group.as_str(), found.resource.as_str()), expect, "{key}");
        };
        check("/registry/pods/default/a", ("", "pods"));
        check("/registry/pods/", ("", "pods"));
        check("/registry/services/specs/default/a", ("", "services"));
        check("/registry/services/endpoints/default/a", ("", "endpoints"));
        check("/registry/deployments/default/a", ("apps", "deployments"));
        check("/registry/masterleases/192.0.2.1", ("", "other"));
        check("/registry/pods", ("", "other"));
        check("elsewhere", ("", "other"));
        times.record(Operation::Get, b"/registry/pods/a/b", Duration::from_millis(7), false);
        times.record(Operation::Get, b"/registry/pods/a/b", Duration::from_millis(7), true);
        let all = times.all();
        let (labels, timing) = &all[0];
        assert_eq!((*labels, all.len()), (["get", "", "pods"], 1));
        assert_eq!(timing.durations.cumulative()[..2], [0, 2]);
        assert_eq!(timing.errors.load(Ordering::Relaxed), 1);
    }
}
