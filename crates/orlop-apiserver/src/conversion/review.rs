//! ConversionReview: what a webhook is asked, and what it may answer.
//!
//! After `createConversionReviewObjects` and `getConvertedObjectsFromResponse` of
//! `webhook_converter.go`. Upstream reads answers into Go structs; what it says of answers that do
//! not fit is said here in its words, for the shapes that broken webhooks have.

use orlop_machinery::text::quote;
use orlop_machinery::{Value, json, yaml};

use crate::webhook_client::Answer;

const GROUP: &str = "apiextensions.k8s.io";
const KIND: &str = "ConversionReview";
/// How Go names the struct in which it looks for the kind of a document.
const TYPE_META: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
                         Kind string \"json:\\\"kind,omitempty\\\"\" }";
/// Where upstream's client made its list of kinds.
const SCHEME: &str = "k8s.io/apiserver/pkg/util/webhook/client.go:71";

/// The versions of ConversionReview that this server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReviewVersion {
    V1,
    /// Its answers may have any uid.
    V1Beta1,
}

impl ReviewVersion {
    /// The first version that a webhook and this server both speak.
    pub(super) fn choose(versions: &Value) -> Option<ReviewVersion> {
        versions.list().iter().find_map(|version| match version.str() {
            "v1" => Some(ReviewVersion::V1),
            "v1beta1" => Some(ReviewVersion::V1Beta1),
            _ => None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            ReviewVersion::V1 => "v1",
            ReviewVersion::V1Beta1 => "v1beta1",
        }
    }

    fn api_version(self) -> String {
        format!("{GROUP}/{}", self.name())
    }

    /// The bytes of a question.
    pub(super) fn request(self, uid: &str, desired: &str, objects: Vec<&Value>) -> Vec<u8> {
        let mut out = Vec::new();
        let head = format!(
            "{{\"kind\":\"{KIND}\",\"apiVersion\":\"{}\",\"request\":{{\"uid\":\"{uid}\",\
             \"desiredAPIVersion\":{},\"objects\":[",
            self.api_version(),
            json::to_string(&Value::from(desired))
        );
        out.extend_from_slice(head.as_bytes());
        for (at, object) in objects.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            json::write(object, &mut out);
        }
        // The empty answer goes out too, as upstream sends it.
        out.extend_from_slice(
            b"]},\"response\":{\"uid\":\"\",\"convertedObjects\":null,\
              \"result\":{\"metadata\":{}}}}",
        );
        out
    }

    /// The review in an answer.
    pub(super) fn read(self, answer: &Answer) -> Result<Value, String> {
        if answer.bytes.is_empty() {
            let Answer { code, content_type, .. } = answer;
            return Err(format!(
                "0-length response with status code: {code} and content type: {content_type}"
            ));
        }
        let review = json::parse(&answer.bytes).or_else(|error| {
            yaml::parse(&answer.bytes)
                .map_err(|_| format!("couldn't get version/kind; json parse error: {error}"))
        })?;
        if let Some(ty) = json_type(&review) {
            return Err(format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {ty} into Go \
                 value of type {TYPE_META}"
            ));
        }
        self.check_kind(&review)?;
        Ok(review)
    }

    /// That the answer is of the kind and version of the question. What is not said is forgiven
    /// here, and by v1 not forgiven later.
    fn check_kind(self, review: &Value) -> Result<(), String> {
        let (version, kind) = (review.at("apiVersion").str(), review.at("kind").str());
        let wanted = self.api_version();
        if (version.is_empty() || version == wanted) && (kind.is_empty() || kind == KIND) {
            return Ok(());
        }
        let is_review = [ReviewVersion::V1, ReviewVersion::V1Beta1]
            .iter()
            .any(|known| known.api_version() == version && kind == KIND);
        if is_review || (version, kind) == ("v1", "Status") {
            let short = version.rsplit('/').next().unwrap_or_default();
            let own = self.name();
            return Err(format!(
                "converting ({short}.{kind}) to ({own}.{KIND}): unknown conversion"
            ));
        }
        let (kind, version) = (quote(kind), quote(version));
        Err(format!("no kind {kind} is registered for version {version} in scheme \"{SCHEME}\""))
    }

    /// The objects that a webhook has converted.
    pub(super) fn converted(self, review: &mut Value, uid: &str) -> Result<Vec<Value>, String> {
        if self == ReviewVersion::V1 {
            check_said_kind(review)?;
        }
        let mut response = match review.remove("response") {
            None | Some(Value::Null) => return Err("no response provided".to_owned()),
            Some(response) => response,
        };
        if let Some(ty) = json_type(&response) {
            let own = self.name();
            return Err(format!(
                "json: cannot unmarshal {ty} into Go struct field {KIND}.response of type \
                 {own}.ConversionResponse"
            ));
        }
        let said = response.at("uid").str();
        if self == ReviewVersion::V1 && said != uid {
            let (uid, said) = (quote(uid), quote(said));
            return Err(format!("expected response.uid={uid}, got {said}"));
        }
        let result = response.at("result");
        let (status, message) = (result.at("status").str(), result.at("message").str());
        if status != "Success" {
            return Err(if message.is_empty() {
                format!("response.result.status was '{status}', not 'Success'")
            } else {
                message.to_owned()
            });
        }
        Ok(match response.remove("convertedObjects") {
            Some(Value::List(objects)) => objects,
            _ => Vec::new(),
        })
    }
}

fn check_said_kind(review: &Value) -> Result<(), String> {
    let (version, kind) = (review.at("apiVersion").str(), review.at("kind").str());
    let wanted = ReviewVersion::V1.api_version();
    if version == wanted && kind == KIND {
        return Ok(());
    }
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    Err(format!(
        "expected webhook response of {wanted}, Kind={KIND}, got {group}/{version}, Kind={kind}"
    ))
}

/// That a value is an object with a kind.
pub(super) fn check_object(object: &Value) -> Result<(), String> {
    if object.is_null() {
        return Err("unexpected end of JSON input".to_owned());
    }
    if let Some(ty) = json_type(object) {
        let map = "map[string]interface {}";
        return Err(format!("json: cannot unmarshal {ty} into Go value of type {map}"));
    }
    if object.at("kind").str().is_empty() {
        let shown = json::to_string(object);
        return Err(format!("Object 'Kind' is missing in '{shown}'"));
    }
    Ok(())
}

/// What Go's reader of JSON calls a value that is no object.
fn json_type(value: &Value) -> Option<&'static str> {
    match value {
        Value::Map(_) | Value::Null => None,
        Value::Bool(_) => Some("bool"),
        Value::Int(_) | Value::Float(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::List(_) => Some("array"),
    }
}

/// What Go calls the type of a value.
pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::List(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Answer {
        let bytes = text.to_owned().into();
        Answer { code: 200, content_type: "application/json".to_owned(), bytes }
    }

    /// How many objects an answer to the question `u` has.
    fn check_by(version: ReviewVersion, text: &str, expect: Result<usize, &str>) {
        let read = version.read(&answer(text));
        let converted = read.and_then(|mut review| version.converted(&mut review, "u"));
        let found = converted.map(|objects| objects.len());
        assert_eq!(found, expect.map_err(str::to_owned), "{text}");
    }

    fn check(text: &str, expect: Result<usize, &str>) {
        check_by(ReviewVersion::V1, text, expect);
    }

    const HEAD: &str = r#""kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1""#;

    #[test]
    fn a_question_is_what_upstream_asks() {
        let object = Value::from([("kind", "A"), ("apiVersion", "g/v1")]);
        let asked = ReviewVersion::V1Beta1.request("u", "g/v2", vec![&object, &object]);
        let expect = r#"{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1",
            "request":{"uid":"u","desiredAPIVersion":"g/v2","objects":[
            {"apiVersion":"g/v1","kind":"A"},{"apiVersion":"g/v1","kind":"A"}]},
            "response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}"#;
        let expect: String = expect.lines().map(str::trim).collect();
        assert_eq!(String::from_utf8(asked).unwrap(), expect);
    }

    #[test]
    fn a_right_answer_has_the_objects() {
        let response = r#"{"uid": "u", "result": {"status": "Success"}, "convertedObjects": [1]}"#;
        check(&format!(r#"{{{HEAD}, "response": {response}}}"#), Ok(1));
        let other = response.replace("\"u\"", "\"other\"");
        check_by(ReviewVersion::V1Beta1, &format!(r#"{{"response": {other}}}"#), Ok(1));
        let yaml = "kind: ConversionReview\napiVersion: apiextensions.k8s.io/v1\n\
                    response: {uid: u, result: {status: Success}}\n";
        check(yaml, Ok(0));
    }

    #[test]
    fn answers_that_are_no_review_are_refused() {
        check(
            "",
            Err("0-length response with status code: 200 and content type: application/json"),
        );
        let garbage = "couldn't get version/kind; json parse error: json: cannot unmarshal string \
                       into Go value of type struct { APIVersion string \
                       \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                       \"json:\\\"kind,omitempty\\\"\" }";
        check("garbage", Err(garbage));
        let nothing = "expected webhook response of apiextensions.k8s.io/v1, \
                       Kind=ConversionReview, got /, Kind=";
        check("{}", Err(nothing));
        check(
            r#"{"kind": "Pod", "apiVersion": "v1"}"#,
            Err("no kind \"Pod\" is registered for version \"v1\" in scheme \
                 \"k8s.io/apiserver/pkg/util/webhook/client.go:71\""),
        );
        check(
            r#"{"kind": "Status", "apiVersion": "v1"}"#,
            Err("converting (v1.Status) to (v1.ConversionReview): unknown conversion"),
        );
        check(
            &format!("{{{}}}", HEAD.replace("/v1", "/v1beta1")),
            Err("converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown \
                 conversion"),
        );
    }

    #[test]
    fn answers_without_success_are_refused() {
        let check = |response: &str, expect: &str| {
            check(&format!(r#"{{{HEAD}, "response": {response}}}"#), Err(expect));
        };
        check("null", "no response provided");
        check(r#"{"uid": "v"}"#, "expected response.uid=\"u\", got \"v\"");
        let none = "response.result.status was '', not 'Success'";
        check(r#"{"uid": "u", "result": {}}"#, none);
        let result = r#"{"status": "Failure", "message": "I will not"}"#;
        check(&format!(r#"{{"uid": "u", "result": {result}}}"#), "I will not");
        let text = "json: cannot unmarshal string into Go struct field ConversionReview.response \
                    of type v1.ConversionResponse";
        check("\"x\"", text);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let check = |value: Value, expect: &str| {
            assert_eq!(check_object(&value), Err(expect.to_owned()));
        };
        check(Value::Null, "unexpected end of JSON input");
        let text = "json: cannot unmarshal string into Go value of type map[string]interface {}";
        check(Value::from("x"), text);
        check(Value::from([("a", 1)]), "Object 'Kind' is missing in '{\"a\":1}'");
    }
}
