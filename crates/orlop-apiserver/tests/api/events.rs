//! Events, which two groups show in two ways.

use serde_json::json;

use crate::cluster::{Cluster, STRATEGIC_PATCH, names};

const CORE: &str = "/api/v1/namespaces/default/events";
const NEW: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

#[tokio::test]
async fn an_event_is_patched_updated_and_found_by_what_it_is_about() {
    let cluster = Cluster::start().await;
    let event = json!({"metadata": {"name": "e", "labels": {"test": "yes"}},
        "message": "This is a test event", "reason": "Test", "type": "Normal", "count": 1,
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}});
    cluster.post(CORE, &event).await.expect(201);
    let everywhere = cluster.get("/api/v1/events?labelSelector=test%3Dyes").await.expect(200);
    assert_eq!(names(&everywhere), ["e"]);
    let patch = json!({"message": "This is a patched event"});
    let path = format!("{CORE}/e");
    let patched = cluster.patch(&path, STRATEGIC_PATCH, &patch).await.expect(200);
    assert_eq!(patched["message"], "This is a patched event");
    let mut read = cluster.get(&path).await.expect(200);
    read["series"] = json!({"count": 100, "lastObservedTime": "2026-01-02T03:04:05.000006Z"});
    let updated = cluster.put(&path, &read).await.expect(200);
    assert_eq!(updated["series"], read["series"]);
    for (selector, expect) in [
        ("involvedObject.name%3Dp", &["e"][..]),
        ("involvedObject.kind%3DNode", &[]),
        ("reason%3DTest,type%3DNormal", &["e"]),
        ("type!%3DNormal", &[]),
    ] {
        let found = cluster.get(&format!("{CORE}?fieldSelector={selector}")).await.expect(200);
        assert_eq!(names(&found), expect, "{selector}");
    }
    cluster.delete(&path).await.expect(200);
    cluster.get(&path).await.failure(404);
}

#[tokio::test]
async fn an_event_of_one_group_is_one_of_the_other() {
    let cluster = Cluster::start().await;
    let event = |name: &str| {
        json!({"metadata": {"name": name, "labels": {"test": "yes"}},
            "eventTime": "2026-01-02T03:04:05.000006Z", "reportingController": "test/controller",
            "reportingInstance": "test-node", "action": "Do", "reason": "Test", "type": "Normal",
            "note": "it is tested", "regarding": {"namespace": "default"}})
    };
    let mut made = cluster.post(NEW, &event("a")).await.expect(201);
    let core = cluster.get(&format!("{CORE}/a")).await.expect(200);
    assert_eq!(core["message"], "it is tested");
    assert_eq!(core["reportingComponent"], "test/controller");
    assert_eq!(core["involvedObject"]["namespace"], "default");
    assert_eq!(core["metadata"]["uid"], made["metadata"]["uid"]);
    let series = json!({"count": 2, "lastObservedTime": "2026-01-02T03:05:05.000006Z"});
    let patch = json!({"series": series});
    let patched = cluster.patch(&format!("{NEW}/a"), STRATEGIC_PATCH, &patch).await.expect(200);
    assert_eq!(patched["series"], series);
    made = patched;
    made["series"]["count"] = json!(100);
    let updated = cluster.put(&format!("{NEW}/a"), &made).await.expect(200);
    assert_eq!(updated["series"]["count"], 100);
    for name in ["b", "c"] {
        cluster.post(NEW, &event(name)).await.expect(201);
    }
    let query = "labelSelector=test%3Dyes";
    let all = cluster.get(&format!("/apis/events.k8s.io/v1/events?{query}")).await.expect(200);
    assert_eq!(names(&all), ["a", "b", "c"]);
    cluster.delete(&format!("{NEW}?{query}")).await.expect(200);
    assert_eq!(names(&cluster.get(&format!("{CORE}?{query}")).await.expect(200)), [""; 0]);
    let mut wrong = event("d");
    wrong["metadata"]["namespace"] = json!("other");
    cluster.post(NEW, &wrong).await.failure(400);
}
