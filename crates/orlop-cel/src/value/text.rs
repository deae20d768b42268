//! Text and bytes: borrowed from the object or the expression, or counted.

use std::ops::Deref;
use std::sync::Arc;

/// Text of a value.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// Of the object, or a literal.
    Borrowed(&'a str),
    /// Made while evaluating.
    Counted(Arc<str>),
}

/// Bytes of a value.
#[derive(Clone, Debug)]
pub enum Bytes<'a> {
    /// A literal.
    Borrowed(&'a [u8]),
    /// Made while evaluating.
    Counted(Arc<[u8]>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Counted(text) => text,
        }
    }
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Borrowed(bytes) => bytes,
            Bytes::Counted(bytes) => bytes,
        }
    }
}
