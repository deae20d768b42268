//! A watch of the API as a watch of a store.

use std::sync::Arc;

use async_trait::async_trait;
use orlop_storage::{Delivery, Event, ProgressRequester, Record, Revision, WatchEnd, WatchSource};
use serde_json::Value;

use super::{Notes, revision};
use crate::api_client::ApiWatch;

/// How long a watch lasts. It is told how far it is two seconds before its end.
pub(super) const LIFE_SECONDS: u64 = 3;

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct WatchOverApi {
    watch: ApiWatch,
    notes: Arc<Notes>,
}

impl WatchOverApi {
    pub(super) fn new(watch: ApiWatch, notes: Arc<Notes>) -> Self {
        Self { watch, notes }
    }

    fn deliver(&self, event: &Value) -> Result<Delivery, WatchEnd> {
        let object = &event["object"];
        let version = &object["metadata"]["resourceVersion"];
        let event = match event["type"].as_str() {
            Some("ADDED") => Event::Created { record: self.notes.record(object) },
            Some("MODIFIED") => {
                let record = self.notes.record(object);
                let previous = unknown_version(&record);
                Event::Updated { record, previous }
            }
            Some("DELETED") => {
                // The version of what was deleted is that of its deletion: no record has it.
                let last = Notes::default().record(object);
                let previous = unknown_version(&last);
                Event::Deleted { revision: revision(version), previous }
            }
            Some("BOOKMARK") => return Ok(Delivery::Progress(revision(version))),
            _ if object["code"] == 410 => {
                return Err(WatchEnd::Compacted { oldest: Revision(u64::MAX) });
            }
            _ => return Err(WatchEnd::Stopped { reason: event.to_string() }),
        };
        Ok(Delivery::Events([event].into()))
    }
}

#[async_trait]
impl WatchSource for WatchOverApi {
    async fn next(&mut self) -> Result<Delivery, WatchEnd> {
        match self.watch.next().await {
            Some(event) => self.deliver(&event),
            None => Err(WatchEnd::Stopped { reason: "the watch has ended".to_owned() }),
        }
    }

    /// The API has bookmarks instead, which come by themselves.
    fn progress_requester(&self) -> ProgressRequester {
        ProgressRequester::new(|| {})
    }
}

/// A value of which nobody says when it was written.
fn unknown_version(record: &Record) -> Record {
    Record::new(record.key(), record.value(), Revision::ZERO, Revision::ZERO, None)
}
