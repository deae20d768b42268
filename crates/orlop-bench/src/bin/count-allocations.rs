//! Counts how often memory is asked for to create an object: a line `name count` for each step.
//!
//! A program of its own, because its allocator counts; `bench model` runs it.
#![allow(clippy::print_stdout, missing_docs, reason = "a program for the terminal")]

#[path = "../model/objects.rs"]
mod objects;

use std::alloc::System;
use std::hint::black_box;

use orlop_kinds::catalog::catalog;
use orlop_kinds::schema;
use orlop_machinery::{Value, encode};
use stats_alloc::{Region, StatsAlloc};

use objects::{NOW, POD, create, decoded, defaulted, manager, pod_kind, validate};

#[global_allocator]
static ALLOCATOR: StatsAlloc<System> = StatsAlloc::system();

fn main() {
    let entry = pod_kind();
    let manager = manager(entry);
    let (pod, ready) = (decoded(entry, POD), defaulted(entry, POD));
    drop(create(entry, &manager, POD));
    print("create: allocations", || create(entry, &manager, POD));
    print("create: allocations to parse and decode", || decoded(entry, POD));
    print("create: allocations to clone", || pod.clone());
    let mut copy = pod;
    print("create: allocations to default", || catalog().set_defaults(entry, &mut copy));
    print("create: allocations to validate", || validate(entry, &ready));
    let copy = ready.clone();
    print("create: allocations to record", || manager.update(&Value::Null, copy, "kubectl", NOW));
    print("create: allocations to encode", || encode::to_vec(schema(), entry.id, &ready));
}

fn print<T>(name: &str, run: impl FnOnce() -> T) {
    let region = Region::new(&ALLOCATOR);
    let result = run();
    let change = region.change();
    black_box(result);
    println!("{name} {}", change.allocations + change.reallocations);
}
