//! Why a call has no answer, in the words of upstream's client.
//!
//! Go's texts where clients see them: a user who searches for the message of a broken webhook finds
//! what others have found. `CallError` prints what stands after "conversion webhook for ...
//! failed:".

use std::error::Error;
use std::io;
use std::time::Duration;

use orlop_machinery::status::Status;
use orlop_machinery::text::quote;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
    /// The webhook was not reached, or did not answer.
    #[error("Post {}: {reason}", quote(url))]
    Transport {
        /// What was called.
        url: String,
        /// What happened.
        reason: String,
        /// Whether a connection that was there was lost.
        is_lost: bool,
    },
    /// The connection was lost in the middle of the answer.
    #[error("unexpected error when reading response body. Please retry. Original error: {0}")]
    Body(String),
    /// The answer is larger than it may be.
    #[error("the response body is larger than {max} bytes")]
    TooLarge {
        /// How large it may be.
        max: usize,
    },
    /// The answer does not say what it is.
    #[error("Internal error occurred: mime: no media type")]
    MediaType,
    /// The answer is no success.
    #[error("{status}")]
    Refused {
        /// What it says.
        status: Box<Status>,
        /// When the webhook wants to be called again, if it does.
        retry_after: Option<Duration>,
    },
}

impl CallError {
    pub(super) fn late(url: &str) -> CallError {
        let reason = "context deadline exceeded".to_owned();
        CallError::Transport { url: url.to_owned(), reason, is_lost: false }
    }

    pub(super) fn unreachable(url: &str, reason: impl Into<String>) -> CallError {
        CallError::Transport { url: url.to_owned(), reason: reason.into(), is_lost: false }
    }

    /// A connection that failed while it was used.
    pub(super) fn lost(url: &str, error: &hyper::Error, is_http2: bool) -> CallError {
        let url = url.to_owned();
        if error.is_parse() {
            let reason =
                "net/http: HTTP/1.x transport connection broken: malformed HTTP response".into();
            return CallError::Transport { url, reason, is_lost: false };
        }
        let reason = match reset_in(error) {
            Some(reason) => reason,
            None if is_http2 => "http2: client connection lost",
            None => "EOF",
        };
        CallError::Transport { url, reason: reason.to_owned(), is_lost: true }
    }

    pub(super) fn body(error: &(dyn Error + 'static)) -> CallError {
        CallError::Body(reset_in(error).unwrap_or("unexpected EOF").to_owned())
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self, CallError::Transport { is_lost: true, .. } | CallError::Body(_))
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            CallError::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// What Go says of a connection that the other side has cut, if that is among the causes.
fn reset_in(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    while let Some(cause) = next {
        match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionReset) => return Some("read: connection reset by peer"),
            Some(io::ErrorKind::BrokenPipe) => return Some("write: broken pipe"),
            _ => next = cause.source(),
        }
    }
    None
}
