//! What conversion may do to metadata: change labels and annotations, and nothing else.
//!
//! After `validateConvertedObject` and `restoreObjectMeta` of `webhook_converter.go`.

use orlop_machinery::field::{Errors, Path};
use orlop_machinery::meta::{Meta, validate_annotations, validate_labels};
use orlop_machinery::node::Node;
use orlop_machinery::status::aggregate;
use orlop_machinery::{Map, Value};

use super::review::go_type;

/// That a converted object is still the same one.
pub(super) fn check_identity(original: &Value, converted: &Value) -> Result<(), String> {
    let (old, new) = (Meta::of(original), Meta::of(converted));
    let pairs = [
        ("kind", original.at("kind").str(), converted.at("kind").str()),
        ("name", old.name(), new.name()),
        ("namespace", old.namespace(), new.namespace()),
        ("UID", old.uid(), new.uid()),
    ];
    match pairs.iter().find(|(_, old, new)| old != new) {
        Some((what, old, new)) => Err(format!("must have the same {what}: {old} != {new}")),
        None => Ok(()),
    }
}

/// Gives a converted object the metadata that it had, with its new labels and annotations.
pub(super) fn restore(original: &Value, converted: &mut Value) -> Result<(), String> {
    let Some(said) = converted.remove("metadata") else {
        return Err("missing metadata in converted object".to_owned());
    };
    let Value::Map(mut said) = said else {
        return Err(format!("invalid metadata of type {} in converted object", go_type(&said)));
    };
    let mut metadata = match original.get("metadata") {
        None => Map::new(),
        Some(Value::Map(metadata)) => metadata.clone(),
        Some(other) => {
            return Err(format!("invalid metadata of type {} in input object", go_type(other)));
        }
    };
    for field in ["labels", "annotations"] {
        match said.remove(field) {
            None | Some(Value::Null) => drop(metadata.remove(field)),
            Some(new) => {
                check_texts(field, &new, metadata.get(field))?;
                metadata.insert(field, new);
            }
        }
    }
    converted.set("metadata", metadata);
    Ok(())
}

/// Labels or annotations are texts, and well-formed unless they were there before.
fn check_texts(field: &str, new: &Value, old: Option<&Value>) -> Result<(), String> {
    let Value::Map(texts) = new else {
        let ty = go_type(new);
        return Err(format!("invalid metadata.{field} of type {ty} in converted object"));
    };
    if let Some(old) = old
        && !matches!(old, Value::Map(_) | Value::Null)
    {
        let ty = go_type(old);
        return Err(format!("invalid metadata.{field} of type {ty} in original object"));
    }
    for (key, value) in texts.iter() {
        if value.as_str().is_none() {
            let ty = go_type(value);
            let place = format!("metadata.{field}[{key}]");
            return Err(format!("{place} must be a string, but is {ty} in converted object"));
        }
    }
    if old.is_some_and(|old| old.map() == texts) || (old.is_none() && texts.is_empty()) {
        return Ok(());
    }
    let mut errors = Errors::new();
    let metadata = Path::field("metadata");
    if field == "labels" {
        validate_labels(&Node::new(new, metadata.child("labels")), &mut errors);
    } else {
        // Upstream has it without the last letter.
        validate_annotations(&Node::new(new, metadata.child("annotation")), &mut errors);
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(aggregate(errors.list().iter().map(ToString::to_string)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orlop_machinery::json;

    fn parse(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    /// Restores the metadata of an object and compares it.
    fn check(original: &str, said: &str, expect: Result<&str, &str>) {
        let original = parse(&format!(r#"{{"metadata": {original}}}"#));
        let mut converted = parse(&format!("{{{said}}}"));
        let restored = restore(&original, &mut converted);
        let found = restored.map(|()| converted.at("metadata").clone());
        assert_eq!(found, expect.map(parse).map_err(str::to_owned), "{said}");
    }

    #[test]
    fn only_labels_and_annotations_are_taken_over() {
        let original = r#"{"name": "a", "generation": 1, "labels": {"old": "1"}}"#;
        check(
            original,
            r#""metadata": {"name": "a", "generation": 9, "annotations": {"new": "2"}}"#,
            Ok(r#"{"name": "a", "generation": 1, "annotations": {"new": "2"}}"#),
        );
        check(
            original,
            r#""metadata": {"labels": null, "annotations": {}}"#,
            Ok(r#"{"name": "a", "generation": 1, "annotations": {}}"#),
        );
    }

    #[test]
    fn what_is_no_metadata_is_refused() {
        let check = |said: &str, expect: &str| check(r#"{"name": "a"}"#, said, Err(expect));
        check("", "missing metadata in converted object");
        check(r#""metadata": "x""#, "invalid metadata of type string in converted object");
        check(
            r#""metadata": {"labels": [1]}"#,
            "invalid metadata.labels of type []interface {} in converted object",
        );
        check(
            r#""metadata": {"annotations": {"a": 1}}"#,
            "metadata.annotations[a] must be a string, but is int64 in converted object",
        );
    }

    #[test]
    fn labels_that_are_malformed_may_stay_but_not_come() {
        let bad = r#"{"labels": {"a b": "x"}}"#;
        check(bad, &format!(r#""metadata": {bad}"#), Ok(bad));
        let part = "name part must consist of alphanumeric characters, '-', '_' or '.', and must \
                    start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  \
                    or '123-abc', regex used for validation is \
                    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
        let refused = format!("metadata.labels: Invalid value: \"a b\": {part}");
        check("{}", &format!(r#""metadata": {bad}"#), Err(&refused));
        let refused = format!("metadata.annotation: Invalid value: \"a b\": {part}");
        check("{}", r#""metadata": {"annotations": {"a b": "x"}}"#, Err(&refused));
    }

    #[test]
    fn an_object_stays_what_it_is() {
        let original = parse(r#"{"kind": "A", "metadata": {"name": "a", "uid": "1"}}"#);
        let check = |converted: &str, expect: Result<(), &str>| {
            let found = check_identity(&original, &parse(converted));
            assert_eq!(found, expect.map_err(str::to_owned));
        };
        check(r#"{"kind": "A", "metadata": {"name": "a", "uid": "1", "generation": 2}}"#, Ok(()));
        check(r#"{"kind": "A"}"#, Err("must have the same name: a != "));
        check(
            r#"{"kind": "A", "metadata": {"name": "a", "namespace": "b", "uid": "1"}}"#,
            Err("must have the same namespace:  != b"),
        );
        let other = r#"{"kind": "A", "metadata": {"name": "a", "uid": "2"}}"#;
        check(other, Err("must have the same UID: 1 != 2"));
    }
}
