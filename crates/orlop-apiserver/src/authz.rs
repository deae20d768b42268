//! Who may do what.
//!
//! Until there are roles, these are the ones that every cluster has, after
//! `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go`: members of `system:masters` may do
//! everything, everybody may read what tells nothing (health, version), whoever is known may read
//! what the API is and ask about themselves. The answer to others is in the words of
//! `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go`.

use orlop_machinery::group_version::GroupResource;
use orlop_machinery::status::Status;
use orlop_machinery::text::quote;

use crate::request::RequestInfo;
use crate::user::{AUTHENTICATED, MASTERS, UNAUTHENTICATED, User};

/// Proof that a request was found to be allowed. Only [`authorize`] makes one.
#[derive(Debug)]
pub(crate) struct Authorized(());

/// What a group may get beside resources. A star at the end stands for anything.
const PATHS: [(&str, &[&str]); 4] = [
    (UNAUTHENTICATED, PUBLIC),
    (AUTHENTICATED, PUBLIC),
    (AUTHENTICATED, &["/openapi", "/openapi/*", "/api", "/api/*", "/apis", "/apis/*"]),
    (
        "system:monitoring",
        &[
            "/metrics",
            "/metrics/slis",
            "/livez",
            "/readyz",
            "/healthz",
            "/livez/*",
            "/readyz/*",
            "/healthz/*",
        ],
    ),
];

const PUBLIC: &[&str] = &["/livez", "/readyz", "/healthz", "/version", "/version/"];

/// What whoever is known may create: questions about themselves.
const QUESTIONS: [(&str, &str); 3] = [
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authentication.k8s.io", "selfsubjectreviews"),
];

/// Lets a request pass, or not.
///
/// # Errors
///
/// When the user may not.
pub(crate) fn authorize(user: &User, info: &RequestInfo) -> Result<Authorized, Status> {
    let is_allowed = user.is_in(MASTERS)
        || if info.is_resource { may_ask(user, info) } else { may_get(user, info) };
    if is_allowed { Ok(Authorized(())) } else { Err(forbid(user, info)) }
}

fn may_ask(user: &User, info: &RequestInfo) -> bool {
    let is_question = |(group, resource): &(&str, &str)| {
        info.group == *group && info.resource == *resource && info.subresource.is_empty()
    };
    info.verb == "create" && user.is_in(AUTHENTICATED) && QUESTIONS.iter().any(is_question)
}

fn may_get(user: &User, info: &RequestInfo) -> bool {
    let is_path = |known: &&str| match known.strip_suffix('*') {
        Some(prefix) => info.path.starts_with(prefix),
        None => info.path == **known,
    };
    let mut rules = PATHS.iter().filter(|(group, _)| user.is_in(group));
    info.verb == "get" && rules.any(|(_, paths)| paths.iter().any(is_path))
}

fn forbid(user: &User, info: &RequestInfo) -> Status {
    let (name, verb) = (quote(&user.name), info.verb);
    let why = if info.is_resource {
        let resource = match info.subresource.as_str() {
            "" => info.resource.to_string(),
            subresource => format!("{}/{subresource}", info.resource),
        };
        let place = match info.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {}", quote(namespace)),
        };
        let (resource, group) = (quote(&resource), quote(&info.group));
        format!("User {name} cannot {verb} resource {resource} in API group {group} {place}")
    } else {
        format!("User {name} cannot {verb} path {}", quote(&info.path))
    };
    let why = why.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Status::forbidden(&GroupResource::new(&info.group, &info.resource), &info.name, why)
}

#[cfg(test)]
impl Authorized {
    /// Proof of nothing, for tests of what comes after.
    pub(crate) fn for_tests() -> Authorized {
        Authorized(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(user: &User, method: &str, uri: &str) -> String {
        let info = RequestInfo::parse(&method.parse().unwrap(), &uri.parse().unwrap());
        match authorize(user, &info) {
            Ok(_) => "yes".to_owned(),
            Err(status) => {
                assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
                status.message
            }
        }
    }

    fn member_of(group: &'static str) -> User {
        let groups = vec![group.into(), AUTHENTICATED.into()];
        User { name: "x".into(), groups, ..User::default() }
    }

    #[test]
    fn masters_may_do_everything() {
        let admin = member_of(MASTERS);
        for path in ["/api/v1/secrets", "/metrics", "/nonsense", "/apis/a/b/c/d"] {
            assert_eq!(ask(&admin, "DELETE", path), "yes");
        }
    }

    #[test]
    fn everybody_may_see_that_the_server_lives() {
        for user in [User::anonymous(), member_of("dev")] {
            for path in ["/healthz", "/livez", "/readyz", "/version", "/version/"] {
                assert_eq!(ask(&user, "GET", path), "yes", "{path}");
                assert_ne!(ask(&user, "POST", path), "yes", "{path}");
            }
            for path in ["/metrics", "/healthz/etcd", "/livez/", "/", "/debug/pprof/"] {
                assert_ne!(ask(&user, "GET", path), "yes", "{path}");
            }
        }
        let monitor = member_of("system:monitoring");
        assert_eq!(ask(&monitor, "GET", "/metrics"), "yes");
        assert_eq!(ask(&monitor, "GET", "/healthz/etcd"), "yes");
    }

    #[test]
    fn whoever_is_known_may_see_what_the_api_is() {
        let (known, unknown) = (member_of("dev"), User::anonymous());
        for path in ["/api", "/api/v1", "/apis", "/apis/apps/v1", "/openapi/v3/api/v1"] {
            assert_eq!(ask(&known, "GET", path), "yes", "{path}");
            let message =
                format!("forbidden: User \"system:anonymous\" cannot get path \"{path}\"");
            assert_eq!(ask(&unknown, "GET", path), message);
        }
        let review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        assert_eq!(ask(&known, "POST", review), "yes");
        assert_ne!(ask(&known, "GET", review), "yes");
        assert_ne!(ask(&unknown, "POST", review), "yes");
        let review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        assert_eq!(ask(&known, "POST", review), "yes");
    }

    #[test]
    fn others_are_told_what_they_may_not() {
        let check = |method: &str, uri: &str, expect: &str| {
            assert_eq!(ask(&member_of("dev"), method, uri), expect);
        };
        check(
            "GET",
            "/api/v1/namespaces/default/pods",
            "pods is forbidden: User \"x\" cannot list resource \"pods\" in API group \"\" in the \
             namespace \"default\"",
        );
        check(
            "GET",
            "/apis/apps/v1/deployments",
            "deployments.apps is forbidden: User \"x\" cannot list resource \"deployments\" in \
             API group \"apps\" at the cluster scope",
        );
        check(
            "PUT",
            "/api/v1/nodes/n/status",
            "nodes \"n\" is forbidden: User \"x\" cannot update resource \"nodes/status\" in API \
             group \"\" at the cluster scope",
        );
        let path = "forbidden: User \"x\" cannot get path \"/a&lt;b&gt;&amp;\"";
        check("GET", "/a%3Cb%3E&", path);
    }
}
