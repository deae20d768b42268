//! The orlop binary.
fn main() {}
