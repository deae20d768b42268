//! CertificateSigningRequest: somebody asks for a certificate, somebody approves, somebody signs.
//!
//! Each step has an endpoint of its own: the object itself for the request, `approval` for the
//! conditions Approved and Denied, `status` for the certificate. After
//! `pkg/registry/certificates/certificates` and `pkg/apis/certificates/validation`.

mod pem;

use std::collections::HashSet;

use orlop_machinery::shared::Shared;
use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::human_duration::human_duration;
use orlop_machinery::kind::{
    Column, Context, Kind, Resource, Row, Rules, Selectable, Subresource, Verb,
};
use orlop_machinery::names::NameRule;
use orlop_machinery::node::Node;
use orlop_machinery::time::Time;
use orlop_machinery::value::Str;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::signer_name::validate_signer_name;
use crate::rules::status;

pub(crate) static KIND: CertificateSigningRequest = CertificateSigningRequest;
static APPROVAL: Approval = Approval;
static STATUS: SigningStatus = SigningStatus;

/// The kind.
pub(crate) struct CertificateSigningRequest;

/// Where requests are approved and denied.
struct Approval;

/// Where certificates are handed out.
struct SigningStatus;

const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
const EXPIRATION_SECONDS_MIN: i64 = 600;
/// Conditions that are true or not there.
const FINAL: [&str; 3] = ["Approved", "Denied", "Failed"];
/// Sorted, as they are shown.
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// What an update may do at its endpoint, and what it may keep although it is wrong.
#[derive(Clone, Copy, Default)]
struct Options {
    sets_approval: bool,
    sets_certificate: bool,
    keeps_both_approved_and_denied: bool,
    keeps_legacy_signer: bool,
    keeps_duplicate_conditions: bool,
    keeps_empty_conditions: bool,
    keeps_certificate: bool,
    keeps_unknown_usages: bool,
    keeps_duplicate_usages: bool,
}

impl Kind for CertificateSigningRequest {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("CertificateSigningRequest", "certificatesigningrequests");
        Resource::cluster(GROUP_VERSION, kind, plural, PACKAGE)
            .short(&["csr"])
            .status(&STATUS)
            .subresource(Subresource {
                name: "approval",
                kind: None,
                verbs: &[Verb::Get, Verb::Patch, Verb::Update],
                rules: Some(Shared::Static(&APPROVAL)),
            })
    }

    fn name_rule(&self) -> NameRule {
        |_name, _is_prefix| Vec::new()
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        &[Selectable {
            name: "spec.signerName",
            get: |object| Str::new(object.path(&["spec", "signerName"]).str()),
        }]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::AGE,
                Column::text("SignerName"),
                Column::text("Requestor"),
                Column::text("RequestedDuration"),
                Column::text("Condition"),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let spec = object.at("spec");
        let signer = match spec.at("signerName").str() {
            "" => "<none>",
            signer => signer,
        };
        let duration = match spec.at("expirationSeconds") {
            Value::Null => "<none>".to_owned(),
            seconds => human_duration(seconds.int()),
        };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            context.age(object).into(),
            signer.into(),
            spec.at("username").str().into(),
            duration.into(),
            condition_text(object).into(),
        ])
    }
}

fn condition_text(object: &Value) -> String {
    let conditions = object.path(&["status", "conditions"]);
    let has = |ty: &str| !of_type(conditions, ty).is_empty();
    let mut text = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    }
    .to_owned();
    if has("Failed") {
        text += ",Failed";
    }
    if !object.path(&["status", "certificate"]).is_empty() {
        text += ",Issued";
    }
    text
}

impl Rules for CertificateSigningRequest {
    /// Who asks is who sends the request, whatever it says.
    fn prepare_create(&self, context: &Context<'_>, object: &mut Value) {
        let user = &context.user;
        let spec = object.entry("spec");
        let groups = Value::List(user.groups.iter().map(|group| Value::from(*group)).collect());
        let extra = user.extra.cloned().unwrap_or_default();
        let fields = [
            ("username", Value::from(user.name)),
            ("uid", Value::from(user.uid)),
            ("groups", groups),
            ("extra", extra),
        ];
        for (field, value) in fields {
            spec.remove(field);
            if !value.is_empty() {
                spec.set(field, value);
            }
        }
        status::clear(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate(object, Options::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_update(new, old, Options::from_old(new.value(), old.value()), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "status"]
    }
}

impl Rules for SigningStatus {
    fn prepare_update(&self, context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        for ty in ["Approved", "Denied"] {
            keep_conditions(new, old, ty);
        }
        set_times(context, new, old);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = Options::from_old(new.value(), old.value());
        validate_update(new, old, Options { sets_certificate: true, ..options }, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "status.conditions"]
    }
}

impl Rules for Approval {
    fn prepare_update(&self, context: &Context<'_>, new: &mut Value, old: &Value) {
        set_times(context, new, old);
        let conditions = new.path(&["status", "conditions"]).clone();
        status::keep(new, old, "spec");
        status::keep(new, old, "status");
        let kept = new.entry("status");
        kept.remove("conditions");
        if !conditions.is_empty() {
            kept.set("conditions", conditions);
        }
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = Options::from_old(new.value(), old.value());
        validate_update(new, old, Options { sets_approval: true, ..options }, errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "status.certificate"]
    }
}

impl Options {
    fn from_old(new: &Value, old: &Value) -> Options {
        let conditions = old.path(&["status", "conditions"]);
        let has = |ty: &str| !of_type(conditions, ty).is_empty();
        let types: Vec<&str> =
            conditions.list().iter().map(|condition| condition.at("type").str()).collect();
        let usages: Vec<&str> =
            old.path(&["spec", "usages"]).list().iter().map(Value::str).collect();
        let certificate = old.path(&["status", "certificate"]);
        Options {
            keeps_both_approved_and_denied: has("Approved") && has("Denied"),
            keeps_legacy_signer: old.path(&["spec", "signerName"]).str() == LEGACY_SIGNER,
            keeps_duplicate_conditions: has_duplicates(&types),
            keeps_empty_conditions: types.contains(&""),
            keeps_certificate: certificate == new.path(&["status", "certificate"])
                || pem::what_is_wrong_with_certificates(certificate.str()).is_some(),
            keeps_unknown_usages: usages.iter().any(|usage| !USAGES.contains(usage)),
            keeps_duplicate_usages: has_duplicates(&usages),
            ..Options::default()
        }
    }
}

fn has_duplicates(texts: &[&str]) -> bool {
    let mut seen = HashSet::new();
    !texts.iter().all(|text| seen.insert(text))
}

fn of_type<'a>(conditions: &'a Value, ty: &str) -> Vec<&'a Value> {
    conditions.list().iter().filter(|condition| condition.at("type").str() == ty).collect()
}

/// As long as there are as many as before, they are what they were.
fn keep_conditions(new: &mut Value, old: &Value, ty: &str) {
    let before = of_type(old.path(&["status", "conditions"]), ty);
    let Some(conditions) = new.path_mut(&["status", "conditions"]) else { return };
    let is_of_type = |condition: &Value| condition.at("type").str() == ty;
    if conditions.list().iter().filter(|condition| is_of_type(condition)).count() != before.len() {
        return;
    }
    let now = conditions.list_mut().iter_mut().filter(|condition| is_of_type(condition));
    for (condition, before) in now.zip(before) {
        *condition = before.clone();
    }
}

/// Conditions without times get them: those of the same condition before, else now.
fn set_times(context: &Context<'_>, new: &mut Value, old: &Value) {
    let now = Time::from_unix(context.now_seconds).to_string();
    let before = old.path(&["status", "conditions"]);
    let Some(conditions) = new.path_mut(&["status", "conditions"]) else { return };
    for condition in conditions.list_mut() {
        condition.set_default("lastUpdateTime", now.as_str());
        let same = before.list().iter().find(|known| {
            known.at("type") == condition.at("type")
                && known.at("status") == condition.at("status")
                && !known.at("lastTransitionTime").is_null()
        });
        let since = same.map_or(now.as_str(), |known| known.at("lastTransitionTime").str());
        condition.set_default("lastTransitionTime", since);
    }
}

fn validate(object: &Node<'_>, options: Options, errors: &mut Errors) {
    let spec = object.at("spec");
    let request = spec.at("request");
    if let Some(detail) = pem::what_is_wrong_with_request(request.str()) {
        errors.invalid(&request, detail);
    }
    validate_usages(&spec.at("usages"), options, errors);
    let signer = spec.at("signerName");
    if signer.str() == LEGACY_SIGNER && !options.keeps_legacy_signer {
        errors.invalid(&signer, "the legacy signerName is not allowed via this API version");
    } else {
        validate_signer_name(&signer, signer.str(), errors);
    }
    let seconds = spec.at("expirationSeconds");
    if seconds.is_set() && seconds.int() < EXPIRATION_SECONDS_MIN {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.invalid(&seconds, detail);
    }
    let status = object.at("status");
    validate_conditions(&status.at("conditions"), options, errors);
    let certificate = status.at("certificate");
    if !options.keeps_certificate
        && let Some(detail) = pem::what_is_wrong_with_certificates(certificate.str())
    {
        errors.invalid_value(&certificate, "<certificate data>", detail);
    }
}

fn validate_usages(usages: &Node<'_>, options: Options, errors: &mut Errors) {
    if usages.is_empty() {
        errors.required(usages, "");
    }
    if !options.keeps_unknown_usages {
        for usage in usages.items().filter(|usage| !USAGES.contains(&usage.str())) {
            errors.not_supported(&usage, &USAGES);
        }
    }
    if !options.keeps_duplicate_usages {
        let mut seen = HashSet::new();
        for (usage, text) in usages.items().zip(usages.list()) {
            if !seen.insert(text.str()) {
                errors.duplicate(&usage);
            }
        }
    }
}

fn validate_conditions(conditions: &Node<'_>, options: Options, errors: &mut Errors) {
    let (mut seen, mut decision) = (HashSet::new(), None);
    for (condition, value) in conditions.items().zip(conditions.list()) {
        let (ty, status) = (condition.at("type"), condition.at("status"));
        if ty.is_empty() && !options.keeps_empty_conditions {
            errors.required(&ty, "");
        }
        let allowed: &[&str] =
            if FINAL.contains(&ty.str()) { &["True"] } else { &["False", "True", "Unknown"] };
        if status.is_empty() {
            errors.required(&status, "");
        } else if !allowed.contains(&status.str()) {
            errors.not_supported(&status, allowed);
        }
        let text = value.at("type").str();
        if matches!(text, "Approved" | "Denied") && !options.keeps_both_approved_and_denied {
            if decision.is_some_and(|decision| decision != text) {
                let detail = "Approved and Denied conditions are mutually exclusive";
                errors.invalid_value(conditions, text, detail);
            }
            decision = decision.or(Some(text));
        }
        if !seen.insert(text) && !options.keeps_duplicate_conditions {
            errors.duplicate(&ty);
        }
    }
}

fn validate_update(new: &Node<'_>, old: &Node<'_>, options: Options, errors: &mut Errors) {
    validate(new, options, errors);
    let (status, old_status) = (new.at("status"), old.at("status"));
    let conditions = status.at("conditions");
    let of = |status: &Node<'_>, ty: &str| -> Vec<Value> {
        of_type(status.value().at("conditions"), ty).into_iter().cloned().collect()
    };
    for ty in FINAL {
        if of(&status, ty).len() < of(&old_status, ty).len() {
            let detail = format!("updates may not remove a condition of type \"{ty}\"");
            errors.forbidden(&conditions, detail);
        }
    }
    if !options.sets_approval {
        for ty in ["Approved", "Denied"] {
            let (now, before) = (of(&status, ty), of(&old_status, ty));
            if now.len() > before.len() {
                let detail = format!("updates may not add a condition of type \"{ty}\"");
                errors.forbidden(&conditions, detail);
            } else if now.len() == before.len() && now != before {
                let detail = format!("updates may not modify a condition of type \"{ty}\"");
                errors.forbidden(&conditions, detail);
            }
        }
    }
    let (certificate, before) = (status.at("certificate"), old_status.at("certificate"));
    if certificate.str() != before.str() {
        if !options.sets_certificate {
            errors.forbidden(&certificate, "updates may not set certificate content");
        } else if !before.is_empty() {
            errors.forbidden(&certificate, "updates may not modify existing certificate content");
        }
    }
}
