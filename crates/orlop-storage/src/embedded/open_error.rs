//! Why a folder cannot be opened as a store.

use std::io;

use thiserror::Error;

/// Why a store cannot be opened, checked, backed up or restored.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("{folder} is in use by another process")]
    InUse {
        /// The folder.
        folder: String,
    },
    /// It was written by a newer version of this software.
    #[error("{file} has format version {found}, this build reads up to {known}; use a newer build")]
    Newer {
        /// The file that says so.
        file: String,
        /// Its version.
        found: u32,
        /// The newest version that this build knows.
        known: u32,
    },
    /// The bytes are not what was written, or something is missing. Nothing was changed.
    #[error("{file} is damaged at offset {offset}: {what}; restore a backup")]
    Damaged {
        /// The file.
        file: String,
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// The folder is not empty and is not a store either, or is not what the operation needs.
    #[error("{folder} {what}")]
    Unsuitable {
        /// The folder.
        folder: String,
        /// What is the matter with it.
        what: String,
    },
    /// The file system refused.
    #[error("cannot {step} {file}")]
    Io {
        /// What was tried.
        step: &'static str,
        /// With which file.
        file: String,
        /// What the file system said.
        source: io::Error,
    },
}
