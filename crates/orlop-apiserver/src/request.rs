//! What a request asks for: verb, resource, namespace, name, subresource.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`.

use orlop_machinery::Str;

/// What the method, the path and the query say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestInfo {
    /// Whether it is about a resource of the API.
    pub is_resource: bool,
    /// The path, unescaped.
    pub path: String,
    /// `get`, `list`, `watch`, ..., and the method in lower case where it is about no resource.
    pub verb: &'static str,
    /// The group; empty for core.
    pub group: Str,
    /// The version.
    pub version: Str,
    /// The namespace; empty for the cluster and for all namespaces.
    pub namespace: Str,
    /// The plural of the resource.
    pub resource: Str,
    /// The subresource, or empty.
    pub subresource: Str,
    /// The name of the object, or empty.
    pub name: Str,
    /// What follows a subresource such as `proxy`, without its first slash.
    pub rest: String,
}
