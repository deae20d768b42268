//! File systems and disks in the network.
//!
//! After `validateNFSVolumeSource` and its like in `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::source::require;

const FIBRE_CHANNEL_LUN_MAX: i64 = 255;
const QUOBYTE_TENANT_MAX: usize = 64;

/// A folder of an NFS server.
pub(crate) fn validate_nfs(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["server", "path"], errors);
    let path = source.at("path");
    if !path.str().starts_with('/') {
        errors.invalid(&path, "must be an absolute path");
    }
}

/// A volume of Gluster's.
pub(crate) fn validate_glusterfs(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["endpoints", "path"], errors);
}

/// The same as a persistent volume, whose endpoints may be in any namespace.
pub(crate) fn validate_persistent_glusterfs(source: &Node<'_>, errors: &mut Errors) {
    validate_glusterfs(source, errors);
    let namespace = source.at("endpointsNamespace");
    if !namespace.is_set() {
        return;
    }
    if namespace.is_empty() {
        let detail = "if the endpointnamespace is set, it must be a valid namespace name";
        errors.invalid(&namespace, detail);
        return;
    }
    for message in names::dns_label(namespace.str()) {
        errors.invalid(&namespace, message);
    }
}

/// A disk of Ceph's.
pub(crate) fn validate_rbd(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["monitors", "image"], errors);
}

/// A file system of Ceph's.
pub(crate) fn validate_cephfs(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["monitors"], errors);
}

/// A disk behind Fibre Channel, by the names of its targets or by those of itself.
pub(crate) fn validate_fibre_channel(source: &Node<'_>, errors: &mut Errors) {
    let (targets, own_names) = (source.at("targetWWNs"), source.at("wwids"));
    if targets.is_empty() && own_names.is_empty() {
        errors.required(&targets, "must specify either targetWWNs or wwids, but not both");
    }
    if targets.is_empty() {
        return;
    }
    if !own_names.is_empty() {
        errors.invalid(&targets, "targetWWNs and wwids can not be specified simultaneously");
    }
    let lun = source.at("lun");
    if !lun.is_set() {
        errors.required(&lun, "lun is required if targetWWNs is specified");
    } else if !(0..=FIBRE_CHANNEL_LUN_MAX).contains(&lun.int()) {
        errors.invalid(&lun, names::inclusive_range_error(0, FIBRE_CHANNEL_LUN_MAX));
    }
}

/// A volume of Quobyte's.
pub(crate) fn validate_quobyte(source: &Node<'_>, errors: &mut Errors) {
    let (registry, tenant) = (source.at("registry"), source.at("tenant"));
    let form = "must be a host:port pair or multiple pairs separated by commas";
    if registry.is_empty() {
        errors.required(&registry, form);
    } else if tenant.str().len() > QUOBYTE_TENANT_MAX {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.required(&tenant, detail);
    } else if !registry.str().split(',').all(is_host_and_port) {
        // Each bad pair would be the same error, with all of them in it.
        errors.invalid(&registry, form);
    }
    require(source, &["volume"], errors);
}

/// Whether Go can split it into a host, in brackets if it has colons, and a port. Either may be
/// empty.
fn is_host_and_port(pair: &str) -> bool {
    match pair.strip_prefix('[') {
        Some(rest) => rest.split_once(']').is_some_and(|(host, port)| {
            !host.contains('[')
                && port.strip_prefix(':').is_some_and(|port| !port.contains(['[', ']', ':']))
        }),
        None => pair.rsplit_once(':').is_some_and(|(host, port)| {
            !host.contains(['[', ']', ':']) && !port.contains(['[', ']'])
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_host_and_port_are_split_as_go_does() {
        for pair in ["a:1", "a:", ":1", ":", "[::1]:1", "[]:1", "[a]:b"] {
            assert!(is_host_and_port(pair), "{pair}");
        }
        for pair in ["", "a", "::1", "a:1:2", "[::1]", "[::1]1", "[::1]:1:2", "[a:1", "a]:1"] {
            assert!(!is_host_and_port(pair), "{pair}");
        }
        for pair in ["[[a]:1", "[a]]:1", "a:[1", "a:1]", "[a]:[1"] {
            assert!(!is_host_and_port(pair), "{pair}");
        }
    }
}
