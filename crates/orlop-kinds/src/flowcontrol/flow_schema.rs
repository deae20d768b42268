//! FlowSchema: which requests go to which priority level.
//!
//! After `pkg/registry/flowcontrol/flowschema` and `pkg/apis/flowcontrol/validation`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::conditions::validate_status;
use super::{GROUP_VERSION, PACKAGE, mandatory};
use crate::rules::{generation, status};

pub(crate) static KIND: FlowSchema = FlowSchema;
static STATUS: FlowSchemaStatus = FlowSchemaStatus;

/// The kind.
pub(crate) struct FlowSchema;

/// Its status.
struct FlowSchemaStatus;

const PRECEDENCE_MAX: i64 = 10_000;
const PRECEDENCE_DEFAULT: i64 = 1000;
/// Sorted, as they are shown.
const VERBS: [&str; 9] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
/// The kinds of subjects, sorted, each with the field that tells more about it.
const SUBJECTS: [(&str, &str); 3] =
    [("Group", "group"), ("ServiceAccount", "serviceAccount"), ("User", "user")];
/// Fields of other kinds are refused in this order.
const SUBJECT_FIELDS: [(&str, &str); 3] =
    [("serviceAccount", "ServiceAccount"), ("user", "User"), ("group", "Group")];

impl Kind for FlowSchema {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "FlowSchema", "flowschemas", PACKAGE).status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.flowcontrol.v1.FlowSchemaSpec", |spec| {
            if spec.at("matchingPrecedence").is_empty() {
                spec.set("matchingPrecedence", PRECEDENCE_DEFAULT);
            }
        })]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("PriorityLevel"),
                Column::text("MatchingPrecedence"),
                Column::text("DistinguisherMethod"),
                Column::AGE,
                Column::text("MissingPL"),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let spec = object.at("spec");
        let method = match spec.at("distinguisherMethod") {
            Value::Null => "<none>",
            method => method.at("type").str(),
        };
        let conditions = object.path(&["status", "conditions"]).list();
        let dangling = conditions.iter().find(|found| found.at("type").str() == "Dangling");
        let is_missing = dangling.map_or("?", |found| found.at("status").str());
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            spec.path(&["priorityLevelConfiguration", "name"]).clone(),
            spec.at("matchingPrecedence").int().into(),
            method.into(),
            context.age(object).into(),
            is_missing.into(),
        ])
    }
}

impl Rules for FlowSchema {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear(object);
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["spec"]);
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let name = object.value().path(&["metadata", "name"]).str();
        let spec = object.at("spec");
        validate_spec(name, &spec, errors);
        if mandatory::flow_schema(name).is_some_and(|fixed| fixed != spec.value()) {
            errors.invalid(&spec, format!("spec of '{name}' must equal the fixed value"));
        }
        validate_status(&object.at("status"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for FlowSchemaStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep_metadata(new, old);
        status::keep(new, old, "spec");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_status(&object.at("status"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["metadata", "spec"]
    }
}

fn validate_spec(name: &str, spec: &Node<'_>, errors: &mut Errors) {
    let precedence = spec.at("matchingPrecedence");
    if precedence.int() <= 0 {
        errors.invalid(&precedence, "must be a positive value");
    }
    if precedence.int() > PRECEDENCE_MAX {
        errors.invalid(&precedence, format!("must not be greater than {PRECEDENCE_MAX}"));
    }
    if precedence.int() == 1 && name != "exempt" {
        let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
        errors.invalid(&precedence, detail);
    }
    let method = spec.at("distinguisherMethod");
    if method.is_set() && !matches!(method.at("type").str(), "ByNamespace" | "ByUser") {
        let allowed = ["ByNamespace", "ByUser"];
        errors.not_supported_value(&method.at("type"), method.value().clone(), &allowed);
    }
    let level = spec.at("priorityLevelConfiguration");
    let level = level.at("name");
    if level.is_empty() {
        errors.required(&level, "must reference a priority level");
    } else {
        for message in names::dns_subdomain(level.str()) {
            errors.invalid(&level, message);
        }
    }
    for rule in spec.at("rules").items() {
        validate_rule(&rule, errors);
    }
}

fn validate_rule(rule: &Node<'_>, errors: &mut Errors) {
    if rule.at("subjects").is_empty() {
        errors.required(&rule.at("subjects"), "subjects must contain at least one value");
    }
    for subject in rule.at("subjects").items() {
        validate_subject(&subject, errors);
    }
    if rule.at("resourceRules").is_empty() && rule.at("nonResourceRules").is_empty() {
        let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
        errors.required(rule, detail);
    }
    for rule in rule.at("resourceRules").items() {
        validate_resource_rule(&rule, errors);
    }
    for rule in rule.at("nonResourceRules").items() {
        validate_verbs(&rule.at("verbs"), errors);
        validate_urls(&rule.at("nonResourceURLs"), errors);
    }
}

fn validate_subject(subject: &Node<'_>, errors: &mut Errors) {
    let kind = subject.at("kind");
    let Some((_, own)) = SUBJECTS.iter().find(|(known, _)| *known == kind.str()) else {
        errors.not_supported(&kind, &SUBJECTS.map(|(kind, _)| kind));
        return;
    };
    let details = subject.at(own);
    if !details.is_set() {
        errors
            .required(&details, format!("{own} is required when subject kind is '{}'", kind.str()));
    } else if kind.str() == "ServiceAccount" {
        validate_service_account(&details, errors);
    } else if details.at("name").is_empty() {
        errors.required(&details.at("name"), "");
    }
    for (field, kind) in SUBJECT_FIELDS.iter().filter(|(field, _)| field != own) {
        if subject.at(field).is_set() {
            let detail = format!("{field} is forbidden when subject kind is not '{kind}'");
            errors.forbidden(&subject.at(field), detail);
        }
    }
}

fn validate_service_account(account: &Node<'_>, errors: &mut Errors) {
    let (name, namespace) = (account.at("name"), account.at("namespace"));
    if name.is_empty() {
        errors.required(&name, "");
    } else if name.str() != "*" {
        for message in names::dns_subdomain(name.str()) {
            errors.invalid(&name, message);
        }
    }
    if namespace.is_empty() {
        errors.required(&namespace, "must specify namespace for service account");
    } else {
        for message in names::dns_label(namespace.str()) {
            errors.invalid(&namespace, message);
        }
    }
}

fn validate_resource_rule(rule: &Node<'_>, errors: &mut Errors) {
    validate_verbs(&rule.at("verbs"), errors);
    for (field, one, many) in
        [("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")]
    {
        let list = rule.at(field);
        if list.is_empty() {
            errors.required(&list, format!("resource rules must supply at least one {one}"));
        } else if list.len() > 1 && has_wildcard(&list) {
            errors.invalid(&list, format!("if '*' is present, must not specify other {many}"));
        }
    }
    let namespaces = rule.at("namespaces");
    if namespaces.is_empty() && !rule.at("clusterScope").bool() {
        let detail =
            "resource rules that are not cluster scoped must supply at least one namespace";
        errors.required(&namespaces, detail);
    } else if has_wildcard(&namespaces) {
        if namespaces.len() > 1 {
            errors.invalid(&namespaces, "if '*' is present, must not specify other namespaces");
        }
    } else {
        for namespace in namespaces.items() {
            for message in names::dns_label(namespace.str()) {
                let detail = "each member of this list must be '*' or a DNS-1123 label; ";
                errors.invalid(&namespace, detail.to_owned() + &message);
            }
        }
    }
}

fn validate_verbs(verbs: &Node<'_>, errors: &mut Errors) {
    if verbs.is_empty() {
        errors.required(verbs, "verbs must contain at least one value");
    } else if has_wildcard(verbs) {
        if verbs.len() > 1 {
            errors.invalid(verbs, "if '*' is present, must not specify other verbs");
        }
    } else if verbs.list().iter().any(|verb| !VERBS.contains(&verb.str())) {
        errors.not_supported(verbs, &VERBS);
    }
}

fn validate_urls(urls: &Node<'_>, errors: &mut Errors) {
    if urls.is_empty() {
        errors.required(urls, "nonResourceURLs must contain at least one value");
    } else if has_wildcard(urls) {
        if urls.len() > 1 {
            errors.invalid(urls, "if '*' is present, must not specify other non-resource URLs");
        }
    } else {
        for url in urls.items() {
            if let Some(detail) = what_is_wrong_with_url(url.str()) {
                errors.invalid(&url, detail);
            }
        }
    }
}

fn what_is_wrong_with_url(url: &str) -> Option<&'static str> {
    let stars = url.matches('*').count();
    match url {
        "" => Some("must not be empty"),
        "/" => None,
        url if !url.starts_with('/') => Some("must start with slash"),
        url if url.contains(' ') => Some("must not contain white-space"),
        url if url.contains("//") => Some("must not contain double slash"),
        url if stars > 1 || (stars == 1 && !url.ends_with("/*")) => {
            Some("wildcard can only do suffix matching")
        }
        _ => None,
    }
}

fn has_wildcard(list: &Node<'_>) -> bool {
    list.list().iter().any(|item| item.str() == "*")
}
