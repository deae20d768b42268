//! What is counted and measured while the server works.

use super::cluster::Cluster;

/// The value of a line, by its name and labels.
fn value(text: &str, line: &str) -> Option<f64> {
    let found = text.lines().find_map(|known| known.strip_prefix(line)?.strip_prefix(' '));
    found.map(|value| value.parse().unwrap())
}

#[tokio::test]
async fn the_store_is_timed_by_operation_and_resource() {
    let cluster = Cluster::start().await;
    cluster.namespace("a").await;
    cluster.get("/api/v1/namespaces/a").await.expect(200);
    cluster.delete("/api/v1/namespaces/a").await;
    let text = cluster.get("/metrics").await.text();
    for operation in ["create", "get"] {
        let line = format!(
            "etcd_requests_total{{group=\"\",operation=\"{operation}\",resource=\"namespaces\"}}"
        );
        assert!(value(&text, &line).is_some_and(|count| count >= 1.0), "{line}\n{text}");
        let line = format!(
            "etcd_request_duration_seconds_count{{group=\"\",operation=\"{operation}\",\
             resource=\"namespaces\"}}"
        );
        assert!(value(&text, &line).is_some_and(|count| count >= 1.0), "{line}\n{text}");
    }
    assert!(!text.contains("etcd_request_errors_total{"), "{text}");
    assert_eq!(value(&text, "orlop_request_panics_total"), Some(0.0));
}

#[tokio::test]
async fn objects_are_counted_with_and_without_a_cache() {
    let cluster = Cluster::start().await;
    cluster.namespace("a").await;
    let namespaces = "apiserver_resource_objects{group=\"\",resource=\"namespaces\"}";
    let levels = "apiserver_storage_objects{resource=\"prioritylevelconfigurations.flowcontrol.\
                  apiserver.k8s.io\"}";
    let text = cluster.get("/metrics").await.text();
    assert_eq!(value(&text, namespaces), Some(5.0));
    assert_eq!(value(&text, levels), Some(8.0));
    cluster.get("/api/v1/namespaces").await.expect(200);
    cluster.namespace("b").await;
    // A list that must be fresh waits for the cache.
    cluster.get("/api/v1/namespaces").await.expect(200);
    let text = cluster.get("/metrics").await.text();
    assert_eq!(value(&text, namespaces), Some(6.0), "a cache knows at once");
    assert_eq!(value(&text, levels), Some(8.0));
}

#[tokio::test]
async fn events_of_watches_are_counted_one_by_one() {
    let cluster = Cluster::start().await;
    let mut watch = cluster.watch("/api/v1/namespaces?watch=true").await;
    watch.events(4).await;
    cluster.namespace("a").await;
    assert_eq!(watch.events(1).await, ["ADDED a"]);
    let text = cluster.get("/metrics").await.text();
    let labels = "{group=\"\",resource=\"namespaces\",version=\"v1\"}";
    assert_eq!(value(&text, &format!("apiserver_watch_events_total{labels}")), Some(5.0));
    let sum = value(&text, &format!("apiserver_watch_events_sizes_sum{labels}")).unwrap();
    assert!((5.0 * 100.0..5.0 * 4000.0).contains(&sum), "{sum}");
}
