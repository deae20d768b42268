//! The volumes of a pod: their names.
//!
//! After `ValidateVolumes` in `pkg/apis/core/validation/validation.go`. What a source of a volume
//! must be does not stand here.

use std::collections::BTreeSet;

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::pod_spec::PodOptions;
use super::scalar::validate_required_text;

/// Reports what is wrong with the names of volumes. `pod_name` may be empty when it is not known.
pub(crate) fn validate_volumes(
    volumes: &Node<'_>,
    pod_name: &str,
    _options: &PodOptions,
    errors: &mut Errors,
) {
    let all = volumes.value().list();
    let ephemeral = all.iter().filter(|volume| !volume.at("ephemeral").is_null());
    let created: BTreeSet<String> = match pod_name {
        "" => BTreeSet::new(),
        pod_name => {
            ephemeral.map(|volume| format!("{pod_name}-{}", volume.at("name").str())).collect()
        }
    };
    let mut known = BTreeSet::new();
    for volume in volumes.items() {
        let before = errors.len();
        let name = volume.at("name");
        validate_required_text(&name, names::dns_label, errors);
        if known.contains(name.str()) {
            errors.duplicate(&name);
        }
        if errors.len() == before {
            known.insert(volume.value().at("name").str());
        }
        let claim = volume.at("persistentVolumeClaim");
        let claim_name = claim.at("claimName");
        if claim.is_set() && created.contains(claim_name.str()) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.invalid(&claim_name, detail);
        }
    }
}
