//! What was measured: figures by name, as a table and as JSON.

use std::path::Path;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

/// The figures of one run, in the order in which they were measured.
#[derive(Default)]
pub(crate) struct Report {
    figures: Vec<(String, f64)>,
}

impl Report {
    /// Adds a figure and prints it.
    pub(crate) fn add(&mut self, name: impl Into<String>, value: f64) {
        let name = name.into();
        println!("  {name:<58} {:>14}", readable(value));
        self.figures.push((name, value));
    }

    /// Adds throughput and latencies under one name.
    pub(crate) fn add_run(&mut self, name: &str, run: &Run) {
        self.add(format!("{name} /s"), run.per_second());
        for (label, quantile) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
            self.add(format!("{name} {label} ms"), run.millis(quantile));
        }
    }

    /// A figure that was measured before.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Adds how many times `numerator` is `denominator`, if both were measured.
    pub(crate) fn ratio(&mut self, name: &str, numerator: &str, denominator: &str) {
        if let (Some(above), Some(below)) = (self.get(numerator), self.get(denominator)) {
            self.add(format!("ratio: {name}"), above / below);
        }
    }

    /// Prints the line of JSON that ends every benchmark, and writes it to a file if asked.
    pub(crate) fn finish(self, bench: &str, file: Option<&Path>) -> anyhow::Result<()> {
        let figures: Map<String, Value> =
            self.figures.into_iter().map(|(name, value)| (name, json!(round(value)))).collect();
        let line = json!({ "bench": bench, "figures": figures }).to_string();
        if let Some(file) = file {
            std::fs::write(file, format!("{line}\n"))?;
        }
        println!("{line}");
        Ok(())
    }
}

/// Operations that were timed one by one.
pub(crate) struct Run {
    pub(crate) latencies: Histogram<u64>,
    pub(crate) elapsed: Duration,
    /// How many operations one latency stands for.
    pub(crate) per_latency: u64,
}

impl Run {
    pub(crate) fn new() -> Self {
        let latencies = Histogram::new(3).expect("three digits are supported");
        Self { latencies, elapsed: Duration::ZERO, per_latency: 1 }
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.latencies.record(nanos.max(1)).expect("the histogram grows");
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.latencies.add(&other.latencies).expect("the same digits");
        self.elapsed = self.elapsed.max(other.elapsed);
    }

    pub(crate) fn per_second(&self) -> f64 {
        (self.latencies.len() * self.per_latency) as f64 / self.elapsed.as_secs_f64()
    }

    pub(crate) fn millis(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1e6
    }
}

fn round(value: f64) -> f64 {
    let scale = 10_f64.powf((3.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 9.0));
    (value * scale).round() / scale
}

fn readable(value: f64) -> String {
    match value {
        large if large >= 1000.0 => format!("{large:.0}"),
        small if small < 1.0 => format!("{small:.4}"),
        other => format!("{other:.2}"),
    }
}
