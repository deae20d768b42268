//! A client that reads and writes: an API server, as the store sees it.

use std::collections::BTreeMap;
use std::time::Duration;

use orlop_storage::{
    At, Error, Expect, KeyRange, Outcome, Range, RangeRequest, Record, Revision, Select, Store, Txn,
};
use rand::RngExt;
use rand::rngs::StdRng;
use tokio::time::sleep;

use super::{KINDS, Traffic, is_down, weighted};
use crate::history::Recorder;

/// The most records of a page.
const PAGE: usize = 4;

#[derive(Clone, Copy)]
enum Read {
    Get,
    GetAtRevision,
    List,
    ListInPages,
    Count,
}

#[derive(Clone, Copy)]
enum Change {
    Update,
    UpdateTwo,
    Delete,
    Create,
}

/// See the module's documentation.
pub(super) struct Client {
    number: usize,
    store: Recorder,
    rng: StdRng,
    keys: usize,
    writes_pairs: bool,
    /// What this client believes to exist, and at which revision.
    view: BTreeMap<String, Revision>,
    /// The newest revision it has seen.
    newest: Revision,
    written: usize,
}

impl Client {
    pub(super) fn new(number: usize, store: Recorder, rng: StdRng, traffic: &Traffic) -> Self {
        let Traffic { keys, writes_pairs, .. } = *traffic;
        let (view, newest) = (BTreeMap::new(), Revision::ZERO);
        Self { number, store, rng, keys, writes_pairs, view, newest, written: 0 }
    }

    /// Does so many operations.
    pub(super) async fn run(mut self, operations: usize) {
        for _ in 0..operations {
            self.pause().await;
            let done =
                if self.rng.random_bool(0.5) { self.read().await } else { self.write().await };
            match done {
                Err(error) if is_down(&error) => sleep(Duration::from_millis(5)).await,
                // What was read in pages, or in the past, may have been compacted meanwhile.
                Ok(()) | Err(Error::Compacted { .. }) => {}
                Err(error) => panic!("client {}: {error}", self.number),
            }
        }
    }

    /// Lets others have their turn: an engine in memory answers without waiting for anything.
    async fn pause(&mut self) {
        match self.rng.random_range(0..50) {
            0 => sleep(Duration::from_millis(1)).await,
            _ => tokio::task::yield_now().await,
        }
    }

    async fn read(&mut self) -> Result<(), Error> {
        let kinds = [
            (7, Read::Get),
            (8, Read::GetAtRevision),
            (70, Read::List),
            (10, Read::ListInPages),
            (5, Read::Count),
        ];
        let prefix = KeyRange::prefix(KINDS[self.rng.random_range(0..2)]);
        match weighted(&mut self.rng, &kinds) {
            Read::Get => self.get(At::Latest).await,
            Read::GetAtRevision => {
                let ago = self.rng.random_range(0..40);
                let at = Revision(self.newest.0.saturating_sub(ago).max(1));
                if at > self.newest { Ok(()) } else { self.get(At::Revision(at)).await }
            }
            Read::List => self.list(&prefix).await,
            Read::ListInPages => self.list_in_pages(&prefix).await,
            Read::Count => {
                let request = RangeRequest::new(prefix).select(Select::Count);
                self.store.range(request).await.map(|_| ())
            }
        }
    }

    async fn get(&mut self, at: At) -> Result<(), Error> {
        let key = self.any_key();
        let got = self.store.get(key.as_bytes(), at).await?;
        if at == At::Latest {
            self.believe(&key, got.record.as_ref());
        }
        self.newest = self.newest.max(got.revision);
        Ok(())
    }

    async fn list(&mut self, prefix: &KeyRange) -> Result<(), Error> {
        let found = self.store.range(RangeRequest::new(prefix.clone())).await?;
        self.view.retain(|key, _| !prefix.contains(key.as_bytes()));
        self.believe_all(&found);
        Ok(())
    }

    async fn list_in_pages(&mut self, prefix: &KeyRange) -> Result<(), Error> {
        let mut page = self.store.range(RangeRequest::new(prefix.clone()).limit(PAGE)).await?;
        let at = At::Revision(page.revision);
        while page.more() {
            let Some(last) = page.records.last() else {
                break;
            };
            let rest = prefix.after(last.key());
            page = self.store.range(RangeRequest::new(rest).at(at).limit(PAGE)).await?;
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Error> {
        let kinds = [
            (85, Change::Update),
            (if self.writes_pairs { 5 } else { 0 }, Change::UpdateTwo),
            (5, Change::Delete),
            (5, Change::Create),
        ];
        let known = |client: &mut Self| {
            let n = client.rng.random_range(0..client.view.len().max(1));
            client.view.iter().nth(n).map(|(key, revision)| (key.clone(), *revision))
        };
        let txn = match (weighted(&mut self.rng, &kinds), known(self)) {
            (Change::Create, _) | (_, None) => {
                let key = self.any_key();
                Txn::new().put(key, self.value(), Expect::Absent)
            }
            (Change::Delete, Some((key, revision))) => {
                Txn::new().delete(key, Expect::Revision(revision))
            }
            (Change::Update, Some((key, revision))) => {
                Txn::new().put(key, self.value(), Expect::Revision(revision))
            }
            (Change::UpdateTwo, Some((key, revision))) => {
                let txn = Txn::new().put(key.clone(), self.value(), Expect::Revision(revision));
                match self.any_key() {
                    other if other == key => txn,
                    other => txn.put(other, self.value(), Expect::Anything),
                }
            }
        };
        self.commit(txn).await
    }

    async fn commit(&mut self, txn: Txn) -> Result<(), Error> {
        let keys: Vec<String> =
            txn.writes.iter().map(|w| String::from_utf8_lossy(&w.key).into_owned()).collect();
        let deletes = txn.writes.iter().map(|write| write.action == orlop_storage::Action::Delete);
        let deletes: Vec<bool> = deletes.collect();
        match self.store.commit(txn).await? {
            Outcome::Committed { revision } => {
                self.newest = self.newest.max(revision);
                for (key, deleted) in keys.into_iter().zip(deletes) {
                    match deleted {
                        true => self.view.remove(&key),
                        false => self.view.insert(key, revision),
                    };
                }
            }
            Outcome::Conflict { current, revision } => {
                self.newest = self.newest.max(revision);
                for (key, record) in keys.iter().zip(&current) {
                    self.believe(key, record.as_ref());
                }
            }
        }
        Ok(())
    }

    fn believe_all(&mut self, found: &Range) {
        self.newest = self.newest.max(found.revision);
        for record in &found.records {
            let key = String::from_utf8_lossy(record.key()).into_owned();
            self.believe(&key, Some(record));
        }
    }

    fn believe(&mut self, key: &str, record: Option<&Record>) {
        match record {
            Some(record) => self.view.insert(key.to_string(), record.modified()),
            None => self.view.remove(key),
        };
    }

    fn any_key(&mut self) -> String {
        let kind = KINDS[self.rng.random_range(0..2)];
        format!("{kind}{:02}", self.rng.random_range(0..self.keys))
    }

    /// A value that nobody has written before.
    fn value(&mut self) -> String {
        self.written += 1;
        format!("{}-{}", self.number, self.written)
    }
}
