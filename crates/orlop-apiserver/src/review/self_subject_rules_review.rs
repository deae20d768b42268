//! SelfSubjectRulesReview: what may I do in a namespace.
//!
//! After `pkg/registry/authorization/selfsubjectrulesreview/rest.go`.

use std::sync::Arc;

use http::Response;
use orlop_machinery::Value;
use orlop_machinery::status::Status;

use super::{answer, read};
use crate::authz::rules_of;
use crate::body::Body;
use crate::call::Call;
use crate::server::Inner;

/// Tells what who asks may do.
pub(super) async fn create(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let asked = read(server, call).await?;
    if asked.path(&["spec", "namespace"]).is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let list = |words: &[&str]| Value::from(words.to_vec());
    let (mut resources, mut others) = (Vec::new(), Vec::new());
    for rule in rules_of(&call.user) {
        if rule.paths.is_empty() {
            resources.push(Value::from([
                ("verbs", list(&[rule.verb])),
                ("apiGroups", list(&[rule.group])),
                ("resources", list(rule.resources)),
            ]));
        } else {
            let paths = list(rule.paths);
            others.push(Value::from([("verbs", list(&[rule.verb])), ("nonResourceURLs", paths)]));
        }
    }
    let review = Value::from([
        ("apiVersion", asked.at("apiVersion").clone()),
        ("kind", asked.at("kind").clone()),
        (
            "status",
            Value::from([
                ("resourceRules", Value::List(resources)),
                ("nonResourceRules", Value::List(others)),
                ("incomplete", Value::from(false)),
            ]),
        ),
    ]);
    answer(server, call, review)
}
