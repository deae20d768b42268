//! What pods of Windows and pods of Linux can have that the others cannot.
//!
//! After `validateWindowsSecurityContextOptions`, `validateWindowsHostProcessPod`, `validateOS`,
//! `validateLinux` and `validateWindows` in `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::visit::for_each_container;
use crate::rules::scalar::validate_text;

const CREDENTIAL_SPEC_MAX_KIB: usize = 64;
const DOMAIN_MAX: usize = 256;
const USER_MAX: usize = 104;

const NOT_FOR_LINUX: &str = "windows options cannot be set for a linux pod";
const NOT_FOR_WINDOWS: &str = "cannot be set for a windows pod";

/// What a pod of Windows cannot have; true for fields of its security context.
const NOT_IN_WINDOWS_PODS: &[(bool, &str)] = &[
    (true, "appArmorProfile"),
    (true, "seLinuxOptions"),
    (false, "hostUsers"),
    (false, "hostPID"),
    (false, "hostIPC"),
    (true, "seccompProfile"),
    (true, "fsGroup"),
    (true, "fsGroupChangePolicy"),
    (true, "sysctls"),
    (false, "shareProcessNamespace"),
    (true, "runAsUser"),
    (true, "runAsGroup"),
    (true, "supplementalGroups"),
    (true, "supplementalGroupsPolicy"),
    (true, "seLinuxChangePolicy"),
];

/// What the security context of a container of Windows cannot have.
const NOT_IN_WINDOWS_CONTAINERS: &[&str] = &[
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// The options of Windows in a security context; options that are not set are fine.
pub(super) fn validate_options(options: &Node<'_>, errors: &mut Errors) {
    let name = options.at("gmsaCredentialSpecName");
    if name.is_set() {
        validate_text(&name, names::dns_subdomain, errors);
    }
    let spec = options.at("gmsaCredentialSpec");
    if spec.is_set() && spec.str().is_empty() {
        errors.invalid(&spec, "gmsaCredentialSpec cannot be an empty string");
    } else if spec.str().len() > CREDENTIAL_SPEC_MAX_KIB * 1024 {
        let detail = format!("gmsaCredentialSpec size must be under {CREDENTIAL_SPEC_MAX_KIB} KiB");
        errors.invalid(&spec, detail);
    }
    let user = options.at("runAsUserName");
    if user.is_set() {
        for detail in problems_of_user_name(user.str()) {
            errors.invalid(&user, detail);
        }
    }
}

/// Containers that are processes of the host: all of a pod or none, and in the host's network.
pub(super) fn validate_host_process(spec: &Node<'_>, errors: &mut Errors) {
    let path = ["securityContext", "windowsOptions", "hostProcess"];
    let of_pod = spec.value().path(&path).as_bool();
    let (mut count, mut host_process_count) = (0, 0);
    for_each_container(spec, |container| {
        count += 1;
        let own = container.value().path(&path).as_bool();
        if let (Some(of_pod), Some(own)) = (of_pod, own)
            && of_pod != own
        {
            let detail = format!(
                "pod hostProcess value must be identical if both are specified, was {of_pod}"
            );
            let context = container.at("securityContext");
            let options = context.at("windowsOptions");
            errors.invalid(&options.at("hostProcess"), detail);
        }
        if own.or(of_pod) == Some(true) {
            host_process_count += 1;
        }
    });
    if host_process_count == 0 {
        return;
    }
    if host_process_count != count {
        let detail = "If pod contains any hostProcess containers then all containers must be \
                      HostProcess containers";
        errors.invalid_value(spec, "", detail);
    }
    let host_network = spec.at("hostNetwork");
    if !host_network.bool() {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid(&host_network, detail);
    }
}

/// The operating system, if the spec says, and what only others have.
pub(super) fn validate_os(spec: &Node<'_>, errors: &mut Errors) {
    let os = spec.at("os");
    if !os.is_set() {
        return;
    }
    match os.at("name").str() {
        "" => errors.required(&os.at("name"), ""),
        "linux" => validate_linux(spec, errors),
        "windows" => validate_windows(spec, errors),
        other => errors.not_supported_value(&os, other, &["linux", "windows"]),
    }
}

fn validate_linux(spec: &Node<'_>, errors: &mut Errors) {
    forbid(&spec.at("securityContext"), &["windowsOptions"], NOT_FOR_LINUX, errors);
    for_each_container(spec, |container| {
        forbid(&container.at("securityContext"), &["windowsOptions"], NOT_FOR_LINUX, errors);
    });
}

fn validate_windows(spec: &Node<'_>, errors: &mut Errors) {
    let context = spec.at("securityContext");
    for (is_in_context, field) in NOT_IN_WINDOWS_PODS {
        let owner = if *is_in_context { &context } else { spec };
        forbid(owner, &[field], NOT_FOR_WINDOWS, errors);
    }
    for_each_container(spec, |container| {
        let context = container.at("securityContext");
        forbid(&context, NOT_IN_WINDOWS_CONTAINERS, NOT_FOR_WINDOWS, errors);
    });
}

fn forbid(owner: &Node<'_>, fields: &[&str], detail: &str, errors: &mut Errors) {
    for field in fields {
        let value = owner.at(field);
        if value.is_set() {
            errors.forbidden(&value, detail);
        }
    }
}

/// `DOMAIN\USER` or `USER`.
fn problems_of_user_name(name: &str) -> Vec<String> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string".into()];
    }
    if name.chars().any(|c| c.is_ascii_control()) {
        return vec!["runAsUserName cannot contain control characters".into()];
    }
    let (domain, user) = match name.split_once('\\') {
        Some((_, user)) if user.contains('\\') => {
            return vec!["runAsUserName cannot contain more than one backslash".into()];
        }
        Some((domain, user)) => (Some(domain), user),
        None => (None, name),
    };
    let mut problems = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= DOMAIN_MAX) {
        problems
            .push(format!("runAsUserName's Domain length must be under {DOMAIN_MAX} characters"));
    }
    if domain.is_some_and(|domain| !is_net_bios_name(domain) && !is_dns_name(domain)) {
        let text = "runAsUserName's Domain doesn't match the NetBios nor the DNS format";
        problems.push(text.into());
    }
    if user.is_empty() {
        problems.push("runAsUserName's User cannot be empty".into());
    } else if user.len() > USER_MAX {
        let text = "runAsUserName's User length must not be longer than";
        problems.push(format!("{text} {USER_MAX} characters"));
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        problems.push("runAsUserName's User cannot contain only periods or spaces".into());
    }
    if user
        .contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']'])
    {
        let text =
            r#"runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]"#;
        problems.push(text.into());
    }
    problems
}

fn is_net_bios_name(name: &str) -> bool {
    let is_forbidden = |c| matches!(c, '\\' | '/' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    (1..=15).contains(&name.chars().count())
        && !name.starts_with('.')
        && !name.contains(is_forbidden)
}

fn is_dns_name(name: &str) -> bool {
    name.split('.').all(|label| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use orlop_machinery::Value;
    use orlop_machinery::field::Path;

    use super::*;

    fn check(field: &str, text: &str, expect: &[&str]) {
        let options: Value = [(field, text)].into();
        let mut errors = Errors::new();
        validate_options(&Node::new(&options, Path::root()), &mut errors);
        let details: Vec<&str> = errors.list().iter().map(|error| error.detail.as_str()).collect();
        assert_eq!(details, expect);
    }

    #[test]
    fn credentials_are_not_too_large() {
        check("gmsaCredentialSpec", &"a".repeat(64 * 1024), &[]);
        let expect = "gmsaCredentialSpec size must be under 64 KiB";
        check("gmsaCredentialSpec", &"a".repeat(64 * 1024 + 1), &[expect]);
    }

    #[test]
    fn names_of_users_are_not_too_long() {
        check("runAsUserName", &"a".repeat(104), &[]);
        let user = "runAsUserName's User length must not be longer than 104 characters";
        check("runAsUserName", &"a".repeat(105), &[user]);
        let label = "a".repeat(63);
        let domain = [label.as_str(); 4].join(".");
        check("runAsUserName", &format!("{domain}\\a"), &[]);
        let domain = format!("{domain}.a");
        let expect = "runAsUserName's Domain length must be under 256 characters";
        check("runAsUserName", &format!("{domain}\\a"), &[expect]);
    }

    #[test]
    fn a_net_bios_name_has_up_to_fifteen_letters() {
        for name in ["a", "NT AUTHORITY", "fifteen letters", "a.b"] {
            assert!(is_net_bios_name(name), "{name}");
        }
        for name in ["", ".a", "sixteen  letters", "a*", "a:b"] {
            assert!(!is_net_bios_name(name), "{name}");
        }
    }
}
