//! Makes sure that objects exist.

use std::sync::Arc;

use orlop_machinery::Value;
use orlop_machinery::meta::Meta;
use orlop_machinery::status::{Reason, Status};
use tokio::task::JoinSet;

use crate::objects::{Objects, Place};

/// Where an object says that it is.
pub(super) fn place_of(object: &Value) -> Place<'_> {
    let meta = Meta::of(object);
    Place {
        api_version: object.at("apiVersion").str(),
        kind: object.at("kind").str(),
        namespace: meta.namespace(),
        name: meta.name(),
    }
}

/// Creates an object unless there is one of its name, which is left as it is.
pub(super) async fn ensure(
    objects: &dyn Objects,
    object: Value,
    field_manager: &str,
) -> Result<(), Status> {
    if objects.get(place_of(&object)).await?.is_some() {
        return Ok(());
    }
    let created = objects.create(object.clone(), field_manager).await;
    match created {
        Err(status) if status.is(&Reason::AlreadyExists) => Ok(()),
        // Another server may have been faster, and has what the object asks for: its address.
        Err(_) if objects.get(place_of(&object)).await?.is_some() => Ok(()),
        created => created.map(drop),
    }
}

/// The same for several objects that do not depend on each other, side by side.
pub(super) async fn ensure_all(
    objects: &Arc<dyn Objects>,
    wanted: impl IntoIterator<Item = Value>,
    field_manager: &'static str,
) -> Result<(), Status> {
    let mut tasks = JoinSet::new();
    for object in wanted {
        let objects = objects.clone();
        tasks.spawn(async move { ensure(&*objects, object, field_manager).await });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(Status::internal_error)??;
    }
    Ok(())
}
