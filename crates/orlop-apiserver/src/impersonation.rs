//! Acting as somebody else.
//!
//! Whoever may impersonate a user, the groups, the uid and the extra data that the request's
//! headers name goes on as that user. After
//! `staging/src/k8s.io/apiserver/pkg/endpoints/filters/impersonation/impersonation.go`. The finer
//! verbs of `constrained_impersonation.go` are not here: they need rules that tell them apart.

use std::fmt::Write;

use http::HeaderMap;
use orlop_machinery::names::{dns_label, dns_subdomain};
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};
use percent_encoding::percent_decode_str;

use crate::authz;
use crate::request::RequestInfo;
use crate::user::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User};

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";
/// The group of resources that are no objects.
const AUTHENTICATION: &str = "authentication.k8s.io";

/// The user that the request goes on with: the one whom the headers name, or the one who asks.
///
/// # Errors
///
/// When the one who asks may not be all that the headers name, or they name no user.
pub(crate) fn impersonate(user: User, headers: &HeaderMap) -> Result<User, Status> {
    let wanted = wanted(headers);
    if wanted.is_empty() {
        return Ok(user);
    }
    if !wanted.iter().any(|identity| matches!(identity.kind, "User" | "ServiceAccount")) {
        let shown: Vec<String> = wanted.iter().map(Identity::shown).collect();
        let shown = shown.join(" ");
        let message = format!("requested [{shown}] without impersonating a user");
        return Err(Status::bad_request(message));
    }
    for identity in &wanted {
        authz::authorize(&user, &identity.request())?;
    }
    Ok(become_user(&wanted))
}

/// Something that somebody wants to be.
#[derive(Default)]
struct Identity {
    /// As upstream names it: `User`, `ServiceAccount`, `Group`, `UserExtra`, `UID`.
    kind: &'static str,
    group: &'static str,
    resource: &'static str,
    namespace: String,
    name: String,
    /// The key of extra data.
    key: String,
}

impl Identity {
    /// What it would be to ask for.
    fn request(&self) -> RequestInfo {
        RequestInfo {
            is_resource: true,
            verb: "impersonate",
            group: Str::new(self.group),
            resource: Str::new(self.resource),
            namespace: Str::new(&self.namespace),
            name: Str::new(&self.name),
            subresource: Str::new(&self.key),
            ..RequestInfo::default()
        }
    }

    /// As Go prints the reference: kind, namespace, name, uid, version, resource version, path.
    fn shown(&self) -> String {
        let version = if self.group.is_empty() { "" } else { "authentication.k8s.io/v1" };
        let mut out = String::new();
        let Identity { kind, namespace, name, key, .. } = self;
        write!(out, "{{{kind} {namespace} {name}  {version}  {key}}}").expect("a string grows");
        out
    }
}

/// All that the headers name, in the order in which it is asked for.
fn wanted(headers: &HeaderMap) -> Vec<Identity> {
    let texts = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    };
    let first = |name: &str| texts(name).into_iter().next().filter(|text| !text.is_empty());
    let mut wanted = Vec::new();
    wanted.extend(first(USER).map(user_identity));
    let group = |name| Identity { kind: "Group", resource: "groups", name, ..Identity::default() };
    wanted.extend(texts(GROUP).into_iter().map(group));
    for header in headers.keys() {
        let Some(key) = header.as_str().strip_prefix(EXTRA) else {
            continue;
        };
        let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
        wanted.extend(texts(header.as_str()).into_iter().map(|name| Identity {
            kind: "UserExtra",
            group: AUTHENTICATION,
            resource: "userextras",
            name,
            key: key.clone(),
            ..Identity::default()
        }));
    }
    wanted.extend(first(UID).map(|name| Identity {
        kind: "UID",
        group: AUTHENTICATION,
        resource: "uids",
        name,
        ..Identity::default()
    }));
    wanted
}

fn user_identity(name: String) -> Identity {
    let parts = name.strip_prefix(SERVICE_ACCOUNT).and_then(|rest| rest.split_once(':'));
    match parts {
        Some((namespace, account))
            if dns_label(namespace).is_empty() && dns_subdomain(account).is_empty() =>
        {
            Identity {
                kind: "ServiceAccount",
                resource: "serviceaccounts",
                namespace: namespace.to_owned(),
                name: account.to_owned(),
                ..Identity::default()
            }
        }
        _ => Identity { kind: "User", resource: "users", name, ..Identity::default() },
    }
}

fn become_user(wanted: &[Identity]) -> User {
    let mut user = User::default();
    let mut extra = Value::Map(orlop_machinery::value::Map::new());
    let names_groups = wanted.iter().any(|identity| identity.kind == "Group");
    for Identity { kind, namespace, name, key, .. } in wanted {
        match *kind {
            "ServiceAccount" => {
                user.name = Str::from(format!("{SERVICE_ACCOUNT}{namespace}:{name}"));
                if !names_groups {
                    let of_namespace = format!("{SERVICE_ACCOUNTS}:{namespace}");
                    user.groups = vec![Str::const_new(SERVICE_ACCOUNTS), Str::from(of_namespace)];
                }
            }
            "User" => user.name = Str::new(name),
            "Group" => user.groups.push(Str::new(name)),
            "UID" => user.uid = Str::new(name),
            _ => {
                let mut values = extra.at(key).list().to_vec();
                values.push(Value::from(name.as_str()));
                extra.set(key, Value::from(values));
            }
        }
    }
    if !extra.is_empty() {
        user.extra = extra;
    }
    let (own, excluded): (_, &[&str]) = match user.name.as_str() {
        ANONYMOUS => (UNAUTHENTICATED, &[UNAUTHENTICATED]),
        _ => (AUTHENTICATED, &[AUTHENTICATED, UNAUTHENTICATED]),
    };
    if !excluded.iter().any(|group| user.is_in(group)) {
        user.groups.push(Str::const_new(own));
    }
    user
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::MASTERS;

    fn ask(groups: &[&'static str], headers: &[(&'static str, &str)]) -> Result<User, Status> {
        let groups = groups.iter().map(|group| Str::const_new(group)).collect();
        let user = User { name: Str::const_new("x"), groups, ..User::default() };
        let headers = headers.iter().map(|(name, value)| {
            (name.parse().expect("a header"), value.parse().expect("a value"))
        });
        impersonate(user, &headers.collect())
    }

    fn check(headers: &[(&'static str, &str)], name: &str, groups: &[&str]) {
        let user = ask(&[MASTERS], headers).expect("masters may");
        assert_eq!(user.name, *name);
        assert_eq!(user.groups, groups.iter().map(|group| Str::new(group)).collect::<Vec<_>>());
    }

    #[test]
    fn masters_may_be_everybody() {
        check(&[], "x", &[MASTERS]);
        check(&[(USER, "a")], "a", &[AUTHENTICATED]);
        check(&[(USER, ANONYMOUS)], ANONYMOUS, &[UNAUTHENTICATED]);
        check(&[(USER, "a"), (GROUP, UNAUTHENTICATED)], "a", &[UNAUTHENTICATED]);
        let account = "system:serviceaccount:shop:robot";
        let of_account = [SERVICE_ACCOUNTS, "system:serviceaccounts:shop", AUTHENTICATED];
        check(&[(USER, account)], account, &of_account);
        check(&[(USER, account), (GROUP, "g")], account, &["g", AUTHENTICATED]);
        check(
            &[(USER, "system:serviceaccount:A:b")],
            "system:serviceaccount:A:b",
            &[AUTHENTICATED],
        );
    }

    #[test]
    fn the_rest_of_a_user_comes_along() {
        let extra = "impersonate-extra-example.test%2fscope";
        let user = ask(&[MASTERS], &[(USER, "a"), (UID, "7"), (extra, "one"), (extra, "two")]);
        let user = user.expect("masters may");
        assert_eq!(user.uid, "7");
        let scopes = Value::from(vec![Value::from("one"), Value::from("two")]);
        assert_eq!(*user.extra.at("example.test/scope"), scopes);
    }

    #[test]
    fn others_may_not_be_anybody() {
        let status = ask(&[AUTHENTICATED], &[(USER, "a")]).expect_err("no right");
        let why = "users \"a\" is forbidden: User \"x\" cannot impersonate resource \"users\" in \
                   API group \"\" at the cluster scope";
        assert_eq!((status.code, status.message.as_str()), (403, why));
    }

    #[test]
    fn groups_without_a_user_are_nobody() {
        let status = ask(&[MASTERS], &[(GROUP, "g"), (UID, "7")]).expect_err("no user");
        let why = "requested [{Group  g    } {UID  7  authentication.k8s.io/v1  }] without \
                   impersonating a user";
        assert_eq!((status.code, status.message.as_str()), (400, why));
    }
}
