//! Parameters and headers that nobody should send. Codes and messages are those of kube-apiserver
//! 1.36, except where a test says otherwise.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orlop_apiserver::User;
use orlop_apiserver::serve::Peer;
use serde_json::json;

use crate::cluster::{Cluster, MERGE_PATCH, names};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A cluster with one object and a secret.
async fn cluster() -> Cluster {
    let cluster = Cluster::start().await;
    let map = json!({"metadata": {"name": "t"}, "data": {"a": "b"}});
    cluster.post(MAPS, &map).await.expect(201);
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "hunter2"}});
    cluster.post("/api/v1/namespaces/default/secrets", &secret).await.expect(201);
    cluster
}

/// A query is refused with a status of this code and message.
async fn check(cluster: &Cluster, query: &str, (code, message): (u16, &str)) {
    let answer = cluster.get(&format!("{MAPS}{query}")).await;
    assert_eq!(answer.code, code, "{query}: {}", answer.text());
    assert_eq!(answer.failure(code).1, message, "{query}");
}

/// A query gives the list.
async fn is_fine(cluster: &Cluster, query: &str) {
    let list = cluster.get(&format!("{MAPS}{query}")).await.expect(200);
    assert_eq!(names(&list), ["t"], "{query}");
}

#[tokio::test]
async fn numbers_and_times_are_judged() {
    let cluster = cluster().await;
    let range = "strconv.ParseInt: parsing \"99999999999999999999\": value out of range";
    check(&cluster, "?limit=99999999999999999999", (400, range)).await;
    let syntax = "strconv.ParseInt: parsing \"x\": invalid syntax";
    check(&cluster, "?limit=x", (400, syntax)).await;
    check(&cluster, "?timeoutSeconds=x", (400, syntax)).await;
    for query in ["?limit=-1", "?limit=9223372036854775807", "?timeoutSeconds=-9223372036854775808"]
    {
        is_fine(&cluster, query).await;
    }
    let wrong = "invalid timeout specified in the request URL - time: invalid duration \"x\"";
    check(&cluster, "?timeout=x", (400, wrong)).await;
    for query in ["?timeout=999999h", "?timeout=-1s", "?timeout=0", "?timeout="] {
        is_fine(&cluster, query).await;
    }
    for seconds in ["9223372036854775807", "-1", "0"] {
        let path = format!("{MAPS}?watch=1&timeoutSeconds={seconds}");
        assert_eq!(cluster.watch(&path).await.events(1).await, ["ADDED t"]);
    }
    let path = format!("{MAPS}/t?gracePeriodSeconds=x");
    assert_eq!(cluster.delete(&path).await.failure(400).1, syntax);
    let path = format!("{MAPS}/t?gracePeriodSeconds=-9223372036854775808&dryRun=All");
    cluster.delete(&path).await.expect(200);
}

#[tokio::test(start_paused = true)]
async fn versions_are_judged() {
    let cluster = cluster().await;
    let wrong = |text: &str, why: &str| {
        format!(
            "resourceVersion: Invalid value: \"{text}\": \
             strconv.ParseUint: parsing \"{text}\": {why}"
        )
    };
    for (text, why) in [
        ("x", "invalid syntax"),
        ("-1", "invalid syntax"),
        ("18446744073709551616", "value out of range"),
    ] {
        let message = format!("invalid resource version: {}", wrong(text, why));
        check(&cluster, &format!("?resourceVersion={text}"), (400, &message)).await;
        // Upstream takes these for its own fault.
        let message = wrong(text, why);
        check(&cluster, &format!("/t?resourceVersion={text}"), (500, &message)).await;
        check(&cluster, &format!("?watch=1&resourceVersion={text}"), (500, &message)).await;
    }
    for query in [
        "?resourceVersion=18446744073709551615",
        "?resourceVersion=9223372036854775807&resourceVersionMatch=Exact",
        "?resourceVersion=9223372036854775807&resourceVersionMatch=NotOlderThan",
        "?resourceVersion=18446744073709551615&resourceVersionMatch=Exact",
        "?resourceVersion=18446744073709551615&limit=1",
        "/t?resourceVersion=18446744073709551615",
        "/t?resourceVersion=9223372036854775808&resourceVersionMatch=Exact",
    ] {
        let (reason, message) = cluster.get(&format!("{MAPS}{query}")).await.failure(504);
        assert_eq!(reason, "Timeout");
        assert!(message.starts_with("Timeout: Too large resource version: "), "{message}");
    }
    let forbidden = "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                     resourceVersionMatch is forbidden unless resourceVersion is provided";
    check(&cluster, "?resourceVersionMatch=Exact", (422, forbidden)).await;
    // A watch waits for the future, however far it is.
    for version in ["18446744073709551615", "9223372036854775807", "999999999"] {
        let path = format!("{MAPS}?watch=1&resourceVersion={version}&timeoutSeconds=1");
        assert_eq!(cluster.watch(&path).await.next().await, None, "{version}");
    }
    let patch = json!({"metadata": {"resourceVersion": "x"}});
    let answer = cluster.patch(&format!("{MAPS}/t"), MERGE_PATCH, &patch).await;
    let (_, message) = answer.failure(500);
    assert_eq!(message, "strconv.ParseUint: parsing \"x\": invalid syntax");
}

#[tokio::test(start_paused = true)]
async fn tokens_lead_nowhere_else() {
    let cluster = cluster().await;
    let token = |text: &str| format!("?continue={}", URL_SAFE_NO_PAD.encode(text));
    let start = |version: i64, start: &str| {
        token(&json!({"v": "meta.k8s.io/v1", "rv": version, "start": start}).to_string())
    };
    let wrong = |why: &str| format!("invalid continue token: continue key is not valid: {why}");
    for key in [
        "../../secrets/default/a",
        "../secrets",
        "/../x",
        "a/../b",
        "..",
        "../default/configmaps/../../secrets/",
    ] {
        check(&cluster, &start(1, key), (400, &wrong(key))).await;
        check(&cluster, &start(-1, key), (400, &wrong(key))).await;
    }
    let none = "incorrect encoded start resourceVersion (version meta.k8s.io/v1)";
    check(&cluster, &start(0, "a"), (400, &wrong(none))).await;
    let empty = "encoded start key empty (version meta.k8s.io/v1)";
    check(&cluster, &start(1, ""), (400, &wrong(empty))).await;
    let unknown = "server does not recognize this encoded version meta.k8s.io/v2";
    let other = token(r#"{"v":"meta.k8s.io/v2","rv":1,"start":"a"}"#);
    check(&cluster, &other, (400, &wrong(unknown))).await;
    let list = "json: cannot unmarshal array into Go value of type storage.continueToken";
    check(&cluster, &token("[]"), (400, &wrong(list))).await;
    let base64 = "illegal base64 data at input byte 0";
    check(&cluster, "?continue=%ff", (400, &wrong(base64))).await;
    is_fine(&cluster, &start(i64::MIN, "a")).await;
    let past = cluster.get(&format!("{MAPS}{}", start(-1, "zz"))).await.expect(200);
    assert_eq!(names(&past), [""; 0]);
    // What would be another type is a name here.
    let other = cluster.get(&format!("{MAPS}{}", start(-1, "/registry/secrets/"))).await;
    assert!(matches!(other.code, 200 | 400));
    assert!(!other.text().contains("password"), "{}", other.text());
    let (_, message) = cluster.get(&format!("{MAPS}{}", start(i64::MAX, "a"))).await.failure(504);
    assert!(message.starts_with("Timeout: Too large resource version: "), "{message}");
}

#[tokio::test]
async fn selectors_are_judged_however_long() {
    let cluster = cluster().await;
    let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must \
                start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
                '123-abc', regex used for validation is \
                '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let message = format!("unable to parse requirement: <nil>: Invalid value: \"&&\": {name}");
    check(&cluster, "?labelSelector=%26%26", (400, &message)).await;
    let message = "unable to parse requirement: found '', expected: ',', ')' or identifier";
    check(&cluster, "?labelSelector=a%20in%20(", (400, message)).await;
    let message = "\"spec.x\" is not a known field selector: only \"metadata.name\", \
                   \"metadata.namespace\"";
    check(&cluster, "?fieldSelector=spec.x%3Da", (400, message)).await;
    let message = "invalid field selector: unescaped character in value: 61";
    check(&cluster, "?fieldSelector=%3D%3D%3D", (400, message)).await;
    cluster.get(&format!("{MAPS}?labelSelector=%ff")).await.failure(400);
    // As long as a URI may be.
    let mut many = String::new();
    for at in 0..8000 {
        write!(many, "!a{at},").unwrap();
    }
    many.truncate(many.len() - 1);
    is_fine(&cluster, &format!("?labelSelector={many}")).await;
    let values = vec!["v"; 30_000].join(",");
    let empty = cluster.get(&format!("{MAPS}?labelSelector=a%20in%20({values})")).await;
    assert_eq!(names(&empty.expect(200)), [""; 0]);
    let fields = vec!["metadata.name!%3Dx"; 3000].join(",");
    is_fine(&cluster, &format!("?fieldSelector={fields}")).await;
    let parentheses = "(".repeat(60_000);
    cluster.get(&format!("{MAPS}?labelSelector=a%20in%20{parentheses}")).await.failure(400);
}

#[tokio::test]
async fn thousands_of_parameters_are_passed_over() {
    let cluster = cluster().await;
    let mut query = "?x=1".to_owned();
    for at in 0..6000 {
        write!(query, "&p{at}=%41").unwrap();
    }
    is_fine(&cluster, &query).await;
    is_fine(&cluster, &format!("?{}", "&".repeat(60_000))).await;
    is_fine(&cluster, &format!("?{}", "dryRun=All&".repeat(5000))).await;
    is_fine(&cluster, "?%ff=%ff&%zz=1&a;b=2&=&=x").await;
    let dry_runs = "dryRun=All&".repeat(5000);
    let map = json!({"metadata": {"name": "d"}});
    cluster.post(&format!("{MAPS}?{dry_runs}"), &map).await.expect(201);
    cluster.get(&format!("{MAPS}/d")).await.failure(404);
}

#[tokio::test]
async fn options_of_writes_are_judged() {
    let cluster = cluster().await;
    let map = json!({"metadata": {"name": "w"}});
    let head = "CreateOptions.meta.k8s.io \"\" is invalid: ";
    let long = "a".repeat(200);
    for (query, message) in [
        (
            "fieldValidation=x",
            "fieldValidation: Unsupported value: \"x\": supported values: \"\", \"Ignore\", \
             \"Strict\", \"Warn\"",
        ),
        ("dryRun=x", "dryRun: Unsupported value: [\"x\"]: supported values: \"All\""),
        (&format!("fieldManager={long}"), "fieldManager: Too long: may not be more than 128 bytes"),
        (
            "fieldManager=%00",
            "fieldManager: Invalid value: \"\\x00\": invalid character U+0000 (at position 0)",
        ),
    ] {
        let answer = cluster.post(&format!("{MAPS}?{query}"), &map).await;
        assert_eq!(answer.failure(422).1, format!("{head}{message}"));
    }
    let answer = cluster.delete(&format!("{MAPS}/t?propagationPolicy=x")).await;
    let message = "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported \
                   value: \"x\": supported values: \"Foreground\", \"Background\", \"Orphan\", \
                   \"nil\"";
    assert_eq!(answer.failure(422).1, message);
}

#[tokio::test]
async fn odd_headers_do_no_harm() {
    let cluster = cluster().await;
    let long = "x".repeat(100_000);
    let many = vec!["application/xml"; 5000].join(",");
    for headers in [
        [("user-agent", long.as_str())],
        [("audit-id", &long)],
        [("accept-encoding", &many)],
        [("accept", "application/json;as=Table;v=v1;g=nope, */*")],
        [("accept", "*/*;q=99999999999999999999999")],
        [("content-length", "-1")],
        [("authorization", "Bearer")],
        [("x-remote-user", "somebody")],
        [("impersonate-user", "")],
    ] {
        let answer = cluster.request("GET", MAPS, &headers, "").await;
        assert!(answer.code < 500, "{headers:?} {}", answer.text());
    }
    let answer = cluster.request("GET", MAPS, &[("accept", &many)], "").await;
    assert_eq!(answer.failure(406).0, "NotAcceptable");
    let agent = [("user-agent", long.as_str()), ("content-type", "application/json")];
    let map = json!({"metadata": {"name": "agent"}, "data": {"a": "b"}}).to_string();
    let made = cluster.request("POST", MAPS, &agent, map).await.expect(201);
    let manager = made["metadata"]["managedFields"][0]["manager"].as_str().unwrap();
    assert!(manager.len() <= 128, "{}", manager.len());
}

#[tokio::test]
async fn what_clients_choose_does_not_become_labels_of_metrics() {
    let cluster = cluster().await;
    let series = async || {
        let text = cluster.get("/metrics").await.text();
        let series = text.lines().filter_map(|line| line.rsplit_once(' '));
        series.map(|(name, _)| name.to_owned()).collect::<BTreeSet<String>>()
    };
    let ask = async |at: usize| {
        let map = format!("{MAPS}/name-{at}");
        for (method, path) in [
            (format!("BREW{at}"), map.clone()),
            ("GET".to_owned(), map.clone()),
            ("GET".to_owned(), format!("{map}/subresource-{at}")),
            ("GET".to_owned(), format!("/api/v1/namespaces/ns-{at}/configmaps")),
            ("GET".to_owned(), format!("/api/v1/resource-{at}")),
            ("GET".to_owned(), format!("/api/version-{at}/pods")),
            ("GET".to_owned(), format!("/apis/group-{at}/v1/pods")),
            ("GET".to_owned(), format!("/path-{at}")),
            ("GET".to_owned(), format!("/api/v1/configmaps?labelSelector=l{at}")),
            ("POST".to_owned(), format!("{MAPS}?dryRun=dry-{at}")),
        ] {
            let agent = format!("agent-{at}");
            let headers = [("user-agent", agent.as_str()), ("content-type", "application/json")];
            cluster.request(&method, &path, &headers, "{}").await;
        }
        let user = User { name: format!("user-{at}").as_str().into(), ..User::default() };
        cluster.acting_for(Peer::acting_for(user)).get(&map).await.failure(403);
    };
    ask(0).await;
    series().await;
    let before = series().await;
    for at in 1..50 {
        ask(at).await;
    }
    let after = series().await;
    assert_eq!(after.difference(&before).collect::<Vec<_>>(), [""; 0]);
    let text = cluster.get("/metrics").await.text();
    for word in ["name-", "subresource-1", "ns-1", "resource-1", "group-1", "path-1", "user-1"] {
        assert!(!text.contains(word), "{word}");
    }
}
