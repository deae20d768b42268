//! Following a collection.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/{get,watch}.go` and
//! `storage/cacher/cacher.go`. What a watch starts with follows from resource version and
//! `sendInitialEvents` ([`Start`]). Once the options are valid, whatever goes wrong is an event of
//! type ERROR.

mod stream;
mod websocket;

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Response, header};
use orlop_machinery::resource_version::ResourceVersion;
use orlop_machinery::status::{Reason, Status};
use orlop_storage::{Error, Revision};

use self::stream::{Phase, Times, WatchStream};
use crate::body::Body;
use crate::cache::{Cache, CatchUp, Filter, Scope, Wish, too_old};
use crate::call::Call;
use crate::definition::Definition;
use crate::options::ListOptions;
use crate::output::Format;
use crate::reads::Reads;
use crate::registry::store_error;
use crate::render::Renderer;

/// The shortest life of a watch whose client does not say; the longest is twice this.
const LIFE_MIN: Duration = Duration::from_secs(30 * 60);

/// What a watch starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// The objects as they are, at this revision or later; none is now.
    State(Option<u64>),
    /// What happens after a revision; none is now.
    After(Option<u64>),
}

/// Answers with a stream of events.
pub(crate) async fn watch(
    reads: &Reads,
    call: &Call,
    options: &ListOptions,
) -> Result<Response<Body>, Status> {
    let definition = &call.definition;
    let start = Start::new(options)?;
    let scope = Scope::new(definition, &call.info.namespace, &options.field_selector);
    let (labels, fields) = (options.label_selector.clone(), options.field_selector.clone());
    let filter = Arc::new(Filter::new(definition, labels, fields)?);
    let wish = Wish { scope, filter };
    let cache = reads.caches.get(definition);
    // Nothing can be followed before there is something.
    cache.any().await?;
    let phase = match begin(reads, definition, &cache, &wish, start).await {
        Ok(phase) => phase,
        Err(status) => Phase::Failed(status),
    };
    let renderer = Renderer::new(definition.clone(), call.output, reads.clock.clone());
    let times = Times::new(life(options), options.allow_watch_bookmarks);
    let ends_initial = matches!(start, Start::State(_)) && options.allow_watch_bookmarks;
    let sent = reads.metrics.watch_events(definition);
    let stream = WatchStream {
        renderer,
        cache,
        wish,
        phase,
        times,
        sent,
        ends_initial,
        is_first: true,
        told: 0,
    };
    if websocket::is_wanted(&call.parts) {
        return Ok(websocket::accept(&call.parts, stream, call.output.format));
    }
    let mut response = Response::new(Body::stream(stream));
    let content_type = HeaderValue::from_static(match call.output.format {
        Format::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        Format::Json | Format::PrettyJson | Format::Yaml => "application/json",
    });
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    Ok(response)
}

impl Start {
    fn new(options: &ListOptions) -> Result<Start, Status> {
        let version = options.resource_version.as_str();
        let number = ResourceVersion::parse_parameter(version);
        // Upstream takes this for its own fault.
        let number = number.map_err(|errors| {
            Status::failure(500, Reason::Unknown, errors.to_string().trim_end())
        })?;
        let is_legacy = matches!(version, "" | "0") && options.resource_version_match.is_empty();
        let not_older = (!version.is_empty()).then_some(number.number());
        Ok(match options.send_initial_events {
            Some(true) => Start::State(not_older),
            None if is_legacy => Start::State(not_older),
            Some(false) if number.is_zero() => Start::After(not_older),
            Some(false) | None => Start::After(Some(number.number())),
        })
    }
}

/// Finds where the watch starts.
async fn begin(
    reads: &Reads,
    definition: &Definition,
    cache: &Arc<Cache>,
    wish: &Wish,
    start: Start,
) -> Result<Phase, Status> {
    let newest = async || {
        let newest = reads.store.revision().await;
        newest
            .map(|Revision(newest)| newest)
            .map_err(|error| store_error(definition, "watch", &error))
    };
    let after = match start {
        Start::State(not_older) => {
            let not_older = match not_older {
                Some(revision) => revision,
                None => newest().await?,
            };
            cache.at_least(not_older).await?;
            let (view, subscription) = cache.watch_with_state(wish);
            return Ok(Phase::state(view, &wish.scope.range(definition), subscription));
        }
        Start::After(Some(0)) => cache.any().await?.revision,
        Start::After(Some(revision)) => revision,
        Start::After(None) => newest().await?,
    };
    if let Ok(subscription) = cache.watch_after(wish, after) {
        return Ok(Phase::Following(subscription));
    }
    let range = wish.scope.range(definition);
    match CatchUp::start(cache, wish, range, after).await {
        Ok(catch_up) => Ok(Phase::CatchingUp(catch_up)),
        Err(Error::Compacted { oldest }) => Err(too_old(after, oldest.0)),
        Err(error) => Err(store_error(definition, "watch", &error)),
    }
}

/// How long a watch lives.
fn life(options: &ListOptions) -> Duration {
    let wanted = options.timeout_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    match wanted {
        Some(seconds @ 1..) => Duration::from_secs(seconds),
        _ => {
            let mut random = [0; 4];
            // Without randomness all watches of a moment end at one moment; nothing is wrong.
            let _ = getrandom::fill(&mut random);
            let part = f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX);
            LIFE_MIN.mul_f64(1.0 + part)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_follows_from_the_version_and_initial_events() {
        let check = |version: &str, initial: Option<bool>, expect: Start| {
            let options = ListOptions {
                resource_version: version.into(),
                send_initial_events: initial,
                ..ListOptions::default()
            };
            assert_eq!(Start::new(&options), Ok(expect), "{version} {initial:?}");
        };
        check("", None, Start::State(None));
        check("0", None, Start::State(Some(0)));
        check("7", None, Start::After(Some(7)));
        check("", Some(true), Start::State(None));
        check("0", Some(true), Start::State(Some(0)));
        check("7", Some(true), Start::State(Some(7)));
        check("", Some(false), Start::After(None));
        check("0", Some(false), Start::After(Some(0)));
        check("7", Some(false), Start::After(Some(7)));
    }

    #[test]
    fn a_watch_lives_as_long_as_its_client_says_or_half_an_hour_and_more() {
        let check = |timeout_seconds: Option<i64>| {
            life(&ListOptions { timeout_seconds, ..ListOptions::default() })
        };
        assert_eq!(check(Some(5)), Duration::from_secs(5));
        for timeout in [None, Some(0), Some(-1)] {
            assert!((LIFE_MIN..=LIFE_MIN * 2).contains(&check(timeout)));
        }
    }
}
