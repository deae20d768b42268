//! `/healthz`, `/livez` and `/readyz`: whether the server can do its work.
//!
//! After `staging/src/k8s.io/apiserver/pkg/server/healthz/healthz.go`: bodies, headers and what
//! is told to whom. The endpoints are public, so a failure of the whole says which check failed
//! and not why; the log says why, and so does the path of the check itself.
//!
//! A check is a value: whoever has something to check registers it when the server is built.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use http::{Response, StatusCode};

use crate::body::Body;
use crate::plain_text;

/// How long one check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// The most checks that one request may exclude by name.
const EXCLUDED_MAX: usize = 256;

/// What a check finds: nothing, or why the server cannot do its work.
pub type Finding = Result<(), String>;

type Run = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Finding> + Send>> + Send + Sync>;

/// One thing that must be well.
pub struct Check {
    name: &'static str,
    /// Whether only readiness needs it.
    is_readiness: bool,
    run: Run,
}

/// The three endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Old, and the same as [`Endpoint::Livez`].
    Healthz,
    /// Whether the server should go on rather than be started again.
    Livez,
    /// Whether requests should be sent to it.
    Readyz,
}

/// All checks.
pub struct Health {
    checks: Vec<Check>,
}

impl Check {
    /// A check for all endpoints. It is ended when it takes more than two seconds.
    ///
    /// ```
    /// use orlop_apiserver::health::{Check, Health};
    ///
    /// let health = Health::new(vec![
    ///     Check::ping(),
    ///     Check::new("etcd", || async { Ok(()) }),
    ///     Check::readiness("shutdown", || async { Err("process is shutting down".into()) }),
    /// ]);
    /// ```
    pub fn new<F>(name: &'static str, run: impl Fn() -> F + Send + Sync + 'static) -> Check
    where
        F: Future<Output = Finding> + Send + 'static,
    {
        Check { name, is_readiness: false, run: Box::new(move || Box::pin(run())) }
    }

    /// A check for `/readyz` alone.
    pub fn readiness<F>(name: &'static str, run: impl Fn() -> F + Send + Sync + 'static) -> Check
    where
        F: Future<Output = Finding> + Send + 'static,
    {
        Check { is_readiness: true, ..Check::new(name, run) }
    }

    /// The check that needs nothing but an answer.
    #[must_use]
    pub fn ping() -> Check {
        Check::new("ping", || async { Ok(()) })
    }

    async fn find(&self) -> Finding {
        match tokio::time::timeout(CHECK_TIMEOUT, (self.run)()).await {
            Ok(finding) => finding,
            Err(_) => Err(format!("no answer within {} seconds", CHECK_TIMEOUT.as_secs())),
        }
    }
}

impl Endpoint {
    /// All of them.
    pub const ALL: [Endpoint; 3] = [Endpoint::Healthz, Endpoint::Livez, Endpoint::Readyz];

    /// The name, which is the path without its slash.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Endpoint::Healthz => "healthz",
            Endpoint::Livez => "livez",
            Endpoint::Readyz => "readyz",
        }
    }

    fn has(self, check: &Check) -> bool {
        self == Endpoint::Readyz || !check.is_readiness
    }
}

impl Health {
    /// The checks in the order in which they are run and told.
    #[must_use]
    pub fn new(checks: Vec<Check>) -> Health {
        Health { checks }
    }

    /// The paths that are served: one for each endpoint and one for each of its checks.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        Endpoint::ALL.into_iter().flat_map(move |endpoint| {
            let name = endpoint.name();
            let checks = self.checks.iter().filter(move |check| endpoint.has(check));
            let paths = checks.map(move |check| format!("/{name}/{}", check.name));
            std::iter::once(format!("/{name}")).chain(paths)
        })
    }

    /// Answers a request; none if the path is no path of health.
    pub async fn serve(&self, path: &str, query: &str) -> Option<Response<Body>> {
        let (name, check) = match path.strip_prefix('/')?.split_once('/') {
            None => (path.strip_prefix('/')?, None),
            Some((name, check)) => (name, Some(check)),
        };
        let endpoint = Endpoint::ALL.into_iter().find(|known| known.name() == name)?;
        match check {
            None => Some(self.serve_all(endpoint, query).await),
            Some(wanted) => {
                let mut checks = self.checks.iter().filter(|check| endpoint.has(check));
                let found = checks.find(|check| check.name == wanted)?;
                Some(serve_one(found).await)
            }
        }
    }

    async fn serve_all(&self, endpoint: Endpoint, query: &str) -> Response<Body> {
        let query = Query::read(query);
        let mut unknown = query.excluded.clone();
        let (mut told, mut logged, mut failed) = (String::new(), String::new(), Vec::new());
        for check in self.checks.iter().filter(|check| endpoint.has(check)) {
            let name = check.name;
            if query.excluded.contains(name) {
                unknown.remove(name);
                let _infallible = writeln!(told, "[+]{name} excluded: ok");
                continue;
            }
            let _infallible = match check.find().await {
                Ok(()) => writeln!(told, "[+]{name} ok"),
                Err(why) => {
                    failed.push(name);
                    let _infallible = writeln!(logged, "[-]{name} failed: {why}");
                    writeln!(told, "[-]{name} failed: reason withheld")
                }
            };
        }
        if !unknown.is_empty() {
            let names: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
            let _infallible = writeln!(
                told,
                "warn: some health checks cannot be excluded: no matches for {}",
                names.join(",")
            );
        }
        let name = endpoint.name();
        if !failed.is_empty() {
            tracing::info!("{} check failed: {name}\n{logged}", failed.join(","));
            let text = format!("{told}{name} check failed\n");
            return plain_text::answer(StatusCode::INTERNAL_SERVER_ERROR, text);
        }
        let text = match query.is_verbose {
            true => format!("{told}{name} check passed\n"),
            false => "ok".to_owned(),
        };
        plain_text::answer(StatusCode::OK, text)
    }
}

async fn serve_one(check: &Check) -> Response<Body> {
    match check.find().await {
        Ok(()) => plain_text::answer(StatusCode::OK, "ok"),
        Err(why) => plain_text::answer(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("internal server error: {why}\n"),
        ),
    }
}

/// What the query asks for.
struct Query {
    is_verbose: bool,
    excluded: BTreeSet<String>,
}

impl Query {
    fn read(query: &str) -> Query {
        let mut read = Query { is_verbose: false, excluded: BTreeSet::new() };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "verbose" => read.is_verbose = true,
                "exclude" if read.excluded.len() < EXCLUDED_MAX => {
                    read.excluded.insert(value.into_owned());
                }
                _ => {}
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    fn health() -> Health {
        Health::new(vec![
            Check::ping(),
            Check::new("poststarthook/x", || async { Ok(()) }),
            Check::readiness("shutdown", || async { Err("process is shutting down".into()) }),
            Check::readiness("slow", std::future::pending),
        ])
    }

    async fn ask(target: &str) -> Option<(u16, String)> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let answer = health().serve(path, query).await?;
        assert_eq!(answer.headers()["content-type"], "text/plain; charset=utf-8");
        let code = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        Some((code, String::from_utf8(bytes.to_vec()).unwrap()))
    }

    async fn check(target: &str, code: u16, body: &str) {
        assert_eq!(ask(target).await, Some((code, body.to_owned())), "{target}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_well_is_ok() {
        check("/healthz", 200, "ok").await;
        check("/livez?verbose=0", 200, "[+]ping ok\n[+]poststarthook/x ok\nlivez check passed\n")
            .await;
        check("/livez/ping", 200, "ok").await;
        check("/healthz/poststarthook/x", 200, "ok").await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_told_without_its_reason_unless_the_check_is_asked_for() {
        let all = "[+]ping ok\n[+]poststarthook/x ok\n[-]shutdown failed: reason withheld\n[-]slow \
                   failed: reason withheld\nreadyz check failed\n";
        check("/readyz", 500, all).await;
        let shutdown = "internal server error: process is shutting down\n";
        check("/readyz/shutdown", 500, shutdown).await;
        let slow = "internal server error: no answer within 2 seconds\n";
        check("/readyz/slow", 500, slow).await;
    }

    #[tokio::test(start_paused = true)]
    async fn checks_can_be_excluded() {
        check("/readyz?exclude=shutdown&exclude=slow", 200, "ok").await;
        let all = "[+]ping excluded: ok\n[+]poststarthook/x ok\nwarn: some health checks cannot be \
                   excluded: no matches for \"a\",\"b\"\nhealthz check passed\n";
        check("/healthz?verbose&exclude=b&exclude=ping&exclude=a", 200, all).await;
    }

    #[tokio::test(start_paused = true)]
    async fn other_paths_are_not_of_health() {
        for path in ["/", "/health", "/healthz/", "/healthz/nope", "/livez/shutdown", "healthz"] {
            assert_eq!(ask(path).await, None, "{path}");
        }
    }

    #[test]
    fn every_check_has_a_path_where_it_counts() {
        let paths: Vec<String> = health().paths().collect();
        assert!(paths.contains(&"/readyz/shutdown".to_owned()));
        assert!(!paths.contains(&"/livez/shutdown".to_owned()));
        assert_eq!(paths.len(), 3 + 2 + 2 + 4);
    }
}
