//! One rule of a Role or ClusterRole.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::Scope;
use orlop_machinery::node::Node;

pub(super) fn validate_rules(rules: &Node<'_>, scope: Scope, errors: &mut Errors) {
    for rule in rules.items() {
        validate_rule(&rule, scope, errors);
    }
}

fn validate_rule(rule: &Node<'_>, scope: Scope, errors: &mut Errors) {
    if rule.at("verbs").is_empty() {
        errors.required(&rule.at("verbs"), "verbs must contain at least one value");
    }
    let urls = rule.at("nonResourceURLs");
    let is_about = |field| !rule.at(field).is_empty();
    if !urls.is_empty() {
        if scope == Scope::Namespaced {
            errors.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if is_about("apiGroups") || is_about("resources") || is_about("resourceNames") {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.invalid(&urls, detail);
        }
        return;
    }
    if !is_about("apiGroups") {
        let detail = "resource rules must supply at least one api group";
        errors.required(&rule.at("apiGroups"), detail);
    }
    if !is_about("resources") {
        errors.required(&rule.at("resources"), "resource rules must supply at least one resource");
    }
}
