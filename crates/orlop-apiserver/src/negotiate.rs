//! Which form an answer takes, and which form a body has.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/negotiation/negotiate.go`,
//! `AllowsMediaTypeTransform` in `.../handlers/rest.go`.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use orlop_machinery::kind::Verb;
use orlop_machinery::partial_object_metadata::MetaVersion;
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::table::IncludeObject;

use crate::accept::{self, Clause};
use crate::definition::Definition;
use crate::output::{Format, Output, Shape};
use crate::query::Query;
use crate::request::RequestInfo;

/// The most parameters of a `Content-Type` that are looked at.
const PARAMETERS_MAX: usize = 32;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// What is spoken, in the order in which it is offered.
const MEDIA_TYPES: [&str; 3] = [JSON, YAML, PROTOBUF];
/// The same for watches.
const STREAM_MEDIA_TYPES: [&str; 2] =
    ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/// Subresources that connect a client to somebody else.
const CONNECTED: [&str; 4] = ["attach", "exec", "portforward", "proxy"];

/// The form of the answer to a request for a resource.
///
/// # Errors
///
/// When no form that the client accepts can be given, or a table is asked for in a way that makes
/// no sense.
pub(crate) fn negotiate(
    headers: &HeaderMap,
    query: &str,
    info: &RequestInfo,
    definition: &Definition,
) -> Result<Output, Status> {
    // Whoever the client is connected to decides about the form.
    if CONNECTED.contains(&info.subresource.as_str()) {
        return Ok(Output::JSON);
    }
    let accepts_protobuf = has_protobuf(definition);
    let allows = |media_type: &str, conversion: Option<&Conversion<'_>>| match conversion {
        None => media_type != PROTOBUF || accepts_protobuf,
        Some(conversion) if conversion.kind == "Table" => {
            conversion.is_known(media_type) && has_table(definition)
        }
        Some(conversion) => conversion.is_known(media_type),
    };
    let found = find(headers, allows).ok_or_else(|| Status::not_acceptable(&MEDIA_TYPES))?;
    if info.verb == "watch" && found.media_type == YAML {
        return Err(Status::not_acceptable(&STREAM_MEDIA_TYPES));
    }
    let query = Query::parse(query);
    let shape = match &found.conversion {
        None => Shape::Object,
        Some(conversion) => conversion.shape(&query, info, definition)?,
    };
    Ok(Output { format: format(&found, headers, &query), shape })
}

/// The form of an answer that is no object of a resource, such as a Status; none when nothing that
/// the client accepts can be given.
pub(crate) fn negotiate_plain(headers: &HeaderMap, query: &str) -> Option<Format> {
    let found = find(headers, |_, conversion| conversion.is_none())?;
    Some(format(&found, headers, &Query::parse(query)))
}

/// The form of a body, by its `Content-Type`.
///
/// # Errors
///
/// When it is none that can be read.
pub(crate) fn negotiate_body(
    headers: &HeaderMap,
    accepts_protobuf: bool,
) -> Result<Format, Status> {
    let media_types = if accepts_protobuf { &MEDIA_TYPES[..] } else { &MEDIA_TYPES[..2] };
    let header = headers.get(CONTENT_TYPE).map_or(Ok(""), |value| value.to_str());
    let media_type = match header {
        Ok("") => Some(JSON.to_owned()),
        Ok(header) => parse_media_type(header),
        Err(_) => None,
    };
    let known = media_type.and_then(|media_type| format_of(&media_type));
    known
        .filter(|format| *format != Format::Protobuf || accepts_protobuf)
        .ok_or_else(|| Status::unsupported_media_type(media_types))
}

/// Whether objects of a resource can be rows of a table. Questions cannot: nobody lists them.
fn has_table(definition: &Definition) -> bool {
    definition.resource.verbs.contains(&Verb::List)
}

/// Whether objects of a resource have a form in protobuf.
pub(crate) fn has_protobuf(definition: &Definition) -> bool {
    let info = definition.schema.get(definition.id);
    info.fields.iter().any(|field| field.tag.is_some())
}

/// What was found in an `Accept` header.
struct Found<'a> {
    media_type: &'static str,
    conversion: Option<Conversion<'a>>,
    is_pretty: bool,
}

/// A wish for another form of the object: `;as=Table;g=meta.k8s.io;v=v1`.
#[derive(Default)]
struct Conversion<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
}

impl Conversion<'_> {
    fn meta_version(&self) -> Option<MetaVersion> {
        match (self.group, self.version) {
            ("meta.k8s.io", "v1") => Some(MetaVersion::V1),
            ("meta.k8s.io", "v1beta1") => Some(MetaVersion::V1Beta1),
            _ => None,
        }
    }

    fn is_known(&self, media_type: &str) -> bool {
        let is_known = match self.kind {
            "Table" => media_type != PROTOBUF,
            "PartialObjectMetadata" | "PartialObjectMetadataList" => true,
            _ => false,
        };
        is_known && self.meta_version().is_some()
    }

    fn shape(
        &self,
        query: &Query<'_>,
        info: &RequestInfo,
        definition: &Definition,
    ) -> Result<Shape, Status> {
        let version = self.meta_version().unwrap_or(MetaVersion::V1);
        if self.kind == "Table" {
            let include = IncludeObject::parse(query.text("includeObject"));
            return Ok(Shape::Table(version, include.map_err(Status::bad_request)?));
        }
        let is_list = matches!(info.verb, "list" | "deletecollection");
        let wants_list = self.kind == "PartialObjectMetadataList";
        if is_list == wants_list {
            return Ok(Shape::Metadata(version));
        }
        let package = match definition.resource.group.split('.').next() {
            None | Some("") => "core",
            Some(package) => package,
        };
        let (kind, wanted) = (&definition.resource.kind, self.kind);
        let message = if is_list {
            format!(
                "you requested {wanted}, but the requested object is a list (*{package}.{kind}List)"
            )
        } else {
            format!(
                "you requested {wanted}, but the requested object is not a list (*{package}.{kind})"
            )
        };
        Err(Status::failure(406, Reason::NotAcceptable, message))
    }
}

/// The first thing that the client accepts and that may be given.
fn find(
    headers: &HeaderMap,
    allows: impl Fn(&str, Option<&Conversion<'_>>) -> bool,
) -> Option<Found<'_>> {
    let header = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if header.is_empty() {
        return Some(Found { media_type: JSON, conversion: None, is_pretty: false });
    }
    accept::clauses(header).iter().find_map(|clause| {
        let types = MEDIA_TYPES.iter().filter(|media_type| clause.matches(media_type));
        types.copied().find_map(|media_type| accept(clause, media_type, &allows))
    })
}

/// What is given for a clause if it is given in this media type.
fn accept<'a>(
    clause: &Clause<'a>,
    media_type: &'static str,
    allows: &impl Fn(&str, Option<&Conversion<'_>>) -> bool,
) -> Option<Found<'a>> {
    let mut conversion: Option<Conversion<'a>> = None;
    let mut is_pretty = false;
    for (name, value) in &clause.parameters {
        match *name {
            "as" => conversion.get_or_insert_default().kind = value,
            "g" => conversion.get_or_insert_default().group = value,
            "v" => conversion.get_or_insert_default().version = value,
            "pretty" => is_pretty = *value == "1",
            "stream" if media_type == YAML || *value != "watch" => return None,
            "sv" if *value != "v1" => return None,
            _ => {}
        }
    }
    let is_allowed = allows(media_type, conversion.as_ref());
    is_allowed.then_some(Found { media_type, conversion, is_pretty })
}

/// People get JSON that they can read.
fn format(found: &Found<'_>, headers: &HeaderMap, query: &Query<'_>) -> Format {
    match format_of(found.media_type).unwrap_or(Format::Json) {
        Format::Json if found.is_pretty || is_for_people(headers, query) => Format::PrettyJson,
        format => format,
    }
}

/// Whether a person reads: the query says so, or the program is one that people use.
pub(crate) fn is_for_people(headers: &HeaderMap, query: &Query<'_>) -> bool {
    let wish = query.text("pretty");
    if !wish.is_empty() {
        return matches!(wish, "1" | "t" | "T" | "true" | "TRUE" | "True");
    }
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"].iter().any(|known| agent.starts_with(known))
}

fn format_of(media_type: &str) -> Option<Format> {
    match media_type {
        JSON => Some(Format::Json),
        YAML => Some(Format::Yaml),
        PROTOBUF => Some(Format::Protobuf),
        _ => None,
    }
}

/// The type of a `Content-Type` in lower case; none when Go's `mime.ParseMediaType` refuses it.
fn parse_media_type(header: &str) -> Option<String> {
    let (media_type, parameters) = header.split_once(';').unwrap_or((header, ""));
    let mut names: Vec<String> = Vec::new();
    for parameter in parameters.split(';').map(str::trim).filter(|text| !text.is_empty()) {
        let (name, value) = parameter.split_once('=')?;
        let name = name.trim().to_ascii_lowercase();
        let is_quoted = value.len() >= 2 && value.starts_with('"') && value.ends_with('"');
        if !is_token(&name) || !(is_quoted || is_token(value)) || names.contains(&name) {
            return None;
        }
        names.push(name);
        if names.len() > PARAMETERS_MAX {
            return None;
        }
    }
    Some(media_type.trim().to_ascii_lowercase())
}

fn is_token(text: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte);
    !text.is_empty() && text.bytes().all(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use http::{HeaderName, HeaderValue, Method};

    fn headers(of: &[(HeaderName, &str)]) -> HeaderMap {
        let pairs =
            of.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        pairs.collect()
    }

    fn ask(uri: &str, of: &[(HeaderName, &str)]) -> Result<Output, Status> {
        let uri: http::Uri = uri.parse().unwrap();
        let info = RequestInfo::parse(&Method::GET, &uri);
        let catalog = Catalog::built_in();
        let definition = catalog.find(&info.group, &info.version, &info.resource).unwrap();
        negotiate(&headers(of), uri.query().unwrap_or_default(), &info, definition)
    }

    #[track_caller]
    fn check(uri: &str, accept: &str, expect: &str) {
        let shown = match ask(uri, &[(ACCEPT, accept)]) {
            Ok(output) => format!("{:?} {:?}", output.format, output.shape),
            Err(status) => format!("{} {status}", status.code),
        };
        assert_eq!(shown, expect, "{uri} {accept}");
    }

    const PODS: &str = "/api/v1/pods";
    const POD: &str = "/api/v1/namespaces/a/pods/b";
    const NONE: &str = "406 only the following media types are accepted: application/json, \
                        application/yaml, application/vnd.kubernetes.protobuf";

    #[test]
    fn the_first_known_type_is_taken() {
        check(PODS, "", "Json Object");
        check(PODS, "*/*", "Json Object");
        check(PODS, "*", "Json Object");
        check(PODS, "application/*", "Json Object");
        check(PODS, "application/json", "Json Object");
        check(PODS, "application/yaml", "Yaml Object");
        check(PODS, "application/vnd.kubernetes.protobuf", "Protobuf Object");
        check(PODS, "application/vnd.kubernetes.protobuf,application/json", "Protobuf Object");
        check(PODS, "text/html, application/yaml", "Yaml Object");
        check(
            PODS,
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Json Object",
        );
        check(PODS, "application/json;q=0.5, application/yaml", "Yaml Object");
        check(PODS, "application/json;pretty=1", "PrettyJson Object");
        check(PODS, "application/json;charset=utf-8", "Json Object");
        check(PODS, "text/plain", NONE);
        check(PODS, "application/json/x", NONE);
        check(PODS, ",;=,", NONE);
        check(PODS, "application/JSON", NONE);
    }

    #[test]
    fn objects_come_in_other_shapes() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        check(PODS, table, "Json Table(V1, Metadata)");
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,\
                       application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        check(PODS, kubectl, "Json Table(V1, Metadata)");
        check(POD, kubectl, "Json Table(V1, Metadata)");
        let object = format!("{PODS}?includeObject=Object");
        check(&object, table, "Json Table(V1, Object)");
        let old = "application/json;as=Table;v=v1beta1;g=meta.k8s.io";
        check(PODS, old, "Json Table(V1Beta1, Metadata)");
        let unknown = "application/json;as=Chair;v=v1;g=meta.k8s.io";
        check(PODS, unknown, NONE);
        check(PODS, &format!("{unknown},application/json"), "Json Object");
        check(PODS, "application/json;as=Table;v=v2;g=meta.k8s.io", NONE);
        check(PODS, "application/json;as=Table;v=v1;g=x", NONE);
        check(PODS, "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io", NONE);
        let wrong = format!("{PODS}?includeObject=All");
        let message = "400 Unable to convert to Table as requested: includeObject: Invalid value: \
                       \"All\": must be 'Metadata', 'Object', 'None', or empty";
        check(&wrong, table, message);
    }

    #[test]
    fn metadata_alone_is_asked_for_by_its_own_name() {
        let accept = |kind: &str| {
            format!("application/vnd.kubernetes.protobuf;as={kind};g=meta.k8s.io;v=v1")
        };
        let (one, list) = (accept("PartialObjectMetadata"), accept("PartialObjectMetadataList"));
        check(PODS, &list, "Protobuf Metadata(V1)");
        check(POD, &one, "Protobuf Metadata(V1)");
        let watch = format!("{PODS}?watch=1");
        check(&watch, &one, "Protobuf Metadata(V1)");
        let message = "406 you requested PartialObjectMetadata, but the requested object is a \
                       list (*core.PodList)";
        check(PODS, &one, message);
        let message = "406 you requested PartialObjectMetadataList, but the requested object is \
                       not a list (*core.Pod)";
        check(POD, &list, message);
    }

    #[test]
    fn a_watch_is_a_stream() {
        let watch = format!("{PODS}?watch=1");
        check(&watch, "application/json;stream=watch", "Json Object");
        check(&watch, "application/vnd.kubernetes.protobuf;stream=watch", "Protobuf Object");
        let message = "406 only the following media types are accepted: \
                       application/json;stream=watch, \
                       application/vnd.kubernetes.protobuf;stream=watch";
        check(&watch, "application/yaml", message);
        check(&watch, "application/yaml;stream=watch", NONE);
        check(&watch, "application/json;stream=other", NONE);
    }

    #[test]
    fn people_get_pretty_json() {
        let check = |agent: &str, query: &str, expect: Format| {
            let uri = format!("{PODS}{query}");
            let output = ask(&uri, &[(USER_AGENT, agent)]).unwrap();
            assert_eq!(output.format, expect, "{agent} {query}");
        };
        check("kubectl/v1.36", "", Format::Json);
        check("curl/8.0", "", Format::PrettyJson);
        check("Wget/1.2", "", Format::PrettyJson);
        check("Mozilla/5.0 (X11)", "", Format::PrettyJson);
        check("curl/8.0", "?pretty=false", Format::Json);
        check("curl/8.0", "?pretty=", Format::PrettyJson);
        check("kubectl", "?pretty=true", Format::PrettyJson);
        check("kubectl", "?pretty=yes", Format::Json);
    }

    #[test]
    fn the_type_of_a_body_is_one_that_can_be_read() {
        let check = |content_type: &str, expect: &str| {
            let shown = match negotiate_body(&headers(&[(CONTENT_TYPE, content_type)]), true) {
                Ok(format) => format!("{format:?}"),
                Err(status) => format!("{} {status}", status.code),
            };
            assert_eq!(shown, expect, "{content_type}");
        };
        check("", "Json");
        check("application/json", "Json");
        check("Application/JSON; charset=\"utf-8\"", "Json");
        check("application/yaml", "Yaml");
        check("application/vnd.kubernetes.protobuf", "Protobuf");
        let none = "415 the body of the request was in an unknown format - accepted media types \
                    include: application/json, application/yaml, \
                    application/vnd.kubernetes.protobuf";
        for bad in ["text/plain", "application/json; a", "application/json;a=1;a=2", "*/*"] {
            check(bad, none);
        }
        let status = negotiate_body(&headers(&[(CONTENT_TYPE, PROTOBUF)]), false).unwrap_err();
        assert!(status.message.ends_with("application/json, application/yaml"), "{status}");
    }
}
