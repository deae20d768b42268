//! GET of a collection.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/cacher/{cacher,delegator}.go` and
//! `storage/etcd3/store.go`: what is read follows from resource version, match, limit and token
//! ([`Moment`]); it comes from the cache where that knows it, else from the history of the store.

use std::sync::Arc;

use http::{HeaderValue, Response, header};
use orlop_machinery::continue_token::{ContinueToken, list_expired, token_expired};
use orlop_machinery::resource_version::ResourceVersion;
use orlop_machinery::status::Status;
use orlop_storage::tree::Tree;
use orlop_storage::{At, Error, KeyRange, RangeRequest, Revision};

use crate::body::Body;
use crate::cache::{Filter, Item, Scope, View};
use crate::call::Call;
use crate::definition::Definition;
use crate::object::Object;
use crate::options::ListOptions;
use crate::output::Output;
use crate::reads::Reads;
use crate::registry::store_error;
use crate::render::{ListHead, Page, Renderer};

/// At which moment a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Whatever is at hand.
    Any,
    /// Now.
    Latest,
    /// At a revision or later.
    NotOlder(u64),
    /// At a revision.
    Exact(u64),
}

/// What a list is to be.
struct Query {
    moment: Moment,
    /// The first key, where a part was read before.
    start: Option<String>,
    /// The most items; zero is no limit.
    limit: usize,
}

/// What was found, and how much more there is.
struct Found {
    view: View,
    /// How many keys follow those of the view.
    beyond: u64,
    /// Whether the view is of the whole resource.
    is_whole: bool,
}

/// Answers with a list.
pub(crate) async fn list(
    reads: &Reads,
    call: &Call,
    options: &ListOptions,
) -> Result<Response<Body>, Status> {
    let (page, head) = select(reads, call, options).await?;
    respond_with_list(reads, call, page, head).await
}

/// An answer that is a list of these objects.
pub(crate) async fn respond_with_list(
    reads: &Reads,
    call: &Call,
    page: Page,
    head: ListHead,
) -> Result<Response<Body>, Status> {
    let renderer = Renderer::new(call.definition.clone(), call.output, reads.clock.clone());
    Ok(answer(call.output, renderer.list(page, head).await?))
}

/// The objects that are asked for.
pub(crate) async fn select(
    reads: &Reads,
    call: &Call,
    options: &ListOptions,
) -> Result<(Page, ListHead), Status> {
    let definition = &call.definition;
    let namespace = call.info.namespace.as_str();
    let prefix = definition.prefix(namespace);
    let query = Query::new(options, &prefix)?;
    let scope = Scope::new(definition, namespace, &options.field_selector);
    let (labels, fields) = (options.label_selector.clone(), options.field_selector.clone());
    let filter = Filter::new(definition, labels, fields)?;
    let filter = (!filter.is_everything()).then(|| Arc::new(filter));
    let range = query.range(&scope.range(definition));
    let found = find(reads, definition, &query, &range, filter.is_none()).await;
    let found = found.map_err(|error| query.explain(definition, error, &prefix))?;
    let is_whole = found.is_whole;
    let (page, head) = cut(found, &range, filter, &query, &prefix);
    if is_whole && !head.continue_token.is_empty() {
        reads.caches.get(definition).keep(&page.view);
    }
    Ok((page, head))
}

/// An answer that went well.
pub(super) fn answer(output: Output, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let content_type = HeaderValue::from_static(output.format.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// Why nothing was found.
enum Missing {
    Store(Error),
    Cache(Status),
}

impl Query {
    fn new(options: &ListOptions, prefix: &str) -> Result<Query, Status> {
        let version = options.resource_version.as_str();
        let has_version = !matches!(version, "" | "0");
        // The cache shows all of it to whoever takes anything.
        let limit = if version == "0" { 0 } else { options.limit };
        let limit = usize::try_from(limit.max(0)).unwrap_or(usize::MAX);
        if !options.continue_token.is_empty() {
            let token = ContinueToken::decode(&options.continue_token, prefix);
            let token = token
                .map_err(|error| Status::bad_request(format!("invalid continue token: {error}")))?;
            if has_version {
                let message = "specifying resource version is not allowed when using continue";
                return Err(Status::bad_request(message));
            }
            let moment =
                u64::try_from(token.resource_version).map_or(Moment::Latest, Moment::Exact);
            let limit = usize::try_from(options.limit.max(0)).unwrap_or(usize::MAX);
            return Ok(Query { moment, start: Some(token.start_key), limit });
        }
        let number = ResourceVersion::parse_parameter(version).map_err(|errors| {
            let why = errors.to_string();
            Status::bad_request(format!("invalid resource version: {}", why.trim_end()))
        })?;
        let moment = match (options.resource_version_match.as_str(), version) {
            (_, "") => Moment::Latest,
            ("Exact", _) => Moment::Exact(number.number()),
            (_, _) if number.is_zero() => Moment::Any,
            ("", _) if limit > 0 => Moment::Exact(number.number()),
            _ => Moment::NotOlder(number.number()),
        };
        Ok(Query { moment, start: None, limit })
    }

    /// The keys that are left of a range.
    fn range(&self, scope: &KeyRange) -> KeyRange {
        match (&self.start, scope.end()) {
            (Some(start), Some(end)) if start.as_bytes() > scope.start().as_ref() => {
                KeyRange::new(start.clone(), end.clone())
            }
            _ => scope.clone(),
        }
    }

    fn explain(&self, definition: &Definition, missing: Missing, prefix: &str) -> Status {
        match (missing, &self.start) {
            (Missing::Store(Error::Compacted { .. }), Some(start)) => token_expired(start, prefix),
            (Missing::Store(Error::Compacted { .. }), None) => list_expired(),
            (Missing::Store(error), _) => store_error(definition, "list", &error),
            (Missing::Cache(status), _) => status,
        }
    }
}

async fn find(
    reads: &Reads,
    definition: &Arc<Definition>,
    query: &Query,
    range: &KeyRange,
    wants_all: bool,
) -> Result<Found, Missing> {
    let cache = reads.caches.get(definition);
    let view = match query.moment {
        Moment::Any => cache.any().await,
        Moment::NotOlder(revision) => cache.at_least(revision).await,
        Moment::Latest => {
            let Revision(newest) = reads.store.revision().await.map_err(Missing::Store)?;
            cache.at_least(newest).await
        }
        Moment::Exact(revision) => {
            // What is in the future is waited for, as everywhere.
            cache.at_least(revision).await.map_err(Missing::Cache)?;
            match cache.exactly(revision) {
                Some(view) => Ok(view),
                None => {
                    return find_in_history(reads, query, range, (revision, wants_all, definition))
                        .await;
                }
            }
        }
    };
    Ok(Found { view: view.map_err(Missing::Cache)?, beyond: 0, is_whole: true })
}

async fn find_in_history(
    reads: &Reads,
    query: &Query,
    range: &KeyRange,
    (revision, wants_all, definition): (u64, bool, &Definition),
) -> Result<Found, Missing> {
    // Which objects a filter wants is known only when they are here.
    let limit = if wants_all { query.limit } else { 0 };
    let request = RangeRequest::new(range.clone()).at(At::Revision(Revision(revision)));
    let found = reads.store.range(request.limit(limit)).await.map_err(Missing::Store)?;
    let beyond = found.count.saturating_sub(found.records.len() as u64);
    let records = definition.show(found.records).await.map_err(Missing::Cache)?;
    let items = records.into_iter().map(|record| Item(Arc::new(Object::new(record))));
    let view = View { objects: Tree::from_ascending(items), revision };
    Ok(Found { view, beyond, is_whole: false })
}

/// Which part of what was found is shown, and what is said about the rest.
fn cut(
    found: Found,
    range: &KeyRange,
    filter: Option<Arc<Filter>>,
    query: &Query,
    prefix: &str,
) -> (Page, ListHead) {
    let Found { view, beyond, .. } = found;
    let (start, end) = view.places(range);
    let mut page = Page { view, start, end, filter };
    let mut head = ListHead { revision: page.view.revision, ..ListHead::default() };
    if query.limit == 0 {
        return (page, head);
    }
    if let Some(last) = page.place_of(query.limit - 1) {
        page.end = last + 1;
    }
    let left = (end - page.end) as u64 + beyond;
    let last = page.end.checked_sub(1).and_then(|place| page.view.objects.nth(place));
    if let (1.., Some(Item(last))) = (left, last) {
        let version = i64::try_from(head.revision).unwrap_or(i64::MAX);
        let last = String::from_utf8_lossy(last.key());
        // A key of the range starts with its prefix.
        head.continue_token = ContinueToken::after(&last, prefix, version).unwrap_or_default();
        if page.filter.is_none() {
            head.remaining = i64::try_from(left).ok();
        }
    }
    (page, head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moment_follows_from_version_match_and_limit() {
        let check = |version: &str, version_match: &str, limit: i64, moment: Moment| {
            let options = ListOptions {
                resource_version: version.into(),
                resource_version_match: version_match.into(),
                limit,
                ..ListOptions::default()
            };
            assert_eq!(Query::new(&options, "/registry/pods/").ok().unwrap().moment, moment);
        };
        check("", "", 0, Moment::Latest);
        check("", "", 5, Moment::Latest);
        check("0", "", 0, Moment::Any);
        check("0", "", 5, Moment::Any);
        check("7", "", 0, Moment::NotOlder(7));
        check("7", "", 5, Moment::Exact(7));
        check("7", "Exact", 0, Moment::Exact(7));
        check("7", "NotOlderThan", 5, Moment::NotOlder(7));
        check("0", "NotOlderThan", 5, Moment::Any);
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_upstreams_words() {
        let check = |version: &str, token: &str, expect: &str| {
            let options = ListOptions {
                resource_version: version.into(),
                continue_token: token.into(),
                ..ListOptions::default()
            };
            let status = Query::new(&options, "/registry/pods/").err().unwrap();
            assert_eq!((status.code, status.message.as_str()), (400, expect));
        };
        check(
            "x",
            "",
            concat!(
                r#"invalid resource version: resourceVersion: Invalid value: "x": "#,
                r#"strconv.ParseUint: parsing "x": invalid syntax"#
            ),
        );
        check(
            "",
            "!",
            concat!(
                "invalid continue token: continue key is not valid: ",
                "illegal base64 data at input byte 0"
            ),
        );
        let token = ContinueToken::after("/registry/pods/a/b", "/registry/pods/", 7).unwrap();
        check("7", &token, "specifying resource version is not allowed when using continue");
    }
}
