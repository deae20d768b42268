//! A disk in memory that can fail in every way a real one can.
//!
//! It keeps apart what was written and what was synced. [`SimDisk::crash`] makes a new disk as it
//! could be after a power failure: everything synced, and of everything else an arbitrary part,
//! sector by sector, in any order. Errors are planned with [`SimDisk::fail`], a full disk with
//! [`SimDisk::set_space`].

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use orlop_storage::embedded::disk::{Disk, DiskFile, Open};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// What a disk writes in one piece.
const SECTOR: usize = 512;

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Writing to a file.
    Write,
    /// Syncing a file.
    Sync,
    /// Making names durable.
    SyncNames,
    /// Renaming a file.
    Rename,
}

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An input/output error; nothing was done.
    Error,
    /// Half of the bytes are written, without an error.
    Short,
    /// Half of the bytes are written, and then an error.
    TornError,
}

/// See the module's documentation. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct SimDisk(Arc<Mutex<Inner>>);

type Hook = Arc<dyn Fn(&SimDisk) + Send + Sync>;

#[derive(Default)]
struct Inner {
    /// Names to files, as they are and as they would be after a crash.
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    files: Vec<Content>,
    locked: bool,
    /// Whether nothing works any more.
    off: bool,
    /// Bytes that may still be allocated; none is no limit.
    space: Option<u64>,
    faults: Vec<Fault>,
    /// Whether writes may begin anywhere, because one was cut short.
    unaligned: bool,
    before_sync: Option<Hook>,
    syncs: u64,
}

struct Fault {
    operation: Operation,
    failure: Failure,
    /// Applies to names that end in this.
    suffix: String,
    /// How many matching operations still succeed.
    after: u64,
}

#[derive(Clone, Default)]
struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors that were written since the last sync.
    dirty: BTreeSet<usize>,
}

impl SimDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `hook` before every sync, as the moment in which a crash does most.
    pub fn before_sync(&self, hook: impl Fn(&SimDisk) + Send + Sync + 'static) {
        self.inner().before_sync = Some(Arc::new(hook));
    }

    /// The next operation on a file whose name ends in `suffix` fails, after `after` that do not.
    pub fn fail(&self, operation: Operation, failure: Failure, suffix: &str, after: u64) {
        let suffix = suffix.to_string();
        self.inner().unaligned |= failure == Failure::Short;
        self.inner().faults.push(Fault { operation, failure, suffix, after });
    }

    /// How many bytes may still be added to files; none is no limit.
    pub fn set_space(&self, space: Option<u64>) {
        self.inner().space = space;
    }

    /// How many syncs there were.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.inner().syncs
    }

    /// The names and lengths of all files.
    #[must_use]
    pub fn files(&self) -> Vec<(String, usize)> {
        let inner = self.inner();
        inner.names.iter().map(|(name, id)| (name.clone(), inner.files[*id].live.len())).collect()
    }

    /// Cuts the power: a disk as it could be afterwards. On this one nothing works any more.
    #[must_use]
    pub fn power_off(&self, seed: u64) -> Self {
        let mut inner = self.inner();
        inner.off = true;
        inner.before_sync = None;
        inner.crash(seed)
    }

    /// A copy of the disk as it is: what a killed process leaves.
    #[must_use]
    pub fn copy(&self) -> Self {
        let inner = self.inner();
        let names = inner.names.clone();
        let files = inner.files.iter().map(|file| Content::synced(file.live.clone())).collect();
        let copy = Inner { durable_names: names.clone(), names, files, ..Inner::default() };
        Self(Arc::new(Mutex::new(copy)))
    }

    /// A disk as it could be after a power failure now.
    #[must_use]
    pub fn crash(&self, seed: u64) -> Self {
        self.inner().crash(seed)
    }

    /// The content of a file.
    #[must_use]
    pub fn get(&self, name: &str) -> Vec<u8> {
        let inner = self.inner();
        inner.files[inner.names[name]].live.clone()
    }

    /// Puts a file on the disk, synced.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut inner = self.inner();
        inner.files.push(Content::synced(bytes));
        let id = inner.files.len() - 1;
        inner.names.insert(name.into(), id);
        inner.durable_names.insert(name.into(), id);
    }

    /// Inverts bits of one byte.
    pub fn flip(&self, name: &str, offset: usize, mask: u8) {
        let mut inner = self.inner();
        let id = inner.names[name];
        inner.files[id].live[offset] ^= mask;
    }

    /// Cuts a file off.
    pub fn truncate(&self, name: &str, length: usize) {
        let mut inner = self.inner();
        let id = inner.names[name];
        inner.files[id].live.truncate(length);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("no test panics while it holds the disk")
    }

    /// The failure that is planned for this operation, if its turn has come.
    fn planned(&self, operation: Operation, name: &str) -> Option<Failure> {
        let mut inner = self.inner();
        let matches = |f: &Fault| f.operation == operation && name.ends_with(&f.suffix);
        let place = inner.faults.iter().position(matches)?;
        let fault = &mut inner.faults[place];
        if fault.after > 0 {
            fault.after -= 1;
            return None;
        }
        Some(inner.faults.remove(place).failure)
    }

    /// Fails once the power is off.
    fn powered(&self) -> io::Result<()> {
        if self.inner().off { Err(eio()) } else { Ok(()) }
    }

    fn about_to_sync(&self) {
        let hook = self.inner().before_sync.clone();
        if let Some(hook) = hook {
            hook(self);
        }
        self.inner().syncs += 1;
    }
}

impl Inner {
    fn crash(&self, seed: u64) -> SimDisk {
        let mut random = StdRng::seed_from_u64(seed);
        // Either nothing of what was not synced is there, or all, or anything between.
        let keep: f64 = [0.0, 0.5, 1.0][random.random_range(0..3)];
        let names = if random.random_bool(0.5) { &self.names } else { &self.durable_names };
        let files = self.files.iter().map(|file| Content::synced(file.after(keep, &mut random)));
        let files = files.collect();
        let names = names.clone();
        let crashed = Self { durable_names: names.clone(), names, files, ..Self::default() };
        SimDisk(Arc::new(Mutex::new(crashed)))
    }
}

impl Content {
    fn synced(live: Vec<u8>) -> Self {
        Self { durable: live.clone(), live, dirty: BTreeSet::new() }
    }

    /// The content after a crash that keeps a share of the unsynced sectors.
    fn after(&self, keep: f64, random: &mut StdRng) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for sector in &self.dirty {
            let start = sector * SECTOR;
            if start >= self.live.len() || !random.random_bool(keep) {
                continue;
            }
            let end = (start + SECTOR).min(self.live.len());
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[start..end].copy_from_slice(&self.live[start..end]);
        }
        bytes
    }
}

impl Disk for SimDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.inner().names.keys().cloned().collect())
    }

    fn open(&self, name: &str, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        self.powered()?;
        let mut inner = self.inner();
        let id = match inner.names.get(name) {
            Some(id) => *id,
            None if how == Open::Read => return Err(io::ErrorKind::NotFound.into()),
            None => {
                inner.files.push(Content::default());
                let id = inner.files.len() - 1;
                inner.names.insert(name.into(), id);
                id
            }
        };
        drop(inner);
        Ok(Arc::new(SimFile { disk: self.clone(), id, name: name.into(), how }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        if self.planned(Operation::Rename, from).is_some() {
            return Err(eio());
        }
        let mut inner = self.inner();
        let id = inner.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        inner.names.insert(to.into(), id);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut inner = self.inner();
        let id = inner.names.remove(name).ok_or(io::ErrorKind::NotFound)?;
        let freed = inner.files[id].live.len() as u64;
        inner.space = inner.space.map(|space| space + freed);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        self.about_to_sync();
        if self.planned(Operation::SyncNames, "").is_some() {
            return Err(eio());
        }
        let mut inner = self.inner();
        if inner.off {
            return Err(eio());
        }
        inner.durable_names = inner.names.clone();
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        let mut inner = self.inner();
        if inner.locked {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        inner.locked = true;
        Ok(Box::new(Unlock(self.clone())))
    }

    fn describe(&self, name: &str) -> String {
        format!("sim:/{name}")
    }
}

struct Unlock(SimDisk);

impl Drop for Unlock {
    fn drop(&mut self) {
        self.0.inner().locked = false;
    }
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    id: usize,
    name: String,
    how: Open,
}

impl SimFile {
    /// Makes the file `length` bytes long if there is space.
    fn grow(&self, inner: &mut Inner, length: usize) -> io::Result<()> {
        let content = &mut inner.files[self.id];
        let more = length.saturating_sub(content.live.len()) as u64;
        if inner.space.is_some_and(|space| space < more) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        inner.space = inner.space.map(|space| space - more);
        if content.live.len() < length {
            content.live.resize(length, 0);
        }
        Ok(())
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.disk.inner();
        if inner.off {
            return Err(eio());
        }
        let end = offset + bytes.len();
        self.grow(&mut inner, end)?;
        let content = &mut inner.files[self.id];
        content.live[offset..end].copy_from_slice(bytes);
        content.dirty.extend(offset / SECTOR..end.div_ceil(SECTOR));
        Ok(bytes.len())
    }
}

impl DiskFile for SimFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.inner().files[self.id].live.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let inner = self.disk.inner();
        let live = &inner.files[self.id].live;
        let start = usize::try_from(offset).expect("a small disk").min(live.len());
        let count = buffer.len().min(live.len() - start);
        buffer[..count].copy_from_slice(&live[start..start + count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let offset = usize::try_from(offset).expect("a small disk");
        if self.how == Open::Direct && !self.disk.inner().unaligned {
            assert!(offset.is_multiple_of(4096) && bytes.len().is_multiple_of(4096));
            assert!(bytes.as_ptr().align_offset(4096) == 0, "direct writes are aligned");
        }
        match self.disk.planned(Operation::Write, &self.name) {
            None => self.write(offset, bytes),
            Some(Failure::Error) => Err(eio()),
            Some(Failure::Short) => self.write(offset, &bytes[..bytes.len() / 2]),
            Some(Failure::TornError) => {
                self.write(offset, &bytes[..bytes.len() / 2])?;
                Err(eio())
            }
        }
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).expect("a small disk");
        self.grow(&mut self.disk.inner(), length)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.about_to_sync();
        if self.disk.planned(Operation::Sync, &self.name).is_some() {
            return Err(eio());
        }
        let mut inner = self.disk.inner();
        if inner.off {
            return Err(eio());
        }
        let content = &mut inner.files[self.id];
        content.durable = content.live.clone();
        content.dirty.clear();
        Ok(())
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimDisk").field("files", &self.names.len()).finish_non_exhaustive()
    }
}

fn eio() -> io::Error {
    io::Error::from_raw_os_error(5)
}
