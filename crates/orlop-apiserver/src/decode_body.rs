//! The object in the body of a request.
//!
//! After `limitedReadBody`, `transformDecodeError` and the handlers of
//! `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/rest.go`, and the decoders of
//! `staging/src/k8s.io/apimachinery/pkg/runtime/serializer`. A body is read up to a bound and for
//! a bounded time; reading one costs no more than a small multiple of its length.
//!
//! Kind and version may be left out: the path says them. When they are there they have to fit.

mod mismatch;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt;
use orlop_machinery::group_version::GroupVersion;
use orlop_machinery::schema::{Schema, StructId};
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::strict::{self, FieldValidation, Read, ReadError};
use orlop_machinery::text::quote;
use orlop_machinery::{Str, Value, json, protobuf, yaml};

use crate::body::RequestBody;
use crate::call::Call;
use crate::definition::Definition;
use crate::negotiate::{has_protobuf, negotiate_body};
use crate::options::{delete_options_from_query, validate_delete_options};
use crate::output::Format;

pub(crate) use mismatch::json_type;

/// The longest body.
pub(crate) const BODY_LENGTH_MAX: usize = 3 * 1024 * 1024;
/// How long a client may take to send one.
const BODY_TIME_MAX: Duration = Duration::from_mins(1);
/// How much of a body an error shows.
const SUMMARY_LENGTH: usize = 30;

/// What a body is to be.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The schema that has the struct.
    pub schema: &'a Schema,
    /// The struct.
    pub id: StructId,
    /// Its version, such as `apps/v1`.
    pub api_version: &'a str,
    /// Versions of the same shape that it may say instead.
    pub older_versions: &'a [&'a str],
    /// Its kind.
    pub kind: &'a str,
    /// The resource whose objects it is, if it is one: it forgets and sets what it likes.
    pub definition: Option<&'a Definition>,
    /// Whether it may come as protobuf.
    pub accepts_protobuf: bool,
}

impl<'a> Target<'a> {
    /// An object of a resource.
    pub(crate) fn of(definition: &'a Definition) -> Target<'a> {
        Target {
            schema: &definition.schema,
            id: definition.id,
            api_version: &definition.api_version,
            older_versions: &[],
            kind: &definition.resource.kind,
            definition: Some(definition),
            accepts_protobuf: has_protobuf(definition),
        }
    }
}

/// The object of a resource in the body of a request: in normal form, with defaults.
///
/// # Errors
///
/// When the body is too long, too slow, or no such object.
pub(crate) async fn read_object(
    call: &mut Call,
    definition: &Definition,
    validation: FieldValidation,
) -> Result<Value, Status> {
    read_as(call, &Target::of(definition), validation).await
}

/// An object of any struct in the body of a request.
///
/// # Errors
///
/// When the body is too long, too slow, or no such object.
pub(crate) async fn read_as(
    call: &mut Call,
    target: &Target<'_>,
    validation: FieldValidation,
) -> Result<Value, Status> {
    let format = negotiate_body(&call.parts.headers, target.accepts_protobuf)?;
    let bytes = read_bytes(call, BODY_LENGTH_MAX).await?;
    let read = decode(target, format, &bytes, validation)?;
    for warning in read.warnings {
        call.warnings.add(warning);
    }
    Ok(read.object)
}

/// The options of a delete: from the body when there is one, else from the query.
///
/// # Errors
///
/// When they cannot be read or break rules.
pub(crate) async fn read_delete_options(call: &mut Call) -> Result<Value, Status> {
    let bytes = read_bytes(call, BODY_LENGTH_MAX).await?;
    let mut options = if bytes.is_empty() {
        delete_options_from_query(call.query())?
    } else {
        decode_delete_options(negotiate_body(&call.parts.headers, true)?, &bytes)?
    };
    validate_delete_options(&mut options)?;
    Ok(options)
}

/// The bytes of the body of a request. It can be read once; after that it is empty.
///
/// # Errors
///
/// When it is too long or too slow, or the client goes away.
pub(crate) async fn read_bytes(call: &mut Call, limit: usize) -> Result<Bytes, Status> {
    match call.body.take() {
        None => Ok(Bytes::new()),
        Some(body) => read_to_end(body, limit, BODY_TIME_MAX).await,
    }
}

async fn read_to_end(body: RequestBody, limit: usize, time: Duration) -> Result<Bytes, Status> {
    let too_slow = |_| Status::timeout("request did not complete within the allotted timeout", 0);
    tokio::time::timeout(time, collect(body, limit)).await.map_err(too_slow)?
}

async fn collect(mut body: RequestBody, limit: usize) -> Result<Bytes, Status> {
    let too_large = || Status::request_entity_too_large(&format!("limit is {limit}"));
    // Who says that it will be too long need not send it.
    if usize::try_from(body.size_hint().lower()).map_or(true, |length| length > limit) {
        return Err(too_large());
    }
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let broken =
            |error| Status::failure(500, Reason::Unknown, format!("reading the body: {error}"));
        let Ok(data) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        if first.len() + all.len() + data.len() > limit {
            return Err(too_large());
        }
        // Most bodies come in one piece, which is not copied.
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

/// Reads an object from bytes: in normal form, with kind, version and defaults.
///
/// # Errors
///
/// A bad request, in upstream's words.
pub(crate) fn decode(
    target: &Target<'_>,
    format: Format,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<Read, Status> {
    // What a resource forgets is told together with what its struct does not know.
    let is_pruned = target.definition.is_some_and(|known| !known.kind.has_merge_strategies());
    let first = match validation {
        FieldValidation::Strict if is_pruned => FieldValidation::Warn,
        validation => validation,
    };
    let mut read = match format {
        Format::Json | Format::PrettyJson => decode_json(target, bytes, first)?,
        Format::Yaml => decode_yaml(target, bytes, first)?,
        Format::Protobuf => decode_protobuf(target, bytes)?,
    };
    read.object.set("apiVersion", target.api_version);
    read.object.set("kind", target.kind);
    if let Some(definition) = target.definition {
        if is_pruned {
            prune(target, definition, &mut read, validation)?;
        }
        definition.set_defaults(&mut read.object);
    }
    Ok(read)
}

/// Takes out what a resource does not know, and tells of it as the request wants.
fn prune(
    target: &Target<'_>,
    definition: &Definition,
    read: &mut Read,
    validation: FieldValidation,
) -> Result<(), Status> {
    let version = GroupVersion::parse(target.api_version).unwrap_or_default();
    let refuse =
        |why: &dyn std::fmt::Display| cannot_be_handled(target.kind, &version, target, why);
    let unknown = definition.kind.prune(&mut read.object).map_err(|why| refuse(&why))?;
    if validation == FieldValidation::Ignore {
        return Ok(());
    }
    read.warnings.extend(unknown.iter().map(|path| format!("unknown field {}", quote(path))));
    if validation == FieldValidation::Strict && !read.warnings.is_empty() {
        let findings = read.warnings.join(", ");
        return Err(refuse(&format!("strict decoding error: {findings}")));
    }
    Ok(())
}

/// Whether a value says that it is what it is to be, or says nothing.
///
/// # Errors
///
/// Why it is something else.
pub(crate) fn check_kind(target: &Target<'_>, value: &Value) -> Result<(), String> {
    if let Some(why) = mismatch::describe_type_meta(value) {
        return Err(no_kind(&why));
    }
    let named = Named::new(target, value.at("apiVersion").str(), value.at("kind").str())
        .map_err(|error| error.to_string())?;
    if named.is(target) {
        return Ok(());
    }
    Err(mismatch::explain(&named.version, &named.kind, target))
}

fn decode_json(
    target: &Target<'_>,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<Read, Status> {
    match strict::read_json(target.schema, target.id, bytes, validation) {
        Ok(read) => {
            Named::of(target, bytes, &read.object)?.check(target)?;
            Ok(read)
        }
        Err(ReadError::Json(error)) => Err(unrecognized(target, bytes, &no_kind(&error))),
        // What it says it is comes before what is wrong with it.
        Err(error) => {
            let value = json::parse(bytes).unwrap_or_default();
            let named = Named::of(target, bytes, &value)?;
            named.check(target)?;
            Err(named.refuse(target, &error))
        }
    }
}

fn decode_yaml(
    target: &Target<'_>,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<Read, Status> {
    // Keys that stand twice are for the strict reader to judge.
    let (value, _) =
        yaml::parse_with_duplicates(bytes).map_err(|error| unrecognized(target, bytes, &error))?;
    let named = Named::of(target, bytes, &value)?;
    named.check(target)?;
    strict::read_yaml(target.schema, target.id, bytes, validation)
        .map_err(|error| named.refuse(target, &error))
}

fn decode_protobuf(target: &Target<'_>, bytes: &[u8]) -> Result<Read, Status> {
    let envelope = protobuf::open(bytes).map_err(|error| unrecognized(target, bytes, &error))?;
    let named = Named::new(target, &envelope.api_version, &envelope.kind)
        .map_err(|error| unrecognized(target, bytes, &error))?;
    named.check(target)?;
    let object = protobuf::decode(target.schema, target.id, envelope.raw)
        .map_err(|error| named.refuse(target, &error))?;
    Ok(Read { object, warnings: Vec::new() })
}

fn decode_delete_options(format: Format, bytes: &[u8]) -> Result<Value, Status> {
    let schema = orlop_kinds::schema();
    let name = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
    let id = schema.find(name).expect("every schema has DeleteOptions");
    let bad = |error: &dyn std::fmt::Display| Status::bad_request(error.to_string());
    let validation = FieldValidation::Ignore;
    let (version, kind, object) = match format {
        Format::Protobuf => {
            let envelope = protobuf::open(bytes).map_err(|error| bad(&error))?;
            let object = protobuf::decode(schema, id, envelope.raw).map_err(|error| bad(&error))?;
            (envelope.api_version, envelope.kind, object)
        }
        format => {
            let read = if format == Format::Yaml {
                strict::read_yaml(schema, id, bytes, validation)
            } else {
                strict::read_json(schema, id, bytes, validation)
            };
            let object = match read {
                Ok(read) => read.object,
                Err(ReadError::Json(error)) => return Err(bad(&no_kind(&error))),
                Err(error) => return Err(bad(&error)),
            };
            (Str::new(object.at("apiVersion").str()), Str::new(object.at("kind").str()), object)
        }
    };
    // Any version will do: old clients send that of the object.
    if !matches!(kind.as_str(), "" | "DeleteOptions") {
        return Err(Status::bad_request(mismatch::not_registered(&version, &kind)));
    }
    let mut object = object;
    object.set("apiVersion", "meta.k8s.io/v1");
    object.set("kind", "DeleteOptions");
    Ok(object)
}

/// What a body says it is, completed by what it is to be.
struct Named {
    version: GroupVersion,
    kind: Str,
}

impl Named {
    fn new(
        target: &Target<'_>,
        api_version: &str,
        kind: &str,
    ) -> Result<Named, orlop_machinery::group_version::ParseError> {
        let api_version = if api_version.is_empty() { target.api_version } else { api_version };
        let kind = if kind.is_empty() { target.kind } else { kind };
        Ok(Named { version: GroupVersion::parse(api_version)?, kind: Str::new(kind) })
    }

    fn of(target: &Target<'_>, bytes: &[u8], value: &Value) -> Result<Named, Status> {
        let wrong = mismatch::describe_type_meta(value);
        if let Some(why) = wrong {
            return Err(unrecognized(target, bytes, &no_kind(&why)));
        }
        Named::new(target, value.at("apiVersion").str(), value.at("kind").str())
            .map_err(|error| unrecognized(target, bytes, &error))
    }

    fn is(&self, target: &Target<'_>) -> bool {
        let version = self.version.to_string();
        let fits = version == target.api_version || target.older_versions.contains(&&*version);
        self.kind == target.kind && fits
    }

    fn check(&self, target: &Target<'_>) -> Result<(), Status> {
        if self.is(target) {
            return Ok(());
        }
        Err(mismatch::refuse(&self.version, &self.kind, target))
    }

    fn refuse(&self, target: &Target<'_>, why: &dyn std::fmt::Display) -> Status {
        cannot_be_handled(&self.kind, &self.version, target, why)
    }
}

fn cannot_be_handled(
    kind: &str,
    version: &GroupVersion,
    target: &Target<'_>,
    why: &dyn std::fmt::Display,
) -> Status {
    let (version, wanted) = (quote(&version.version), target.kind);
    Status::bad_request(format!(
        "{kind} in version {version} cannot be handled as a {wanted}: {why}"
    ))
}

/// Nothing is known of what the body is.
fn unrecognized(target: &Target<'_>, bytes: &[u8], why: &dyn std::fmt::Display) -> Status {
    let (kind, summary) = (target.kind, summarize(bytes));
    let message =
        format!("the object provided is unrecognized (must be of type {kind}): {why} ({summary})");
    Status::bad_request(message)
}

fn no_kind(error: &dyn std::fmt::Display) -> String {
    format!("couldn't get version/kind; json parse error: {error}")
}

/// The start of a body: as text when it looks like JSON.
fn summarize(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(SUMMARY_LENGTH)];
    let dots = if bytes.len() > SUMMARY_LENGTH { " ..." } else { "" };
    match bytes.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(start)),
        Some(_) => {
            let hex: String = start.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hex}{dots}")
        }
    }
}

#[cfg(test)]
mod tests;
