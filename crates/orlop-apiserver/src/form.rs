//! How the stored bytes of a resource become the objects that one of its versions shows, and the
//! other way round.
//!
//! Most versions are stored as they are shown. Others are converted: by the kind itself
//! ([`ByKind`]), or, for custom resources, by whoever defined them, who may be far away. So showing
//! and storing may take time and may fail; what was shown once (in a cache) is not shown again.

use async_trait::async_trait;
use orlop_machinery::status::Status;
use orlop_machinery::{Value, decode, encode, json};
use orlop_storage::Record;

use crate::definition::Definition;

/// How much stored bytes are like those that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// They are the same.
    Same,
    /// What this version writes is the same; what was written before may not be.
    SameWhenWritten,
    /// They are in another version.
    Different,
}

/// See the module's documentation.
#[async_trait]
pub trait Form: Send + Sync {
    /// How much stored bytes are like those that are shown.
    fn likeness(&self) -> Likeness;

    /// The records as the version of the definition shows them, in the same order.
    ///
    /// # Errors
    ///
    /// When one cannot be read or converted.
    async fn show(
        &self,
        definition: &Definition,
        records: Vec<Record>,
    ) -> Result<Vec<Record>, Status>;

    /// The bytes in which an object of the definition is stored. It has no resource version.
    ///
    /// # Errors
    ///
    /// When it cannot be converted.
    async fn store(&self, definition: &Definition, object: &Value) -> Result<Vec<u8>, Status>;

    /// An object of the definition in another version of the same resource. Whoever asks cannot
    /// wait.
    ///
    /// # Errors
    ///
    /// When it cannot be converted.
    fn convert(&self, from: &Definition, object: &Value, to: &Definition) -> Result<Value, String> {
        let mut object = object.clone();
        from.kind.to_storage(&mut object);
        to.kind.from_storage(&mut object);
        Ok(object)
    }
}

/// What is stored as it is shown.
pub(crate) struct AsShown;

#[async_trait]
impl Form for AsShown {
    fn likeness(&self) -> Likeness {
        Likeness::Same
    }

    async fn show(&self, _: &Definition, records: Vec<Record>) -> Result<Vec<Record>, Status> {
        Ok(records)
    }

    async fn store(&self, definition: &Definition, object: &Value) -> Result<Vec<u8>, Status> {
        Ok(encode::to_vec(&definition.schema, definition.id, object))
    }
}

/// What the kind itself turns into the version that is stored.
pub(crate) struct ByKind;

#[async_trait]
impl Form for ByKind {
    fn likeness(&self) -> Likeness {
        Likeness::Different
    }

    async fn show(
        &self,
        definition: &Definition,
        records: Vec<Record>,
    ) -> Result<Vec<Record>, Status> {
        records.iter().map(|record| show_by_kind(definition, record)).collect()
    }

    async fn store(&self, definition: &Definition, object: &Value) -> Result<Vec<u8>, Status> {
        let mut stored = object.clone();
        definition.kind.to_storage(&mut stored);
        Ok(encode::to_vec(&definition.schema, definition.storage.id, &stored))
    }
}

fn show_by_kind(definition: &Definition, record: &Record) -> Result<Record, Status> {
    let value = json::parse(record.value()).map_err(|error| unreadable(&error))?;
    let decoded = decode::decode(&definition.schema, definition.storage.id, value);
    let mut object = decoded.map_err(|error| unreadable(&error))?.object;
    definition.kind.from_storage(&mut object);
    definition.defaults.set(&definition.schema, definition.id, &mut object);
    let shown = encode::to_vec(&definition.schema, definition.id, &object);
    Ok(with_value(record, &shown))
}

/// A record with other bytes.
pub(crate) fn with_value(record: &Record, value: &[u8]) -> Record {
    Record::new(record.key(), value, record.created(), record.modified(), record.lease())
}

/// That bytes are no object: somebody else wrote them.
pub(crate) fn unreadable(why: &dyn std::fmt::Display) -> Status {
    Status::internal_error(format!("unable to decode the stored object: {why}"))
}
