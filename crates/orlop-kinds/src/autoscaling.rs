//! The group `autoscaling`: how many pods are enough. A kind in two versions, `v1` and `v2`.
//!
//! The kind Scale of this group is no resource of its own: see `rules/scale.rs`.

use orlop_machinery::kind::Kind;

pub(crate) mod horizontal_pod_autoscaler;

use horizontal_pod_autoscaler::{v1, v2};

/// The kinds of this group.
pub(crate) static KINDS: &[&dyn Kind] = &[&v1::KIND, &v2::KIND];
