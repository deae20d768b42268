//! YAML in and out, as kubectl reads and writes it.
//!
//! Behaviour follows `sigs.k8s.io/yaml` on top of `go.yaml.in/yaml/v2`: YAML 1.1 with its truths
//! (`yes`, `off`), its octal numbers (`0755`) and its merge keys, and JSON underneath: keys become
//! text, whole floats become whole numbers, maps are sorted. What is printed reads as the same
//! value.
//!
//! The scanner is a crate (`granit-parser`, the one under `serde-saphyr`: that one tells neither
//! how a scalar was quoted nor in which line it stood, so it cannot read as Go does). What scalars
//! mean, aliases and their bounds, merge keys and keys that stand twice are here.

mod error;
mod key_order;
mod nodes;
mod parse;
mod print;
mod resolve;
mod style;
mod timestamp;
mod value;

pub(crate) use error::DUPLICATES_PREFIX;
pub use error::{YamlError, describe_duplicates};
pub use parse::{parse, parse_all, parse_with_duplicates};
pub use print::to_string;
