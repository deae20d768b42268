//! The Common Expression Language as Kubernetes has it.
//!
//! An expression is parsed, checked against the types of its variables, and evaluated within a
//! budget: no expression can hang or exhaust whoever evaluates it.

pub mod ast;
mod checker;
pub mod cost;
pub mod decl_type;
pub mod environment;
pub mod error;
pub mod escape;
pub mod estimate;
mod evaluate;
pub mod function;
pub mod library;
pub mod macros;
pub mod operator;
pub mod parser;
mod plan;
pub mod program;
pub mod rules;
pub mod timestamp;
pub mod ty;
pub mod value;

pub use decl_type::DeclType;
pub use environment::{Environment, VariableId};
pub use error::{EvalError, Issue, Issues};
pub use program::{Bindings, Checked, Program};
pub use ty::Type;
pub use value::Value;
