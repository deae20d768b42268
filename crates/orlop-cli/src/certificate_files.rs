//! The certificates that the server works with, as far as they stand in files.
//!
//! Whoever renews certificates writes them into the same files; they are looked at again while the
//! server runs. After `staging/src/k8s.io/apiserver/pkg/server/dynamiccertificates`, which also
//! wakes up when a file changes; a minute is soon enough for us. Files that do not go together,
//! because only one of them was written yet, change nothing.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use orlop_apiserver::pki::Identity;
use orlop_apiserver::serve::Tls;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Where the certificates come from.
pub(crate) struct CertificateFiles {
    serving: Serving,
    client_ca: Option<PathBuf>,
    /// What the server works with.
    current: Certificates,
}

/// Where the certificate of the server comes from.
pub(crate) enum Serving {
    /// A certificate with its chain, and its key.
    Files {
        /// The certificate.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
    },
    /// It was made for this run.
    Made(Identity),
}

/// The certificates themselves.
#[derive(Clone, PartialEq, Eq)]
struct Certificates {
    serving: Identity,
    client_ca: Option<String>,
}

impl CertificateFiles {
    /// Reads the files for the first time.
    pub(crate) fn read(serving: Serving, client_ca: Option<PathBuf>) -> anyhow::Result<Self> {
        let current = Certificates::read(&serving, client_ca.as_deref())?;
        Ok(Self { serving, client_ca, current })
    }

    /// The certificate of the server.
    pub(crate) fn serving(&self) -> &Identity {
        &self.current.serving
    }

    /// The authority of clients.
    pub(crate) fn client_ca(&self) -> Option<&str> {
        self.current.client_ca.as_deref()
    }

    /// Looks at the files for ever, and has the server work with what is new.
    pub(crate) async fn follow(mut self, tls: &Tls) -> Infallible {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            match self.look(tls) {
                Ok(true) => tracing::info!("serving with new certificates"),
                Ok(false) => {}
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::warn!(error, "cannot use new certificates; the old ones stay");
                }
            }
        }
    }

    /// Whether something is new.
    fn look(&mut self, tls: &Tls) -> anyhow::Result<bool> {
        let found = Certificates::read(&self.serving, self.client_ca.as_deref())?;
        if found == self.current {
            return Ok(false);
        }
        let Identity { certificate, key } = &found.serving;
        tls.replace(certificate, key, found.client_ca.as_deref())?;
        self.current = found;
        Ok(true)
    }
}

impl Certificates {
    fn read(serving: &Serving, client_ca: Option<&Path>) -> anyhow::Result<Self> {
        let serving = match serving {
            Serving::Files { certificate, key } => {
                Identity { certificate: read(certificate)?, key: read(key)? }
            }
            Serving::Made(identity) => identity.clone(),
        };
        Ok(Self { serving, client_ca: client_ca.map(read).transpose()? })
    }
}

/// The text of a file that somebody has named.
pub(crate) fn read(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use orlop_apiserver::pki::{self, Files, Pki};
    use orlop_storage::SystemClock;

    use super::*;

    fn pki() -> Pki {
        let names = pki::serving_names([127, 0, 0, 1].into(), [10, 96, 0, 1].into());
        Pki::complete(&Files::new(), &names, &SystemClock).unwrap()
    }

    #[test]
    fn new_certificates_are_found_and_broken_ones_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let (first, second) = (pki(), pki());
        fs::write(place("crt"), &first.apiserver.certificate).unwrap();
        fs::write(place("key"), &first.apiserver.key).unwrap();
        fs::write(place("ca"), &first.ca.certificate).unwrap();
        let serving = Serving::Files { certificate: place("crt"), key: place("key") };
        let mut files = CertificateFiles::read(serving, Some(place("ca"))).unwrap();
        let Identity { certificate, key } = files.serving();
        let tls = Tls::new(certificate, key, files.client_ca(), Arc::new(SystemClock)).unwrap();
        assert!(!files.look(&tls).unwrap());
        fs::write(place("crt"), &second.apiserver.certificate).unwrap();
        assert!(files.look(&tls).is_err(), "the key is still the old one");
        fs::write(place("key"), &second.apiserver.key).unwrap();
        assert!(files.look(&tls).unwrap());
        assert!(*files.serving() == second.apiserver);
        fs::write(place("ca"), &second.ca.certificate).unwrap();
        assert!(files.look(&tls).unwrap());
        assert!(!files.look(&tls).unwrap());
        fs::remove_file(place("ca")).unwrap();
        assert!(files.look(&tls).is_err());
    }
}
