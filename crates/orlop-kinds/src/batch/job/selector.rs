//! The labels by which a job knows its pods.
//!
//! After `generateSelector` in `pkg/registry/batch/job/strategy.go` and `validateGeneratedSelector`
//! in `pkg/apis/batch/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::meta::Meta;
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Str, Value};

const JOB_NAME: &str = "batch.kubernetes.io/job-name";
const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";
/// The same without a domain, as they were before.
const JOB_NAME_LEGACY: &str = "job-name";
const CONTROLLER_UID_LEGACY: &str = "controller-uid";

/// A job without labels has those of its template.
///
/// Upstream lets both be the same labels from then on, so the job gets those that are generated
/// for the template too. Here the copy is made when they are there, which [`generate`] does.
pub(super) fn copy_labels_of_template(job: &mut Value) {
    let is_manual = job.path(&["spec", "manualSelector"]).bool();
    let labels = job.path(&["spec", "template", "metadata", "labels"]);
    let is_complete = is_manual || labels.map().contains_key(CONTROLLER_UID_LEGACY);
    if is_complete && !labels.is_empty() {
        let labels = labels.clone();
        set_missing_labels(job, labels);
    }
}

/// Labels the template with name and UID of the job, and selects by the UID. Labels that are there
/// already stay; wrong ones are refused later.
pub(super) fn generate(job: &mut Value) {
    let meta = Meta::of(job);
    let (name, uid) = (Value::from(meta.name()), Value::from(meta.uid()));
    let spec = job.entry("spec");
    let labels = spec.entry("template").entry("metadata").entry("labels");
    for (key, value) in [
        (JOB_NAME_LEGACY, &name),
        (JOB_NAME, &name),
        (CONTROLLER_UID_LEGACY, &uid),
        (CONTROLLER_UID, &uid),
    ] {
        labels.set_default(key, value.clone());
    }
    let labels = labels.clone();
    spec.entry("selector").entry("matchLabels").set_default(CONTROLLER_UID, uid);
    set_missing_labels(job, labels);
}

/// Whether labels with a domain are among these.
pub(super) fn has_prefixed_labels(labels: &Map) -> bool {
    labels.contains_key(JOB_NAME) && labels.contains_key(CONTROLLER_UID)
}

/// A selector that was to be generated is one that was.
pub(super) fn validate_generated(
    job: &Node<'_>,
    requires_prefixed_labels: bool,
    errors: &mut Errors,
) {
    let spec = job.at("spec");
    let selector = spec.at("selector");
    if spec.at("manualSelector").bool() || !selector.is_set() {
        return;
    }
    let meta = Meta::of(job.value());
    if meta.uid().is_empty() {
        errors.required(&job.at("metadata").at("uid"), "");
    }
    let mut expect = vec![(CONTROLLER_UID_LEGACY, meta.uid()), (JOB_NAME_LEGACY, meta.name())];
    if requires_prefixed_labels {
        expect.extend([(CONTROLLER_UID, meta.uid()), (JOB_NAME, meta.name())]);
    }
    let template = spec.at("template");
    let metadata = template.at("metadata");
    let labels = metadata.at("labels");
    for (key, value) in &expect {
        validate_has_label(&labels, key, value, errors);
    }
    let expect: Map =
        expect.into_iter().map(|(key, value)| (Str::const_new(key), value.into())).collect();
    let parsed = LabelSelector::from_value(selector.value());
    if parsed.is_ok_and(|parsed| !parsed.matches(&expect)) {
        errors.invalid(&selector, "`selector` not auto-generated");
    }
}

fn set_missing_labels(job: &mut Value, labels: Value) {
    let metadata = job.entry("metadata");
    if metadata.at("labels").is_empty() {
        metadata.set("labels", labels);
    }
}

fn validate_has_label(labels: &Node<'_>, key: &str, value: &str, errors: &mut Errors) {
    let label = labels.key(key);
    if !label.is_set() {
        errors.required(&label, format!("must be '{value}'"));
    } else if label.str() != value {
        errors.invalid_value(&label, labels.value().clone(), format!("must be '{value}'"));
    }
}
