//! Transcripts of what people type, each against a server of its own.
//!
//! One file in `scripts/` is one test; `orlop_clients::script` describes their form and how new
//! output is written into them. What they expect is what Kubernetes 1.36 with kubectl 1.36 does.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use orlop_clients::installed::Clients;
use orlop_clients::script;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts")
}

fn run(name: &str) {
    let clients = Clients::beside(env!("CARGO_TARGET_TMPDIR"));
    let path = folder().join(name).with_extension("txt");
    if let Err(error) = script::run(&path, env!("CARGO_BIN_EXE_orlop"), &clients) {
        panic!("{error:#}");
    }
}

macro_rules! scripts {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_transcript_is_a_test() {
            let listed = BTreeSet::from([$(stringify!($name).to_owned()),*]);
            let entries = folder().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
            let there = entries
                .filter_map(|name| Some(name.to_str()?.strip_suffix(".txt")?.to_owned()));
            assert_eq!(there.collect::<BTreeSet<_>>(), listed);
        }
    };
}

scripts! {
    apply
    apply_prune
    apply_server
    auth
    certificate
    cluster
    cluster_kinds
    config
    crd_apply
    crd_define
    crd_delete
    crd_invalid
    crd_objects
    crd_versions
    create
    delete
    describe_others
    describe_workloads
    diff
    drain
    edit
    events
    explain
    expose_run
    get_forms
    get_some
    get_subresource
    get_watch
    helm
    helm3
    impersonate
    kubectl_old
    kustomize
    label_annotate
    manifests
    no_node
    node
    patch
    proxy
    replace
    rollout
    scale
    set
    wait
}
