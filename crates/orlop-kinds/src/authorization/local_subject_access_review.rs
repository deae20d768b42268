//! LocalSubjectAccessReview: may somebody do this in this namespace.
//!
//! It is answered and not kept; `pkg/registry/authorization/localsubjectaccessreview`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Kind, Resource, Rules, Verb};
use orlop_machinery::node::Node;

use super::access_review;
use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: LocalSubjectAccessReview = LocalSubjectAccessReview;

/// The kind.
pub(crate) struct LocalSubjectAccessReview;

impl Kind for LocalSubjectAccessReview {
    fn resource(&self) -> Resource {
        Resource::namespaced(
            GROUP_VERSION,
            "LocalSubjectAccessReview",
            "localsubjectaccessreviews",
            PACKAGE,
        )
        .verbs(&[Verb::Create])
    }

    fn is_stored(&self) -> bool {
        false
    }
}

impl Rules for LocalSubjectAccessReview {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        access_review::validate_spec(&spec, errors);
        let detail = "must be empty except for namespace";
        access_review::validate_no_metadata(object, &["namespace"], detail, errors);
        let asked = spec.at("resourceAttributes");
        let namespace = asked.at("namespace");
        if asked.is_set() && namespace.str() != object.at("metadata").at("namespace").str() {
            errors.invalid(&namespace, "must match metadata.namespace");
        }
        if spec.at("nonResourceAttributes").is_set() {
            let detail = "disallowed on this kind of request";
            errors.invalid(&spec.at("nonResourceAttributes"), detail);
        }
    }
}
