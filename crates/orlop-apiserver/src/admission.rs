//! The steps that may change or refuse what is about to be written, in order.
//!
//! After `staging/src/k8s.io/apiserver/pkg/admission`. Each step is a file. A write goes through
//! two rounds: [`Admission::mutate`] before the rules of its kind, [`Admission::validate`] after
//! them, and only the second makes the proof without which nothing is written. Webhooks and
//! policies are not here.

mod namespace_lifecycle;

use async_trait::async_trait;
use orlop_machinery::Value;
use orlop_machinery::status::Status;

use crate::definition::Definition;

pub(crate) use namespace_lifecycle::NamespaceLifecycle;

/// Proof that all steps have seen a write and may have changed it.
#[derive(Debug)]
pub(crate) struct Mutated(());

/// Proof that all steps let a write pass.
#[derive(Debug)]
pub(crate) struct Admitted(());

/// What is about to be done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// It comes into being, or something is created at its subresource.
    Create,
    /// It changes.
    Update,
    /// It goes.
    Delete,
}

/// What steps know of a request.
#[derive(Clone, Copy)]
pub(crate) struct Attributes<'a> {
    /// What is about to be done.
    pub operation: Operation,
    /// To an object of what.
    pub definition: &'a Definition,
    /// In which namespace; empty for objects of the cluster.
    pub namespace: &'a str,
    /// To which one; empty if the server makes the name, or for all.
    pub name: &'a str,
}

/// One step. What it does not care about it lets pass.
#[async_trait]
pub(crate) trait Step: Send + Sync {
    /// Changes or refuses a write before the rules of its kind. Deletions have no object.
    async fn mutate(
        &self,
        _attributes: &Attributes<'_>,
        _object: Option<&mut Value>,
    ) -> Result<(), Status> {
        Ok(())
    }

    /// Refuses a write that is otherwise fine.
    async fn validate(
        &self,
        _attributes: &Attributes<'_>,
        _object: Option<&Value>,
        _old: Option<&Value>,
    ) -> Result<(), Status> {
        Ok(())
    }
}

/// All steps, in order.
pub(crate) struct Admission {
    steps: Vec<Box<dyn Step>>,
}

impl Admission {
    /// With these steps, in this order.
    pub(crate) fn new(steps: Vec<Box<dyn Step>>) -> Admission {
        Admission { steps }
    }

    /// The first round.
    pub(crate) async fn mutate(
        &self,
        attributes: &Attributes<'_>,
        mut object: Option<&mut Value>,
    ) -> Result<Mutated, Status> {
        for step in &self.steps {
            step.mutate(attributes, object.as_deref_mut()).await?;
        }
        Ok(Mutated(()))
    }

    /// The second round.
    pub(crate) async fn validate(
        &self,
        _mutated: Mutated,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
        old: Option<&Value>,
    ) -> Result<Admitted, Status> {
        for step in &self.steps {
            step.validate(attributes, object, old).await?;
        }
        Ok(Admitted(()))
    }
}
