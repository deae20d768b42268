//! The file that makes a folder a store: its format version and its secret.

use std::io;

use super::disk::{self, Disk, Open};
use super::entry::Reader;
use super::frame::Secret;
use super::{OpenError, checksum, names};

/// The newest format that this build reads and the one it writes.
pub(super) const VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"ORLOPSTR";
const LENGTH: usize = 32;

/// The secret of an existing store; none if the folder holds no store yet.
///
/// # Errors
/// The folder holds something else, a newer store, or a damaged one.
pub(super) fn read(disk: &dyn Disk, files: &[String]) -> Result<Option<Secret>, OpenError> {
    let file = disk.describe(names::FORMAT);
    if !files.iter().any(|name| name == names::FORMAT) {
        if names::segments(files).is_empty() && names::snapshots(files).is_empty() {
            return Ok(None);
        }
        let what = "has log or snapshot files but no FORMAT file".into();
        return Err(OpenError::Unsuitable { folder: disk.describe(""), what });
    }
    let opened = disk.open(names::FORMAT, Open::Read);
    let bytes = opened.and_then(|format| disk::read(&*format, 0, LENGTH));
    let bytes =
        bytes.map_err(|source| OpenError::Io { step: "read", file: file.clone(), source })?;
    let damaged =
        |what: &str| OpenError::Damaged { file: file.clone(), offset: 0, what: what.into() };
    parse(&bytes).map_err(damaged).and_then(|(found, secret)| {
        if found > VERSION {
            return Err(OpenError::Newer { file: file.clone(), found, known: VERSION });
        }
        secret.map(Some).ok_or_else(|| damaged("the checksum is wrong"))
    })
}

/// The version, and the secret unless the checksum is wrong.
fn parse(bytes: &[u8]) -> Result<(u32, Option<Secret>), &'static str> {
    let mut reader = Reader(bytes);
    if reader.take(8)? != MAGIC {
        return Err("this is not a store's FORMAT file");
    }
    let version = reader.u32()?;
    let secret = reader.take(16)?.try_into().expect("sixteen bytes were taken");
    let intact = checksum::is_right(reader.u32()?, &[&bytes[..28]]);
    Ok((version, intact.then_some(secret)))
}

/// Makes the folder a store with a new secret.
pub(super) fn create(disk: &dyn Disk) -> Result<Secret, OpenError> {
    let mut secret = Secret::default();
    let made = getrandom::fill(&mut secret).map_err(io::Error::other).and_then(|()| {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(secret);
        bytes.extend(checksum::of(&[&bytes]).to_le_bytes());
        let unfinished = "FORMAT.tmp";
        let file = disk.open(unfinished, Open::Write)?;
        disk::write_all(&*file, 0, &bytes)?;
        file.sync()?;
        disk.rename(unfinished, names::FORMAT)?;
        disk.sync_names()
    });
    let file = disk.describe(names::FORMAT);
    made.map_err(|source| OpenError::Io { step: "write", file, source })?;
    Ok(secret)
}
