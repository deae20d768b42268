//! What a volume is filled with: `dataSource`, and `dataSourceRef` which came later.
//!
//! After `DropDisabledFields`, `EnforceDataSourceBackwardsCompatibility` and
//! `NormalizeDataSources` in `pkg/api/persistentvolumeclaim/util.go`. Both fields say the same,
//! unless the source is in another namespace, which only the newer one can say.

use orlop_machinery::{Map, Value};

/// The fields that both have.
const FIELDS: [&str; 3] = ["apiGroup", "kind", "name"];

/// Makes both fields say the same, and drops what is not heeded: sources in other namespaces, and
/// in the older field all but claims and snapshots. What the old claim has may stay.
pub(super) fn prepare(spec: &mut Value, old_spec: Option<&Value>) {
    let is_in_use = |field: &str| old_spec.is_some_and(|old| !old.at(field).is_null());
    let is_elsewhere = !spec.path(&["dataSourceRef", "namespace"]).is_empty();
    if is_elsewhere && !is_in_use("dataSourceRef") {
        spec.remove("dataSourceRef");
    }
    let is_new = !is_in_use("dataSource") && !is_in_use("dataSourceRef");
    let says_it_the_old_way = spec.at("dataSourceRef").is_null();
    if is_new && says_it_the_old_way && !is_claim_or_snapshot(spec.at("dataSource")) {
        spec.remove("dataSource");
    }
    fill_in(spec);
}

/// Fills in the field that is missing, if one is there.
pub(super) fn fill_in(spec: &mut Value) {
    let (source, reference) = (spec.at("dataSource"), spec.at("dataSourceRef"));
    if !source.is_null() && reference.is_null() {
        let copy = copy(source);
        spec.set("dataSourceRef", copy);
    } else if source.is_null() && !reference.is_null() && reference.at("namespace").is_empty() {
        let copy = copy(reference);
        spec.set("dataSource", copy);
    }
}

fn copy(source: &Value) -> Value {
    let mut copy = Value::Map(Map::new());
    for field in FIELDS {
        copy.set(field, source.at(field).clone());
    }
    copy
}

fn is_claim_or_snapshot(source: &Value) -> bool {
    let group_and_kind = (source.at("apiGroup").str(), source.at("kind").str());
    let known = [("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")];
    known.contains(&group_and_kind)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;
    use orlop_machinery::kind::Kind;

    fn check(spec: &str, expect: &str) {
        let mut claim = json::parse(format!(r#"{{"spec":{spec}}}"#).as_bytes()).unwrap();
        super::super::KIND.from_storage(&mut claim);
        assert_eq!(json::to_string(claim.at("spec")), expect);
    }

    #[test]
    fn stored_claims_of_older_versions_get_the_field_that_they_lack() {
        let source = r#"{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"a"}"#;
        let both = format!(r#"{{"dataSource":{source},"dataSourceRef":{source}}}"#);
        check("{}", "{}");
        check(&format!(r#"{{"dataSource":{source}}}"#), &both);
        check(&format!(r#"{{"dataSourceRef":{source}}}"#), &both);
        check(&both, &both);
        let elsewhere = r#"{"dataSourceRef":{"kind":"A","name":"a","namespace":"b"}}"#;
        check(elsewhere, elsewhere);
    }
}
