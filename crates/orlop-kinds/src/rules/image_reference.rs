//! The name of an image, such as `registry.example.com:5000/team/app:v1@sha256:...`.
//!
//! Only what defaults need is here: which tag is meant. The grammar is that of
//! `github.com/distribution/reference`, as `pkg/util/parsers/parsers.go` uses it. An image that is
//! not well-formed is nobody's error at this level: it has no tag.

/// When to pull an image if nobody says: always for what moves under its tag, else once.
pub(crate) fn default_pull_policy(image: &str) -> &'static str {
    if tag(image) == Some("latest") { "Always" } else { "IfNotPresent" }
}

/// The longest path of a repository.
const PATH_MAX: usize = 255;
const TAG_MAX: usize = 128;

/// The algorithms that a digest may have, and how many digits they make.
const DIGESTS: &[(&str, usize)] = &[("sha256", 64), ("sha384", 96), ("sha512", 128)];

/// The tag of an image: what it says, or `latest` when it has neither tag nor digest. None for an
/// image with a digest alone, and for what is no image at all.
fn tag(image: &str) -> Option<&str> {
    if image.len() == 64 && image.bytes().all(is_lower_hex) {
        return None;
    }
    let (domain, rest) = split_domain(image);
    let (name, digest) = match rest.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (rest, None),
    };
    let (path, tag) = match name.rsplit_once(':') {
        Some((path, tag)) => (path, Some(tag)),
        None => (name, None),
    };
    let is_name = match domain {
        None | Some("docker.io" | "index.docker.io") if !path.contains('/') => {
            // Such an image is in the repository `library`, which counts.
            is_path(&format!("library/{path}"))
        }
        Some(domain) if !is_domain(domain) => is_path(&format!("{domain}/{path}")),
        _ => is_path(path),
    };
    let is_fine = is_name && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
    match (tag, digest) {
        _ if !is_fine => None,
        (None, None) => Some("latest"),
        (tag, _) => tag,
    }
}

/// What is before the first slash is a domain when it looks like one.
fn split_domain(image: &str) -> (Option<&str>, &str) {
    match image.split_once('/') {
        Some((domain, rest))
            if domain == "localhost"
                || domain.contains(['.', ':'])
                || domain.chars().any(char::is_uppercase) =>
        {
            (Some(domain), rest)
        }
        _ => (None, image),
    }
}

/// Components with dots between them, or an IPv6 address in brackets, and perhaps a port.
fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, port)) => (Host::Address(host), port),
            None => return false,
        },
        None => {
            let end = domain.find(':').unwrap_or(domain.len());
            (Host::Name(&domain[..end]), &domain[end..])
        }
    };
    let is_port = match port.strip_prefix(':') {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()),
        None => port.is_empty(),
    };
    let is_host = match host {
        Host::Address(host) => {
            !host.is_empty() && host.bytes().all(|byte| byte == b':' || byte.is_ascii_hexdigit())
        }
        Host::Name(host) => host.split('.').all(is_domain_component),
    };
    is_host && is_port
}

enum Host<'a> {
    Name(&'a str),
    Address(&'a str),
}

fn is_domain_component(component: &str) -> bool {
    !component.is_empty()
        && !component.starts_with('-')
        && !component.ends_with('-')
        && component.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
}

fn is_path(path: &str) -> bool {
    path.len() <= PATH_MAX && path.split('/').all(is_path_component)
}

/// Words of small letters and digits, with a dot, up to two underscores or any number of dashes
/// between them.
fn is_path_component(component: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut rest = component;
    loop {
        let word = rest.len() - rest.trim_start_matches(is_word).len();
        if word == 0 {
            return false;
        }
        rest = &rest[word..];
        if rest.is_empty() {
            return true;
        }
        rest = match rest.strip_prefix("__").or_else(|| rest.strip_prefix(['.', '_'])) {
            Some(after) => after,
            None if rest.starts_with('-') => rest.trim_start_matches('-'),
            None => return false,
        };
    }
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    (1..=TAG_MAX).contains(&tag.len())
        && tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        DIGESTS.contains(&(algorithm, hex.len())) && hex.bytes().all(is_lower_hex)
    })
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_is_what_the_image_says_or_latest() {
        let digest = format!("sha256:{}", "ab".repeat(32));
        let check = |image: &str, expect: Option<&str>| assert_eq!(tag(image), expect, "{image}");
        check("nginx", Some("latest"));
        check("nginx:1.25", Some("1.25"));
        check("team/app", Some("latest"));
        check("localhost/app:v1", Some("v1"));
        check("localhost:5000/app", Some("latest"));
        check("Registry/app", Some("latest"));
        check("registry.example.com:5000/team/app:v1", Some("v1"));
        check("[2001:db8::1]:5000/app:v1", Some("v1"));
        check("a__b/c---d/e.f_g", Some("latest"));
        check("a_b.c/d", Some("latest"));
        check(&format!("nginx@{digest}"), None);
        check(&format!("nginx:latest@{digest}"), Some("latest"));
    }

    #[test]
    fn what_is_no_image_has_no_tag() {
        let long = format!("{}/b", "a".repeat(255));
        let long_in_library = "a".repeat(248);
        let (hex, tag_too_long) = ("ab".repeat(32), format!("a:{}", "b".repeat(129)));
        for image in [
            "",
            " ",
            "nginx ",
            "Nginx",
            "team/App",
            "a..b",
            "a___b",
            "-a",
            "a-",
            "a:",
            "a:-b",
            "a//b",
            "/a",
            "a/",
            "a:b:c",
            "host:port/a",
            "[::1/a",
            "[]/a",
            "a@sha256:ab",
            "a@md5:ab",
            "host.:5000/a",
            &long,
            &long_in_library,
            &hex,
            &tag_too_long,
        ] {
            assert_eq!(tag(image), None, "{image}");
            assert_eq!(default_pull_policy(image), "IfNotPresent");
        }
    }
}
