//! Who gets a certificate: `certificates.k8s.io/v1`.

kinds![certificate_signing_request,];

const GROUP_VERSION: (&str, &str) = ("certificates.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.certificates.v1";
