//! What the server counts and measures, under upstream's names.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/metrics/metrics.go`. A request costs one look
//! into a map of `Series` and some additions to atomic numbers; nothing is
//! locked for longer than that look, and text is made when somebody asks for it.
//!
//! Labels are bounded: resources are those of the catalog, and verbs, paths and values of `dryRun`
//! that nobody knows become one word each, so that no client can make the server remember what it
//! invents. The text form is Prometheus' 0.0.4, written here: the common library writes
//! OpenMetrics, which has other names for counters.
//!
//! Not here: `apiserver_request_slo_duration_seconds` (deprecated upstream) and whatever upstream
//! measures of Go's runtime.

mod conversion;
mod label_hasher;
mod labels;
mod process;
mod series;
mod store;
mod text;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use http::request::Parts;
use orlop_machinery::Str;

use crate::definition::Definition;
use crate::request::RequestInfo;
use crate::version::Version;

pub(crate) use conversion::ConversionFailure;
pub use conversion::ConversionTimes;
pub(crate) use store::{Operation, StoreTimes};

use label_hasher::LabelHashes;
use labels::Labels;
use series::{Histogram, Series, WATCH_EVENT_SIZES};

/// The `Content-Type` of [`Metrics::encode`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Everything that is counted and measured.
///
/// ```
/// use orlop_apiserver::metrics::{Metrics, Snapshot};
/// use orlop_apiserver::{RequestInfo, Version};
///
/// let metrics = Metrics::new(Version::of_build());
/// let info = RequestInfo { path: "/healthz".into(), verb: "get", ..RequestInfo::default() };
/// let (parts, ()) = http::Request::new(()).into_parts();
/// let mut request = metrics.request(&info, &parts, None);
/// request.answer(200);
/// request.add_bytes(2);
/// drop(request);
/// let text = metrics.encode(&Snapshot::default());
/// assert!(text.contains(r#"subresource="/healthz",verb="GET",version=""} 1"#));
/// ```
pub struct Metrics {
    version: Version,
    requests: SharedMap<Labels, Series>,
    watches: SharedMap<Resource, WatchEvents>,
    deprecated: RwLock<HashMap<(Resource, Str), &'static str>>,
    executing: [HighWater; 2],
    store: Arc<StoreTimes>,
    conversions: Arc<ConversionTimes>,
    /// Connections that came to nothing because of TLS.
    pub tls_handshake_errors: Counter,
    /// Requests that ended in a panic.
    pub panics: Counter,
}

/// Numbers by labels.
type SharedMap<K, V> = RwLock<HashMap<K, Arc<V>, LabelHashes>>;

/// Group, version and plural.
type Resource = (Str, Str, Str);

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

/// Which limit of requests in flight a request counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// It changes something.
    Mutating,
    /// It only reads.
    ReadOnly,
}

/// A number that goes up and down, and the most it has been since somebody asked.
#[derive(Debug, Default)]
struct HighWater {
    now: AtomicI64,
    most: AtomicI64,
}

/// A request on its way. What is known of its answer is recorded when this is dropped, so whoever
/// sends the answer's body keeps it until the end.
#[must_use = "the request is over when this is dropped"]
pub struct InFlight {
    series: Arc<Series>,
    start: Instant,
    code: u16,
    bytes: u64,
    is_long_running: bool,
}

/// A request that counts against a limit, until this is dropped.
#[must_use = "the request does not count any more when this is dropped"]
pub struct Executing<'a>(&'a HighWater);

/// The events that went to watchers of one resource.
pub struct WatchEvents {
    sizes: Histogram,
}

/// What is only known when somebody asks.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// How many objects of each resource are stored: group, plural, number.
    pub objects: Vec<(Str, Str, i64)>,
    /// How large the store's files are, in bytes.
    pub storage_size: Option<u64>,
}

impl Metrics {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(version: Version) -> Metrics {
        Metrics {
            version,
            requests: RwLock::default(),
            watches: RwLock::default(),
            deprecated: RwLock::default(),
            executing: Default::default(),
            store: Arc::default(),
            conversions: Arc::default(),
            tls_handshake_errors: Counter::default(),
            panics: Counter::default(),
        }
    }

    /// Tells how long a store takes too.
    pub(crate) fn with_store(self, store: Arc<StoreTimes>) -> Metrics {
        Metrics { store, ..self }
    }

    /// Notes that a request has come. `definition` is what it is about, if that is served.
    pub fn request(
        &self,
        info: &RequestInfo,
        parts: &Parts,
        definition: Option<&Definition>,
    ) -> InFlight {
        let start = Instant::now();
        let labels = Labels::new(info, parts, definition);
        let is_long_running = labels.is_long_running();
        let series = find(&self.requests, labels, Series::default);
        if is_long_running {
            series.long_running.fetch_add(1, Ordering::Relaxed);
        }
        InFlight { series, start, code: 0, bytes: 0, is_long_running }
    }

    /// Notes that a request counts against a limit from now on.
    pub fn execute(&self, kind: RequestKind) -> Executing<'_> {
        let water = match kind {
            RequestKind::Mutating => &self.executing[0],
            RequestKind::ReadOnly => &self.executing[1],
        };
        water.rise();
        Executing(water)
    }

    /// The events of watches of a resource, to be kept by whoever sends them.
    pub fn watch_events(&self, definition: &Definition) -> Arc<WatchEvents> {
        let resource = &definition.resource;
        let place = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
        find(&self.watches, place, || WatchEvents { sizes: Histogram::new(&WATCH_EVENT_SIZES) })
    }

    /// Notes that somebody asked for something that is deprecated. `removed_release` is the
    /// release without it, such as `1.40`, or empty.
    pub fn request_deprecated(
        &self,
        definition: &Definition,
        subresource: &str,
        removed_release: &'static str,
    ) {
        let resource = &definition.resource;
        let place = (resource.group.clone(), resource.version.clone(), resource.plural.clone());
        let mut all = self.deprecated.write().unwrap_or_else(PoisonError::into_inner);
        all.insert((place, Str::new(subresource)), removed_release);
    }

    /// Where converters of custom resources note how long webhooks take.
    #[must_use]
    pub fn conversions(&self) -> Arc<ConversionTimes> {
        self.conversions.clone()
    }

    /// Everything as text of [`CONTENT_TYPE`].
    #[must_use]
    pub fn encode(&self, snapshot: &Snapshot) -> String {
        text::encode(self, snapshot)
    }
}

/// What stands at a place of a map, made if nothing does.
fn find<K: Eq + std::hash::Hash, V>(
    map: &SharedMap<K, V>,
    place: K,
    make: impl FnOnce() -> V,
) -> Arc<V> {
    if let Some(found) = map.read().unwrap_or_else(PoisonError::into_inner).get(&place) {
        return found.clone();
    }
    let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
    map.entry(place).or_insert_with(|| Arc::new(make())).clone()
}

impl Counter {
    /// One more.
    pub fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl HighWater {
    fn rise(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
    }

    /// The most it has been since this was called last.
    fn take_most(&self) -> i64 {
        let now = self.now.load(Ordering::Relaxed);
        self.most.swap(now, Ordering::Relaxed).max(now)
    }
}

impl Drop for Executing<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

impl InFlight {
    /// Says which code the answer has. Without one the request counts as aborted.
    pub fn answer(&mut self, code: u16) {
        self.code = code;
    }

    /// Says that so many bytes of the body were sent.
    pub fn add_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.is_long_running {
            self.series.long_running.fetch_sub(1, Ordering::Relaxed);
        }
        self.series.record(self.code, self.bytes, self.start.elapsed());
    }
}

impl WatchEvents {
    /// Notes that an event of this size was sent.
    pub fn send(&self, bytes: usize) {
        self.sizes.observe(bytes as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn parts(method: &str, target: &str) -> Parts {
        http::Request::builder().method(method).uri(target).body(()).unwrap().into_parts().0
    }

    /// The line of a request, counted once and then told.
    fn check(info: &RequestInfo, parts: &Parts, code: u16, expect: &str) {
        let metrics = Metrics::new(Version::of_build());
        let catalog = Catalog::built_in();
        let definition = catalog.find(&info.group, &info.version, &info.resource);
        let mut request = metrics.request(info, parts, definition.map(|found| &**found));
        request.answer(code);
        drop(request);
        let text = metrics.encode(&Snapshot::default());
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with("apiserver_request_total{")).unwrap();
        assert_eq!(line, expect);
    }

    fn pods(verb: &'static str, name: &str) -> RequestInfo {
        RequestInfo {
            is_resource: true,
            verb,
            version: "v1".into(),
            namespace: "default".into(),
            resource: "pods".into(),
            name: name.into(),
            ..RequestInfo::default()
        }
    }

    #[test]
    fn requests_are_counted_by_what_they_are_about() {
        let line = |code: u16, dry_run: &str, scope: &str, verb: &str| {
            format!(
                "apiserver_request_total{{code=\"{code}\",component=\"apiserver\",\
                 dry_run=\"{dry_run}\",group=\"\",resource=\"pods\",scope=\"{scope}\",\
                 subresource=\"\",verb=\"{verb}\",version=\"v1\"}} 1"
            )
        };
        check(&pods("get", "a"), &parts("GET", "/"), 200, &line(200, "", "resource", "GET"));
        check(&pods("list", ""), &parts("GET", "/"), 200, &line(200, "", "namespace", "LIST"));
        check(
            &pods("watch", ""),
            &parts("GET", "/?watch=1"),
            200,
            &line(200, "", "namespace", "WATCH"),
        );
        check(
            &pods("create", ""),
            &parts("POST", "/?dryRun=All&dryRun=All"),
            201,
            &line(201, "All", "resource", "POST"),
        );
        check(
            &pods("delete", "a"),
            &parts("DELETE", "/?dryRun=x"),
            599,
            &line(599, "invalid", "resource", "DELETE"),
        );
    }

    #[test]
    fn what_clients_invent_is_not_remembered() {
        let expect = "apiserver_request_total{code=\"404\",component=\"apiserver\",dry_run=\"\",\
                      group=\"\",resource=\"other\",scope=\"resource\",subresource=\"\",\
                      verb=\"other\",version=\"\"} 1";
        let invented = RequestInfo { resource: "invented".into(), ..pods("get", "a") };
        check(&invented, &parts("INVENTED", "/"), 404, expect);
        let expect = "apiserver_request_total{code=\"404\",component=\"apiserver\",dry_run=\"\",\
                      group=\"\",resource=\"\",scope=\"\",subresource=\"other\",verb=\"GET\",\
                      version=\"\"} 1";
        let path = RequestInfo { path: "/invented".into(), ..RequestInfo::default() };
        check(&path, &parts("GET", "/invented"), 404, expect);
    }

    #[test]
    fn what_is_under_way_can_be_seen() {
        let metrics = Metrics::new(Version::of_build());
        let catalog = Catalog::built_in();
        let definition = catalog.find("", "v1", "pods").unwrap();
        let watch =
            metrics.request(&pods("watch", ""), &parts("GET", "/?watch=1"), Some(definition));
        metrics.watch_events(definition).send(2000);
        let reads =
            [metrics.execute(RequestKind::ReadOnly), metrics.execute(RequestKind::ReadOnly)];
        drop(reads);
        let text = metrics.encode(&Snapshot {
            objects: vec![("apps".into(), "deployments".into(), 3)],
            storage_size: Some(4096),
        });
        for line in [
            "apiserver_longrunning_requests{component=\"apiserver\",group=\"\",resource=\"pods\",\
             scope=\"namespace\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 1",
            "apiserver_current_inflight_requests{request_kind=\"readOnly\"} 2",
            "apiserver_current_inflight_requests{request_kind=\"mutating\"} 0",
            "apiserver_watch_events_total{group=\"\",resource=\"pods\",version=\"v1\"} 1",
            "apiserver_watch_events_sizes_bucket{group=\"\",resource=\"pods\",version=\"v1\",\
             le=\"1024\"} 0",
            "apiserver_watch_events_sizes_bucket{group=\"\",resource=\"pods\",version=\"v1\",\
             le=\"2048\"} 1",
            "apiserver_watch_events_sizes_sum{group=\"\",resource=\"pods\",version=\"v1\"} 2000",
            "apiserver_storage_objects{resource=\"deployments.apps\"} 3",
            "apiserver_resource_objects{group=\"apps\",resource=\"deployments\"} 3",
            "apiserver_storage_size_bytes{storage_cluster_id=\"etcd-0\"} 4096",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
        drop(watch);
        let text = metrics.encode(&Snapshot::default());
        let aborted = "apiserver_request_aborts_total{group=\"\",resource=\"pods\",\
                       scope=\"namespace\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 1";
        assert!(text.lines().any(|line| line == aborted), "{text}");
        assert!(text.contains("request_kind=\"readOnly\"} 0"), "{text}");
    }

    #[test]
    fn every_line_is_of_the_text_format() {
        let metrics = Metrics::new(Version::of_build());
        let mut request = metrics.request(&pods("get", "a"), &parts("GET", "/"), None);
        request.answer(200);
        drop(request);
        let text = metrics.encode(&Snapshot::default());
        assert!(text.ends_with('\n'));
        let mut family = "";
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("# TYPE ") {
                family = name.split(' ').next().unwrap();
                continue;
            }
            if line.starts_with("# HELP ") {
                continue;
            }
            assert!(line.starts_with(family), "{line} is not of {family}");
            let (_, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
}
