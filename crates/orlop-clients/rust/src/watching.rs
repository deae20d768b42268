//! Watches: raw, with restarts, in a store, and until something holds.

use std::future::ready;
use std::pin::pin;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::core::PartialObjectMeta;
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::objects::{config_map, pod};
use crate::{Place, Step, step};

pub(crate) const STEPS: &[Step] = &[
    step!("watch from a list", watch),
    step!("watcher that lists and watches", watcher_by_list),
    step!("watcher with streaming lists", watcher_by_stream),
    step!("watcher of metadata", watcher_of_metadata),
    step!("reflector", reflector_store),
    step!("wait until a pod runs and is gone", wait),
];

/// Makes an object, changes it and deletes it.
async fn change(maps: &Api<ConfigMap>, name: &str) -> Result<()> {
    maps.create(&PostParams::default(), &config_map(name)).await?;
    let patch = Patch::Merge(json!({ "data": { "a": "2" } }));
    maps.patch(name, &PatchParams::default(), &patch).await?;
    maps.delete(name, &DeleteParams::default()).await?;
    Ok(())
}

async fn watch(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    let list = maps.list(&ListParams::default()).await?;
    let start = list.metadata.resource_version.context("the list has no version")?;
    let mut events = maps.watch(&WatchParams::default(), &start).await?.boxed();
    change(&maps, "a").await?;
    let mut seen = Vec::new();
    while seen.len() < 3 {
        match events.try_next().await?.context("the watch ended")? {
            WatchEvent::Added(map) => seen.push(format!("added {}", map.name_any())),
            WatchEvent::Modified(map) => seen.push(format!("modified {}", map.name_any())),
            WatchEvent::Deleted(map) => seen.push(format!("deleted {}", map.name_any())),
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(status) => anyhow::bail!("{status:?}"),
        }
    }
    ensure!(seen == ["added a", "modified a", "deleted a"], "{seen:?}");
    Ok(())
}

async fn watcher_by_list(place: Place) -> Result<()> {
    run_watcher(&place, watcher::Config::default().page_size(1)).await
}

async fn watcher_by_stream(place: Place) -> Result<()> {
    run_watcher(&place, watcher::Config::default().streaming_lists()).await
}

async fn run_watcher(place: &Place, config: watcher::Config) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    for name in ["before-1", "before-2"] {
        maps.create(&PostParams::default(), &config_map(name)).await?;
    }
    let mut events = pin!(watcher(maps.clone(), config));
    let mut seen = Vec::new();
    while seen.len() < 7 {
        match events.try_next().await?.context("the watcher ended")? {
            watcher::Event::Init => seen.push("init".to_owned()),
            watcher::Event::InitApply(map) => seen.push(format!("there {}", map.name_any())),
            watcher::Event::InitDone => {
                seen.push("ready".to_owned());
                change(&maps, "a").await?;
            }
            watcher::Event::Apply(map) => seen.push(format!("apply {}", map.name_any())),
            watcher::Event::Delete(map) => seen.push(format!("delete {}", map.name_any())),
        }
    }
    let expect =
        ["init", "there before-1", "there before-2", "ready", "apply a", "apply a", "delete a"];
    ensure!(seen == expect, "{seen:?}");
    Ok(())
}

async fn watcher_of_metadata(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    maps.create(&PostParams::default(), &config_map("a")).await?;
    let heads: Api<PartialObjectMeta<ConfigMap>> = place.api();
    let mut objects = pin!(watcher(heads, watcher::Config::default()).applied_objects());
    let head = objects.try_next().await?.context("the watcher ended")?;
    ensure!(head.name_any() == "a" && head.uid().is_some(), "{head:?}");
    Ok(())
}

async fn reflector_store(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    maps.create(&PostParams::default(), &config_map("a")).await?;
    let (reader, writer) = reflector::store();
    let stream = reflector(writer, watcher(maps.clone(), watcher::Config::default()));
    let running = tokio::spawn(stream.for_each(|_| ready(())));
    reader.wait_until_ready().await?;
    let names: Vec<String> = reader.state().iter().map(|map| map.name_any()).collect();
    ensure!(names == ["a"], "{names:?}");
    maps.delete("a", &DeleteParams::default()).await?;
    while !reader.is_empty() {
        tokio::task::yield_now().await;
    }
    running.abort();
    Ok(())
}

async fn wait(place: Place) -> Result<()> {
    let pods: Api<Pod> = place.api();
    let made = pods.create(&PostParams::default(), &pod("a")?).await?;
    let (api, changes) = (pods.clone(), pods.clone());
    let waiting =
        tokio::spawn(async move { await_condition(api, "a", conditions::is_pod_running()).await });
    let status = Patch::Merge(json!({ "status": { "phase": "Running" } }));
    changes.patch_status("a", &PatchParams::default(), &status).await?;
    waiting.await??;
    changes.delete("a", &DeleteParams::default().grace_period(0)).await?;
    let uid = made.uid().context("no uid")?;
    await_condition(pods, "a", conditions::is_deleted(&uid)).await?;
    Ok(())
}
