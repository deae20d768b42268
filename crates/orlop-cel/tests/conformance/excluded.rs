//! The cases that are left out, and why.

use super::case::Case;

/// Cases that are left out.
#[derive(Debug)]
pub(crate) struct Exclusion {
    /// The file.
    pub(crate) file: &'static str,
    /// The section; `*` for all.
    section: &'static str,
    /// The beginning of the name of the case, with `*` behind it; or the whole name.
    name: &'static str,
    /// Why.
    reason: &'static str,
}

/// Kubernetes has JSON and the types that schemas declare.
const MESSAGES: &str = "there are no protobuf messages, enums or wrappers";

/// What is left out.
pub(crate) const EXCLUDED: &[Exclusion] = &[
    all("dynamic", MESSAGES),
    all("enums", MESSAGES),
    all("proto2", MESSAGES),
    all("proto2_ext", MESSAGES),
    all("proto3", MESSAGES),
    all("wrappers", MESSAGES),
];

const fn all(file: &'static str, reason: &'static str) -> Exclusion {
    Exclusion { file, section: "*", name: "*", reason }
}

/// Why a case is left out, if it is.
pub(crate) fn find_exclusion(case: &Case) -> Option<&'static str> {
    let found = EXCLUDED.iter().find(|exclusion| exclusion.is_about(case));
    found.map(|exclusion| exclusion.reason)
}

impl Exclusion {
    /// Whether it is about a case.
    pub(crate) fn is_about(&self, case: &Case) -> bool {
        let is_name = match self.name.strip_suffix('*') {
            Some(beginning) => case.name.starts_with(beginning),
            None => self.name == case.name,
        };
        self.file == case.file && (self.section == "*" || self.section == case.section) && is_name
    }
}
