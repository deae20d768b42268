//! A bar for work that takes longer than a moment.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar on standard error; nothing is drawn where that is not a terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar for some work.
    pub(crate) fn new(work: &'static str) -> Self {
        let style = ProgressStyle::with_template("{msg} [{bar:40}] {percent}% {eta}");
        let style = style.expect("the template is valid").progress_chars("=> ");
        let bar = ProgressBar::new(0).with_style(style).with_message(work);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Moves the bar: done and all, of whatever unit.
    pub(crate) fn set(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
