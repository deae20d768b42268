//! What a list, a watch and a get ask for.
//!
//! After `listOpts` in `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/get.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::field_selector::FieldSelector;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::meta::validate_list_options;
use orlop_machinery::node::Node;
use orlop_machinery::status::Status;
use orlop_machinery::text::quote;
use orlop_machinery::{Str, Value};

use super::refuse;
use crate::definition::Definition;
use crate::query::Query;
use crate::request::RequestInfo;

/// What a list, a watch or a deletion of many asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ListOptions {
    /// Which labels.
    pub label_selector: LabelSelector,
    /// Which fields; only fields that the resource has.
    pub field_selector: FieldSelector,
    /// Whether changes are wanted.
    pub watch: bool,
    /// Whether a watch should be told how far it is.
    pub allow_watch_bookmarks: bool,
    /// The version to read at or to start from, as it came.
    pub resource_version: Str,
    /// How that is meant: empty, `Exact` or `NotOlderThan`.
    pub resource_version_match: Str,
    /// When a list or watch ends.
    pub timeout_seconds: Option<i64>,
    /// The most objects of one page; all when it is not positive.
    pub limit: i64,
    /// Where the page starts.
    pub continue_token: Str,
    /// Whether a watch starts with what is there. Said for a watch from no version or from "0"
    /// too, when the request does not.
    pub send_initial_events: Option<bool>,
    /// Whether the versions that are still kept are wanted. Ours.
    pub history: bool,
}

/// What a get asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GetOptions {
    /// The version to read at, as it came.
    pub resource_version: Str,
    /// How that is meant. Ours: upstream's get knows none.
    pub resource_version_match: Str,
    /// Whether the versions that are still kept are wanted. Ours.
    pub history: bool,
}

/// The parameters of a list that were read, but not judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ListQuery {
    /// Which labels.
    pub label_selector: LabelSelector,
    /// Which fields, whether the resource has them or not.
    pub field_selector: FieldSelector,
    /// Whether changes are wanted.
    pub is_watch: bool,
    timeout_seconds: Option<i64>,
    limit: i64,
}

impl ListOptions {
    /// Reads and judges the parameters of a list, a watch or a deletion of many.
    ///
    /// # Errors
    ///
    /// A bad request or an invalid one, as upstream says it.
    pub(crate) fn parse(
        query: &str,
        info: &RequestInfo,
        definition: &Definition,
    ) -> Result<ListOptions, Status> {
        let query = Query::parse(query);
        let read = ListQuery::parse(&query).map_err(Status::bad_request)?;
        let text = |name: &str| Str::new(query.text(name));
        let mut options = ListOptions {
            label_selector: read.label_selector,
            field_selector: read.field_selector,
            watch: read.is_watch,
            allow_watch_bookmarks: query.truth("allowWatchBookmarks").unwrap_or_default(),
            resource_version: text("resourceVersion"),
            resource_version_match: text("resourceVersionMatch"),
            timeout_seconds: read.timeout_seconds,
            limit: read.limit,
            continue_token: text("continue"),
            send_initial_events: query.truth("sendInitialEvents"),
            history: query.truth("history").unwrap_or_default(),
        };
        options.set_defaults();
        options.validate()?;
        options.check_fields(definition)?;
        options.select_name(info)?;
        // The old paths ask for a watch without the parameter.
        options.watch |= info.verb == "watch";
        Ok(options)
    }

    /// A watch from no version in particular starts with what is there.
    fn set_defaults(&mut self) {
        let is_said = self.send_initial_events.is_some() || !self.resource_version_match.is_empty();
        if self.watch && !is_said && matches!(self.resource_version.as_str(), "" | "0") {
            self.send_initial_events = Some(true);
            self.resource_version_match = Str::const_new("NotOlderThan");
        }
    }

    fn validate(&self) -> Result<(), Status> {
        let mut value = Value::from([
            ("resourceVersion", Value::from(self.resource_version.clone())),
            ("resourceVersionMatch", Value::from(self.resource_version_match.clone())),
            ("continue", Value::from(self.continue_token.clone())),
            ("watch", Value::from(self.watch)),
        ]);
        if let Some(initial) = self.send_initial_events {
            value.set("sendInitialEvents", initial);
        }
        let mut errors = Errors::new();
        validate_list_options(&Node::root(&value), &mut errors);
        refuse("ListOptions", &errors)
    }

    fn check_fields(&self, definition: &Definition) -> Result<(), Status> {
        let fields = self.field_selector.requirements().iter();
        for requirement in fields {
            check_field(definition, &requirement.field).map_err(Status::bad_request)?;
        }
        Ok(())
    }

    /// A name in the path is a selector too, and no other name goes with it.
    fn select_name(&mut self, info: &RequestInfo) -> Result<(), Status> {
        if info.name.is_empty() {
            return Ok(());
        }
        if self.field_selector.is_everything() {
            self.field_selector = FieldSelector::equals("metadata.name", &info.name);
            return Ok(());
        }
        if self.field_selector.requires_exact_match("metadata.name") == Some(info.name.as_str()) {
            return Ok(());
        }
        let message = "fieldSelector metadata.name doesn't match requested name";
        Err(Status::bad_request(message))
    }
}

impl ListQuery {
    /// Reads what can be read wrongly.
    ///
    /// # Errors
    ///
    /// The message of a bad request.
    pub(crate) fn parse(query: &Query<'_>) -> Result<ListQuery, String> {
        let timeout_seconds = query.integer("timeoutSeconds")?;
        let limit = query.integer("limit")?.unwrap_or_default();
        let labels = query.text("labelSelector").parse::<LabelSelector>();
        let fields = query.text("fieldSelector").parse::<FieldSelector>();
        Ok(ListQuery {
            timeout_seconds,
            limit,
            label_selector: labels.map_err(|error| error.to_string())?,
            field_selector: fields.map_err(|error| error.to_string())?,
            is_watch: query.truth("watch").unwrap_or_default(),
        })
    }
}

impl GetOptions {
    /// Reads the parameters of a get.
    ///
    /// # Errors
    ///
    /// When it asks for what is gone, or for a version in a way that makes no sense.
    pub(crate) fn parse(query: &str) -> Result<GetOptions, Status> {
        let query = Query::parse(query);
        refuse_export(&query)?;
        let options = GetOptions {
            resource_version: Str::new(query.text("resourceVersion")),
            resource_version_match: Str::new(query.text("resourceVersionMatch")),
            history: query.truth("history").unwrap_or_default(),
        };
        let value = Value::from([
            ("resourceVersion", options.resource_version.clone()),
            ("resourceVersionMatch", options.resource_version_match.clone()),
        ]);
        let mut errors = Errors::new();
        // The rules of a list hold for the version of a get.
        validate_list_options(&Node::root(&value), &mut errors);
        refuse("GetOptions", &errors)?;
        Ok(options)
    }
}

/// Old clients could ask for an object without what is the cluster's own.
fn refuse_export(query: &Query<'_>) -> Result<(), Status> {
    if query.truth("export") != Some(true) {
        return Ok(());
    }
    let message = "the export parameter, deprecated since v1.14, is no longer supported";
    Err(Status::bad_request(message))
}

/// Whether a selector may name a field of a resource. A kind that has fields of its own is asked
/// in other words, and for its namespace only when it has one.
fn check_field(definition: &Definition, field: &str) -> Result<(), String> {
    let selectable = definition.kind.selectable_names();
    let is_known = match field {
        "metadata.name" => true,
        "metadata.namespace" => selectable.is_empty() || definition.is_namespaced(),
        field => selectable.contains(&field),
    };
    if is_known {
        return Ok(());
    }
    if !selectable.is_empty() {
        return Err(match definition.resource.kind.as_str() {
            "Job" => format!("field label {} not supported for Job", quote(field)),
            kind @ "ResourceSlice" => {
                let version = &definition.api_version;
                format!("field label not supported for {version}, Kind={kind}: {field}")
            }
            _ => format!("field label not supported: {field}"),
        });
    }
    let field = quote(field);
    let known = "only \"metadata.name\", \"metadata.namespace\"";
    Err(format!("{field} is not a known field selector: {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn parse(uri: &str) -> Result<ListOptions, Status> {
        let uri: http::Uri = uri.parse().unwrap();
        let info = RequestInfo::parse(&http::Method::GET, &uri);
        let catalog = Catalog::built_in();
        let definition = catalog.find(&info.group, &info.version, &info.resource).unwrap();
        ListOptions::parse(uri.query().unwrap_or_default(), &info, definition)
    }

    #[track_caller]
    fn refuses(uri: &str, code: u16, message: &str) {
        let status = parse(uri).unwrap_err();
        assert_eq!((status.code, status.message.as_str()), (code, message), "{uri}");
    }

    #[test]
    fn all_parameters_are_read() {
        assert_eq!(parse("/api/v1/pods").unwrap(), ListOptions::default());
        let options = parse(
            "/api/v1/pods?labelSelector=a%3Db&fieldSelector=status.phase%3DRunning&limit=500\
             &continue=abc&timeoutSeconds=10&allowWatchBookmarks=true&unknown=1&history=true",
        );
        let expect = ListOptions {
            label_selector: "a=b".parse().unwrap(),
            field_selector: "status.phase=Running".parse().unwrap(),
            limit: 500,
            continue_token: "abc".into(),
            timeout_seconds: Some(10),
            allow_watch_bookmarks: true,
            history: true,
            ..ListOptions::default()
        };
        assert_eq!(options.unwrap(), expect);
        let exact = parse("/api/v1/pods?resourceVersion=5&resourceVersionMatch=Exact").unwrap();
        assert_eq!(exact.resource_version, "5");
        assert_eq!(exact.resource_version_match, "Exact");
    }

    #[test]
    fn a_watch_from_no_version_starts_with_what_is_there() {
        let check = |query: &str, initial: Option<bool>, version_match: &str| {
            let options = parse(&format!("/api/v1/pods?{query}")).unwrap();
            assert!(options.watch);
            assert_eq!(options.send_initial_events, initial, "{query}");
            assert_eq!(options.resource_version_match, version_match, "{query}");
        };
        check("watch=true", Some(true), "NotOlderThan");
        check("watch=true&resourceVersion=0", Some(true), "NotOlderThan");
        check("watch=true&resourceVersion=5", None, "");
        let said = "watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
        check(said, Some(false), "NotOlderThan");
        let old = parse("/api/v1/watch/pods").unwrap();
        assert!(old.watch && old.send_initial_events.is_none());
    }

    #[test]
    fn what_cannot_be_read_is_a_bad_request() {
        let pods = |query: &str, message: &str| {
            refuses(&format!("/api/v1/pods?{query}"), 400, message);
        };
        pods("limit=x", "strconv.ParseInt: parsing \"x\": invalid syntax");
        pods("timeoutSeconds=1.5", "strconv.ParseInt: parsing \"1.5\": invalid syntax");
        pods("fieldSelector=a", "invalid selector: 'a'; can't understand 'a'");
        pods(
            "labelSelector=a%20b",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        );
    }

    #[test]
    fn what_makes_no_sense_is_invalid() {
        let pods = |query: &str, why: &str| {
            let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {why}");
            refuses(&format!("/api/v1/pods?{query}"), 422, &message);
        };
        pods(
            "resourceVersionMatch=Exact",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless \
             resourceVersion is provided",
        );
        pods(
            "sendInitialEvents=true",
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        );
        pods(
            "watch=1&sendInitialEvents=true",
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting \
             resourceVersionMatch to NotOlderThan",
        );
    }

    #[test]
    fn selectors_name_fields_that_the_resource_has() {
        let fine = |uri: &str| assert!(parse(uri).is_ok(), "{uri}");
        fine("/api/v1/pods?fieldSelector=spec.nodeName%3Da,metadata.namespace%3Db");
        fine("/apis/apps/v1/deployments?fieldSelector=metadata.namespace!%3Da");
        fine("/api/v1/persistentvolumes?fieldSelector=metadata.namespace!%3Da");
        let pods = "/api/v1/pods?fieldSelector=spec.foo%3Da";
        refuses(pods, 400, "field label not supported: spec.foo");
        let nodes = "/api/v1/nodes?fieldSelector=metadata.namespace%3Da";
        refuses(nodes, 400, "field label not supported: metadata.namespace");
        let message = "\"spec.foo\" is not a known field selector: only \"metadata.name\", \
                       \"metadata.namespace\"";
        let deployments = "/apis/apps/v1/deployments?fieldSelector=spec.foo%3Da";
        refuses(deployments, 400, message);
    }

    #[test]
    fn a_name_is_a_selector_too() {
        let options = parse("/api/v1/watch/namespaces/a/pods/b").unwrap();
        assert_eq!(options.field_selector.to_string(), "metadata.name=b");
        let same = "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db,spec.nodeName%3Dc";
        let options = parse(same).unwrap();
        assert_eq!(options.field_selector.to_string(), "metadata.name=b,spec.nodeName=c");
        let other = "/api/v1/watch/namespaces/a/pods/b?fieldSelector=metadata.name%3Dc";
        refuses(other, 400, "fieldSelector metadata.name doesn't match requested name");
    }

    #[test]
    fn a_get_may_ask_for_a_version() {
        let parse = |query: &str| GetOptions::parse(query).map_err(|status| status.message);
        assert_eq!(parse(""), Ok(GetOptions::default()));
        let options = parse("resourceVersion=5&resourceVersionMatch=Exact&history=1").unwrap();
        assert_eq!((options.resource_version.as_str(), options.history), ("5", true));
        assert!(parse("resourceVersionMatch=Exact").is_err());
        assert!(parse("export=false").is_ok());
        let gone = "the export parameter, deprecated since v1.14, is no longer supported";
        assert_eq!(parse("export=true"), Err(gone.to_owned()));
    }
}
