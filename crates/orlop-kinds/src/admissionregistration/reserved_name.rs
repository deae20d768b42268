//! Names that are kept for configuration from files.
//!
//! After `pkg/apis/admissionregistration/validation/static_suffix.go`. Such names are refused only
//! where configuration is read from files, which is alpha and off: they are warned about.

use orlop_machinery::node::Node;
use orlop_machinery::text::quote;

const SUFFIX: &str = ".static.k8s.io";

/// Warns about an object with a reserved name.
pub(super) fn warn_about_reserved_name(object: &Node<'_>, warnings: &mut Vec<String>) {
    let metadata = object.at("metadata");
    if metadata.at("name").str().ends_with(SUFFIX) {
        warnings.push(format!(
            "metadata.name: names ending with {} are reserved for static manifest-based \
             configurations and cannot be managed via the API",
            quote(SUFFIX)
        ));
    }
}
