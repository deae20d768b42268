//! Patterns that are looked for in texts, with a bound on how long that takes.
//!
//! Looking is linear in the text, but at worst every instruction of the pattern is looked at for
//! every character. What that can come to counts as work, whatever upstream charges for it.

use std::sync::Arc;

use orlop_machinery::regular_expression::{self, SyntaxError};
use regex::Regex;

use crate::error::EvalError;
use crate::function::{Context, Prepared};
use crate::value::{Value, Work};

/// How many instructions are looked at in the time that one value takes.
const INSTRUCTIONS_PER_STEP: u64 = 8;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    instructions: u64,
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Pattern, SyntaxError> {
        let (regex, instructions) = regular_expression::compile_counted(pattern)?;
        Ok(Pattern { regex, instructions })
    }

    /// Compiles the second argument, when it is constant.
    pub(super) fn prepare(args: &[Option<&Value<'_>>]) -> Option<Result<Prepared, EvalError>> {
        let pattern = (*args.get(1)?)?.as_str()?;
        Some(match Pattern::new(pattern) {
            Ok(pattern) => Ok(Arc::new(pattern)),
            Err(wrong) => Err(EvalError::new(wrong.to_string())),
        })
    }

    /// What was prepared for a call.
    pub(super) fn prepared<'c>(context: &Context<'c>) -> Option<&'c Pattern> {
        context.prepared?.downcast_ref()
    }

    /// To look for it in a text, which counts as work.
    pub(super) fn search(&self, text: &str, work: &mut Work) -> Result<&Regex, EvalError> {
        let per_character = self.instructions / INSTRUCTIONS_PER_STEP + 1;
        let per_character = usize::try_from(per_character).unwrap_or(usize::MAX);
        work.look(text.len().saturating_mul(per_character))?;
        Ok(&self.regex)
    }
}
