//! Ingress: which hosts and paths lead to which Services.
//!
//! After `pkg/registry/networking/ingress` and `pkg/apis/networking/validation`.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, names};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::scalar::{validate_required_text, validate_text};
use crate::rules::{generation, status};

pub(crate) static KIND: Ingress = Ingress;
static STATUS: IngressStatus = IngressStatus;

/// The kind.
pub(crate) struct Ingress;

/// Its status.
struct IngressStatus;

/// What an update may keep although it is wrong.
#[derive(Clone, Copy, Default)]
struct Kept {
    secret_names: bool,
    rules_of_wildcard_hosts: bool,
}

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const HOSTS_SHOWN_MAX: usize = 3;
const NOT_AN_ADDRESS: &str = "must be a DNS name, not an IP address";

impl Kind for Ingress {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Ingress", "ingresses", PACKAGE)
            .short(&["ing"])
            .status(&STATUS)
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Class"),
                Column::text("Hosts"),
                Column::text("Address"),
                Column::text("Ports"),
                Column::AGE,
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let spec = object.at("spec");
        let class = match spec.at("ingressClassName") {
            Value::Null => "<none>",
            class => class.str(),
        };
        let ports = if spec.at("tls").is_empty() { "80" } else { "80, 443" };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            class.into(),
            hosts(spec.at("rules").list()).into(),
            addresses(object).into(),
            ports.into(),
            context.age(object).into(),
        ])
    }
}

fn hosts(rules: &[Value]) -> String {
    let named = rules.iter().map(|rule| rule.at("host").str()).enumerate();
    let named: Vec<(usize, &str)> = named.filter(|(_, host)| !host.is_empty()).collect();
    let shown: Vec<&str> = named.iter().take(HOSTS_SHOWN_MAX).map(|(_, host)| *host).collect();
    // Whatever comes after the last one that is shown counts as more.
    let is_more = named.get(HOSTS_SHOWN_MAX - 1).is_some_and(|(at, _)| at + 1 < rules.len());
    match (shown.as_slice(), is_more) {
        ([], _) => "*".into(),
        (shown, false) => shown.join(","),
        (shown, true) => {
            format!("{} + {} more...", shown.join(","), rules.len() - HOSTS_SHOWN_MAX)
        }
    }
}

fn addresses(ingress: &Value) -> String {
    let points = ingress.path(&["status", "loadBalancer", "ingress"]).list();
    let texts = points.iter().map(|point| match point.at("ip").str() {
        "" => point.at("hostname").str(),
        ip => ip,
    });
    let sorted: BTreeSet<&str> = texts.filter(|text| !text.is_empty()).collect();
    sorted.into_iter().collect::<Vec<&str>>().join(",")
}

impl Rules for Ingress {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        object.set("status", Value::from([("loadBalancer", orlop_machinery::Map::new())]));
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(&object.at("spec"), Kept::default(), errors);
        let annotation = object.value().path(&["metadata", "annotations"]).get(CLASS_ANNOTATION);
        let class = object.value().path(&["spec", "ingressClassName"]);
        if let Some(annotation) = annotation
            && !class.is_null()
            && annotation != class
        {
            let root = object.path().child("annotations");
            let at = root.child(CLASS_ANNOTATION);
            let detail = "must match `ingressClassName` when both are specified";
            errors.invalid_value(&at, annotation.str(), detail);
        }
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_spec(&new.at("spec"), Kept::from_old(old), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let annotations = object.value().path(&["metadata", "annotations"]).map();
        let has_class = !object.value().path(&["spec", "ingressClassName"]).is_null();
        if annotations.contains_key(CLASS_ANNOTATION) && !has_class {
            warnings.push(format!(
                "annotation \"{CLASS_ANNOTATION}\" is deprecated, please use \
                 'spec.ingressClassName' instead"
            ));
        }
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        _new: &Node<'_>,
        _old: &Node<'_>,
        _warnings: &mut Vec<String>,
    ) {
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for IngressStatus {
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
        let before = old.value().path(&["status", "loadBalancer", "ingress"]).list();
        let before: BTreeSet<&str> = before.iter().map(|known| known.at("ip").str()).collect();
        let status = new.at("status");
        let balancer = status.at("loadBalancer");
        for point in balancer.at("ingress").items() {
            let (ip, hostname) = (point.at("ip"), point.at("hostname"));
            if !ip.is_empty() && !before.contains(ip.str()) {
                validate_text(&ip, names::ip_legacy_strict, errors);
            }
            if !hostname.is_empty() {
                validate_text(&hostname, names::dns_subdomain, errors);
                if names::parse_ip(hostname.str()).is_some() {
                    errors.invalid(&hostname, NOT_AN_ADDRESS);
                }
            }
        }
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        _old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        for point in new.at("status").at("loadBalancer").at("ingress").items() {
            let ip = point.at("ip");
            if !ip.is_empty() {
                warnings.extend(names::ip_warnings(&point, ip.str()));
            }
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

impl Kept {
    fn from_old(old: &Node<'_>) -> Kept {
        let spec = old.at("spec");
        let has_bad_secret = spec.at("tls").list().iter().any(|tls| {
            let name = tls.at("secretName").str();
            !name.is_empty() && !names::dns_subdomain(name).is_empty()
        });
        let has_bad_rule = spec.at("rules").items().any(|rule| {
            let mut wrong = Errors::new();
            validate_http(&rule.at("http"), &mut wrong);
            rule.at("host").str().contains('*') && !wrong.is_empty()
        });
        Kept { secret_names: has_bad_secret, rules_of_wildcard_hosts: has_bad_rule }
    }
}

fn validate_spec(spec: &Node<'_>, kept: Kept, errors: &mut Errors) {
    let (backend, rules) = (spec.at("defaultBackend"), spec.at("rules"));
    if rules.is_empty() && !backend.is_set() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.invalid_value(spec, rules.value().clone(), detail);
    }
    if backend.is_set() {
        validate_backend(&backend, errors);
    }
    for rule in rules.items() {
        let is_wildcard = validate_host(&rule.at("host"), errors);
        if !is_wildcard || !kept.rules_of_wildcard_hosts {
            validate_http(&rule.at("http"), errors);
        }
    }
    for tls in spec.at("tls").items() {
        for host in tls.at("hosts").items() {
            let is_wildcard = host.str().contains('*');
            let rule =
                if is_wildcard { names::wildcard_dns_subdomain } else { names::dns_subdomain };
            validate_text(&host, rule, errors);
        }
        let secret = tls.at("secretName");
        if !secret.is_empty() && !kept.secret_names {
            validate_text(&secret, names::dns_subdomain, errors);
        }
    }
    let class = spec.at("ingressClassName");
    if class.is_set() {
        validate_text(&class, names::dns_subdomain, errors);
    }
}

/// Whether the host stands for many.
fn validate_host(host: &Node<'_>, errors: &mut Errors) -> bool {
    if host.is_empty() {
        return false;
    }
    if names::parse_ip(host.str()).is_some() {
        errors.invalid(host, NOT_AN_ADDRESS);
    }
    let is_wildcard = host.str().contains('*');
    let rule = if is_wildcard { names::wildcard_dns_subdomain } else { names::dns_subdomain };
    validate_text(host, rule, errors);
    is_wildcard
}

fn validate_http(http: &Node<'_>, errors: &mut Errors) {
    if !http.is_set() {
        return;
    }
    let paths = http.at("paths");
    if paths.is_empty() {
        errors.required(&paths, "");
    }
    for path in paths.items() {
        validate_path(&path, errors);
    }
}

fn validate_path(path: &Node<'_>, errors: &mut Errors) {
    let (ty, text) = (path.at("pathType"), path.at("path"));
    if !ty.is_set() {
        errors.required(&ty, "pathType must be specified");
        return;
    }
    let is_relative = !text.str().starts_with('/');
    match ty.str() {
        "Exact" | "Prefix" => {
            if is_relative {
                errors.invalid(&text, "must be an absolute path");
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"] {
                if text.str().contains(part) {
                    errors.invalid(&text, format!("must not contain '{part}'"));
                }
            }
            for end in ["/..", "/."] {
                if text.str().ends_with(end) {
                    errors.invalid(&text, format!("cannot end with '{end}'"));
                }
            }
        }
        "ImplementationSpecific" if is_relative && !text.is_empty() => {
            errors.invalid(&text, "must be an absolute path");
        }
        "ImplementationSpecific" => {}
        _ => errors.not_supported(&ty, &["Exact", "ImplementationSpecific", "Prefix"]),
    }
    validate_backend(&path.at("backend"), errors);
}

fn validate_backend(backend: &Node<'_>, errors: &mut Errors) {
    let (resource, service) = (backend.at("resource"), backend.at("service"));
    match (resource.is_set(), service.is_set()) {
        (true, true) => {
            errors.invalid_value(backend, "", "cannot set both resource and service backends");
        }
        (true, false) => {
            let group = resource.at("apiGroup");
            if group.is_set() {
                validate_text(&group, names::dns_subdomain, errors);
            }
            validate_required_text(&resource.at("kind"), names::path_segment_name, errors);
            validate_required_text(&resource.at("name"), names::path_segment_name, errors);
        }
        (false, true) => {
            validate_required_text(&service.at("name"), names::dns_label, errors);
            validate_service_port(backend, &service.at("port"), errors);
        }
        (false, false) => {
            errors.invalid_value(backend, "", "resource or service backend is required");
        }
    }
}

fn validate_service_port(backend: &Node<'_>, port: &Node<'_>, errors: &mut Errors) {
    let (name, number) = (port.at("name"), port.at("number"));
    match (name.is_empty(), number.int() == 0) {
        (false, false) => {
            errors.invalid_value(backend, "", "cannot set both port name & port number");
        }
        (false, true) => validate_text(&name, names::port_name, errors),
        (true, false) => {
            for message in names::port_number(number.int()) {
                errors.invalid(&number, message);
            }
        }
        (true, true) => errors.required(backend, "port name or number is required"),
    }
}
