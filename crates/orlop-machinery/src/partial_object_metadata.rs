//! Objects of which a client wants the metadata alone.
//!
//! After `asPartialObjectMetadata` in
//! `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/response.go`. Whether a request may ask for
//! it at all is the server's business.

use crate::value::{Map, Str, Value};

/// A version of the group `meta.k8s.io`. Both look the same to clients but for their name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetaVersion {
    /// `meta.k8s.io/v1`.
    #[default]
    V1,
    /// `meta.k8s.io/v1beta1`, which old clients still ask for.
    V1Beta1,
}

impl MetaVersion {
    /// As objects name it.
    #[must_use]
    pub fn api_version(self) -> &'static str {
        match self {
            MetaVersion::V1 => "meta.k8s.io/v1",
            MetaVersion::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// The object as a `PartialObjectMetadata`.
#[must_use]
pub fn from_object(object: &Value, version: MetaVersion) -> Value {
    let metadata = match object.at("metadata") {
        Value::Map(metadata) => metadata.clone(),
        _ => Map::new(),
    };
    Value::from([
        ("apiVersion", Value::from(version.api_version())),
        ("kind", Value::from("PartialObjectMetadata")),
        ("metadata", Value::Map(metadata)),
    ])
}

/// The list as a `PartialObjectMetadataList`.
#[must_use]
pub fn from_list(list: &Value, version: MetaVersion) -> Value {
    let items: Vec<Value> =
        list.at("items").list().iter().map(|item| from_object(item, version)).collect();
    Value::from([
        ("apiVersion", Value::from(version.api_version())),
        // Upstream has null where there are none.
        ("items", if items.is_empty() { Value::Null } else { Value::List(items) }),
        ("kind", Value::from("PartialObjectMetadataList")),
        ("metadata", list_metadata(list)),
    ])
}

/// What a list that was made of another list, or of an object, says about where it comes from.
pub(crate) fn list_metadata(source: &Value) -> Value {
    let fields: &[&str] = match source.get("items") {
        Some(_) => &["continue", "remainingItemCount", "resourceVersion"],
        None => &["resourceVersion"],
    };
    let metadata = source.at("metadata");
    let kept =
        fields.iter().filter_map(|&name| Some((Str::new(name), metadata.get(name)?.clone())));
    Value::Map(kept.filter(|(_, value)| !value.is_null()).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    fn check(
        make: fn(&Value, MetaVersion) -> Value,
        version: MetaVersion,
        text: &str,
        expect: &str,
    ) {
        let made = make(&json::parse(text.as_bytes()).unwrap(), version);
        assert_eq!(json::to_string(&made), expect);
    }

    #[test]
    fn an_object_keeps_its_metadata_alone() {
        check(
            from_object,
            MetaVersion::V1,
            r#"{"kind":"Pod","metadata":{"name":"a","labels":{"b":"c"}},"spec":{},"status":{}}"#,
            concat!(
                r#"{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","#,
                r#""metadata":{"labels":{"b":"c"},"name":"a"}}"#
            ),
        );
        check(
            from_object,
            MetaVersion::V1Beta1,
            r#"{"kind":"Pod"}"#,
            concat!(
                r#"{"apiVersion":"meta.k8s.io/v1beta1","kind":"PartialObjectMetadata","#,
                r#""metadata":{}}"#
            ),
        );
    }

    #[test]
    fn a_list_keeps_where_it_ends() {
        check(
            from_list,
            MetaVersion::V1,
            concat!(
                r#"{"metadata":{"resourceVersion":"5","continue":"x","remainingItemCount":2,"#,
                r#""selfLink":"y"},"items":[{"metadata":{"name":"a"},"spec":1}]}"#
            ),
            concat!(
                r#"{"apiVersion":"meta.k8s.io/v1","items":[{"apiVersion":"meta.k8s.io/v1","#,
                r#""kind":"PartialObjectMetadata","metadata":{"name":"a"}}],"#,
                r#""kind":"PartialObjectMetadataList","metadata":{"continue":"x","#,
                r#""remainingItemCount":2,"resourceVersion":"5"}}"#
            ),
        );
        check(
            from_list,
            MetaVersion::V1,
            r#"{"metadata":{},"items":[]}"#,
            concat!(
                r#"{"apiVersion":"meta.k8s.io/v1","items":null,"#,
                r#""kind":"PartialObjectMetadataList","metadata":{}}"#
            ),
        );
    }
}
