//! In which form a client wants a document.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/negotiation/negotiate.go` and
//! `.../endpoints/discovery/aggregated/negotiation.go`.

use http::header;
use http::request::Parts;
use orlop_machinery::status::Status;

use crate::accept::{self, Clause};
use crate::negotiate::is_for_people;
use crate::output::Format;
use crate::query::Query;

/// What can be asked for, the default first.
pub(super) const ACCEPTED: [&str; 3] =
    ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// The form of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub format: Format,
    pub is_aggregated: bool,
}

/// What parameters of media types may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restriction {
    /// The document itself.
    Plain,
    /// Its aggregated form, and nothing else.
    Aggregated,
}

/// The form that the client wants most of those that there are.
///
/// # Errors
///
/// When it wants none of them.
pub(super) fn negotiate(parts: &Parts, restriction: Restriction) -> Result<Form, Status> {
    let header = accept(parts);
    let form = |format, is_aggregated| Form { format, is_aggregated };
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let is_for_people = is_for_people(&parts.headers, &query);
    if header.is_empty() {
        return Ok(form(pretty(Format::Json, is_for_people), false));
    }
    for clause in accept::clauses(header) {
        let formats = [Format::Json, Format::Yaml, Format::Protobuf];
        let found = formats.into_iter().find(|format| clause.matches(format.content_type()));
        let Some(format) = found.filter(|_| allows(&clause, restriction)) else { continue };
        let is_pretty = clause.parameter("pretty") == Some("1") || is_for_people;
        return Ok(form(pretty(format, is_pretty), restriction == Restriction::Aggregated));
    }
    Err(Status::not_acceptable(&ACCEPTED))
}

/// The header as it came; empty if it did not, or is no text.
pub(super) fn accept(parts: &Parts) -> &str {
    parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn allows(clause: &Clause<'_>, restriction: Restriction) -> bool {
    let is_empty_or = |name: &str, value: &str| {
        clause.parameter(name).is_none_or(|found| found.is_empty() || found == value)
    };
    let kind = ["g", "v", "as"].map(|name| clause.parameter(name));
    let is_wanted = match restriction {
        Restriction::Plain => kind == [None; 3],
        Restriction::Aggregated => {
            kind == [Some("apidiscovery.k8s.io"), Some("v2"), Some("APIGroupDiscoveryList")]
        }
    };
    is_wanted && is_empty_or("stream", "watch") && is_empty_or("sv", "")
}

fn pretty(format: Format, is_pretty: bool) -> Format {
    if is_pretty && format == Format::Json { Format::PrettyJson } else { format }
}
