//! Clients that mean no good, over real sockets and with bytes that no client library would send.
//! Whatever they do, it is refused or cut off, takes a bounded part of the server, and others are
//! served meanwhile.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

mod frames;
mod http1;
mod http2;
mod logs;
mod running;
mod slow;
