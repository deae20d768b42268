//! What custom resources cost under load, beside ConfigMaps of the same length on the same server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, ensure};
use tokio::runtime::Runtime;

use super::objects::{
    DEFINITIONS, collection, config_map, config_maps, custom_resource, definition,
};
use super::{Bench, OURS, until_made};
use crate::report::Run;
use crate::server::Server;
use crate::server::client::Client;

/// How many clients write at the same time.
const WRITERS: usize = 32;
/// How many watch while one writes.
const WATCHERS: usize = 50;
/// The definition whose objects are made.
const INDEX: usize = 0;
/// What is measured beside each other.
const KINDS: [&str; 2] = ["custom", "ConfigMap"];

/// Measures create, list and watch of both kinds on both servers.
pub(super) fn run(bench: &mut Bench, runtime: &Runtime) -> Result<()> {
    println!("custom resources and ConfigMaps");
    let (objects, lists, writes) =
        if bench.options.quick { (2_000, 5, 200) } else { (10_000, 20, 500) };
    for (name, server) in bench.start("load")? {
        let client = Client::new(&server.kubeconfig)?;
        runtime.block_on(prepare(&client))?;
        for kind in KINDS {
            let is_custom = kind == "custom";
            let path = if is_custom { collection(INDEX) } else { config_maps() };
            let place = path.clone();
            let make = move |index| {
                // The first one is there already.
                let name = index + 1;
                let object =
                    if is_custom { custom_resource(INDEX, name) } else { config_map(name) };
                ("POST", place.clone(), object)
            };
            let work = drive(&client, WRITERS, objects, make);
            let (run, cpu) = timed(&server, || runtime.block_on(work))?;
            bench.report.add(format!("create {kind} {name} /s"), run.per_second());
            bench.report.add(format!("create {kind} {name} p99 ms"), run.millis(0.99));
            bench.report.add(format!("create {kind} {name} CPU us"), cpu / objects as f64);
            let place = path.clone();
            let work = drive(&client, 1, lists, move |_| ("GET", place.clone(), String::new()));
            let (run, cpu) = timed(&server, || runtime.block_on(work))?;
            bench.report.add(format!("list {kind} {name} ms"), run.millis(0.5));
            bench.report.add(format!("list {kind} {name} CPU us"), cpu / lists as f64);
            let work = watch(&client, &path, is_custom, writes);
            let (seconds, cpu) = timed(&server, || runtime.block_on(work))?;
            let events = (WATCHERS * writes) as f64;
            bench.report.add(format!("watch {kind} {name} events/s"), events / seconds);
            bench.report.add(format!("watch {kind} {name} CPU us"), cpu / events);
        }
    }
    compare(bench);
    Ok(())
}

fn compare(bench: &mut Bench) {
    for figure in ["create custom", "list custom", "watch custom"] {
        let (ours, peers) =
            (format!("{figure} orlop CPU us"), format!("{figure} kubernetes CPU us"));
        bench.report.ratio(&format!("{figure}, CPU, orlop to kubernetes"), &ours, &peers);
    }
    let (ours, peers) = ("create custom orlop /s", "create custom kubernetes /s");
    bench.report.ratio("create custom, rate, orlop to kubernetes", ours, peers);
    for figure in ["create", "list", "watch"] {
        let of = |kind: &str| format!("{figure} {kind} {OURS} CPU us");
        let name = format!("{figure}, CPU, custom to ConfigMap");
        bench.report.ratio(&name, &of("custom"), &of("ConfigMap"));
    }
}

/// The definition and the first object of each kind.
async fn prepare(client: &Client) -> Result<()> {
    let mut connection = client.connect().await?;
    connection.expect(201, ("POST", DEFINITIONS), definition(INDEX)).await?;
    until_made(&mut connection, INDEX).await?;
    connection.expect(201, ("POST", &config_maps()), config_map(0)).await?;
    Ok(())
}

/// What something returns, and the server's CPU time meanwhile in microseconds.
fn timed<T>(server: &Server, run: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let before = server.cpu_seconds()?;
    let done = run()?;
    Ok((done, (server.cpu_seconds()? - before) * 1e6))
}

/// Sends requests from several connections, each as soon as the one before is answered.
pub(super) async fn drive(
    client: &Client,
    workers: usize,
    count: usize,
    make: impl Fn(usize) -> (&'static str, String, String) + Send + Sync + 'static,
) -> Result<Run> {
    let (next, make) = (Arc::new(AtomicUsize::new(0)), Arc::new(make));
    let mut connections = Vec::new();
    for _ in 0..workers {
        connections.push(client.connect().await?);
    }
    let begin = Instant::now();
    let mut running = Vec::new();
    for mut connection in connections {
        let (next, make) = (next.clone(), make.clone());
        running.push(tokio::spawn(async move {
            let mut run = Run::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return anyhow::Ok(run);
                }
                let (method, path, body) = make(index);
                let sent = Instant::now();
                let (code, bytes) = connection.send(method, &path, body).await?;
                run.record(sent.elapsed());
                let is_fine = (200..300).contains(&code);
                ensure!(is_fine, "{method} {path}: {code} {}", String::from_utf8_lossy(&bytes));
            }
        }));
    }
    let mut whole = Run::new();
    for worker in running {
        whole.merge(&worker.await??);
    }
    whole.elapsed = begin.elapsed();
    Ok(whole)
}

/// Changes one object many times while many watch, and returns the seconds until all have seen
/// all.
async fn watch(client: &Client, path: &str, is_custom: bool, writes: usize) -> Result<f64> {
    let mut watchers = Vec::new();
    for _ in 0..WATCHERS {
        let connection = client.connect().await?;
        let path = format!("{path}?watch=true&fieldSelector=metadata.name%3Dobject-0");
        let events = connection.watch(&path).await?;
        let mut events = events.map_err(|code| anyhow::anyhow!("the watch was answered {code}"))?;
        // Without a version a watch begins with what is there.
        events.next().await?;
        watchers.push(events);
    }
    let mut connection = client.connect().await?;
    let begin = Instant::now();
    let tasks: Vec<_> = watchers
        .into_iter()
        .map(|mut events| {
            tokio::spawn(async move {
                for _ in 0..writes {
                    events.next().await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    let field = if is_custom { "spec" } else { "data" };
    for write in 0..writes {
        let patch = format!(r#"{{"{field}":{{"text0":"change-{write}"}}}}"#);
        connection.expect(200, ("PATCH", &format!("{path}/object-0")), patch).await?;
    }
    for task in tasks {
        task.await??;
    }
    Ok(begin.elapsed().as_secs_f64())
}
