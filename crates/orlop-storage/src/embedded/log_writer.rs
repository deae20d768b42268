//! From a batch to its answers: write, sync, show, tell the watchers, answer.
//!
//! Nothing is answered before it is durable, not even a conflict, because a conflict too tells of
//! records that may be in the same batch.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use super::batch::Batch;
use super::log::{AppendError, Log};
use super::queue::LogStatus;
use super::snapshots::Snapshots;
use crate::Error;
use crate::hub::Hub;
use crate::state::{Commit, State};

/// Owns the log.
pub(super) struct LogWriter {
    pub(super) log: Log,
    pub(super) snapshots: Snapshots,
    pub(super) hub: Arc<Hub>,
    /// Where commits go to be told to the watchers.
    pub(super) fan_out: SyncSender<Vec<Commit>>,
}

impl LogWriter {
    /// Makes a batch durable and answers it; how the log is then.
    pub(super) fn write(&mut self, batch: &mut Batch) -> LogStatus {
        match self.log.append(&mut batch.frame, batch.state.revision()) {
            Ok(()) => {}
            Err(AppendError::NoSpace) => {
                batch.refuse(|| Error::NoSpace);
                return LogStatus::NoSpace;
            }
            Err(AppendError::Broken(reason)) => {
                batch.refuse(|| Error::Stopped { reason: reason.clone() });
                return LogStatus::Broken(reason);
            }
        }
        self.hub.show(batch.state.clone());
        if !batch.commits.is_empty() {
            // The other side only ends after this one.
            let _ = self.fan_out.send(std::mem::take(&mut batch.commits));
        }
        batch.answer();
        self.look_after_snapshots(&batch.state);
        LogStatus::Idle
    }

    /// Puts a snapshot that is complete to use, and starts one that is due.
    pub(super) fn look_after_snapshots(&mut self, state: &State) {
        if let Some(covered) = self.snapshots.finished(&self.log) {
            self.log.drop_through(covered);
        }
        self.snapshots.start_if_due(&self.log, state);
    }
}

/// Batches for the thread of the log, and what is left of them on the way back.
pub(super) struct LogThread {
    pub(super) batches: SyncSender<Batch>,
    pub(super) done: Receiver<Batch>,
}
