//! What can go wrong: [`Issues`] when an expression is compiled, [`EvalError`] when it is run.
//!
//! Texts are cel-go's. Places are lines from 1 and columns from 0, in characters, as cel-go counts.

use std::borrow::Cow;
use std::fmt;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The budget is used up.
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimitExceeded,
    /// Something that was being made became larger than anything may be.
    #[error("operation cancelled: value too large")]
    ValueTooLarge,
    /// No function takes arguments of these types.
    #[error("no such overload")]
    NoSuchOverload,
    /// Anything else, in cel-go's words: `no such key: x`, `division by zero`.
    #[error("{0}")]
    Failed(Cow<'static, str>),
}

impl EvalError {
    /// With a text that is known beforehand.
    #[must_use]
    pub const fn fixed(text: &'static str) -> EvalError {
        EvalError::Failed(Cow::Borrowed(text))
    }

    /// With a text of its own.
    #[must_use]
    pub fn new(text: impl Into<String>) -> EvalError {
        EvalError::Failed(Cow::Owned(text.into()))
    }

    /// Whether `&&` and `||` may pass over it. What ends the whole evaluation they may not.
    #[must_use]
    pub fn is_absorbable(&self) -> bool {
        !matches!(self, EvalError::CostLimitExceeded | EvalError::ValueTooLarge)
    }
}

/// Everything that is wrong with an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issues {
    /// In the order of their places.
    pub list: Vec<Issue>,
    /// The lines of the source, to show them.
    pub source: String,
}

/// One thing that is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// From 1.
    pub line: u32,
    /// From 0, in characters.
    pub column: u32,
    /// In cel-go's words.
    pub message: String,
}

impl std::error::Error for Issues {}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.source.split('\n');
        let mut at = 0;
        for (number, issue) in self.list.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            let column = issue.column + 1;
            write!(f, "ERROR: <input>:{}:{column}: {}", issue.line, issue.message)?;
            if issue.line < at || at == 0 {
                lines = self.source.split('\n');
                at = 0;
            }
            let mut shown = None;
            while at < issue.line {
                shown = lines.next();
                at += 1;
            }
            if let Some(line) = shown {
                let indent = ".".repeat(issue.column as usize);
                write!(f, "\n | {line}\n | {indent}^")?;
            }
        }
        Ok(())
    }
}
