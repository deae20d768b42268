//! Who somebody is: `authentication.k8s.io/v1`.

kinds![self_subject_review, token_review];

const GROUP_VERSION: (&str, &str) = ("authentication.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.authentication.v1";
