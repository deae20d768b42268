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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Approval {
    Invalid,
    Approved,
    Bypassed,
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
    let must = format!("protected groups must have approval annotation {}", quote(ANNOTATION));
    let metadata = object.at("metadata");
    let annotations = metadata.at("annotations");
    let annotation = annotations.key(ANNOTATION);
    match approval {
        Approval::Approved | Approval::Bypassed => {}
        Approval::Missing => errors.required(&annotation, format!("{must}, {EXPLANATION}")),
        Approval::Invalid => {
            let detail = format!(
                "{must} with either a URL or a reason starting with \"unapproved\", {EXPLANATION}"
            );
            errors.invalid(&annotation, detail);
        }
    }
}

impl Approval {
    fn of(object: &Value) -> Approval {
        let text = object.path(&["metadata", "annotations", ANNOTATION]).str();
        let is_url = Url::parse(text).is_ok_and(|url| !url.host.is_empty() && !url.scheme.is_empty());
        match text {
            "" => Approval::Missing,
            text if text.starts_with("unapproved") => Approval::Bypassed,
            _ if is_url => Approval::Approved,
            _ => Approval::Invalid,
        }
    }
}

fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].into_iter().any(|domain| {
        group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}
