//! How a volume may be mounted: by one node or by many, to read or to write.
//!
//! After `ValidatePersistentVolumeSpec` in `pkg/apis/core/validation/validation.go` and
//! `GetAccessModesAsString` in `pkg/apis/core/helper/helpers.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

const MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", SINGLE_POD];
const SINGLE_POD: &str = "ReadWriteOncePod";

/// The modes with their short names, in the order of columns.
const SHORT_NAMES: &[(&str, &str)] = &[
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    (SINGLE_POD, "RWOP"),
];

/// Modes that exist; what is for a single pod is for nothing else.
pub(crate) fn validate_access_modes(modes: &Node<'_>, errors: &mut Errors) {
    for mode in modes.list() {
        if !MODES.contains(&mode.str()) {
            errors.not_supported_value(modes, mode.str(), MODES);
        }
    }
    let has = |wanted: fn(&str) -> bool| modes.list().iter().any(|mode| wanted(mode.str()));
    if has(|mode| mode == SINGLE_POD) && has(|mode| mode != SINGLE_POD && MODES.contains(&mode)) {
        errors.forbidden(modes, "may not use ReadWriteOncePod with other access modes");
    }
}

/// The modes as columns show them: `RWO,ROX`.
pub(crate) fn short_text(modes: &Value) -> String {
    let has = |name: &str| modes.list().iter().any(|mode| mode.str() == name);
    let names = SHORT_NAMES.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short);
    names.collect::<Vec<&str>>().join(",")
}
