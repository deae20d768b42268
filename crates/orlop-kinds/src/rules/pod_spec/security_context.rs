//! What a pod and its containers may do to their host, and as whom they run.
//!
//! After `validatePodSpecSecurityContext` and `ValidateSecurityContext` in
//! `pkg/apis/core/validation/validation.go`, and `component-helpers/node/util/sysctl`. Privileged
//! containers are let through, as in every cluster whose API server runs with
//! `--allow-privileged`: keeping them out is the business of Pod Security.

use std::borrow::Cow;
use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::{PodOptions, windows};
use crate::rules::local_path::validate_local_descending_path;
use crate::rules::scalar::{validate_choice, validate_number};

const PROFILE_TYPES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined"];

/// The longest path of a file, without its end.
const APP_ARMOR_PROFILE_MAX: usize = 4095;

const SYSCTL_MAX: usize = 253;
const SYSCTL_REGEX: &str =
    r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// Sysctls of the IPC namespace, besides those below `fs.mqueue`.
const IPC_SYSCTLS: &[&str] = &[
    "kernel.msg",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.sem",
    "kernel.shm",
    "kernel.shm_rmid_forced",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
];

/// The security context of a pod.
pub(super) fn validate_pod(spec: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    let context = spec.at("securityContext");
    validate_number(&context.at("fsGroup"), names::group_id, errors);
    validate_number(&context.at("runAsUser"), names::user_id, errors);
    validate_number(&context.at("runAsGroup"), names::group_id, errors);
    for group in context.at("supplementalGroups").items() {
        validate_number(&group, names::group_id, errors);
    }
    if spec.at("shareProcessNamespace").bool() && spec.at("hostPID").bool() {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid_value(&context.path().child("shareProcessNamespace"), true, detail);
    }
    validate_sysctls(spec, options, errors);
    let policies = &["Always", "OnRootMismatch"];
    validate_choice(&context.at("fsGroupChangePolicy"), policies, errors);
    validate_seccomp_profile(&context.at("seccompProfile"), errors);
    windows::validate_options(&context.at("windowsOptions"), errors);
    validate_app_armor_profile(&context.at("appArmorProfile"), errors);
    let policies = &["Merge", "Strict"];
    validate_choice(&context.at("supplementalGroupsPolicy"), policies, errors);
    let policies: &[&str] = match options.allow_all_se_linux_change_policies {
        true => &["MountOption", "Recursive"],
        false => &["Recursive"],
    };
    validate_choice(&context.at("seLinuxChangePolicy"), policies, errors);
}

/// The security context of a container. `host_users` tells whether users inside are users of the
/// host.
pub(super) fn validate_container(context: &Node<'_>, host_users: bool, errors: &mut Errors) {
    if !context.is_set() {
        return;
    }
    validate_number(&context.at("runAsUser"), names::user_id, errors);
    validate_number(&context.at("runAsGroup"), names::group_id, errors);
    let proc_mount = context.at("procMount");
    validate_choice(&proc_mount, &["Default", "Unmasked"], errors);
    if host_users && proc_mount.str() == "Unmasked" {
        errors.invalid(&proc_mount, "`hostUsers` must be false to use `Unmasked`");
    }
    validate_seccomp_profile(&context.at("seccompProfile"), errors);
    validate_privilege_escalation(context, errors);
    windows::validate_options(&context.at("windowsOptions"), errors);
    validate_app_armor_profile(&context.at("appArmorProfile"), errors);
}

/// Why a pod that shares a namespace with its host may not set a sysctl of that namespace.
pub(super) fn reason_against_sysctl_of_host(sysctl: &str, spec: &Value) -> Option<&'static str> {
    let name = with_dots(sysctl);
    let name = name.split_once('*').map_or(name.as_ref(), |(prefix, _)| prefix);
    let is_ipc = IPC_SYSCTLS.contains(&name) || name.starts_with("fs.mqueue.");
    if spec.at("hostNetwork").bool() && name.starts_with("net.") {
        Some("may not be specified when 'hostNetwork' is true")
    } else if spec.at("hostIPC").bool() && is_ipc {
        Some("may not be specified when 'hostIPC' is true")
    } else {
        None
    }
}

fn validate_sysctls(spec: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    let context = spec.at("securityContext");
    let sysctls = context.at("sysctls");
    let mut known = BTreeSet::new();
    for sysctl in sysctls.items() {
        let name = sysctl.at("name");
        let is_new = known.insert(sysctl.value().at("name").str());
        if name.is_empty() {
            errors.required(&name, "");
        } else if !is_sysctl_name(name.str()) {
            let detail =
                format!("must have at most {SYSCTL_MAX} characters and match regex {SYSCTL_REGEX}");
            errors.invalid(&name, detail);
        } else if !is_new {
            errors.duplicate(&name);
        }
        if options.allow_namespaced_sysctls_of_host {
            continue;
        }
        if let Some(reason) = reason_against_sysctl_of_host(name.str(), spec.value()) {
            errors.invalid(&name, reason);
        }
    }
}

/// Words of small letters, digits, dashes and underscores, with dots or slashes between them.
fn is_sysctl_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_inside = |byte: u8| is_letter(byte) || matches!(byte, b'-' | b'_');
    let is_word = |word: &str| {
        let ends = [word.bytes().next(), word.bytes().next_back()];
        ends.into_iter().all(|end| end.is_some_and(is_letter)) && word.bytes().all(is_inside)
    };
    name.len() <= SYSCTL_MAX && name.split(['.', '/']).all(is_word)
}

/// A name may be written with slashes for dots, and then with dots for slashes.
fn with_dots(name: &str) -> Cow<'_, str> {
    match name.find(['.', '/']) {
        Some(at) if name.as_bytes()[at] == b'/' => {
            let turned = name.chars().map(|c| match c {
                '.' => '/',
                '/' => '.',
                c => c,
            });
            Cow::Owned(turned.collect())
        }
        _ => Cow::Borrowed(name),
    }
}

fn validate_seccomp_profile(profile: &Node<'_>, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let (kind, file) = (profile.at("type"), profile.at("localhostProfile"));
    validate_profile_type(&kind, "type is required when seccompProfile is set", errors);
    if kind.str() == "Localhost" {
        if file.is_set() {
            validate_local_descending_path(&file, errors);
        } else {
            errors.required(&file, "must be set when seccomp type is Localhost");
        }
    } else if file.is_set() {
        let detail = "can only be set when seccomp type is Localhost";
        errors.invalid_value(&file, profile.value().clone(), detail);
    }
}

/// What confines the programs of a container by AppArmor.
pub(super) fn validate_app_armor_profile(profile: &Node<'_>, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let (kind, file) = (profile.at("type"), profile.at("localhostProfile"));
    match kind.str() {
        "Localhost" => {
            let trimmed = file.str().trim();
            if file.str() != trimmed {
                errors.invalid(&file, "must not be padded with whitespace");
            } else if trimmed.is_empty() {
                errors.required(&file, "must be set when AppArmor type is Localhost");
            }
            if file.str().len() > APP_ARMOR_PROFILE_MAX {
                errors.too_long(&file, APP_ARMOR_PROFILE_MAX);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if file.is_set() {
                errors.invalid(&file, "can only be set when AppArmor type is Localhost");
            }
        }
        _ => validate_profile_type(&kind, "type is required when appArmorProfile is set", errors),
    }
}

fn validate_profile_type(kind: &Node<'_>, when_missing: &str, errors: &mut Errors) {
    match kind.str() {
        "" => errors.required(kind, when_missing),
        known if PROFILE_TYPES.contains(&known) => {}
        _ => errors.not_supported(kind, PROFILE_TYPES),
    }
}

/// Who may gain nothing cannot have everything already.
fn validate_privilege_escalation(context: &Node<'_>, errors: &mut Errors) {
    if context.at("allowPrivilegeEscalation").value().as_bool() != Some(false) {
        return;
    }
    if context.at("privileged").bool() {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.invalid(context, detail);
    }
    let mut added = context.value().path(&["capabilities", "add"]).list().iter();
    if added.any(|capability| capability.str() == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` \
                      CAP_SYS_ADMIN";
        errors.invalid(context, detail);
    }
}

#[cfg(test)]
mod tests {
    use orlop_machinery::field::Path;

    use super::*;

    #[test]
    fn names_of_sysctls_have_words_with_dots_or_slashes_between_them() {
        for name in ["a", "kernel.shm_rmid_forced", "net/ipv4/conf/eth0.1/x", "a-b.c_d"] {
            assert!(is_sysctl_name(name), "{name}");
        }
        let long = "a".repeat(SYSCTL_MAX + 1);
        for name in ["", ".", "a.", ".a", "a..b", "A", "_a", "a-", "a*", &long] {
            assert!(!is_sysctl_name(name), "{name}");
        }
    }

    #[test]
    fn names_of_app_armor_profiles_are_not_too_long() {
        let check = |length: usize, expect: &str| {
            let name = "a".repeat(length);
            let profile: Value = [("type", "Localhost"), ("localhostProfile", &name)].into();
            let mut errors = Errors::new();
            validate_app_armor_profile(&Node::new(&profile, Path::root()), &mut errors);
            assert_eq!(errors.to_string().trim_end(), expect);
        };
        check(4095, "");
        check(4096, "localhostProfile: Too long: may not be more than 4095 bytes");
    }
}
