//! Threads whose work can wait.

use std::io;
use std::thread::JoinHandle;

/// How much the scheduler prefers other threads: these get about a tenth of a busy core.
const NICENESS: i32 = 10;

/// Starts a thread that gives way to those that somebody waits for.
pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let gentle = move || {
        // Only a matter of speed: on Linux this concerns the calling thread alone.
        let _ = rustix::process::setpriority_process(None, NICENESS);
        work()
    };
    std::thread::Builder::new().name(name.into()).spawn(gentle)
}
