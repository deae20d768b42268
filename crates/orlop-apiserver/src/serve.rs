//! The listener: connections come in over TLS, requests go to a [`Handle`].
//!
//! HTTP/1.1 (with upgrades) and HTTP/2, chosen by ALPN. Client certificates are optional; who a
//! connection belongs to is found once ([`Peer`]), not once per request. Everything that a client
//! can make large or slow has a bound in [`Limits`].
//!
//! The end: [`ShuttingDown`] stops the listener, tells HTTP/2 clients GOAWAY and HTTP/1.1 clients
//! that the connection closes, and lets watches end; requests under way finish; what is still open
//! after [`Limits::drain_timeout`] is cut off.
//!
//! Behaviour follows `staging/src/k8s.io/apiserver/pkg/server/secure_serving.go` and
//! `.../filters/goaway.go`. Not here: what a request means, and panics of a handler, which end
//! their connection only. A handler needs no socket: call [`Handle::handle`] with [`Peer::local`].

mod connection;
mod limits;
mod peer;
mod shutting_down;
#[cfg(test)]
mod tests;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::body::{Body, RequestBody};

pub use limits::Limits;
pub use peer::Peer;
pub use shutting_down::ShuttingDown;
pub(crate) use tls::ClockTime;
pub use tls::{Tls, TlsError};

/// How long the listener rests when the machine has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a connection may be quiet before the kernel asks whether the client is there, and how
/// long it waits before it asks again.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long connections may take to notice that they are cut off.
const CUT_TIMEOUT: Duration = Duration::from_millis(500);

/// Answers requests.
pub trait Handle: Send + Sync + 'static {
    /// Answers one. The future is dropped when the client goes away.
    fn handle(
        &self,
        request: http::Request<RequestBody>,
        peer: Arc<Peer>,
    ) -> impl Future<Output = http::Response<Body>> + Send;

    /// Notes that a connection came to nothing because of TLS.
    fn handshake_failed(&self) {}
}

/// A port that is listened on, and how.
#[derive(Debug)]
pub struct Serve {
    listener: TcpListener,
    address: SocketAddr,
    tls: Tls,
    limits: Limits,
}

/// Why a port cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else listens there.
    #[error("{address} is in use by another process")]
    InUse {
        /// The address and port.
        address: SocketAddr,
    },
    /// Anything else.
    #[error("cannot listen on {address}")]
    Io {
        /// The address and port.
        address: SocketAddr,
        /// What the machine says.
        source: io::Error,
    },
}

/// The place of a connection among those that may be open. A request that asks for another
/// protocol has it in its extensions: who goes on with the connection when HTTP is over keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Seat(#[expect(dead_code, reason = "held, not used")] Arc<OwnedSemaphorePermit>);

/// What every connection knows.
struct Shared<H> {
    handler: Arc<H>,
    tls: Tls,
    limits: Limits,
    shutting_down: ShuttingDown,
    cut_off: ShuttingDown,
}

impl Serve {
    /// Takes the port, so that clients may connect; they wait until [`Serve::run`].
    ///
    /// # Errors
    /// When the port is taken or the address is not this machine's.
    pub async fn bind(address: SocketAddr, tls: Tls, limits: Limits) -> Result<Serve, BindError> {
        let describe = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => BindError::InUse { address },
            _ => BindError::Io { address, source },
        };
        let listener = TcpListener::bind(address).await.map_err(describe)?;
        notice_absence(&listener, limits.stall_timeout).map_err(describe)?;
        let address = listener.local_addr().map_err(describe)?;
        Ok(Serve { listener, address, tls, limits })
    }

    /// Where it listens, with the real port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until somebody begins to shut down, and then until every connection has ended or
    /// the time for that is over. Returns how many connections were cut off.
    pub async fn run<H: Handle>(self, handler: Arc<H>, shutting_down: &ShuttingDown) -> usize {
        let Serve { listener, tls, limits, .. } = self;
        let room = Arc::new(Semaphore::new(limits.connections_max as usize));
        let all = limits.connections_max;
        let drain_timeout = limits.drain_timeout;
        let shared = Arc::new(Shared {
            handler,
            tls,
            limits,
            shutting_down: shutting_down.clone(),
            cut_off: ShuttingDown::new(),
        });
        tokio::select! {
            () = accept_all(&listener, &shared, &room) => {}
            () = shutting_down.begun() => {}
        }
        drop(listener);
        if tokio::time::timeout(drain_timeout, room.acquire_many(all)).await.is_ok() {
            return 0;
        }
        let left = all as usize - room.available_permits();
        shared.cut_off.begin();
        // Whether or not they notice in time, the caller goes on.
        let _ = tokio::time::timeout(CUT_TIMEOUT, room.acquire_many(all)).await;
        left
    }
}

/// Has the kernel find out that a client is gone without a word, or takes no bytes, for every
/// connection of a listener: a watch over HTTP/1.1 may have nothing to send for hours, and nobody
/// asks for the next piece of one that has too much.
fn notice_absence(listener: &TcpListener, stall_timeout: Duration) -> io::Result<()> {
    let millis = u32::try_from(stall_timeout.as_millis()).unwrap_or(u32::MAX);
    sockopt::set_tcp_user_timeout(listener, millis)?;
    sockopt::set_socket_keepalive(listener, true)?;
    sockopt::set_tcp_keepidle(listener, KEEP_ALIVE)?;
    Ok(sockopt::set_tcp_keepintvl(listener, KEEP_ALIVE)?)
}

async fn accept_all<H: Handle>(
    listener: &TcpListener,
    shared: &Arc<Shared<H>>,
    room: &Arc<Semaphore>,
) {
    loop {
        // Without room further clients wait in the kernel's queue, which has its own bound.
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        let (stream, address) = accept(listener).await;
        let shared = shared.clone();
        tokio::spawn(async move {
            connection::serve(stream, address, &shared, Seat(Arc::new(permit))).await;
        });
    }
}

/// The next connection. Failures belong to one client, or pass when others close something.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_one_client(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
