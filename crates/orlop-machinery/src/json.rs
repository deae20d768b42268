//! JSON in and out, as Go reads and writes it.

mod duplicates;
mod parse;
mod print;
mod scan;

pub(crate) use duplicates::{Paths, push_index, push_key};
pub(crate) use parse::{DEPTH_MAX, read};
pub use parse::{parse, parse_with_duplicates};
pub(crate) use print::write_string;
pub use print::{to_string, to_vec, write};
pub use scan::SyntaxError;
pub(crate) use scan::{Failure, Scanner};
