//! Certificates that are renewed while the server runs.
//!
//! What is near its end is made anew in time, whether or not anybody starts the program again:
//! the server goes on with the new certificate, and the kubeconfig holds the new one of the
//! administrator.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use orlop_apiserver::pki::Pki;
use orlop_apiserver::serve::Tls;
use orlop_storage::Clock;

use crate::installation::Installation;
use crate::kubeconfig::Kubeconfig;

/// How often it is looked whether something is near its end.
const LOOK_EVERY: Duration = Duration::from_secs(60 * 60);

/// See the module's documentation.
pub(super) struct Renewal {
    pub(super) installation: Installation,
    /// The names that the certificate of the server must have.
    pub(super) names: Vec<String>,
    /// What the server works with.
    pub(super) pki: Pki,
    /// Where the server is.
    pub(super) url: String,
    /// A kubeconfig of others that holds the administrator's certificate too.
    pub(super) kubeconfig: Option<PathBuf>,
}

impl Renewal {
    /// Writes the kubeconfig and says which file to use.
    pub(super) fn write_kubeconfig(&self) -> anyhow::Result<PathBuf> {
        let kubeconfig = Kubeconfig::new(&self.url, &self.pki);
        let own = self.installation.write_kubeconfig(&kubeconfig.to_text())?;
        let Some(file) = &self.kubeconfig else { return Ok(own) };
        kubeconfig.merge_into(file)?;
        Ok(file.clone())
    }

    /// Renews for ever what is near its end.
    pub(super) async fn run(mut self, tls: &Tls, clock: &dyn Clock) -> Infallible {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            match self.look(tls, clock) {
                Ok(true) => tracing::info!("certificates were renewed"),
                Ok(false) => {}
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::warn!(error, "cannot renew certificates");
                }
            }
        }
    }

    /// Whether something was renewed.
    fn look(&mut self, tls: &Tls, clock: &dyn Clock) -> anyhow::Result<bool> {
        let pki = self.installation.pki(&self.names, clock)?;
        if pki == self.pki {
            return Ok(false);
        }
        let server = &pki.apiserver;
        tls.replace(&server.certificate, &server.key, Some(&pki.ca.certificate))?;
        self.pki = pki;
        self.write_kubeconfig()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use orlop_apiserver::pki;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    #[derive(Debug)]
    struct At(Duration);

    impl Clock for At {
        fn now(&self) -> Duration {
            self.0
        }
    }

    #[test]
    fn what_is_near_its_end_is_renewed_in_the_files_too() {
        let folder = tempfile::tempdir().unwrap();
        let begin = DAY * 20_000;
        let names = pki::serving_names([127, 0, 0, 1].into(), [10, 96, 0, 1].into());
        let installation = Installation::open(folder.path().to_path_buf()).unwrap();
        let pki = installation.pki(&names, &At(begin)).unwrap();
        let url = "https://127.0.0.1:6443".to_owned();
        let (certificate, key) = (&pki.apiserver.certificate, &pki.apiserver.key);
        let tls = Tls::new(certificate, key, None, Arc::new(At(begin))).unwrap();
        let first = pki.clone();
        let mut renewal = Renewal { installation, names, pki, url, kubeconfig: None };
        let kubeconfig = renewal.write_kubeconfig().unwrap();
        let read = || std::fs::read_to_string(&kubeconfig).unwrap();
        let before = read();
        assert!(!renewal.look(&tls, &At(begin + DAY)).unwrap());
        assert_eq!(read(), before);
        assert!(renewal.look(&tls, &At(begin + DAY * 364)).unwrap());
        assert_ne!(read(), before);
        assert_eq!(renewal.pki.ca, first.ca, "authorities stay");
        assert_ne!(renewal.pki.apiserver, first.apiserver);
        assert!(!renewal.look(&tls, &At(begin + DAY * 364)).unwrap());
    }
}
