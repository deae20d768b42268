//! SelfSubjectAccessReview: may I do this.
//!
//! It is answered and not kept; `pkg/registry/authorization/selfsubjectaccessreview`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Kind, Resource, Rules, Verb};
use orlop_machinery::node::Node;

use super::access_review;
use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: SelfSubjectAccessReview = SelfSubjectAccessReview;

/// The kind.
pub(crate) struct SelfSubjectAccessReview;

impl Kind for SelfSubjectAccessReview {
    fn resource(&self) -> Resource {
        Resource::cluster(
            GROUP_VERSION,
            "SelfSubjectAccessReview",
            "selfsubjectaccessreviews",
            PACKAGE,
        )
        .verbs(&[Verb::Create])
    }

    fn is_stored(&self) -> bool {
        false
    }
}

impl Rules for SelfSubjectAccessReview {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        access_review::validate_self_spec(&object.at("spec"), errors);
        access_review::validate_no_metadata(object, &[], "must be empty", errors);
    }
}
