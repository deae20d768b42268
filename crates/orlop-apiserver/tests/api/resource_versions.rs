//! What a resource version means in reads and in writes.

use serde_json::json;

use crate::cluster::{Cluster, MERGE_PATCH, names, version};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Maps a, b and c, made one after the other, and their versions.
async fn three(cluster: &Cluster) -> [u64; 3] {
    let mut versions = [0; 3];
    for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
        let made = cluster.post(MAPS, &json!({"metadata": {"name": name}})).await.expect(201);
        versions[place] = version(&made);
    }
    versions
}

#[tokio::test]
async fn a_list_is_of_the_moment_that_was_asked_for() {
    let cluster = Cluster::start().await;
    let [_, second, third] = three(&cluster).await;
    let everything: &[&str] = &["a", "b", "c"];
    let checks = [
        (String::new(), everything, None),
        ("resourceVersion=0".to_owned(), everything, None),
        (format!("resourceVersion={second}"), everything, None),
        (format!("resourceVersion={second}&limit=10"), &["a", "b"], Some(second)),
        (format!("resourceVersion={second}&resourceVersionMatch=Exact"), &["a", "b"], Some(second)),
        (format!("resourceVersion={third}&resourceVersionMatch=Exact"), everything, Some(third)),
        (format!("resourceVersion={second}&resourceVersionMatch=NotOlderThan"), everything, None),
        ("resourceVersion=0&resourceVersionMatch=NotOlderThan".to_owned(), everything, None),
    ];
    for (query, expect, at) in checks {
        let list = cluster.get(&format!("{MAPS}?{query}")).await.expect(200);
        assert_eq!(names(&list), expect, "{query}");
        match at {
            Some(at) => assert_eq!(version(&list), at, "{query}"),
            None => assert!(version(&list) >= third, "{query}"),
        }
    }
}

#[tokio::test]
async fn some_moments_cannot_be_asked_for() {
    let cluster = Cluster::start().await;
    three(&cluster).await;
    let newest = version(&cluster.get(MAPS).await.expect(200));
    let checks = [
        ("resourceVersionMatch=Exact".to_owned(), 422, "resourceVersionMatch: Forbidden"),
        ("resourceVersion=0&resourceVersionMatch=Exact".to_owned(), 422, "resourceVersion"),
        ("resourceVersion=1&resourceVersionMatch=Never".to_owned(), 422, "resourceVersionMatch"),
        ("sendInitialEvents=true".to_owned(), 422, "sendInitialEvents: Forbidden"),
        (format!("resourceVersion={}", newest + 1000), 504, "Too large resource version"),
        ("resourceVersion=x".to_owned(), 400, "resourceVersion: Invalid value"),
    ];
    tokio::time::pause();
    for (query, code, expect) in checks {
        let (_, message) = cluster.get(&format!("{MAPS}?{query}")).await.failure(code);
        assert!(message.contains(expect), "{query}: {message}");
    }
}

#[tokio::test]
async fn a_moment_ahead_is_waited_for_and_then_given_up() {
    let cluster = Cluster::start().await;
    tokio::time::pause();
    let status = cluster.get(&format!("{MAPS}?resourceVersion=100000")).await.expect(504);
    assert_eq!(status["reason"], "Timeout");
    assert_eq!(status["details"]["retryAfterSeconds"], 1);
    assert_eq!(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

#[tokio::test]
async fn old_versions_of_an_object_can_be_read_until_they_are_forgotten() {
    let cluster = Cluster::start().await;
    let [first, ..] = three(&cluster).await;
    let path = format!("{MAPS}/a");
    let mut versions = vec![first];
    for value in ["1", "2"] {
        let patch = json!({"data": {"x": value}});
        versions.push(version(&cluster.patch(&path, MERGE_PATCH, &patch).await.expect(200)));
    }
    for (at, value) in [(versions[0], None), (versions[1], Some("1")), (versions[2], Some("2"))] {
        let exact = format!("{path}?resourceVersion={at}&resourceVersionMatch=Exact");
        let read = cluster.get(&exact).await.expect(200);
        assert_eq!(version(&read), at);
        assert_eq!(read["data"]["x"].as_str(), value);
    }
    let history = cluster.get(&format!("{path}?history=true")).await.expect(200);
    assert_eq!(history["kind"], "ConfigMapList");
    let kept: Vec<u64> = history["items"].as_array().unwrap().iter().map(version).collect();
    versions.reverse();
    assert_eq!(kept, versions);
    cluster.store.compact(orlop_storage::Revision(versions[0])).await.unwrap();
    let exact = format!("{path}?resourceVersion={first}&resourceVersionMatch=Exact");
    let (reason, _) = cluster.get(&exact).await.failure(410);
    assert_eq!(reason, "Expired");
    let history = cluster.get(&format!("{path}?history=true")).await.expect(200);
    assert_eq!(names(&history), ["a"]);
    assert_eq!(version(&cluster.get(&path).await.expect(200)), versions[0]);
}

#[tokio::test]
async fn a_write_says_what_it_has_seen_or_nothing() {
    let cluster = Cluster::start().await;
    let [first, ..] = three(&cluster).await;
    let path = format!("{MAPS}/a");
    let with = |version: &str| json!({"metadata": {"name": "a", "resourceVersion": version}});
    let patch = json!({"data": {"x": "1"}});
    let patched = cluster.patch(&path, MERGE_PATCH, &patch).await.expect(200);
    let (reason, _) = cluster.put(&path, &with(&first.to_string())).await.failure(409);
    assert_eq!(reason, "Conflict");
    let (reason, _) =
        cluster.patch(&path, MERGE_PATCH, &with(&first.to_string())).await.failure(409);
    assert_eq!(reason, "Conflict");
    let status = cluster.put(&path, &with("x")).await.expect(500);
    assert_eq!(status["message"], "strconv.ParseUint: parsing \"x\": invalid syntax");
    assert!(status["reason"].is_null());
    cluster.put(&path, &with(&version(&patched).to_string())).await.expect(200);
    let last = cluster.put(&path, &with("0")).await.expect(200);
    let unchanged = cluster.put(&path, &with("")).await.expect(200);
    assert_eq!(version(&unchanged), version(&last));
    let made = json!({"metadata": {"name": "d", "resourceVersion": "5"}});
    let (_, message) = cluster.post(MAPS, &made).await.failure(500);
    assert_eq!(message, "resourceVersion should not be set on objects to be created");
}
