//! What a Kubernetes object is.
//!
//! Everything here is pure: no I/O, no clock, no randomness. Nothing here knows a kind by name.

pub mod apply;
pub mod bytes;
pub mod continue_token;
pub mod decode;
pub mod defaults;
pub mod duration;
pub mod encode;
pub mod equality;
pub mod field;
pub mod field_selector;
pub mod generate_name;
pub mod group_version;
pub mod human_duration;
pub mod int_or_string;
pub mod ip_literal;
pub mod json;
pub mod json_path;
pub mod kind;
pub mod label_selector;
pub mod meta;
pub mod names;
pub mod node;
pub mod openapi;
pub mod owner_reference;
pub mod partial_object_metadata;
pub mod patch;
pub mod protobuf;
pub mod quantity;
pub mod regular_expression;
pub mod resource_version;
pub mod rest_mapping;
pub mod schema;
pub mod shared;
pub mod status;
pub mod strict;
pub mod structural;
pub mod table;
pub mod text;
pub mod time;
pub mod uid;
pub mod unified_diff;
pub mod url;
pub mod value;
pub mod version;
pub mod yaml;

pub mod go_text;

pub use value::{Map, Str, Value};
