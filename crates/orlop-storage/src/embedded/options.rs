//! How a durable store is opened.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::Disk;
use super::recover::Progress;
use crate::{Clock, HistoryLimits, SystemClock, WATCH_BUFFER_EVENTS};

/// How to open a store; [`Options::new`] has what everybody needs.
pub struct Options {
    /// Where the files are.
    pub folder: PathBuf,
    /// Put in place of the folder, for tests.
    pub disk: Option<Arc<dyn Disk>>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// How much history to keep.
    pub history: HistoryLimits,
    /// The size of one file of the log.
    pub segment_bytes: u64,
    /// A snapshot is made when the log since the last one is longer than this, and longer than
    /// that one was.
    pub snapshot_log_bytes: u64,
    /// How many events a watcher may be behind before it is cut off.
    pub watch_buffer_events: usize,
    /// Told how far the reading is.
    pub progress: Box<Progress<'static>>,
}

impl Options {
    /// The store in this folder.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            disk: None,
            clock: Arc::new(SystemClock),
            history: HistoryLimits::default(),
            segment_bytes: 64 << 20,
            snapshot_log_bytes: 256 << 20,
            watch_buffer_events: WATCH_BUFFER_EVENTS,
            progress: Box::new(|_, _| {}),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("folder", &self.folder).finish_non_exhaustive()
    }
}
