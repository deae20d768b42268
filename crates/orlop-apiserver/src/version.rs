//! What `GET /version` tells.
//!
//! The fields are those of `staging/src/k8s.io/apimachinery/pkg/version/types.go`, the form that
//! of `WriteRawJSON`: indented, without a line feed at the end. Clients read the release from
//! `gitVersion` as a semantic version; what follows the plus sign says that it is Orlop and counts
//! for nothing when versions are compared.

use std::fmt::Write as _;

/// The release whose API is served.
pub(crate) const RELEASE: &str = "1.36.4";
/// The first number of the release.
pub(crate) const MAJOR: &str = "1";
/// The second number of the release.
pub(crate) const MINOR: &str = "36";

/// What is known of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Such as `v1.36.4+orlop.0.1.0`.
    pub git_version: String,
    /// The commit it was built from; empty if nobody said.
    pub git_commit: String,
    /// `clean` or `dirty`; empty if nobody said.
    pub git_tree_state: String,
    /// When it was built, in RFC 3339.
    pub build_date: String,
    /// The language it is written in, where upstream has the version of Go.
    pub go_version: String,
    /// What compiled it.
    pub compiler: String,
    /// Such as `linux/amd64`.
    pub platform: String,
}

impl Version {
    /// What the compiler knows: no commit, no date.
    #[must_use]
    pub fn of_build() -> Version {
        Version {
            git_version: format!("v{RELEASE}+orlop.{}", env!("CARGO_PKG_VERSION")),
            git_commit: String::new(),
            git_tree_state: String::new(),
            build_date: "1970-01-01T00:00:00Z".to_owned(),
            go_version: "rust".to_owned(),
            compiler: "rustc".to_owned(),
            platform: format!("{}/{}", operating_system(), architecture()),
        }
    }

    /// The fields in their order.
    fn fields(&self) -> [(&'static str, &str); 13] {
        [
            ("major", MAJOR),
            ("minor", MINOR),
            ("emulationMajor", MAJOR),
            ("emulationMinor", MINOR),
            ("minCompatibilityMajor", MAJOR),
            ("minCompatibilityMinor", "35"),
            ("gitVersion", &self.git_version),
            ("gitCommit", &self.git_commit),
            ("gitTreeState", &self.git_tree_state),
            ("buildDate", &self.build_date),
            ("goVersion", &self.go_version),
            ("compiler", &self.compiler),
            ("platform", &self.platform),
        ]
    }

    /// The document.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::from("{");
        for (place, (name, value)) in self.fields().into_iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let value = orlop_machinery::json::to_string(&value.into());
            let _infallible = write!(text, "{comma}\n  \"{name}\": {value}");
        }
        text.push_str("\n}");
        text
    }
}

/// The operating system as Go names it.
fn operating_system() -> &'static str {
    match () {
        () if cfg!(target_os = "linux") => "linux",
        () if cfg!(target_os = "macos") => "darwin",
        () if cfg!(target_os = "windows") => "windows",
        () => "unknown",
    }
}

/// The processor as Go names it.
fn architecture() -> &'static str {
    match () {
        () if cfg!(target_arch = "x86_64") => "amd64",
        () if cfg!(target_arch = "aarch64") => "arm64",
        () => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_indented_and_has_upstreams_fields_in_their_order() {
        let version = Version { platform: "linux/amd64".into(), ..Version::of_build() };
        let expect = format!(
            "{{\n  \"major\": \"1\",\n  \"minor\": \"36\",\n  \"emulationMajor\": \"1\",\n  \
             \"emulationMinor\": \"36\",\n  \"minCompatibilityMajor\": \"1\",\n  \
             \"minCompatibilityMinor\": \"35\",\n  \"gitVersion\": \"v1.36.4+orlop.{}\",\n  \
             \"gitCommit\": \"\",\n  \"gitTreeState\": \"\",\n  \
             \"buildDate\": \"1970-01-01T00:00:00Z\",\n  \"goVersion\": \"rust\",\n  \
             \"compiler\": \"rustc\",\n  \"platform\": \"linux/amd64\"\n}}",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(version.to_json(), expect);
    }

    #[test]
    fn the_release_begins_with_its_numbers() {
        assert!(RELEASE.starts_with(&format!("{MAJOR}.{MINOR}.")));
    }
}
