//! `proxy`: passes a request on to a pod, a service or a node.
//!
//! After `pkg/registry/core/{pod/rest/subresources.go,service/proxy.go,node/rest/proxy.go}` and
//! `staging/src/k8s.io/apimachinery/pkg/util/proxy`. Redirects to the same host are changed so that
//! they lead through the proxy again. Links inside of pages are not changed.

mod forward;
mod target;

use std::sync::Arc;

use http::header::LOCATION;
use http::{HeaderValue, Method, Response, StatusCode};
use orlop_machinery::status::Status;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::connection::{Location, hand_over, is_upgrade, refuse_dry_run};
use crate::body::Body;
use crate::call::Call;
use crate::query::Query;
use crate::server::Inner;

/// What Go escapes in a path.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// Passes the request on.
pub(super) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    refuse_dry_run(&Query::parse(call.query()))?;
    let address = target::find(server, call).await?;
    let path = join_path(&call.info.rest, call.info.path.ends_with('/'));
    let is_root = path.is_empty();
    let path = utf8_percent_encode(&path, PATH).to_string();
    let location = Location { address, path, query: call.query().to_owned() };
    if is_upgrade(&call.parts.headers) {
        return hand_over(call, &location).await;
    }
    if is_root && matches!(call.parts.method, Method::GET | Method::HEAD) {
        return redirect_to_root(call);
    }
    forward::forward(call, &location).await
}

/// A page at the root of something has links that only work below a slash.
fn redirect_to_root(call: &Call) -> Result<Response<Body>, Status> {
    let mut location = utf8_percent_encode(&call.info.path, PATH).to_string();
    location.push('/');
    if !call.query().is_empty() {
        location.push('?');
        location.push_str(call.query());
    }
    let location = HeaderValue::from_str(&location);
    let location = location.map_err(|error| Status::bad_request(error.to_string()))?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    response.headers_mut().insert(LOCATION, location);
    Ok(response)
}

/// The path that is asked for behind the proxy, without steps that lead nowhere or back.
fn join_path(rest: &str, ends_with_slash: bool) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut path = String::new();
    for part in parts {
        path.push('/');
        path.push_str(part);
    }
    let has_slash = ends_with_slash || rest.ends_with('/') || (path.is_empty() && !rest.is_empty());
    if has_slash {
        path.push('/');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_down() {
        let check = |rest: &str, ends_with_slash: bool, expect: &str| {
            assert_eq!(join_path(rest, ends_with_slash), expect, "{rest}");
        };
        check("", false, "");
        check("", true, "/");
        check("a/b", false, "/a/b");
        check("a/b", true, "/a/b/");
        check("/a//b", false, "/a/b");
        check("a/../../b", false, "/b");
        check("..", false, "/");
        check("a/./b/", false, "/a/b/");
    }
}
