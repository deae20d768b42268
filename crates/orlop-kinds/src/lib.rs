//! Every built-in kind.

pub mod schema;

pub use schema::schema;
