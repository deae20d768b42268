//! How a request ended: the Status object, and every error that the API answers with.
//!
//! Reasons, codes and texts after `staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go`,
//! `.../pkg/apis/meta/v1/types.go` and, for media types and versions of the store,
//! `staging/src/k8s.io/apiserver/pkg`. A status is an error in Rust too: it prints its message.

mod answer;
mod cause;
mod failure;
mod invalid;
mod object;
mod reason;

use std::fmt;

pub use answer::ServerAnswer;
pub use cause::{Cause, cause_reason};
pub use failure::OPTIMISTIC_LOCK;
pub use invalid::aggregate;
pub use reason::Reason;

use crate::value::{Map, Str};

/// How a request ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Of a list, when the status stands for one; nearly always empty.
    pub metadata: Map,
    /// Whether it went well.
    pub outcome: Outcome,
    /// For people.
    pub message: String,
    /// For programs.
    pub reason: Reason,
    /// What it is about.
    pub details: Option<Box<Details>>,
    /// The HTTP status; 0 when it was not said.
    pub code: u16,
}

/// Whether a request went well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It did.
    Success,
    /// It did not.
    #[default]
    Failure,
}

/// What a status is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The name of the object.
    pub name: Str,
    /// The group of the resource.
    pub group: Str,
    /// The resource; of invalid objects, the kind.
    pub kind: Str,
    /// The uid of the object.
    pub uid: Str,
    /// Each thing that was wrong, in order.
    pub causes: Vec<Cause>,
    /// When to try again; 0 when it was not said.
    pub retry_after_seconds: i32,
}

impl Status {
    /// The HTTP status, also when it was not said.
    #[must_use]
    pub fn code(&self) -> u16 {
        match (self.code, self.outcome) {
            (0, Outcome::Success) => 200,
            (0, Outcome::Failure) => 500,
            (code, _) => code,
        }
    }

    /// Whether it has this reason, or, when it has none that is known, the code that stands for it.
    #[must_use]
    pub fn is(&self, reason: &Reason) -> bool {
        if self.reason == *reason {
            return true;
        }
        // These two always counted by their code too.
        let counts_by_code =
            matches!(reason, Reason::TooManyRequests | Reason::RequestEntityTooLarge);
        let stands_for = reason.stands_for();
        let is_said = self.reason.is_known() && !counts_by_code;
        !is_said && stands_for.is_some_and(|code| code == self.code)
    }

    /// The first cause with this reason.
    #[must_use]
    pub fn cause(&self, reason: &str) -> Option<&Cause> {
        self.details.as_ref()?.causes.iter().find(|cause| cause.reason == reason)
    }

    /// How long to wait before trying again, when it says so.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<i32> {
        let seconds = self.details.as_ref()?.retry_after_seconds;
        (self.reason == Reason::ServerTimeout || seconds > 0).then_some(seconds)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Status {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_was_not_said_follows_from_the_outcome() {
        let check = |code: u16, outcome: Outcome, expect: u16| {
            assert_eq!(Status { code, outcome, ..Status::default() }.code(), expect);
        };
        check(0, Outcome::Success, 200);
        check(0, Outcome::Failure, 500);
        check(404, Outcome::Failure, 404);
    }

    #[test]
    fn an_unknown_reason_is_judged_by_its_code() {
        let status = |reason: Reason, code: u16| Status { reason, code, ..Status::default() };
        assert!(status(Reason::NotFound, 0).is(&Reason::NotFound));
        assert!(status(Reason::Unknown, 404).is(&Reason::NotFound));
        assert!(status(Reason::Other("X".into()), 404).is(&Reason::NotFound));
        assert!(!status(Reason::Gone, 404).is(&Reason::NotFound));
        assert!(!status(Reason::Unknown, 409).is(&Reason::AlreadyExists));
        assert!(status(Reason::Unknown, 409).is(&Reason::Conflict));
        assert!(!status(Reason::Unknown, 500).is(&Reason::ServerTimeout));
        assert!(status(Reason::Unknown, 500).is(&Reason::InternalError));
        assert!(status(Reason::Gone, 429).is(&Reason::TooManyRequests));
        assert!(!status(Reason::Unknown, 0).is(&Reason::StoreReadError));
    }

    #[test]
    fn a_server_timeout_always_says_when_to_try_again() {
        let check = |reason: Reason, seconds: i32, expect: Option<i32>| {
            let details = Details { retry_after_seconds: seconds, ..Details::default() };
            let status = Status { reason, details: Some(Box::new(details)), ..Status::default() };
            assert_eq!(status.retry_after_seconds(), expect);
        };
        check(Reason::ServerTimeout, 0, Some(0));
        check(Reason::Timeout, 0, None);
        check(Reason::Timeout, 3, Some(3));
        assert_eq!(Status::default().retry_after_seconds(), None);
    }
}
