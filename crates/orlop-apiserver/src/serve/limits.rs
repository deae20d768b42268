//! What a client may take: connections, streams, bytes and time.

use std::time::Duration;

/// The bounds of a listener. The defaults are upstream's where upstream has one.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many connections may be open; further clients wait.
    pub connections_max: u32,
    /// How long a TLS handshake may take.
    pub handshake_timeout: Duration,
    /// How long the first request of a connection may take to come, up to its last header.
    pub first_request_timeout: Duration,
    /// How long a connection may be without a request. For HTTP/1.1 this includes the time that
    /// the headers of a later request take.
    pub idle_timeout: Duration,
    /// How many bytes the headers of a request may have, the URI among them. Upstream lets a
    /// megabyte pass; a URI is at most 64 KiB here anyway.
    pub header_bytes_max: u32,
    /// How many requests one HTTP/2 connection may have under way. Upstream lets Go clients, which
    /// open another connection then, have 100; others would wait behind their own watches.
    pub http2_streams_max: u32,
    /// How many streams a client may have opened and reset before they were accepted, and how
    /// many may have been reset for its errors, before its connection is closed (rapid reset).
    pub http2_resets_max: usize,
    /// How often a quiet HTTP/2 connection is asked whether somebody is there.
    pub http2_ping_every: Duration,
    /// How long the answer to that may take.
    pub http2_ping_timeout: Duration,
    /// How long bytes may wait for a client that takes none, or is gone without a word, before its
    /// connection is closed. Upstream waits for as long as TCP does.
    pub stall_timeout: Duration,
    /// The chance, from 0 to 1, that a request over HTTP/2 makes its client connect anew.
    pub goaway_chance: f64,
    /// How long requests under way have to finish at the end.
    pub drain_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections_max: 16_384,
            handshake_timeout: Duration::from_secs(10),
            first_request_timeout: Duration::from_secs(32),
            idle_timeout: Duration::from_secs(90),
            header_bytes_max: 128 * 1024,
            http2_streams_max: 250,
            http2_resets_max: 64,
            http2_ping_every: Duration::from_secs(30),
            http2_ping_timeout: Duration::from_secs(20),
            stall_timeout: Duration::from_secs(120),
            goaway_chance: 0.0,
            drain_timeout: Duration::from_secs(10),
        }
    }
}
