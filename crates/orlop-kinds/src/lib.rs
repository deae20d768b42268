//! Every built-in kind.
