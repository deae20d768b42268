//! Devices: what nodes have of them, and who wants which: `resource.k8s.io/v1`.
//!
//! Not here: `v1beta1`, `v1beta2` and `v1alpha3` with their taint rules and pool reports, which
//! are off unless somebody turns them on.

mod allocation;
mod collection;
mod configuration;
mod device;
mod device_attribute;
mod device_capacity;
mod device_claim;
mod device_identity;
mod device_taint;

kinds![device_class, resource_claim, resource_claim_template, resource_slice];

const GROUP_VERSION: (&str, &str) = ("resource.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.resource.v1";
