//! The write-ahead log: frames in segments, one sync per frame.
//!
//! A frame is acknowledged when it is synced. A write that the disk has no room for is taken back,
//! because nothing of it was promised; any other failure of a write or a sync ends the log for
//! good, because nobody knows what is on the disk after it.

use std::io;
use std::sync::Arc;

use super::disk::{self, Disk, DiskFile, Open};
use super::frame::{FrameBuffer, Secret};
use super::names;
use super::segments::{Prepared, Segments};
use crate::Revision;

/// Why a frame was not written.
#[derive(Debug)]
pub(super) enum AppendError {
    /// There is no room for it; the log is as it was.
    NoSpace,
    /// The log is not to be used any more.
    Broken(String),
}

/// Where the log goes on after what is on the disk.
#[derive(Debug)]
pub(super) struct LogEnd {
    /// The segments with frames, oldest first.
    pub(super) used: Vec<Used>,
    /// The number of the next segment; no file with it or a higher one holds a frame.
    pub(super) next_segment: u64,
    /// The batch of the last frame.
    pub(super) batch: u64,
    /// Bytes of frames after the snapshot that the store was opened with.
    pub(super) length: u64,
    /// Whether the last frame was a seal, or there is none.
    pub(super) sealed: bool,
}

/// A segment with frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    pub(super) number: u64,
    /// The batch of its last frame.
    pub(super) last_batch: u64,
}

/// The end of the log.
pub(super) struct Log {
    disk: Arc<dyn Disk>,
    secret: Secret,
    segment_bytes: u64,
    segments: Segments,
    end: LogEnd,
    active: Option<Active>,
}

struct Active {
    file: Arc<dyn DiskFile>,
    offset: u64,
    length: u64,
}

impl Log {
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        secret: Secret,
        segment_bytes: u64,
        end: LogEnd,
    ) -> Self {
        let segments = Segments::new(disk.clone(), segment_bytes);
        Self { disk, secret, segment_bytes, segments, end, active: None }
    }

    /// The batch of the last frame.
    pub(super) fn batch(&self) -> u64 {
        self.end.batch
    }

    /// Bytes of frames after the snapshot that the store was opened with.
    pub(super) fn length(&self) -> u64 {
        self.end.length
    }

    /// Writes the frame and makes it durable.
    pub(super) fn append(
        &mut self,
        frame: &mut FrameBuffer,
        revision: Revision,
    ) -> Result<(), AppendError> {
        let length = frame.frame_length() as u64;
        if self.active.as_ref().is_none_or(|active| active.offset + length > active.length) {
            self.go_to_next_segment(length)?;
        }
        let active = self.active.as_mut().expect("there is one now");
        let used = self.end.used.last_mut().expect("the active segment is in the list");
        let bytes = frame.finish(&self.secret, used.number, self.end.batch + 1, revision);
        let name = || self.disk.describe(&names::segment(used.number));
        if let Err(error) = disk::write_all(&*active.file, active.offset, bytes) {
            return Err(if is_full(&error) {
                AppendError::NoSpace
            } else {
                AppendError::Broken(format!("cannot write {}: {error}", name()))
            });
        }
        if let Err(error) = active.file.sync() {
            return Err(AppendError::Broken(format!("cannot sync {}: {error}", name())));
        }
        active.offset += length;
        self.end.length += length;
        self.end.batch += 1;
        used.last_batch = self.end.batch;
        Ok(())
    }

    /// Drops the segments that hold nothing after `batch`.
    pub(super) fn drop_through(&mut self, batch: u64) {
        let used = &mut self.end.used;
        let older = used.len() - usize::from(self.active.is_some());
        let count = used[..older].iter().take_while(|used| used.last_batch <= batch).count();
        let numbers = used.drain(..count).map(|used| used.number).collect();
        self.segments.drop_files(numbers);
    }

    fn go_to_next_segment(&mut self, length: u64) -> Result<(), AppendError> {
        let number = self.end.next_segment;
        let prepared = match self.segments.claim(number) {
            Some(prepared) if prepared.length >= length => prepared,
            _ => self.make_segment(number, length)?,
        };
        let Prepared { file, length, .. } = prepared;
        self.active = Some(Active { file, offset: 0, length });
        self.end.used.push(Used { number, last_batch: self.end.batch });
        self.end.next_segment = number + 1;
        self.segments.prepare(number + 1);
        Ok(())
    }

    /// Makes a segment here and now: a small one, because a prepared one will follow soon.
    fn make_segment(&self, number: u64, length: u64) -> Result<Prepared, AppendError> {
        let name = names::segment(number);
        let made = self.disk.open(&name, Open::Direct).and_then(|file| {
            let length = length.max(self.segment_bytes / 16).max(file.length()?);
            file.allocate(length)?;
            Ok(Prepared { number, file, length })
        });
        // Nothing is written yet, so whatever is in the way may pass.
        let made = made.map_err(|error| {
            if !is_full(&error) {
                tracing::warn!(%error, name, "cannot make a log segment");
            }
            AppendError::NoSpace
        })?;
        self.disk.sync_names().map_err(|error| {
            AppendError::Broken(format!("cannot sync {}: {error}", self.disk.describe("")))
        })?;
        Ok(made)
    }
}

/// Whether the disk, or what the user may have of it, is full.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
