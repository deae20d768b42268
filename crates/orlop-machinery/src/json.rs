//! JSON in and out, as Go reads and writes it.

mod duplicates;
mod parse;
mod print;
mod scan;

pub(crate) use duplicates::{Findings, push_index, push_key, shown_path};
pub(crate) use parse::{DEPTH_MAX, read, to_value};
pub use parse::{parse, parse_with_duplicates};
pub(crate) use print::write_string;
pub use print::{to_string, to_vec, write};
pub use scan::SyntaxError;
pub(crate) use scan::{Failure, Scanner};
