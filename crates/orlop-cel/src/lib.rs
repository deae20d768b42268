//! The Common Expression Language as Kubernetes has it.
//!
//! An expression is parsed, checked against the types of its variables, and evaluated within a
//! budget: no expression can hang or exhaust whoever evaluates it. Behaviour, texts and costs are
//! those of cel-go with the options, libraries and costs of Kubernetes 1.36.
//!
//! ```
//! use std::sync::Arc;
//!
//! use orlop_cel::environment::Functions;
//! use orlop_cel::{Bindings, Environment, Type, Value, library};
//!
//! let mut environment = Environment::new(Arc::new(Functions::new(library::KUBERNETES)));
//! let names = environment.declare("names", Type::list(Type::String));
//!
//! let program = environment.compile("names.all(n, n.startsWith('web-'))")?;
//! let mut bindings = Bindings::new();
//! bindings.set(names, Value::list(vec![Value::str("web-1"), Value::str("db-1")]));
//! let outcome = program.evaluate(&bindings, 1_000_000);
//! assert!(matches!(outcome.result, Ok(Value::Bool(false))));
//! assert_eq!(outcome.cost, 12);
//!
//! let issues = environment.compile("names.size() + 'a'").unwrap_err();
//! assert_eq!(issues.list[0].message,
//!     "found no matching overload for '_+_' applied to '(int, string)'");
//! # Ok::<(), orlop_cel::Issues>(())
//! ```
//!
//! Data of objects is not converted: a [`DeclType`] says how to read it, and values borrow it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use orlop_cel::environment::Functions;
//! use orlop_cel::rules::{Extent, declare};
//! use orlop_cel::{Bindings, Environment, Value, library};
//! use orlop_machinery::json;
//! use orlop_machinery::structural::Structural;
//!
//! let schema = br#"{"type": "object", "properties": {
//!     "when": {"type": "string", "format": "date-time"}}}"#;
//! let schema = Structural::read(&json::parse(schema)?)?;
//! let decl = declare(&schema, Extent::Part).expect("expressions see an object with properties");
//!
//! let mut environment = Environment::new(Arc::new(Functions::new(library::KUBERNETES)));
//! let this = environment.declare_data("self", &decl);
//! let program = environment.compile("self.when.getFullYear()")?;
//!
//! let object = json::parse(br#"{"when": "2026-04-22T12:00:00Z"}"#)?;
//! let mut bindings = Bindings::new();
//! bindings.set_json(this, &object, &decl);
//! assert!(matches!(program.evaluate(&bindings, 100).result, Ok(Value::Int(2026))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use program::{Bindings, Checked, Outcome, Program};
pub use ty::Type;
pub use value::Value;
