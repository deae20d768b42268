//! Objects, typed and not: reading, writing, patching, applying, subresources, discovery.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{
    DeleteParams, DynamicObject, EvictParams, ListParams, ObjectMeta, Patch, PatchParams,
    PostParams,
};
use kube::core::{GroupVersionKind, Status};
use kube::discovery::{Discovery, Scope, pinned_kind};
use kube::{Api, Error, ResourceExt};
use serde_json::json;

use crate::{Place, Step, step};

pub(crate) const STEPS: &[Step] = &[
    step!("create, get, replace, delete", life),
    step!("errors have their reasons", errors),
    step!("every patch type", patches),
    step!("server-side apply and its conflicts", apply),
    step!("lists select and page", lists),
    step!("metadata only", metadata),
    step!("scale and status", subresources),
    step!("pods are evicted", eviction),
    step!("discovery, old and aggregated", discovery),
    step!("dynamic objects", dynamic),
    step!("delete collection", delete_collection),
];

pub(crate) fn config_map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..Default::default() };
    let data = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
    ConfigMap { metadata, data: Some(data), ..Default::default() }
}

pub(crate) fn pod(name: &str) -> Result<Pod> {
    Ok(serde_json::from_value(json!({
        "metadata": { "name": name },
        "spec": { "containers": [{ "name": "main", "image": "example.test/image:1" }] },
    }))?)
}

fn deployment(replicas: u32) -> serde_json::Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "web" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "main", "image": "example.test/image:1" }] },
            },
        },
    })
}

/// The status of a refusal.
fn refusal<T>(outcome: Result<T, Error>) -> Result<Status> {
    match outcome {
        Err(Error::Api(status)) => Ok(*status),
        Err(other) => Err(other.into()),
        Ok(_) => anyhow::bail!("it was not refused"),
    }
}

async fn life(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    let mut made = maps.create(&PostParams::default(), &config_map("a")).await?;
    ensure!(made.uid().is_some() && made.resource_version().is_some(), "{:?}", made.metadata);
    made.data.get_or_insert_default().insert("b".to_owned(), "2".to_owned());
    let replaced = maps.replace("a", &PostParams::default(), &made).await?;
    ensure!(replaced.resource_version() != made.resource_version(), "the version is the same");
    let stale = refusal(maps.replace("a", &PostParams::default(), &made).await)?;
    ensure!(stale.is_conflict(), "{stale:?}");
    maps.delete("a", &DeleteParams::default()).await?;
    ensure!(maps.get_opt("a").await?.is_none(), "still there");
    Ok(())
}

async fn errors(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    let create = PostParams::default();
    maps.create(&create, &config_map("a")).await?;
    let again = refusal(maps.create(&create, &config_map("a")).await)?;
    ensure!(again.is_already_exists() && again.code == 409, "{again:?}");
    let invalid = refusal(maps.create(&create, &config_map("Not_A_Name")).await)?;
    ensure!(invalid.is_invalid() && invalid.code == 422, "{invalid:?}");
    let causes = invalid.details.context("no details")?.causes;
    ensure!(causes.first().is_some_and(|cause| cause.field == "metadata.name"), "{causes:?}");
    let missing = refusal(maps.get("missing").await)?;
    ensure!(missing.message == "configmaps \"missing\" not found", "{missing:?}");
    Ok(())
}

async fn patches(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    maps.create(&PostParams::default(), &config_map("a")).await?;
    let params = PatchParams::default();
    maps.patch("a", &params, &Patch::Merge(json!({ "data": { "merge": "x" } }))).await?;
    let strategic = Patch::Strategic(json!({ "data": { "strategic": "x", "a": null } }));
    let got = maps.patch("a", &params, &strategic).await?;
    let keys: Vec<String> = got.data.unwrap_or_default().into_keys().collect();
    ensure!(keys == ["merge", "strategic"], "{keys:?}");
    Ok(())
}

async fn apply(place: Place) -> Result<()> {
    let deployments: Api<Deployment> = place.api();
    let one = PatchParams::apply("one");
    let first = deployments.patch("web", &one, &Patch::Apply(deployment(2))).await?;
    let again = deployments.patch("web", &one, &Patch::Apply(deployment(2))).await?;
    ensure!(first.resource_version() == again.resource_version(), "an unchanged apply writes");
    let two = PatchParams::apply("two");
    let conflict = refusal(deployments.patch("web", &two, &Patch::Apply(deployment(3))).await)?;
    ensure!(conflict.is_conflict(), "{conflict:?}");
    let causes = conflict.details.context("no details")?.causes;
    ensure!(causes.len() == 1 && causes[0].field == ".spec.replicas", "{causes:?}");
    let forced = deployments.patch("web", &two.force(), &Patch::Apply(deployment(3))).await?;
    let replicas = forced.spec.and_then(|spec| spec.replicas);
    ensure!(replicas == Some(3), "{replicas:?}");
    Ok(())
}

async fn lists(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    for index in 0..5 {
        let mut map = config_map(&format!("map-{index}"));
        let even = (index % 2 == 0).to_string();
        map.labels_mut().insert("even".to_owned(), even);
        maps.create(&PostParams::default(), &map).await?;
    }
    let even = maps.list(&ListParams::default().labels("even=true")).await?;
    ensure!(even.items.len() == 3, "{} by label", even.items.len());
    let one = maps.list(&ListParams::default().fields("metadata.name=map-1")).await?;
    ensure!(one.items.len() == 1, "{} by field", one.items.len());
    let mut params = ListParams::default().limit(2);
    let mut seen = Vec::new();
    loop {
        let page = maps.list(&params).await?;
        seen.extend(page.items.iter().map(ResourceExt::name_any));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => break,
        }
    }
    ensure!(seen == ["map-0", "map-1", "map-2", "map-3", "map-4"], "{seen:?}");
    Ok(())
}

async fn metadata(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    maps.create(&PostParams::default(), &config_map("a")).await?;
    let head = maps.get_metadata("a").await?;
    ensure!(head.name_any() == "a", "{head:?}");
    let label = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "labels": { "x": "y" } },
    });
    let params = PatchParams::apply("probe");
    maps.patch_metadata("a", &params, &Patch::Apply(label)).await?;
    let heads = maps.list_metadata(&ListParams::default().labels("x=y")).await?;
    ensure!(heads.items.len() == 1, "{heads:?}");
    Ok(())
}

async fn subresources(place: Place) -> Result<()> {
    let deployments: Api<Deployment> = place.api();
    let body: Deployment = serde_json::from_value(deployment(2))?;
    deployments.create(&PostParams::default(), &body).await?;
    let params = PatchParams::default();
    let scale = Patch::Merge(json!({ "spec": { "replicas": 5 } }));
    deployments.patch_scale("web", &params, &scale).await?;
    let scale = deployments.get_scale("web").await?;
    let replicas = scale.spec.and_then(|spec| spec.replicas);
    ensure!(replicas == Some(5), "{replicas:?}");
    let status = Patch::Merge(json!({ "spec": { "replicas": 9 }, "status": { "replicas": 3 } }));
    let got = deployments.patch_status("web", &params, &status).await?;
    let numbers =
        (got.spec.and_then(|spec| spec.replicas), got.status.and_then(|status| status.replicas));
    ensure!(numbers == (Some(5), Some(3)), "{numbers:?}");
    Ok(())
}

async fn eviction(place: Place) -> Result<()> {
    let pods: Api<Pod> = place.api();
    pods.create(&PostParams::default(), &pod("a")?).await?;
    pods.evict("a", &EvictParams::default()).await?;
    ensure!(pods.get_opt("a").await?.is_none(), "a pod on no node stays");
    Ok(())
}

async fn discovery(place: Place) -> Result<()> {
    let old = Discovery::new(place.client.clone()).run().await?;
    let new = Discovery::new(place.client.clone()).run_aggregated().await?;
    let names = |discovery: &Discovery| -> Vec<String> {
        let groups = discovery.groups_alphabetical();
        let resources = groups.into_iter().flat_map(|group| {
            let all = group.recommended_resources();
            all.into_iter().map(|(resource, capabilities)| {
                format!(
                    "{}/{} {:?}",
                    resource.api_version, resource.plural, capabilities.operations
                )
            })
        });
        resources.collect()
    };
    ensure!(names(&old) == names(&new), "{:?}\n{:?}", names(&old), names(&new));
    ensure!(new.has_group("apps"), "no apps");
    Ok(())
}

async fn dynamic(place: Place) -> Result<()> {
    let kind = GroupVersionKind::gvk("apps", "v1", "Deployment");
    let (resource, capabilities) = pinned_kind(&place.client, &kind).await?;
    ensure!(capabilities.scope == Scope::Namespaced, "{capabilities:?}");
    let api: Api<DynamicObject> =
        Api::namespaced_with(place.client.clone(), &place.namespace, &resource);
    let object: DynamicObject = serde_json::from_value(deployment(2))?;
    let made = api.create(&PostParams::default(), &object).await?;
    let strategy = made.data.pointer("/spec/strategy/type");
    ensure!(strategy == Some(&json!("RollingUpdate")), "{strategy:?}");
    let list = api.list(&ListParams::default()).await?;
    ensure!(list.items.len() == 1, "{} items", list.items.len());
    Ok(())
}

async fn delete_collection(place: Place) -> Result<()> {
    let maps: Api<ConfigMap> = place.api();
    for name in ["a", "b"] {
        maps.create(&PostParams::default(), &config_map(name)).await?;
    }
    maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    ensure!(maps.list(&ListParams::default()).await?.items.is_empty(), "some are left");
    Ok(())
}
