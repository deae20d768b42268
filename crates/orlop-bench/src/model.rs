//! `bench model`: what it costs to handle one object, on one core.
//!
//! The object is a Pod of 3 KiB as a Deployment makes it. The yardstick is `serde_json`, which
//! parses and prints the same text in the same run: machines differ, the ratio does not.

mod objects;

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use orlop_kinds::catalog::catalog;
use orlop_kinds::schema;
use orlop_machinery::apply::{ApplyOptions, OnConflict};
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::openapi::Documents;
use orlop_machinery::patch::strategic;
use orlop_machinery::{Value, encode, json, protobuf};

use crate::Options;
use crate::report::Report;
use objects::{APPLIED, NOW, PATCH, POD, create, decoded, defaulted, manager, pod_kind, validate};

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut bench = Bench {
        report: Report::default(),
        time: Duration::from_millis(if options.quick { 300 } else { 3000 }),
        only: options.only.clone(),
    };
    println!("start-up");
    bench.start_up();
    println!("one Pod of {} bytes", POD.len());
    bench.codecs();
    bench.create();
    bench.allocations()?;
    bench.changes();
    bench.selectors();
    println!("documents");
    bench.documents();
    println!("growth: objects of n containers");
    bench.growth();
    bench.report.finish("model", options.json.as_deref())
}

struct Bench {
    report: Report,
    /// For each measurement.
    time: Duration,
    only: String,
}

impl Bench {
    /// Adds the median of many runs in microseconds.
    fn measure<T>(&mut self, name: &str, mut run: impl FnMut() -> T) {
        if !name.contains(&self.only) {
            return;
        }
        let start = Instant::now();
        black_box(run());
        let once = start.elapsed().max(Duration::from_nanos(10));
        // Batches of a tenth of a millisecond, so that reading the clock costs nothing.
        let per_batch = (Duration::from_micros(100).as_nanos() / once.as_nanos()).clamp(1, 10_000);
        let mut batches = Vec::new();
        let end = Instant::now() + self.time;
        while Instant::now() < end || batches.len() < 5 {
            let start = Instant::now();
            for _ in 0..per_batch {
                black_box(run());
            }
            batches.push(start.elapsed().as_secs_f64() * 1e6 / per_batch as f64);
        }
        batches.sort_by(f64::total_cmp);
        self.report.add(format!("{name} us"), batches[batches.len() / 2]);
    }

    fn start_up(&mut self) {
        // Once per process: nothing can be measured twice.
        let start = Instant::now();
        black_box(schema());
        self.report.add("tables, first use us", start.elapsed().as_secs_f64() * 1e6);
        let start = Instant::now();
        black_box(catalog());
        self.report.add("catalog, first use us", start.elapsed().as_secs_f64() * 1e6);
    }

    fn codecs(&mut self) {
        let entry = pod_kind();
        let pod = defaulted(entry, POD);
        let text = encode::to_vec(schema(), entry.id, &pod);
        let message = protobuf::encode(schema(), entry.id, &pod);
        let yardstick: serde_json::Value = serde_json::from_str(POD).expect("it is JSON");
        self.measure("serde_json parse", || {
            serde_json::from_str::<serde_json::Value>(POD).expect("it is JSON")
        });
        self.measure("serde_json print", || serde_json::to_vec(&yardstick).expect("it prints"));
        self.measure("json parse", || json::parse(POD.as_bytes()).expect("it is JSON"));
        self.measure("decode (parse and check)", || decoded(entry, POD));
        self.measure("encode", || encode::to_vec(schema(), entry.id, &pod));
        self.measure("to protobuf", || protobuf::encode(schema(), entry.id, &pod));
        self.measure("from protobuf", || {
            protobuf::decode(schema(), entry.id, &message).expect("it was encoded")
        });
        self.measure("clone", || pod.clone());
        self.report.add("stored JSON bytes", text.len() as f64);
        self.report.add("protobuf bytes", message.len() as f64);
        self.report.ratio("parse, serde_json to ours", "serde_json parse us", "json parse us");
        self.report.ratio("print, serde_json to ours", "serde_json print us", "encode us");
    }

    fn create(&mut self) {
        let entry = pod_kind();
        let manager = manager(entry);
        let pod = decoded(entry, POD);
        let ready = defaulted(entry, POD);
        self.measure("default", || {
            let mut pod = pod.clone();
            catalog().set_defaults(entry, &mut pod);
            pod
        });
        self.measure("validate", || validate(entry, &ready));
        self.measure("record managed fields", || {
            manager.update(&Value::Null, ready.clone(), "kubectl", NOW)
        });
        self.measure("create: decode, default, validate, record, encode", || {
            create(entry, &manager, POD)
        });
    }

    /// Counted by a program of its own, whose allocator counts.
    fn allocations(&mut self) -> anyhow::Result<()> {
        let program = std::env::current_exe()?.with_file_name("count-allocations");
        let output = Command::new(program).output()?;
        for line in String::from_utf8(output.stdout)?.lines() {
            if let Some((name, count)) = line.rsplit_once(' ') {
                self.report.add(name, count.parse()?);
            }
        }
        Ok(())
    }

    fn changes(&mut self) {
        let entry = pod_kind();
        let manager = manager(entry);
        let pod = manager.update(&Value::Null, defaulted(entry, POD), "kubelet", NOW);
        let mut other = pod.clone();
        other.entry("metadata").entry("labels").set("seen", "true");
        let live = manager.update(&pod, other, "controller", NOW);
        let applied = json::parse(APPLIED.as_bytes()).expect("it is JSON");
        let options = ApplyOptions { on_conflict: OnConflict::Force, now: NOW };
        self.measure("server-side apply", || {
            manager.apply(&live, &applied, "operator", &options).expect("it is forced")
        });
        let again = manager.apply(&live, &applied, "operator", &options).expect("it is forced");
        self.measure("server-side apply, nothing new", || {
            manager.apply(&again.object, &applied, "operator", &options).expect("it is forced")
        });
        let patch = json::parse(PATCH.as_bytes()).expect("it is JSON");
        self.measure("strategic merge", || {
            strategic::strategic_merge(schema(), entry.id, live.clone(), patch.clone())
                .expect("it is a patch")
        });
    }

    fn selectors(&mut self) {
        let pod = json::parse(POD.as_bytes()).expect("it is JSON");
        let labels = pod.path(&["metadata", "labels"]).map();
        let selector: LabelSelector =
            "app=checkout,version in (v40,v41),!canary".parse().expect("it is a selector");
        assert!(selector.matches(labels), "the selector chooses the Pod");
        self.measure("label selector of 3 terms", || selector.matches(black_box(labels)));
    }

    fn documents(&mut self) {
        let resources: Vec<_> = catalog().iter().map(|entry| entry.resource.clone()).collect();
        let documents = Documents::new(schema(), &resources);
        self.measure("openapi v3 of apps/v1", || documents.v3("apis/apps/v1"));
        self.measure("openapi v2", || documents.v2());
    }

    fn growth(&mut self) {
        let entry = pod_kind();
        let manager = manager(entry);
        for count in [1, 10, 100] {
            let mut pod = json::parse(POD.as_bytes()).expect("it is JSON");
            let containers = pod.entry("spec").entry("containers").make_list();
            let first = containers[0].clone();
            for at in 1..count {
                let mut next = first.clone();
                next.set("name", format!("c{at}"));
                next.remove("ports");
                next.remove("livenessProbe");
                next.remove("readinessProbe");
                containers.push(next);
            }
            let text = json::to_string(&pod);
            self.measure(&format!("create with {count} containers"), || {
                create(entry, &manager, &text)
            });
            let ready = defaulted(entry, &text);
            self.measure(&format!("validate {count} containers"), || validate(entry, &ready));
            self.measure(&format!("record {count} containers"), || {
                manager.update(&Value::Null, ready.clone(), "kubectl", NOW)
            });
        }
    }
}
