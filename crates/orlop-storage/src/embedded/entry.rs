//! Entries: what happened, as the log has it.
//!
//! Reading never trusts a length: whatever the bytes are, the answer is entries or a reason.

use std::time::Duration;

use super::frame::FrameBuffer;
use crate::state::{Change, Commit, Lease, State};
use crate::{Event, LeaseId, Record, Revision};

/// A kind of entry, as its first byte.
mod kind {
    pub(super) const COMMIT: u8 = 1;
    pub(super) const GRANTED: u8 = 2;
    pub(super) const ENDED: u8 = 3;
    pub(super) const COMPACTED: u8 = 4;
    pub(super) const PUT: u8 = 1;
    pub(super) const DELETE: u8 = 2;
}

/// Writes a commit.
pub(super) fn write_commit(out: &mut FrameBuffer, commit: &Commit) {
    out.extend(&[kind::COMMIT]);
    out.extend(&commit.revision.0.to_le_bytes());
    out.extend(&length(commit.events.len()));
    for event in &*commit.events {
        match event {
            Event::Created { record } | Event::Updated { record, .. } => write_put(out, record),
            Event::Deleted { previous, .. } => {
                out.extend(&[kind::DELETE]);
                out.extend(&length(previous.key().len()));
                out.extend(previous.key());
            }
        }
    }
}

fn write_put(out: &mut FrameBuffer, record: &Record) {
    out.extend(&[kind::PUT]);
    out.extend(&length(record.key().len()));
    out.extend(record.key());
    out.extend(&LeaseId::number(record.lease()).to_le_bytes());
    out.extend(&length(record.value().len()));
    out.extend(record.value());
}

/// Writes that a lease was granted.
pub(super) fn write_granted(out: &mut FrameBuffer, lease: &Lease) {
    out.extend(&[kind::GRANTED]);
    out.extend(&lease.id.0.get().to_le_bytes());
    out.extend(&millis(lease.deadline).to_le_bytes());
}

/// Writes that a lease has ended; the deletions follow as a commit.
pub(super) fn write_ended(out: &mut FrameBuffer, lease: LeaseId) {
    out.extend(&[kind::ENDED]);
    out.extend(&lease.0.get().to_le_bytes());
}

/// Writes that history was given up.
pub(super) fn write_compacted(out: &mut FrameBuffer, revision: Revision) {
    out.extend(&[kind::COMPACTED]);
    out.extend(&revision.0.to_le_bytes());
}

/// Applies the entries of a payload to a state.
///
/// # Errors
/// What does not make sense, and where.
pub(super) fn replay(payload: &[u8], state: &mut State) -> Result<(), String> {
    let mut rest = Reader(payload);
    while !rest.0.is_empty() {
        let at = payload.len() - rest.0.len();
        replay_entry(&mut rest, state).map_err(|what| format!("{what} in the entry at {at}"))?;
    }
    Ok(())
}

fn replay_entry(rest: &mut Reader<'_>, state: &mut State) -> Result<(), &'static str> {
    match rest.byte()? {
        kind::COMMIT => {
            let revision = Revision(rest.u64()?);
            if revision != state.revision().next() {
                return Err("a revision that does not follow");
            }
            let count = rest.u32()?;
            let changes: Vec<Change<'_>> =
                (0..count).map(|_| change(rest)).collect::<Result<_, _>>()?;
            if !changes.is_sorted_by(|left, right| left.key() < right.key()) {
                return Err("keys out of order");
            }
            let changed = changes.len();
            let commit = state.change_all(changes);
            if commit.is_none_or(|commit| commit.events.len() != changed) {
                return Err("a change of nothing");
            }
        }
        kind::GRANTED => {
            let id = LeaseId::from_number(rest.u64()?).ok_or("a lease without a number")?;
            let deadline = Duration::from_millis(rest.u64()?);
            state.grant(Lease { id, deadline });
        }
        kind::ENDED => {
            let id = LeaseId::from_number(rest.u64()?).ok_or("a lease without a number")?;
            state.forget(id);
        }
        kind::COMPACTED => {
            let revision = Revision(rest.u64()?);
            state.compact(revision).map_err(|_| "a compaction out of turn")?;
        }
        _ => return Err("an unknown kind"),
    }
    Ok(())
}

fn change<'a>(rest: &mut Reader<'a>) -> Result<Change<'a>, &'static str> {
    let kind = rest.byte()?;
    let key = rest.bytes()?;
    match kind {
        kind::PUT => {
            let lease = LeaseId::from_number(rest.u64()?);
            Ok(Change::Put { key, lease, value: rest.bytes()? })
        }
        kind::DELETE => Ok(Change::Delete { key }),
        _ => Err("an unknown kind of change"),
    }
}

/// Takes numbers and bytes from the front of a slice.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("an unexpected end")?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, &'static str> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u32(&mut self) -> Result<u32, &'static str> {
        let bytes = self.take(4)?.try_into().expect("four bytes were taken");
        Ok(u32::from_le_bytes(bytes))
    }

    pub(super) fn u64(&mut self) -> Result<u64, &'static str> {
        let bytes = self.take(8)?.try_into().expect("eight bytes were taken");
        Ok(u64::from_le_bytes(bytes))
    }

    /// Bytes behind their length.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], &'static str> {
        let length = self.u32()? as usize;
        self.take(length)
    }
}

fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).expect("a transaction is bounded").to_le_bytes()
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
