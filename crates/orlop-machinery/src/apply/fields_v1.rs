//! Field sets as the API shows them: `{"f:spec":{"f:replicas":{}}}`.
//!
//! A step is a key: `f:` and a field's name, `k:` and the fields that identify an item as JSON,
//! `v:` and an item as JSON, `i:` and a place. `.` stands for the path itself where something is
//! below it too. Steps that start otherwise are skipped: a later version may know them.
//!
//! Text is written exactly as upstream writes it. Behaviour after `structured-merge-diff/fieldpath`
//! (`serialize.go`, `serialize-pe.go`) and the JSON writer that it uses, which escapes less in
//! keys than Go's own. Nesting is bounded.

mod read;
mod write;

pub use read::{FieldsError, from_value, parse};
pub use write::{to_text, to_value};

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json;
    use crate::value::Value;

    /// Reads, writes, and reads what was written in both forms.
    fn check(text: &str, expect: &str) {
        let set = parse(text).unwrap();
        assert_eq!(to_text(&set), expect);
        assert_eq!(parse(expect).unwrap(), set);
        assert_eq!(from_value(&to_value(&set)).unwrap(), set);
        assert_eq!(from_value(&json::parse(text.as_bytes()).unwrap()).unwrap(), set);
    }

    #[test]
    fn what_is_in_order_stays_as_it_is() {
        for text in [
            "{}",
            r#"{"f:spec":{"f:replicas":{}}}"#,
            r#"{"f:spec":{".":{},"f:replicas":{}}}"#,
            r#"{"f:a":{},"k:{\"name\":\"a\"}":{},"v:1":{},"i:0":{}}"#,
            r#"{"k:{\"a\":80,\"b\":\"TCP\"}":{},"k:{\"a\":443,\"b\":\"TCP\"}":{}}"#,
            r#"{"v:5":{},"v:\"b\"":{},"v:true":{},"v:[1]":{},"v:{\"a\":1}":{},"v:null":{}}"#,
            r#"{"i:-5":{},"i:1":{},"i:2":{}}"#,
        ] {
            check(text, text);
        }
    }

    #[test]
    fn what_is_in_disorder_is_put_in_order() {
        check(
            r#" { "v:10":{}, "f:b" : {"f:d":{}} , "f:a":null, "v:2":{"." : {"x":[1,"}"]}} } "#,
            r#"{"f:a":{},"f:b":{"f:d":{}},"v:2":{},"v:10":{}}"#,
        );
        check(r#"{"k:{\"b\":1,\"a\":2}":{}}"#, r#"{"k:{\"a\":2,\"b\":1}":{}}"#);
        check(
            r#"{"v:1.0":{},"v:0.0000001":{},"v:1e21":{}}"#,
            r#"{"v:1e-07":{},"v:1":{},"v:1e+21":{}}"#,
        );
    }

    #[test]
    fn steps_of_unknown_kinds_are_skipped() {
        check(r#"{"z:new":{"f:a":{}},"f:b":{"q:x":[1,{"a":"]"}]},".":{}}"#, r#"{"f:b":{}}"#);
    }

    #[test]
    fn text_is_escaped_as_upstream_does() {
        check(
            r#"{"f:a\"b\\c\n\u0008\u2028<&>\u00e9":{}}"#,
            "{\"f:a\\\"b\\\\c\\n\\u0008\\u2028<&>\u{e9}\":{}}",
        );
        check(r#"{"v:\"<a>\\n\"":{}}"#, r#"{"v:\"\\u003ca\\u003e\\n\"":{}}"#);
        check(r#"{"k:{\"<\":\"&\"}":{}}"#, r#"{"k:{\"<\":\"\\u0026\"}":{}}"#);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for text in [
            "",
            "{",
            "[]",
            "1",
            r#"{"f:a"}"#,
            r#"{"f:a":1}"#,
            r#"{"f:a":{}"#,
            r#"{"f:a":{}}}"#,
            r#"{"f":{}}"#,
            r#"{"fa":{}}"#,
            r#"{"v:":{}}"#,
            r#"{"v:x":{}}"#,
            r#"{"k:1":{}}"#,
            r#"{"k:{":{}}"#,
            r#"{"i:a":{}}"#,
            r#"{"f:a":{}, }"#,
            r#"{"f:a\"#,
            r#"{".":}"#,
            r#"{".":]}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(from_value(&Value::Int(1)).is_err());
        assert!(from_value(&Value::from([("f:a", 1)])).is_err());
        assert_eq!(
            parse(r#"{"fa":{}}"#).unwrap_err().to_string(),
            "parsing key as path element: missing colon: fa"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let deep =
            |depth: usize| format!("{}{{}}{}", r#"{"f:a":"#.repeat(depth), "}".repeat(depth));
        assert!(parse(&deep(500)).is_ok());
        assert!(parse(&deep(600)).is_err());
        assert!(parse(&deep(100_000)).is_err());
        let skipped = format!("{{\".\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(&skipped).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            _ = parse(&text);
        }

        #[test]
        fn text_like_a_set_is_read_or_refused(text in r#"[{}":,.fkvi1a\\\[\] ]{0,40}"#) {
            if let Ok(set) = parse(&text) {
                prop_assert_eq!(parse(&to_text(&set)).unwrap(), set);
            }
        }
    }
}
