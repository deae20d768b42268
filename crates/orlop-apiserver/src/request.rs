//! What a request asks for: verb, resource, namespace, name, subresource.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`. Every method and
//! path gives an answer; a path that upstream refuses to read names no resource, so that it is not
//! found. The work is linear in the length of the URI.
//!
//! Deliberately not here: whether there is such a resource.

use http::{Method, Uri};
use orlop_machinery::Str;
use orlop_machinery::names::path_segment_name;
use orlop_machinery::status::Status;
use orlop_machinery::text::quote;
use percent_encoding::percent_decode_str;

use crate::options::ListQuery;
use crate::query::Query;

/// What the method, the path and the query say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestInfo {
    /// Whether it is about a resource of the API.
    pub is_resource: bool,
    /// The path, unescaped.
    pub path: String,
    /// `get`, `list`, `watch`, ..., and the method in lower case where it is about no resource.
    /// Empty for a method that nobody knows.
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
    /// Whether the path leads to the resource through a namespace. A Namespace itself has its own
    /// name as its namespace, but stands in none.
    pub is_in_namespace: bool,
    /// Whether the name is in the path, and not only in a selector.
    pub is_named_in_path: bool,
}

/// What may stand before a resource to say what is done with it.
const VERBS_IN_PATH: [&str; 2] = ["proxy", "watch"];
/// What a namespace has beside the objects in it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];
/// Verbs that take as long as the client wants.
const LONG_RUNNING_VERBS: [&str; 2] = ["watch", "proxy"];
/// The same for subresources.
const LONG_RUNNING_SUBRESOURCES: [&str; 5] = ["attach", "exec", "proxy", "log", "portforward"];

impl RequestInfo {
    /// Reads the method and the URI of a request.
    #[must_use]
    pub fn parse(method: &Method, uri: &Uri) -> RequestInfo {
        let path = percent_decode_str(uri.path()).decode_utf8_lossy().into_owned();
        let mut info = RequestInfo { verb: method_name(method), ..RequestInfo::default() };
        info.read_path(&path, method);
        info.path = path;
        if info.name.is_empty() && info.verb == "get" && info.is_resource {
            info.read_query(&Query::parse(uri.query().unwrap_or_default()));
        }
        if info.name.is_empty() && info.verb == "delete" && info.is_resource {
            info.verb = "deletecollection";
        }
        info
    }

    /// Whether it takes as long as the client wants, so that no deadline and no limit holds.
    #[must_use]
    pub fn is_long_running(&self) -> bool {
        LONG_RUNNING_VERBS.contains(&self.verb)
            || self.is_resource && LONG_RUNNING_SUBRESOURCES.contains(&self.subresource.as_str())
    }

    /// Refuses names that could not be part of a key of the store.
    ///
    /// # Errors
    ///
    /// In the words of `NamespaceKeyFunc` of upstream's `registry/generic/registry/store.go`.
    pub(crate) fn check_names(&self) -> Result<(), Status> {
        for (what, text) in [("Namespace", &self.namespace), ("Name", &self.name)] {
            let wrong = path_segment_name(text);
            if !wrong.is_empty() {
                let why = wrong.join(";");
                let message = format!("{what} parameter invalid: {}: {why}", quote(text));
                return Err(Status::bad_request(message));
            }
        }
        Ok(())
    }

    /// Reads `/api/v1/...` and `/apis/group/v1/...`. Others are about no resource.
    fn read_path(&mut self, path: &str, method: &Method) {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, version, parts) = match parts.as_slice() {
            ["api", version, parts @ ..] if !parts.is_empty() => ("", version, parts),
            ["apis", group, version, parts @ ..] if !parts.is_empty() => (*group, version, parts),
            _ => return,
        };
        self.is_resource = true;
        self.group = Str::new(group);
        self.version = Str::new(version);
        let parts = match VERBS_IN_PATH.iter().find(|verb| **verb == parts[0]) {
            Some(verb) => {
                self.verb = verb;
                &parts[1..]
            }
            None => {
                self.verb = verb_of(method);
                parts
            }
        };
        // Only `/watch` and `/proxy` alone have nothing left: no resource is named like that.
        if let Some(parts) = self.read_namespace(parts) {
            self.read_parts(parts);
        }
    }

    /// Takes the namespace; what is left starts with the resource.
    fn read_namespace<'a>(&mut self, parts: &'a [&'a str]) -> Option<&'a [&'a str]> {
        if let ["namespaces", namespace, rest @ ..] = parts {
            self.namespace = Str::new(namespace);
            if rest.first().is_some_and(|next| !NAMESPACE_SUBRESOURCES.contains(next)) {
                self.is_in_namespace = true;
                return Some(rest);
            }
        }
        (!parts.is_empty()).then_some(parts)
    }

    /// Takes resource, name, subresource and the rest.
    fn read_parts(&mut self, parts: &[&str]) {
        // An empty part in between is not the end: such a path leads nowhere.
        let last = parts.iter().rposition(|part| !part.is_empty()).unwrap_or_default();
        if self.verb != "proxy" && parts[..last].iter().take(3).any(|part| part.is_empty()) {
            return;
        }
        let part = |at: usize| Str::new(parts.get(at).copied().unwrap_or_default());
        self.resource = part(0);
        self.name = part(1);
        self.is_named_in_path = !self.name.is_empty();
        let mut rest_at = 2;
        if self.verb != "proxy" {
            self.subresource = part(2);
            rest_at = 3;
        }
        self.rest = parts.get(rest_at..).unwrap_or_default().join("/");
    }

    /// A get without a name is a list or a watch, and may name one object by a selector.
    fn read_query(&mut self, query: &Query<'_>) {
        let is_watch = match ListQuery::parse(query) {
            Ok(options) => {
                let name = options.field_selector.requires_exact_match("metadata.name");
                let is_name =
                    |name: &&str| !self.resource.is_empty() && path_segment_name(name).is_empty();
                let name = name.filter(is_name);
                self.name = Str::new(name.unwrap_or_default());
                options.is_watch
            }
            // What is wrong with them is said later; whether it is a watch is clear anyway.
            Err(_) => query.truth("watch").unwrap_or_default(),
        };
        self.verb = if is_watch { "watch" } else { "list" };
    }
}

/// The method in lower case.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "get",
        Method::HEAD => "head",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        Method::OPTIONS => "options",
        Method::TRACE => "trace",
        Method::CONNECT => "connect",
        _ => "",
    }
}

/// What a method does with a resource.
fn verb_of(method: &Method) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::GET | Method::HEAD => "get",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(method: &str, uri: &str) -> RequestInfo {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        RequestInfo::parse(&method, &uri.parse().unwrap())
    }

    /// `verb group/version namespace resource name subresource rest`, a dash for what is empty.
    #[track_caller]
    fn check(method: &str, uri: &str, expect: &str) {
        let info = parse(method, uri);
        let version = format!("{}/{}", info.group, info.version);
        let show = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        let parts = [
            info.verb,
            &version,
            &info.namespace,
            &info.resource,
            &info.name,
            &info.subresource,
            &info.rest,
        ];
        let shown: Vec<String> = parts.iter().map(|part| show(part)).collect();
        let shown = if info.is_resource { shown.join(" ") } else { info.verb.to_owned() };
        assert_eq!(shown, expect, "{method} {uri}");
    }

    #[test]
    fn verbs_follow_from_the_method_and_the_path() {
        check("GET", "/api/v1/namespaces", "list /v1 - namespaces - - -");
        check("GET", "/api/v1/namespaces/other", "get /v1 other namespaces other - -");
        check("GET", "/api/v1/namespaces/other/pods", "list /v1 other pods - - -");
        check("GET", "/api/v1/namespaces/other/pods/foo", "get /v1 other pods foo - -");
        check("HEAD", "/api/v1/namespaces/other/pods/foo", "get /v1 other pods foo - -");
        check("GET", "/api/v1/pods", "list /v1 - pods - - -");
        check("HEAD", "/api/v1/pods", "list /v1 - pods - - -");
        check("POST", "/api/v1/namespaces/other/pods", "create /v1 other pods - - -");
        check("PUT", "/api/v1/namespaces/other/pods/foo", "update /v1 other pods foo - -");
        check("PATCH", "/api/v1/namespaces/other/pods/foo", "patch /v1 other pods foo - -");
        check("DELETE", "/api/v1/namespaces/other/pods/foo", "delete /v1 other pods foo - -");
        check("DELETE", "/api/v1/namespaces/other/pods", "deletecollection /v1 other pods - - -");
        check(
            "DELETE",
            "/apis/apps/v1/deployments",
            "deletecollection apps/v1 - deployments - - -",
        );
        check("OPTIONS", "/api/v1/pods", "- /v1 - pods - - -");
        check("BREW", "/api/v1/pods", "- /v1 - pods - - -");
    }

    #[test]
    fn a_namespace_has_subresources_of_its_own() {
        let status = "/api/v1/namespaces/other/status";
        check("PUT", status, "update /v1 other namespaces other status -");
        let finalize = "/api/v1/namespaces/other/finalize";
        check("PUT", finalize, "update /v1 other namespaces other finalize -");
        let named = "/api/v1/namespaces/other/status/x";
        check("GET", named, "get /v1 other namespaces other status x");
    }

    #[test]
    fn what_follows_a_subresource_is_kept() {
        let log = "/api/v1/namespaces/other/pods/foo/log";
        check("GET", log, "get /v1 other pods foo log -");
        let proxy = "/api/v1/namespaces/other/services/https:foo:443/proxy/a/b";
        check("GET", proxy, "get /v1 other services https:foo:443 proxy a/b");
        check("POST", "/api/v1/nodes/n/proxy/run/", "create /v1 - nodes n proxy run");
        let odd = "/api/v1/nodes/n/proxy//a//b";
        check("GET", odd, "get /v1 - nodes n proxy /a//b");
    }

    #[test]
    fn a_watch_is_asked_for_in_two_ways() {
        check("GET", "/api/v1/pods?watch=true", "watch /v1 - pods - - -");
        check("GET", "/api/v1/pods?watch=1", "watch /v1 - pods - - -");
        check("GET", "/api/v1/pods?watch", "watch /v1 - pods - - -");
        check("GET", "/api/v1/pods?watch=false", "list /v1 - pods - - -");
        check("GET", "/api/v1/pods?watch=0", "list /v1 - pods - - -");
        check("GET", "/api/v1/pods?watch=true&limit=x", "watch /v1 - pods - - -");
        check("GET", "/api/v1/namespaces/other/pods/foo?watch=true", "get /v1 other pods foo - -");
        check("GET", "/api/v1/watch/pods", "watch /v1 - pods - - -");
        let one = "/api/v1/watch/namespaces/other/pods/foo";
        check("GET", one, "watch /v1 other pods foo - -");
        let old = "/api/v1/proxy/namespaces/other/pods/foo/a/b";
        check("GET", old, "proxy /v1 other pods foo - a/b");
        check("GET", "/api/v1/watch", "watch /v1 - - - - -");
        check("GET", "/api/v1/proxy", "proxy /v1 - - - - -");
    }

    #[test]
    fn a_selector_of_one_name_names_an_object() {
        let list = "/api/v1/namespaces/other/pods?fieldSelector=metadata.name%3D";
        check("GET", &format!("{list}foo"), "list /v1 other pods foo - -");
        check("GET", &format!("{list}foo&watch=1"), "watch /v1 other pods foo - -");
        check("GET", &format!("{list}foo,status.phase%3Dx"), "list /v1 other pods foo - -");
        check("GET", &format!("{list}.."), "list /v1 other pods - - -");
        check("GET", &format!("{list}a%2Fb"), "list /v1 other pods - - -");
        check("GET", &format!("{list}foo&limit=x"), "list /v1 other pods - - -");
        check("GET", &format!("{list}foo&labelSelector=%26"), "list /v1 other pods - - -");
        check("DELETE", &format!("{list}foo"), "deletecollection /v1 other pods - - -");
        let not = "/api/v1/pods?fieldSelector=metadata.name!%3Dfoo";
        check("GET", not, "list /v1 - pods - - -");
    }

    #[test]
    fn other_paths_are_about_no_resource() {
        for path in [
            "/",
            "/api",
            "/api/v1",
            "/api/v1/",
            "/apis",
            "/apis/apps",
            "/apis/apps/v1",
            "/healthz",
            "/version",
            "/metrics",
            "/openapi/v2/x/y",
            "//",
            "/apisx/a/b/c",
            "/API/v1/pods",
        ] {
            check("GET", path, "get");
            check("POST", path, "post");
            assert_eq!(parse("GET", path).path, path);
        }
        check("BREW", "/api", "");
    }

    #[test]
    fn odd_paths_are_read_as_upstream_reads_them() {
        check("GET", "/api/v1/pods/", "list /v1 - pods - - -");
        check("GET", "//api/v1/pods", "list /v1 - pods - - -");
        check("GET", "/api/v1/namespaces/a%2Fb", "list /v1 a b - - -");
        check("GET", "/api/v1/nodes/a%20b", "get /v1 - nodes a b - -");
        check("GET", "/api/v1/nodes/..", "get /v1 - nodes .. - -");
        check("GET", "/api/v1/nodes/%2e%2e", "get /v1 - nodes .. - -");
        check("GET", "/api/v1/nodes/%ff", "get /v1 - nodes \u{fffd} - -");
        check("GET", "/api/v1/nodes//x", "list /v1 - - - - -");
        check("GET", "/api/v1//pods", "list /v1 - - - - -");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let check = |path: &str, expect: &str| {
            let message = parse("GET", path).check_names().err().map(|status| status.message);
            assert_eq!(message.unwrap_or_default(), expect, "{path}");
        };
        check("/api/v1/nodes/n", "");
        check("/api/v1/nodes/..", "Name parameter invalid: \"..\": may not be '..'");
        check("/api/v1/nodes/a%2525", "Name parameter invalid: \"a%25\": may not contain '%'");
        let pods = "/api/v1/namespaces/./pods";
        check(pods, "Namespace parameter invalid: \".\": may not be '.'");
    }

    #[test]
    fn some_requests_take_as_long_as_the_client_wants() {
        let check = |path: &str, expect: bool| {
            assert_eq!(parse("GET", path).is_long_running(), expect, "{path}");
        };
        check("/api/v1/pods", false);
        check("/api/v1/pods?watch=1", true);
        check("/api/v1/watch/pods", true);
        check("/api/v1/namespaces/a/pods/b", false);
        for subresource in LONG_RUNNING_SUBRESOURCES {
            check(&format!("/api/v1/namespaces/a/pods/b/{subresource}"), true);
        }
        check("/api/v1/namespaces/a/pods/b/status", false);
        check("/log", false);
    }

    proptest! {
        #[test]
        fn every_path_gives_an_answer(
            path in "(/|api|apis|v1|watch|proxy|namespaces|status|pods|a|%2F|%|\\.\\.|%ff){0,12}",
            query in "(watch|limit|fieldSelector|metadata.name|=|%3D|&|;|%|a|,|!){0,12}",
        ) {
            for method in ["GET", "POST", "DELETE", "X"] {
                if let Ok(uri) = format!("/{path}?{query}").parse::<Uri>() {
                    let info = RequestInfo::parse(&method.parse().unwrap(), &uri);
                    prop_assert!(info.is_resource || info.resource.is_empty());
                    prop_assert!(!info.resource.is_empty() || info.name.is_empty());
                    let _ = info.check_names();
                }
            }
        }
    }
}
