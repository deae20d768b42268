//! The folder of an installation: its lock, its PKI and its kubeconfig.
//!
//! ```text
//! DIR/lock              held by the process that uses the folder
//! DIR/pki/              certificates and keys, named as kubeadm names them
//! DIR/admin.kubeconfig  for the administrator
//! DIR/store/            the objects, unless they are elsewhere
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use orlop_apiserver::pki::{self, Files, Pki};
use orlop_storage::Clock;

use crate::private_file::{self, NewFile, PUBLIC, SECRET};

/// A folder that belongs to this process until it ends.
pub(crate) struct Installation {
    folder: PathBuf,
    _lock: File,
}

impl Installation {
    /// Takes the folder; makes it if it is not there.
    pub(crate) fn open(folder: PathBuf) -> anyhow::Result<Self> {
        private_file::make_folder(&folder)?;
        let path = folder.join("lock");
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(SECRET);
        let lock =
            options.open(&path).with_context(|| format!("cannot open {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder, _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                bail!("{} is in use by another process", folder.display())
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }

    /// The PKI; what is missing or near its end is made and written.
    pub(crate) fn pki(&self, names: &[String], clock: &dyn Clock) -> anyhow::Result<Pki> {
        let folder = self.folder.join("pki");
        private_file::make_folder(&folder)?;
        let kept = read(&folder)?;
        let pki = Pki::complete(&kept, names, clock)
            .with_context(|| format!("the PKI in {}", folder.display()))?;
        let files = pki.files();
        let changed =
            files.iter().filter(|(name, text)| kept.get(name).map(String::as_str) != Some(*text));
        let changed: Vec<NewFile<'_>> = changed
            .map(|(name, text)| {
                let mode = if name.ends_with(".key") { SECRET } else { PUBLIC };
                NewFile { name, text, mode }
            })
            .collect();
        if !changed.is_empty() {
            private_file::write(&folder, &changed)?;
        }
        Ok(pki)
    }

    /// Writes the administrator's kubeconfig and says where it is.
    pub(crate) fn write_kubeconfig(&self, text: &str) -> anyhow::Result<PathBuf> {
        let name = "admin.kubeconfig";
        private_file::write(&self.folder, &[NewFile { name, text, mode: SECRET }])?;
        Ok(self.folder.join(name))
    }
}

fn read(folder: &Path) -> anyhow::Result<Files> {
    let mut kept = Files::new();
    for name in pki::FILES {
        let path = folder.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => drop(kept.insert(name, text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        }
    }
    Ok(kept)
}
