//! CronJob: jobs at certain times.
//!
//! After `pkg/registry/batch/cronjob`, `pkg/apis/batch/v1/defaults.go` and `ValidateCronJobCreate`
//! in `pkg/apis/batch/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::label_selector;
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Value};

use super::job::spec::validate_job_spec;
use super::job::warn_about_spec;
use super::{GROUP_VERSION, PACKAGE};
use crate::rules::cron_schedule::CronSchedule;
use crate::rules::pod_spec::PodOptions;
use crate::rules::scalar::{validate_non_negative, validate_required_choice};
use crate::rules::{generation, meaning, pod_template, status, time_zone};

pub(crate) static KIND: CronJob = CronJob;
static STATUS: CronJobStatus = CronJobStatus;

/// The kind.
pub(crate) struct CronJob;

/// Its status.
struct CronJobStatus;

const TEMPLATE: &[&str] = &["spec", "jobTemplate", "spec", "template"];
const SPEC_STRUCT: &str = "io.k8s.api.batch.v1.CronJobSpec";

/// The names of its jobs have eleven characters more, and 63 at most.
const NAME_MAX: usize = 52;

impl Kind for CronJob {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "CronJob", "cronjobs", PACKAGE)
            .short(&["cj"])
            .categories(&["all"])
            .status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.batch.v1.CronJob", |cron_job| {
            let spec = cron_job.entry("spec");
            if spec.at("concurrencyPolicy").is_empty() {
                spec.set("concurrencyPolicy", "Allow");
            }
            spec.set_default("suspend", false);
            spec.set_default("successfulJobsHistoryLimit", 3);
            spec.set_default("failedJobsHistoryLimit", 1);
        })]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Schedule"),
                Column::text("Timezone"),
                Column::boolean("Suspend"),
                Column::integer("Active"),
                Column::text("Last Schedule"),
                Column::AGE,
                Column::text("Containers").wide(),
                Column::text("Images").wide(),
                Column::text("Selector").wide(),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let (spec, status) = (object.at("spec"), object.at("status"));
        let suspend = match spec.at("suspend").as_bool() {
            None => "<unset>",
            Some(true) => "True",
            Some(false) => "False",
        };
        let active = i64::try_from(status.at("active").list().len()).unwrap_or(i64::MAX);
        let last_schedule = match status.at("lastScheduleTime") {
            Value::Null => "<none>".to_owned(),
            time => context.since(time),
        };
        let [containers, images] = pod_template::container_cells(object.path(TEMPLATE));
        let selector = spec.path(&["jobTemplate", "spec", "selector"]);
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            spec.at("schedule").str().into(),
            spec.at("timeZone").as_str().unwrap_or("<none>").into(),
            suspend.into(),
            active.into(),
            last_schedule.into(),
            context.age(object).into(),
            containers,
            images,
            label_selector::format_value(selector).into(),
        ])
    }
}

impl Rules for CronJob {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
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
        validate_spec(&object.at("spec"), None, &PodOptions::default(), errors);
        let metadata = object.at("metadata");
        let name = metadata.at("name");
        if name.str().len() > NAME_MAX {
            errors.invalid(&name, format!("must be no more than {NAME_MAX} characters"));
        }
    }

    /// The length of the name is not looked at again: it cannot be changed.
    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = pod_template::options_from_old(old.value().path(TEMPLATE));
        validate_spec(&new.at("spec"), Some(old.value().at("spec")), &options, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        pod_template::warn_about_name(object, warnings);
        warn_about_spec(&object.at("spec").at("jobTemplate").at("spec"), None, warnings);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        let spec = new.at("spec");
        if generation::differs(new.value(), old.value()) {
            let (new, old) = (spec.at("jobTemplate"), old.at("spec"));
            let old = old.at("jobTemplate");
            warn_about_spec(&new.at("spec"), Some(&old.at("spec")), warnings);
        }
        if spec.at("schedule").str().contains("TZ") {
            // Upstream says `spec` twice.
            let warning = "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, \
                           see https://kubernetes.io/docs/concepts/workloads/controllers/\
                           cron-jobs/ for more details";
            warnings.push(warning.to_owned());
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for CronJobStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

fn validate_spec(spec: &Node<'_>, old: Option<&Value>, options: &PodOptions, errors: &mut Errors) {
    validate_schedule(spec, old, errors);
    validate_non_negative(&spec.at("startingDeadlineSeconds"), errors);
    let zone = spec.at("timeZone");
    if zone.is_set() && old.is_none_or(|old| old.at("timeZone") != zone.value()) {
        for problem in time_zone::time_zone(zone.str()) {
            errors.invalid(&zone, problem);
        }
    }
    let policies = &["Allow", "Forbid", "Replace"];
    validate_required_choice(&spec.at("concurrencyPolicy"), policies, errors);
    validate_job_template(&spec.at("jobTemplate"), options, errors);
    validate_non_negative(&spec.at("successfulJobsHistoryLimit"), errors);
    validate_non_negative(&spec.at("failedJobsHistoryLimit"), errors);
}

/// A time zone in the schedule is an error, unless there was one before.
fn validate_schedule(spec: &Node<'_>, old: Option<&Value>, errors: &mut Errors) {
    let schedule = spec.at("schedule");
    if schedule.is_empty() {
        errors.required(&schedule, "");
        return;
    }
    if let Err(error) = CronSchedule::parse(schedule.str()) {
        errors.invalid(&schedule, error);
    }
    if !schedule.str().contains("TZ") {
        return;
    }
    let had_zone = old.is_some_and(|old| old.at("schedule").str().contains("TZ"));
    if !had_zone {
        let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        errors.invalid(&schedule, detail);
    } else if spec.at("timeZone").is_set() {
        let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
        errors.invalid(&schedule, detail);
    }
}

/// Jobs of a template select by labels of their own.
fn validate_job_template(template: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    let spec = template.at("spec");
    validate_job_spec(&spec, options, errors);
    let selector = spec.at("selector");
    if selector.is_set() {
        errors.invalid(&selector, "`selector` will be auto-generated");
    }
    let manual = spec.at("manualSelector");
    if manual.bool() {
        errors.not_supported(&manual, &["nil", "false"]);
    }
}
