//! SubjectAccessReview, LocalSubjectAccessReview and SelfSubjectAccessReview: may somebody do this.
//!
//! After `pkg/registry/authorization/{subject,localsubject,selfsubject}accessreview/rest.go` and
//! `.../util/helpers.go`.

use std::sync::Arc;

use http::Response;
use orlop_machinery::field::Errors;
use orlop_machinery::field_selector::FieldSelector;
use orlop_machinery::group_version::GroupKind;
use orlop_machinery::kind::Context;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};

use super::{answer, read};
use crate::authz::{Attributes, decide};
use crate::body::Body;
use crate::call::Call;
use crate::server::Inner;
use crate::user::User;

/// Tells whether somebody may do something.
pub(super) async fn create(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let mut review = read(server, call).await?;
    let definition = call.definition.clone();
    let mut errors = Errors::new();
    definition.kind.validate(&Context::default(), &definition.node(&review), &mut errors);
    if !errors.is_empty() {
        // Upstream says no kind here.
        let kind = GroupKind::new(&definition.resource.group, "");
        return Err(Status::invalid(&kind, "", &errors));
    }
    let spec = review.at("spec");
    let is_about_self = definition.resource.kind == "SelfSubjectAccessReview";
    let user = if is_about_self { call.user.clone() } else { user_of(spec) };
    let decision = decide(&user, &attributes_of(spec));
    let mut status = Value::from([("allowed", decision.is_allowed)]);
    if !decision.reason.is_empty() {
        status.set("reason", decision.reason);
    }
    let errors = evaluation_errors(spec.at("resourceAttributes"));
    if !errors.is_empty() {
        status.set("evaluationError", errors.join("; "));
    }
    review.set("status", status);
    answer(server, call, review)
}

/// Who a review asks about.
fn user_of(spec: &Value) -> User {
    let groups = spec.at("groups").list().iter().map(|group| Str::new(group.str())).collect();
    User {
        name: Str::new(spec.at("user").str()),
        uid: Str::new(spec.at("uid").str()),
        groups,
        extra: spec.at("extra").clone(),
    }
}

/// What a review asks about.
fn attributes_of(spec: &Value) -> Attributes<'_> {
    let (resource, other) = (spec.at("resourceAttributes"), spec.at("nonResourceAttributes"));
    if resource.is_null() {
        return Attributes {
            verb: other.at("verb").str(),
            path: other.at("path").str(),
            ..Attributes::default()
        };
    }
    Attributes {
        is_resource: true,
        verb: resource.at("verb").str(),
        group: resource.at("group").str(),
        resource: resource.at("resource").str(),
        subresource: resource.at("subresource").str(),
        ..Attributes::default()
    }
}

/// What of the selectors cannot be understood. It is left out of the question, which makes it one
/// about more.
fn evaluation_errors(attributes: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    let fields = read_fields(attributes.at("fieldSelector"));
    let labels = read_labels(attributes.at("labelSelector"));
    for (field, (understood, is_broken)) in [("fieldSelector", fields), ("labelSelector", labels)] {
        if is_broken {
            let partially = if understood > 0 { "partially " } else { "" };
            errors.push(format!(
                "spec.resourceAttributes.{field} {partially}ignored due to parse error"
            ));
        }
    }
    errors
}

/// How many requirements of a selector of fields are understood, and whether some are not.
fn read_fields(selector: &Value) -> (usize, bool) {
    let is_understood = |requirement: &Value| {
        let is_one = requirement.at("values").list().len() == 1;
        is_one && matches!(requirement.at("operator").str(), "In" | "NotIn")
    };
    let raw = selector.at("rawSelector").str();
    let parsed = raw.parse::<FieldSelector>().map(|parsed| parsed.requirements().len()).ok();
    count(selector, parsed, is_understood)
}

/// The same for labels.
fn read_labels(selector: &Value) -> (usize, bool) {
    let is_understood = |requirement: &Value| {
        let one = Value::from([("matchExpressions", Value::List(vec![requirement.clone()]))]);
        LabelSelector::from_value(&one).is_ok()
    };
    let raw = selector.at("rawSelector").str();
    let parsed = raw.parse::<LabelSelector>().map(|parsed| parsed.requirements().len()).ok();
    count(selector, parsed, is_understood)
}

fn count(
    selector: &Value,
    parsed: Option<usize>,
    is_understood: impl Fn(&Value) -> bool,
) -> (usize, bool) {
    let requirements = selector.at("requirements").list();
    if requirements.is_empty() {
        return (parsed.unwrap_or_default(), parsed.is_none());
    }
    let understood = requirements.iter().filter(|one| is_understood(one)).count();
    (understood, understood < requirements.len())
}

#[cfg(test)]
mod tests {
    use orlop_machinery::json;

    use super::*;

    #[test]
    fn selectors_that_cannot_be_understood_are_left_out() {
        let check = |attributes: &str, expect: &[&str]| {
            let attributes = json::parse(attributes.as_bytes()).unwrap();
            assert_eq!(evaluation_errors(&attributes), expect);
        };
        check(r#"{"verb":"list"}"#, &[]);
        check(
            r#"{"fieldSelector":{"rawSelector":"a=b=c"},"labelSelector":{"rawSelector":"!!"}}"#,
            &[
                "spec.resourceAttributes.fieldSelector ignored due to parse error",
                "spec.resourceAttributes.labelSelector ignored due to parse error",
            ],
        );
        check(
            r#"{"fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]},
                {"key":"a","operator":"Exists"}]},
                "labelSelector":{"requirements":[{"key":"a","operator":"Exists"},
                {"key":"a","operator":"Sometimes"}]}}"#,
            &[
                "spec.resourceAttributes.fieldSelector partially ignored due to parse error",
                "spec.resourceAttributes.labelSelector partially ignored due to parse error",
            ],
        );
    }
}
