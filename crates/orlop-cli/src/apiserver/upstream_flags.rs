//! Flags of upstream that are taken as far as they mean what the server does anyway.
//!
//! kubeadm, kind and envtest pass them, so their command lines work. A value that would change
//! something is refused: whoever sets it counts on it. What only opens a door that stays shut here
//! (roles, tokens) is taken, and the log says that it is shut. `docs/guides/apiserver-flags.md`
//! lists all of them.

use std::path::{Path, PathBuf};

/// Steps of admission that upstream has, but for those that are always on here.
const ADMISSION_PLUGINS: [&str; 40] = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "CertificateApproval",
    "CertificateSigning",
    "CertificateSubjectRestriction",
    "ClusterTrustBundleAttest",
    "DefaultIngressClass",
    "DefaultStorageClass",
    "DefaultTolerationSeconds",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "JobValidation",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "NodeDeclaredFeatureValidator",
    "NodeRestriction",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "PodGroupProtection",
    "PodGroupWorkloadExists",
    "PodNodeSelector",
    "PodResizeValidator",
    "PodSecurity",
    "PodTolerationRestriction",
    "PodTopologyLabels",
    "Priority",
    "ResourceQuota",
    "RuntimeClass",
    "ServiceAccount",
    "StorageObjectInUseProtection",
    "TaintNodesByCondition",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
];

#[derive(clap::Args)]
#[command(next_help_heading = "Flags of kube-apiserver that are taken for its sake")]
pub(super) struct UpstreamFlags {
    /// Pods may be privileged; only true is supported
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = ["true"])]
    allow_privileged: Option<String>,
    /// Whoever says nothing about himself is anonymous; only true is supported
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = ["true"])]
    anonymous_auth: Option<String>,
    /// Who decides what a user may do. Roles have no effect yet: only members of system:masters
    /// may do anything
    #[arg(long, value_name = "MODES", value_delimiter = ',', value_parser = ["Node", "RBAC"])]
    authorization_mode: Vec<String>,
    /// Steps of admission to run besides the usual ones. NamespaceLifecycle always runs, and
    /// NodeRestriction has nothing to restrict as long as nodes may do nothing
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    #[arg(value_parser = ["NamespaceLifecycle", "NodeRestriction"])]
    enable_admission_plugins: Vec<String>,
    /// Steps of admission not to run: any that upstream has, except NamespaceLifecycle
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_plugin)]
    disable_admission_plugins: Vec<String>,
    /// Who issues tokens of service accounts; none are issued yet
    #[arg(long, value_name = "ISSUER")]
    service_account_issuer: Vec<String>,
    /// What tokens of service accounts are verified with; none are believed yet
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    service_account_key_file: Vec<PathBuf>,
    /// What tokens of service accounts are signed with; none are issued yet
    #[arg(long, value_name = "FILE")]
    service_account_signing_key_file: Option<PathBuf>,
    /// Tokens of nodes that join are believed; none are believed yet
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true")]
    enable_bootstrap_token_auth: Option<bool>,
    /// The certificate to show to nodes; none is shown yet
    #[arg(long, value_name = "FILE")]
    kubelet_client_certificate: Option<PathBuf>,
    /// The key of --kubelet-client-certificate
    #[arg(long, value_name = "FILE")]
    kubelet_client_key: Option<PathBuf>,
    /// Which addresses of nodes to try, in this order
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    #[arg(value_parser = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"])]
    kubelet_preferred_address_types: Vec<String>,
    /// The certificate to show to servers of other APIs; none are asked yet
    #[arg(long, value_name = "FILE")]
    proxy_client_cert_file: Option<PathBuf>,
    /// The key of --proxy-client-cert-file
    #[arg(long, value_name = "FILE")]
    proxy_client_key_file: Option<PathBuf>,
    /// How the server becomes an endpoint of the kubernetes service; only lease is supported
    #[arg(long, value_name = "TYPE", value_parser = ["lease"])]
    endpoint_reconciler_type: Option<String>,
    /// Profiles over HTTP; only false is supported
    #[arg(long, value_name = "BOOL", require_equals = true, value_parser = ["false"])]
    profiling: Option<String>,
    /// Versions of APIs to turn on or off; only none is supported
    #[arg(long, value_name = "NONE", require_equals = true, value_parser = [""])]
    runtime_config: Option<String>,
    /// What keeps the objects; only etcd3 is supported
    #[arg(long, value_name = "BACKEND", value_parser = ["etcd3"])]
    storage_backend: Option<String>,
    /// The lowest version of TLS; only VersionTLS12 is supported
    #[arg(long, value_name = "VERSION", value_parser = ["VersionTLS12"])]
    tls_min_version: Option<String>,
}

impl UpstreamFlags {
    /// The files that are named; upstream does not start without them.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let single = [
            &self.service_account_signing_key_file,
            &self.kubelet_client_certificate,
            &self.kubelet_client_key,
            &self.proxy_client_cert_file,
            &self.proxy_client_key_file,
        ];
        let single = single.into_iter().flatten();
        self.service_account_key_file.iter().chain(single).map(PathBuf::as_path)
    }

    /// What has no effect although it was asked for.
    pub(super) fn without_effect(&self) -> Vec<&'static str> {
        let signs = !self.service_account_issuer.is_empty()
            || !self.service_account_key_file.is_empty()
            || self.service_account_signing_key_file.is_some();
        let all = [
            (
                !self.authorization_mode.is_empty(),
                "--authorization-mode: only members of system:masters may do anything",
            ),
            (signs, "--service-account-*: tokens are neither issued nor believed"),
            (
                self.enable_bootstrap_token_auth == Some(true),
                "--enable-bootstrap-token-auth: tokens are not believed",
            ),
            (
                self.kubelet_client_certificate.is_some(),
                "--kubelet-client-certificate: it is not shown to nodes",
            ),
            (
                !self.kubelet_preferred_address_types.is_empty(),
                "--kubelet-preferred-address-types: nodes are tried at their usual addresses",
            ),
            (
                self.proxy_client_cert_file.is_some(),
                "--proxy-client-cert-file: servers of other APIs are not asked",
            ),
        ];
        all.into_iter().filter_map(|(is_set, text)| is_set.then_some(text)).collect()
    }
}

/// The name of a step of admission that does not run here.
fn parse_plugin(name: &str) -> Result<String, String> {
    match name {
        "NamespaceLifecycle" => Err("NamespaceLifecycle always runs".to_owned()),
        known if ADMISSION_PLUGINS.contains(&known) => Ok(known.to_owned()),
        unknown => Err(format!("unknown admission plugin {unknown:?}")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        flags: UpstreamFlags,
    }

    /// The number of flags without effect, or none if the flags are refused.
    fn check(line: &str, expect: Option<usize>) {
        let parsed = Command::try_parse_from(["kube-apiserver"].into_iter().chain(line.split(' ')));
        let found = parsed.ok().map(|command| command.flags.without_effect().len());
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn what_means_nothing_else_is_taken() {
        check("--allow-privileged", Some(0));
        check("--allow-privileged=true --anonymous-auth=true --profiling=false", Some(0));
        check("--disable-admission-plugins=ServiceAccount,Priority", Some(0));
        check("--enable-admission-plugins=NodeRestriction", Some(0));
        check("--storage-backend=etcd3 --endpoint-reconciler-type=lease", Some(0));
        check("--runtime-config= --tls-min-version=VersionTLS12", Some(0));
        check("--authorization-mode=Node,RBAC --enable-bootstrap-token-auth=true", Some(2));
        check("--service-account-issuer=a --service-account-key-file=b", Some(1));
    }

    #[test]
    fn what_would_change_something_is_refused() {
        for line in [
            "--allow-privileged=false",
            "--anonymous-auth=false",
            "--profiling=true",
            "--authorization-mode=AlwaysAllow",
            "--authorization-mode=RBAC,Webhook",
            "--disable-admission-plugins=NamespaceLifecycle",
            "--disable-admission-plugins=Invented",
            "--enable-admission-plugins=PodSecurity",
            "--endpoint-reconciler-type=none",
            "--runtime-config=api/all=true",
            "--storage-backend=etcd2",
            "--tls-min-version=VersionTLS13",
        ] {
            check(line, None);
        }
    }
}
