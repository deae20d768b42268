//! What a delete asks for. The options are an object, because they may come as one.
//!
//! After `Convert_url_Values_To_v1_DeleteOptions` of
//! `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/conversion.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::meta;
use orlop_machinery::node::Node;
use orlop_machinery::status::Status;

use super::refuse;
use crate::query::Query;

/// Only for what cannot be read any more; the feature that allows it is off.
const IGNORE_READ_ERRORS: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// The options in the parameters of a delete.
///
/// # Errors
///
/// The message of a bad request, when a number is none.
pub(crate) fn delete_options_from_query(query: &str) -> Result<Value, Status> {
    let query = Query::parse(query);
    let mut options = Value::from([("apiVersion", "meta.k8s.io/v1"), ("kind", "DeleteOptions")]);
    if let Some(seconds) = query.integer("gracePeriodSeconds").map_err(Status::bad_request)? {
        options.set("gracePeriodSeconds", seconds);
    }
    if let Some(is_orphaning) = query.truth("orphanDependents") {
        options.set("orphanDependents", is_orphaning);
    }
    if let Some(policy) = query.first("propagationPolicy") {
        options.set("propagationPolicy", policy);
    }
    let stages: Vec<&str> = query.all("dryRun").collect();
    if !stages.is_empty() {
        options.set("dryRun", stages);
    }
    for name in ["uid", "resourceVersion"] {
        let value = query.text(name);
        if !value.is_empty() {
            options.entry("preconditions").set(name, value);
        }
    }
    Ok(options)
}

/// Judges the options of a delete, wherever they came from.
///
/// # Errors
///
/// An invalid request, as upstream says it.
pub(crate) fn validate_delete_options(options: &mut Value) -> Result<(), Status> {
    options.remove(IGNORE_READ_ERRORS);
    let mut errors = Errors::new();
    meta::validate_delete_options(&Node::root(options), &mut errors);
    refuse("DeleteOptions", &errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orlop_machinery::json;

    fn check(query: &str, expect: &str) {
        let shown = match delete_options_from_query(query) {
            Err(status) => status.message,
            Ok(mut options) => {
                let judged = validate_delete_options(&mut options);
                options.remove("kind");
                options.remove("apiVersion");
                judged.map_or_else(|status| status.message, |()| json::to_string(&options))
            }
        };
        assert_eq!(shown, expect, "{query}");
    }

    #[test]
    fn all_parameters_are_read() {
        check("", "{}");
        check("gracePeriodSeconds=0", r#"{"gracePeriodSeconds":0}"#);
        check("orphanDependents=false", r#"{"orphanDependents":false}"#);
        check(
            "propagationPolicy=Orphan&dryRun=All",
            r#"{"dryRun":["All"],"propagationPolicy":"Orphan"}"#,
        );
        check("uid=u&resourceVersion=5", r#"{"preconditions":{"resourceVersion":"5","uid":"u"}}"#);
        check("uid=&ignoreStoreReadErrorWithClusterBreakingPotential=true", "{}");
    }

    #[test]
    fn bad_ones_are_refused() {
        check("gracePeriodSeconds=x", "strconv.ParseInt: parsing \"x\": invalid syntax");
        check(
            "propagationPolicy=X",
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \
             \"X\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
        );
        check(
            "propagationPolicy=Orphan&orphanDependents=1",
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \
             \"Orphan\": orphanDependents and deletionPropagation cannot be both set",
        );
    }
}
