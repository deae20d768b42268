//! APIService: who serves a group version.
//!
//! After `staging/src/k8s.io/kube-aggregator/pkg/registry/apiservice` and
//! `.../pkg/apis/apiregistration/validation`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::time::Time;
use orlop_machinery::{Value, bytes};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::status;

pub(crate) static KIND: ApiService = ApiService;
static STATUS: ApiServiceStatus = ApiServiceStatus;

/// The kind.
pub(crate) struct ApiService;

/// Its status.
struct ApiServiceStatus;

const GROUP_PRIORITY_MAX: i64 = 20_000;
const VERSION_PRIORITY_MAX: i64 = 1000;

impl Kind for ApiService {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "APIService", "apiservices", PACKAGE)
            .categories(&["api-extensions"])
            .status(&STATUS)
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_path_segment
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference", |reference| {
            reference.set_default("port", 443);
        })]
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Service"), Column::text("Available"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let reference = object.path(&["spec", "service"]);
        let service = match reference {
            Value::Null => "Local".to_owned(),
            found => format!("{}/{}", found.at("namespace").str(), found.at("name").str()),
        };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            service.into(),
            availability(object).into(),
            context.age(object).into(),
        ])
    }

    fn restricts_finalizers(&self) -> bool {
        false
    }
}

fn availability(object: &Value) -> String {
    let conditions = object.path(&["status", "conditions"]).list();
    let found = conditions.iter().find(|condition| condition.at("type").str() == "Available");
    let Some(condition) = found else { return "Unknown".into() };
    match (condition.at("status").str(), condition.at("reason").str()) {
        (status, reason) if status != "True" && !reason.is_empty() => {
            format!("{status} ({reason})")
        }
        (status, _) => status.into(),
    }
}

impl Rules for ApiService {
    fn prepare_create(&self, context: &Context<'_>, object: &mut Value) {
        let mut status = Value::Map(orlop_machinery::Map::new());
        if object.path(&["spec", "service"]).is_null() {
            status.set("conditions", vec![local_condition(context)]);
        }
        object.set("status", status);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        validate_name(object, &spec, errors);
        validate_group_version(&spec, errors);
        let service = spec.at("service");
        let (bundle, skips) = (spec.at("caBundle"), spec.at("insecureSkipTLSVerify"));
        if !service.is_set() {
            if !bundle.is_empty() {
                let size = format!("{} bytes", bytes::decoded_len(bundle.str()));
                errors.invalid_value(&bundle, size, "local APIServices may not have a caBundle");
            }
            if skips.bool() {
                errors.invalid(&skips, "local APIServices may not have insecureSkipTLSVerify");
            }
            return;
        }
        for field in ["namespace", "name"] {
            if service.at(field).is_empty() {
                errors.required(&service.at(field), "");
            }
        }
        let port = service.at("port");
        let messages = names::port_number(port.int());
        if !messages.is_empty() {
            errors.invalid(&port, format!("port is not valid: {}", messages.join(", ")));
        }
        if skips.bool() && !bundle.is_empty() {
            errors.invalid(&skips, "may not be true if caBundle is present");
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

fn local_condition(context: &Context<'_>) -> Value {
    Value::from([
        ("type", "Available".to_owned()),
        ("status", "True".into()),
        ("lastTransitionTime", Time::from_unix(context.now_seconds).to_string()),
        ("reason", "Local".into()),
        ("message", "Local APIServices are always available".into()),
    ])
}

fn validate_name(object: &Node<'_>, spec: &Node<'_>, errors: &mut Errors) {
    let metadata = object.at("metadata");
    let name = metadata.at("name");
    let wanted = format!("{}.{}", spec.at("version").str(), spec.at("group").str());
    if names::path_segment_name(name.str()).is_empty() && name.str() != wanted {
        let detail = format!("must be `spec.version+\".\"+spec.group`: {}", quote(&wanted));
        errors.invalid(&name, detail);
    }
}

fn validate_group_version(spec: &Node<'_>, errors: &mut Errors) {
    let (group, version) = (spec.at("group"), spec.at("version"));
    if group.is_empty() && version.str() != "v1" {
        let detail = "only v1 may have an empty group and it better be legacy kube";
        errors.required(&group, detail);
    }
    if !group.is_empty() {
        for message in names::dns_subdomain(group.str()) {
            errors.invalid(&group, message);
        }
    }
    for message in names::dns1035_label(version.str()) {
        errors.invalid(&version, message);
    }
    let minimum = spec.at("groupPriorityMinimum");
    if !(1..=GROUP_PRIORITY_MAX).contains(&minimum.int()) {
        errors.invalid(&minimum, "must be positive and less than 20000");
    }
    let priority = spec.at("versionPriority");
    if !(1..=VERSION_PRIORITY_MAX).contains(&priority.int()) {
        errors.invalid(&priority, "must be positive and less than 1000");
    }
}

impl Rules for ApiServiceStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
            status::keep(new.entry("metadata"), old.at("metadata"), field);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        for condition in object.at("status").at("conditions").items() {
            let status = condition.at("status");
            if !matches!(status.str(), "True" | "False" | "Unknown") {
                errors.not_supported(&status, &["True", "False", "Unknown"]);
            }
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "metadata"]
    }
}
