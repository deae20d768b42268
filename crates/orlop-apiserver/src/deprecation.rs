//! What a client should know about a whole resource: that it has no future.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/deprecation` and, for resources that say it
//! themselves on every request, the lifecycle tags in `staging/src/k8s.io/api`. Warnings about
//! fields stand with the rules of their kinds.

use crate::call::Warnings;
use crate::definition::Definition;
use crate::request::RequestInfo;
use crate::server::Inner;

/// What is deprecated: group, version, kind, and what is said about it.
const DEPRECATED: [(&str, &str, &str, &str); 2] = [
    ("", "v1", "ComponentStatus", "v1 ComponentStatus is deprecated in v1.19+"),
    (
        "",
        "v1",
        "Endpoints",
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ),
];

/// Both will be there as long as the API has version 1.
const NEVER_REMOVED: &str = "";

/// Warns about a request for a resource that is deprecated, whatever it does with it.
pub(crate) fn warn(
    server: &Inner,
    definition: &Definition,
    info: &RequestInfo,
    warnings: &Warnings,
) {
    let resource = &definition.resource;
    let found = DEPRECATED.iter().find(|(group, version, kind, _)| {
        resource.group == *group && resource.version == *version && resource.kind == *kind
    });
    let found = found.map(|(_, _, _, text)| *text).or_else(|| definition.kind.deprecation());
    if let Some(text) = found {
        warnings.add(text);
        server.metrics.request_deprecated(definition, &info.subresource, NEVER_REMOVED);
    }
}
