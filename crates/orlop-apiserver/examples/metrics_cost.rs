//! How long it takes to count a request: `cargo run --release --example metrics_cost`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::time::Instant;

use orlop_apiserver::metrics::Metrics;
use orlop_apiserver::{Catalog, RequestInfo, Version};

const REQUESTS: u32 = 1_000_000;

fn main() {
    let metrics = Metrics::new(Version::of_build());
    let catalog = Catalog::built_in();
    for (method, target) in [
        ("GET", "/api/v1/namespaces/default/pods/a"),
        ("GET", "/api/v1/pods?limit=500"),
        ("POST", "/apis/apps/v1/namespaces/default/deployments"),
        ("PATCH", "/api/v1/namespaces/default/pods/a/status"),
        ("GET", "/readyz"),
    ] {
        let request = http::Request::builder().method(method).uri(target).body(());
        let (parts, ()) = request.expect("the request is valid").into_parts();
        let info = RequestInfo::parse(&parts.method, &parts.uri);
        let definition = catalog.find(&info.group, &info.version, &info.resource);
        let start = Instant::now();
        for _ in 0..REQUESTS {
            let mut counted = metrics.request(&info, &parts, definition.map(|found| &**found));
            counted.answer(200);
            counted.add_bytes(1000);
        }
        let nanos = start.elapsed().as_nanos() / u128::from(REQUESTS);
        println!("{nanos:5} ns  {method} {target}");
    }
}
