//! What happens when a container starts and when it ends.
//!
//! After `validateLifecycle` and `validateStopSignal` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

use super::containers::Pod;
use super::probes::validate_handler;
use crate::rules::scalar::validate_choice;

/// What can be done at these moments.
const HANDLERS: &[&str] = &["exec", "httpGet", "tcpSocket", "sleep"];

const WINDOWS_SIGNALS: &[&str] = &["SIGKILL", "SIGTERM"];

/// Sorted as text.
const LINUX_SIGNALS: &[&str] = &[
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMAX-1",
    "SIGRTMAX-10",
    "SIGRTMAX-11",
    "SIGRTMAX-12",
    "SIGRTMAX-13",
    "SIGRTMAX-14",
    "SIGRTMAX-2",
    "SIGRTMAX-3",
    "SIGRTMAX-4",
    "SIGRTMAX-5",
    "SIGRTMAX-6",
    "SIGRTMAX-7",
    "SIGRTMAX-8",
    "SIGRTMAX-9",
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];

/// The lifecycle of a container; one that is not set is fine.
pub(super) fn validate_lifecycle(lifecycle: &Node<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    for moment in ["postStart", "preStop"] {
        let handler = lifecycle.at(moment);
        if handler.is_set() {
            validate_handler(&handler, HANDLERS, pod.grace_period, errors);
        }
    }
    let signal = lifecycle.at("stopSignal");
    if !signal.is_set() {
        return;
    }
    match pod.os {
        None => {
            let detail = "may not be set for containers with empty `spec.os.name`";
            errors.forbidden(&signal, detail);
        }
        Some("windows") => validate_choice(&signal, WINDOWS_SIGNALS, errors),
        Some("linux") => validate_choice(&signal, LINUX_SIGNALS, errors),
        // The name of the system is wrong, and that is said elsewhere.
        Some(_) => {}
    }
}
