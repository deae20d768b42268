//! The few things that the embedded engine asks of a file system.
//!
//! All files of a store lie in one folder and are named by one word. [`Folder`] is the real thing;
//! tests put a simulated disk in its place that loses, tears and refuses writes.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, OFlags};

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// To read; it must exist.
    Read,
    /// To read and write; it is made if it does not exist.
    Write,
    /// As [`Open::Write`], past the page cache if the file system can: all writes are of whole
    /// blocks of 4096 bytes, in offset, length and memory.
    Direct,
}

/// A folder for the files of one store.
pub trait Disk: Send + Sync + fmt::Debug {
    /// The names of all files.
    ///
    /// # Errors
    /// What the file system says.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Opens a file.
    ///
    /// # Errors
    /// What the file system says.
    fn open(&self, name: &str, how: Open) -> io::Result<Arc<dyn DiskFile>>;

    /// Gives a file another name, in place of any file that has it. Durable after
    /// [`Disk::sync_names`].
    ///
    /// # Errors
    /// What the file system says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// What the file system says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes all names durable: after it, files that were made, renamed or removed are so for good.
    ///
    /// # Errors
    /// What the file system says.
    fn sync_names(&self) -> io::Result<()>;

    /// Locks the folder against other processes until the guard is dropped.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if somebody else holds the lock.
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>>;

    /// The name of a file as a person would look for it.
    fn describe(&self, name: &str) -> String;
}

/// An open file.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// How long the file is.
    ///
    /// # Errors
    /// What the file system says.
    fn length(&self) -> io::Result<u64>;

    /// Reads some bytes at an offset; none at the end of the file.
    ///
    /// # Errors
    /// What the file system says.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes some of the bytes at an offset, and says how many.
    ///
    /// # Errors
    /// What the file system says.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Reserves space, so that writes below `length` do not run out of it.
    ///
    /// # Errors
    /// [`io::ErrorKind::StorageFull`] if there is not enough.
    fn allocate(&self, length: u64) -> io::Result<()>;

    /// Makes everything that was written durable.
    ///
    /// # Errors
    /// What the file system says. What was written since the last sync may be lost then, whatever
    /// a later sync says.
    fn sync(&self) -> io::Result<()>;
}

/// Writes all the bytes, however many steps it takes.
pub(crate) fn write_all(file: &dyn DiskFile, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(offset, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                offset += written as u64;
                bytes = &bytes[written..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads `length` bytes at `offset`, fewer if the file ends before.
pub(crate) fn read(file: &dyn DiskFile, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(offset + filled as u64, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(some) => filled += some,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// A folder of the file system.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at `path`, which must exist.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// Makes the folder, for nobody else, if it is not there; its name is durable then.
    ///
    /// # Errors
    /// What the file system says.
    pub fn create(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        match self.0.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => File::open(parent)?.sync_all(),
            None => Ok(()),
        }
    }
}

impl Disk for Folder {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.0)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn open(&self, name: &str, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let path = self.0.join(name);
        let mut options = OpenOptions::new();
        options.read(true).mode(0o600);
        let file = match how {
            Open::Read => options.open(path)?,
            Open::Write => options.write(true).create(true).open(path)?,
            Open::Direct => {
                options.write(true).create(true);
                let direct = i32::try_from(OFlags::DIRECT.bits()).expect("an open flag fits");
                match options.clone().custom_flags(direct).open(&path) {
                    Err(error) if refuses_direct(&error) => options.open(path)?,
                    opened => opened?,
                }
            }
        };
        Ok(Arc::new(RealFile(file)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.0)?.sync_all()
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).mode(0o600).open(self.0.join("LOCK"))?;
        file.try_lock()?;
        Ok(Box::new(file))
    }

    fn describe(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write_at(bytes, offset) {
            // Some file systems only say on the first write that they cannot do without the cache.
            Err(error) if refuses_direct(&error) => {
                rustix::fs::fcntl_setfl(&self.0, OFlags::empty())?;
                self.0.write_at(bytes, offset)
            }
            written => written,
        }
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        match rustix::fs::fallocate(&self.0, FallocateFlags::empty(), 0, length) {
            // Where space cannot be reserved, the write itself says that there is none.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
            done => Ok(done?),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

fn refuses_direct(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}
