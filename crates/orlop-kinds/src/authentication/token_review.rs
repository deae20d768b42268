//! TokenReview: whose token is this.
//!
//! It is answered and not kept; `pkg/registry/authentication/tokenreview`.

use orlop_machinery::kind::{Kind, Resource, Rules, Verb};

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: TokenReview = TokenReview;

/// The kind.
pub(crate) struct TokenReview;

impl Kind for TokenReview {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "TokenReview", "tokenreviews", PACKAGE)
            .verbs(&[Verb::Create])
    }

    fn is_stored(&self) -> bool {
        false
    }
}

impl Rules for TokenReview {}
