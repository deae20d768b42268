//! The libraries: what expressions can call, one file each.

pub mod standard;
