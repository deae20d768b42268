//! Tries what users of kube-rs do, against the server of the current kubeconfig.
//!
//! Prints `ok NAME` or `FAIL NAME: why` for each thing, each in a namespace of its own, and ends
//! with a code that is not zero if anything failed.

mod controlling;
mod custom;
mod objects;
mod watching;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client, ResourceExt};

/// How long one thing may take.
const STEP_LIMIT: Duration = Duration::from_secs(30);

/// A client and the namespace of the step.
#[derive(Clone)]
struct Place {
    client: Client,
    namespace: String,
}

impl Place {
    /// The objects of a kind in this namespace.
    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }
}

type Outcome = Pin<Box<dyn Future<Output = Result<()>> + Send>>;
type Step = (&'static str, fn(Place) -> Outcome);

/// A step by its function.
macro_rules! step {
    ($name:literal, $function:path) => {
        ($name, |place| Box::pin($function(place)))
    };
}
pub(crate) use step;

#[tokio::main]
async fn main() -> ExitCode {
    let client = match Client::try_default().await {
        Ok(client) => client,
        Err(error) => {
            println!("FAIL connect: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut code = ExitCode::SUCCESS;
    let steps = [objects::STEPS, watching::STEPS, controlling::STEPS, custom::STEPS];
    for (name, run) in steps.concat() {
        match try_step(&client, run).await {
            Ok(()) => println!("ok {name}"),
            Err(error) => {
                println!("FAIL {name}: {error:#}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

async fn try_step(client: &Client, run: fn(Place) -> Outcome) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let metadata =
        ObjectMeta { generate_name: Some("rust-probe-".to_owned()), ..Default::default() };
    let namespace = Namespace { metadata, ..Default::default() };
    let made = namespaces.create(&PostParams::default(), &namespace).await?;
    let place = Place { client: client.clone(), namespace: made.name_any() };
    tokio::time::timeout(STEP_LIMIT, run(place)).await.context("it takes too long")?
}
