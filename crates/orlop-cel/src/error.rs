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

/// The most issues that are kept, as cel-go has it.
const ISSUES_MAX: usize = 100;
/// The longest line, in bytes, that is shown with an issue.
const SNIPPET_BYTES_MAX: usize = 16_384;

/// Everything that is wrong with an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issues {
    /// In the order of their places.
    pub list: Vec<Issue>,
    /// How many more there were.
    pub truncated: usize,
    /// The lines of the source, to show them.
    pub source: String,
}

/// One thing that is wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// From 1; -1 without a place.
    pub line: i32,
    /// From 0, in characters; -1 without a place.
    pub column: i32,
    /// In cel-go's words.
    pub message: String,
}

impl Issues {
    /// Nothing is wrong with this text so far.
    #[must_use]
    pub fn new(source: &str) -> Issues {
        Issues { list: Vec::new(), truncated: 0, source: source.to_owned() }
    }

    /// Adds an issue at this character of the source, or without a place.
    pub fn report(&mut self, offset: Option<u32>, message: impl Into<String>) {
        if self.list.len() == ISSUES_MAX {
            self.truncated += 1;
            return;
        }
        let (line, column) = offset.map_or((-1, -1), |offset| place(&self.source, offset));
        self.list.push(Issue { line, column, message: message.into() });
    }

    /// The same in the order of their places.
    #[must_use]
    pub fn sorted(mut self) -> Issues {
        self.list.sort_by_key(|issue| (issue.line, issue.column));
        self
    }
}

impl std::error::Error for Issues {}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, issue) in self.list.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            let column = issue.column + 1;
            write!(f, "ERROR: <input>:{}:{column}: {}", issue.line, issue.message)?;
            let line = usize::try_from(issue.line - 1).ok();
            let line = line.and_then(|line| self.source.split('\n').nth(line));
            if let Some(line) = line
                && !self.source.is_empty()
                && line.len() <= SNIPPET_BYTES_MAX
            {
                show(f, line, usize::try_from(issue.column).unwrap_or(0))?;
            }
        }
        if self.truncated > 0 {
            write!(f, "\n{} more errors were truncated", self.truncated)?;
        }
        Ok(())
    }
}

/// The line from 1 and the column from 0 of a character.
fn place(source: &str, offset: u32) -> (i32, i32) {
    if source.is_empty() {
        // What cel-go says about a source without any line.
        return (1, -1);
    }
    let (mut line, mut column) = (1, 0);
    for character in source.chars().take(offset as usize) {
        (line, column) = if character == '\n' { (line + 1, 0) } else { (line, column + 1) };
    }
    (line, column)
}

/// A line, and under it dots up to the place. Both are wide where the character is not ASCII.
fn show(f: &mut fmt::Formatter<'_>, line: &str, column: usize) -> fmt::Result {
    write!(f, "\n | {}\n | ", line.replace('\t', " "))?;
    for character in line.chars().take(column) {
        f.write_str(if character.is_ascii() { "." } else { "\u{ff0e}" })?;
    }
    match line.chars().nth(column) {
        Some(character) if !character.is_ascii() => f.write_str("\u{ff3e}"),
        _ => f.write_str("^"),
    }
}
