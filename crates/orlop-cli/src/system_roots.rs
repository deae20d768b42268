//! The authorities that this machine trusts, for calls to webhooks that do not name their own.
//!
//! After `src/crypto/x509/root_unix.go` and `root_linux.go` of Go: the file that `SSL_CERT_FILE`
//! names, or the first that is there of those where distributions keep them. Unlike there, folders
//! of single certificates are not read: every distribution with one has a file too.

use std::{env, fs};

/// Where distributions keep them.
const FILES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Certificates as PEM; none if the machine has none, which only webhooks without a `caBundle`
/// notice.
pub(crate) fn read() -> String {
    let named = env::var("SSL_CERT_FILE").ok().filter(|file| !file.is_empty());
    match named {
        Some(file) => fs::read_to_string(file).unwrap_or_default(),
        None => FILES.iter().find_map(|file| fs::read_to_string(file).ok()).unwrap_or_default(),
    }
}
