//! `bench server`: the API server under load from outside, beside kube-apiserver with etcd.
//!
//! The load comes from `apiload`, a program of its own that knows nothing but the API; its source
//! lies beside the repository (`../shared/tools/apiload`, or where `APILOAD` says). Peers are
//! measured in the same run where `KUBE_APISERVER` and `ETCD` name their binaries: scenario by
//! scenario in turn, so that a busy machine is busy for both. What counts most is the server's CPU
//! time per operation, which hardly depends on the client that shares the machine.

pub(crate) mod client;
pub(crate) mod process;
mod ready;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use self::process::{Kubernetes, Orlop, Running};
use crate::Options;
use crate::report::Report;

pub(crate) const OURS: &str = "orlop";
pub(crate) const PEER: &str = "kubernetes";

/// What is kept of a row of apiload; most rows have the first five.
const FIGURES: [&str; 9] = [
    "ops_per_s",
    "p50_ms",
    "p99_ms",
    "server_cpu_us_per_op",
    "errors",
    "established_ms",
    "first_object_ms",
    "all_served_ms",
    "rss_mib_per_crd",
];

/// How long a server is left alone before its memory is read.
const IDLE: Duration = Duration::from_secs(3);

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut report = Report::default();
    let apiload = build_apiload()?;
    let orlop = Orlop::find()?;
    report.add("orlop binary MB", orlop.binary_bytes()? as f64 / 1e6);
    fs::create_dir_all(&options.folder)?;
    let folder = tempfile::tempdir_in(fs::canonicalize(&options.folder)?)?;
    let kubernetes = Kubernetes::from_environment();
    if kubernetes.is_none() {
        println!("KUBE_APISERVER and ETCD name no binaries: without peer");
    }
    starts(&mut report, options, &orlop, kubernetes.as_ref(), folder.path())?;
    load(&mut report, options, (&apiload, &orlop, kubernetes.as_ref()), folder.path())?;
    if !options.quick {
        growth(&mut report, &apiload, &orlop, folder.path())?;
    }
    report.finish("server", options.json.as_deref())
}

/// Time from nothing to ready, and memory when idle.
fn starts(
    report: &mut Report,
    options: &Options,
    orlop: &Orlop,
    kubernetes: Option<&Kubernetes>,
    folder: &Path,
) -> Result<()> {
    println!("start from nothing");
    let runs = if options.quick { 3 } else { 5 };
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let mut times = Vec::new();
    for number in 0..runs {
        let server = orlop.start(&folder.join(format!("start-{number}")), false)?;
        times.push(server.ready_after.as_secs_f64() * 1e3);
        if number == 0 {
            std::thread::sleep(IDLE);
            report.add("idle orlop MiB", server.resident_mib()?);
        }
    }
    report.add("start orlop ms", median(times));
    let Some(kubernetes) = kubernetes else { return Ok(()) };
    let mut times = Vec::new();
    for number in 0..runs {
        let server = kubernetes.start(&folder.join(format!("peer-{number}")))?;
        times.push(server.ready_after.as_secs_f64() * 1e3);
        if number == 0 {
            std::thread::sleep(IDLE);
            report.add("idle kubernetes MiB", server.resident_mib()?);
        }
    }
    report.add("start kubernetes ms", median(times));
    report.ratio("start, kubernetes to orlop", "start kubernetes ms", "start orlop ms");
    report.ratio("idle memory, orlop to kubernetes", "idle orlop MiB", "idle kubernetes MiB");
    Ok(())
}

/// apiload's scenarios against both.
fn load(
    report: &mut Report,
    options: &Options,
    (apiload, orlop, kubernetes): (&Path, &Orlop, Option<&Kubernetes>),
    folder: &Path,
) -> Result<()> {
    println!("load");
    let ours = orlop.start(&folder.join("load"), false)?;
    let peer = kubernetes.map(|peer| peer.start(&folder.join("load-peer"))).transpose()?;
    let mut command = Command::new(apiload);
    let results = folder.join("apiload.json");
    command.arg("--json").arg(&results);
    if options.quick {
        command.args(["--configmaps", "5000", "--gets", "5000", "--writes", "1000"]);
        command.args(["--pods", "1000", "--lists", "5", "--mixed-seconds", "5"]);
        command.args(["--custom-resources", "1000"]);
    }
    if !options.only.is_empty() {
        command.args(["--only", &options.only]);
    }
    for (name, server) in [(OURS, Some(&ours)), (PEER, peer.as_ref())] {
        let Some(server) = server else { continue };
        command.arg("--kubeconfig").arg(&server.kubeconfig);
        command.args(["--name", name, "--pid", &server.pids()]);
    }
    let status = command.status().context("cannot run apiload")?;
    ensure!(status.code().is_some_and(|code| code < 2), "apiload could not run: {status}");
    add_rows(report, &results)?;
    report.add("end orlop MiB", ours.resident_mib()?);
    if let Some(peer) = &peer {
        report.add("end kubernetes MiB", peer.resident_mib()?);
    }
    report.ratio("memory at the end, orlop to kubernetes", "end orlop MiB", "end kubernetes MiB");
    Ok(())
}

/// Cost at 1x, 10x and 100x the objects.
fn growth(report: &mut Report, apiload: &Path, orlop: &Orlop, folder: &Path) -> Result<()> {
    for count in [10_000, 100_000, 1_000_000] {
        println!("growth: {count} objects");
        let server = orlop.start(&folder.join(format!("growth-{count}")), false)?;
        let results = folder.join("growth.json");
        let mut command = Command::new(apiload);
        command.args(["--configmaps", &count.to_string(), "--lists", "3", "--gets", "20000"]);
        let scenarios = "create-configmap,get,merge-patch,list-paged,list-label-selector";
        command.args(["--only", scenarios, "--json"]).arg(&results);
        command.arg("--kubeconfig").arg(&server.kubeconfig);
        command.args(["--name", &format!("{count} objects"), "--pid", &server.pids()]);
        let status = command.status().context("cannot run apiload")?;
        ensure!(status.code().is_some_and(|code| code < 2), "apiload could not run: {status}");
        add_rows(report, &results)?;
        report.add(format!("{count} objects MiB"), server.resident_mib()?);
    }
    Ok(())
}

/// The figures of apiload's rows, and how ours compare.
fn add_rows(report: &mut Report, results: &Path) -> Result<()> {
    let results: Value = serde_json::from_slice(&fs::read(results)?)?;
    let mut scenarios: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in results["rows"].as_array().into_iter().flatten() {
        let (target, scenario) = (text(&row["target"]), text(&row["scenario"]));
        for figure in FIGURES {
            let value = row.get(figure).or_else(|| row["figures"].get(figure));
            if let Some(value) = value.and_then(Value::as_f64) {
                report.add(format!("{scenario} {target} {figure}"), value);
            }
        }
        scenarios.entry(scenario).or_default().push(target);
    }
    for (scenario, targets) in scenarios {
        if targets.len() < 2 {
            continue;
        }
        for (label, figure) in [
            ("CPU per operation", "server_cpu_us_per_op"),
            ("operations per second", "ops_per_s"),
            ("p99", "p99_ms"),
        ] {
            let ours = format!("{scenario} {OURS} {figure}");
            let peers = format!("{scenario} {PEER} {figure}");
            report.ratio(&format!("{scenario}, {label}, orlop to kubernetes"), &ours, &peers);
        }
    }
    Ok(())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn build_apiload() -> Result<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tools/apiload");
    let source = env::var_os("APILOAD").map_or(beside, PathBuf::from);
    if !source.join("Cargo.toml").exists() {
        bail!("no source of apiload at {}: say where it is with APILOAD", source.display());
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/apiload");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--manifest-path"]).arg(source.join("Cargo.toml"));
    command.env("CARGO_TARGET_DIR", &target);
    ensure!(command.status()?.success(), "building apiload failed");
    Ok(target.join("release/apiload"))
}

/// A server that ends when it is dropped.
pub(crate) struct Server {
    /// Its processes.
    processes: Vec<Running>,
    /// How to reach it.
    pub(crate) kubeconfig: PathBuf,
    /// From the first `exec` to the first 200 of `/readyz`.
    ready_after: Duration,
}

impl Server {
    fn pids(&self) -> String {
        let pids: Vec<String> = self.processes.iter().map(|one| one.pid().to_string()).collect();
        pids.join(",")
    }

    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let mut seconds = 0.0;
        for process in &self.processes {
            seconds += process.cpu_seconds()?;
        }
        Ok(seconds)
    }

    pub(crate) fn resident_mib(&self) -> Result<f64> {
        let mut bytes = 0;
        for process in &self.processes {
            bytes += process.resident_bytes()?;
        }
        Ok(bytes as f64 / 1_048_576.0)
    }
}
