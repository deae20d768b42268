//! One connection from handshake to end.
//!
//! The protocol is what ALPN says: no byte of the client is needed to tell, so a client that
//! sends none is seen by the same timer as one that idles.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::UPGRADE;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::{Handle, Limits, Seat, Shared, tls};
use crate::body::{Body, RequestBody};

/// How many bytes of one request's body may be in flight; most objects fit.
const HTTP2_STREAM_WINDOW: u32 = 256 * 1024;
/// How many bytes of all bodies of a connection may be in flight.
const HTTP2_CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;
/// How many bytes of one answer may wait for a slow client.
const HTTP2_SEND_BUFFER: usize = 128 * 1024;
/// How long a connection may take to close after it was idle for too long.
const LINGER: Duration = Duration::from_secs(5);

/// Serves one connection until it ends. Failures are the client's: they are logged for whoever
/// looks for them.
pub(super) async fn serve<H: Handle>(
    stream: TcpStream,
    address: SocketAddr,
    shared: &Arc<Shared<H>>,
    seat: Seat,
) {
    // Without it answers in two pieces wait for the client's acknowledgement of the first.
    let _ = stream.set_nodelay(true);
    let handshake = TlsAcceptor::from(shared.tls.config()).accept(stream);
    let stream = tokio::select! {
        done = tokio::time::timeout(shared.limits.handshake_timeout, handshake) => match done {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                shared.handler.handshake_failed();
                return tracing::debug!(%address, %error, "TLS handshake failed");
            }
            Err(_) => {
                shared.handler.handshake_failed();
                return tracing::debug!(%address, "TLS handshake took too long");
            }
        },
        // Nothing was asked yet, so nothing is lost.
        () = shared.shutting_down.begun() => return,
    };
    if stream.get_ref().1.alpn_protocol() == Some(tls::ALPN_HTTP2) {
        serve_http2(stream, address, shared, seat).await;
    } else {
        serve_http1(stream, address, shared, seat).await;
    }
}

async fn serve_http1<H: Handle>(
    stream: TlsStream<TcpStream>,
    address: SocketAddr,
    shared: &Arc<Shared<H>>,
    seat: Seat,
) {
    let limits = &shared.limits;
    let activity = Arc::new(Activity::new(seat));
    let service = service(&stream, address, shared, &activity, 0.0);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle_timeout)
        .max_buf_size(limits.header_bytes_max as usize)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    drive(connection, address, shared, &activity).await;
}

async fn serve_http2<H: Handle>(
    stream: TlsStream<TcpStream>,
    address: SocketAddr,
    shared: &Arc<Shared<H>>,
    seat: Seat,
) {
    let limits = &shared.limits;
    let activity = Arc::new(Activity::new(seat));
    let service = service(&stream, address, shared, &activity, limits.goaway_chance);
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.http2_streams_max)
        .max_header_list_size(limits.header_bytes_max)
        .max_pending_accept_reset_streams(limits.http2_resets_max)
        .max_local_error_reset_streams(limits.http2_resets_max)
        .keep_alive_interval(limits.http2_ping_every)
        .keep_alive_timeout(limits.http2_ping_timeout)
        .initial_stream_window_size(HTTP2_STREAM_WINDOW)
        .initial_connection_window_size(HTTP2_CONNECTION_WINDOW)
        .max_send_buf_size(HTTP2_SEND_BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    drive(connection, address, shared, &activity).await;
}

/// What hyper calls for each request.
fn service<H: Handle>(
    stream: &TlsStream<TcpStream>,
    address: SocketAddr,
    shared: &Arc<Shared<H>>,
    activity: &Arc<Activity>,
    goaway_chance: f64,
) -> impl hyper::service::HttpService<
    Incoming,
    ResBody = Counted,
    Error = Infallible,
    Future: Send + 'static,
> + use<H> {
    let peer = Arc::new(shared.tls.peer(address, stream.get_ref().1));
    let handler = shared.handler.clone();
    let activity = activity.clone();
    service_fn(move |mut request: http::Request<Incoming>| {
        if request.headers().contains_key(UPGRADE) {
            request.extensions_mut().insert(activity.seat.clone());
        }
        let (handler, peer) = (handler.clone(), peer.clone());
        if goaway_chance > 0.0 && falls_within(goaway_chance) {
            activity.close.notify_one();
        }
        let under_way = UnderWay::begin(&activity);
        async move {
            let answer = handler.handle(request.map(request_body), peer).await;
            Ok::<_, Infallible>(answer.map(|body| Counted { body, _under_way: under_way }))
        }
    })
}

/// The body of a request; most have none and cost no allocation.
fn request_body(body: Incoming) -> RequestBody {
    use http_body::Body as _;
    if body.is_end_stream() {
        return http_body_util::Empty::new().map_err(|never| match never {}).boxed_unsync();
    }
    body.map_err(Into::into).boxed_unsync()
}

/// Whether something with this chance happens now.
fn falls_within(chance: f64) -> bool {
    getrandom::u32().is_ok_and(|random| f64::from(random) < chance * f64::from(u32::MAX))
}

/// A connection of hyper that can be told to end after what is under way.
trait Connection: Future<Output = hyper::Result<()>> {
    fn graceful_shutdown(self: Pin<&mut Self>);
}

impl<S> Connection for http1::UpgradeableConnection<TokioIo<TlsStream<TcpStream>>, S>
where
    S: hyper::service::HttpService<Incoming, ResBody = Counted, Error = Infallible>,
{
    fn graceful_shutdown(self: Pin<&mut Self>) {
        http1::UpgradeableConnection::graceful_shutdown(self);
    }
}

impl<S> Connection for http2::Connection<TokioIo<TlsStream<TcpStream>>, S, TokioExecutor>
where
    S: hyper::service::HttpService<Incoming, ResBody = Counted, Error = Infallible>,
    S::Future: Send + 'static,
{
    fn graceful_shutdown(self: Pin<&mut Self>) {
        http2::Connection::graceful_shutdown(self);
    }
}

/// Polls a connection until it ends by itself, idles for too long or is cut off.
async fn drive<H: Handle>(
    connection: impl Connection,
    address: SocketAddr,
    shared: &Shared<H>,
    activity: &Activity,
) {
    let mut connection = std::pin::pin!(connection);
    let mut shutting_down = std::pin::pin!(shared.shutting_down.begun());
    let mut cut_off = std::pin::pin!(shared.cut_off.begun());
    let (limits, idle) = (&shared.limits, shared.limits.idle_timeout);
    let first = limits.first_request_timeout.min(idle);
    let mut timer = std::pin::pin!(tokio::time::sleep(first));
    let mut ending = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%address, %error, "connection failed");
                }
                return;
            }
            () = cut_off.as_mut() => return,
            () = shutting_down.as_mut(), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
            }
            () = activity.close.notified(), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
            }
            () = timer.as_mut() => {
                let now = Instant::now();
                match activity.deadline(limits) {
                    None => timer.as_mut().reset(now + idle),
                    Some(deadline) if deadline > now => {
                        timer.as_mut().reset(deadline.min(now + idle));
                    }
                    Some(_) if ending => return,
                    Some(_) => {
                        ending = true;
                        connection.as_mut().graceful_shutdown();
                        timer.as_mut().reset(now + LINGER);
                    }
                }
            }
        }
    }
}

/// What a connection is busy with.
struct Activity {
    /// Kept until the last request is over.
    seat: Seat,
    began: Instant,
    /// How many requests are under way, their answers included.
    under_way: AtomicUsize,
    /// Whether there was one at all.
    asked: AtomicBool,
    /// When the last one ended, in milliseconds after `began`.
    idle_since: AtomicU64,
    /// Somebody wants the connection to end after what is under way.
    close: Notify,
}

impl Activity {
    fn new(seat: Seat) -> Activity {
        Activity {
            seat,
            began: Instant::now(),
            under_way: AtomicUsize::new(0),
            asked: AtomicBool::new(false),
            idle_since: AtomicU64::new(0),
            close: Notify::new(),
        }
    }

    /// When the connection has been idle for too long; none while it is not idle.
    fn deadline(&self, limits: &Limits) -> Option<Instant> {
        if self.under_way.load(Ordering::Acquire) > 0 {
            return None;
        }
        if !self.asked.load(Ordering::Relaxed) {
            return Some(self.began + limits.first_request_timeout);
        }
        let idle_since = Duration::from_millis(self.idle_since.load(Ordering::Relaxed));
        Some(self.began + idle_since + limits.idle_timeout)
    }
}

/// A request that is under way until this is dropped.
struct UnderWay(Arc<Activity>);

impl UnderWay {
    fn begin(activity: &Arc<Activity>) -> UnderWay {
        activity.asked.store(true, Ordering::Relaxed);
        activity.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(activity.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let millis = self.0.began.elapsed().as_millis();
        self.0.idle_since.store(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.0.under_way.fetch_sub(1, Ordering::Release);
    }
}

/// An answer's body, which keeps its request under way.
struct Counted {
    body: Body,
    _under_way: UnderWay,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
