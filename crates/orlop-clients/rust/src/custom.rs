//! A custom resource as users of kube-rs write one: a struct, its derives, its definition.
//!
//! The steps come in order: the first installs the definition, the last removes it.

use std::pin::pin;

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{
    DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, ValidationDirective,
};
use kube::core::CustomResourceExt;
use kube::core::response::Status;
use kube::runtime::{WatchStreamExt, conditions, reflector, wait::await_condition, watcher};
use kube::{Api, CustomResource, Error, KubeSchema, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Place, Step, step};

pub(crate) const STEPS: &[Step] = &[
    step!("custom: apply the definition and wait", install),
    step!("custom: create, get, replace, delete", life),
    step!("custom: rules of the schema and in CEL", rules),
    step!("custom: status by patch and replace", status),
    step!("custom: merge patch, JSON patch, apply", patches),
    step!("custom: scale", scale),
    step!("custom: lists by selectable field", selectable),
    step!("custom: watcher and reflector", watching),
    step!("custom: remove the definition", remove),
];

/// A kite.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "rust-probe.orlop.dev",
    version = "v1",
    kind = "Kite",
    namespaced,
    derive = "PartialEq",
    status = "KiteStatus",
    shortname = "kt",
    category = "all-kites",
    scale(
        spec_replicas_path = ".spec.tails",
        status_replicas_path = ".status.tails",
        label_selector_path = ".status.selector"
    ),
    printcolumn(name = "Color", type_ = "string", json_path = ".spec.color"),
    printcolumn(name = "Line", type_ = "integer", json_path = ".spec.line.meters", priority = 1),
    selectable = ".spec.color",
    validation = Rule::new("self.metadata.name.size() < 32").message("names are short")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.tails <= 3 || self.color != 'Grey'")
    .message("grey kites have few tails"))]
struct KiteSpec {
    color: Color,
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100))]
    tails: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<Line>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf")
        .message("owner is immutable")
        .reason(Reason::FieldValueForbidden))]
    owner: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq)]
enum Color {
    Red,
    Blue,
    Grey,
}

#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
struct Line {
    #[schemars(range(min = 1))]
    meters: u32,
    #[schemars(regex(pattern = r"^[a-z]+$"))]
    stuff: String,
}

#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
struct KiteStatus {
    #[serde(default)]
    tails: i32,
    #[serde(default)]
    selector: String,
    #[serde(default)]
    conditions: Vec<Condition>,
}

fn one() -> i32 {
    1
}

fn kite(name: &str, color: Color) -> Kite {
    Kite::new(name, KiteSpec { color, tails: 1, line: None, owner: None, notes: Vec::new() })
}

fn definitions(place: &Place) -> Api<CustomResourceDefinition> {
    Api::all(place.client.clone())
}

async fn install(place: Place) -> Result<()> {
    let apply = PatchParams::apply("rust-probe").force();
    let made =
        definitions(&place).patch(Kite::crd_name(), &apply, &Patch::Apply(Kite::crd())).await?;
    let established = conditions::is_crd_established();
    await_condition(definitions(&place), &made.name_any(), established).await?;
    let kites: Api<Kite> = place.api();
    ensure!(kites.list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}

async fn life(place: Place) -> Result<()> {
    let kites: Api<Kite> = place.api();
    let mut made = kites.create(&PostParams::default(), &kite("a", Color::Red)).await?;
    ensure!(made.metadata.generation == Some(1) && made.status.is_none(), "{made:?}");
    ensure!(kites.get("a").await? == made);
    made.spec.line = Some(Line { meters: 30, stuff: "silk".to_owned() });
    let replaced = kites.replace("a", &PostParams::default(), &made).await?;
    ensure!(replaced.metadata.generation == Some(2) && replaced.spec == made.spec);
    match kites.replace("a", &PostParams::default(), &made).await {
        Err(Error::Api(status)) => ensure!(status.is_conflict(), "{status:?}"),
        other => bail!("a stale object was taken: {other:?}"),
    }
    kites.delete("a", &DeleteParams::default()).await?;
    ensure!(kites.get_opt("a").await?.is_none());
    Ok(())
}

async fn rules(place: Place) -> Result<()> {
    let kites: Api<Kite> = place.api();
    let spoilt = |spoil: fn(&mut Kite)| {
        let mut kite = kite("a", Color::Grey);
        spoil(&mut kite);
        kite
    };
    for (field, kite) in [
        ("spec", spoilt(|kite| kite.spec.tails = 4)),
        ("spec.tails", spoilt(|kite| kite.spec.tails = -1)),
        (
            "spec.line.meters",
            spoilt(|it| it.spec.line = Some(Line { meters: 0, stuff: "a".to_owned() })),
        ),
        (
            "spec.line.stuff",
            spoilt(|it| it.spec.line = Some(Line { meters: 1, stuff: "A".to_owned() })),
        ),
        ("spec.notes", spoilt(|kite| kite.spec.notes = vec![String::new(); 5])),
        ("", spoilt(|kite| kite.metadata.name = Some("a".repeat(32)))),
    ] {
        let refused = kites.create(&PostParams::default(), &kite).await;
        names_field(refused, field)?;
    }
    let mut owned = kite("b", Color::Red);
    owned.spec.owner = Some("somebody".to_owned());
    let mut made = kites.create(&PostParams::default(), &owned).await?;
    made.spec.owner = Some("another".to_owned());
    names_field(kites.replace("b", &PostParams::default(), &made).await, "spec.owner")?;
    let strict =
        PatchParams { field_validation: Some(ValidationDirective::Strict), ..Default::default() };
    let unknown = Patch::Merge(json!({ "spec": { "wings": 2 } }));
    match kites.patch("b", &strict, &unknown).await {
        Err(Error::Api(status)) => {
            ensure!(
                status.code == 422 && status.message.contains("unknown field \"spec.wings\""),
                "{status:?}"
            );
        }
        other => bail!("an unknown field was taken: {other:?}"),
    }
    Ok(())
}

/// Wants a refusal that names a field.
fn names_field(outcome: kube::Result<Kite>, field: &str) -> Result<()> {
    let Err(Error::Api(status)) = outcome else { bail!("{field} was not refused: {outcome:?}") };
    let Status { code, details, .. } = &*status;
    let causes = details.as_ref().map(|details| &details.causes).context("no details")?;
    let is_named = causes.iter().any(|cause| match field {
        "" => cause.field == "<nil>" || cause.field.is_empty(),
        field => cause.field == field,
    });
    ensure!(*code == 422 && is_named, "{field}: {status:?}");
    Ok(())
}

async fn status(place: Place) -> Result<()> {
    let kites: Api<Kite> = place.api();
    let made = kites.create(&PostParams::default(), &kite("a", Color::Red)).await?;
    let patch = Patch::Merge(json!({ "spec": { "tails": 9 }, "status": { "tails": 1 } }));
    let mut patched = kites.patch_status("a", &PatchParams::default(), &patch).await?;
    ensure!(patched.spec == made.spec && patched.metadata.generation == Some(1), "{patched:?}");
    let seen = patched.status.get_or_insert_default();
    ensure!(seen.tails == 1);
    seen.selector = "kite=a".to_owned();
    let replaced = kites.replace_status("a", &PostParams::default(), &patched).await?;
    ensure!(replaced.status.context("no status")?.selector == "kite=a");
    let apply = json!({
        "apiVersion": "rust-probe.orlop.dev/v1", "kind": "Kite", "status": { "tails": 2 },
    });
    let params = PatchParams::apply("controller").force();
    let applied = kites.patch_status("a", &params, &Patch::Apply(apply)).await?;
    let managers = applied.managed_fields();
    let ours = managers.iter().find(|entry| entry.manager.as_deref() == Some("controller"));
    ensure!(ours.context("no entry")?.subresource.as_deref() == Some("status"));
    Ok(())
}

async fn patches(place: Place) -> Result<()> {
    let kites: Api<Kite> = place.api();
    let wanted = |color: Color| {
        let mut kite = kite("a", color);
        kite.metadata = ObjectMeta { name: Some("a".to_owned()), ..Default::default() };
        Patch::Apply(kite)
    };
    kites.patch("a", &PatchParams::apply("one"), &wanted(Color::Red)).await?;
    match kites.patch("a", &PatchParams::apply("two"), &wanted(Color::Blue)).await {
        Err(Error::Api(status)) => ensure!(status.is_conflict(), "{status:?}"),
        other => bail!("no conflict: {other:?}"),
    }
    let forced = kites.patch("a", &PatchParams::apply("two").force(), &wanted(Color::Blue)).await?;
    ensure!(forced.spec.color == Color::Blue);
    let merge = Patch::Merge(json!({ "spec": { "notes": ["a", "b"] } }));
    let merged = kites.patch("a", &PatchParams::default(), &merge).await?;
    ensure!(merged.spec.notes == ["a", "b"]);
    let strategic = Patch::Strategic(json!({ "spec": { "notes": [] } }));
    match kites.patch("a", &PatchParams::default(), &strategic).await {
        Err(Error::Api(status)) => ensure!(status.code == 415, "{status:?}"),
        other => bail!("a strategic merge was taken: {other:?}"),
    }
    Ok(())
}

async fn scale(place: Place) -> Result<()> {
    let kites: Api<Kite> = place.api();
    kites.create(&PostParams::default(), &kite("a", Color::Red)).await?;
    let patch = Patch::Merge(json!({ "spec": { "replicas": 5 } }));
    let scaled = kites.patch_scale("a", &PatchParams::default(), &patch).await?;
    ensure!(scaled.spec.and_then(|spec| spec.replicas) == Some(5));
    ensure!(kites.get_scale("a").await?.spec.and_then(|spec| spec.replicas) == Some(5));
    ensure!(kites.get("a").await?.spec.tails == 5);
    Ok(())
}

async fn selectable(place: Place) -> Result<()> {
    let kites: Api<Kite> = place.api();
    for (name, color) in [("a", Color::Red), ("b", Color::Blue), ("c", Color::Red)] {
        kites.create(&PostParams::default(), &kite(name, color)).await?;
    }
    let red = kites.list(&ListParams::default().fields("spec.color=Red")).await?;
    let names: Vec<String> = red.iter().map(ResourceExt::name_any).collect();
    ensure!(names == ["a", "c"], "{names:?}");
    let none =
        kites.list(&ListParams::default().fields("spec.color!=Red,spec.color!=Blue")).await?;
    ensure!(none.items.is_empty());
    Ok(())
}

async fn watching(place: Place) -> Result<()> {
    let kites: Api<Kite> = place.api();
    let (reader, writer) = reflector::store();
    let stream = watcher(kites.clone(), watcher::Config::default().fields("spec.color=Red"));
    let mut touched = pin!(reflector(writer, stream).touched_objects());
    kites.create(&PostParams::default(), &kite("a", Color::Red)).await?;
    kites.create(&PostParams::default(), &kite("b", Color::Blue)).await?;
    let first = touched.try_next().await?.context("the watcher ended")?;
    ensure!(first.name_any() == "a", "{first:?}");
    // It leaves the selection, and comes back.
    for color in ["Blue", "Red"] {
        let patch = Patch::Merge(json!({ "spec": { "color": color } }));
        kites.patch("a", &PatchParams::default(), &patch).await?;
        touched.try_next().await?.context("the watcher ended")?;
        ensure!(reader.is_empty() == (color == "Blue"));
    }
    let (heads, mut seen) = (place.api::<Kite>(), Vec::new());
    let config = watcher::Config::default().streaming_lists();
    let mut there = pin!(watcher(heads, config).applied_objects().take(2));
    while let Some(kite) = there.try_next().await? {
        seen.push(kite.name_any());
    }
    ensure!(seen == ["a", "b"], "{seen:?}");
    Ok(())
}

async fn remove(place: Place) -> Result<()> {
    let kites: Api<Kite> = place.api();
    kites.create(&PostParams::default(), &kite("last", Color::Red)).await?;
    let all = definitions(&place);
    let uid = all.get(Kite::crd_name()).await?.uid().context("no uid")?;
    all.delete(Kite::crd_name(), &DeleteParams::default()).await?;
    await_condition(all, Kite::crd_name(), conditions::is_deleted(&uid)).await?;
    match kites.list(&ListParams::default()).await {
        Err(Error::Api(status)) => ensure!(status.code == 404, "{status:?}"),
        other => bail!("still served: {other:?}"),
    }
    Ok(())
}
