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

/// What members of a group may do: something with resources, or with other paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Who.
    members: &'static str,
    /// What they may do.
    pub verb: &'static str,
    /// With resources of which group.
    pub group: &'static str,
    /// With which resources; none when it is about paths.
    pub resources: &'static [&'static str],
    /// With which paths; a star at the end stands for anything.
    pub paths: &'static [&'static str],
}

/// Stands for everything.
const ALL: &str = "*";

static RULES: [Rule; 8] = [
    Rule::resources(MASTERS, ALL, ALL, &[ALL]),
    Rule::paths(MASTERS, ALL, &[ALL]),
    Rule::resources(
        AUTHENTICATED,
        "create",
        "authorization.k8s.io",
        &["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    ),
    Rule::resources(AUTHENTICATED, "create", "authentication.k8s.io", &["selfsubjectreviews"]),
    Rule::paths(AUTHENTICATED, "get", DISCOVERY),
    Rule::paths(AUTHENTICATED, "get", PUBLIC),
    Rule::paths(UNAUTHENTICATED, "get", PUBLIC),
    Rule::paths(
        "system:monitoring",
        "get",
        &[
            "/healthz",
            "/healthz/*",
            "/livez",
            "/livez/*",
            "/metrics",
            "/metrics/slis",
            "/readyz",
            "/readyz/*",
        ],
    ),
];

const PUBLIC: &[&str] = &["/healthz", "/livez", "/readyz", "/version", "/version/"];
const DISCOVERY: &[&str] = &[
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
];

/// What somebody wants to do, as far as it matters for whether they may.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes<'a> {
    /// Whether it is about a resource, and not another path.
    pub is_resource: bool,
    /// What is to be done.
    pub verb: &'a str,
    /// The group of the resource.
    pub group: &'a str,
    /// The resource.
    pub resource: &'a str,
    /// The subresource, or empty.
    pub subresource: &'a str,
    /// The path, where it is about no resource.
    pub path: &'a str,
}

/// Whether somebody may do something, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Whether they may.
    pub is_allowed: bool,
    /// Why, where there is something to say.
    pub reason: String,
}

/// Lets a request pass, or not.
///
/// # Errors
///
/// When the user may not.
pub(crate) fn authorize(user: &User, info: &RequestInfo) -> Result<Authorized, Status> {
    let attributes = Attributes {
        is_resource: info.is_resource,
        verb: info.verb,
        group: &info.group,
        resource: &info.resource,
        subresource: &info.subresource,
        path: &info.path,
    };
    match decide(user, &attributes).is_allowed {
        true => Ok(Authorized(())),
        false => Err(forbid(user, info)),
    }
}

/// Whether somebody may do something.
pub(crate) fn decide(user: &User, attributes: &Attributes<'_>) -> Decision {
    let is_allowed = rules_of(user).any(|rule| rule.allows(attributes));
    Decision { is_allowed, reason: String::new() }
}

/// All that somebody may do.
pub(crate) fn rules_of(user: &User) -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(|rule| user.is_in(rule.members))
}

impl Rule {
    const fn resources(
        members: &'static str,
        verb: &'static str,
        group: &'static str,
        resources: &'static [&'static str],
    ) -> Rule {
        Rule { members, verb, group, resources, paths: &[] }
    }

    const fn paths(
        members: &'static str,
        verb: &'static str,
        paths: &'static [&'static str],
    ) -> Rule {
        Rule { members, verb, group: "", resources: &[], paths }
    }

    fn allows(&self, attributes: &Attributes<'_>) -> bool {
        let fits = |known: &str, asked: &str| known == ALL || known == asked;
        if !fits(self.verb, attributes.verb) {
            return false;
        }
        if !attributes.is_resource {
            return self.paths.iter().any(|path| match path.strip_suffix(ALL) {
                Some(prefix) => attributes.path.starts_with(prefix),
                None => attributes.path == *path,
            });
        }
        // No rule is about a subresource alone.
        let is_all = |resource: &str| resource == ALL;
        let is_named =
            |resource: &str| resource == attributes.resource && attributes.subresource.is_empty();
        fits(self.group, attributes.group)
            && self.resources.iter().any(|known| is_all(known) || is_named(known))
    }
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
