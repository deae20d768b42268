//! Why a request failed, for programs.

use crate::value::Str;

/// Why a request failed. Each reason belongs to one HTTP status; not the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Not said.
    #[default]
    Unknown,
    /// Nobody knows who asks.
    Unauthorized,
    /// Who asks may not.
    Forbidden,
    /// There is no such object or resource.
    NotFound,
    /// There is such an object already.
    AlreadyExists,
    /// The object is not as the request expects it.
    Conflict,
    /// It was there and never will be again.
    Gone,
    /// The object breaks a rule.
    Invalid,
    /// The server could not do it now.
    ServerTimeout,
    /// The store has something that cannot be read.
    StoreReadError,
    /// It took too long; it may happen still.
    Timeout,
    /// Too many requests.
    TooManyRequests,
    /// The request makes no sense.
    BadRequest,
    /// The resource cannot do that.
    MethodNotAllowed,
    /// No format that the client accepts can be written.
    NotAcceptable,
    /// The body is too large.
    RequestEntityTooLarge,
    /// The format of the body cannot be read.
    UnsupportedMediaType,
    /// The server has a fault.
    InternalError,
    /// What was asked for is too old.
    Expired,
    /// The server is not up.
    ServiceUnavailable,
    /// What somebody else has thought of.
    Other(Str),
}

/// Every known reason with its text, and with the HTTP status that stands for it when a status has
/// no known reason.
const KNOWN: [(Reason, &str, Option<u16>); 19] = [
    (Reason::Unauthorized, "Unauthorized", Some(401)),
    (Reason::Forbidden, "Forbidden", Some(403)),
    (Reason::NotFound, "NotFound", Some(404)),
    (Reason::AlreadyExists, "AlreadyExists", None),
    (Reason::Conflict, "Conflict", Some(409)),
    (Reason::Gone, "Gone", Some(410)),
    (Reason::Invalid, "Invalid", Some(422)),
    (Reason::ServerTimeout, "ServerTimeout", None),
    (Reason::StoreReadError, "StorageReadError", None),
    (Reason::Timeout, "Timeout", Some(504)),
    (Reason::TooManyRequests, "TooManyRequests", Some(429)),
    (Reason::BadRequest, "BadRequest", Some(400)),
    (Reason::MethodNotAllowed, "MethodNotAllowed", Some(405)),
    (Reason::NotAcceptable, "NotAcceptable", Some(406)),
    (Reason::RequestEntityTooLarge, "RequestEntityTooLarge", Some(413)),
    (Reason::UnsupportedMediaType, "UnsupportedMediaType", Some(415)),
    (Reason::InternalError, "InternalError", Some(500)),
    (Reason::Expired, "Expired", None),
    (Reason::ServiceUnavailable, "ServiceUnavailable", Some(503)),
];

impl Reason {
    /// Reads the text of a reason.
    #[must_use]
    pub fn parse(text: &str) -> Reason {
        if text.is_empty() {
            return Reason::Unknown;
        }
        let found = KNOWN.iter().find(|(_, known, _)| *known == text);
        found.map_or_else(|| Reason::Other(Str::new(text)), |(reason, ..)| reason.clone())
    }

    /// Its text; empty when it was not said.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Reason::Unknown => "",
            Reason::Other(text) => text,
            reason => KNOWN.iter().find(|(known, ..)| known == reason).map_or("", |known| known.1),
        }
    }

    /// Whether it is one of upstream's.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !matches!(self, Reason::Unknown | Reason::Other(_))
    }

    /// The HTTP status that means this reason by itself.
    pub(super) fn stands_for(&self) -> Option<u16> {
        KNOWN.iter().find(|(known, ..)| known == self).and_then(|known| known.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_reads_as_it_prints() {
        for (reason, text, _) in &KNOWN {
            assert_eq!(reason.as_str(), *text);
            assert_eq!(Reason::parse(text), *reason);
            assert!(reason.is_known());
        }
        assert_eq!(Reason::parse(""), Reason::Unknown);
        assert_eq!(Reason::parse("Mine"), Reason::Other("Mine".into()));
        assert_eq!(Reason::parse("Mine").as_str(), "Mine");
        assert!(!Reason::parse("Mine").is_known() && !Reason::Unknown.is_known());
    }
}
