//! ComponentStatus: whether the other parts of the control plane are well.
//!
//! After `pkg/registry/core/componentstatus` and `serversToValidate` in
//! `pkg/registry/core/rest/storage_core.go`: the scheduler and the controller manager are asked
//! where they listen by default on this machine, the store is asked itself. Selectors can name no
//! more than what every object has.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use orlop_machinery::Value;
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::status::Status;

use crate::backend::Address;
use crate::body::{Body, RequestBody};
use crate::call::Call;
use crate::options::ListOptions;
use crate::server::Inner;
use crate::verb::{method_not_allowed, respond_with_value, respond_with_values};

/// How long a part may take to say that it is well.
const PATIENCE: Duration = Duration::from_secs(20);
/// How much of what it says is kept.
const TEXT_LENGTH_MAX: usize = 10 * 1024;

/// The parts, and where they listen.
const COMPONENTS: [(&str, Where); 3] = [
    ("controller-manager", Where::Port("10257")),
    ("scheduler", Where::Port("10259")),
    ("etcd-0", Where::Store),
];

#[derive(Clone, Copy)]
enum Where {
    Port(&'static str),
    Store,
}

/// Tells about one part or all.
pub(super) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    match call.info.verb {
        "get" => {
            let name = call.info.name.as_str();
            let Some((name, place)) = COMPONENTS.into_iter().find(|(known, _)| *known == name)
            else {
                return Err(Status::not_found(&GroupResource::new("", "componentstatus"), name));
            };
            let status = ask(server, name, place).await;
            respond_with_value(server, call, &definition, StatusCode::OK, &status)
        }
        "list" => {
            let options = ListOptions::parse(call.query(), &call.info, &definition)?;
            let [first, second, third] =
                COMPONENTS.map(|(name, place)| async move { ask(server, name, place).await });
            let (first, second, third) = tokio::join!(first, second, third);
            let statuses: Vec<Value> = [first, second, third]
                .into_iter()
                .filter(|status| is_selected(&options, status))
                .collect();
            respond_with_values(server, call, &statuses)
        }
        _ => Err(method_not_allowed()),
    }
}

fn is_selected(options: &ListOptions, status: &Value) -> bool {
    let name = status.path(&["metadata", "name"]).str();
    let field = |field: &str| (field == "metadata.name").then_some(name);
    options.label_selector.matches_by(|_| None) && options.field_selector.matches(field)
}

/// The status of one part.
async fn ask(server: &Inner, name: &str, place: Where) -> Value {
    let (status, message, error) = match place {
        Where::Store => match tokio::time::timeout(PATIENCE, server.store.health()).await {
            Ok(Ok(())) => ("True", "ok".to_owned(), String::new()),
            Ok(Err(error)) => ("False", String::new(), error.to_string()),
            Err(_) => ("False", String::new(), "context deadline exceeded".to_owned()),
        },
        Where::Port(port) => {
            let address =
                Address { is_secure: true, host: "127.0.0.1".to_owned(), port: port.to_owned() };
            let url = format!("https://{}/healthz", address.authority());
            let (status, message) = match tokio::time::timeout(PATIENCE, probe(&address)).await {
                Ok(Ok((true, text))) => ("True", text),
                Ok(Ok((false, text))) => ("False", text),
                Ok(Err(error)) => ("False", format!("Get \"{url}\": {error}")),
                Err(_) => ("False", format!("Get \"{url}\": context deadline exceeded")),
            };
            (status, message, String::new())
        }
    };
    let mut condition = Value::from([("type", "Healthy"), ("status", status)]);
    for (field, text) in [("message", message), ("error", error)] {
        if !text.is_empty() {
            condition.set(field, text);
        }
    }
    Value::from([
        ("apiVersion", Value::from("v1")),
        ("kind", Value::from("ComponentStatus")),
        ("metadata", Value::from([("name", name)])),
        ("conditions", Value::List(vec![condition])),
    ])
}

/// Whether a part says that it is well, and what it says.
async fn probe(address: &Address) -> Result<(bool, String), String> {
    let request = Request::builder()
        .method(Method::GET)
        .uri("/healthz")
        .header(header::HOST, address.authority())
        .body(RequestBody::default())
        .map_err(|error| error.to_string())?;
    let mut response = address.send(request).await?;
    let code = response.status();
    let text = Limited::new(response.body_mut(), TEXT_LENGTH_MAX).collect().await;
    let text = text.map(|body| body.to_bytes()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    if code.is_success() || code.is_redirection() {
        return Ok((true, text));
    }
    Ok((false, format!("HTTP probe failed with statuscode: {}", code.as_u16())))
}
