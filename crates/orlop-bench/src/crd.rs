//! `bench crd`: custom resources, beside kube-apiserver with etcd and beside built-in kinds.
//!
//! How soon a definition is served, what many of them cost, what their objects cost to make, list
//! and watch, and what a rule in CEL costs in process. Peers are measured in the same run where
//! `KUBE_APISERVER` and `ETCD` name their binaries; else ours are held against figures of a run on
//! another day (`BASELINE`).

mod cel;
mod load;
mod objects;

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::runtime::Runtime;

use self::objects::{DEFINITIONS, collection, custom_resource, definition, discovery};
use crate::Options;
use crate::report::Report;
use crate::server::client::{Client, Connection};
use crate::server::process::{Kubernetes, Orlop};
use crate::server::{OURS, PEER, Server};

/// kube-apiserver 1.36.4 with etcd 3.5.16 on two cores, from `baseline.md` beside the repository.
const BASELINE: [(&str, f64); 5] = [
    ("first object kubernetes ms", 2034.0),
    ("100 definitions kubernetes s", 2.959),
    ("100 definitions kubernetes KiB each", 2017.0),
    ("create custom kubernetes /s", 693.0),
    ("create custom kubernetes CPU us", 2788.0),
];

/// How many clients make definitions at the same time.
const DEFINERS: usize = 8;
/// How long a server is left alone before its memory is read.
const IDLE: Duration = Duration::from_secs(5);
/// What is not served by then is not going to be.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn run(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.folder)?;
    let folder = tempfile::tempdir_in(fs::canonicalize(&options.folder)?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let kubernetes = Kubernetes::from_environment();
    let mut bench = Bench {
        report: Report::default(),
        options: options.clone(),
        orlop: Orlop::find()?,
        kubernetes,
        folder,
    };
    if bench.kubernetes.is_none() {
        println!("KUBE_APISERVER and ETCD name no binaries: beside figures of another day");
        for (name, value) in BASELINE {
            bench.report.add(name, value);
        }
    }
    if bench.wants("rules") {
        cel::run(&mut bench.report, options.quick)?;
    }
    if bench.wants("served") {
        bench.served(&runtime)?;
    }
    if bench.wants("many") {
        bench.many(&runtime)?;
    }
    if bench.wants("load") {
        load::run(&mut bench, &runtime)?;
    }
    bench.report.finish("crd", options.json.as_deref())
}

/// What a measurement needs.
struct Bench {
    report: Report,
    options: Options,
    orlop: Orlop,
    kubernetes: Option<Kubernetes>,
    folder: tempfile::TempDir,
}

impl Bench {
    fn wants(&self, part: &str) -> bool {
        part.contains(&self.options.only)
    }

    /// Fresh servers for a part, with their names.
    fn start(&self, part: &str) -> Result<Vec<(&'static str, Server)>> {
        let folder = self.folder.path();
        let mut servers = vec![(OURS, self.orlop.start(&folder.join(part), false)?)];
        if let Some(kubernetes) = &self.kubernetes {
            servers.push((PEER, kubernetes.start(&folder.join(format!("{part}-peer")))?));
        }
        Ok(servers)
    }

    /// From the answer to a definition until there is what one makes it for.
    fn served(&mut self, runtime: &Runtime) -> Result<()> {
        println!("from a definition's creation");
        let rounds = if self.options.quick { 3 } else { 10 };
        for (name, server) in self.start("served")? {
            let client = Client::new(&server.kubeconfig)?;
            let [discovery, object, watch] =
                runtime.block_on(time_until_served(&client, rounds))?;
            self.report.add(format!("in discovery {name} ms"), median(discovery));
            self.report.add(format!("first object {name} ms"), median(object));
            self.report.add(format!("first watch {name} ms"), median(watch));
        }
        let (peer, ours) = ("first object kubernetes ms", "first object orlop ms");
        self.report.ratio("first object, kubernetes to orlop", peer, ours);
        Ok(())
    }

    /// Time and memory of 10, 100 and 1000 definitions.
    fn many(&mut self, runtime: &Runtime) -> Result<()> {
        for (name, server) in self.start("many")? {
            let client = Client::new(&server.kubeconfig)?;
            std::thread::sleep(IDLE);
            let before = server.resident_mib()?;
            let mut made = 0;
            for count in [10, 100, 1000] {
                if count == 1000 && name == PEER && self.options.quick {
                    continue;
                }
                println!("{count} definitions");
                let begin = Instant::now();
                runtime.block_on(define(&client, made..count))?;
                self.report.add(
                    format!("{count} definitions {name} s"),
                    begin.elapsed().as_secs_f64() * count as f64 / (count - made) as f64,
                );
                made = count;
                std::thread::sleep(IDLE);
                let grown = (server.resident_mib()? - before) * 1024.0 / count as f64;
                self.report.add(format!("{count} definitions {name} KiB each"), grown);
            }
        }
        for (label, unit) in [("time", "s"), ("memory", "KiB each")] {
            let ours = format!("100 definitions orlop {unit}");
            let peers = format!("100 definitions kubernetes {unit}");
            self.report.ratio(
                &format!("100 definitions, {label}, orlop to kubernetes"),
                &ours,
                &peers,
            );
        }
        Ok(())
    }
}

/// Milliseconds until a definition is in discovery, until an object of another is made, and until
/// those of a third can be watched.
async fn time_until_served(client: &Client, rounds: usize) -> Result<[Vec<f64>; 3]> {
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let mut connection = client.connect().await?;
    for round in 0..rounds {
        for (what, times) in times.iter_mut().enumerate() {
            let index = round * 3 + what;
            connection.expect(201, ("POST", DEFINITIONS), definition(index)).await?;
            // What is not part of the wait is done before it begins.
            let mut spare = client.connect().await?;
            let begin = Instant::now();
            match what {
                0 => until_discovered(&mut spare, index).await?,
                1 => until_made(&mut spare, index).await?,
                _ => until_watched(client, spare, index).await?,
            }
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(times)
}

async fn until_discovered(connection: &mut Connection, index: usize) -> Result<()> {
    let (path, wanted) = discovery(index);
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let (code, bytes) = connection.send("GET", &path, "").await?;
        let text = String::from_utf8_lossy(&bytes).replace("\": \"", "\":\"");
        if code == 200 && text.contains(&wanted) {
            return Ok(());
        }
    }
    bail!("definition {index} does not get into discovery")
}

async fn until_made(connection: &mut Connection, index: usize) -> Result<()> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let object = custom_resource(index, 0);
        let (code, bytes) = connection.send("POST", &collection(index), object).await?;
        match code {
            201 => return Ok(()),
            404 | 503 => {}
            other => bail!("{other} {}", String::from_utf8_lossy(&bytes)),
        }
    }
    bail!("no object of definition {index} can be made")
}

async fn until_watched(client: &Client, first: Connection, index: usize) -> Result<()> {
    let path = format!("{}?watch=true", collection(index));
    let (begin, mut connection) = (Instant::now(), first);
    while begin.elapsed() < PATIENCE {
        if connection.watch(&path).await?.is_ok() {
            return Ok(());
        }
        connection = client.connect().await?;
    }
    bail!("objects of definition {index} cannot be watched")
}

/// Makes definitions and waits until the objects of each can be listed.
async fn define(client: &Client, indices: std::ops::Range<usize>) -> Result<()> {
    let first = indices.start;
    load::drive(client, DEFINERS, indices.len(), move |index| {
        ("POST", DEFINITIONS.to_owned(), definition(first + index))
    })
    .await?;
    let mut connection = client.connect().await?;
    let begin = Instant::now();
    for index in indices {
        while connection.send("GET", &collection(index), "").await?.0 != 200 {
            if begin.elapsed() > PATIENCE {
                bail!("definition {index} is not served");
            }
        }
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
