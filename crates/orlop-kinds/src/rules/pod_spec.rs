//! The spec of a pod, and the template of pods that controllers hold.
//!
//! After `ValidatePodSpec` and what it calls in `pkg/apis/core/validation/validation.go`, the
//! defaults of `pkg/apis/core/v1/defaults.go` and `pkg/api/pod/util.go`. One topic stands in one
//! file below. Not here: volumes (`rules/volume.rs`) and what only the kind Pod knows, such as its
//! updates, its status and its annotations on update.

mod options;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::Defaulter;
use orlop_machinery::node::Node;

pub(crate) use options::PodOptions;

/// The defaults of Pod and of all structs in a pod spec but volumes.
pub(crate) static DEFAULTERS: &[(&str, Defaulter)] = &[];

/// Reports all that is wrong with the spec of a pod. `metadata` is that of the pod, or null for a
/// template.
pub(crate) fn validate_pod_spec(
    _spec: &Node<'_>,
    _metadata: &Node<'_>,
    _options: &PodOptions,
    _errors: &mut Errors,
) {
}

/// Reports all that is wrong with a template of pods, with its labels and annotations.
pub(crate) fn validate_pod_template_spec(
    _template: &Node<'_>,
    _options: &PodOptions,
    _errors: &mut Errors,
) {
}

/// Takes out fields of features that are off, unless the old spec has them.
pub(crate) fn drop_disabled_fields(_spec: &mut Value, _old_spec: Option<&Value>) {}
