//! Where the clients are, and what happens when one is not there.
//!
//! `cargo xtask test` puts them into the folder `clients` of the target folder. On a machine
//! where one cannot be had the tests that need it say so and pass; continuous integration
//! (`CI=true`) is not content with that.

use std::path::{Path, PathBuf};

/// A client, or what is needed to run one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Client {
    /// kubectl of the API level that we serve.
    Kubectl,
    /// kubectl 1.20, many years behind: no aggregated discovery, no OpenAPI v3.
    KubectlOld,
    /// helm 3, which patches.
    Helm3,
    /// helm 4, which applies on the server.
    Helm4,
    /// Our program with client-go and controller-runtime.
    GoProbe,
    /// Our program with kube-rs.
    RustProbe,
    /// The Python in which the package `kubernetes` is installed.
    Python,
    /// Node, beside which the package `@kubernetes/client-node` is installed.
    Node,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Kubectl,
        Self::KubectlOld,
        Self::Helm3,
        Self::Helm4,
        Self::GoProbe,
        Self::RustProbe,
        Self::Python,
        Self::Node,
    ];

    /// The file in the folder of clients. The name in `bin` is the command's name in a transcript.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Kubectl => "bin/kubectl",
            Self::KubectlOld => "bin/kubectl-1.20",
            Self::Helm3 => "bin/helm3",
            Self::Helm4 => "bin/helm",
            Self::GoProbe => "bin/go-probe",
            Self::RustProbe => "bin/rust-probe",
            Self::Python => "python/bin/python3",
            Self::Node => "javascript/bin/node",
        }
    }
}

/// The clients of this machine.
#[derive(Clone, Debug)]
pub struct Clients {
    folder: PathBuf,
}

impl Clients {
    /// Those in the target folder; a test knows it by `CARGO_TARGET_TMPDIR`, a folder inside it.
    ///
    /// # Panics
    /// When the path has no parent.
    #[must_use]
    pub fn beside(target_tmpdir: &str) -> Self {
        let target = Path::new(target_tmpdir).parent().expect("a folder inside the target folder");
        Self { folder: target.join("clients") }
    }

    /// The folder that holds them.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of those that are commands.
    #[must_use]
    pub fn commands(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// Where a client is, if it is there. Says so if it is not.
    ///
    /// # Panics
    /// In continuous integration, if it is not there.
    #[must_use]
    pub fn find(&self, client: Client) -> Option<PathBuf> {
        self.path(client.file())
    }

    /// Where a package of [`crate::published`] is, if it is there. Says so if it is not.
    ///
    /// # Panics
    /// In continuous integration, if it is not there.
    #[must_use]
    pub fn find_package(&self, name: &str) -> Option<PathBuf> {
        self.path(&format!("published/{name}"))
    }

    #[expect(clippy::print_stdout, reason = "a test that skips says so")]
    fn path(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(name);
        if path.exists() {
            return Some(path);
        }
        assert!(!is_required(), "{} must be there in continuous integration", path.display());
        println!("skipped: {} is not there; `cargo xtask test` installs it", path.display());
        None
    }
}

#[expect(clippy::disallowed_methods, reason = "a test asks where it runs")]
fn is_required() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}
