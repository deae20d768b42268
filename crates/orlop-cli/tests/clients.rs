//! Client libraries against the server: each has a program that tries what its users do.
//!
//! The programs and what they print are described in `orlop_clients::program`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

use std::path::{Path, PathBuf};

use orlop_clients::installed::{Client, Clients};
use orlop_clients::program;
use orlop_clients::server::Server;

fn check(client: Client, arguments: &[&Path]) {
    let clients = Clients::beside(env!("CARGO_TARGET_TMPDIR"));
    let Some(path) = clients.find(client) else {
        return;
    };
    let server = Server::start(env!("CARGO_BIN_EXE_orlop")).unwrap();
    match program::run(&server, &path, arguments) {
        Ok(went_well) => println!("went well: {}", went_well.join(", ")),
        Err(error) => panic!("{error:#}"),
    }
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../orlop-clients").join(path)
}

#[test]
fn client_go_and_controller_runtime_work() {
    check(Client::GoProbe, &[]);
}

#[test]
fn kube_rs_works() {
    check(Client::RustProbe, &[]);
}

#[test]
fn the_python_client_works() {
    check(Client::Python, &[&source("python/probe.py")]);
}

#[test]
fn the_javascript_client_works() {
    let packages = Clients::beside(env!("CARGO_TARGET_TMPDIR")).folder().join("javascript");
    check(Client::Node, &[&source("javascript/probe.js"), &packages]);
}
