//! Prometheus' text form, version 0.0.4: families in the order of their names, labels too.

use std::fmt::{Display, Write as _};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::labels::Labels;
use super::series::{Histogram, SLI_SKIPPED, Series};
use super::{Metrics, Snapshot, process};
use crate::version::{MAJOR, MINOR};

/// Nanoseconds in a second.
const NANOS: f64 = 1e9;

/// Everything as text.
pub(super) fn encode(metrics: &Metrics, snapshot: &Snapshot) -> String {
    let mut text = Text { out: String::with_capacity(64 * 1024) };
    text.conversions(metrics);
    text.in_flight(metrics);
    text.requests(metrics);
    text.deprecated(metrics);
    text.objects(snapshot);
    text.plain(
        ("apiserver_tls_handshake_errors_total", "counter"),
        "[ALPHA] Number of requests dropped with 'TLS handshake error from' error",
        metrics.tls_handshake_errors.get(),
    );
    text.watches(metrics);
    text.store(metrics);
    text.build(metrics);
    text.plain(
        ("orlop_request_panics_total", "counter"),
        "Number of requests that ended in a panic and were answered with 500",
        metrics.panics.get(),
    );
    for (name, kind, help, value) in process::metrics() {
        text.plain((name, kind), help, value);
    }
    text.out
}

/// Labels of a line, in the order in which they are written.
type Pairs<'a> = Vec<(&'static str, &'a str)>;

struct Text {
    out: String,
}

impl Text {
    fn family(&mut self, (name, kind): (&str, &str), help: &str) {
        let _infallible = write!(self.out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// A family without labels.
    fn plain(&mut self, family: (&str, &str), help: &str, value: impl Display) {
        self.family(family, help);
        let _infallible = writeln!(self.out, "{} {value}", family.0);
    }

    fn line(&mut self, name: &str, labels: &Pairs<'_>, value: impl Display) {
        self.out.push_str(name);
        let mut before = '{';
        for (label, text) in labels {
            let _infallible = write!(self.out, "{before}{label}=\"");
            escape(text, &mut self.out);
            self.out.push('"');
            before = ',';
        }
        if before == ',' {
            self.out.push('}');
        }
        let _infallible = writeln!(self.out, " {value}");
    }

    /// The lines of a histogram, but for its first `skipped` buckets.
    fn histogram(
        &mut self,
        name: &str,
        labels: &Pairs<'_>,
        histogram: &Histogram,
        (skipped, scale): (usize, f64),
    ) {
        let counts = histogram.cumulative();
        let all = counts.last().copied().unwrap_or_default();
        let bounds = histogram.bounds.iter().map(|(_, text)| *text).chain(["+Inf"]);
        let bucket = format!("{name}_bucket");
        let mut labels = labels.clone();
        for (bound, count) in bounds.zip(counts).skip(skipped) {
            labels.push(("le", bound));
            self.line(&bucket, &labels, count);
            labels.pop();
        }
        #[expect(clippy::cast_precision_loss, reason = "the format has no greater numbers")]
        let sum = histogram.sum() as f64 / scale;
        self.line(&format!("{name}_sum"), &labels, sum);
        self.line(&format!("{name}_count"), &labels, all);
    }

    fn in_flight(&mut self, metrics: &Metrics) {
        let name = "apiserver_current_inflight_requests";
        self.family(
            (name, "gauge"),
            "[STABLE] Maximal number of currently used inflight request limit of this apiserver \
             per request kind in last second.",
        );
        for (water, kind) in metrics.executing.iter().zip(["mutating", "readOnly"]) {
            self.line(name, &vec![("request_kind", kind)], water.take_most());
        }
    }

    fn requests(&mut self, metrics: &Metrics) {
        let all = metrics.requests.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<(&Labels, &Series)> =
            all.iter().map(|(labels, series)| (labels, &**series)).collect();
        all.sort_by_key(|(labels, _)| sort_key(labels));
        self.long_running(&all);
        self.aborts(&all);
        self.durations(&all);
        self.totals(&all);
        self.sizes(&all);
    }

    fn long_running(&mut self, all: &[(&Labels, &Series)]) {
        let name = "apiserver_longrunning_requests";
        self.family(
            (name, "gauge"),
            "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, \
             group, version, resource, scope and component. Not all requests are tracked this \
             way.",
        );
        for (labels, series) in all.iter().filter(|(labels, _)| labels.is_long_running()) {
            let value = series.long_running.load(Ordering::Relaxed);
            self.line(name, &pairs(labels, Extra { component: true, ..Extra::NONE }), value);
        }
    }

    fn aborts(&mut self, all: &[(&Labels, &Series)]) {
        let name = "apiserver_request_aborts_total";
        self.family(
            (name, "counter"),
            "[ALPHA] Number of requests which apiserver aborted possibly due to a timeout, for \
             each group, version, verb, resource, subresource and scope",
        );
        for (labels, series) in all {
            let value = series.aborts.load(Ordering::Relaxed);
            if value > 0 {
                self.line(name, &pairs(labels, Extra::NONE), value);
            }
        }
    }

    fn durations(&mut self, all: &[(&Labels, &Series)]) {
        let name = "apiserver_request_duration_seconds";
        self.family(
            (name, "histogram"),
            "[STABLE] Response latency distribution in seconds for each verb, dry run value, \
             group, version, resource, subresource, scope and component.",
        );
        let extra = Extra { component: true, dry_run: true, ..Extra::NONE };
        for (labels, series) in all {
            self.histogram(name, &pairs(labels, extra), &series.durations, (0, NANOS));
        }
        let name = "apiserver_request_sli_duration_seconds";
        self.family(
            (name, "histogram"),
            "[ALPHA] Response latency distribution (not counting webhook duration and priority & \
             fairness queue wait times) in seconds for each verb, group, version, resource, \
             subresource, scope and component.",
        );
        let extra = Extra { component: true, ..Extra::NONE };
        for (labels, series) in all.iter().filter(|(labels, _)| labels.dry_run.is_empty()) {
            let form = (SLI_SKIPPED, NANOS);
            self.histogram(name, &pairs(labels, extra), &series.durations, form);
        }
    }

    fn totals(&mut self, all: &[(&Labels, &Series)]) {
        let name = "apiserver_request_total";
        self.family(
            (name, "counter"),
            "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, \
             group, version, resource, scope, component, and HTTP response code.",
        );
        for (labels, series) in all {
            let others = series.other_codes.load(Ordering::Relaxed);
            let codes = series.codes().map(|(code, count)| (code.to_string(), count));
            let others = (others > 0).then(|| ("other".to_owned(), others));
            for (code, count) in codes.chain(others) {
                let extra = Extra { component: true, dry_run: true, code: Some(&code) };
                self.line(name, &pairs(labels, extra), count);
            }
        }
    }

    fn sizes(&mut self, all: &[(&Labels, &Series)]) {
        let name = "apiserver_response_sizes";
        self.family(
            (name, "histogram"),
            "[STABLE] Response size distribution in bytes for each group, version, verb, \
             resource, subresource, scope and component.",
        );
        let reads = all.iter().filter(|(labels, _)| labels.is_read() && labels.dry_run.is_empty());
        for (labels, series) in reads {
            let pairs = pairs(labels, Extra { component: true, ..Extra::NONE });
            self.histogram(name, &pairs, &series.sizes, (0, 1.0));
        }
    }

    fn deprecated(&mut self, metrics: &Metrics) {
        let name = "apiserver_requested_deprecated_apis";
        let all = metrics.deprecated.read().unwrap_or_else(PoisonError::into_inner);
        if all.is_empty() {
            return;
        }
        self.family(
            (name, "gauge"),
            "[STABLE] Gauge of deprecated APIs that have been requested, broken out by API \
             group, version, resource, subresource, and removed_release.",
        );
        for (((group, version, resource), subresource), removed) in &*all {
            let labels = vec![
                ("group", group.as_str()),
                ("removed_release", removed),
                ("resource", resource),
                ("subresource", subresource),
                ("version", version),
            ];
            self.line(name, &labels, 1);
        }
    }

    fn objects(&mut self, snapshot: &Snapshot) {
        let name = "apiserver_resource_objects";
        self.family(
            (name, "gauge"),
            "[ALPHA] Number of stored objects at the time of last check split by kind. In case \
             of a fetching error, the value will be -1.",
        );
        for (group, resource, count) in &snapshot.objects {
            self.line(name, &vec![("group", group.as_str()), ("resource", resource)], count);
        }
        let name = "apiserver_storage_objects";
        self.family(
            (name, "gauge"),
            "[STABLE] [DEPRECATED, consider using apiserver_resource_objects instead] Number of \
             stored objects at the time of last check split by kind. In case of a fetching \
             error, the value will be -1.",
        );
        for (group, resource, count) in &snapshot.objects {
            let dot = if group.is_empty() { "" } else { "." };
            let full = format!("{resource}{dot}{group}");
            self.line(name, &vec![("resource", full.as_str())], count);
        }
        if let Some(size) = snapshot.storage_size {
            let name = "apiserver_storage_size_bytes";
            self.family(
                (name, "gauge"),
                "[STABLE] Size of the storage database file physically allocated in bytes.",
            );
            self.line(name, &vec![("storage_cluster_id", "etcd-0")], size);
        }
    }

    fn watches(&mut self, metrics: &Metrics) {
        let all = metrics.watches.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = all.iter().collect();
        all.sort_by_key(|(place, _)| *place);
        let sizes = "apiserver_watch_events_sizes";
        self.family((sizes, "histogram"), "[ALPHA] Watch event size distribution in bytes");
        for ((group, version, resource), events) in &all {
            let labels =
                vec![("group", group.as_str()), ("resource", resource), ("version", version)];
            self.histogram(sizes, &labels, &events.sizes, (0, 1.0));
        }
        let total = "apiserver_watch_events_total";
        self.family((total, "counter"), "[ALPHA] Number of events sent in watch clients");
        for ((group, version, resource), events) in &all {
            let labels =
                vec![("group", group.as_str()), ("resource", resource), ("version", version)];
            let count = events.sizes.cumulative().last().copied().unwrap_or_default();
            self.line(total, &labels, count);
        }
    }

    fn conversions(&mut self, metrics: &Metrics) {
        let calls = metrics.conversions.calls();
        let pairs = |failure: &'static str| {
            let result = if failure.is_empty() { "success" } else { "failure" };
            vec![("failure_type", failure), ("result", result)]
        };
        let durations = "apiserver_conversion_webhook_duration_seconds";
        self.family((durations, "histogram"), "[ALPHA] Conversion webhook request latency");
        for (failure, times) in &calls {
            self.histogram(durations, &pairs(failure), times, (0, NANOS));
        }
        let total = "apiserver_conversion_webhook_request_total";
        self.family(
            (total, "counter"),
            "[ALPHA] Counter for conversion webhook requests with success/failure and failure \
             error type",
        );
        for (failure, times) in &calls {
            let count = times.cumulative().last().copied().unwrap_or_default();
            self.line(total, &pairs(failure), count);
        }
        let durations = "apiserver_crd_conversion_webhook_duration_seconds";
        self.family((durations, "histogram"), "[ALPHA] CRD webhook conversion duration in seconds");
        for (([name, from, to], has_succeeded), times) in &metrics.conversions.conversions() {
            let labels = vec![
                ("crd_name", name.as_str()),
                ("from_version", from),
                ("succeeded", if *has_succeeded { "true" } else { "false" }),
                ("to_version", to),
            ];
            self.histogram(durations, &labels, times, (0, NANOS));
        }
    }

    fn store(&mut self, metrics: &Metrics) {
        let all = metrics.store.all();
        let durations = "etcd_request_duration_seconds";
        self.family(
            (durations, "histogram"),
            "[ALPHA] Etcd request latency in seconds for each operation and object type.",
        );
        for (labels, timing) in &all {
            self.histogram(durations, &store_pairs(*labels), &timing.durations, (0, NANOS));
        }
        let errors = "etcd_request_errors_total";
        self.family(
            (errors, "counter"),
            "[ALPHA] Etcd failed request counts for each operation and object type.",
        );
        for (labels, timing) in &all {
            let count = timing.errors.load(Ordering::Relaxed);
            if count > 0 {
                self.line(errors, &store_pairs(*labels), count);
            }
        }
        let total = "etcd_requests_total";
        self.family(
            (total, "counter"),
            "[ALPHA] Etcd request counts for each operation and object type.",
        );
        for (labels, timing) in &all {
            let count = timing.durations.cumulative().last().copied().unwrap_or_default();
            self.line(total, &store_pairs(*labels), count);
        }
    }

    fn build(&mut self, metrics: &Metrics) {
        let name = "kubernetes_build_info";
        self.family(
            (name, "gauge"),
            "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git \
             commit, git tree state, build date, Go version, and compiler from which Kubernetes \
             was built, and platform on which it is running.",
        );
        let version = &metrics.version;
        let labels = vec![
            ("build_date", version.build_date.as_str()),
            ("compiler", &version.compiler),
            ("git_commit", &version.git_commit),
            ("git_tree_state", &version.git_tree_state),
            ("git_version", &version.git_version),
            ("go_version", &version.go_version),
            ("major", MAJOR),
            ("minor", MINOR),
            ("platform", &version.platform),
        ];
        self.line(name, &labels, 1);
    }
}

/// Which labels a family has besides those that all have.
#[derive(Clone, Copy)]
struct Extra<'a> {
    code: Option<&'a str>,
    component: bool,
    dry_run: bool,
}

impl Extra<'_> {
    const NONE: Extra<'static> = Extra { code: None, component: false, dry_run: false };
}

fn pairs<'a>(labels: &'a Labels, extra: Extra<'a>) -> Pairs<'a> {
    let mut pairs: Pairs<'a> = Vec::with_capacity(10);
    pairs.extend(extra.code.map(|code| ("code", code)));
    pairs.extend(extra.component.then_some(("component", labels.component)));
    pairs.extend(extra.dry_run.then_some(("dry_run", labels.dry_run)));
    pairs.extend([
        ("group", labels.group.as_str()),
        ("resource", &labels.resource),
        ("scope", labels.scope),
        ("subresource", &labels.subresource),
        ("verb", labels.verb),
        ("version", &labels.version),
    ]);
    pairs
}

fn store_pairs([operation, group, resource]: [&str; 3]) -> Pairs<'_> {
    vec![("group", group), ("operation", operation), ("resource", resource)]
}

fn sort_key<'a>(labels: &&'a Labels) -> [&'a str; 7] {
    let Labels { group, resource, scope, subresource, verb, version, dry_run, .. } = *labels;
    [group, resource, scope, subresource, verb, version, dry_run]
}

/// The value of a label between its quotes.
fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            other => out.push(other),
        }
    }
}
