//! The objects that always exist, and whose spec cannot change.
//!
//! After `staging/src/k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap`.

use std::sync::LazyLock;

use orlop_machinery::{Value, json};

static FLOW_SCHEMAS: LazyLock<Value> = LazyLock::new(|| {
    let text = r#"{
        "exempt": {
            "priorityLevelConfiguration": {"name": "exempt"},
            "matchingPrecedence": 1,
            "rules": [{
                "subjects": [{"kind": "Group", "group": {"name": "system:masters"}}],
                "resourceRules": [{
                    "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"],
                    "clusterScope": true, "namespaces": ["*"]
                }],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]
            }]
        },
        "catch-all": {
            "priorityLevelConfiguration": {"name": "catch-all"},
            "matchingPrecedence": 10000,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{
                "subjects": [
                    {"kind": "Group", "group": {"name": "system:unauthenticated"}},
                    {"kind": "Group", "group": {"name": "system:authenticated"}}
                ],
                "resourceRules": [{
                    "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"],
                    "clusterScope": true, "namespaces": ["*"]
                }],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]
            }]
        }
    }"#;
    json::parse(text.as_bytes()).expect("it is JSON")
});

static PRIORITY_LEVELS: LazyLock<Value> = LazyLock::new(|| {
    let text = r#"{
        "exempt": {
            "type": "Exempt",
            "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}
        },
        "catch-all": {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 5,
                "lendablePercent": 0,
                "limitResponse": {"type": "Reject"}
            }
        }
    }"#;
    json::parse(text.as_bytes()).expect("it is JSON")
});

/// The spec of a mandatory flow schema.
pub(super) fn flow_schema(name: &str) -> Option<&'static Value> {
    FLOW_SCHEMAS.get(name)
}

/// The spec of a mandatory priority level.
pub(super) fn priority_level(name: &str) -> Option<&'static Value> {
    PRIORITY_LEVELS.get(name)
}
