//! Child processes that end when they must: after a deadline, and with everything they started.
//!
//! A child leads a process group of its own; what it leaves behind in the background ends with
//! the group.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal};

/// What is kept of a child's output; a child that says more has gone wild.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// Runs a command to its end and returns how it ended and what it said on both outputs.
///
/// # Errors
/// It cannot be started, or it runs longer than `limit`; then its whole group is killed.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<(ExitStatus, String)> {
    let (mut reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    // The command holds the other ends of the pipe.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (send, done) = mpsc::channel();
    let collector = std::thread::spawn(move || {
        let mut said = Vec::new();
        let outcome = reader.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut said);
        let _ = send.send(());
        outcome.map(|_| said)
    });
    let is_in_time = done.recv_timeout(limit).is_ok();
    signal_group(&child, Signal::KILL);
    let status = child.wait()?;
    let said = collector.join().map_err(|_| anyhow::anyhow!("reading output panicked"))??;
    let said = String::from_utf8_lossy(&said).into_owned();
    if !is_in_time {
        bail!("still running after {limit:?}; it said:\n{said}");
    }
    Ok((status, said))
}

/// Sends a signal to the child and everything it started.
pub(crate) fn signal_group(child: &Child, signal: Signal) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // A group that is already gone needs no signal.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}
