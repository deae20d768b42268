//! The API of a server as a store: each key is a ConfigMap, each revision a resource version.
//!
//! `/registry/NAMESPACE/NAME` is the ConfigMap NAME in NAMESPACE, with the value as its data. What
//! the store says and the API does not, [`crate::complete`] finds out later:
//!
//! - A record says that it was created when it was changed. Which versions are of one object, the
//!   [`Notes`] tell.
//! - A read of one object says the revision of that object, and a read of the past the revision
//!   that was asked for: the newest one may be later.
//! - An event says nothing of what was before, but for the value of what was deleted.
//!
//! Transactions of several keys, compaction and leases do not exist over the API.

mod watch;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use orlop_storage::{
    Action, At, Error, Expect, Get, KeyRange, LeaseId, Outcome, Range, RangeRequest, Record,
    Revision, Select, Store, Txn, Watch, WatchRequest,
};
use serde_json::{Value, json};

use self::watch::WatchOverApi;
use crate::api_client::{ApiClient, NoReply, Reply};

/// How often something is tried again that others got in the way of.
const ATTEMPTS_MAX: usize = 100;
/// What tells the objects of the traffic from the others of a cluster.
const LABEL: &str = "traffic";
const PREFIX: &str = "/registry/";
const EVERYWHERE: &str = "/api/v1/configmaps";

/// See the module's documentation.
#[derive(Debug)]
pub struct ApiStore {
    client: Arc<ApiClient>,
    notes: Arc<Notes>,
    /// How lists go on: after which revision, from which key, with which token.
    tokens: Mutex<HashMap<(Bytes, Revision), String>>,
}

/// Which object each version of a key is of.
#[derive(Debug, Default)]
pub struct Notes(Mutex<HashMap<(Bytes, Revision), String>>);

impl Notes {
    /// The UID of the object that a version of a key is of.
    #[must_use]
    pub fn uid(&self, key: &[u8], modified: Revision) -> Option<String> {
        self.lock().get(&(Bytes::copy_from_slice(key), modified)).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Bytes, Revision), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record that an object is, with a note of its UID.
    ///
    /// # Panics
    /// If it has no name, no UID or no resource version.
    #[must_use]
    pub fn record(&self, object: &Value) -> Record {
        let metadata = &object["metadata"];
        let text = |value: &Value| value.as_str().expect("objects have names").to_owned();
        let key = format!("{PREFIX}{}/{}", text(&metadata["namespace"]), text(&metadata["name"]));
        let value = object["data"]["value"].as_str().unwrap_or_default();
        let modified = revision(&metadata["resourceVersion"]);
        let note = (Bytes::from(key.clone()), modified);
        self.lock().insert(note, text(&metadata["uid"]));
        Record::new(key.as_bytes(), value.as_bytes(), modified, modified, None)
    }
}

impl ApiStore {
    /// The API that a client reaches. All stores of one history share their notes.
    #[must_use]
    pub fn new(client: Arc<ApiClient>, notes: Arc<Notes>) -> Self {
        Self { client, notes, tokens: Mutex::default() }
    }

    /// Makes the namespaces that keys lie in.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn prepare(&self, namespaces: &[&str]) -> anyhow::Result<()> {
        for name in namespaces {
            let namespace = json!({"metadata": {"name": name}});
            self.client.create("/api/v1/namespaces", &namespace).await?;
        }
        Ok(())
    }

    /// Reads; whatever goes wrong has changed nothing.
    async fn read(&self, path: &str) -> Result<Reply, Error> {
        let reply = self.client.send("GET", path, None).await;
        reply.map_err(|none| unavailable(none.reason()))
    }

    /// Writes; whatever goes wrong may have happened, unless it was not sent.
    async fn write(&self, method: &str, path: &str, body: &Value) -> Result<Reply, Error> {
        match self.client.send(method, path, Some(body)).await {
            Ok(Reply { code: 429, bytes, .. }) => Err(unavailable(format!("{bytes:?}"))),
            Ok(reply) if reply.code >= 500 => Err(Error::Unknown { reason: reply.text() }),
            Ok(reply) => Ok(reply),
            Err(NoReply::NotSent(reason)) => Err(unavailable(reason)),
            Err(NoReply::Lost(reason)) => Err(Error::Unknown { reason }),
        }
    }

    async fn list(&self, path: &str) -> Result<Value, Error> {
        let reply = self.read(path).await?;
        match reply.code {
            200 => Ok(json_of(&reply)),
            _ => Err(refusal(&reply)),
        }
    }

    /// A key as it is now, and the revision of that now.
    async fn now(&self, key: &Key<'_>) -> Result<Get, Error> {
        let (collection, name) = (key.collection(), key.name);
        let list = self.list(&format!("{collection}?fieldSelector=metadata.name%3D{name}")).await?;
        let record = list["items"].get(0).map(|item| self.notes.record(item));
        Ok(Get { record, revision: revision(&list["metadata"]["resourceVersion"]) })
    }

    /// Writes one key.
    async fn change(
        &self,
        key: &Key<'_>,
        expect: Expect,
        action: &Action,
    ) -> Result<Outcome, Error> {
        for _ in 0..ATTEMPTS_MAX {
            let reply = match (action, expect) {
                (Action::Put { value, .. }, Expect::Absent) => {
                    self.write("POST", &key.collection(), &key.object(value, None)).await?
                }
                (Action::Put { value, .. }, Expect::Revision(at)) => {
                    self.write("PUT", &key.path(), &key.object(value, Some(at))).await?
                }
                (Action::Put { value, .. }, Expect::Anything) => {
                    let reply = self.write("PUT", &key.path(), &key.object(value, None)).await?;
                    match reply.code {
                        404 => {
                            let object = key.object(value, None);
                            self.write("POST", &key.collection(), &object).await?
                        }
                        _ => reply,
                    }
                }
                (Action::Delete, Expect::Revision(at)) => {
                    let version = at.0.to_string();
                    let options = json!({"preconditions": {"resourceVersion": version}});
                    let reply = self.write("DELETE", &key.path(), &options).await?;
                    if reply.code == 200 {
                        return self.deleted_after(key, at).await;
                    }
                    reply
                }
                _ => return Err(unsupported()),
            };
            match reply.code {
                200 | 201 => {
                    let record = self.notes.record(&json_of(&reply));
                    return Ok(Outcome::Committed { revision: record.modified() });
                }
                404 | 409 => {
                    let Get { record, revision } = self.now(key).await?;
                    let is_fine = match expect {
                        Expect::Anything => true,
                        Expect::Absent => record.is_none(),
                        Expect::Revision(at) => record.as_ref().is_some_and(|r| r.modified() == at),
                    };
                    // What was in the way has gone: nothing is left to show as a conflict.
                    if !is_fine {
                        return Ok(Outcome::Conflict { current: vec![record], revision });
                    }
                }
                _ => return Err(refusal(&reply)),
            }
        }
        let reason = format!("refused {ATTEMPTS_MAX} times, though it is as expected");
        Err(Error::Invalid { reason })
    }

    /// The API does not say when something was deleted. Its watch does: the next change of the key
    /// must be that.
    async fn deleted_after(&self, key: &Key<'_>, at: Revision) -> Result<Outcome, Error> {
        let unknown = |reason: &str| Error::Unknown { reason: reason.to_owned() };
        let (collection, name) = (key.collection(), key.name);
        let path = format!(
            "{collection}?watch=1&resourceVersion={}&fieldSelector=metadata.name%3D{name}",
            at.0
        );
        let watch = self.client.watch(&path).await;
        let watch = watch.map_err(|none| unknown(&format!("{none:?}")))?;
        let mut watch = watch.map_err(|reply| unknown(&reply.text()))?;
        let event = watch.next().await.ok_or_else(|| unknown("the watch ended"))?;
        match event["type"].as_str() {
            Some("DELETED") => {
                let revision = revision(&event["object"]["metadata"]["resourceVersion"]);
                Ok(Outcome::Committed { revision })
            }
            Some("ERROR") => Err(unknown(&event.to_string())),
            _ => Err(Error::Invalid { reason: format!("after a deletion: {event}") }),
        }
    }
}

#[async_trait]
impl Store for ApiStore {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        let key = Key::parse(key)?;
        let path = match at {
            At::Latest => key.path(),
            At::Revision(at) => {
                format!("{}?resourceVersion={}&resourceVersionMatch=Exact", key.path(), at.0)
            }
        };
        for _ in 0..ATTEMPTS_MAX {
            let reply = self.read(&path).await?;
            match (reply.code, at) {
                (200, At::Latest) => {
                    let record = self.notes.record(&json_of(&reply));
                    let revision = record.modified();
                    return Ok(Get { record: Some(record), revision });
                }
                (200, At::Revision(revision)) => {
                    let record = self.notes.record(&json_of(&reply));
                    return Ok(Get { record: Some(record), revision });
                }
                (404, At::Revision(revision)) => return Ok(Get { record: None, revision }),
                (404, At::Latest) => {
                    // At which revision it was not there, a list says.
                    let now = self.now(&key).await?;
                    if now.record.is_none() {
                        return Ok(now);
                    }
                }
                _ => return Err(refusal(&reply)),
            }
        }
        let reason = format!("found by lists {ATTEMPTS_MAX} times, but not by its name");
        Err(Error::Invalid { reason })
    }

    async fn range(&self, request: RangeRequest) -> Result<Range, Error> {
        let RangeRequest { range, at, limit, select } = request;
        let limit = if select == Select::Count { 1 } else { limit };
        let mut path = format!("{}limit={limit}", collection_of(&range));
        if let At::Revision(at) = at {
            let place = (range.start().clone(), at);
            let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            path = format!("{path}&continue={}", tokens.get(&place).ok_or_else(unsupported)?);
        }
        let list = self.list(&path).await?;
        let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut records: Vec<Record> = items.iter().map(|item| self.notes.record(item)).collect();
        let remaining = list["metadata"]["remainingItemCount"].as_u64().unwrap_or_default();
        let count = records.len() as u64 + remaining;
        let revision = revision(&list["metadata"]["resourceVersion"]);
        if let (Some(token), Some(last)) = (list["metadata"]["continue"].as_str(), records.last()) {
            let rest = range.after(last.key()).start().clone();
            let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            tokens.insert((rest, revision), token.to_owned());
        }
        if select == Select::Count {
            records.clear();
        }
        Ok(Range { records, count, revision })
    }

    async fn commit(&self, txn: Txn) -> Result<Outcome, Error> {
        let [write] = &txn.writes[..] else { return Err(unsupported()) };
        self.change(&Key::parse(&write.key)?, write.expect, &write.action).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error> {
        let after = request.after.ok_or_else(unsupported)?;
        let path = format!(
            "{}watch=1&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
            collection_of(&request.range),
            watch::LIFE_SECONDS,
            after.0
        );
        let started = self.client.watch(&path).await;
        let started = started.map_err(|none| unavailable(none.reason()))?;
        let watch = started.map_err(|reply| refusal(&reply))?;
        Ok(Watch::new(WatchOverApi::new(watch, self.notes.clone())))
    }

    async fn compact(&self, _: Revision) -> Result<(), Error> {
        Err(unsupported())
    }

    async fn grant_lease(&self, _: Duration) -> Result<LeaseId, Error> {
        Err(unsupported())
    }

    async fn revision(&self) -> Result<Revision, Error> {
        let list = self.list(&format!("{EVERYWHERE}?limit=1&labelSelector={LABEL}")).await?;
        Ok(revision(&list["metadata"]["resourceVersion"]))
    }

    async fn health(&self) -> Result<(), Error> {
        let reply = self.read("/readyz").await?;
        if reply.code == 200 { Ok(()) } else { Err(refusal(&reply)) }
    }
}

/// A key and the object that it stands for.
struct Key<'a> {
    namespace: &'a str,
    name: &'a str,
}

impl<'a> Key<'a> {
    fn parse(key: &'a [u8]) -> Result<Self, Error> {
        let rest = std::str::from_utf8(key).ok().and_then(|key| key.strip_prefix(PREFIX));
        let (namespace, name) =
            rest.and_then(|rest| rest.split_once('/')).ok_or_else(unsupported)?;
        Ok(Self { namespace, name })
    }

    fn collection(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.namespace)
    }

    fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }

    fn object(&self, value: &Bytes, at: Option<Revision>) -> Value {
        let value = String::from_utf8_lossy(value);
        let mut metadata = json!({"name": self.name, "labels": {LABEL: ""}});
        if let Some(at) = at {
            metadata["resourceVersion"] = at.0.to_string().into();
        }
        json!({"metadata": metadata, "data": {"value": value}})
    }
}

/// Where the objects of a range are listed, up to the next parameter.
fn collection_of(range: &KeyRange) -> String {
    let rest = range.start().strip_prefix(PREFIX.as_bytes()).unwrap_or_default();
    let namespace = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
    match String::from_utf8_lossy(namespace).as_ref() {
        "" => format!("{EVERYWHERE}?labelSelector={LABEL}&"),
        namespace => format!("/api/v1/namespaces/{namespace}/configmaps?"),
    }
}

fn revision(version: &Value) -> Revision {
    let text = version.as_str().expect("a resource version is a text");
    Revision(text.parse().expect("a resource version is a number"))
}

fn json_of(reply: &Reply) -> Value {
    reply.json().expect("an answer of an API server is JSON")
}

fn refusal(reply: &Reply) -> Error {
    match reply.code {
        // Which revision is the oldest, the API does not say.
        410 => Error::Compacted { oldest: Revision(u64::MAX) },
        429 | 500.. => unavailable(reply.text()),
        _ => Error::Invalid { reason: reply.text() },
    }
}

fn unavailable(reason: String) -> Error {
    Error::Unavailable { reason }
}

fn unsupported() -> Error {
    Error::Invalid { reason: "the API has no such thing".to_owned() }
}
