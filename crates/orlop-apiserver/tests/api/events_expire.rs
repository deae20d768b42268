//! Events go by themselves, on every store.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use orlop_apiserver::Options;
use orlop_storage::Store;
use orlop_storage_suite::engines;
use serde_json::{Value, json};

use crate::cluster::{Cluster, version};

const EVENTS: &str = "/api/v1/namespaces/default/events";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn event(name: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
        "reason": "Tested",
        "message": "it was",
        "type": "Normal",
    })
}

async fn check(store: Arc<dyn Store>) {
    let options = Options {
        event_ttl: Duration::from_secs(1),
        ..Options::new(Ipv4Addr::new(192, 0, 2, 1).into(), 6443)
    };
    let cluster = Cluster::with(store, options).await;
    let made = cluster.post(EVENTS, &event("e")).await.expect(201);
    let map = cluster.post(MAPS, &json!({"metadata": {"name": "stays"}})).await.expect(201);
    let after = version(&made);
    let mut watch = cluster.watch(&format!("{EVENTS}?watch=1&resourceVersion={after}")).await;
    let (kind, name, gone) = watch.event().await;
    assert_eq!((kind.as_str(), name.as_str()), ("DELETED", "e"));
    assert!(gone > after);
    cluster.get(&format!("{EVENTS}/e")).await.expect(404);
    let list = cluster.get(EVENTS).await.expect(200);
    assert_eq!(list["items"], json!([]));
    assert_eq!(cluster.get(&format!("{MAPS}/stays")).await.expect(200), map);
}

#[tokio::test]
async fn from_memory() {
    let (store, ()) = engines::memory().await.unwrap();
    check(store).await;
}

#[tokio::test]
async fn from_a_folder() {
    let (store, folder) = engines::embedded().await.unwrap();
    check(store).await;
    drop(folder);
}

#[tokio::test]
async fn from_etcd() {
    match engines::etcd().await {
        Some((store, _server)) => check(store).await,
        None => engines::assert_not_required(),
    }
}
