//! How a webhook is reached: by a URL or through a service.
//!
//! After `staging/src/k8s.io/apiserver/pkg/util/webhook/validation.go`, which webhooks of admission
//! and the conversion of custom resources share. Errors about fields are at the path of the node
//! that is given. The certificates of `caBundle` are not looked at here.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote_lossless;
use orlop_machinery::url::Url;

const URL_FORM: &str = "; desired format: https://host[/path]";

/// Exactly one way to reach the webhook, and that one in order.
pub(crate) fn validate_webhook_client_config(config: &Node<'_>, errors: &mut Errors) {
    let (url, service) = (config.at("url"), config.at("service"));
    match (url.is_set(), service.is_set()) {
        (true, false) => validate_webhook_url(&url, errors),
        (false, true) => validate_webhook_service(&service, errors),
        _ => errors.required(config, "exactly one of url or service is required"),
    }
}

/// A URL of HTTPS with a host and perhaps a path, and nothing else.
pub(crate) fn validate_webhook_url(node: &Node<'_>, errors: &mut Errors) {
    let url = match Url::parse(node.str()) {
        Ok(url) => url,
        Err(error) => {
            let detail = format!("url must be a valid URL: {error}{URL_FORM}");
            return errors.required(node, detail);
        }
    };
    if url.scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{URL_FORM}");
        errors.invalid_value(node, url.scheme.as_str(), detail);
    }
    if url.host.is_empty() {
        errors.invalid_value(node, "", format!("host must be specified{URL_FORM}"));
    }
    if let Some(user) = url.user {
        errors.invalid_value(node, user, "user information is not permitted in the URL");
    }
    if !url.fragment.is_empty() {
        let detail = "fragments are not permitted in the URL";
        errors.invalid_json(node, &quote_lossless(&url.fragment), detail);
    }
    if !url.query.is_empty() {
        errors.invalid_value(
            node,
            url.query.as_str(),
            "query parameters are not permitted in the URL",
        );
    }
}

/// A service, its port and the path of the webhook there.
pub(crate) fn validate_webhook_service(service: &Node<'_>, errors: &mut Errors) {
    // Upstream mixes up the two: a missing namespace is reported as a missing name.
    for (missing, reported) in [("namespace", "name"), ("name", "namespace")] {
        if service.at(missing).is_empty() {
            errors.required(&service.at(reported), "");
        }
    }
    let port = service.at("port");
    let messages = names::port_number(port.int());
    if !messages.is_empty() {
        let detail = format!("port is not valid: {}", messages.join(", "));
        errors.invalid_value(&port, port.int(), detail);
    }
    validate_webhook_path(&service.at("path"), errors);
}

/// Steps that are each a DNS name.
fn validate_webhook_path(path: &Node<'_>, errors: &mut Errors) {
    match path.str() {
        "" | "/" => return,
        "//" => return errors.invalid(path, "segment[0] may not be empty"),
        text if !text.starts_with('/') => errors.invalid(path, "must start with a '/'"),
        _ => {}
    }
    let steps = without_first_byte(path.str());
    let steps = steps.strip_suffix('/').unwrap_or(&steps);
    for (at, step) in steps.split('/').enumerate() {
        if step.is_empty() {
            errors.invalid(path, format!("segment[{at}] may not be empty"));
            continue;
        }
        for message in names::dns_subdomain(step) {
            errors.invalid(path, format!("segment[{at}]: {message}"));
        }
    }
}

/// The rest of a text. Upstream cuts off a byte whatever it is; what that leaves of a character is
/// never part of a name, as the underscore here is not.
fn without_first_byte(text: &str) -> String {
    let mut characters = text.chars();
    let left = characters.next().map_or(0, |first| first.len_utf8() - 1);
    "_".repeat(left) + characters.as_str()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use orlop_machinery::field::Path;
    use orlop_machinery::json;

    fn check(config: &str, expect: &[&str]) {
        let config = json::parse(config.as_bytes()).unwrap();
        let mut errors = Errors::new();
        validate_webhook_client_config(&Node::new(&config, Path::field("c")), &mut errors);
        let seen = errors.to_string();
        let seen: Vec<&str> = seen.lines().map(|line| line.split(" (").next().unwrap()).collect();
        assert_eq!(seen, expect);
    }

    #[test]
    fn there_is_one_way_to_a_webhook() {
        let one = "c: Required value: exactly one of url or service is required";
        check("{}", &[one]);
        check(r#"{"url": "https://a", "service": {}}"#, &[one]);
        check(r#"{"url": "https://a:1/b"}"#, &[]);
        check(r#"{"service": {"name": "a", "namespace": "b", "port": 443}}"#, &[]);
    }

    #[test]
    fn a_url_has_a_host_and_a_path_and_no_more() {
        check(r#"{"url": "HTTPS://[::1]:80"}"#, &[]);
        check(
            r#"{"url": ""}"#,
            &[
                "c.url: Invalid value: \"\": 'https' is the only allowed URL scheme; desired \
                 format: https://host[/path]",
                "c.url: Invalid value: \"\": host must be specified; desired format: \
                 https://host[/path]",
            ],
        );
        check(
            r#"{"url": "https://a:b@c/d?e=f#g%ff"}"#,
            &[
                "c.url: Invalid value: \"a:b\": user information is not permitted in the URL",
                "c.url: Invalid value: \"g\\xff\": fragments are not permitted in the URL",
                "c.url: Invalid value: \"e=f\": query parameters are not permitted in the URL",
            ],
        );
        check(
            r#"{"url": "https://a:b"}"#,
            &["c.url: Required value: url must be a valid URL: parse \"https://a:b\": invalid \
               port \":b\" after host; desired format: https://host[/path]"],
        );
    }

    #[test]
    fn a_service_has_names_and_a_port() {
        check(
            r#"{"service": {"name": "a", "port": 65536}}"#,
            &[
                "c.service.name: Required value",
                "c.service.port: Invalid value: 65536: port is not valid: must be between 1 and \
                 65535, inclusive",
            ],
        );
        check(
            r#"{"service": {"namespace": "a", "port": 1}}"#,
            &["c.service.namespace: Required value"],
        );
    }

    #[test]
    fn a_path_is_of_dns_names() {
        let check_path = |path: &str, expect: &[&str]| {
            let config = format!(
                r#"{{"service": {{"name": "a", "namespace": "b", "port": 1, "path": "{path}"}}}}"#
            );
            let expect: Vec<String> = expect
                .iter()
                .map(|detail| format!("c.service.path: Invalid value: \"{path}\": {detail}"))
                .collect();
            check(&config, &expect.iter().map(String::as_str).collect::<Vec<_>>());
        };
        let dns = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                   characters, '-' or '.', and must start and end with an alphanumeric character";
        for path in ["", "/", "/a", "/a.b/c/"] {
            check_path(path, &[]);
        }
        check_path("//", &["segment[0] may not be empty"]);
        check_path("/a//b", &["segment[1] may not be empty"]);
        check_path("a", &["must start with a '/'", "segment[0] may not be empty"]);
        check_path("/a/B", &[&format!("segment[1]: {dns}")]);
        check_path("\u{e9}a", &["must start with a '/'", &format!("segment[0]: {dns}")]);
    }
}
