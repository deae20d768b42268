//! JSON patches under strict field validation.
//!
//! Follows `applyJSPatch` of `apiserver/pkg/endpoints/handlers/patch.go`: a request that wants
//! warnings or errors about fields has its patch decoded into a struct first. Then members of
//! another type are refused at once, and members that are unknown or stand twice are reported.

use super::{JsonPatch, JsonPatchError};
use crate::json;
use crate::patch::json_type;
use crate::text::quote;
use crate::value::Value;

const MEMBERS: [&str; 3] = ["op", "path", "from"];

impl JsonPatch {
    /// Reads a patch and says what is dubious about it: `json patch unknown field "[0].foo"`.
    ///
    /// Members that stand twice come first, then members that are unknown.
    ///
    /// # Errors
    ///
    /// When the text is not a JSON list of operations, or the list is too long.
    pub fn parse_strict(text: &[u8]) -> Result<(JsonPatch, Vec<String>), JsonPatchError> {
        let malformed =
            |message: String| JsonPatchError::Malformed(format!("error decoding patch: {message}"));
        let (value, twice) =
            json::parse_with_duplicates(text).map_err(|error| malformed(error.message))?;
        check_types(&value).map_err(malformed)?;
        let twice = twice.iter().map(|path| format!("json patch duplicate field {}", quote(path)));
        let mut dubious: Vec<String> = twice.collect();
        for (at, operation) in value.list().iter().enumerate() {
            let is_known = |key: &&str| MEMBERS.contains(key) || *key == "value";
            for key in operation.map().keys().filter(|key| !is_known(key)) {
                let path = quote(&format!("[{at}].{key}"));
                dubious.push(format!("json patch unknown field {path}"));
            }
        }
        Ok((JsonPatch::from_value(value)?, dubious))
    }
}

fn check_types(patch: &Value) -> Result<(), String> {
    let wrong = |found: &Value, wanted: &str| {
        Err(format!("json: cannot unmarshal {} into Go {wanted}", json_type(found)))
    };
    let list = match patch {
        Value::List(list) => list,
        Value::Null => return Ok(()),
        other => return wrong(other, "value of type []handlers.jsonPatchOp"),
    };
    for operation in list {
        if !matches!(operation, Value::Map(_) | Value::Null) {
            return wrong(operation, "value of type handlers.jsonPatchOp");
        }
        for name in MEMBERS {
            let member = operation.at(name);
            if !matches!(member, Value::String(_) | Value::Null) {
                return wrong(member, &format!("struct field jsonPatchOp.{name} of type string"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<&[&str], &str>) {
        let found = JsonPatch::parse_strict(text.as_bytes()).map(|(_, dubious)| dubious);
        let expect = expect.map(|list| list.iter().map(|text| (*text).to_owned()).collect());
        let error = |error: JsonPatchError| error.to_string();
        assert_eq!(found.map_err(error), expect.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn members_that_are_unknown_or_stand_twice_are_reported() {
        check("null", Ok(&[]));
        check("[null]", Ok(&[]));
        check(r#"[{"op":"add","path":"/a","value":{"x":1}}]"#, Ok(&[]));
        check(
            r#"[{"op":"add","op":"x","foo":1,"Path":"x"},{"value":{"a":1,"a":2},"z":1}]"#,
            Ok(&[
                r#"json patch duplicate field "[0].op""#,
                r#"json patch duplicate field "[1].value.a""#,
                r#"json patch unknown field "[0].Path""#,
                r#"json patch unknown field "[0].foo""#,
                r#"json patch unknown field "[1].z""#,
            ]),
        );
    }

    #[test]
    fn members_of_another_type_are_refused() {
        for (text, expect) in [
            ("{}", "object into Go value of type []handlers.jsonPatchOp"),
            ("[1]", "number into Go value of type handlers.jsonPatchOp"),
            (r#"[{"op":1}]"#, "number into Go struct field jsonPatchOp.op of type string"),
            (r#"[{"path":[]}]"#, "array into Go struct field jsonPatchOp.path of type string"),
            (r#"[{"from":true}]"#, "bool into Go struct field jsonPatchOp.from of type string"),
        ] {
            check(text, Err(&format!("error decoding patch: json: cannot unmarshal {expect}")));
        }
        check("[", Err("error decoding patch: unexpected end of JSON input"));
    }
}
