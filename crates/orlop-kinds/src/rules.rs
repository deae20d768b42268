//! Rules that several kinds share. Each stands once, in the file of what it is about.

pub(crate) mod access_mode;
pub(crate) mod deprecated_node_label;
pub(crate) mod generation;
pub(crate) mod image_reference;
pub(crate) mod int_or_percent;
pub(crate) mod local_path;
pub(crate) mod meaning;
pub(crate) mod node_selector;
pub(crate) mod persistent_volume_claim_spec;
pub(crate) mod persistent_volume_spec;
pub(crate) mod pod_spec;
pub(crate) mod pod_template;
pub(crate) mod preemption_policy;
pub(crate) mod replica_status;
pub(crate) mod resource_list;
pub(crate) mod resource_name;
pub(crate) mod resource_requirements;
pub(crate) mod scalar;
pub mod scale;
pub(crate) mod signer_name;
pub(crate) mod status;
pub(crate) mod tolerations;
pub(crate) mod url;
pub(crate) mod volume;
pub(crate) mod webhook_client_config;
