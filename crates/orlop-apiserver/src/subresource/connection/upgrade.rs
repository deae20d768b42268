//! Hands the connection of a client over to somebody else, who speaks another protocol on it.
//!
//! After `tryUpgrade` in `staging/src/k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go`.

use http::header::{AUTHORIZATION, CONNECTION, HOST};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use orlop_machinery::status::Status;
use tokio::io::copy_bidirectional;

use super::{Location, failed};
use crate::backend::forward_body;
use crate::body::Body;
use crate::call::Call;

/// Whether a request asks for another protocol.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    let wants = |value: &HeaderValue| {
        value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("upgrade"))
    };
    headers.get_all(CONNECTION).iter().any(wants)
}

/// Passes a request on, and then everything that either side says until one of them ends.
pub(crate) async fn hand_over(
    call: &mut Call,
    location: &Location,
) -> Result<Response<Body>, Status> {
    let request = request(call, location)?;
    let sent = location.address.send(request).await;
    let mut response = sent.map_err(|error| failed(format!("error dialing backend: {error}")))?;
    let code = response.status();
    if code != StatusCode::SWITCHING_PROTOCOLS {
        if code.as_u16() < 400 {
            let code = code.as_u16();
            return Err(failed(format!("invalid upgrade response: status code {code}")));
        }
        return Ok(response.map(forward_body));
    }
    let Some(client) = call.parts.extensions.get::<OnUpgrade>().cloned() else {
        return Err(failed("request connection cannot be hijacked"));
    };
    let backend = hyper::upgrade::on(&mut response);
    tokio::spawn(async move {
        if let (Ok(client), Ok(backend)) = tokio::join!(client, backend) {
            join(client, backend).await;
        }
    });
    Ok(response.map(|_| Body::empty()))
}

fn request(
    call: &mut Call,
    location: &Location,
) -> Result<Request<crate::body::RequestBody>, Status> {
    let body = call.body.take().unwrap_or_default();
    let mut request = Request::new(body);
    *request.method_mut() = call.parts.method.clone();
    let uri = location.target().parse();
    *request.uri_mut() = uri.map_err(|error| failed(format!("error dialing backend: {error}")))?;
    *request.headers_mut() = call.parts.headers.clone();
    let headers = request.headers_mut();
    headers.remove(AUTHORIZATION);
    let host = HeaderValue::from_str(&location.address.authority());
    headers.insert(HOST, host.map_err(|error| failed(error.to_string()))?);
    Ok(request)
}

/// Passes bytes on both ways until one side ends.
async fn join(client: Upgraded, backend: Upgraded) {
    let (mut client, mut backend) = (TokioIo::new(client), TokioIo::new(backend));
    if let Err(error) = copy_bidirectional(&mut client, &mut backend).await {
        tracing::debug!(%error, "a connection that was handed over broke off");
    }
}
