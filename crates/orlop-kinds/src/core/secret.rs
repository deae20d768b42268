//! Secret: settings for pods that not everybody may read.
//!
//! After `pkg/registry/core/secret` and `ValidateSecret` in
//! `pkg/apis/core/validation/validation.go`. Upstream also warns when a certificate and its key do
//! not belong together; here only what is no PEM at all is warned about.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules, Selectable};
use orlop_machinery::node::Node;
use orlop_machinery::value::Str;
use orlop_machinery::{Value, bytes, json, meta, names};

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: Secret = Secret;

/// The kind.
pub(crate) struct Secret;

/// All values together.
const SIZE_MAX: usize = 1024 * 1024;

impl Kind for Secret {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Secret", "secrets", PACKAGE)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.core.v1.Secret", |secret| {
            if secret.at("type").is_empty() {
                secret.set("type", "Opaque");
            }
            merge_string_data(secret);
        })]
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        &[Selectable { name: "type", get: |object| Str::new(object.at("type").str()) }]
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Type"), Column::text("Data"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let count = i64::try_from(object.at("data").map().len()).unwrap_or(i64::MAX);
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            object.at("type").str().into(),
            count.into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for Secret {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let data = object.at("data");
        let mut size = 0;
        for (key, value) in data.entries() {
            for message in names::config_map_key(key) {
                errors.invalid_value(&value, key, message);
            }
            size += bytes::decoded_len(value.str());
        }
        if size > SIZE_MAX {
            errors.too_long(&data, SIZE_MAX);
        }
        validate_type(object, &data, errors);
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        meta::validate_immutable(&new.at("type"), &old.at("type"), errors);
        if old.at("immutable").bool() {
            let detail = "field is immutable when `immutable` is set";
            if !new.at("immutable").bool() {
                errors.forbidden(&new.at("immutable"), detail);
            }
            if new.at("data").map() != old.at("data").map() {
                errors.forbidden(&new.at("data"), detail);
            }
        }
        self.validate(context, new, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        if object.at("type").str() != "kubernetes.io/tls" {
            return;
        }
        for (key, what) in [("tls.crt", "certificate"), ("tls.key", "key")] {
            let text = bytes::decode(object.value().at("data").at(key).str()).unwrap_or_default();
            if !text.windows(11).any(|part| part == b"-----BEGIN ") {
                warnings.push(format!("tls: failed to find any PEM data in {what} input"));
                return;
            }
        }
    }
}

/// What is written as text is kept as bytes, and never shown as text again.
fn merge_string_data(secret: &mut Value) {
    let Some(Value::Map(texts)) = secret.remove("stringData") else { return };
    for (key, text) in texts {
        secret.entry("data").set(&key, bytes::encode(text.str().as_bytes()));
    }
}

fn validate_type(object: &Node<'_>, data: &Node<'_>, errors: &mut Errors) {
    let has = |key: &str| data.map().contains_key(key);
    let mut require = |key: &str| errors.required(&data.key(key), "");
    match object.at("type").str() {
        "kubernetes.io/service-account-token" => {
            let key = "kubernetes.io/service-account.name";
            let metadata = object.at("metadata");
            let annotations = metadata.at("annotations");
            if annotations.key(key).is_empty() {
                errors.required(&annotations.key(key), "");
            }
        }
        "kubernetes.io/dockercfg" => validate_json(&data.key(".dockercfg"), errors),
        "kubernetes.io/dockerconfigjson" => validate_json(&data.key(".dockerconfigjson"), errors),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            require("username");
            require("password");
        }
        "kubernetes.io/ssh-auth" if data.key("ssh-privatekey").is_empty() => {
            require("ssh-privatekey");
        }
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)) {
                require(key);
            }
        }
        _ => {}
    }
}

/// The content must be a JSON object. It is never shown.
fn validate_json(content: &Node<'_>, errors: &mut Errors) {
    const REDACTED: &str = "<secret contents redacted>";
    if !content.is_set() {
        errors.required(content, "");
        return;
    }
    let text = bytes::decode(content.str()).unwrap_or_default();
    let found = match json::parse(&text) {
        Ok(Value::Map(_) | Value::Null) => return,
        Ok(Value::Bool(_)) => "bool",
        Ok(Value::Int(_) | Value::Float(_)) => "number",
        Ok(Value::String(_)) => "string",
        Ok(Value::List(_)) => "array",
        Err(error) => {
            errors.invalid_value(content, REDACTED, error.to_string());
            return;
        }
    };
    let detail =
        format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
    errors.invalid_value(content, REDACTED, detail);
}
