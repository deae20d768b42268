//! A server in this process, and somebody who asks it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt as _, Full};
use orlop_apiserver::serve::Peer;
use orlop_apiserver::{Body, Options, RequestBody, Server, User};
use orlop_storage::{Memory, Store};
use serde_json::{Value, json};

/// A server on a store in memory.
pub struct Cluster {
    pub server: Arc<Server>,
    pub store: Arc<dyn Store>,
    peer: Arc<Peer>,
}

/// What a server answered.
pub struct Answer {
    pub code: u16,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

/// A watch that is being read.
pub struct Watch {
    pub code: u16,
    pub headers: HeaderMap,
    body: Body,
    buffer: Vec<u8>,
}

/// What does not come by then is not going to.
const PATIENCE: Duration = Duration::from_secs(10);

pub const APPLY: &str = "application/apply-patch+yaml";
pub const JSON_PATCH: &str = "application/json-patch+json";
pub const MERGE_PATCH: &str = "application/merge-patch+json";
pub const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";

impl Cluster {
    /// A new server.
    pub async fn start() -> Cluster {
        Cluster::on(Arc::new(Memory::new())).await
    }

    /// A server on a store.
    pub async fn on(store: Arc<dyn Store>) -> Cluster {
        Cluster::with(store, Options::new(Ipv4Addr::new(192, 0, 2, 1).into(), 6443)).await
    }

    /// A server with options.
    pub async fn with(store: Arc<dyn Store>, options: Options) -> Cluster {
        let server = Server::start(store.clone(), options).await.unwrap();
        let peer = Arc::new(Peer::acting_for(admin()));
        Cluster { server: Arc::new(server), store, peer }
    }

    /// The same server, asked by somebody else.
    pub fn acting_for(&self, peer: Peer) -> Cluster {
        Cluster { server: self.server.clone(), store: self.store.clone(), peer: Arc::new(peer) }
    }

    /// Sends a request as it is.
    pub async fn send(&self, request: Request<RequestBody>) -> Answer {
        let answer = self.server.answer(request, &self.peer).await;
        let (parts, body) = answer.into_parts();
        let bytes = tokio::time::timeout(PATIENCE, body.collect()).await.unwrap();
        let bytes = bytes.unwrap().to_bytes();
        Answer { code: parts.status.as_u16(), headers: parts.headers, bytes }
    }

    /// Sends a request with some headers and bytes.
    pub async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(whole(body)).unwrap()).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], "").await
    }

    pub async fn post(&self, path: &str, object: &Value) -> Answer {
        let headers = [("content-type", "application/json")];
        self.request("POST", path, &headers, object.to_string()).await
    }

    pub async fn put(&self, path: &str, object: &Value) -> Answer {
        let headers = [("content-type", "application/json")];
        self.request("PUT", path, &headers, object.to_string()).await
    }

    pub async fn patch(&self, path: &str, patch_type: &str, patch: &Value) -> Answer {
        let headers = [("content-type", patch_type)];
        self.request("PATCH", path, &headers, patch.to_string()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path, &[], "").await
    }

    pub async fn delete_with(&self, path: &str, options: &Value) -> Answer {
        let headers = [("content-type", "application/json")];
        self.request("DELETE", path, &headers, options.to_string()).await
    }

    /// Makes a namespace.
    pub async fn namespace(&self, name: &str) {
        let namespace = json!({"metadata": {"name": name}});
        self.post("/api/v1/namespaces", &namespace).await.expect(201);
    }

    /// Starts a watch.
    pub async fn watch(&self, path: &str) -> Watch {
        self.watch_as(path, "application/json").await
    }

    /// Starts a watch whose events come in a form.
    pub async fn watch_as(&self, path: &str, accept: &str) -> Watch {
        let request = Request::builder().method(Method::GET).uri(path).header("accept", accept);
        let request = request.body(whole("")).unwrap();
        let answer = self.server.answer(request, &self.peer).await;
        let (parts, body) = answer.into_parts();
        let code = parts.status.as_u16();
        Watch { code, headers: parts.headers, body, buffer: Vec::new() }
    }
}

/// Somebody who may do everything.
pub fn admin() -> User {
    User {
        name: "kubernetes-admin".into(),
        groups: vec!["system:masters".into(), "system:authenticated".into()],
        ..User::default()
    }
}

pub fn whole(bytes: impl Into<Bytes>) -> RequestBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

impl Answer {
    /// The object in the answer.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The object in an answer with this code.
    #[track_caller]
    pub fn expect(self, code: u16) -> Value {
        assert_eq!(self.code, code, "{}", self.text());
        self.json()
    }

    /// The reason and the message of a failure with this code.
    #[track_caller]
    pub fn failure(self, code: u16) -> (String, String) {
        let status = self.expect(code);
        assert_eq!(status["kind"], "Status");
        assert_eq!(status["code"], code);
        let text = |name: &str| status[name].as_str().unwrap_or_default().to_owned();
        (text("reason"), text("message"))
    }

    /// The warnings of an answer.
    pub fn warnings(&self) -> Vec<String> {
        let all = self.headers.get_all("warning").iter();
        all.map(|value| value.to_str().unwrap().to_owned()).collect()
    }
}

impl Watch {
    /// The next event; none at the end.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await;
            let frame = frame.expect("an event in time")?.unwrap();
            self.buffer.extend_from_slice(&frame.into_data().unwrap());
        }
    }

    /// Type, name and resource version of the next event.
    pub async fn event(&mut self) -> (String, String, u64) {
        let event = self.next().await.expect("an event");
        let metadata = &event["object"]["metadata"];
        let version = metadata["resourceVersion"].as_str().unwrap_or("0").parse().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&event["type"]), text(&metadata["name"]), version)
    }

    /// The types and names of the next events.
    pub async fn events(&mut self, count: usize) -> Vec<String> {
        let mut events = Vec::new();
        for _ in 0..count {
            let (kind, name, _) = self.event().await;
            events.push(format!("{kind} {name}"));
        }
        events
    }
}

/// The version of an object.
pub fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

/// Names of the items of a list.
pub fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}
