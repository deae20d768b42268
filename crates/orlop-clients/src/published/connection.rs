//! The client of the inquiry, from the file by which an administrator connects.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use orlop_apiserver_suite::{ApiClient, Credentials};
use orlop_machinery::{Value, bytes, yaml};

/// A client of the server that the file names.
pub(super) fn open(kubeconfig: &Path) -> Result<ApiClient> {
    let config = yaml::parse(&std::fs::read(kubeconfig)?)?;
    let first = |list: &str, what: &str| -> Option<Value> {
        config.get(list)?.as_list()?.first()?.get(what).cloned()
    };
    let cluster = first("clusters", "cluster").context("the file names no cluster")?;
    let user = first("users", "user").context("the file names no user")?;
    let text = |of: &Value, key: &str| -> Result<String> {
        let found = of.get(key).and_then(Value::as_str);
        Ok(found.with_context(|| format!("the file has no {key}"))?.to_owned())
    };
    let pem = |of: &Value, key: &str| -> Result<String> {
        let decoded = bytes::decode(&text(of, key)?).with_context(|| key.to_owned())?;
        Ok(String::from_utf8(decoded)?)
    };
    let server = text(&cluster, "server")?;
    let address: SocketAddr = server.trim_start_matches("https://").parse()?;
    let credentials = Credentials {
        ca: pem(&cluster, "certificate-authority-data")?,
        certificate: pem(&user, "client-certificate-data")?,
        key: pem(&user, "client-key-data")?,
    };
    ApiClient::new(Arc::new(Mutex::new(address)), &credentials)
}
