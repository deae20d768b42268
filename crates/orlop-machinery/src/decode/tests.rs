//! What decoding gives, text in and text out.

use proptest::prelude::*;

use super::sample::{nearly, schema, thing};
use super::*;
use crate::value::sample::any_value;
use crate::{encode, json};

/// The object as it is encoded, and the unknown fields; or the error.
fn decode_text(text: &str) -> String {
    let value = json::parse(text.as_bytes()).unwrap();
    match decode(schema(), thing(), value) {
        Ok(decoded) => {
            let object = encode::to_vec(schema(), thing(), &decoded.object);
            let unknown: String = decoded.unknown.iter().map(|path| format!(" -{path}")).collect();
            String::from_utf8(object).unwrap() + &unknown
        }
        Err(error) => error.to_string(),
    }
}

/// What becomes of a field of the spec.
#[track_caller]
fn check(field: &str, expect: &str) {
    let got = decode_text(&format!(r#"{{"spec":{{{field}}}}}"#));
    let head = r#"{"metadata":{},"spec":{"#;
    let tail = r#"},"status":{}}"#;
    let spec = got.strip_prefix(head).and_then(|rest| rest.rsplit_once(tail));
    let got = spec.map_or(got.clone(), |(spec, unknown)| format!("{spec}{unknown}"));
    assert_eq!(got, expect, "{field}");
}

/// The same, without the fields that are always there.
#[track_caller]
fn check_field(field: &str, expect: &str) {
    let got = decode_text(&format!(r#"{{"spec":{{{field}}}}}"#));
    let value = json::parse(got.as_bytes()).unwrap_or_else(|_| panic!("{field}: {got}"));
    let mut spec = value.at("spec").clone();
    for (name, zero) in ALWAYS {
        if json::to_string(spec.at(name)) == *zero {
            spec.remove(name);
        }
    }
    let got = json::to_string(&spec);
    assert_eq!(got, format!("{{{expect}}}"), "{field}");
}

const ALWAYS: &[(&str, &str)] = &[
    ("size", "0"),
    ("items", "null"),
    ("at", "null"),
    ("wait", r#""0s""#),
    ("port", "0"),
    ("raw", "null"),
    ("owner", "null"),
];

#[test]
fn what_is_missing_is_there_if_go_encodes_it() {
    check("", r#""size":0,"items":null,"at":null,"wait":"0s","port":0,"raw":null,"owner":null"#);
    assert_eq!(decode_text("null"), decode_text("{}"));
    assert_eq!(decode_text(r#"{"spec":null,"kind":"","metadata":{}}"#), decode_text("{}"));
}

#[test]
fn empty_values_stay_where_they_differ_from_none() {
    check_field(r#""replicas":0"#, r#""replicas":0"#);
    check_field(r#""replicas":null"#, "");
    check_field(r#""ratio":0,"paused":false,"policy":"","modes":[],"limits":{},"secret":"""#, "");
    check_field(r#""items":[]"#, r#""items":[]"#);
    check_field(
        r#""items":[null,{}]"#,
        r#""items":[{"name":"","value":"0"},{"name":"","value":"0"}]"#,
    );
    check_field(r#""pointers":[null,{}]"#, r#""pointers":[null,{"name":"","value":"0"}]"#);
    check_field(r#""modes":[null]"#, r#""modes":[""]"#);
    check_field(r#""limits":{"a":null}"#, r#""limits":{"a":"0"}"#);
    check_field(r#""secrets":{"a":null,"b":""}"#, r#""secrets":{"a":null,"b":""}"#);
    check_field(r#""owner":{}"#, r#""owner":{"name":"","value":"0"}"#);
    check_field(r#""surge":"","port":"""#, r#""port":"","surge":"""#);
    let meta = |text: &str| decode_text(&format!(r#"{{"metadata":{text}}}"#));
    assert!(meta(r#"{"origin":{"file":"","line":null}}"#).starts_with(r#"{"metadata":{},"#));
    assert!(meta(r#"{"origin":{"line":0}}"#).contains(r#"{"origin":{"file":"","line":0}}"#));
    assert!(meta(r#"{"created":null,"deleted":null}"#).starts_with(r#"{"metadata":{},"#));
    assert!(meta(r#"{"deleted":"0001-01-01T00:00:00Z"}"#).starts_with(r#"{"metadata":{},"#));
}

#[test]
fn values_get_the_form_that_upstream_prints() {
    check_field(
        r#""limits":{"a":1.50,"b":"1024Ki","c":" 1 ","d":2}"#,
        r#""limits":{"a":"1500m","b":"1Mi","c":"1","d":"2"}"#,
    );
    check_field(r#""secret":"eB=\n=""#, r#""secret":"eA==""#);
    check_field(r#""secret":[1,2,null]"#, r#""secret":"AQIA""#);
    check_field(
        r#""at":"2020-01-01T02:00:00.000100+02:00""#,
        r#""at":"2020-01-01T00:00:00.000100Z""#,
    );
    check_field(r#""wait":"90s","patience":"0""#, r#""patience":"0s","wait":"1m30s""#);
    check_field(r#""ratio":2"#, r#""ratio":2"#);
    check_field(r#""raw":[1,{"b":null,"a":1}]"#, r#""raw":[1,{"a":1,"b":null}]"#);
}

#[test]
fn a_struct_may_be_something_else() {
    check_field(r#""choice":true"#, r#""choice":true"#);
    check_field(r#""choices":[],"needs":{"a":["x"],"b":5}"#, r#""needs":{"a":["x"],"b":null}"#);
    check(r#""choice":5"#, "boolean or JSON schema expected");
    check(
        r#""choices":[{"size":"x","foo":1}]"#,
        "json: cannot unmarshal string into Go struct field Spec.spec.choices.size of type int64",
    );
    check_field(
        r#""choice":{"foo":1,"size":5}"#,
        concat!(
            r#""choice":{"at":null,"items":null,"owner":null,"port":0,"#,
            r#""raw":null,"size":5,"wait":"0s"}"#,
        ),
    );
}

#[test]
fn unknown_fields_are_named_and_gone() {
    let unknown = |text: &str| {
        let value = json::parse(text.as_bytes()).unwrap();
        decode(schema(), thing(), value).unwrap().unknown.join(" ")
    };
    assert_eq!(
        unknown(r#"{"foo":1,"Spec":{},"spec":{"":1,"items":[{},{"a.b":1}]}}"#),
        "Spec foo spec. spec.items[1].a.b"
    );
    assert_eq!(unknown(r#"{"spec":{"items":[{"extra":{"foo":["x"]}}],"raw":{"foo":1}}}"#), "");
    let fields: Vec<String> = (0..200).map(|at| format!(r#""f{at:03}":1"#)).collect();
    let value = json::parse(format!("{{{}}}", fields.join(",")).as_bytes()).unwrap();
    let unknown = decode(schema(), thing(), value).unwrap().unknown;
    assert_eq!((unknown.len(), unknown[99].as_str()), (100, "f099"));
    assert!(decode_text(r#"{"status":{"foo":1,"phase":""}}"#).contains(r#""status":{"foo":1}"#));
}

#[test]
fn wrong_types_are_reported_in_the_words_of_go() {
    let wrong = |field: &str, expect: &str| {
        check(field, &format!("json: cannot unmarshal {expect}"));
    };
    wrong(r#""replicas":"x""#, "string into Go struct field Spec.spec.replicas of type int32");
    wrong(
        r#""replicas":2147483648"#,
        "number 2147483648 into Go struct field Spec.spec.replicas of type int32",
    );
    wrong(r#""size":1.5"#, "number 1.5 into Go struct field Spec.spec.size of type int64");
    wrong(r#""ratio":"x""#, "string into Go struct field Spec.spec.ratio of type float64");
    wrong(r#""paused":1"#, "number into Go struct field Spec.spec.paused of type bool");
    wrong(r#""policy":5"#, "number into Go struct field Spec.spec.policy of type v1.Policy");
    wrong(r#""items":{}"#, "object into Go struct field Spec.spec.items of type []v1.Item");
    wrong(r#""items":[5]"#, "number into Go struct field Spec.spec.items of type v1.Item");
    wrong(
        r#""items":[{"name":[]}]"#,
        "array into Go struct field Item.spec.items.name of type string",
    );
    wrong(
        r#""items":[{"extra":{"a":"x"}}]"#,
        "string into Go struct field Item.spec.items.extra of type v1.Extra",
    );
    wrong(
        r#""items":[{"extra":{"a":[5]}}]"#,
        "number into Go struct field Item.spec.items.extra of type string",
    );
    wrong(r#""pointers":[[]]"#, "array into Go struct field Spec.spec.pointers of type v1.Item");
    wrong(r#""pointers":5"#, "number into Go struct field Spec.spec.pointers of type []*v1.Item");
    wrong(r#""modes":[true]"#, "bool into Go struct field Spec.spec.modes of type v1.Mode");
    wrong(r#""limits":"x""#, "string into Go struct field Spec.spec.limits of type v1.Limits");
    wrong(r#""secret":5"#, "number into Go struct field Spec.spec.secret of type []uint8");
    wrong(r#""secret":[256]"#, "number 256 into Go struct field Spec.spec.secret of type uint8");
    wrong(r#""at":5"#, "number into Go struct field Spec.spec.at of type string");
    wrong(r#""surge":1.5"#, "number 1.5 into Go struct field Spec.spec.surge of type int32");
    wrong(r#""surge":true"#, "bool into Go struct field Spec.spec.surge of type int32");
    wrong(
        r#""disk":{"path":5}"#,
        "number into Go struct field Disk.spec.Source.disk.path of type string",
    );
    let top = |text: &str, expect: &str| {
        assert_eq!(decode_text(text), format!("json: cannot unmarshal {expect}"));
    };
    top("[]", "array into Go value of type v1.Thing");
    top(r#"{"kind":5}"#, "number into Go struct field Thing.TypeMeta.kind of type string");
    top(r#"{"spec":5}"#, "number into Go struct field Thing.spec of type v1.Spec");
}

#[test]
fn what_is_malformed_is_reported_in_its_own_words() {
    check(r#""secret":"e*""#, "illegal base64 data at input byte 1");
    check(r#""wait":"1x""#, r#"time: unknown unit "x" in duration "1x""#);
    check(r#""wait":null"#, r#"time: invalid duration """#);
    check_field(r#""patience":null"#, "");
    check(r#""limits":{"a":"x"}"#, &crate::quantity::QuantityError::Format.to_string());
    check(
        r#""at":"x""#,
        r#"parsing time "x" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "x" as "2006""#,
    );
}

#[test]
fn go_stops_at_what_it_reads_with_code_of_its_own() {
    check(r#""replicas":"x","wait":"y","size":"z""#, r#"time: invalid duration "y""#);
    check(
        r#""choices":[{"size":"x"}],"paused":5"#,
        "json: cannot unmarshal string into Go struct field Spec.spec.choices.size of type int64",
    );
}

#[test]
fn nesting_has_a_bound() {
    let mut value = Value::Null;
    for _ in 0..2000 {
        value = Value::from([("spec", Value::from([("choice", value)]))]).at("spec").clone();
    }
    let error = decode(schema(), thing(), Value::from([("spec", value)])).unwrap_err();
    assert_eq!(error, DecodeError::Depth);
    let schema = crate::schema::parse(&["package p\nS\n inner S 1\n"]).unwrap();
    assert!(decode(&schema, schema.find("p.S").unwrap(), Value::Null).is_ok());
}

proptest! {
    #[test]
    fn decoding_twice_changes_nothing(seed in any::<u64>()) {
        if let Ok(once) = decode(schema(), thing(), nearly(thing(), seed)) {
            let twice = decode(schema(), thing(), once.object.clone()).unwrap();
            prop_assert_eq!(&twice.object, &once.object);
            prop_assert_eq!(twice.unknown.len(), 0);
            let text = encode::to_vec(schema(), thing(), &once.object);
            let read = decode(schema(), thing(), json::parse(&text).unwrap()).unwrap();
            prop_assert_eq!(read.object, once.object);
        }
    }

    #[test]
    fn text_and_value_decode_to_the_same(seed in any::<u64>()) {
        let value = nearly(thing(), seed);
        let from_text = read(schema(), thing(), &json::to_vec(&value)).unwrap();
        let from_value = decode(schema(), thing(), value);
        match (from_text, from_value) {
            (Ok(document), Ok(decoded)) => {
                let object = decode(schema(), thing(), document.value).unwrap().object;
                prop_assert_eq!(object, decoded.object);
                prop_assert_eq!(document.findings.len(), decoded.unknown.len());
            }
            (from_text, from_value) => prop_assert_eq!(from_text.err(), from_value.err()),
        }
    }

    #[test]
    fn no_value_makes_the_decoder_panic(value in any_value()) {
        for (id, _) in schema().iter() {
            let _ = decode(schema(), id, value.clone());
        }
    }
}
