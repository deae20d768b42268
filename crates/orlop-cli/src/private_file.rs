//! Files that must be whole, and some of them secret.
//!
//! A file is written beside its place and moved there when it is on the disk, so that nobody
//! reads half of one, whatever happens.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// For the owner alone.
pub(crate) const SECRET: u32 = 0o600;
/// For everybody to read.
pub(crate) const PUBLIC: u32 = 0o644;

/// A file to write.
pub(crate) struct NewFile<'a> {
    /// Its name in the folder.
    pub(crate) name: &'a str,
    /// What is in it.
    pub(crate) text: &'a str,
    /// Who may read it.
    pub(crate) mode: u32,
}

/// Makes a folder for the owner alone, and the folders above it, unless they are there.
pub(crate) fn make_folder(folder: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make {}", folder.display()))
}

/// Writes files of one folder, replacing those that are there.
pub(crate) fn write(folder: &Path, files: &[NewFile<'_>]) -> anyhow::Result<()> {
    let temporary = |file: &NewFile<'_>| folder.join(format!(".{}.new", file.name));
    let name = |file: &NewFile<'_>| format!("cannot write {}", folder.join(file.name).display());
    let mut written: Vec<(File, PathBuf, &NewFile<'_>)> = Vec::new();
    for file in files {
        let path = temporary(file);
        let handle = write_one(&path, file).with_context(|| name(file))?;
        written.push((handle, path, file));
    }
    // One after the other: the first brings the others to the disk too, so they cost nothing.
    for (handle, _, file) in &written {
        handle.sync_all().with_context(|| name(file))?;
    }
    for (_, path, file) in &written {
        fs::rename(path, folder.join(file.name)).with_context(|| name(file))?;
    }
    let sync = File::open(folder).and_then(|folder| folder.sync_all());
    sync.with_context(|| format!("cannot write {}", folder.display()))
}

fn write_one(path: &Path, file: &NewFile<'_>) -> io::Result<File> {
    // What a crash has left behind may have other rights.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut handle = OpenOptions::new().write(true).create_new(true).mode(file.mode).open(path)?;
    handle.write_all(file.text.as_bytes())?;
    Ok(handle)
}
