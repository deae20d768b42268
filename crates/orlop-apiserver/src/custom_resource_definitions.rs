//! What the server does with CustomResourceDefinitions themselves: it decides about their names,
//! says in their status what is the case, has their objects served, and ends them.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/controller/{status,establish,finalizer,
//! nonstructuralschema,apiapproval}`. Decisions are pure, one file each: [`names`],
//! [`established`], [`terminating`], and in `orlop_kinds` those that one definition alone tells
//! (`custom_resource_definition_conditions`); [`wanted`] puts them together and [`state`] makes
//! them for all definitions. [`follower`] is the loop around it, and [`served`] the seam to what
//! is served. Any number of servers may run this on one store.
//!
//! What is not here: serving the objects, their schemas, and the rules of definitions.

mod backoff;
mod ending;
mod established;
mod facts;
mod follower;
mod instances;
mod names;
mod served;
mod state;
mod status_write;
mod terminating;
mod wanted;

use std::sync::Arc;

use orlop_machinery::status::Status;
use tokio::sync::{mpsc, oneshot};

pub(crate) use follower::Follower;
pub(crate) use served::{Serve, Served, ServedChange};
pub(crate) use terminating::refuse_create;

use self::follower::{ASKS_MAX, Ask};
use crate::cache::Cache;
use crate::registry::store_error;
use crate::server::Inner;

/// The definitions of a cluster, as those who serve requests know them.
#[derive(Clone)]
pub(crate) struct CustomResourceDefinitions {
    cache: Arc<Cache>,
    asks: mpsc::Sender<Ask>,
}

impl CustomResourceDefinitions {
    /// Reads all definitions and has them served. What keeps them is the [`Follower`], which has to
    /// run.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(crate) async fn start(
        server: &Arc<Inner>,
        serve: Arc<dyn Serve>,
    ) -> Result<(CustomResourceDefinitions, Follower), Status> {
        let definition =
            server.built_in("apiextensions.k8s.io", "v1", "customresourcedefinitions").clone();
        let (asks, asked) = mpsc::channel(ASKS_MAX);
        let follower = Follower::new(server, serve, &definition, asked).await?;
        let cache = server.reads.caches.get(&definition);
        Ok((CustomResourceDefinitions { cache, asks }, follower))
    }

    /// Waits until every definition is served as it is in the store now. Whoever does not find a
    /// resource may look again after this: another server may have made its definition a moment
    /// ago.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or this server cannot follow it.
    pub(crate) async fn catch_up(&self, server: &Inner) -> Result<(), Status> {
        let revision = server.store.revision().await;
        let definition = server.built_in("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        let revision = revision.map_err(|error| store_error(definition, "list", &error))?;
        self.cache.at_least(revision.0).await?;
        let (ask, served) = oneshot::channel();
        let stopped = || Status::service_unavailable("the server has ended");
        self.asks.send(ask).await.map_err(|_| stopped())?;
        served.await.map_err(|_| stopped())
    }
}
