//! A controller with a finalizer, as operators are written with kube-rs.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::finalizer::{self, Event, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{Controller, watcher};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

use crate::objects::config_map;
use crate::{Place, Step, step};

pub(crate) const STEPS: &[Step] = &[step!("controller with a finalizer", controller)];

const FINALIZER: &str = "orlop.dev/probe";
const RETRY: Duration = Duration::from_millis(100);

type ReconcileError = finalizer::Error<kube::Error>;

/// Keeps a Secret beside each ConfigMap, and removes it before the ConfigMap goes.
async fn reconcile(map: Arc<ConfigMap>, place: Arc<Place>) -> Result<Action, ReconcileError> {
    let secrets: Api<Secret> = place.api();
    finalizer(&place.api(), FINALIZER, map, |event| async {
        match event {
            Event::Apply(map) => {
                let owner = map.controller_owner_ref(&());
                let secret = json!({
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": { "name": map.name_any(), "ownerReferences": [owner] },
                    "stringData": map.data,
                });
                let params = PatchParams::apply("probe").force();
                secrets.patch(&map.name_any(), &params, &Patch::Apply(secret)).await?;
            }
            Event::Cleanup(map) => {
                secrets.delete(&map.name_any(), &DeleteParams::default()).await?;
            }
        }
        Ok(Action::await_change())
    })
    .await
}

fn on_error(_: Arc<ConfigMap>, _: &ReconcileError, _: Arc<Place>) -> Action {
    Action::requeue(RETRY)
}

async fn controller(place: Place) -> Result<()> {
    let (maps, secrets): (Api<ConfigMap>, Api<Secret>) = (place.api(), place.api());
    let config = watcher::Config::default();
    let controller = Controller::new(maps.clone(), config.clone())
        .owns(secrets.clone(), config)
        .run(reconcile, on_error, Arc::new(place));
    let running = tokio::spawn(controller.for_each(|_| std::future::ready(())));
    maps.create(&PostParams::default(), &config_map("a")).await?;
    let secret = await_condition(secrets.clone(), "a", conditions::is_created()).await?;
    let secret = secret.context("no secret")?;
    let data = secret.data.unwrap_or_default();
    ensure!(data.get("a").is_some_and(|value| value.0 == b"1"), "{data:?}");
    let map = maps.get("a").await?;
    ensure!(map.finalizers() == [FINALIZER], "{:?}", map.finalizers());
    maps.delete("a", &DeleteParams::default()).await?;
    let uid = map.metadata.uid.context("no uid")?;
    await_condition(maps, "a", conditions::is_deleted(&uid)).await?;
    ensure!(secrets.get_opt("a").await?.is_none(), "the secret is left");
    running.abort();
    Ok(())
}
