//! Objects of a custom resource from one version into another.
//!
//! A [`Converter`] belongs to one CustomResourceDefinition as it is now: when that changes, a new
//! one is made. An object that is in the wanted version already is left alone; all others of a list
//! go through conversion together. What comes out differs from what went in by `apiVersion`, by
//! what the strategy says, and in metadata by labels and annotations only.
//!
//! Strategy `None` with rules in an annotation of the definition is conversion by these rules,
//! which is ours ([`orlop_kinds::conversion_rules`]).
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/{converter,
//! nop_converter}.go`. Errors are upstream's texts with code 500 and without a reason, as a Go
//! error that nobody has given one.
//!
//! Not here: defaulting and pruning of what comes out, which is the reader's task, as upstream.

mod metadata;
mod review;
mod webhook;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use orlop_kinds::conversion_rules::ConversionRules;
use orlop_machinery::Value;
use orlop_machinery::group_version::GroupVersion;
use orlop_machinery::status::{Reason, Status};

use crate::metrics::ConversionTimes;
use crate::webhook_client::{NoServices, ServiceResolver, WebhookOptions};
use webhook::WebhookConverter;

/// How long a call of a conversion webhook may take.
pub const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// What converters have in common.
#[derive(Clone)]
pub struct ConversionOptions {
    /// Who knows where Services are.
    pub services: Arc<dyn ServiceResolver>,
    /// How webhooks are called.
    pub webhook: WebhookOptions,
    /// How long one call may take.
    pub timeout: Duration,
    /// Where it is noted how long calls took.
    pub times: Arc<ConversionTimes>,
}

impl Default for ConversionOptions {
    fn default() -> ConversionOptions {
        ConversionOptions {
            services: Arc::new(NoServices),
            webhook: WebhookOptions::default(),
            timeout: WEBHOOK_TIMEOUT,
            times: Arc::default(),
        }
    }
}

/// Converts objects of one custom resource.
#[derive(Debug)]
pub struct Converter {
    versions: BTreeSet<String>,
    strategy: Strategy,
}

#[derive(Debug)]
enum Strategy {
    /// Only `apiVersion` changes.
    None,
    /// Rules in an annotation say how. Upstream would change `apiVersion` only.
    Rules(Box<ConversionRules>),
    /// Somebody is asked.
    Webhook(Box<WebhookConverter>),
}

impl Converter {
    /// The converter of a CustomResourceDefinition.
    ///
    /// # Errors
    /// When it asks for what cannot be done: objects can then be neither read nor written in any
    /// version but the one that they are stored in.
    pub fn new(definition: &Value, options: &ConversionOptions) -> Result<Converter, Status> {
        let spec = definition.at("spec");
        let group = spec.at("group").str();
        let versions = spec.at("versions").list().iter();
        let versions = versions
            .map(|version| GroupVersion::new(group, version.at("name").str()).to_string())
            .collect();
        let name = definition.path(&["metadata", "name"]).str();
        let strategy = match spec.path(&["conversion", "strategy"]).str() {
            "None" => match ConversionRules::compile(definition) {
                Ok(None) => Strategy::None,
                Ok(Some(rules)) => Strategy::Rules(Box::new(rules)),
                Err(details) => {
                    let why = details.join("; ");
                    return Err(untyped(format!("bad conversion rules for CRD {name}: {why}")));
                }
            },
            "Webhook" => {
                let webhook = spec.path(&["conversion", "webhook"]);
                let converter = WebhookConverter::new(name, webhook, options);
                Strategy::Webhook(Box::new(converter.map_err(|error| untyped(error.to_string()))?))
            }
            other => {
                let message = format!("unknown conversion strategy \"{other}\" for CRD {name}");
                return Err(untyped(message));
            }
        };
        Ok(Converter { versions, strategy })
    }

    /// Whether an object of one version is one of another without more than its `apiVersion`.
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        matches!(self.strategy, Strategy::None)
    }

    /// Converts objects into the version `to`, such as `example.com/v1`. They come back in the same
    /// order; either all of them or none.
    ///
    /// # Errors
    /// When one is in a version that the resource does not have, or its conversion fails.
    pub async fn convert(&self, mut objects: Vec<Value>, to: &str) -> Result<Vec<Value>, Status> {
        self.check_versions(&objects, to)?;
        match &self.strategy {
            Strategy::None => {
                for object in &mut objects {
                    object.set("apiVersion", to);
                }
                Ok(objects)
            }
            Strategy::Rules(rules) => {
                let version = to.rsplit('/').next().unwrap_or_default();
                let convert = |object| {
                    rules.convert(object, version).map_err(|error| untyped(error.to_string()))
                };
                objects.into_iter().map(convert).collect()
            }
            Strategy::Webhook(webhook) => webhook.convert(objects, to).await,
        }
    }

    fn check_versions(&self, objects: &[Value], to: &str) -> Result<(), Status> {
        if !self.versions.contains(to) {
            let message = format!("request to convert CR to an invalid group/version: {to}");
            return Err(untyped(message));
        }
        for (index, object) in objects.iter().enumerate() {
            let from = object.at("apiVersion").str();
            if self.versions.contains(from) {
                continue;
            }
            return Err(untyped(if objects.len() == 1 {
                format!("request to convert CR from an invalid group/version: {from}")
            } else {
                format!(
                    "request to convert CR list failed, list index {index} has invalid \
                     group/version: {from}"
                )
            }));
        }
        Ok(())
    }
}

/// What a client sees of an error without a reason.
fn untyped(message: impl Into<String>) -> Status {
    Status::failure(500, Reason::Unknown, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orlop_machinery::json;

    fn definition(conversion: &str) -> Value {
        let text = format!(
            r#"{{"metadata": {{"name": "foos.example.com"}}, "spec": {{"group": "example.com",
                "versions": [{{"name": "v1"}}, {{"name": "v2"}}], "conversion": {conversion}}}}}"#
        );
        json::parse(text.as_bytes()).unwrap()
    }

    async fn check(versions: &[&str], to: &str, expect: Result<(), &str>) {
        let converter =
            Converter::new(&definition(r#"{"strategy": "None"}"#), &ConversionOptions::default());
        let object = |version: &&str| Value::from([("apiVersion", *version), ("x", "1")]);
        let objects: Vec<Value> = versions.iter().map(object).collect();
        let converted = converter.unwrap().convert(objects.clone(), to).await;
        match expect {
            Ok(()) => {
                let wanted: Vec<Value> = versions.iter().map(|_| object(&to)).collect();
                assert_eq!(converted, Ok(wanted));
            }
            Err(message) => {
                let status = converted.unwrap_err();
                assert_eq!((status.code(), status.message.as_str()), (500, message));
            }
        }
    }

    #[tokio::test]
    async fn without_a_strategy_only_the_version_changes() {
        check(&["example.com/v1", "example.com/v2"], "example.com/v2", Ok(())).await;
        check(&[], "example.com/v2", Ok(())).await;
    }

    #[tokio::test]
    async fn versions_that_do_not_exist_are_refused() {
        let to = "request to convert CR to an invalid group/version: example.com/v3";
        check(&["example.com/v1"], "example.com/v3", Err(to)).await;
        let from = "request to convert CR from an invalid group/version: example.com/v3";
        check(&["example.com/v3"], "example.com/v1", Err(from)).await;
        let list = "request to convert CR list failed, list index 1 has invalid group/version: v1";
        check(&["example.com/v1", "v1"], "example.com/v1", Err(list)).await;
    }

    #[tokio::test]
    async fn rules_of_the_definition_convert() {
        let mut with_rules = definition(r#"{"strategy": "None"}"#);
        for (at, field) in ["a", "b"].into_iter().enumerate() {
            let schema = format!(
                r#"{{"openAPIV3Schema": {{"properties": {{"{field}": {{"type": "string"}}}}}}}}"#
            );
            let versions = with_rules.entry("spec").entry("versions").make_list();
            versions[at].set("schema", json::parse(schema.as_bytes()).unwrap());
        }
        let text = "conversions: [{from: v1, to: v2, rules: [{move: {from: a, to: b}}]}]";
        let mut annotate = |text: &str| {
            let annotations = with_rules.entry("metadata").entry("annotations");
            annotations.set("conversion.orlop.dev/rules", text);
            with_rules.clone()
        };
        let bad = annotate(&text.replace("from: a", "from: x"));
        let why = "bad conversion rules for CRD foos.example.com: conversions[0].rules[0].move: x \
                   is not in the schema of v1 as the rules before left it";
        let bad = Converter::new(&bad, &ConversionOptions::default());
        assert_eq!(bad.unwrap_err().message, why);
        let with_rules = annotate(text);
        let converter = Converter::new(&with_rules, &ConversionOptions::default()).unwrap();
        assert!(!converter.is_trivial());
        let old = Value::from([("apiVersion", "example.com/v1"), ("a", "x")]);
        let new = Value::from([("apiVersion", "example.com/v2"), ("b", "x")]);
        let both = vec![old.clone(), new.clone()];
        let converted = converter.convert(both, "example.com/v2").await;
        assert_eq!(converted, Ok(vec![new.clone(), new.clone()]));
        assert_eq!(converter.convert(vec![new], "example.com/v1").await, Ok(vec![old]));
    }

    #[test]
    fn an_unknown_strategy_is_refused() {
        let made =
            Converter::new(&definition(r#"{"strategy": "X"}"#), &ConversionOptions::default());
        let message = "unknown conversion strategy \"X\" for CRD foos.example.com";
        assert_eq!(made.unwrap_err().message, message);
    }
}
