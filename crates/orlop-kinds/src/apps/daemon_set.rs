//! DaemonSet: a pod on every node.
//!
//! After `pkg/registry/apps/daemonset`, `pkg/apis/apps/v1/{defaults,conversion}.go` and
//! `ValidateDaemonSet` in `pkg/apis/apps/validation/validation.go`. The generation of the template
//! was a field once; it is an annotation that only the server writes, so nothing can be wrong
//! with it.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::label_selector::{self, LabelSelector};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE, number_annotation};
use crate::rules::int_or_percent::{is_zero, validate_at_most_all, validate_int_or_percent};
use crate::rules::pod_spec::warnings::warn_about_pod_template;
use crate::rules::pod_spec::{PodOptions, validate_pod_template_spec};
use crate::rules::replica_status::validate_collision_count;
use crate::rules::scalar::validate_non_negative;
use crate::rules::{generation, meaning, pod_template, status};

pub(crate) static KIND: DaemonSet = DaemonSet;
static STATUS: DaemonSetStatus = DaemonSetStatus;

/// The kind.
pub(crate) struct DaemonSet;

/// Its status.
struct DaemonSetStatus;

const TEMPLATE: &[&str] = &["spec", "template"];
const SPEC_STRUCT: &str = "io.k8s.api.apps.v1.DaemonSetSpec";
const STATUS_STRUCT: &str = "io.k8s.api.apps.v1.DaemonSetStatus";
const TEMPLATE_STRUCT: &str = "io.k8s.api.core.v1.PodTemplateSpec";

/// How often the template was changed.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// What a status counts, in the order of the errors.
const COUNTS: [&str; 9] = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
];

/// The counts that are cells.
const COUNTS_SHOWN: [&str; 5] = [
    "desiredNumberScheduled",
    "currentNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
];

impl Kind for DaemonSet {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "DaemonSet", "daemonsets", PACKAGE)
            .short(&["ds"])
            .categories(&["all"])
            .status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.apps.v1.DaemonSet", set_defaults)]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::integer("Desired"),
                Column::integer("Current"),
                Column::integer("Ready"),
                Column::integer("Up-to-date"),
                Column::integer("Available"),
                Column::text("Node Selector"),
                Column::AGE,
                Column::text("Containers").wide(),
                Column::text("Images").wide(),
                Column::text("Selector").wide(),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let (spec, status) = (object.at("spec"), object.at("status"));
        let template = spec.at("template");
        let mut cells = vec![object.path(&["metadata", "name"]).clone()];
        cells.extend(COUNTS_SHOWN.map(|count| status.at(count).int().into()));
        cells.push(pod_template::label_cell(template.path(&["spec", "nodeSelector"])));
        cells.push(context.age(object).into());
        cells.extend(pod_template::container_cells(template));
        cells.push(label_selector::format_value(spec.at("selector")).into());
        Row::new(cells)
    }
}

impl Rules for DaemonSet {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear_struct(object, STATUS_STRUCT);
        generation::start(object);
        set_template_generation(object, template_generation(object).max(1));
        pod_template::drop_disabled_fields(object, None, TEMPLATE);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        pod_template::drop_disabled_fields(new, Some(old), TEMPLATE);
        status::keep(new, old, "status");
        let before = template_generation(old);
        if !meaning::is_same(TEMPLATE_STRUCT, new.path(TEMPLATE), old.path(TEMPLATE)) {
            set_template_generation(new, before.saturating_add(1));
            generation::count(new, old);
            return;
        }
        set_template_generation(new, before);
        if !meaning::is_same(SPEC_STRUCT, new.at("spec"), old.at("spec")) {
            generation::count(new, old);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(object, &PodOptions::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let old_spec = old.at("spec");
        let old_selector = old_spec.at("selector");
        meta::validate_immutable(&new.at("spec").at("selector"), &old_selector, errors);
        let mut options = pod_template::options_from_old(old.value().path(TEMPLATE));
        options.allow_invalid_label_value_in_selector |=
            meta::has_invalid_label_value(&old_selector);
        validate_spec(new, &options, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_pod_template(&object.at("spec").at("template"), None, warnings);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        if template_generation(new.value()) != template_generation(old.value()) {
            let (new, old) = (new.at("spec"), old.at("spec"));
            warn_about_pod_template(&new.at("template"), Some(&old.at("template")), warnings);
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for DaemonSetStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        set_template_generation(new, template_generation(old));
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (new, old) = (new.at("status"), old.at("status"));
        for count in COUNTS {
            validate_non_negative(&new.at(count), errors);
        }
        validate_collision_count(&new, &old, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

fn set_defaults(daemon_set: &mut Value) {
    let spec = daemon_set.entry("spec");
    let strategy = spec.entry("updateStrategy");
    if strategy.at("type").is_empty() {
        strategy.set("type", "RollingUpdate");
    }
    if strategy.at("type").str() == "RollingUpdate" {
        let rolling_update = strategy.entry("rollingUpdate");
        rolling_update.set_default("maxUnavailable", 1);
        rolling_update.set_default("maxSurge", 0);
    }
    spec.set_default("revisionHistoryLimit", 10);
}

fn template_generation(daemon_set: &Value) -> i64 {
    number_annotation::read(daemon_set, TEMPLATE_GENERATION).unwrap_or_default()
}

/// An annotation that is no number stays, to be refused.
fn set_template_generation(daemon_set: &mut Value, number: i64) {
    if !number_annotation::is_malformed(daemon_set, TEMPLATE_GENERATION) {
        number_annotation::write(daemon_set, TEMPLATE_GENERATION, number);
    }
}

fn validate_spec(daemon_set: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    number_annotation::validate(daemon_set, TEMPLATE_GENERATION, errors);
    let spec = daemon_set.at("spec");
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    let selector_options = SelectorOptions {
        allows_invalid_values: options.allow_invalid_label_value_in_selector,
        ..SelectorOptions::default()
    };
    meta::validate_label_selector(&selector, selector_options, errors);
    if let Ok(selector) = LabelSelector::from_value(selector.value()) {
        pod_template::validate_selector_matches(&selector, &template, errors);
    }
    pod_template::validate_selector_selects(&selector, "daemonset", errors);
    validate_pod_template_spec(&template, options, errors);
    pod_template::validate_restarts_always(&template, "DaemonSet", errors);
    validate_non_negative(&spec.at("minReadySeconds"), errors);
    validate_update_strategy(&spec.at("updateStrategy"), errors);
    validate_non_negative(&spec.at("revisionHistoryLimit"), errors);
}

fn validate_update_strategy(strategy: &Node<'_>, errors: &mut Errors) {
    match strategy.at("type").str() {
        "OnDelete" => {}
        "RollingUpdate" => validate_rolling_update(&strategy.at("rollingUpdate"), errors),
        _ => errors.not_supported(strategy, &["RollingUpdate", "OnDelete"]),
    }
}

fn validate_rolling_update(rolling_update: &Node<'_>, errors: &mut Errors) {
    let unavailable = rolling_update.at("maxUnavailable");
    let surge = rolling_update.at("maxSurge");
    validate_int_or_percent(&unavailable, errors);
    validate_int_or_percent(&surge, errors);
    validate_at_most_all(&unavailable, errors);
    validate_at_most_all(&surge, errors);
    match (is_zero(&unavailable), is_zero(&surge)) {
        (false, false) => {
            errors.invalid(&surge, "may not be set when maxUnavailable is non-zero");
        }
        (true, true) => errors.required(&unavailable, "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}
