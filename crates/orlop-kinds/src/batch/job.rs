//! Job: pods that run until enough of them succeeded.
//!
//! After `pkg/registry/batch/job`, `pkg/apis/batch/v1/defaults.go`, `pkg/api/job/warnings.go` and
//! `ValidateJob` in `pkg/apis/batch/validation/validation.go`. One topic stands in one file below;
//! `spec` holds for the templates of a CronJob too.

pub(super) mod spec;

mod indexes;
mod pod_failure_policy;
mod selector;
mod status_update;
mod success_policy;
mod template_update;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::human_duration::human_duration;
use orlop_machinery::kind::{
    Column, Context, Defaulter, GarbageCollection, Kind, Resource, Row, Rules, Selectable,
};
use orlop_machinery::label_selector::{self, LabelSelector};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::time::Time;
use orlop_machinery::{Map, Str, Value};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::pod_spec::PodOptions;
use crate::rules::pod_spec::warnings::warn_about_pod_template;
use crate::rules::{generation, meaning, pod_template, status};

pub(crate) static KIND: Job = Job;
static STATUS: JobStatus = JobStatus;

/// The kind.
pub(crate) struct Job;

/// Its status.
struct JobStatus;

/// Which rules look away, and what may change.
#[derive(Clone, Copy)]
struct Options {
    pod: PodOptions,
    /// The template has the labels with a domain. Older jobs do not.
    requires_prefixed_labels: bool,
    /// The job waits and has no pods, so what its pods need and where they run may change.
    is_template_mutable: bool,
}

const TEMPLATE: &[&str] = &["spec", "template"];
const SPEC_STRUCT: &str = "io.k8s.api.batch.v1.JobSpec";
const INDEXED: &str = "Indexed";

/// Beyond these numbers an indexed job may lose track of its indexes.
const COMPLETIONS_SOFT_MAX: i64 = 100_000;
const PARALLELISM_SOFT_MAX: i64 = 10_000;

/// The column Status names the first condition that is true. That a job is being deleted is told
/// after these two.
const CONDITIONS_FINISHED: [&str; 2] = ["Complete", "Failed"];
const CONDITIONS_UNFINISHED: [&str; 3] = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];

impl Kind for Job {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Job", "jobs", PACKAGE)
            .categories(&["all"])
            .status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[
            ("io.k8s.api.batch.v1.Job", set_defaults),
            ("io.k8s.api.batch.v1.PodFailurePolicyOnPodConditionsPattern", |pattern| {
                if pattern.at("status").is_empty() {
                    pattern.set("status", "True");
                }
            }),
        ]
    }

    /// Pods stay, as they did before there was a choice.
    fn garbage_collection(&self) -> GarbageCollection {
        GarbageCollection::OrphanDependents
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        &[Selectable {
            name: "status.successful",
            get: |object| Str::from(object.path(&["status", "succeeded"]).int().to_string()),
        }]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Status"),
                Column::text("Completions"),
                Column::text("Duration"),
                Column::AGE,
                Column::text("Containers").wide(),
                Column::text("Images").wide(),
                Column::text("Selector").wide(),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let [containers, images] = pod_template::container_cells(object.path(TEMPLATE));
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            state(object).into(),
            completions_cell(object).into(),
            duration_cell(context, object.at("status")).into(),
            context.age(object).into(),
            containers,
            images,
            label_selector::format_value(object.path(&["spec", "selector"])).into(),
        ])
    }
}

impl Rules for Job {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        if !object.path(&["spec", "manualSelector"]).bool() {
            selector::generate(object);
        }
        object.set("status", Map::new());
        generation::start(object);
        pod_template::drop_disabled_fields(object, None, TEMPLATE);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        pod_template::drop_disabled_fields(new, Some(old), TEMPLATE);
        if !meaning::is_same(SPEC_STRUCT, new.at("spec"), old.at("spec")) {
            generation::count(new, old);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let options = Options {
            pod: PodOptions::default(),
            requires_prefixed_labels: true,
            is_template_mutable: false,
        };
        validate_job(object, options, errors);
    }

    /// As upstream, what is wrong with the spec is said twice.
    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = Options::from_old(old);
        validate_job(new, options, errors);
        let (new, old) = (new.at("spec"), old.at("spec"));
        validate_spec(&new, options, errors);
        validate_completions_update(&new, &old, errors);
        meta::validate_immutable(&new.at("selector"), &old.at("selector"), errors);
        template_update::validate(&new, &old, options.is_template_mutable, errors);
        for field in [
            "completionMode",
            "podFailurePolicy",
            "backoffLimitPerIndex",
            "managedBy",
            "successPolicy",
        ] {
            meta::validate_immutable(&new.at(field), &old.at(field), errors);
        }
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        pod_template::warn_about_name(object, warnings);
        warn_about_spec(&object.at("spec"), None, warnings);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        if generation::differs(new.value(), old.value()) {
            warn_about_spec(&new.at("spec"), Some(&old.at("spec")), warnings);
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for JobStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        status_update::validate(new, old.value(), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

impl Options {
    fn from_old(old: &Node<'_>) -> Options {
        let mut pod = pod_template::options_from_old(old.value().path(TEMPLATE));
        let spec = old.at("spec");
        pod.allow_invalid_label_value_in_selector |=
            meta::has_invalid_label_value(&spec.at("selector"));
        let labels = old.value().path(TEMPLATE).path(&["metadata", "labels"]).map();
        Options {
            pod,
            requires_prefixed_labels: selector::has_prefixed_labels(labels),
            is_template_mutable: is_template_mutable(old.value()),
        }
    }
}

/// Whether the job waits, and either never started or all its pods are gone.
fn is_template_mutable(job: &Value) -> bool {
    let status = job.at("status");
    let is_idle = status.at("startTime").is_null()
        || status_update::has_condition(status, "Suspended", "True");
    job.path(&["spec", "suspend"]).bool() && is_idle && status.at("active").int() == 0
}

fn set_defaults(job: &mut Value) {
    selector::copy_labels_of_template(job);
    let spec = job.entry("spec");
    if spec.at("completions").is_null() && spec.at("parallelism").is_null() {
        spec.set("completions", 1);
    }
    spec.set_default("parallelism", 1);
    let has_limit_per_index = !spec.at("backoffLimitPerIndex").is_null();
    spec.set_default("backoffLimit", if has_limit_per_index { i32::MAX } else { 6 });
    spec.set_default("completionMode", "NonIndexed");
    spec.set_default("suspend", false);
    let has_failure_policy = !spec.at("podFailurePolicy").is_null();
    let replacement = if has_failure_policy { "Failed" } else { "TerminatingOrFailed" };
    spec.set_default("podReplacementPolicy", replacement);
    spec.set_default("manualSelector", false);
}

fn validate_job(job: &Node<'_>, options: Options, errors: &mut Errors) {
    selector::validate_generated(job, options.requires_prefixed_labels, errors);
    let spec = job.at("spec");
    validate_spec(&spec, options, errors);
    let completions = spec.at("completions").int();
    if spec.at("completionMode").str() == INDEXED && completions > 0 {
        let metadata = job.at("metadata");
        let name = metadata.at("name");
        let hostname = format!("{}-{}", name.str(), completions - 1);
        if !names::dns_label(&hostname).is_empty() {
            let detail = "will not able to create pod with invalid DNS label: ";
            errors.invalid(&name, detail.to_owned() + &hostname);
        }
    }
}

fn validate_spec(spec: &Node<'_>, options: Options, errors: &mut Errors) {
    spec::validate_job_spec(spec, &options.pod, errors);
    let selector = spec.at("selector");
    if selector.is_set() {
        let allows_invalid_values = options.pod.allow_invalid_label_value_in_selector;
        let options = SelectorOptions { allows_invalid_values, ..SelectorOptions::default() };
        meta::validate_label_selector(&selector, options, errors);
    } else {
        errors.required(&selector, "");
    }
    if let Ok(selector) = LabelSelector::from_value(selector.value()) {
        pod_template::validate_selector_matches(&selector, &spec.at("template"), errors);
    }
}

/// Only an indexed job may change how many completions it needs, and then all run at once.
fn validate_completions_update(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    let completions = new.at("completions");
    if new.at("completionMode").str() != INDEXED {
        meta::validate_immutable(&completions, &old.at("completions"), errors);
    } else if completions.is_set()
        && completions.value() != old.value().at("completions")
        && completions.int() != new.at("parallelism").int()
    {
        let parallelism = new.path().child("parallelism");
        let detail = format!("can only be modified in tandem with {parallelism}");
        errors.invalid(&completions, detail);
    }
}

/// What the owner of a job should know about its spec.
pub(super) fn warn_about_spec(spec: &Node<'_>, old: Option<&Node<'_>>, warnings: &mut Vec<String>) {
    if spec.at("completionMode").str() == INDEXED
        && spec.at("completions").int() > COMPLETIONS_SOFT_MAX
        && spec.at("parallelism").int() > PARALLELISM_SOFT_MAX
    {
        warnings.push(format!(
            "{}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism \
             higher than 10^4, Kubernetes might not be able to track completedIndexes when a big \
             number of indexes fail",
            spec.path()
        ));
    }
    let old = old.map(|old| old.at("template"));
    warn_about_pod_template(&spec.at("template"), old.as_ref(), warnings);
}

fn state(job: &Value) -> &'static str {
    // Of several conditions of a type the first one counts here.
    let holds = |kind: &str| {
        let found = meta::find_condition(job.path(&["status", "conditions"]), kind);
        found.is_some_and(|found| found.at("status").str() == "True")
    };
    let first = |kinds: &[&'static str]| kinds.iter().copied().find(|kind| holds(kind));
    let is_deleting = !job.path(&["metadata", "deletionTimestamp"]).is_null();
    first(&CONDITIONS_FINISHED)
        .or(is_deleting.then_some("Terminating"))
        .or_else(|| first(&CONDITIONS_UNFINISHED))
        .unwrap_or("Running")
}

fn completions_cell(job: &Value) -> String {
    let (spec, succeeded) = (job.at("spec"), job.path(&["status", "succeeded"]).int());
    let parallelism = spec.at("parallelism").int();
    match spec.at("completions").as_int() {
        Some(completions) => format!("{succeeded}/{completions}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    }
}

fn duration_cell(context: &Context<'_>, status: &Value) -> String {
    let read = |field: &str| status.at(field).str().parse::<Time>().ok();
    match (read("startTime"), read("completionTime")) {
        (None, _) => String::new(),
        (Some(start), end) => {
            let end = end.map_or(context.now_seconds, |end| end.unix_seconds());
            human_duration(end.saturating_sub(start.unix_seconds()))
        }
    }
}
