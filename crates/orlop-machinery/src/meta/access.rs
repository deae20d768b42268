//! Reading and writing the metadata of an object.

use crate::owner_reference::OwnerReference;
use crate::value::{Map, Str, Value};

/// The metadata of an object.
///
/// ```
/// use orlop_machinery::{json, meta::Meta};
///
/// let pod = json::parse(br#"{"metadata": {"name": "web", "labels": {"app": "a"}}}"#).unwrap();
/// let meta = Meta::of(&pod);
/// assert_eq!((meta.name(), meta.namespace(), meta.label("app")), ("web", "", Some("a")));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Meta<'a> {
    value: &'a Value,
}

impl<'a> Meta<'a> {
    /// That of an object.
    #[must_use]
    pub fn of(object: &'a Value) -> Meta<'a> {
        Meta { value: object.at("metadata") }
    }

    /// The value at `metadata` itself.
    #[must_use]
    pub fn new(metadata: &'a Value) -> Meta<'a> {
        Meta { value: metadata }
    }

    /// The name of the object.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.value.at("name").str()
    }

    /// What its name starts with when the server chooses it.
    #[must_use]
    pub fn generate_name(&self) -> &'a str {
        self.value.at("generateName").str()
    }

    /// The namespace; empty outside of namespaces.
    #[must_use]
    pub fn namespace(&self) -> &'a str {
        self.value.at("namespace").str()
    }

    /// The number that no other object ever has.
    #[must_use]
    pub fn uid(&self) -> &'a str {
        self.value.at("uid").str()
    }

    /// Which write made this state of the object.
    #[must_use]
    pub fn resource_version(&self) -> &'a str {
        self.value.at("resourceVersion").str()
    }

    /// Counts the changes of what is asked for.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.value.at("generation").int()
    }

    /// When it was created; empty before.
    #[must_use]
    pub fn creation_timestamp(&self) -> &'a str {
        self.value.at("creationTimestamp").str()
    }

    /// When it will be, or was to be, gone; none unless it is being deleted.
    #[must_use]
    pub fn deletion_timestamp(&self) -> Option<&'a str> {
        self.value.at("deletionTimestamp").as_str()
    }

    /// How long it may take to end.
    #[must_use]
    pub fn deletion_grace_period_seconds(&self) -> Option<i64> {
        self.value.at("deletionGracePeriodSeconds").as_int()
    }

    /// All labels.
    #[must_use]
    pub fn labels(&self) -> &'a Map {
        self.value.at("labels").map()
    }

    /// A label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.labels().get(key).and_then(Value::as_str)
    }

    /// All annotations.
    #[must_use]
    pub fn annotations(&self) -> &'a Map {
        self.value.at("annotations").map()
    }

    /// An annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.annotations().get(key).and_then(Value::as_str)
    }

    /// Who must agree before it is gone.
    pub fn finalizers(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        self.value.at("finalizers").list().iter().map(Value::str)
    }

    /// Whom it goes with.
    pub fn owner_references(&self) -> impl ExactSizeIterator<Item = OwnerReference<'a>> + use<'a> {
        self.value.at("ownerReferences").list().iter().map(OwnerReference::of)
    }

    /// The owner that controls it.
    #[must_use]
    pub fn controller(&self) -> Option<OwnerReference<'a>> {
        self.owner_references().find(OwnerReference::is_controller)
    }

    /// Whether the object with this uid controls it.
    #[must_use]
    pub fn is_controlled_by(&self, uid: &str) -> bool {
        self.controller().is_some_and(|controller| controller.uid == uid)
    }
}

/// The metadata of an object, to change it. What is set to zero is taken out.
#[derive(Debug)]
pub struct MetaMut<'a> {
    value: &'a mut Value,
}

impl<'a> MetaMut<'a> {
    /// That of an object, made when it is missing.
    #[must_use]
    pub fn of(object: &'a mut Value) -> MetaMut<'a> {
        MetaMut { value: object.entry("metadata") }
    }

    /// To read it.
    #[must_use]
    pub fn read(&self) -> Meta<'_> {
        Meta { value: self.value }
    }

    /// Sets the name.
    pub fn set_name(&mut self, name: &str) {
        self.set("name", name);
    }

    /// Sets what the name starts with.
    pub fn set_generate_name(&mut self, prefix: &str) {
        self.set("generateName", prefix);
    }

    /// Sets the namespace.
    pub fn set_namespace(&mut self, namespace: &str) {
        self.set("namespace", namespace);
    }

    /// Sets the uid.
    pub fn set_uid(&mut self, uid: &str) {
        self.set("uid", uid);
    }

    /// Sets the resource version.
    pub fn set_resource_version(&mut self, version: &str) {
        self.set("resourceVersion", version);
    }

    /// Sets the generation.
    pub fn set_generation(&mut self, generation: i64) {
        self.set("generation", generation);
    }

    /// Sets the time of creation.
    pub fn set_creation_timestamp(&mut self, time: &str) {
        self.set("creationTimestamp", time);
    }

    /// Sets the time of deletion.
    pub fn set_deletion_timestamp(&mut self, time: Option<&str>) {
        self.set("deletionTimestamp", time.unwrap_or_default());
    }

    /// Sets the grace period; zero is not the same as none.
    pub fn set_deletion_grace_period_seconds(&mut self, seconds: Option<i64>) {
        match seconds {
            Some(seconds) => self.value.set("deletionGracePeriodSeconds", seconds),
            None => self.remove("deletionGracePeriodSeconds"),
        }
    }

    /// Sets all labels.
    pub fn set_labels(&mut self, labels: Map) {
        self.set("labels", labels);
    }

    /// Sets a label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.value.entry("labels").set(key, value);
    }

    /// Sets all annotations.
    pub fn set_annotations(&mut self, annotations: Map) {
        self.set("annotations", annotations);
    }

    /// Sets an annotation.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        self.value.entry("annotations").set(key, value);
    }

    /// Sets all finalizers.
    pub fn set_finalizers(&mut self, finalizers: Vec<Str>) {
        self.set("finalizers", finalizers);
    }

    /// Sets all owner references.
    pub fn set_owner_references(&mut self, references: &[OwnerReference<'_>]) {
        let list: Vec<Value> = references.iter().map(OwnerReference::to_value).collect();
        self.set("ownerReferences", list);
    }

    /// Sets who manages which fields; null for nobody.
    pub fn set_managed_fields(&mut self, entries: Value) {
        self.set("managedFields", entries);
    }

    /// Takes a field out.
    pub(crate) fn remove(&mut self, field: &str) {
        self.value.remove(field);
    }

    /// Makes a field as it is in other metadata.
    pub(crate) fn copy(&mut self, field: &str, from: Meta<'_>) {
        match from.value.get(field) {
            Some(value) => self.value.set(field, value.clone()),
            None => self.remove(field),
        }
    }

    /// The list in a field, to change it.
    pub(crate) fn list_mut(&mut self, field: &str) -> Option<&mut Vec<Value>> {
        match self.value.get_mut(field) {
            Some(Value::List(list)) => Some(list),
            _ => None,
        }
    }

    fn set(&mut self, field: &str, value: impl Into<Value>) {
        let value = value.into();
        if value.is_empty() {
            self.remove(field);
        } else {
            self.value.set(field, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn what_is_missing_reads_as_zero() {
        let object = Value::Null;
        let meta = Meta::of(&object);
        assert_eq!((meta.name(), meta.namespace(), meta.uid()), ("", "", ""));
        assert_eq!((meta.resource_version(), meta.generation()), ("", 0));
        assert_eq!((meta.generate_name(), meta.creation_timestamp()), ("", ""));
        assert_eq!(meta.deletion_timestamp(), None);
        assert_eq!(meta.deletion_grace_period_seconds(), None);
        assert_eq!((meta.label("a"), meta.annotation("a")), (None, None));
        assert_eq!((meta.finalizers().len(), meta.owner_references().len()), (0, 0));
        assert!(meta.controller().is_none() && !meta.is_controlled_by(""));
    }

    #[test]
    fn what_is_set_is_read_back_and_zero_is_taken_out() {
        let mut object = Value::Null;
        let mut meta = MetaMut::of(&mut object);
        meta.set_name("a");
        meta.set_namespace("b");
        meta.set_uid("c");
        meta.set_resource_version("1");
        meta.set_generation(2);
        meta.set_creation_timestamp("2026-01-01T00:00:00Z");
        meta.set_deletion_timestamp(Some("2026-01-02T00:00:00Z"));
        meta.set_deletion_grace_period_seconds(Some(0));
        meta.set_label("l", "1");
        meta.set_annotation("n", "2");
        meta.set_finalizers(vec![Str::new("x/y")]);
        meta.set_generate_name("");
        let expect = br#"{"metadata": {"annotations": {"n": "2"}, "deletionGracePeriodSeconds": 0,
            "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"l": "1"}, "name": "a",
            "deletionTimestamp": "2026-01-02T00:00:00Z", "finalizers": ["x/y"], "generation": 2,
            "namespace": "b", "resourceVersion": "1", "uid": "c"}}"#;
        assert_eq!(object, json::parse(expect).unwrap());
        let mut meta = MetaMut::of(&mut object);
        meta.set_generation(0);
        meta.set_deletion_timestamp(None);
        meta.set_deletion_grace_period_seconds(None);
        meta.set_labels(Map::new());
        meta.set_annotations(Map::new());
        meta.set_finalizers(Vec::new());
        meta.set_creation_timestamp("");
        meta.set_managed_fields(Value::Null);
        let expect = r#"{"metadata":{"name":"a","namespace":"b","resourceVersion":"1","uid":"c"}}"#;
        assert_eq!(json::to_string(&object), expect);
    }

    #[test]
    fn the_controller_is_the_owner_that_says_so() {
        let text = br#"{"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1", "controller": false},
            {"apiVersion": "v1", "kind": "B", "name": "b", "uid": "2", "controller": true}]}}"#;
        let object = json::parse(text).unwrap();
        let meta = Meta::of(&object);
        assert_eq!(meta.controller().unwrap().kind, "B");
        assert!(meta.is_controlled_by("2") && !meta.is_controlled_by("1"));
        let references: Vec<_> = meta.owner_references().collect();
        let mut copy = Value::Null;
        MetaMut::of(&mut copy).set_owner_references(&references);
        assert_eq!(copy, object);
    }
}
