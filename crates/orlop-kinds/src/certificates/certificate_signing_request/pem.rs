//! Requests and certificates in PEM, which objects carry as bytes.

use orlop_machinery::bytes;
use orlop_machinery::text::quote;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer, X509Certificate};

/// What is wrong with a request, if anything: its form, or its signature.
pub(super) fn what_is_wrong_with_request(text: &str) -> Option<String> {
    let data = bytes::decode(text).unwrap_or_default();
    let first = Pem::iter_from_buffer(&data).next().and_then(Result::ok);
    let Some(block) = first.filter(|block| block.label == "CERTIFICATE REQUEST") else {
        return Some("PEM block type must be CERTIFICATE REQUEST".into());
    };
    match X509CertificationRequest::from_der(&block.contents) {
        Ok(([], request)) => request.verify_signature().err().map(|error| error.to_string()),
        Ok(_) => Some("asn1: syntax error: trailing data".into()),
        Err(error) => Some(format!("asn1: structure error: {error}")),
    }
}

/// What is wrong with a chain of certificates, if anything. No text at all is no chain, and fine.
pub(super) fn what_is_wrong_with_certificates(text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let data = bytes::decode(text).unwrap_or_default();
    let mut count = 0;
    for block in Pem::iter_from_buffer(&data).map_while(Result::ok) {
        if block.label != "CERTIFICATE" {
            let found = quote(&block.label);
            return Some(format!("only CERTIFICATE PEM blocks are allowed, found {found}"));
        }
        count += 1;
        if let Err(error) = X509Certificate::from_der(&block.contents) {
            return Some(format!("x509: malformed certificate: {error}"));
        }
    }
    (count == 0).then(|| "must contain at least one CERTIFICATE PEM block".into())
}
