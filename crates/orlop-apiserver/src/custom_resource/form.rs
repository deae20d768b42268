//! How stored custom resources are shown: in the version that is asked for, without what its schema
//! does not know, with the defaults that it has now.
//!
//! After `crdConversionRESTOptionsGetter` and `schemaCoercingDecoder` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go`.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use orlop_machinery::status::Status;
use orlop_machinery::structural::{Malformed, coerce_metadata};
use orlop_machinery::{Value, encode, json};
use orlop_storage::Record;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::Custom;
use super::envelope::envelope;
use super::version::{Version, metadata};
use crate::definition::Definition;
use crate::form::{Form, Likeness, unreadable, with_value};

/// The most objects that are converted at once.
const BATCH_MAX: usize = 500;

/// See the module's documentation.
pub(super) struct CustomForm {
    custom: Arc<Custom>,
    version: Arc<Version>,
}

impl CustomForm {
    pub(super) fn new(custom: &Arc<Custom>, version: &Arc<Version>) -> CustomForm {
        CustomForm { custom: custom.clone(), version: version.clone() }
    }

    async fn show_batch(&self, records: &[Record]) -> Result<Vec<Record>, Status> {
        let objects = records.iter().map(|record| self.read(record)).collect::<Result<_, _>>()?;
        let objects = self.convert_all(objects, &self.version).await?;
        let shown = objects.into_iter().zip(records).map(|(object, record)| {
            let bytes = write(&object);
            if bytes == record.value() { record.clone() } else { with_value(record, &bytes) }
        });
        Ok(shown.collect())
    }

    /// An object as it is stored, as far as the version that it is stored in allows.
    fn read(&self, record: &Record) -> Result<Value, Status> {
        let mut object = json::parse(record.value()).map_err(|error| unreadable(&error))?;
        coerce_metadata(&mut object, metadata(), Malformed::Dropped)
            .map_err(|error| unreadable(&error))?;
        let generation = object.entry("metadata").entry("generation");
        if generation.int() == 0 {
            *generation = Value::Int(1);
        }
        if let Some(version) = self.custom.version(object.at("apiVersion").str()) {
            tidy(version, &mut object).map_err(|error| unreadable(&error))?;
        }
        Ok(object)
    }

    /// Objects in another version. Those that are in it already stay as they are.
    async fn convert_all(
        &self,
        mut objects: Vec<Value>,
        to: &Arc<Version>,
    ) -> Result<Vec<Value>, Status> {
        let is_other = |object: &Value| object.at("apiVersion").str() != to.api_version;
        let others: Vec<Value> = objects
            .iter_mut()
            .filter(|object| is_other(object))
            .map(|object| std::mem::replace(object, Value::Bool(true)))
            .collect();
        if others.is_empty() {
            return Ok(objects);
        }
        let converter = (*self.custom.converter).as_ref().map_err(Status::clone)?;
        let mut converted = converter.convert(others, &to.api_version).await?.into_iter();
        for object in objects.iter_mut().filter(|object| matches!(object, Value::Bool(_))) {
            let lost = || Status::internal_error("an object was lost in conversion");
            *object = converted.next().ok_or_else(lost)?;
            // Defaults are those of the version in which the object was written.
            to.prune(object, Malformed::Dropped).map_err(|error| unreadable(&error))?;
        }
        Ok(objects)
    }
}

#[async_trait]
impl Form for CustomForm {
    fn likeness(&self) -> Likeness {
        match self.version.is_stored {
            true => Likeness::SameWhenWritten,
            false => Likeness::Different,
        }
    }

    async fn show(&self, _: &Definition, records: Vec<Record>) -> Result<Vec<Record>, Status> {
        let mut shown = Vec::with_capacity(records.len());
        for batch in records.chunks(BATCH_MAX) {
            shown.extend(self.show_batch(batch).await?);
        }
        Ok(shown)
    }

    async fn store(&self, _: &Definition, object: &Value) -> Result<Vec<u8>, Status> {
        if self.version.is_stored {
            return Ok(write(object));
        }
        let stored = self.custom.versions.iter().find(|version| version.is_stored);
        let stored = stored.ok_or_else(|| Status::internal_error("no version is stored"))?;
        let converted = self.convert_all(vec![object.clone()], stored).await?;
        Ok(converted.first().map(write).unwrap_or_default())
    }

    fn convert(&self, _: &Definition, object: &Value, to: &Definition) -> Result<Value, String> {
        let unknown = || format!("no conversion to {}", to.api_version);
        let to = self.custom.version(&to.api_version).ok_or_else(unknown)?;
        let mut converted = finish(self.convert_all(vec![object.clone()], to))?;
        converted.pop().ok_or_else(unknown)
    }
}

/// What a future comes to; if it has to wait, this thread waits, where others can go on meanwhile.
fn finish<T>(future: impl Future<Output = Result<T, Status>>) -> Result<T, String> {
    let mut future = pin!(future);
    if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return done.map_err(|status| status.message);
    }
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            let done = tokio::task::block_in_place(|| handle.block_on(future));
            done.map_err(|status| status.message)
        }
        _ => Err("nobody can wait for the conversion".to_owned()),
    }
}

fn tidy(version: &Version, object: &mut Value) -> Result<(), String> {
    version.prune(object, Malformed::Dropped)?;
    version.set_defaults(object);
    Ok(())
}

fn write(object: &Value) -> Vec<u8> {
    encode::to_vec(&envelope().schema, envelope().id, object)
}
