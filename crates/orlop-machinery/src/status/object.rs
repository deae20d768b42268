//! A status as an object, and back.

use super::{Cause, Details, Outcome, Reason, Status};
use crate::value::{Str, Value};

impl Status {
    /// As an object of kind Status, in normal form.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = Value::from([("apiVersion", "v1"), ("kind", "Status")]);
        value.set("metadata", self.metadata.clone());
        value.set("status", self.outcome.as_str());
        set(&mut value, "message", self.message.as_str());
        set(&mut value, "reason", self.reason.as_str());
        if let Some(details) = &self.details {
            value.set("details", details.to_value());
        }
        set(&mut value, "code", i64::from(self.code));
        value
    }

    /// From an object, if it is a Status. What is neither success nor failure counts as failure.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Status> {
        let is_status = value.at("kind").str() == "Status"
            && matches!(value.at("apiVersion").str(), "v1" | "meta.k8s.io/v1");
        if !is_status {
            return None;
        }
        let details = value.get("details").filter(|details| !details.is_null());
        Some(Status {
            metadata: value.at("metadata").map().clone(),
            outcome: Outcome::parse(value.at("status").str()),
            message: value.at("message").str().to_owned(),
            reason: Reason::parse(value.at("reason").str()),
            details: details.map(|details| Box::new(Details::from_value(details))),
            code: u16::try_from(value.at("code").int()).unwrap_or_default(),
        })
    }
}

impl Outcome {
    /// The text of `status`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Success => "Success",
            Outcome::Failure => "Failure",
        }
    }

    fn parse(text: &str) -> Outcome {
        if text == "Success" { Outcome::Success } else { Outcome::Failure }
    }
}

impl Details {
    fn to_value(&self) -> Value {
        let mut value = Value::Map(crate::value::Map::new());
        set(&mut value, "name", self.name.as_str());
        set(&mut value, "group", self.group.as_str());
        set(&mut value, "kind", self.kind.as_str());
        set(&mut value, "uid", self.uid.as_str());
        let causes: Vec<Value> = self.causes.iter().map(Cause::to_value).collect();
        set(&mut value, "causes", causes);
        set(&mut value, "retryAfterSeconds", self.retry_after_seconds);
        value
    }

    fn from_value(value: &Value) -> Details {
        let text = |field: &str| Str::new(value.at(field).str());
        Details {
            name: text("name"),
            group: text("group"),
            kind: text("kind"),
            uid: text("uid"),
            causes: value.at("causes").list().iter().map(Cause::from_value).collect(),
            retry_after_seconds: i32::try_from(value.at("retryAfterSeconds").int())
                .unwrap_or_default(),
        }
    }
}

impl Cause {
    fn to_value(&self) -> Value {
        let mut value = Value::Map(crate::value::Map::new());
        set(&mut value, "reason", self.reason.as_str());
        set(&mut value, "message", self.message.as_str());
        set(&mut value, "field", self.field.as_str());
        value
    }

    fn from_value(value: &Value) -> Cause {
        let text = |field: &str| value.at(field).str();
        Cause::new(text("reason"), text("message"), text("field"))
    }
}

fn set(value: &mut Value, field: &str, content: impl Into<Value>) {
    let content = content.into();
    if !content.is_empty() {
        value.set(field, content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_status_reads_as_it_writes() {
        for text in [
            r#"{"apiVersion":"v1","kind":"Status","metadata":{},"status":"Failure"}"#,
            r#"{"apiVersion":"v1","code":200,"details":{"kind":"pods","name":"a","uid":"1"},
                "kind":"Status","metadata":{"resourceVersion":"3"},"status":"Success"}"#,
            r#"{"apiVersion":"v1","code":409,"details":{"causes":[{"field":".a","message":"m",
                "reason":"r"},{}],"group":"g","retryAfterSeconds":2},"kind":"Status",
                "message":"x","metadata":{},"reason":"Mine","status":"Failure"}"#,
        ] {
            let value = json::parse(text.as_bytes()).unwrap();
            let status = Status::from_value(&value).unwrap();
            assert_eq!(status.to_value(), value);
        }
    }

    #[test]
    fn only_a_status_is_one() {
        for text in ["{}", "null", r#"{"kind":"Status"}"#, r#"{"apiVersion":"v1","kind":"Pod"}"#] {
            assert_eq!(Status::from_value(&json::parse(text.as_bytes()).unwrap()), None);
        }
        let other = json::parse(br#"{"apiVersion":"meta.k8s.io/v1","kind":"Status","code":-1}"#);
        assert_eq!(Status::from_value(&other.unwrap()), Some(Status::default()));
    }
}
