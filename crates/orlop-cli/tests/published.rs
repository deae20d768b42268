//! Definitions of well-known operators as they are published, each package against a server of
//! its own. `orlop_clients::published` describes what is asked and compared; the files in
//! `published/` have what Kubernetes 1.36 said.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::collections::BTreeSet;
use std::path::Path;

use orlop_clients::installed::Clients;
use orlop_clients::published::{packages, run};

fn check(name: &str) {
    let name = name.replace('_', "-");
    let package = packages().into_iter().find(|one| one.name == name).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/published");
    let clients = Clients::beside(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(name).with_extension("txt");
    if let Err(error) = run(&package, &file, env!("CARGO_BIN_EXE_orlop"), &clients) {
        panic!("{error:#}");
    }
}

macro_rules! published {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        #[test]
        fn every_package_is_a_test() {
            let listed = BTreeSet::from([$(stringify!($name).replace('_', "-")),*]);
            let there = packages().into_iter().map(|one| one.name);
            assert_eq!(there.collect::<BTreeSet<_>>(), listed);
        }
    };
}

published! {
    argo_rollouts
    argo_workflows
    cert_manager
    chaos_mesh
    cloud_on_k8s
    cloudnative_pg
    cluster_api
    crossplane
    external_dns
    external_secrets
    flux_source
    gatekeeper
    gateway_api
    istio
    jobset
    karpenter
    keda
    knative_eventing
    knative_serving
    kserve
    kueue
    kwok
    kyverno
    leader_worker_set
    longhorn
    mongodb
    multi_cluster
    network_attachment
    olm
    prometheus_operator
    snapshots
    tekton
    vertical_autoscaler
}
