//! The Common Expression Language as Kubernetes has it.
//!
//! An expression is parsed, checked against the types of its variables, and evaluated within a
//! budget: no expression can hang or exhaust whoever evaluates it.
