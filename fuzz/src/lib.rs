//! The library of the fuzz targets: what more than one of them needs.
//!
//! A target is a file in `targets/` and a `[[bin]]` in the manifest, with `test = false`,
//! `doc = false` and `bench = false`. It starts with a doc that says which law it checks, then
//! `#![no_main]`, then one `fuzz_target!` that never fails on bad input, only on a broken law.
