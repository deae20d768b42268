//! A rule in CEL, in process: what it takes to compile it, and to hold an object to it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use orlop_cel::rules::{Extent, OBJECT_COST_MAX, Rules, Update};
use orlop_machinery::field::Errors;
use orlop_machinery::json;
use orlop_machinery::structural::Structural;

use super::objects;
use crate::report::Report;

/// Measures the rule of our definitions on one of their objects.
pub(super) fn run(report: &mut Report, is_quick: bool) -> Result<()> {
    println!("the rule {}", objects::RULE);
    let time = Duration::from_millis(if is_quick { 300 } else { 3000 });
    let definition = json::parse(objects::definition(0).as_bytes())?;
    let versions = definition.at("spec").at("versions");
    let version = versions.as_list().and_then(|all| all.first()).context("one version")?;
    let spec = version.at("schema").at("openAPIV3Schema").at("properties").at("spec");
    let schema = Structural::read(spec)?;
    let object = json::parse(objects::custom_resource(0, 0).as_bytes())?;
    let update = Update { schema: &schema, new: object.at("spec"), old: None, is_ratcheting: true };
    let rules = Rules::compile(&schema, Extent::Part);
    let mut errors = Errors::new();
    rules.validate(&update, OBJECT_COST_MAX, &mut errors);
    ensure!(
        !rules.is_empty() && errors.list().is_empty(),
        "the object keeps to the rule: {errors}"
    );
    let compile = median_us(time, || Rules::compile(&schema, Extent::Part));
    report.add("rule, compile us", compile);
    let evaluate = median_us(time, || {
        let mut errors = Errors::new();
        rules.validate(&update, OBJECT_COST_MAX, &mut errors)
    });
    report.add("rule, evaluate us", evaluate);
    Ok(())
}

/// The median of many batches, so that reading the clock costs nothing.
fn median_us<T>(time: Duration, mut run: impl FnMut() -> T) -> f64 {
    const BATCH: u32 = 100;
    let mut batches = Vec::new();
    let end = Instant::now() + time;
    while Instant::now() < end || batches.len() < 5 {
        let begin = Instant::now();
        for _ in 0..BATCH {
            black_box(run());
        }
        batches.push(begin.elapsed().as_secs_f64() * 1e6 / f64::from(BATCH));
    }
    super::median(batches)
}
