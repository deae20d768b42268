//! Bodies and what is made of them.

use super::*;
use crate::catalog::Catalog;
use http_body_util::Full;

fn read(format: Format, bytes: &[u8], validation: FieldValidation) -> Result<Read, Status> {
    let catalog = Catalog::built_in();
    let definition = catalog.find("", "v1", "configmaps").unwrap();
    decode(&Target::of(definition), format, bytes, validation)
}

/// What a lenient request gets: the object and its warnings, or the message.
#[track_caller]
fn check(format: Format, text: &str, expect: &str) {
    let shown = match read(format, text.as_bytes(), FieldValidation::Warn) {
        Ok(read) => {
            let mut lines = vec![json::to_string(&read.object)];
            lines.extend(read.warnings);
            lines.join("\n")
        }
        Err(status) => {
            assert_eq!((status.code, status.reason.as_str()), (400, "BadRequest"));
            status.message
        }
    };
    assert_eq!(shown, expect, "{text}");
}

const EMPTY: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}"#;

#[test]
fn kind_and_version_may_be_left_out() {
    check(Format::Json, "{}", EMPTY);
    check(Format::Json, r#"{"kind":"ConfigMap"}"#, EMPTY);
    check(Format::Json, r#"{"apiVersion":"v1","kind":"ConfigMap"}"#, EMPTY);
    check(Format::Yaml, "kind: ConfigMap\n", EMPTY);
}

#[test]
fn what_is_no_object_is_unrecognized() {
    let wrong = "the object provided is unrecognized (must be of type ConfigMap): ";
    let parse = format!("{wrong}couldn't get version/kind; json parse error: ");
    check(Format::Json, "", &format!("{parse}unexpected end of JSON input (<empty>)"));
    check(Format::Json, "{", &format!("{parse}unexpected end of JSON input ({{)"));
    let text = "nonsense nonsense nonsense nonsense";
    let message = "invalid character 'o' in literal null (expecting 'u') \
                   (6e6f6e73656e7365206e6f6e73656e7365206e6f6e73656e7365206e6f6e ...)";
    check(Format::Json, text, &format!("{parse}{message}"));
    let message = "json: cannot unmarshal number into Go struct field .kind of type string";
    check(Format::Json, r#"{"kind":5}"#, &format!("{parse}{message} ({{\"kind\":5}})"));
    let message = "json: cannot unmarshal array into Go value of type struct { APIVersion string \
                   \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                   \"json:\\\"kind,omitempty\\\"\" } (5b5d)";
    check(Format::Json, "[]", &format!("{parse}{message}"));
    let message = "unexpected GroupVersion string: a/b/c ({\"apiVersion\":\"a/b/c\"})";
    check(Format::Json, r#"{"apiVersion":"a/b/c"}"#, &format!("{wrong}{message}"));
    let shown = read(Format::Yaml, b"[", FieldValidation::Warn).unwrap_err().message;
    assert!(shown.starts_with(&format!("{wrong}yaml: ")), "{shown}");
    check(Format::Protobuf, "", &format!("{wrong}empty data (<empty>)"));
    let message = "provided data does not appear to be a protobuf message, expected prefix [107 \
                   56 115 0] ({})";
    check(Format::Protobuf, "{}", &format!("{wrong}{message}"));
}

#[test]
fn another_kind_is_refused() {
    let body = |version: &str, kind: &str| {
        format!(r#"{{"apiVersion":"{version}","kind":"{kind}","spec":5}}"#)
    };
    let message = "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to \
                   (core.ConfigMap): unknown conversion";
    check(Format::Json, &body("v1", "Pod"), message);
    let message = "Chair in version \"v1\" cannot be handled as a ConfigMap: no kind \"Chair\" is \
                   registered for version \"v1\" in scheme \
                   \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"";
    check(Format::Json, &body("v1", "Chair"), message);
    let catalog = Catalog::built_in();
    let events = Target::of(catalog.find("", "v1", "events").unwrap());
    let body = br#"{"apiVersion":"events.k8s.io/v1","kind":"Event"}"#;
    let status = decode(&events, Format::Json, body, FieldValidation::Warn).unwrap_err();
    let message = "the API version in the data (events.k8s.io/v1) does not match the expected API \
                   version (v1)";
    assert_eq!(status.message, message);
}

#[test]
fn fields_are_judged_as_the_request_wants() {
    let text = r#"{"foo":1,"data":{"a":"b"},"data":{"a":"c"}}"#;
    let object = r#"{"apiVersion":"v1","data":{"a":"c"},"kind":"ConfigMap","metadata":{}}"#;
    let warnings = "unknown field \"foo\"\nduplicate field \"data\"";
    check(Format::Json, text, &format!("{object}\n{warnings}"));
    let read = read(Format::Json, text.as_bytes(), FieldValidation::Strict);
    let message = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding \
                   error: unknown field \"foo\", duplicate field \"data\"";
    assert_eq!(read.unwrap_err().message, message);
    let message = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot \
                   unmarshal string into Go struct field ConfigMap.data of type map[string]string";
    check(Format::Json, r#"{"data":"x"}"#, message);
    check(Format::Yaml, "data: x", message);
}

#[test]
fn protobuf_brings_its_kind_along() {
    let catalog = Catalog::built_in();
    let definition = catalog.find("", "v1", "configmaps").unwrap();
    let object = json::parse(br#"{"metadata":{"name":"a"},"data":{"b":"c"}}"#).unwrap();
    let raw = protobuf::encode(&definition.schema, definition.id, &object);
    let expect =
        r#"{"apiVersion":"v1","data":{"b":"c"},"kind":"ConfigMap","metadata":{"name":"a"}}"#;
    for (version, kind) in [("v1", "ConfigMap"), ("", "")] {
        let sealed = protobuf::seal(version, kind, &raw);
        let read = read(Format::Protobuf, &sealed, FieldValidation::Strict).unwrap();
        assert_eq!(json::to_string(&read.object), expect);
    }
    let sealed = protobuf::seal("v1", "Pod", &raw);
    let status = read(Format::Protobuf, &sealed, FieldValidation::Warn).unwrap_err();
    assert!(status.message.ends_with("unknown conversion"), "{status}");
}

#[test]
fn deletes_take_options_of_any_version() {
    let check = |text: &str, expect: &str| {
        let shown = match decode_delete_options(Format::Json, text.as_bytes()) {
            Ok(options) => json::to_string(&options),
            Err(status) => status.message,
        };
        assert_eq!(shown, expect, "{text}");
    };
    let expect = r#"{"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":5,"kind":"DeleteOptions"}"#;
    check(r#"{"gracePeriodSeconds":5}"#, expect);
    check(r#"{"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":5}"#, expect);
    check(r#"{"gracePeriodSeconds":5,"unknown":1}"#, expect);
    check("{", "couldn't get version/kind; json parse error: unexpected end of JSON input");
    let message = "no kind \"Pod\" is registered for version \"v1\" in scheme \
                   \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"";
    check(r#"{"kind":"Pod","apiVersion":"v1"}"#, message);
}

/// A body that comes in pieces, and then ends or does not.
struct Slow(Vec<usize>, bool);

impl http_body::Body for Slow {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match self.0.pop() {
            Some(length) => {
                let data = Bytes::from(vec![b'a'; length]);
                std::task::Poll::Ready(Some(Ok(http_body::Frame::data(data))))
            }
            None if self.1 => std::task::Poll::Ready(None),
            None => std::task::Poll::Pending,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_is_read_up_to_a_bound() {
    let time = Duration::from_secs(1);
    let full = |length: usize| {
        Full::new(Bytes::from(vec![b'a'; length])).map_err(|never| match never {}).boxed_unsync()
    };
    let slow = |pieces: &[usize], ends: bool| Slow(pieces.to_vec(), ends).boxed_unsync();
    for body in [full(10), slow(&[3, 3, 4], true), slow(&[10], true)] {
        assert_eq!(read_to_end(body, 10, time).await.unwrap().len(), 10);
    }
    for body in [full(11), slow(&[3, 3, 5], true), slow(&[11], false)] {
        let status = read_to_end(body, 10, time).await.unwrap_err();
        let message = "Request entity too large: limit is 10";
        assert_eq!((status.code, status.message.as_str()), (413, message));
    }
    let status = read_to_end(slow(&[3], false), 10, time).await.unwrap_err();
    assert_eq!((status.code, status.reason.as_str()), (504, "Timeout"));
}
