//! SubjectAccessReview: may somebody do this.
//!
//! It is answered and not kept; `pkg/registry/authorization/subjectaccessreview`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Kind, Resource, Rules, Verb};
use orlop_machinery::node::Node;

use super::access_review;
use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: SubjectAccessReview = SubjectAccessReview;

/// The kind.
pub(crate) struct SubjectAccessReview;

impl Kind for SubjectAccessReview {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "SubjectAccessReview", "subjectaccessreviews", PACKAGE)
            .verbs(&[Verb::Create])
    }

    fn is_stored(&self) -> bool {
        false
    }
}

impl Rules for SubjectAccessReview {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        access_review::validate_spec(&object.at("spec"), errors);
        access_review::validate_no_metadata(object, &[], "must be empty", errors);
    }
}
