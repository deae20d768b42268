//! HorizontalPodAutoscaler: as many pods as their work needs.
//!
//! `v2` is what is stored, and where the rules are: after
//! `pkg/registry/autoscaling/horizontalpodautoscaler` and `ValidateHorizontalPodAutoscaler` in
//! `pkg/apis/autoscaling/validation/validation.go`. `v1` is another way to write the same objects:
//! each of its rules turns them into `v2` first (`conversion`).

pub(crate) mod v1;
pub(crate) mod v2;

mod annotations;
mod conversion;
mod defaults;
mod metrics;
mod reference;
mod spec;
mod targets;

use orlop_machinery::kind::{Column, Resource, Rules};

/// The name of the kind in paths.
const PLURAL: &str = "horizontalpodautoscalers";

/// The same in both versions.
const COLUMNS: &[Column] = &[
    Column::NAME,
    Column::text("Reference"),
    Column::text("Targets"),
    Column::text("MinPods"),
    Column::text("MaxPods"),
    Column::text("Replicas"),
    Column::AGE,
];

/// The resource in a version.
fn resource(version: &'static str, status: &'static dyn Rules) -> Resource {
    let package = format!("io.k8s.api.autoscaling.{version}");
    Resource::namespaced(("autoscaling", version), "HorizontalPodAutoscaler", PLURAL, &package)
        .short(&["hpa"])
        .categories(&["all"])
        .status(status)
}
