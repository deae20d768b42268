//! Reading one object as it is stored.

use orlop_machinery::Value;
use orlop_machinery::status::Status;
use orlop_storage::{At, KeyRange, RangeRequest, Record, Revision};

use super::store_error;
use crate::definition::Definition;
use crate::server::Inner;

/// An object as it is stored, and as a value.
pub(crate) struct Stored {
    /// The record that holds it.
    pub record: Record,
    /// What it says, in the version of the definition, with its resource version.
    pub object: Value,
}

/// The newest version of an object; none when there is none.
pub(crate) async fn read(
    server: &Inner,
    definition: &Definition,
    namespace: &str,
    name: &str,
) -> Result<Option<Stored>, Status> {
    let key = definition.key(namespace, name);
    read_at(server, definition, key.as_bytes(), At::Latest).await
}

/// An object at a point in history; none when there was none.
async fn read_at(
    server: &Inner,
    definition: &Definition,
    key: &[u8],
    at: At,
) -> Result<Option<Stored>, Status> {
    let got = server.store.get(key, at).await;
    let got = got.map_err(|error| store_error(definition, "get", &error))?;
    Stored::read(definition, got.record).await
}

/// All objects of a namespace, or of all namespaces without one.
pub(crate) async fn read_all(
    server: &Inner,
    definition: &Definition,
    namespace: &str,
) -> Result<Vec<Stored>, Status> {
    let range = KeyRange::prefix(definition.prefix(namespace));
    let listed = server.store.range(RangeRequest::new(range)).await;
    let listed = listed.map_err(|error| store_error(definition, "list", &error))?;
    Stored::read_all(definition, listed.records).await
}

impl Stored {
    /// Reads what a record holds, if there is one.
    pub(crate) async fn read(
        definition: &Definition,
        record: Option<Record>,
    ) -> Result<Option<Stored>, Status> {
        let Some(record) = record else { return Ok(None) };
        let shown = definition.show_one(record.clone()).await?;
        Stored::new(definition, record, &shown).map(Some)
    }

    /// Reads what records hold.
    pub(crate) async fn read_all(
        definition: &Definition,
        records: Vec<Record>,
    ) -> Result<Vec<Stored>, Status> {
        let shown = definition.show(records.clone()).await?;
        let both = records.into_iter().zip(&shown);
        both.map(|(record, shown)| Stored::new(definition, record, shown)).collect()
    }

    fn new(definition: &Definition, record: Record, shown: &Record) -> Result<Stored, Status> {
        let Revision(revision) = record.modified();
        let object = definition.read(shown.value(), revision)?;
        Ok(Stored { record, object })
    }
}
