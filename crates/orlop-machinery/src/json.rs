//! JSON in and out, as Go reads and writes it.

mod parse;
mod print;

pub(crate) use parse::DEPTH_MAX;
pub use parse::{SyntaxError, parse};
pub use print::{to_string, to_vec, write};
