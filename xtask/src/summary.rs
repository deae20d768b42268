//! The table that commands with several steps print at their end.

use std::time::Duration;

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Step {
    /// What was done.
    pub name: String,
    /// How it ended, in one word.
    pub outcome: &'static str,
    /// How long it took.
    pub took: Duration,
}

/// Lays out the steps, one per line, in columns.
#[must_use]
pub fn table(steps: &[Step]) -> String {
    let wide = |of: fn(&Step) -> &str| steps.iter().map(|step| of(step).len()).max().unwrap_or(0);
    let (name_width, outcome_width) = (wide(|step| &step.name), wide(|step| step.outcome));
    let mut text = String::new();
    for step in steps {
        let seconds = format!("{:.1} s", step.took.as_secs_f64());
        text += &format!(
            "{:<name_width$}  {:<outcome_width$}  {seconds:>9}\n",
            step.name, step.outcome
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let step = |name: &str, outcome, seconds| Step {
            name: name.to_owned(),
            outcome,
            took: Duration::from_secs(seconds),
        };
        let text = table(&[step("fmt", "ok", 1), step("clippy", "FAILED", 1234)]);
        assert_eq!(text, "fmt     ok          1.0 s\nclippy  FAILED   1234.0 s\n");
    }
}
