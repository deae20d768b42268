//! What somebody may do: `authorization.k8s.io/v1`.

kinds![
    local_subject_access_review,
    self_subject_access_review,
    self_subject_rules_review,
    subject_access_review,
];

mod access_review;

const GROUP_VERSION: (&str, &str) = ("authorization.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.authorization.v1";
