//! From files to a state.
//!
//! Recovery reads the newest snapshot and then the log, frame by frame, and changes nothing.
//!
//! Only one frame is ever being written, and it is the last. So a frame that is not valid, with
//! valid ones behind it, was acknowledged and is damaged: recovery refuses. With none behind it,
//! it is the end: either a write that was never acknowledged, or nothing at all.

use std::sync::Arc;

use super::disk::{self, Disk, Open};
use super::frame::{self, BLOCK, Secret};
use super::log::{LogEnd, Used};
use super::snapshot::{self, SnapshotError};
use super::{OpenError, entry, identity, names};
use crate::state::State;

/// A store as it is on the disk.
pub(super) struct Recovered {
    pub(super) state: State,
    /// None if there is no store in the folder yet.
    pub(super) secret: Option<Secret>,
    pub(super) end: LogEnd,
    pub(super) facts: Facts,
}

/// What recovery found on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The size of the snapshot, zero if there is none.
    pub snapshot_bytes: u64,
    /// How many frames of the log came after the snapshot.
    pub frames_replayed: u64,
    /// How many bytes of the log that was.
    pub log_bytes: u64,
    /// A write that had not been acknowledged when the store stopped: file and offset.
    pub torn: Option<(String, u64)>,
}

/// Told how far a long piece of work is: done and all, of whatever unit.
pub type Progress<'a> = dyn Fn(u64, u64) + Sync + 'a;

/// Reads the store in the folder.
pub(super) fn recover(
    disk: &Arc<dyn Disk>,
    progress: &Progress<'_>,
) -> Result<Recovered, OpenError> {
    let files = disk.list().map_err(|source| io_error(&**disk, "list", "", source))?;
    let secret = identity::read(&**disk, &files)?;
    let Some(secret) = secret else {
        let end = LogEnd { used: Vec::new(), next_segment: 1, batch: 0, length: 0, sealed: true };
        let facts = Facts::default();
        return Ok(Recovered { state: State::new(), secret: None, end, facts });
    };
    let mut facts = Facts::default();
    let (state, covered) = match names::snapshots(&files).last() {
        Some(&batch) => {
            let name = names::snapshot(batch);
            let (state, head, bytes) = read_snapshot(&**disk, &name, progress)?;
            if head.batch != batch {
                let what = format!("it is the snapshot of batch {}", head.batch);
                return Err(damaged(&**disk, &name, 0, what));
            }
            facts.snapshot_bytes = bytes;
            (state, batch)
        }
        None => (State::new(), 0),
    };
    let end = LogEnd { used: Vec::new(), next_segment: 1, batch: covered, length: 0, sealed: true };
    let mut replay =
        Replay { disk: &**disk, secret, covered, last: None, ended: None, state, end, facts };
    for number in names::segments(&files) {
        replay.segment(number)?;
    }
    let Replay { mut state, end, facts, .. } = replay;
    state.sweep(usize::MAX);
    Ok(Recovered { state, secret: Some(secret), end, facts })
}

/// Reads a snapshot or a backup: the state, its head and the size of the file.
pub(super) fn read_snapshot(
    disk: &dyn Disk,
    name: &str,
    progress: &Progress<'_>,
) -> Result<(State, snapshot::Head, u64), OpenError> {
    let file = disk.open(name, Open::Read);
    let file = file.map_err(|source| io_error(disk, "open", name, source))?;
    let read = snapshot::read(&*file, progress);
    let (contents, bytes) = read.map_err(|error| match error {
        SnapshotError::Io(source) => io_error(disk, "read", name, source),
        SnapshotError::Newer(found) => {
            OpenError::Newer { file: disk.describe(name), found, known: identity::VERSION }
        }
        SnapshotError::Damaged { offset, what } => {
            OpenError::Damaged { file: disk.describe(name), offset, what: what.into() }
        }
    })?;
    let head = contents.head;
    Ok((contents.into_state(), head, bytes))
}

struct Replay<'a> {
    disk: &'a dyn Disk,
    secret: Secret,
    /// The last batch that is in the snapshot.
    covered: u64,
    /// The batch of the last frame that was read.
    last: Option<u64>,
    /// Where the frames of the segment before end.
    ended: Option<(String, usize)>,
    state: State,
    end: LogEnd,
    facts: Facts,
}

impl Replay<'_> {
    fn segment(&mut self, number: u64) -> Result<(), OpenError> {
        let name = names::segment(number);
        let bytes = self.disk.open(&name, Open::Read).and_then(|file| {
            let length = usize::try_from(file.length()?).unwrap_or(usize::MAX);
            disk::read(&*file, 0, length)
        });
        let bytes = bytes.map_err(|source| io_error(self.disk, "read", &name, source))?;
        let mut offset = 0;
        while let Some((head, payload)) = frame::parse(&bytes[offset..], &self.secret, number) {
            self.follows(&name, offset, head.batch)?;
            if head.batch > self.covered {
                self.replay(&name, offset, &head, payload)?;
            }
            if offset == 0 {
                self.end.used.push(Used { number, last_batch: head.batch });
                self.end.next_segment = number + 1;
            }
            self.end.used.last_mut().expect("it was just added").last_batch = head.batch;
            self.last = Some(head.batch);
            self.end.sealed = payload.is_empty();
            offset = (offset + head.frame_length()).min(bytes.len());
        }
        self.end_of_segment(&name, number, &bytes, offset)
    }

    /// Batches have no gaps: not within the log, and not between snapshot and log.
    fn follows(&self, name: &str, offset: usize, batch: u64) -> Result<(), OpenError> {
        // What the snapshot covers may be there, or in part, or not at all.
        let expected = self.last.unwrap_or(0).max(self.covered) + 1;
        let covered = batch <= self.covered && self.last.is_none_or(|last| batch > last);
        if batch == expected || covered {
            return Ok(());
        }
        // The missing batch was to be where the frames before it end.
        let what = format!("batch {expected} is not readable, and batch {batch} follows");
        Err(match &self.ended {
            Some((before, end)) => damaged(self.disk, before, *end, what),
            None => damaged(self.disk, name, offset, what),
        })
    }

    fn replay(
        &mut self,
        name: &str,
        offset: usize,
        head: &frame::Head,
        payload: &[u8],
    ) -> Result<(), OpenError> {
        entry::replay(payload, &mut self.state)
            .and_then(|()| {
                let found = self.state.revision();
                let agrees = found == head.revision;
                agrees.then_some(()).ok_or_else(|| {
                    format!("the batch ends at revision {found}, not {}", head.revision)
                })
            })
            .map_err(|what| damaged(self.disk, name, offset, what))?;
        self.state.sweep(usize::MAX);
        self.end.batch = head.batch;
        self.facts.frames_replayed += 1;
        self.end.length += head.frame_length() as u64;
        self.facts.log_bytes = self.end.length;
        Ok(())
    }

    /// Looks at what is behind the last valid frame of a segment.
    fn end_of_segment(
        &mut self,
        name: &str,
        number: u64,
        bytes: &[u8],
        end: usize,
    ) -> Result<(), OpenError> {
        let expected = self.last.unwrap_or(0).max(self.covered) + 1;
        let is_later = |at: &usize| {
            let found = frame::parse(&bytes[*at..], &self.secret, number);
            found.is_some_and(|(head, _)| head.batch >= expected)
        };
        if let Some(later) = (end..bytes.len()).step_by(BLOCK).find(is_later) {
            let what = format!("batch {expected} is not readable, and a later one is at {later}");
            return Err(damaged(self.disk, name, end, what));
        }
        self.ended = Some((name.to_string(), end));
        if frame::is_begun(&bytes[end..], number, expected) {
            self.facts.torn = Some((self.disk.describe(name), end as u64));
        }
        Ok(())
    }
}

fn damaged(disk: &dyn Disk, name: &str, offset: usize, what: String) -> OpenError {
    OpenError::Damaged { file: disk.describe(name), offset: offset as u64, what }
}

pub(super) fn io_error(
    disk: &dyn Disk,
    step: &'static str,
    name: &str,
    source: std::io::Error,
) -> OpenError {
    OpenError::Io { step, file: disk.describe(name), source }
}
