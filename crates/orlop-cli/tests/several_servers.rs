//! Several API servers on one etcd cluster: they are one API, and one that is cut off says so.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use orlop_apiserver_suite::api_client::ApiWatch;
use orlop_apiserver_suite::{ApiClient, ApiServer, Reply};
use orlop_storage::{Etcd, EtcdOptions, KeyRange, RangeRequest, Store};
use orlop_storage_suite::engines;
use orlop_storage_suite::etcd_server::{EtcdCluster, EtcdServer};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SERVICES: &str = "/api/v1/namespaces/default/services";
/// What does not come by then is not going to.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a server may try to reach etcd before it says no.
const REFUSAL_MAX: Duration = Duration::from_secs(30);

fn start(endpoint: &str) -> Result<ApiServer> {
    ApiServer::on_etcd(Path::new(env!("CARGO_BIN_EXE_orlop")), &[endpoint.to_owned()], &[])
}

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"of": name}})
}

/// Type, name and resource version of the next event.
async fn event(watch: &mut ApiWatch) -> Result<(String, String, u64)> {
    let event = timeout(PATIENCE, watch.next()).await?.context("the watch ended")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let object = &event["object"];
    ensure!(event["type"] != "ERROR", "{event}");
    Ok((text(&event["type"]), text(&object["metadata"]["name"]), version(object)))
}

async fn watch(client: &ApiClient, after: u64) -> Result<ApiWatch> {
    let started = client.watch(&format!("{MAPS}?watch=1&resourceVersion={after}")).await;
    Ok(started.map_err(|none| anyhow::anyhow!("{none:?}"))?.unwrap())
}

async fn ask(client: &ApiClient, method: &str, path: &str, body: Option<&Value>) -> Reply {
    client.send(method, path, body).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_through_one_server_is_read_through_the_others() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let etcd = EtcdServer::start()?;
    let servers = [start(etcd.endpoint())?, start(etcd.endpoint())?];
    let [one, two] = [servers[0].client()?, servers[1].client()?];
    let mut watching = watch(&two, version(&two.get(MAPS).await?)).await?;
    for round in 0..20 {
        let name = format!("map-{round}");
        let path = format!("{MAPS}/{name}");
        let made = one.create(MAPS, &map(&name)).await?;
        assert_eq!(two.get(&path).await?, made);
        let list = two.get(MAPS).await?;
        assert!(names(&list).contains(&name.as_str()), "{list}");
        assert!(version(&list) >= version(&made));
        assert_eq!(event(&mut watching).await?, ("ADDED".into(), name.clone(), version(&made)));
        one.expect(200, ("DELETE", &path), None).await?;
        assert_eq!(ask(&two, "GET", &path, None).await.code, 404);
        assert!(!names(&two.get(MAPS).await?).contains(&name.as_str()));
        let (kind, gone, _) = event(&mut watching).await?;
        assert_eq!((kind.as_str(), gone), ("DELETED", name));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_start_at_once_make_one_cluster() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let etcd = EtcdServer::start()?;
    let starting = [(); 3].map(|()| {
        let endpoint = etcd.endpoint().to_owned();
        std::thread::spawn(move || start(&endpoint))
    });
    let mut servers = Vec::new();
    for thread in starting {
        servers.push(thread.join().unwrap()?);
    }
    let client = servers[0].client()?;
    let list = async |path: &str| client.get(path).await;
    let namespaces = list("/api/v1/namespaces").await?;
    assert_eq!(names(&namespaces), ["default", "kube-node-lease", "kube-public", "kube-system"]);
    let services = list("/api/v1/services").await?;
    assert_eq!(names(&services), ["kubernetes"]);
    assert_eq!(services["items"][0]["spec"]["clusterIP"], "10.0.0.1");
    let addresses = list("/apis/networking.k8s.io/v1/ipaddresses").await?;
    assert_eq!(names(&addresses), ["10.0.0.1"]);
    let ranges = list("/apis/networking.k8s.io/v1/servicecidrs").await?;
    assert_eq!(names(&ranges), ["kubernetes"]);
    let leases = list("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases").await?;
    assert_eq!(names(&leases).len(), 1, "servers of one machine share their lease: {leases}");
    let classes = list("/apis/scheduling.k8s.io/v1/priorityclasses").await?;
    assert_eq!(names(&classes), ["system-cluster-critical", "system-node-critical"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_made_through_several_servers_share_no_address_and_no_port() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    const EACH: usize = 25;
    let etcd = EtcdServer::start()?;
    let servers = [start(etcd.endpoint())?, start(etcd.endpoint())?];
    let mut making = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let client = server.client()?;
        making.push(tokio::spawn(async move {
            let service = |number: usize| {
                json!({"metadata": {"name": format!("s-{index}-{number}")},
                    "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
            };
            let mut made = Vec::new();
            for number in 0..EACH {
                made.push(client.create(SERVICES, &service(number)).await?);
            }
            anyhow::Ok(made)
        }));
    }
    let (mut addresses, mut ports) = (BTreeSet::new(), BTreeSet::new());
    for task in making {
        for service in task.await?? {
            let spec = &service["spec"];
            assert!(addresses.insert(spec["clusterIP"].to_string()), "{service}");
            assert!(ports.insert(spec["ports"][0]["nodePort"].as_u64().unwrap()), "{service}");
        }
    }
    assert_eq!((addresses.len(), ports.len()), (2 * EACH, 2 * EACH));
    Ok(())
}

/// Says no, in the form of a Status, in bounded time.
async fn refuses(client: &ApiClient, method: &str, path: &str, body: Option<&Value>) -> Result<()> {
    let begin = Instant::now();
    let reply = ask(client, method, path, body).await;
    ensure!(reply.code >= 500, "{method} {path}: {} {}", reply.code, reply.text());
    ensure!(reply.json()?["kind"] == "Status", "{}", reply.text());
    ensure!(begin.elapsed() < REFUSAL_MAX, "{method} {path} took {:?}", begin.elapsed());
    Ok(())
}

/// Says that it does not reach etcd, and to those who look closer not why.
async fn is_unwell(client: &ApiClient, path: &str) -> Result<()> {
    let reply = ask(client, "GET", path, None).await;
    ensure!(reply.code == 500, "{path}: {}", reply.text());
    ensure!(reply.text().contains("[-]etcd failed: reason withheld"), "{}", reply.text());
    Ok(())
}

async fn until_ready(client: &ApiClient) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while ask(client, "GET", "/readyz", None).await.code != 200 {
        ensure!(Instant::now() < deadline, "the server does not get ready again");
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_cut_off_promises_nothing_and_catches_up() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let etcd = EtcdCluster::start(3)?;
    let endpoints = etcd.endpoints();
    let servers = [start(&endpoints[0])?, start(&endpoints[1])?];
    let [cut, other] = [servers[0].client()?, servers[1].client()?];
    let before = other.create(MAPS, &map("before")).await?;
    let mut watching = watch(&cut, version(&before) - 1).await?;
    assert_eq!(event(&mut watching).await?.1, "before");
    until_ready(&cut).await?;

    etcd.cut_clients(0);
    let meanwhile = other.create(MAPS, &map("meanwhile")).await?;
    let (one, first) = (format!("{MAPS}/before"), format!("{MAPS}?limit=1"));
    let refused = map("refused");
    tokio::try_join!(
        is_unwell(&cut, "/readyz"),
        is_unwell(&cut, "/livez"),
        is_unwell(&cut, "/healthz"),
        refuses(&cut, "GET", &one, None),
        refuses(&cut, "GET", MAPS, None),
        refuses(&cut, "GET", &first, None),
        refuses(&cut, "POST", MAPS, Some(&refused)),
    )?;
    let cached = cut.get(&format!("{MAPS}?resourceVersion=0")).await?;
    assert_eq!(names(&cached), ["before"]);

    etcd.mend_clients(0);
    until_ready(&cut).await?;
    assert_eq!(names(&cut.get(MAPS).await?), ["before", "meanwhile"]);
    let after = cut.create(MAPS, &map("after")).await?;
    for (name, object) in [("meanwhile", &meanwhile), ("after", &after)] {
        let expect = ("ADDED".to_owned(), name.to_owned(), version(object));
        assert_eq!(event(&mut watching).await?, expect);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_go_on_after_etcd_was_killed() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let mut etcd = EtcdServer::start()?;
    let server = start(etcd.endpoint())?;
    let client = server.client()?;
    let mut watching = watch(&client, version(&client.get(MAPS).await?)).await?;
    for round in 0..3 {
        let name = format!("map-{round}");
        let made = client.create(MAPS, &map(&name)).await?;
        assert_eq!(event(&mut watching).await?, ("ADDED".into(), name, version(&made)));
        etcd.kill()?;
        refuses(&client, "GET", MAPS, None).await?;
        etcd.restart()?;
        until_ready(&client).await?;
    }
    assert_eq!(names(&client.get(MAPS).await?), ["map-0", "map-1", "map-2"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_and_values_in_etcd_are_laid_out_as_those_of_kubernetes() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let etcd = EtcdServer::start()?;
    let server = start(etcd.endpoint())?;
    let client = server.client()?;
    let made = client.create(MAPS, &map("a")).await?;
    let node = json!({"metadata": {"name": "n"}});
    client.create("/api/v1/nodes", &node).await?;
    let raw = Etcd::connect(EtcdOptions::new([etcd.endpoint()]).compact_every(None)).await?;
    let found = raw.range(RangeRequest::new(KeyRange::prefix("/registry/"))).await?;
    let key = |key: &str| {
        let record = found.records.iter().find(|record| record.key() == key.as_bytes());
        record.with_context(|| format!("{key} is missing"))
    };
    let record = key("/registry/configmaps/default/a")?;
    assert_eq!(record.modified().0, version(&made));
    let mut kept = made.clone();
    kept["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    assert_eq!(serde_json::from_slice::<Value>(record.value())?, kept);
    let start = br#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a""#;
    assert!(record.value().starts_with(start), "{}", record.value().escape_ascii());
    for place in [
        "/registry/minions/n",
        "/registry/namespaces/default",
        "/registry/services/specs/default/kubernetes",
        "/registry/servicecidrs/kubernetes",
        "/registry/ipaddresses/10.0.0.1",
        "/registry/priorityclasses/system-node-critical",
        "/registry/flowschemas/exempt",
        "/registry/prioritylevelconfigurations/exempt",
    ] {
        key(place)?;
    }
    for record in &found.records {
        let object: Value = serde_json::from_slice(record.value())
            .with_context(|| record.key().escape_ascii().to_string())?;
        assert!(object["kind"].is_string(), "{object}");
    }
    Ok(())
}
