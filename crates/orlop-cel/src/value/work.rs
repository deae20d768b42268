//! What one evaluation may do, beside what it costs.
//!
//! Costs are upstream's and do not count everything: comparing two lists costs by their number of
//! items, however deep those are, and values share their parts. So what walks values or makes them
//! also counts here, and an evaluation that does too much ends.

use crate::error::EvalError;

/// How many values one evaluation may look at: a fraction of a second, and many times all values of
/// the largest request.
const STEPS_MAX: u64 = 20_000_000;
/// How many bytes of values one evaluation may make.
const BYTES_MAX: u64 = 64 << 20;

/// What is left of it.
#[derive(Clone, Debug)]
pub struct Work {
    steps: u64,
    bytes: u64,
}

impl Default for Work {
    fn default() -> Work {
        Work { steps: STEPS_MAX, bytes: BYTES_MAX }
    }
}

impl Work {
    /// Says that so many values, or words of text, are looked at.
    ///
    /// # Errors
    ///
    /// When that is too much.
    pub fn look(&mut self, values: usize) -> Result<(), EvalError> {
        take(&mut self.steps, values)
    }

    /// Says that a regular expression is about to be compiled. Repetitions write it out up to a
    /// thousand times.
    ///
    /// # Errors
    ///
    /// When that is too much.
    pub fn compile(&mut self, pattern: &str) -> Result<(), EvalError> {
        let factor = if pattern.contains('{') { 1000 } else { 20 };
        self.look(pattern.len().saturating_mul(factor))
    }

    /// Says that so many bytes of values are about to be made.
    ///
    /// # Errors
    ///
    /// When that is too much.
    pub fn make(&mut self, bytes: usize) -> Result<(), EvalError> {
        take(&mut self.bytes, bytes)
    }
}

fn take(left: &mut u64, amount: usize) -> Result<(), EvalError> {
    *left = left.checked_sub(amount as u64).ok_or(EvalError::ValueTooLarge)?;
    Ok(())
}
