//! Watches: where they start, what they tell, and how they end.

use serde_json::{Value, json};

use crate::cluster::{Cluster, JSON_PATCH, MERGE_PATCH, Watch, version};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str, label: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"watched": label}}})
}

async fn set(cluster: &Cluster, name: &str, value: &str) {
    let patch = json!({"data": {"mutation": value}});
    cluster.patch(&format!("{MAPS}/{name}"), MERGE_PATCH, &patch).await.expect(200);
}

async fn label(cluster: &Cluster, name: &str, value: &str) {
    let patch = json!({"metadata": {"labels": {"watched": value}}});
    cluster.patch(&format!("{MAPS}/{name}"), MERGE_PATCH, &patch).await.expect(200);
}

async fn newest(cluster: &Cluster) -> u64 {
    version(&cluster.get(MAPS).await.expect(200))
}

#[tokio::test]
async fn watchers_see_what_they_selected() {
    let cluster = Cluster::start().await;
    let since = newest(&cluster).await;
    let path = |query: &str| format!("{MAPS}?watch=1&resourceVersion={since}&{query}");
    let mut a = cluster.watch(&path("labelSelector=watched%3Da")).await;
    let mut b = cluster.watch(&path("labelSelector=watched%3Db")).await;
    let mut both = cluster.watch(&path("labelSelector=watched+in+(a,b)")).await;
    let mut one = cluster.watch(&path("fieldSelector=metadata.name%3Dy")).await;
    cluster.post(MAPS, &map("x", "a")).await.expect(201);
    set(&cluster, "x", "1").await;
    cluster.delete(&format!("{MAPS}/x")).await.expect(200);
    cluster.post(MAPS, &map("y", "b")).await.expect(201);
    cluster.delete(&format!("{MAPS}/y")).await.expect(200);
    assert_eq!(a.events(3).await, ["ADDED x", "MODIFIED x", "DELETED x"]);
    assert_eq!(b.events(2).await, ["ADDED y", "DELETED y"]);
    let all = ["ADDED x", "MODIFIED x", "DELETED x", "ADDED y", "DELETED y"];
    assert_eq!(both.events(5).await, all);
    assert_eq!(one.events(2).await, ["ADDED y", "DELETED y"]);
}

#[tokio::test]
async fn a_watch_starts_after_the_version_that_it_names() {
    let cluster = Cluster::start().await;
    let made = cluster.post(MAPS, &map("x", "a")).await.expect(201);
    let patch = json!({"data": {"mutation": "1"}});
    let path = format!("{MAPS}/x");
    let first = cluster.patch(&path, MERGE_PATCH, &patch).await.expect(200);
    set(&cluster, "x", "2").await;
    cluster.delete(&path).await.expect(200);
    let after = |version: u64| format!("{MAPS}?watch=1&resourceVersion={version}");
    let mut watch = cluster.watch(&after(version(&first))).await;
    assert_eq!(watch.events(2).await, ["MODIFIED x", "DELETED x"]);
    let mut watch = cluster.watch(&after(version(&made))).await;
    assert_eq!(watch.events(3).await, ["MODIFIED x", "MODIFIED x", "DELETED x"]);
}

#[tokio::test]
async fn a_watch_goes_on_where_another_ended() {
    let cluster = Cluster::start().await;
    let since = newest(&cluster).await;
    let mut watch = cluster.watch(&format!("{MAPS}?watch=1&resourceVersion={since}")).await;
    cluster.post(MAPS, &map("x", "a")).await.expect(201);
    set(&cluster, "x", "1").await;
    watch.event().await;
    let (_, _, last) = watch.event().await;
    drop(watch);
    set(&cluster, "x", "2").await;
    let mut watch = cluster.watch(&format!("{MAPS}?watch=1&resourceVersion={last}")).await;
    cluster.delete(&format!("{MAPS}/x")).await.expect(200);
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "MODIFIED");
    assert_eq!(event["object"]["data"]["mutation"], "2");
    assert_eq!(watch.events(1).await, ["DELETED x"]);
}

#[tokio::test]
async fn an_object_that_leaves_the_selection_is_gone_for_its_watcher() {
    let cluster = Cluster::start().await;
    let since = newest(&cluster).await;
    let path = format!("{MAPS}?watch=1&resourceVersion={since}&labelSelector=watched%3Dyes");
    let mut watch = cluster.watch(&path).await;
    cluster.post(MAPS, &map("x", "yes")).await.expect(201);
    set(&cluster, "x", "1").await;
    label(&cluster, "x", "no").await;
    set(&cluster, "x", "2").await;
    label(&cluster, "x", "yes").await;
    set(&cluster, "x", "3").await;
    cluster.delete(&format!("{MAPS}/x")).await.expect(200);
    assert_eq!(watch.events(2).await, ["ADDED x", "MODIFIED x"]);
    let left = watch.next().await.unwrap();
    assert_eq!(left["type"], "DELETED");
    // It is shown as it was while it was selected, with the version at which it left.
    assert_eq!(left["object"]["metadata"]["labels"]["watched"], "yes");
    assert_eq!(left["object"]["data"]["mutation"], "1");
    let back = watch.next().await.unwrap();
    assert_eq!(back["type"], "ADDED");
    assert_eq!(back["object"]["data"]["mutation"], "2");
    assert!(version(&back["object"]) > version(&left["object"]));
    assert_eq!(watch.events(2).await, ["MODIFIED x", "DELETED x"]);
}

#[tokio::test]
async fn all_watches_tell_one_story_wherever_they_start() {
    let cluster = Cluster::start().await;
    let mut since = vec![newest(&cluster).await];
    for round in 0..20 {
        let name = format!("x{}", round % 3);
        if cluster.post(MAPS, &map(&name, "a")).await.code == 409 {
            match round % 2 {
                0 => set(&cluster, &name, &round.to_string()).await,
                _ => drop(cluster.delete(&format!("{MAPS}/{name}")).await.expect(200)),
            }
        }
        since.push(newest(&cluster).await);
    }
    let mut whole = Vec::new();
    for (place, since) in since.iter().enumerate().take(20) {
        let path = format!("{MAPS}?watch=1&resourceVersion={since}");
        let mut watch = cluster.watch(&path).await;
        let mut story = Vec::new();
        for _ in place..20 {
            story.push(watch.event().await);
        }
        if place == 0 {
            whole = story.clone();
        }
        assert_eq!(story, whole[place..], "after {since}");
    }
}

#[tokio::test]
async fn a_watch_without_a_version_starts_with_what_is_there() {
    let cluster = Cluster::start().await;
    for name in ["x", "y"] {
        cluster.post(MAPS, &map(name, "a")).await.expect(201);
    }
    for query in ["", "&resourceVersion=0"] {
        let path = format!("{MAPS}?watch=1&labelSelector=watched{query}");
        let mut watch = cluster.watch(&path).await;
        assert_eq!(watch.events(2).await, ["ADDED x", "ADDED y"]);
    }
}

async fn end_of_initial_events(watch: &mut Watch) -> u64 {
    let bookmark = watch.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["kind"], "ConfigMap");
    let annotations = &bookmark["object"]["metadata"]["annotations"];
    assert_eq!(*annotations, json!({"k8s.io/initial-events-end": "true"}));
    assert!(bookmark["object"]["metadata"]["name"].is_null());
    version(&bookmark["object"])
}

#[tokio::test]
async fn a_list_can_come_as_a_watch() {
    let cluster = Cluster::start().await;
    for name in ["x", "y"] {
        cluster.post(MAPS, &map(name, "a")).await.expect(201);
    }
    let newest = newest(&cluster).await;
    let options = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&\
                   allowWatchBookmarks=true&labelSelector=watched%3Da";
    for since in ["".to_owned(), "0".to_owned(), newest.to_string()] {
        let path = format!("{MAPS}?{options}&resourceVersion={since}");
        let mut watch = cluster.watch(&path).await;
        assert_eq!(watch.events(2).await, ["ADDED x", "ADDED y"]);
        assert!(end_of_initial_events(&mut watch).await >= newest);
        label(&cluster, "x", "b").await;
        assert_eq!(watch.events(1).await, ["DELETED x"]);
        label(&cluster, "x", "a").await;
        assert_eq!(watch.events(1).await, ["ADDED x"]);
    }
}

#[tokio::test]
async fn a_watch_that_is_no_list_starts_with_nothing() {
    let cluster = Cluster::start().await;
    cluster.post(MAPS, &map("x", "a")).await.expect(201);
    let path = format!("{MAPS}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
    let mut watch = cluster.watch(&path).await;
    cluster.post(MAPS, &map("y", "a")).await.expect(201);
    assert_eq!(watch.events(1).await, ["ADDED y"]);
}

#[tokio::test]
async fn a_watch_ends_when_its_client_said_and_tells_how_far_it_was() {
    let cluster = Cluster::start().await;
    let since = newest(&cluster).await;
    cluster.post(MAPS, &map("x", "a")).await.expect(201);
    tokio::time::pause();
    for seconds in [1, 5] {
        let path = format!("{MAPS}?watch=1&resourceVersion={since}&timeoutSeconds={seconds}");
        let mut watch = cluster.watch(&path).await;
        assert_eq!(watch.events(1).await, ["ADDED x"]);
        assert!(watch.next().await.is_none());
    }
    let path = format!(
        "{MAPS}?watch=1&resourceVersion={since}&timeoutSeconds=5&allowWatchBookmarks=true&\
         labelSelector=none"
    );
    let mut watch = cluster.watch(&path).await;
    let bookmark = watch.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert!(version(&bookmark["object"]) > since);
    assert!(watch.next().await.is_none());
    let short = path.replace("timeoutSeconds=5", "timeoutSeconds=1");
    let mut watch = cluster.watch(&short).await;
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn a_watch_of_what_is_forgotten_is_told_to_list_again() {
    let cluster = Cluster::start().await;
    let since = newest(&cluster).await;
    for name in ["x", "y"] {
        cluster.post(MAPS, &map(name, "a")).await.expect(201);
    }
    let revision = cluster.store.revision().await.unwrap();
    // A new server remembers no more than its store does.
    cluster.store.compact(revision).await.unwrap();
    let cluster = Cluster::on(cluster.store.clone()).await;
    let mut watch = cluster.watch(&format!("{MAPS}?watch=1&resourceVersion={since}")).await;
    assert_eq!(watch.code, 200);
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "ERROR");
    let status = &event["object"];
    assert_eq!((&status["code"], &status["reason"]), (&json!(410), &json!("Expired")));
    let message = status["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("too old resource version: {since} (")), "{message}");
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused_before_a_watch_starts() {
    let cluster = Cluster::start().await;
    let checks = [
        ("sendInitialEvents=true", "resourceVersionMatch: Forbidden: sendInitialEvents requires"),
        (
            "sendInitialEvents=true&resourceVersionMatch=Exact",
            "resourceVersionMatch: Unsupported value: \"Exact\"",
        ),
        ("resourceVersionMatch=NotOlderThan", "resourceVersionMatch: Forbidden"),
    ];
    for (query, expect) in checks {
        let (reason, message) = cluster.get(&format!("{MAPS}?watch=1&{query}")).await.failure(422);
        assert_eq!(reason, "Invalid", "{query}");
        assert!(message.contains(expect), "{query}: {message}");
    }
}

#[tokio::test]
async fn a_watch_of_tables_has_headings_once() {
    let cluster = Cluster::start().await;
    let since = newest(&cluster).await;
    let path = format!("{MAPS}?watch=1&resourceVersion={since}");
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut watch = cluster.watch_as(&path, table).await;
    assert_eq!(watch.headers["content-type"], "application/json");
    cluster.post(MAPS, &map("x", "a")).await.expect(201);
    set(&cluster, "x", "1").await;
    let added = watch.next().await.unwrap();
    assert_eq!(added["object"]["kind"], "Table");
    assert_eq!(added["object"]["columnDefinitions"][0]["name"], "Name");
    assert_eq!(added["object"]["rows"][0]["cells"][0], "x");
    let modified = watch.next().await.unwrap();
    assert_eq!(modified["type"], "MODIFIED");
    assert!(modified["object"]["columnDefinitions"].is_null());
    let metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let mut watch = cluster.watch_as(&path, metadata).await;
    let added = watch.next().await.unwrap();
    assert_eq!(added["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(added["object"]["metadata"]["name"], "x");
    assert!(added["object"]["data"].is_null());
}

#[tokio::test]
async fn a_write_that_changes_nothing_is_no_event() {
    let cluster = Cluster::start().await;
    cluster.post(MAPS, &map("x", "a")).await.expect(201);
    let since = newest(&cluster).await;
    let mut watch = cluster.watch(&format!("{MAPS}?watch=1&resourceVersion={since}")).await;
    let same = json!([{"op": "replace", "path": "/metadata/labels/watched", "value": "a"}]);
    cluster.patch(&format!("{MAPS}/x"), JSON_PATCH, &same).await.expect(200);
    cluster.delete(&format!("{MAPS}/x?dryRun=All")).await.expect(200);
    cluster.post(MAPS, &map("y", "a")).await.expect(201);
    assert_eq!(watch.events(1).await, ["ADDED y"]);
}
