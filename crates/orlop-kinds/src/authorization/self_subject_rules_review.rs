//! SelfSubjectRulesReview: what may I do in a namespace.
//!
//! It is answered and not kept; `pkg/registry/authorization/selfsubjectrulesreview`.

use orlop_machinery::kind::{Kind, Resource, Rules, Verb};

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: SelfSubjectRulesReview = SelfSubjectRulesReview;

/// The kind.
pub(crate) struct SelfSubjectRulesReview;

impl Kind for SelfSubjectRulesReview {
    fn resource(&self) -> Resource {
        Resource::cluster(
            GROUP_VERSION,
            "SelfSubjectRulesReview",
            "selfsubjectrulesreviews",
            PACKAGE,
        )
        .verbs(&[Verb::Create])
    }

    fn is_stored(&self) -> bool {
        false
    }
}

impl Rules for SelfSubjectRulesReview {}
