//! Which families of addresses a service has.
//!
//! After `initIPFamilyFields` in `pkg/registry/core/service/storage/alloc.go` and
//! `defaultOnReadIPFamilies` in `storage.go` beside it. Whether the addresses themselves are well
//! is said in [`cluster_ips`](super::super::cluster_ips).

use orlop_machinery::Value;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::names::{self, IpFamily};
use orlop_machinery::node::Node;
use orlop_machinery::value::NULL;

use super::super::cluster_ips::validate_cluster_ips;
use super::super::spec::{
    NO_ADDRESS, has_same, has_same_list, has_type, has_type_of_cluster,
    is_headless_without_selector,
};
use crate::schema;

/// The families of addresses that a cluster gives to services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterFamilies {
    /// What a service gets that does not say.
    pub default: IpFamily,
    /// Whether there are addresses of the other family too.
    pub is_dual_stack: bool,
}

/// Decides on the families of a service's addresses, and reports what the cluster cannot give.
#[must_use]
pub fn set_ip_families(
    service: &mut Value,
    old: Option<&Value>,
    cluster: ClusterFamilies,
) -> Errors {
    let mut errors = Errors::new();
    let old_spec = old.map_or(&NULL, |old| old.at("spec"));
    let spec = service.at("spec");
    if has_type(spec, "ExternalName") || (old.is_some() && keeps_preference(spec, old_spec)) {
        return errors;
    }
    set_policy(service.entry("spec"), old_spec);
    validate_cluster_ips(&node_of(service).at("spec"), old_spec, &mut errors);
    if !errors.is_empty() {
        return errors;
    }
    let spec = service.entry("spec");
    if old.is_some() {
        release_second(spec, old_spec, &mut errors);
    }
    validate_single_stack(spec, &mut errors);
    infer_families(spec, cluster, &mut errors);
    let may_have_any = is_headless_without_selector(spec);
    if errors.is_empty() && !may_have_any {
        validate_cluster_has(spec, cluster, &mut errors);
    }
    if errors.is_empty() {
        complete_families(spec, cluster, may_have_any);
    }
    errors
}

/// Gives a service its families that was stored before services had them.
pub(super) fn default_on_read(spec: &mut Value, default_family: IpFamily) {
    let (families, policy) = if spec.at("clusterIP").str() != NO_ADDRESS {
        let addresses = spec.at("clusterIPs").list().iter();
        let is_v6 = |address: &Value| names::family_of_ip(address.str()) == Some(IpFamily::V6);
        let families: Vec<&str> =
            addresses.map(|address| if is_v6(address) { "IPv6" } else { "IPv4" }).collect();
        let policy = match families.len() {
            1 => Some("SingleStack"),
            2 => Some("RequireDualStack"),
            _ => None,
        };
        (families, policy)
    } else if spec.at("selector").is_empty() {
        // Nobody knows what its endpoints are, so it may have both.
        let families = vec![name_of(default_family), other(name_of(default_family))];
        (families, Some("RequireDualStack"))
    } else {
        (vec![name_of(default_family)], Some("SingleStack"))
    };
    if !families.is_empty() {
        spec.set("ipFamilies", families);
    }
    if let Some(policy) = policy {
        spec.set("ipFamilyPolicy", policy);
    }
}

/// Whether it prefers two families, as before, and nothing else changed: then it keeps what it
/// has, even if the cluster has become another.
fn keeps_preference(spec: &Value, old: &Value) -> bool {
    let is_preferred = |policy: &Value| policy.str() == "PreferDualStack";
    let (policy, old_policy) = (spec.at("ipFamilyPolicy"), old.at("ipFamilyPolicy"));
    has_same(spec, old, "type")
        && has_type_of_cluster(spec)
        && is_preferred(policy)
        && (old_policy.is_null() || is_preferred(old_policy))
        && has_same_list(spec, old, "clusterIPs")
        && has_same_list(spec, old, "ipFamilies")
}

fn set_policy(spec: &mut Value, old: &Value) {
    let default = match old.at("ipFamilyPolicy") {
        Value::Null if is_headless_without_selector(spec) => "RequireDualStack".into(),
        Value::Null => "SingleStack".into(),
        policy => policy.clone(),
    };
    spec.set_default("ipFamilyPolicy", default);
}

/// Who asks for one family and changes nothing else gives the second address back. Who does not
/// ask for it cannot.
fn release_second(spec: &mut Value, old: &Value, errors: &mut Errors) {
    let is_single = spec.at("ipFamilyPolicy").str() == "SingleStack";
    for (field, what) in [("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")] {
        let (count, before) = (spec.at(field).list().len(), old.at(field).list().len());
        if is_single && count > 1 && has_same_list(spec, old, field) {
            spec.entry(field).make_list().truncate(1);
        } else if !is_single && count > 0 && count < before {
            let detail = format!("must be 'SingleStack' to release the secondary {what}");
            refuse_policy(spec, &detail, errors);
        }
    }
}

fn validate_single_stack(spec: &Value, errors: &mut Errors) {
    if spec.at("ipFamilyPolicy").str() != "SingleStack" {
        return;
    }
    for (field, what) in [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")] {
        if spec.at(field).list().len() == 2 {
            let detail = format!(
                "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
            );
            refuse_policy(spec, &detail, errors);
        }
    }
}

/// Addresses tell their families where those are not given.
fn infer_families(spec: &mut Value, cluster: ClusterFamilies, errors: &mut Errors) {
    let path = Path::field("spec");
    let addresses = spec.at("clusterIPs").clone();
    for (index, address) in addresses.list().iter().enumerate() {
        if index < spec.at("ipFamilies").list().len() {
            continue;
        }
        let Some(family) = names::family_of_ip(address.str()) else { break };
        if cluster.has(family) {
            spec.entry("ipFamilies").make_list().push(name_of(family).into());
        } else {
            let detail = format!("{} is not configured on this cluster", name_of(family));
            let field = path.child("clusterIPs");
            errors.invalid_value(&field.index(index), addresses.clone(), detail);
        }
    }
}

fn validate_cluster_has(spec: &Value, cluster: ClusterFamilies, errors: &mut Errors) {
    if spec.at("ipFamilyPolicy").str() == "RequireDualStack" && !cluster.is_dual_stack {
        refuse_policy(spec, "this cluster is not configured for dual-stack services", errors);
    }
    let path = Path::field("spec");
    let families = path.child("ipFamilies");
    for (index, family) in spec.at("ipFamilies").list().iter().enumerate() {
        if !family_named(family.str()).is_some_and(|family| cluster.has(family)) {
            let detail = "not configured on this cluster";
            errors.invalid_value(&families.index(index), family.clone(), detail);
        }
    }
}

/// The default family where there is none, and the other one where two are wanted.
fn complete_families(spec: &mut Value, cluster: ClusterFamilies, may_have_any: bool) {
    let wants_two = spec.at("ipFamilyPolicy").str() != "SingleStack";
    let families = spec.entry("ipFamilies").make_list();
    if families.is_empty() {
        families.push(name_of(cluster.default).into());
    }
    if let [only] = families.as_slice()
        && wants_two
        && (may_have_any || cluster.is_dual_stack)
    {
        let second = other(only.str());
        families.push(second.into());
    }
}

fn refuse_policy(spec: &Value, detail: &str, errors: &mut Errors) {
    let path = Path::field("spec");
    errors.invalid_value(&path.child("ipFamilyPolicy"), spec.at("ipFamilyPolicy").clone(), detail);
}

impl ClusterFamilies {
    fn has(self, family: IpFamily) -> bool {
        self.is_dual_stack || self.default == family
    }
}

fn name_of(family: IpFamily) -> &'static str {
    match family {
        IpFamily::V4 => "IPv4",
        IpFamily::V6 => "IPv6",
    }
}

/// A family by its name.
pub(super) fn family_named(name: &str) -> Option<IpFamily> {
    [IpFamily::V4, IpFamily::V6].into_iter().find(|family| name_of(*family) == name)
}

fn other(name: &str) -> &'static str {
    if name == "IPv4" { "IPv6" } else { "IPv4" }
}

fn node_of(service: &Value) -> Node<'_> {
    let id = schema().find("io.k8s.api.core.v1.Service").expect("the schema has services");
    Node::of(service, schema(), id)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::{json, yaml};

    use super::*;

    const DUAL: ClusterFamilies = ClusterFamilies { default: IpFamily::V4, is_dual_stack: true };
    const V4: ClusterFamilies = ClusterFamilies { default: IpFamily::V4, is_dual_stack: false };

    fn service(spec: &str) -> Value {
        Value::from([("spec", yaml::parse(spec.as_bytes()).unwrap())])
    }

    #[test]
    fn families_come_from_the_policy_the_addresses_and_the_cluster() {
        let decide = |cluster, spec: &str, families: &str| {
            let mut seen = service(spec);
            let errors = set_ip_families(&mut seen, None, cluster);
            let policy = seen.path(&["spec", "ipFamilyPolicy"]).str().to_owned();
            let list = json::to_string(seen.path(&["spec", "ipFamilies"])).replace('"', "");
            assert_eq!(format!("{policy} {list} {errors}").trim(), families, "{spec}");
        };
        decide(DUAL, "{}", "SingleStack [IPv4]");
        decide(DUAL, "{ipFamilies: [IPv6]}", "SingleStack [IPv6]");
        decide(DUAL, "{ipFamilyPolicy: PreferDualStack}", "PreferDualStack [IPv4,IPv6]");
        decide(V4, "{ipFamilyPolicy: PreferDualStack}", "PreferDualStack [IPv4]");
        decide(
            DUAL,
            "{ipFamilyPolicy: RequireDualStack, clusterIP: \"1::\", clusterIPs: [\"1::\"]}",
            "RequireDualStack [IPv6,IPv4]",
        );
        decide(V4, "{clusterIP: None, clusterIPs: [None]}", "RequireDualStack [IPv4,IPv6]");
        let headless = "{clusterIP: None, clusterIPs: [None], selector: {a: b}}";
        decide(V4, headless, "SingleStack [IPv4]");
        decide(V4, "{type: ExternalName}", "null");
        decide(
            V4,
            "{ipFamilyPolicy: RequireDualStack}",
            "RequireDualStack null spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this \
             cluster is not configured for dual-stack services",
        );
        decide(
            V4,
            "{ipFamilies: [IPv6]}",
            "SingleStack [IPv6] spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on \
             this cluster",
        );
        decide(
            V4,
            "{clusterIP: \"1::\", clusterIPs: [\"1::\"]}",
            "SingleStack null spec.clusterIPs[0]: Invalid value: [\"1::\"]: IPv6 is not \
             configured on this cluster",
        );
        decide(
            DUAL,
            "{ipFamilies: [IPv4, IPv6]}",
            "SingleStack [IPv4,IPv6] spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be \
             'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
        );
        decide(
            DUAL,
            "{clusterIP: x, clusterIPs: [x]}",
            "SingleStack null spec.clusterIPs[0]: Invalid value: \"x\": must be a valid IP \
             address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        );
    }

    #[test]
    fn a_second_address_goes_when_one_family_is_asked_for() {
        let two = "clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4, \"1::\"], ipFamilies: [IPv4, IPv6]";
        let one = "clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4], ipFamilies: [IPv4]";
        let old = service(&format!("{{{two}, type: ClusterIP, ipFamilyPolicy: PreferDualStack}}"));
        let decide = |spec: &str, expect: &str, errors: &str| {
            let mut seen = service(spec);
            let found = set_ip_families(&mut seen, Some(&old), DUAL);
            assert_eq!(found.to_string().trim_end(), errors, "{spec}");
            let expect = json::to_string(service(expect).at("spec"));
            assert_eq!(json::to_string(seen.at("spec")), expect, "{spec}");
        };
        let single = "ipFamilyPolicy: SingleStack";
        decide(&format!("{{{two}, {single}}}"), &format!("{{{one}, {single}}}"), "");
        let kept = format!("{{{two}, type: ClusterIP, ipFamilyPolicy: PreferDualStack}}");
        decide(&kept, &kept, "");
        let prefer = "ipFamilyPolicy: PreferDualStack";
        decide(
            &format!("{{{one}}}"),
            &format!("{{{one}, {prefer}}}"),
            "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be 'SingleStack' to \
             release the secondary cluster IP\n\
             spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be 'SingleStack' to \
             release the secondary IP family",
        );
    }
}
