//! Calls to one member of etcd: connection, authentication, the wire.
//!
//! A [`Member`] is one lazily made HTTP/2 connection that is made again when it breaks. Answers
//! may be as long as etcd makes them. Every call asks for a member with a leader, which turns
//! calls away at once while it has none.
//!
//! The invariant: a call is put on the wire once. Only a call that was refused for an outdated
//! token is sent again, with a new one, because etcd looks at the token before anything else.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prost::Message;
use tokio::sync::mpsc;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Streaming};
use tonic_prost::ProstCodec;

use super::convert::Failure;
use super::wire::{
    AuthenticateRequest, AuthenticateResponse, CompactionRequest, Done, LeaseGrantRequest,
    LeaseGrantResponse, RangeRequest, RangeResponse, StatusRequest, StatusResponse, TxnRequest,
    TxnResponse, WatchAction, WatchCreateRequest, WatchProgressRequest, WatchRequest,
    WatchResponse,
};

/// Requests that may wait to be sent on a watch stream; more than one or two never do.
const WATCH_REQUESTS: usize = 16;

type Token = MetadataValue<Ascii>;

/// Who the store is to etcd. All members share it, since a token holds for the whole cluster.
pub(super) struct Login {
    user: Option<(String, String)>,
    token: Mutex<Option<Token>>,
    /// Held while a new token is fetched: etcd makes it expensive to check a password.
    fetching: tokio::sync::Mutex<()>,
}

impl Login {
    pub(super) fn new(user: Option<(String, String)>) -> Self {
        Self { user, token: Mutex::new(None), fetching: tokio::sync::Mutex::new(()) }
    }

    fn token(&self) -> Option<Token> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Login").field(&self.user.as_ref().map(|(name, _)| name)).finish()
    }
}

/// A connection to one member.
#[derive(Clone, Debug)]
pub(super) struct Member {
    channel: Channel,
    login: Arc<Login>,
}

impl Member {
    /// Nothing is sent before the first call.
    pub(super) fn new(endpoint: &Endpoint, login: Arc<Login>) -> Self {
        Self { channel: endpoint.connect_lazy(), login }
    }

    pub(super) async fn range(&self, request: RangeRequest) -> Result<RangeResponse, Failure> {
        self.call("/etcdserverpb.KV/Range", request).await
    }

    pub(super) async fn txn(&self, request: TxnRequest) -> Result<TxnResponse, Failure> {
        self.call("/etcdserverpb.KV/Txn", request).await
    }

    pub(super) async fn compact(&self, revision: i64) -> Result<(), Failure> {
        let request = CompactionRequest { revision };
        self.call::<_, Done>("/etcdserverpb.KV/Compact", request).await.map(|_| ())
    }

    pub(super) async fn grant_lease(&self, ttl: i64) -> Result<LeaseGrantResponse, Failure> {
        self.call("/etcdserverpb.Lease/LeaseGrant", LeaseGrantRequest { ttl }).await
    }

    pub(super) async fn version(&self) -> Result<String, Failure> {
        let path = "/etcdserverpb.Maintenance/Status";
        let status: StatusResponse = self.call(path, StatusRequest {}).await?;
        Ok(status.version)
    }

    /// Opens a stream with one watch on it.
    pub(super) async fn watch(&self, create: WatchCreateRequest) -> Result<WatchCall, Failure> {
        let token = self.current_token().await?;
        match self.send_watch(create.clone(), token.clone()).await {
            Err(Failure::Token) if token.is_some() => {
                let token = self.new_token(token).await?;
                self.send_watch(create, token).await
            }
            result => result,
        }
    }

    async fn send_watch(
        &self,
        create: WatchCreateRequest,
        token: Option<Token>,
    ) -> Result<WatchCall, Failure> {
        let (requests, waiting) = mpsc::channel(WATCH_REQUESTS);
        let first = WatchRequest { action: Some(WatchAction::Create(create)) };
        requests.try_send(first).expect("a new queue has room");
        let request = with_metadata(ReceiverStream::new(waiting), token);
        let mut grpc = self.grpc().await?;
        let path = PathAndQuery::from_static("/etcdserverpb.Watch/Watch");
        let codec = ProstCodec::<WatchRequest, WatchResponse>::default();
        let responses = grpc.streaming(request, path, codec).await.map_err(Failure::from)?;
        Ok(WatchCall { requests, responses: responses.into_inner() })
    }

    async fn call<Q, A>(&self, path: &'static str, request: Q) -> Result<A, Failure>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let token = self.current_token().await?;
        match self.send(path, request.clone(), token.clone()).await {
            Err(Failure::Token) if token.is_some() => {
                let token = self.new_token(token).await?;
                self.send(path, request, token).await
            }
            result => result,
        }
    }

    async fn send<Q, A>(
        &self,
        path: &'static str,
        request: Q,
        token: Option<Token>,
    ) -> Result<A, Failure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = self.grpc().await?;
        let codec = ProstCodec::<Q, A>::default();
        let path = PathAndQuery::from_static(path);
        let answer = grpc.unary(with_metadata(request, token), path, codec).await;
        answer.map(tonic::Response::into_inner).map_err(Failure::from)
    }

    async fn grpc(&self) -> Result<Grpc<Channel>, Failure> {
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(usize::MAX);
        // Not ready means that there is no connection to put a request on.
        grpc.ready().await.map_err(|error| Failure::NotSent(error.to_string()))?;
        Ok(grpc)
    }

    async fn current_token(&self) -> Result<Option<Token>, Failure> {
        match self.login.token() {
            None if self.login.user.is_some() => self.new_token(None).await,
            token => Ok(token),
        }
    }

    /// Logs in, unless somebody else replaced the `outdated` token meanwhile.
    async fn new_token(&self, outdated: Option<Token>) -> Result<Option<Token>, Failure> {
        let _fetching = self.login.fetching.lock().await;
        let (current, user) = (self.login.token(), self.login.user.clone());
        let Some((name, password)) = user.filter(|_| current == outdated) else {
            return Ok(current);
        };
        let request = AuthenticateRequest { name, password };
        let answer = self.send("/etcdserverpb.Auth/Authenticate", request, None).await;
        let answer: AuthenticateResponse = answer.map_err(|failure| match failure {
            // Whatever became of the login, the call that needed it was not sent.
            Failure::Ambiguous(reason) => Failure::NotSent(reason),
            failure => failure,
        })?;
        let token = Token::try_from(answer.token)
            .map_err(|_| Failure::NotSent("etcd gave a token that is not text".into()))?;
        *self.login.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
        Ok(Some(token))
    }
}

/// The two directions of a watch stream.
#[derive(Debug)]
pub(super) struct WatchCall {
    requests: mpsc::Sender<WatchRequest>,
    responses: Streaming<WatchResponse>,
}

impl WatchCall {
    /// The next message; none when etcd has closed the stream. Cancel safe.
    pub(super) async fn message(&mut self) -> Result<Option<WatchResponse>, Failure> {
        self.responses.message().await.map_err(Failure::from)
    }

    /// Asks how far the stream is; does nothing if the same question still waits to be sent.
    pub(super) fn ask_progress(&self) {
        let action = WatchAction::Progress(WatchProgressRequest {});
        let _ = self.requests.try_send(WatchRequest { action: Some(action) });
    }
}

fn with_metadata<T>(message: T, token: Option<Token>) -> Request<T> {
    let mut request = Request::new(message);
    let metadata = request.metadata_mut();
    metadata.insert("hasleader", MetadataValue::from_static("true"));
    if let Some(token) = token {
        metadata.insert("token", token);
    }
    request
}
