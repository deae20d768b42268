//! What a volume means where it says nothing.
//!
//! After `SetDefaults_Volume` and its like in `pkg/apis/core/v1/defaults.go`. Defaults that the
//! API itself declares (those of iSCSI, RBD, ScaleIO and Azure disks) are in the schema.

use orlop_machinery::kind::Defaulter;
use orlop_machinery::{Map, Value};

use crate::rules::image_reference::default_pull_policy;

/// Who may do what with a file that a volume makes.
const FILE_MODE: i64 = 0o644;
const TOKEN_SECONDS: i64 = 60 * 60;

/// The defaults of all structs of volumes, wherever a pod spec or a persistent volume has them.
pub(crate) static DEFAULTERS: &[(&str, Defaulter)] = &[
    ("io.k8s.api.core.v1.Volume", set_volume),
    ("io.k8s.api.core.v1.HostPathVolumeSource", |source| source.set_default("type", "")),
    ("io.k8s.api.core.v1.SecretVolumeSource", set_default_mode),
    ("io.k8s.api.core.v1.ConfigMapVolumeSource", set_default_mode),
    ("io.k8s.api.core.v1.DownwardAPIVolumeSource", set_default_mode),
    ("io.k8s.api.core.v1.ProjectedVolumeSource", set_default_mode),
    ("io.k8s.api.core.v1.ServiceAccountTokenProjection", |token| {
        token.set_default("expirationSeconds", TOKEN_SECONDS);
    }),
];

fn set_volume(volume: &mut Value) {
    if volume.map().iter().all(|(field, value)| field == "name" || value.is_null()) {
        volume.set("emptyDir", Map::new());
    }
    if let Some(image) = volume.get_mut("image")
        && image.at("pullPolicy").is_empty()
    {
        let policy = default_pull_policy(image.at("reference").str());
        image.set("pullPolicy", policy);
    }
}

fn set_default_mode(source: &mut Value) {
    source.set_default("defaultMode", FILE_MODE);
}
