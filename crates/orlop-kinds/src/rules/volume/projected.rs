//! Several sources of files in one volume.
//!
//! After `validateProjectedVolumeSource` and `validateProjectionSources` in
//! `pkg/apis/core/validation/validation.go`. Trust bundles and pod certificates are dropped before
//! (`rules/pod_spec/disabled_fields.rs`) unless the pod has some already.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::meta::{self, ANNOTATIONS_SIZE_MAX, SelectorOptions};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::file::{validate_downward_api_file, validate_key_to_path, validate_mode};
use super::source::require;
use crate::rules::local_path::validate_local_non_reserved_path;
use crate::rules::pod_spec::PodOptions;
use crate::rules::signer_name::{
    cluster_trust_bundle_name, is_kubernetes_signer, validate_signer_name,
};

const TOKEN_SECONDS_MIN: i64 = 10 * 60;
const TOKEN_SECONDS_MAX: i64 = 1 << 32;
const CERTIFICATE_SECONDS_MIN: i64 = 60 * 60;
const CERTIFICATE_SECONDS_MAX: i64 = 91 * 24 * 60 * 60;
const KUBERNETES_CERTIFICATE_SECONDS_MAX: i64 = 24 * 60 * 60;
const KEY_TYPES: &[&str] =
    &["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

/// The volume as a whole, while its sources are gone through.
struct Projected<'a> {
    volume: &'a Node<'a>,
    /// The files that sources have named so far.
    paths: BTreeSet<&'a str>,
}

/// A volume with several sources. No two of them have the same file, as far as they say it.
pub(super) fn validate_projected(volume: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    validate_mode(&volume.at("defaultMode"), errors);
    let sources = volume.at("sources");
    let mut projected = Projected { volume, paths: BTreeSet::new() };
    for source in sources.items() {
        projected.validate_objects(&source, errors);
        let token = source.at("serviceAccountToken");
        if token.is_set() {
            projected.validate_token(&token, options, errors);
        }
        let bundle = source.at("clusterTrustBundle");
        if bundle.is_set() {
            validate_trust_bundle_choice(&bundle, errors);
            projected.validate_trust_bundle_path(&source, errors);
        }
        let certificate = source.at("podCertificate");
        if certificate.is_set() {
            validate_pod_certificate(&certificate, errors);
            projected.validate_pod_certificate_paths(&source, errors);
        }
        if source.value().map().values().filter(|kind| !kind.is_null()).count() > 1 {
            errors.forbidden(&source, "may not specify more than 1 volume type per source");
        }
    }
}

impl<'a> Projected<'a> {
    /// Secrets, config maps and what the pod says about itself.
    fn validate_objects(&mut self, source: &Node<'a>, errors: &mut Errors) {
        for kind in ["secret", "configMap"] {
            let object = source.at(kind);
            if !object.is_set() {
                continue;
            }
            require(&object, &["name"], errors);
            let paths = source.value().path(&[kind, "items"]).list().iter();
            for (item, value) in object.at("items").items().zip(paths) {
                validate_key_to_path(&item, errors);
                self.note_path(value.at("path").str(), object.at("name").str(), errors);
            }
        }
        let downward_api = source.at("downwardAPI");
        let at = downward_api.path().to_string();
        for file in source.value().path(&["downwardAPI", "items"]).list() {
            validate_downward_api_file(&Node::new(file, Path::field(&at)), errors);
            self.note_path(file.at("path").str(), file.at("path").str(), errors);
        }
    }

    fn validate_token(&self, token: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
        let seconds = token.at("expirationSeconds");
        if seconds.int() < TOKEN_SECONDS_MIN {
            errors.invalid(&seconds, "may not specify a duration less than 10 minutes");
        }
        if seconds.int() > TOKEN_SECONDS_MAX {
            errors.invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
        }
        // As upstream, errors do not say which source the path is of.
        let at = self.volume.path().child("path").to_string();
        let path = token.at("path");
        let path = Node::new(path.value(), Path::field(&at));
        if path.is_empty() {
            errors.required(&path, "");
        } else if !options.allow_non_local_projected_token_path {
            validate_local_non_reserved_path(&path, errors);
        }
    }

    fn validate_trust_bundle_path(&mut self, source: &Node<'a>, errors: &mut Errors) {
        let bundle = source.at("clusterTrustBundle");
        require(&bundle, &["path"], errors);
        validate_local_non_reserved_path(&bundle.at("path"), errors);
        let path = source.value().path(&["clusterTrustBundle", "path"]).str();
        if !self.paths.insert(path) {
            errors.invalid_value(self.volume, path, "conflicting duplicate paths");
        }
    }

    fn validate_pod_certificate_paths(&mut self, source: &Node<'a>, errors: &mut Errors) {
        let certificate = source.at("podCertificate");
        let fields = ["credentialBundlePath", "keyPath", "certificateChainPath"];
        for field in fields {
            let path = source.value().path(&["podCertificate", field]).str();
            if !path.is_empty() {
                validate_local_non_reserved_path(&certificate.at(field), errors);
                self.note_path(path, path, errors);
            }
        }
        if fields.iter().all(|field| certificate.at(field).is_empty()) {
            let detail = "specify at least one of credentialBundlePath, keyPath, and \
                          certificateChainPath";
            errors.required(&certificate, detail);
        }
    }

    /// Reports a file that is there already; `shown` is what the error shows.
    fn note_path(&mut self, path: &'a str, shown: &str, errors: &mut Errors) {
        if !path.is_empty() && !self.paths.insert(path) {
            errors.invalid_value(self.volume, shown, "conflicting duplicate paths");
        }
    }
}

/// One bundle by name, or all of a signer by labels.
fn validate_trust_bundle_choice(bundle: &Node<'_>, errors: &mut Errors) {
    let (name, signer) = (bundle.at("name"), bundle.at("signerName"));
    let selector = bundle.at("labelSelector");
    match (name.is_set(), signer.is_set()) {
        (true, true) => errors.invalid(bundle, "only one of name and signerName may be used"),
        (true, false) => {
            if name.is_empty() {
                errors.required(&name, "must be a valid object name");
            }
            for message in cluster_trust_bundle_name(name.str()) {
                errors.invalid(&name, format!("not a valid clustertrustbundlename: {message}"));
            }
            if selector.is_set() {
                errors.invalid(&selector, "labelSelector must be unset if name is specified");
            }
        }
        (false, true) => {
            if signer.is_empty() {
                errors.required(&signer, "must be a valid signer name");
            }
            validate_signer_name(&signer, signer.str(), errors);
            meta::validate_label_selector(&selector, SelectorOptions::default(), errors);
        }
        (false, false) => errors.required(bundle, "either name or signerName must be specified"),
    }
}

fn validate_pod_certificate(certificate: &Node<'_>, errors: &mut Errors) {
    let signer = certificate.at("signerName");
    validate_signer_name(&signer, signer.str(), errors);
    let annotations = certificate.at("userAnnotations");
    for key in annotations.map().keys() {
        names::domain_prefixed_key(&annotations, &key.to_lowercase(), errors);
    }
    if meta::annotations_size(annotations.map()) > ANNOTATIONS_SIZE_MAX {
        errors.too_long(&annotations, ANNOTATIONS_SIZE_MAX);
    }
    let key_type = certificate.at("keyType");
    if !KEY_TYPES.contains(&key_type.str()) {
        errors.not_supported(&key_type, KEY_TYPES);
    }
    let seconds = certificate.at("maxExpirationSeconds");
    if !seconds.is_set() {
        return;
    }
    if seconds.int() < CERTIFICATE_SECONDS_MIN {
        let detail = format!("must be >= {CERTIFICATE_SECONDS_MIN}");
        errors.invalid(&seconds, format!("if provided, maxExpirationSeconds {detail}"));
    }
    let most = match is_kubernetes_signer(signer.str()) {
        true => KUBERNETES_CERTIFICATE_SECONDS_MAX,
        false => CERTIFICATE_SECONDS_MAX,
    };
    if seconds.int() > most {
        errors.invalid(&seconds, format!("if provided, maxExpirationSeconds must be <= {most}"));
    }
}
