//! Where a Service is.
//!
//! After `ResolveCluster` in `staging/src/k8s.io/apiserver/pkg/util/proxy/proxy.go`.

use async_trait::async_trait;
use orlop_machinery::Value;

/// Knows where Services are.
#[async_trait]
pub trait ServiceResolver: Send + Sync {
    /// The host and port to connect to for a port of a Service.
    ///
    /// # Errors
    /// Why there is none, as a client is told: `service "a" not found`.
    async fn resolve(
        &self,
        namespace: &str,
        name: &str,
        port: u16,
    ) -> Result<(String, u16), String>;
}

/// Knows no Service.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoServices;

#[async_trait]
impl ServiceResolver for NoServices {
    async fn resolve(&self, _: &str, name: &str, _: u16) -> Result<(String, u16), String> {
        Err(format!("service \"{name}\" not found"))
    }
}

/// Where a Service is inside the cluster: what a [`ServiceResolver`] answers once it has the
/// object.
///
/// # Errors
/// When the Service has no address of its own, or not this port.
pub fn cluster_address(service: &Value, port: u16) -> Result<(String, u16), String> {
    let spec = service.at("spec");
    let address = spec.at("clusterIP").str();
    match spec.at("type").str() {
        "ClusterIP" if address == "None" => {
            Err("cannot route to service with ClusterIP \"None\"".to_owned())
        }
        "ClusterIP" | "LoadBalancer" | "NodePort" => {
            let ports = spec.at("ports").list();
            if ports.iter().any(|known| known.at("port").int() == i64::from(port)) {
                return Ok((address.to_owned(), port));
            }
            let name = service.path(&["metadata", "name"]).str();
            Err(format!("no service port {port} found for service \"{name}\""))
        }
        "ExternalName" => Ok((spec.at("externalName").str().to_owned(), port)),
        other => Err(format!("unsupported service type \"{other}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orlop_machinery::json;

    fn check(spec: &str, expect: Result<(&str, u16), &str>) {
        let text = format!(r#"{{"metadata": {{"name": "hook"}}, "spec": {spec}}}"#);
        let found = cluster_address(&json::parse(text.as_bytes()).unwrap(), 443);
        let expect = expect.map(|(host, port)| (host.to_owned(), port)).map_err(str::to_owned);
        assert_eq!(found, expect, "{spec}");
    }

    #[test]
    fn a_service_is_at_its_cluster_address() {
        let here = r#"{"type": "NodePort", "clusterIP": "10.0.0.1", "ports": [{"port": 443}]}"#;
        check(here, Ok(("10.0.0.1", 443)));
        let there = r#"{"type": "ExternalName", "externalName": "example.com"}"#;
        check(there, Ok(("example.com", 443)));
    }

    #[test]
    fn a_service_without_address_or_port_is_nowhere() {
        let headless = r#"{"type": "ClusterIP", "clusterIP": "None", "ports": [{"port": 443}]}"#;
        check(headless, Err("cannot route to service with ClusterIP \"None\""));
        let other = r#"{"type": "ClusterIP", "clusterIP": "10.0.0.1", "ports": [{"port": 80}]}"#;
        check(other, Err("no service port 443 found for service \"hook\""));
        check("{}", Err("unsupported service type \"\""));
    }
}
