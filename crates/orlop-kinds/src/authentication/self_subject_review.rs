//! SelfSubjectReview: who am I.
//!
//! It is answered and not kept; `pkg/registry/authentication/selfsubjectreview`.

use orlop_machinery::kind::{Kind, Resource, Rules, Verb};

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: SelfSubjectReview = SelfSubjectReview;

/// The kind.
pub(crate) struct SelfSubjectReview;

impl Kind for SelfSubjectReview {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "SelfSubjectReview", "selfsubjectreviews", PACKAGE)
            .verbs(&[Verb::Create])
    }

    fn is_stored(&self) -> bool {
        false
    }
}

impl Rules for SelfSubjectReview {}
