//! Looking after the files of a store from outside: check, read, back up, restore.
//!
//! [`load`] never writes and needs no lock, so it works beside a running server: everything that
//! the server had acknowledged when it began is there. If the server drops a file in the meantime
//! the reading starts over.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use super::disk::{Disk, Folder, Open};
use super::recover::{self, Facts, Progress, Recovered, io_error};
use super::{OpenError, identity, names, snapshot};
use crate::state::State;
use crate::{Error, KeyRange, Range, RangeRequest, Record, Revision};

/// How often reading is tried beside a server that keeps dropping files.
const ATTEMPTS: usize = 5;

/// The content of a store at one moment.
pub struct Image {
    state: State,
    facts: Facts,
    batch: u64,
}

impl Image {
    /// The newest revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.state.revision()
    }

    /// The oldest revision that can be read.
    #[must_use]
    pub fn compacted(&self) -> Revision {
        self.state.compacted()
    }

    /// How many keys there are.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.state.current().len()
    }

    /// How many older versions are kept.
    #[must_use]
    pub fn older_versions(&self) -> usize {
        self.state.superseded().count()
    }

    /// How many leases there are.
    #[must_use]
    pub fn leases(&self) -> usize {
        self.state.leases().count()
    }

    /// What was found on the disk.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The newest record of every key in the range.
    #[must_use]
    pub fn records(&self, range: KeyRange) -> Vec<Record> {
        self.range(&RangeRequest::new(range)).map_or_else(|_| Vec::new(), |found| found.records)
    }

    /// Reads a range, also of the past.
    ///
    /// # Errors
    /// As [`crate::Store::range`].
    pub fn range(&self, request: &RangeRequest) -> Result<Range, Error> {
        self.state.range(request)
    }
}

/// Reads and verifies everything in the folder.
///
/// # Errors
/// See [`OpenError`]; also if there is no store in the folder.
pub fn load(folder: &Path, progress: &Progress<'_>) -> Result<Image, OpenError> {
    load_from(&(Arc::new(Folder::new(folder)) as Arc<dyn Disk>), progress)
}

/// As [`load`], from any disk.
///
/// # Errors
/// As [`load`].
pub fn load_from(disk: &Arc<dyn Disk>, progress: &Progress<'_>) -> Result<Image, OpenError> {
    let mut attempt = 1;
    loop {
        let before = listing(&**disk)?;
        match recover::recover(disk, progress) {
            Ok(Recovered { secret: None, .. }) => {
                let what = "holds no store".into();
                return Err(OpenError::Unsuitable { folder: disk.describe(""), what });
            }
            Ok(Recovered { state, facts, end, .. }) => {
                return Ok(Image { state, facts, batch: end.batch });
            }
            // A server beside us may have dropped a file, or written one while it was read.
            Err(OpenError::Damaged { .. }) if attempt < ATTEMPTS => attempt += 1,
            Err(_) if attempt < ATTEMPTS && listing(&**disk)? != before => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

fn listing(disk: &dyn Disk) -> Result<Vec<String>, OpenError> {
    let mut files = disk.list().map_err(|source| io_error(disk, "list", "", source))?;
    files.retain(|name| !name.ends_with(".tmp"));
    files.sort_unstable();
    Ok(files)
}

/// Writes an image to a new file; how long it is.
///
/// # Errors
/// The file exists already, or the file system refused.
pub fn backup(image: &Image, file: &Path, progress: &Progress<'_>) -> Result<u64, OpenError> {
    let failed = |step, source| OpenError::Io { step, file: file.display().to_string(), source };
    // Reserves the name, so that two backups do not meet.
    let mut reserve = OpenOptions::new();
    reserve.write(true).create_new(true).mode(0o600);
    reserve.open(file).map_err(|source| failed("make", source))?;
    write_backup(image, file, progress).map_err(|source| {
        let _ = fs::remove_file(file);
        failed("write", source)
    })
}

fn write_backup(image: &Image, file: &Path, progress: &Progress<'_>) -> io::Result<u64> {
    let (folder, name) = split(file)?;
    let disk = Folder::new(folder);
    let output = disk.open(name, Open::Write)?;
    let written = snapshot::write(&*output, &image.state, image.batch, &mut |done, all| {
        progress(done, all);
        Ok(())
    })?;
    disk.sync_names()?;
    Ok(written.bytes)
}

/// Makes a store in an empty or missing folder from a backup.
///
/// Revisions of the new store start `bump` after that of the backup, and older ones count as
/// compacted: clients that have seen revisions which the backup does not know must not take them
/// for those that follow now.
///
/// # Errors
/// The backup is damaged, or the folder is not empty.
pub fn restore(
    backup: &Path,
    folder: &Path,
    bump: u64,
    progress: &Progress<'_>,
) -> Result<Image, OpenError> {
    let (source_folder, name) = split(backup).map_err(|source| OpenError::Io {
        step: "open",
        file: backup.display().to_string(),
        source,
    })?;
    let (mut state, _, snapshot_bytes) =
        recover::read_snapshot(&Folder::new(source_folder), name, progress)?;
    state.bump(bump).ok_or_else(|| OpenError::Unsuitable {
        folder: backup.display().to_string(),
        what: format!("has no {bump} revisions left to skip"),
    })?;
    let disk = new_folder(folder)?;
    write_store(&disk, &state, progress)
        .map_err(|source| io_error(&disk, "write", &names::snapshot(0), source))?;
    identity::create(&disk)?;
    let facts = Facts { snapshot_bytes, ..Facts::default() };
    Ok(Image { state, facts, batch: 0 })
}

/// A folder with nothing in it.
fn new_folder(folder: &Path) -> Result<Folder, OpenError> {
    let disk = Folder::new(folder);
    disk.create().map_err(|source| io_error(&disk, "make", "", source))?;
    if !disk.list().map_err(|source| io_error(&disk, "list", "", source))?.is_empty() {
        let what = "is not empty".into();
        return Err(OpenError::Unsuitable { folder: disk.describe(""), what });
    }
    Ok(disk)
}

fn write_store(disk: &Folder, state: &State, progress: &Progress<'_>) -> io::Result<()> {
    let output = disk.open(names::SNAPSHOT_UNFINISHED, Open::Write)?;
    let written = snapshot::write(&*output, state, 0, &mut |done, all| {
        progress(done, all);
        Ok(())
    });
    written.inspect_err(|_| {
        // So that another attempt finds the folder empty.
        let _ = disk.remove(names::SNAPSHOT_UNFINISHED);
    })?;
    disk.rename(names::SNAPSHOT_UNFINISHED, &names::snapshot(0))?;
    disk.sync_names()
}

fn split(file: &Path) -> io::Result<(&Path, &str)> {
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name"))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")), name))
}
