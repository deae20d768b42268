//! Reading a [`State`], now and in the past.

use std::sync::Arc;

use super::{Commit, State};
use crate::tree::Tree;
use crate::{At, Error, Event, Get, KeyRange, Range, RangeRequest, Record, Revision, Select};

impl State {
    /// Reads one key.
    pub(crate) fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        let newest = self.current.get((key, 0));
        let record = match self.past(at)? {
            None => newest,
            Some(revision) => self.version_at(key, newest, revision),
        };
        Ok(Get { record: record.cloned(), revision: self.revision })
    }

    /// Reads the keys of a range.
    pub(crate) fn range(&self, request: &RangeRequest) -> Result<Range, Error> {
        let past = self.past(request.at)?;
        let range = &request.range;
        if range.is_empty() {
            return Ok(Range { records: Vec::new(), count: 0, revision: self.revision });
        }
        let mut count = count(&self.current, range);
        if let Some(revision) = past {
            count = self.rewind_count(count, range, revision);
        }
        let limit = if request.limit == 0 { usize::MAX } else { request.limit };
        let records = match (request.select, past) {
            (Select::Count, _) => Vec::new(),
            (_, None) => {
                let mut records = Vec::with_capacity(limit.min(count));
                records.extend(within(&self.current, range).take(limit).cloned());
                records
            }
            (_, Some(revision)) => self.records_at(range, revision).take(limit).cloned().collect(),
        };
        Ok(Range { records, count: count as u64, revision: self.revision })
    }

    /// The commits after a revision, oldest first.
    pub(crate) fn commits_after(&self, revision: Revision) -> impl Iterator<Item = &Commit> {
        self.log.iter_from((&[], revision.0 + 1))
    }

    /// The events in `range` of the commits after `after`, of whole commits, oldest first, until
    /// there are `enough`; and the revision that this takes a watcher to.
    pub(crate) fn events_after(
        &self,
        after: Revision,
        range: &KeyRange,
        enough: usize,
    ) -> (Arc<[Event]>, Revision) {
        let mut events = Vec::new();
        for commit in self.commits_after(after) {
            events.extend(commit.events.iter().filter(|e| range.contains(e.key())).cloned());
            if events.len() >= enough {
                return (events.into(), commit.revision);
            }
        }
        (events.into(), self.revision)
    }

    /// The revision in the past to read at; none for the newest.
    fn past(&self, at: At) -> Result<Option<Revision>, Error> {
        let At::Revision(requested) = at else {
            return Ok(None);
        };
        if requested == Revision::ZERO {
            return Err(Error::Invalid { reason: "revision 0 cannot be read".into() });
        }
        if requested > self.revision {
            return Err(Error::FutureRevision { requested, current: self.revision });
        }
        if requested < self.compacted {
            return Err(Error::Compacted { oldest: self.compacted });
        }
        Ok((requested < self.revision).then_some(requested))
    }

    /// How many keys of the range were alive at `revision`, given how many are now. The cost
    /// grows with what happened since, not with the size of the range.
    fn rewind_count(&self, now: usize, range: &KeyRange, revision: Revision) -> usize {
        let since = self.commits_after(revision).flat_map(|commit| commit.events.iter());
        let (created, deleted) = since.filter(|event| range.contains(event.key())).fold(
            (0, 0),
            |(created, deleted), event| match event {
                Event::Created { .. } => (created + 1, deleted),
                Event::Updated { .. } => (created, deleted),
                Event::Deleted { .. } => (created, deleted + 1),
            },
        );
        (now + deleted).saturating_sub(created)
    }

    /// The records of the range as they were at `revision`, in order.
    fn records_at(&self, range: &KeyRange, revision: Revision) -> impl Iterator<Item = &Record> {
        let mut living = within(&self.current, range).peekable();
        let mut dead = self
            .graves
            .iter_from((range.start(), 0))
            .take_while(|grave| range.contains(grave.last.key()))
            .filter(move |grave| grave.revision > revision)
            .peekable();
        std::iter::from_fn(move || {
            loop {
                let newest = match (living.peek(), dead.peek()) {
                    (Some(record), Some(grave)) if grave.last.key() < record.key() => None,
                    (None, Some(_)) => None,
                    _ => Some(living.next()?),
                };
                let key = match newest {
                    Some(record) => record.key(),
                    None => dead.peek().expect("it was just seen").last.key(),
                };
                // A key can have died several times, and live again.
                while dead.next_if(|grave| grave.last.key() == key).is_some() {}
                if let Some(record) = self.version_at(key, newest, revision) {
                    return Some(record);
                }
            }
        })
    }

    /// What the key, whose newest record is given, was at a revision that is kept.
    ///
    /// Goes back from commit to commit, from the newest record or from the first deletion after
    /// the revision. The cost grows with the number of changes of the key since.
    fn version_at<'a>(
        &'a self,
        key: &[u8],
        newest: Option<&'a Record>,
        revision: Revision,
    ) -> Option<&'a Record> {
        let mut version = match newest {
            Some(record) if record.created() <= revision => record,
            _ => {
                let mut graves = self.graves.iter_from((key, revision.0 + 1));
                &graves.next().filter(|grave| grave.last.key() == key)?.last
            }
        };
        if version.created() > revision {
            return None;
        }
        while version.modified() > revision {
            version = self.before(version)?;
        }
        Some(version)
    }

    /// The version that this one has replaced.
    fn before<'a>(&'a self, version: &Record) -> Option<&'a Record> {
        let events = &self.log.get((&[], version.modified().0))?.events;
        let place = events.binary_search_by(|event| event.key().cmp(version.key())).ok()?;
        events[place].previous()
    }
}

fn within<'a>(
    records: &'a Tree<Record>,
    range: &KeyRange,
) -> impl Iterator<Item = &'a Record> + use<'a> {
    let start = records.rank((range.start(), 0));
    records.iter_from_place(start).take(count_from(records, range, start))
}

fn count(records: &Tree<Record>, range: &KeyRange) -> usize {
    count_from(records, range, records.rank((range.start(), 0)))
}

fn count_from(records: &Tree<Record>, range: &KeyRange, start: usize) -> usize {
    let end = range.end().map_or(records.len(), |end| records.rank((end, 0)));
    end.saturating_sub(start)
}
