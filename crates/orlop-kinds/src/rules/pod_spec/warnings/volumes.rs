//! Warnings about volumes: those that nothing serves any more, and files that stand in the way of
//! each other.

use orlop_machinery::Value;
use orlop_machinery::field::At;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;

use super::{REMEMBERED_MAX, push};
use crate::rules::persistent_volume_claim_spec::warn_of_claim_spec;

/// In the order in which they are looked at; the claim of an ephemeral volume comes before the
/// last two.
const DEPRECATED: [(&str, &str); 7] = [
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
];
const DEPRECATED_LATER: [(&str, &str); 2] = [
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// The paths of a certificate, and what they are called.
const CERTIFICATE_PATHS: [(&str, &str); 3] = [
    ("certificateChainPath", "PodCertificate chain"),
    ("keyPath", "PodCertificate key"),
    ("credentialBundlePath", "PodCertificate credential bundle"),
];

/// A file in a volume and where it comes from, if that must be said.
struct File {
    path: String,
    source: String,
}

/// Warns about the volumes of a spec.
pub(super) fn warn_about_volumes(volumes: &Node<'_>, warnings: &mut Vec<String>) {
    for volume in volumes.items() {
        warn_about_types(&volume, &DEPRECATED, warnings);
        let template = volume.value().path(&["ephemeral", "volumeClaimTemplate"]);
        if !template.is_null() {
            let at = volume.path().child("ephemeral");
            let at = at.child("volumeClaimTemplate");
            warn_of_claim_spec(&at.child("spec"), template.at("spec"), warnings);
        }
        warn_about_types(&volume, &DEPRECATED_LATER, warnings);
    }
    for volume in volumes.list() {
        warn_about_overlaps(volume, warnings);
    }
}

fn warn_about_types(volume: &Node<'_>, types: &[(&str, &str)], warnings: &mut Vec<String>) {
    for (field, message) in types {
        if volume.at(field).is_set() {
            // Upstream spells one of them in another way than its field.
            let name = if *field == "storageos" { "storageOS" } else { field };
            push(&volume.path().child(name), message, warnings);
        }
    }
}

fn warn_about_overlaps(volume: &Value, warnings: &mut Vec<String>) {
    let name = quote(volume.at("name").str());
    for (field, name_field, kind) in [
        ("configMap", "name", "ConfigMap"),
        ("secret", "secretName", "Secret"),
        ("downwardAPI", "", "DownwardAPI"),
    ] {
        let source = volume.at(field);
        let description = match name_field {
            "" => kind.to_owned(),
            field => format!("{kind} {}", quote(source.at(field).str())),
        };
        let mut known = Vec::new();
        for overlap in overlaps(items(source, ""), &mut known) {
            warnings.push(format!("volume {name} ({description}): overlapping paths: {overlap}"));
        }
    }
    let mut known = Vec::new();
    for source in volume.path(&["projected", "sources"]).list() {
        if source.map().is_empty() {
            warnings.push(format!("volume {name} (Projected) has no sources provided"));
        }
        for overlap in overlaps(projected_files(source), &mut known) {
            warnings.push(format!("volume {name} (Projected): overlapping paths: {overlap}"));
        }
    }
}

/// The files of a source with `items`.
fn items(source: &Value, description: &str) -> Vec<File> {
    let paths = source.at("items").list().iter().map(|item| item.at("path").str());
    paths.map(|path| File::new(path, description)).collect()
}

/// The files of one source of a projected volume.
fn projected_files(source: &Value) -> Vec<File> {
    for (field, kind) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
        let found = source.at(field);
        if !found.at("items").is_empty() {
            return items(found, &format!("{kind} {}", quote(found.at("name").str())));
        }
    }
    if !source.path(&["downwardAPI", "items"]).is_empty() {
        return items(source.at("downwardAPI"), "DownwardAPI");
    }
    if let Some(token) = source.get("serviceAccountToken") {
        return vec![File::new(token.at("path").str(), "ServiceAccountToken")];
    }
    if let Some(bundle) = source.get("clusterTrustBundle") {
        let name = bundle.get("name").unwrap_or_else(|| bundle.at("signerName")).str();
        let description = format!("ClusterTrustBundle {}", quote(name));
        return vec![File::new(bundle.at("path").str(), &description)];
    }
    let certificate = source.at("podCertificate");
    let paths = CERTIFICATE_PATHS.iter().map(|(field, kind)| (certificate.at(field).str(), kind));
    paths.filter(|(path, _)| !path.is_empty()).map(|(path, kind)| File::new(path, kind)).collect()
}

/// Which files are the same as one that is known already, or above or below it. They are known
/// from then on.
fn overlaps(files: Vec<File>, known: &mut Vec<File>) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.into_iter().filter(|file| !file.path.is_empty()) {
        for other in known.iter().filter(|other| file.overlaps(other)) {
            found.push(format!("{} with {}", file.shown(), other.shown()));
        }
        if known.len() < REMEMBERED_MAX {
            known.push(file);
        }
    }
    found
}

impl File {
    fn new(path: &str, source: &str) -> File {
        File { path: path.trim_end_matches('/').to_owned(), source: source.to_owned() }
    }

    fn overlaps(&self, other: &File) -> bool {
        let is_below = |path: &str, above: &str| {
            path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        is_below(&self.path, &other.path) || is_below(&other.path, &self.path)
    }

    fn shown(&self) -> String {
        match self.source.as_str() {
            "" => quote(&self.path),
            source => format!("{} ({source})", quote(&self.path)),
        }
    }
}
