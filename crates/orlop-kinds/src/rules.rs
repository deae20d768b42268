//! Rules that several kinds share. Each stands once, in the file of what it is about.

pub(crate) mod preemption_policy;
pub(crate) mod status;
//! Rules that several kinds share, each about one thing and in one place.

pub(crate) mod node_selector;
pub(crate) mod pod_spec;
pub(crate) mod resource_list;
pub(crate) mod resource_name;
pub(crate) mod resource_requirements;
pub(crate) mod tolerations;
