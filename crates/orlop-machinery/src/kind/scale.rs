//! How many replicas an object has, as its `scale` shows it.
//!
//! After the `ScaleREST`s in `pkg/registry/{apps,core}` and, for custom resources,
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource/etcd.go`: all of them
//! copy the same few fields, so where they stand is all that a kind has to say. Who manages the
//! number stands in [`crate::apply::ScaleFields`].

use crate::label_selector::{LabelSelector, LabelSelectorError};
use crate::value::{Map, Str, Value};

/// Where an object keeps what its scale shows. A path is field names with dots between them.
///
/// ```
/// use orlop_machinery::{json, kind::{ScalePaths, ScaleSelector}};
///
/// let paths = ScalePaths {
///     replicas: "spec.replicas",
///     status_replicas: "status.replicas",
///     selector: ScaleSelector::LabelSelector("spec.selector"),
/// };
/// let mut object = json::parse(br#"{"metadata": {"name": "web"}, "spec": {"replicas": 3,
///     "selector": {"matchLabels": {"app": "web"}}}, "status": {"replicas": 2}}"#).unwrap();
/// let mut scale = paths.read(&object).unwrap();
/// assert_eq!(scale.path(&["spec", "replicas"]).int(), 3);
/// assert_eq!(scale.path(&["status", "selector"]).str(), "app=web");
///
/// scale.entry("spec").set("replicas", 5);
/// paths.write(&mut object, &scale);
/// assert_eq!(object.path(&["spec", "replicas"]).int(), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalePaths<'a> {
    /// The number of replicas that is wanted.
    pub replicas: &'a str,
    /// The number of replicas that there is.
    pub status_replicas: &'a str,
    /// Which pods are the replicas.
    pub selector: ScaleSelector<'a>,
}

/// Where an object says which pods are its replicas, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleSelector<'a> {
    /// It does not say.
    None,
    /// With `matchLabels` and `matchExpressions`.
    LabelSelector(&'a str),
    /// With the labels that they have.
    Labels(&'a str),
    /// In the form that queries have.
    Text(&'a str),
}

/// What of the metadata of an object its scale has.
const METADATA: [&str; 5] = ["creationTimestamp", "name", "namespace", "resourceVersion", "uid"];

impl ScalePaths<'_> {
    /// The `autoscaling/v1` Scale of an object.
    ///
    /// # Errors
    ///
    /// When the selector of the object cannot be read.
    pub fn read(&self, object: &Value) -> Result<Value, LabelSelectorError> {
        let known = object.at("metadata");
        let metadata: Map = METADATA
            .into_iter()
            .filter_map(|field| Some((Str::const_new(field), known.get(field)?.clone())))
            .collect();
        let mut status = Value::from([("replicas", find(object, self.status_replicas).int())]);
        let selector = self.read_selector(object)?;
        if !selector.is_empty() {
            status.set("selector", selector);
        }
        let mut spec = Value::Map(Map::new());
        let replicas = find(object, self.replicas).int();
        if replicas != 0 {
            spec.set("replicas", replicas);
        }
        Ok(Value::from([
            ("apiVersion", Value::from("autoscaling/v1")),
            ("kind", Value::from("Scale")),
            ("metadata", Value::Map(metadata)),
            ("spec", spec),
            ("status", status),
        ]))
    }

    /// Puts into the object what its scale says: the number of replicas, and the version of the
    /// object that the writer has seen.
    pub fn write(&self, object: &mut Value, scale: &Value) {
        let replicas = scale.path(&["spec", "replicas"]).int();
        let place = self.replicas.split('.').fold(&mut *object, Value::entry);
        *place = replicas.into();
        let metadata = object.entry("metadata");
        match scale.path(&["metadata", "resourceVersion"]) {
            Value::Null => {
                metadata.remove("resourceVersion");
            }
            version => metadata.set("resourceVersion", version.clone()),
        }
    }

    fn read_selector(&self, object: &Value) -> Result<String, LabelSelectorError> {
        let selector = match self.selector {
            ScaleSelector::None => return Ok(String::new()),
            ScaleSelector::Text(path) => return Ok(find(object, path).str().to_owned()),
            ScaleSelector::LabelSelector(path) => LabelSelector::from_value(find(object, path))?,
            ScaleSelector::Labels(path) => LabelSelector::from_labels(find(object, path).map()),
        };
        Ok(selector.to_string())
    }
}

fn find<'a>(object: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(object, Value::at)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    const PATHS: ScalePaths<'_> = ScalePaths {
        replicas: "spec.replicas",
        status_replicas: "status.replicas",
        selector: ScaleSelector::Labels("spec.selector"),
    };

    fn parse(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_scale_has_the_identity_of_its_object() {
        let object = parse(
            r#"{"metadata": {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "4",
                "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"x": "y"}},
                "spec": {"replicas": 0, "selector": {"x": "y", "a": "b"}}}"#,
        );
        let expect = parse(
            r#"{"apiVersion": "autoscaling/v1", "kind": "Scale",
                "metadata": {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "4",
                "creationTimestamp": "2026-01-01T00:00:00Z"},
                "spec": {}, "status": {"replicas": 0, "selector": "a=b,x=y"}}"#,
        );
        assert_eq!(PATHS.read(&object).unwrap(), expect);
    }

    #[test]
    fn selectors_come_in_three_forms() {
        let object = parse(
            r#"{"labels": {"a": "b"}, "text": "x in (y)", "selector": {"matchExpressions":
                [{"key": "a", "operator": "Exists"}]}, "bad": {"matchLabels": {"-": "b"}}}"#,
        );
        let check = |selector, expect: Option<&str>| {
            let scale = ScalePaths { selector, ..PATHS }.read(&object);
            let seen = scale.ok();
            let seen = seen.as_ref().map(|scale| scale.path(&["status", "selector"]).str());
            assert_eq!(seen, expect, "{selector:?}");
        };
        check(ScaleSelector::None, Some(""));
        check(ScaleSelector::Labels("labels"), Some("a=b"));
        check(ScaleSelector::Text("text"), Some("x in (y)"));
        check(ScaleSelector::LabelSelector("selector"), Some("a"));
        check(ScaleSelector::LabelSelector("missing"), Some(""));
        check(ScaleSelector::LabelSelector("bad"), None);
    }

    #[test]
    fn the_version_that_the_writer_saw_goes_with_the_number() {
        let check = |scale: &str, expect: &str| {
            let mut object = parse(r#"{"metadata": {"resourceVersion": "1"}}"#);
            PATHS.write(&mut object, &parse(scale));
            assert_eq!(object, parse(expect), "{scale}");
        };
        check("{}", r#"{"metadata": {}, "spec": {"replicas": 0}}"#);
        check(
            r#"{"metadata": {"resourceVersion": "7"}, "spec": {"replicas": 2}}"#,
            r#"{"metadata": {"resourceVersion": "7"}, "spec": {"replicas": 2}}"#,
        );
    }
}
