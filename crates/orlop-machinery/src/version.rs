//! Which version of an API comes first: `v2`, `v1`, `v1beta2`, `v1alpha1`, then everything else.
//!
//! Behaviour follows `staging/src/k8s.io/apimachinery/pkg/version/helpers.go`. It orders versions
//! in discovery and picks the one that a group prefers.

use std::cmp::{Ordering, Reverse};

/// Compares two versions; the greater one is the one to prefer.
///
/// ```
/// use orlop_machinery::version;
///
/// let mut versions = ["v1alpha1", "foo", "v10", "v1beta1", "v2", "bar"];
/// versions.sort_by(|a, b| version::compare(b, a));
/// assert_eq!(versions, ["v10", "v2", "v1beta1", "v1alpha1", "bar", "foo"]);
/// ```
#[must_use]
pub fn compare(a: &str, b: &str) -> Ordering {
    // What is no version is below all versions, and in the order of the alphabet there.
    match (Priority::of(a), Priority::of(b)) {
        (None, None) => Reverse(a).cmp(&Reverse(b)),
        (a, b) => a.cmp(&b),
    }
}

/// Ordered by its fields, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Priority {
    stability: Stability,
    major: i64,
    minor: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

impl Priority {
    /// None if the text is no version, such as `v1` or `v2beta3`.
    fn of(text: &str) -> Option<Priority> {
        let text = text.strip_prefix('v')?;
        let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        let (major, rest) = text.split_at(end);
        let major = number(major)?;
        let (stability, minor) = if rest.is_empty() {
            (Stability::Stable, 0)
        } else if let Some(minor) = rest.strip_prefix("beta") {
            (Stability::Beta, number(minor)?)
        } else {
            (Stability::Alpha, number(rest.strip_prefix("alpha")?)?)
        };
        Some(Priority { stability, major, minor })
    }
}

/// Digits and nothing else.
fn number(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stable_comes_before_beta_before_alpha_before_the_rest() {
        let falling = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v3beta0",
            "v12alpha1",
            "v11alpha2",
            "bar",
            "foo",
            "foo10",
            "v",
            "v1beta",
            "v1gamma1",
            "v99999999999999999999",
        ];
        for (at, a) in falling.iter().enumerate() {
            for (other, b) in falling.iter().enumerate() {
                assert_eq!(compare(a, b), other.cmp(&at), "{a} and {b}");
            }
        }
    }

    proptest! {
        #[test]
        fn order_is_total(
            a in "v[0-2](alpha[0-2]|beta[0-2])?|[vx]{0,2}",
            b in "v[0-2](alpha[0-2]|beta[0-2])?|[vx]{0,2}",
            c in "v[0-2](alpha[0-2]|beta[0-2])?|[vx]{0,2}",
        ) {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
            prop_assert_eq!(compare(&a, &b).is_eq(), a == b);
        }
    }
}
