//! What a Kubernetes object is.
//!
//! Everything here is pure: no I/O, no clock, no randomness. Nothing here knows a kind by name.

pub mod base64;
pub mod decode;
pub mod defaults;
pub mod duration;
pub mod encode;
pub mod field;
pub mod human_duration;
pub mod int_or_string;
pub mod json;
pub mod json_path;
pub mod kind;
pub mod names;
pub mod node;
pub mod openapi;
pub mod partial_object_metadata;
pub mod quantity;
pub mod schema;
pub mod strict;
pub mod table;
pub mod text;
pub mod time;
pub mod value;
pub mod yaml;

pub use value::{Map, Str, Value};
