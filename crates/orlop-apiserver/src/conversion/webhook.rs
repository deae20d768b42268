//! Conversion by a webhook.
//!
//! After `webhookConverter` of `webhook_converter.go`. Conversion has no effects, so a call whose
//! connection was lost is made again; upstream does not. Bodies are not logged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use orlop_machinery::Value;
use orlop_machinery::group_version::GroupVersionKind;
use orlop_machinery::status::Status;

use super::review::{ReviewVersion, check_object};
use super::{ConversionOptions, metadata, untyped};
use crate::metrics::{ConversionFailure, ConversionTimes};
use crate::random::random_uid;
use crate::webhook_client::{CallError, ClientConfig, Repeat, WebhookClient};

/// Asks a webhook.
#[derive(Debug)]
pub(super) struct WebhookConverter {
    /// The name of the CustomResourceDefinition.
    name: String,
    client: WebhookClient,
    /// None when the webhook speaks no version that this server does.
    version: Option<ReviewVersion>,
    timeout: Duration,
    times: Arc<ConversionTimes>,
}

/// Why objects were not converted: the sort for metrics, and the text after `conversion webhook for
/// <kind>`, or the whole of it.
struct Failure {
    sort: ConversionFailure,
    message: String,
}

impl WebhookConverter {
    pub(super) fn new(
        name: &str,
        webhook: &Value,
        options: &ConversionOptions,
    ) -> Result<WebhookConverter, CallError> {
        let config = format!("conversion_webhook_for_{name}");
        let config = ClientConfig::read(config, webhook.at("clientConfig"));
        let client =
            WebhookClient::new(&config, options.services.clone(), options.webhook.clone())?;
        Ok(WebhookConverter {
            name: name.to_owned(),
            client,
            version: ReviewVersion::choose(webhook.at("conversionReviewVersions")),
            timeout: options.timeout,
            times: options.times.clone(),
        })
    }

    pub(super) async fn convert(
        &self,
        mut objects: Vec<Value>,
        to: &str,
    ) -> Result<Vec<Value>, Status> {
        if let [object] = objects.as_mut_slice()
            && is_empty(object)
        {
            object.set("apiVersion", to);
            return Ok(objects);
        }
        let is_due = |object: &Value| object.at("apiVersion").str() != to;
        let Some(first) = objects.iter().find(|object| is_due(object)) else {
            self.times.succeed(Duration::ZERO);
            return Ok(objects);
        };
        let kind = GroupVersionKind::of(first);
        let start = Instant::now();
        let converted = self.convert_due(&objects, &kind, to).await;
        let took = start.elapsed();
        let (from, into) = (kind.version.as_str(), to.rsplit('/').next().unwrap_or_default());
        self.times.convert([&self.name, from, into], converted.is_ok(), took);
        let converted = match converted {
            Ok(converted) => converted,
            Err(Failure { sort, message }) => {
                self.times.fail(sort, took);
                return Err(untyped(message));
            }
        };
        self.times.succeed(took);
        let due = objects.iter_mut().filter(|object| is_due(object));
        for (object, converted) in due.zip(converted) {
            *object = converted;
        }
        Ok(objects)
    }

    /// What comes out for those objects that are not in the wanted version.
    async fn convert_due(
        &self,
        objects: &[Value],
        kind: &GroupVersionKind,
        to: &str,
    ) -> Result<Vec<Value>, Failure> {
        use ConversionFailure::{Call, InvalidObject, MalformedResponse, PartialResponse};
        let failure = |sort, message| Failure { sort, message };
        let failed =
            |sort, why| failure(sort, format!("conversion webhook for {kind} failed: {why}"));
        let due = objects.iter().filter(|object| object.at("apiVersion").str() != to);
        let due: Vec<&Value> = due.collect();
        let version = self
            .version
            .ok_or_else(|| failure(Call, "no supported conversion review versions".to_owned()))?;
        let uid = random_uid().map_err(|status| failure(Call, status.message))?.to_string();
        let body = Bytes::from(version.request(&uid, to, due.clone()));
        let answer = self.client.post(body, self.timeout, Repeat::WhenLost).await;
        let answer = answer.map_err(|error| failed(Call, error.to_string()))?;
        let mut review = version.read(&answer).map_err(|why| failed(Call, why))?;
        let converted =
            version.converted(&mut review, &uid).map_err(|why| failed(MalformedResponse, why))?;
        if converted.len() != due.len() {
            let (found, wanted) = (converted.len(), due.len());
            let counts = format!("returned {found} objects, expected {wanted}");
            return Err(failure(
                PartialResponse,
                format!("conversion webhook for {kind} {counts}"),
            ));
        }
        let place = if objects.len() == 1 { Place::Single } else { Place::List };
        let mut checked = Vec::with_capacity(converted.len());
        for (index, (original, converted)) in due.into_iter().zip(converted).enumerate() {
            let object = check(original, converted, to)
                .map_err(|fault| failure(InvalidObject, fault.describe(kind, place, index)))?;
            checked.push(object);
        }
        Ok(checked)
    }
}

/// Whether an object has nothing but its kind: there is nothing to convert, and upstream asks
/// nobody.
fn is_empty(object: &Value) -> bool {
    let map = object.map();
    map.len() == 2 && map.contains_key("kind") && map.contains_key("apiVersion")
}

/// Whether an object was converted alone: upstream words its faults otherwise.
#[derive(Clone, Copy)]
enum Place {
    Single,
    List,
}

/// What is wrong with a converted object.
enum Fault {
    /// It is none.
    Unreadable(String),
    /// It is of another version or kind.
    Type(String),
    /// It is another object.
    Identity(String),
    /// Its labels or annotations cannot be.
    Metadata(String),
}

impl Fault {
    fn describe(self, kind: &GroupVersionKind, place: Place, index: usize) -> String {
        let webhook = format!("conversion webhook for {kind}");
        match (place, self) {
            (Place::Single, Fault::Unreadable(why)) => why,
            (Place::Single, Fault::Type(why)) => {
                format!("{webhook} returned invalid object at index {index}: {why}")
            }
            (Place::Single, Fault::Identity(why)) => {
                format!("{webhook} returned invalid object: {why}")
            }
            (Place::Single, Fault::Metadata(why)) => {
                format!("{webhook} returned invalid metadata: {why}")
            }
            (Place::List, Fault::Metadata(why)) => {
                format!("{webhook} returned invalid metadata in object at index {index}: {why}")
            }
            (Place::List, Fault::Unreadable(why) | Fault::Type(why) | Fault::Identity(why)) => {
                format!("{webhook} returned invalid converted object at index {index}: {why}")
            }
        }
    }
}

/// One converted object, with the metadata that it had.
fn check(original: &Value, mut converted: Value, to: &str) -> Result<Value, Fault> {
    check_object(&converted).map_err(Fault::Unreadable)?;
    let pairs = [
        ("groupVersion", to, converted.at("apiVersion").str()),
        ("kind", original.at("kind").str(), converted.at("kind").str()),
    ];
    if let Some((what, wanted, found)) = pairs.iter().find(|(_, wanted, found)| wanted != found) {
        let why = format!("invalid {what} (expected {wanted}, received {found})");
        return Err(Fault::Type(why));
    }
    metadata::check_identity(original, &converted).map_err(Fault::Identity)?;
    metadata::restore(original, &mut converted).map_err(Fault::Metadata)?;
    Ok(converted)
}
