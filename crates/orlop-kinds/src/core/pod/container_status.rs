//! How the containers of a pod are.
//!
//! After `ValidateContainerStateTransition`, `validateContainerStatusUsers` and
//! `validateContainerStatusAllocatedResourcesStatus` in
//! `pkg/apis/core/validation/validation.go`, and `ContainerShouldRestart` in
//! `pkg/api/v1/pod/util.go`. As upstream, a status may be of a container that the pod does not
//! have, and there may be several of one.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Value, names};

use crate::rules::scalar::validate_number;

/// The fields of a status that tell of containers.
pub(super) const LISTS: [&str; 3] =
    ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

const EPHEMERAL: &str = LISTS[2];
/// With the fields of a spec that hold those containers.
const OF_WORK: [(&str, &str); 2] =
    [("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")];

const HEALTH: &[&str] = &["Healthy", "Unhealthy", "Unknown"];
const HEALTH_MESSAGE_MAX: usize = 1024;

/// A container that has ended and does not restart stays ended.
pub(super) fn validate_transitions(
    status: &Node<'_>,
    old_status: &Value,
    spec: &Value,
    errors: &mut Errors,
) {
    if !restarts_as_a_whole(spec) {
        for (list, containers) in OF_WORK {
            let containers = by_name(spec.at(containers));
            let may_restart = |name: &str, exit_code| {
                containers.get(name).is_some_and(|found| restarts(found, spec, exit_code))
            };
            validate_ended(&status.at(list), old_status.at(list), may_restart, errors);
        }
    }
    validate_ended(&status.at(EPHEMERAL), old_status.at(EPHEMERAL), |_, _| false, errors);
}

fn validate_ended(
    statuses: &Node<'_>,
    old_statuses: &Value,
    may_restart: impl Fn(&str, i64) -> bool,
    errors: &mut Errors,
) {
    let is_ended = |status: &&Value| !status.path(&["state", "terminated"]).is_null();
    let going: BTreeSet<&str> = statuses
        .list()
        .iter()
        .filter(|status| !is_ended(status))
        .map(|status| status.at("name").str())
        .collect();
    for (index, old) in old_statuses.list().iter().enumerate().filter(|(_, old)| is_ended(old)) {
        let name = old.at("name").str();
        let exit_code = old.path(&["state", "terminated", "exitCode"]).int();
        if going.contains(name) && !may_restart(name, exit_code) {
            let at = statuses.path().index(index);
            let detail = "may not be transitioned to non-terminated state";
            errors.forbidden(&at.child("state"), detail);
        }
    }
}

/// Whether the end of a container can make all of them restart.
fn restarts_as_a_whole(spec: &Value) -> bool {
    let containers = OF_WORK.iter().flat_map(|(_, list)| spec.at(list).list());
    let mut rules = containers.flat_map(|container| container.at("restartPolicyRules").list());
    rules.any(|rule| rule.at("action").str() == "RestartAllContainers")
}

/// Whether a container restarts after it ended: by its rules, by its policy, or by the pod's.
fn restarts(container: &Value, spec: &Value, exit_code: i64) -> bool {
    let own = container.at("restartPolicy").str();
    let has_policy = !container.at("restartPolicy").is_null();
    let rule = container.at("restartPolicyRules").list().iter().find(|rule| {
        let exit_codes = rule.at("exitCodes");
        let is_listed = exit_codes.at("values").list().iter().any(|code| code.int() == exit_code);
        match exit_codes.at("operator").str() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            _ => false,
        }
    });
    let action = rule.map_or("", |rule| rule.at("action").str());
    if has_policy && matches!(action, "Restart" | "RestartAllContainers") {
        return true;
    }
    let policy = match own {
        "Always" | "OnFailure" | "Never" => own,
        _ => spec.at("restartPolicy").str(),
    };
    match policy {
        "OnFailure" => exit_code != 0,
        "Never" => false,
        _ => true,
    }
}

/// Who runs in containers, on systems that know such numbers.
pub(super) fn validate_users(status: &Node<'_>, spec: &Value, errors: &mut Errors) {
    let os = spec.get("os").map_or("linux", |os| os.at("name").str());
    for list in LISTS {
        for container in status.at(list).items() {
            let user = container.at("user");
            let linux = user.at("linux");
            match os {
                _ if !linux.is_set() => {}
                "windows" => errors.forbidden(&linux, "cannot be set for a windows pod"),
                "linux" => validate_linux_user(&linux, errors),
                _ => {}
            }
        }
    }
}

fn validate_linux_user(user: &Node<'_>, errors: &mut Errors) {
    validate_number(&user.at("uid"), names::user_id, errors);
    validate_number(&user.at("gid"), names::group_id, errors);
    for group in user.at("supplementalGroups").items() {
        validate_number(&group, names::group_id, errors);
    }
}

/// How the resources are that containers got: those that they asked for.
pub(super) fn validate_allocated_resources(status: &Node<'_>, spec: &Value, errors: &mut Errors) {
    for (list, containers) in OF_WORK {
        let containers = by_name(spec.at(containers));
        for container_status in status.at(list).items() {
            let container = containers.get(container_status.at("name").str());
            let asked_for = container.map(|container| AskedFor::of(container));
            for resource in container_status.at("allocatedResourcesStatus").items() {
                if let Some(asked_for) = &asked_for {
                    asked_for.validate(&resource.at("name"), errors);
                }
                validate_health(&resource.at("resources"), errors);
            }
        }
    }
    for container_status in status.at(EPHEMERAL).items() {
        let resources = container_status.at("allocatedResourcesStatus");
        if !resources.is_empty() {
            errors.forbidden(&resources, "must not be specified in container status");
        }
    }
}

/// What a container asks for.
struct AskedFor<'a> {
    requests: &'a Map,
    /// `claim`, or `claim/request` for a part of it.
    claims: BTreeSet<String>,
}

impl<'a> AskedFor<'a> {
    fn of(container: &'a Value) -> AskedFor<'a> {
        let resources = container.at("resources");
        let name = |claim: &Value| match (claim.at("name").str(), claim.at("request").str()) {
            (name, "") => name.to_owned(),
            (name, request) => format!("{name}/{request}"),
        };
        let claims = resources.at("claims").list().iter().map(name).collect();
        AskedFor { requests: resources.at("requests").map(), claims }
    }

    fn validate(&self, name: &Node<'_>, errors: &mut Errors) {
        let (is_found, detail) = match name.str().strip_prefix("claim:") {
            Some(claim) => (
                self.claims.contains(claim),
                "must match one of the container's resource claims in a format \
                 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
            ),
            None => (
                self.requests.contains_key(name.str()),
                "must match one of the container's resource requests",
            ),
        };
        if !is_found {
            errors.invalid(name, detail);
        }
    }
}

fn validate_health(resources: &Node<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for resource in resources.items() {
        let (health, message) = (resource.at("health"), resource.at("message"));
        if !HEALTH.contains(&health.str()) {
            errors.not_supported(&health, HEALTH);
        }
        if message.is_set() && message.str().is_empty() {
            errors.required(&message, "must be non-empty if specified");
        } else if message.str().len() > HEALTH_MESSAGE_MAX {
            errors.too_long(&message, HEALTH_MESSAGE_MAX);
        }
        if !known.insert(resource.value().at("resourceID").str()) {
            errors.duplicate(&resource.at("resourceID"));
        }
    }
}

/// The first of each name.
fn by_name(containers: &Value) -> BTreeMap<&str, &Value> {
    let mut found = BTreeMap::new();
    for container in containers.list() {
        found.entry(container.at("name").str()).or_insert(container);
    }
    found
}
