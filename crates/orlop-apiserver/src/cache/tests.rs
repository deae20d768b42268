//! What watchers see is what happened: every stream is compared with the history of the store.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use orlop_machinery::{Value, json};
use orlop_storage::{
    Delivery, Event, Expect, KeyRange, Memory, Revision, Store, SystemClock, WatchRequest,
};

use crate::authz::Authorized;
use crate::body::{Body, RequestBody};
use crate::call::{Call, Unread, Warnings};
use crate::catalog::Catalog;
use crate::definition::Definition;
use crate::metrics::Metrics;
use crate::options::ListOptions;
use crate::output::Output;
use crate::reads::Reads;
use crate::request::RequestInfo;
use crate::user::User;
use crate::verb;
use crate::version::Version;

/// A store, what reads it, and pods.
struct World {
    store: Memory,
    reads: Arc<Reads>,
    pods: Arc<Definition>,
}

fn metrics() -> Arc<Metrics> {
    Arc::new(Metrics::new(Version::of_build()))
}

/// How long an event may take; paused clocks get there at once when nothing else happens.
const PATIENCE: Duration = Duration::from_secs(120);

/// One event: its type, the name of the object and its version.
type Seen = (String, String, u64);

impl World {
    fn new() -> World {
        let store = Memory::new();
        let reads = Arc::new(Reads::new(Arc::new(store.clone()), Arc::new(SystemClock), metrics()));
        let pods = Catalog::built_in().find("", "v1", "pods").unwrap().clone();
        World { store, reads, pods }
    }

    async fn put(&self, namespace: &str, name: &str, app: &str) -> u64 {
        let stored = format!(
            concat!(
                r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{}","namespace":"{}","#,
                r#""uid":"u","labels":{{"app":"{}"}}}},"#,
                r#""spec":{{"containers":null}},"status":{{}}}}"#
            ),
            name, namespace, app
        );
        let key = self.pods.key(namespace, name);
        let put = self.store.put(key.into(), stored.into(), Expect::Anything).await.unwrap();
        put.committed().unwrap().0
    }

    async fn delete(&self, namespace: &str, name: &str) {
        let key = self.pods.key(namespace, name);
        self.store.delete(key.into(), Expect::Anything).await.unwrap();
    }

    fn call(&self, namespace: &str) -> Call {
        let (parts, ()) = http::Request::new(()).into_parts();
        Call {
            info: RequestInfo { namespace: namespace.into(), ..RequestInfo::default() },
            parts: Arc::new(parts),
            body: Unread::new(RequestBody::default()),
            user: User::default(),
            authorized: Authorized::for_tests(),
            definition: self.pods.clone(),
            output: Output::JSON,
            warnings: Arc::new(Warnings::default()),
        }
    }

    async fn watch(&self, namespace: &str, options: &ListOptions) -> Stream {
        let answer = verb::watch::watch(&self.reads, &self.call(namespace), options).await;
        Stream { body: answer.unwrap().into_body(), rest: Vec::new() }
    }

    async fn list(&self, namespace: &str, options: &ListOptions) -> Value {
        let call = self.call(namespace);
        let answer = verb::list::list(&self.reads, &call, options).await.unwrap();
        json::parse(&collect(answer.into_body()).await).unwrap()
    }

    /// What a watcher of objects with a label sees after a revision, from the store's history.
    async fn history(&self, prefix: &str, app: Option<&str>, after: u64) -> Vec<Seen> {
        let range = KeyRange::prefix(prefix.to_owned());
        let request = WatchRequest::new(range).after(Revision(after));
        let mut watch = self.store.watch(request).await.unwrap();
        watch.progress_requester().request();
        let mut seen = Vec::new();
        loop {
            match watch.next().await.unwrap() {
                Delivery::Progress(_) => return seen,
                Delivery::Events(events) => {
                    seen.extend(events.iter().filter_map(|event| see(event, app)));
                }
            }
        }
    }
}

fn see(event: &Event, app: Option<&str>) -> Option<Seen> {
    let wanted = |value: &[u8]| {
        let value = json::parse(value).unwrap();
        app.is_none_or(|app| value.path(&["metadata", "labels", "app"]).str() == app)
    };
    let now = event.record().is_some_and(|record| wanted(record.value()));
    let before = event.previous().is_some_and(|record| wanted(record.value()));
    let ty = match (before, now) {
        (false, false) => return None,
        (false, true) => "ADDED",
        (true, true) => "MODIFIED",
        (true, false) => "DELETED",
    };
    let name = event.key().rsplit(|byte| *byte == b'/').next().unwrap();
    Some((ty.into(), String::from_utf8(name.to_vec()).unwrap(), event.revision().0))
}

struct Stream {
    body: Body,
    rest: Vec<u8>,
}

impl Stream {
    async fn piece(&mut self) -> Option<Bytes> {
        let Body::Stream(pieces) = &mut self.body else { panic!("a watch is a stream") };
        poll_fn(|context| pieces.poll_piece(context)).await
    }

    /// The next event, or none at the end.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Some(json::parse(&line).unwrap());
            }
            let piece = tokio::time::timeout(PATIENCE, self.piece()).await;
            self.rest.extend_from_slice(&piece.expect("an event comes in time")?);
        }
    }

    async fn seen(&mut self, count: usize) -> Vec<Seen> {
        let mut seen = Vec::new();
        for _ in 0..count {
            let event = self.next().await.expect("there is another event");
            let metadata = event.path(&["object", "metadata"]);
            let version = metadata.at("resourceVersion").str().parse().unwrap();
            let name = metadata.at("name").str().to_owned();
            seen.push((event.at("type").str().to_owned(), name, version));
        }
        seen
    }
}

async fn collect(body: Body) -> Vec<u8> {
    match body {
        Body::Whole(bytes) => bytes.to_vec(),
        Body::Pieces(pieces) => pieces.into_iter().flatten().collect(),
        Body::Stream(mut pieces) => {
            let mut all = Vec::new();
            while let Some(piece) = poll_fn(|context| pieces.poll_piece(context)).await {
                all.extend_from_slice(&piece);
            }
            all
        }
    }
}

fn after(revision: u64) -> ListOptions {
    ListOptions { resource_version: revision.to_string().into(), ..ListOptions::default() }
}

fn labelled(options: ListOptions, app: Option<&str>) -> ListOptions {
    let label_selector = app.map(|app| format!("app={app}").parse().unwrap()).unwrap_or_default();
    ListOptions { label_selector, ..options }
}

/// A few writes that follow from a number.
async fn write_some(world: &World, seed: u64, count: u64) {
    for step in 0..count {
        let number = (seed + step).wrapping_mul(6_364_136_223_846_793_005).rotate_left(20);
        let (namespace, name) = (["a", "b"][(number % 2) as usize], format!("p{}", number / 2 % 5));
        match number / 16 % 5 {
            0 => world.delete(namespace, &name).await,
            kind => drop(world.put(namespace, &name, ["x", "y"][(kind % 2) as usize]).await),
        }
        if step % 3 == 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_watcher_sees_what_happened_wherever_it_starts() {
    let world = Arc::new(World::new());
    write_some(&world, 1, 60).await;
    let early = world.store.revision().await.unwrap().0;
    // The cache starts here; what was before is in the store alone.
    world.list("", &ListOptions::default()).await;
    write_some(&world, 100, 60).await;
    let writer = tokio::spawn({
        let world = world.clone();
        async move { write_some(&world, 1000, 300).await }
    });
    let mut streams = Vec::new();
    for start in (1..=early + 50).step_by(3) {
        for (namespace, app) in [("", None), ("a", None), ("b", Some("x")), ("", Some("y"))] {
            let stream = world.watch(namespace, &labelled(after(start), app)).await;
            streams.push((start, namespace, app, stream));
        }
    }
    writer.await.unwrap();
    for (start, namespace, app, stream) in &mut streams {
        let expect = world.history(&world.pods.prefix(namespace), *app, *start).await;
        assert_eq!(stream.seen(expect.len()).await, expect, "{start} {namespace} {app:?}");
    }
    world.reads.caches.end_watches();
    for (start, _, _, stream) in &mut streams {
        assert!(stream.next().await.is_none(), "nothing comes twice after {start}");
    }
}

#[tokio::test]
async fn a_watch_without_a_version_starts_with_what_is_there() {
    let world = World::new();
    world.put("a", "one", "x").await;
    let two = world.put("a", "two", "y").await;
    let options = ListOptions { allow_watch_bookmarks: true, ..ListOptions::default() };
    let mut stream = world.watch("a", &labelled(options, Some("y"))).await;
    assert_eq!(stream.seen(1).await, [("ADDED".into(), "two".into(), two)]);
    let end = stream.next().await.unwrap();
    assert_eq!(
        json::to_string(&end),
        format!(
            concat!(
                r#"{{"object":{{"apiVersion":"v1","kind":"Pod","metadata":{{"annotations":"#,
                r#"{{"k8s.io/initial-events-end":"true"}},"resourceVersion":"{}"}},"#,
                r#""spec":{{"containers":null}},"status":{{}}}},"type":"BOOKMARK"}}"#
            ),
            two
        )
    );
    let three = world.put("a", "one", "y").await;
    assert_eq!(stream.seen(1).await, [("ADDED".into(), "one".into(), three)]);
    let four = world.put("a", "one", "x").await;
    let left = stream.next().await.unwrap();
    assert_eq!(left.at("type").str(), "DELETED");
    let metadata = left.path(&["object", "metadata"]);
    assert_eq!(metadata.at("resourceVersion").str(), four.to_string());
    assert_eq!(metadata.path(&["labels", "app"]).str(), "y", "as it was when it was seen");
}

#[tokio::test]
async fn a_watch_from_what_is_given_up_is_an_error_event() {
    let world = World::new();
    write_some(&world, 1, 30).await;
    let oldest = world.store.revision().await.unwrap();
    world.store.compact(oldest).await.unwrap();
    let mut stream = world.watch("", &after(3)).await;
    let event = stream.next().await.unwrap();
    assert_eq!(event.at("type").str(), "ERROR");
    assert_eq!(event.path(&["object", "code"]).int(), 410);
    assert_eq!(event.path(&["object", "reason"]).str(), "Expired");
    let message = format!("too old resource version: 3 ({oldest})");
    assert_eq!(event.path(&["object", "message"]).str(), message);
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_told_how_far_it_is_and_ends_in_time() {
    let world = World::new();
    let start = world.put("a", "one", "x").await;
    let options =
        ListOptions { allow_watch_bookmarks: true, timeout_seconds: Some(100), ..after(start) };
    let mut stream = world.watch("", &options).await;
    let other = world.store.put("/registry/x".into(), "{}".into(), Expect::Anything).await;
    let other = other.unwrap().committed().unwrap().0;
    let began = tokio::time::Instant::now();
    for at in [60, 98] {
        let event = stream.seen(1).await;
        assert_eq!(event, [("BOOKMARK".into(), String::new(), other)]);
        assert_eq!(began.elapsed().as_secs(), at);
    }
    assert!(stream.next().await.is_none());
    assert_eq!(began.elapsed().as_secs(), 100);
}

#[tokio::test]
async fn lists_come_in_parts_of_one_moment() {
    let world = World::new();
    for number in 0..10 {
        world.put("a", &format!("p{number}"), "x").await;
    }
    let mut options = ListOptions { limit: 4, ..ListOptions::default() };
    let mut names = Vec::new();
    let mut remaining = Vec::new();
    loop {
        let list = world.list("a", &options).await;
        let items = list.at("items").list();
        names.extend(items.iter().map(|item| item.path(&["metadata", "name"]).str().to_owned()));
        remaining.push(list.path(&["metadata", "remainingItemCount"]).as_int());
        options.continue_token = list.path(&["metadata", "continue"]).str().into();
        if options.continue_token.is_empty() {
            break;
        }
        // What happens meanwhile does not show.
        world.delete("a", "p9").await;
        world.put("a", "p5x", "x").await;
    }
    assert_eq!(names, (0..10).map(|number| format!("p{number}")).collect::<Vec<_>>());
    assert_eq!(remaining, [Some(6), Some(2), None]);
}

#[tokio::test]
async fn the_past_is_listed_as_it_was() {
    let world = World::new();
    let first = world.put("a", "one", "x").await;
    let second = world.put("a", "two", "x").await;
    world.list("", &ListOptions::default()).await;
    world.delete("a", "one").await;
    for (version, expect) in [(first, vec!["one"]), (second, vec!["one", "two"])] {
        let options = ListOptions { resource_version_match: "Exact".into(), ..after(version) };
        let list = world.list("", &options).await;
        let items = list.at("items").list().iter();
        let names: Vec<&str> = items.map(|item| item.path(&["metadata", "name"]).str()).collect();
        assert_eq!(names, expect);
        assert_eq!(list.path(&["metadata", "resourceVersion"]).str(), version.to_string());
    }
    let list = world.list("", &ListOptions::default()).await;
    assert_eq!(list.at("items").list().len(), 1, "a list without a version is of now");
}

#[tokio::test(start_paused = true)]
async fn the_future_is_waited_for_and_then_refused() {
    let world = World::new();
    world.put("a", "one", "x").await;
    let began = tokio::time::Instant::now();
    let call = world.call("");
    let status = verb::list::list(&world.reads, &call, &after(1000)).await.err().unwrap();
    assert_eq!(status.code, 504);
    assert_eq!(status.message, "Timeout: Too large resource version: 1000, current: 2");
    assert_eq!(began.elapsed().as_secs(), 3);
}

#[tokio::test]
async fn an_expired_token_comes_with_one_that_goes_on() {
    let world = World::new();
    for number in 0..4 {
        world.put("a", &format!("p{number}"), "x").await;
    }
    let list = world.list("a", &ListOptions { limit: 2, ..ListOptions::default() }).await;
    let token = list.path(&["metadata", "continue"]).str().to_owned();
    write_some(&world, 5, 5).await;
    world.store.compact(world.store.revision().await.unwrap()).await.unwrap();
    // Another server does not have the snapshot that this one kept.
    let reads = Reads::new(Arc::new(world.store.clone()), Arc::new(SystemClock), metrics());
    let options =
        ListOptions { limit: 2, continue_token: token.as_str().into(), ..ListOptions::default() };
    let status = verb::list::list(&reads, &world.call("a"), &options).await.err().unwrap();
    assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));
    let next = status.metadata.get("continue").unwrap().str().to_owned();
    let options =
        ListOptions { limit: 2, continue_token: next.as_str().into(), ..ListOptions::default() };
    let answer = verb::list::list(&reads, &world.call("a"), &options).await.unwrap();
    let list = json::parse(&collect(answer.into_body()).await).unwrap();
    assert!(!list.at("items").list().is_empty());
}
