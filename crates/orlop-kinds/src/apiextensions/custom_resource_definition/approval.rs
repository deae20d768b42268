//! Groups of Kubernetes itself are only for what was approved.
//!
//! After `validateAPIApproval` and `pkg/apihelpers/helpers.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::url::Url;

const ANNOTATION: &str = "api-approved.kubernetes.io";
const EXPLANATION: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// What the annotation says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    /// Neither of the others.
    Invalid,
    /// Where it was approved.
    Approved,
    /// That it was not, and why that is fine.
    Bypassed,
    /// Nothing.
    Missing,
}

/// The annotation that says where a kind was approved. What was wrong before may stay so.
pub(super) fn validate_approval(object: &Node<'_>, old: Option<&Node<'_>>, errors: &mut Errors) {
    if !is_protected(object.value().path(&["spec", "group"]).str()) {
        return;
    }
    let approval = Approval::of(object.value());
    if old.is_some_and(|old| Approval::of(old.value()) == approval) {
        return;
    }
    let metadata = object.at("metadata");
    let annotations = metadata.at("annotations");
    let annotation = annotations.key(ANNOTATION);
    match approval {
        Approval::Approved | Approval::Bypassed => {}
        Approval::Missing => errors.required(&annotation, approval.reason(object.value())),
        Approval::Invalid => errors.invalid(&annotation, approval.reason(object.value())),
    }
}

impl Approval {
    /// What the annotation of an object says.
    pub(super) fn of(object: &Value) -> Approval {
        let text = annotation(object);
        let is_whole = |url: Url| !url.host.is_empty() && !url.scheme.is_empty();
        let is_url = Url::parse(text).is_ok_and(is_whole);
        match text {
            "" => Approval::Missing,
            text if text.starts_with("unapproved") => Approval::Bypassed,
            _ if is_url => Approval::Approved,
            _ => Approval::Invalid,
        }
    }

    /// Why it is this, for people.
    pub(super) fn reason(self, object: &Value) -> String {
        let text = annotation(object);
        let must = format!("protected groups must have approval annotation {}", quote(ANNOTATION));
        match self {
            Approval::Missing => format!("{must}, {EXPLANATION}"),
            Approval::Bypassed => format!("not approved: {}", quote(text)),
            Approval::Approved => format!("approved in {text}"),
            Approval::Invalid => format!(
                "{must} with either a URL or a reason starting with \"unapproved\", {EXPLANATION}"
            ),
        }
    }
}

fn annotation(object: &Value) -> &str {
    object.path(&["metadata", "annotations", ANNOTATION]).str()
}

/// Whether a group is one of Kubernetes itself.
pub(super) fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].into_iter().any(|domain| {
        group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}
