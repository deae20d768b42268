//! Rules of finalizers: who must agree before an object is gone.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go`; the rule that only
//! built-in kinds have, after `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use crate::field::{At, Errors};
use crate::names::qualified_name;
use crate::node::Node;
use crate::text::quote;
use crate::value::Value;

/// The garbage collector cuts the dependents loose before the object is gone.
pub const FINALIZER_ORPHAN: &str = "orphan";
/// The garbage collector deletes the dependents before the object is gone.
pub const FINALIZER_FOREGROUND: &str = "foregroundDeletion";
/// A namespace is emptied before it is gone.
const FINALIZER_KUBERNETES: &str = "kubernetes";

/// Finalizers are well-formed and do not contradict each other.
pub fn validate_finalizers(finalizers: &Node<'_>, errors: &mut Errors) {
    for finalizer in finalizers.list() {
        validate_finalizer_name(finalizers, finalizer.str(), errors);
    }
    let has = |name: &str| finalizers.list().iter().any(|finalizer| finalizer.str() == name);
    if has(FINALIZER_ORPHAN) && has(FINALIZER_FOREGROUND) {
        let detail =
            format!("finalizer {FINALIZER_ORPHAN} and {FINALIZER_FOREGROUND} cannot be both set");
        errors.invalid(finalizers, detail);
    }
}

/// The name of a finalizer is well-formed.
pub fn validate_finalizer_name(at: &impl At, name: &str, errors: &mut Errors) {
    for detail in qualified_name(name) {
        errors.invalid_value(at, name, detail);
    }
}

/// Of built-in kinds: finalizers without a domain are Kubernetes' own.
pub fn validate_kube_finalizers(finalizers: &Node<'_>, errors: &mut Errors) {
    for finalizer in finalizers.items() {
        validate_kube_finalizer_name(&finalizer, finalizer.str(), errors);
    }
}

/// The same for one finalizer.
pub fn validate_kube_finalizer_name(at: &impl At, name: &str, errors: &mut Errors) {
    let standard = [FINALIZER_KUBERNETES, FINALIZER_ORPHAN, FINALIZER_FOREGROUND];
    if !name.contains('/') && !standard.contains(&name) {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.invalid_value(at, name, detail);
    }
}

/// An object that is being deleted gets no more finalizers.
pub fn validate_no_new_finalizers(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    let known: BTreeSet<&str> = old.list().iter().map(Value::str).collect();
    let extra: BTreeSet<&str> =
        new.list().iter().map(Value::str).filter(|name| !known.contains(name)).collect();
    if extra.is_empty() {
        return;
    }
    let extra: Vec<String> = extra.into_iter().map(quote).collect();
    let extra = extra.join(", ");
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers \
         []string{{{extra}}}"
    );
    errors.forbidden(new, detail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Path;
    use crate::json;

    fn check(rule: fn(&Node<'_>, &mut Errors), text: &str, expect: &[&str]) {
        let value = json::parse(text.as_bytes()).unwrap();
        let mut errors = Errors::new();
        rule(&Node::new(&value, Path::field("f")), &mut errors);
        assert_eq!(errors.to_string().lines().collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn a_finalizer_is_a_qualified_name() {
        check(validate_finalizers, r#"["a/b", "orphan", "plain"]"#, &[]);
        let bad = "f: Invalid value: \"/b\": prefix part must be non-empty";
        check(validate_finalizers, r#"["a/b", "/b"]"#, &[bad]);
    }

    #[test]
    fn dependents_are_cut_loose_or_deleted_but_not_both() {
        let both = "f: Invalid value: [\"foregroundDeletion\",\"orphan\"]: finalizer orphan and \
                    foregroundDeletion cannot be both set";
        check(validate_finalizers, r#"["foregroundDeletion", "orphan"]"#, &[both]);
    }

    #[test]
    fn built_in_kinds_take_only_standard_names_without_a_domain() {
        let all = r#"["kubernetes", "orphan", "foregroundDeletion", "a.b/c", "plain"]"#;
        let bad = "f[4]: Invalid value: \"plain\": name is neither a standard finalizer name nor \
                   is it fully qualified";
        check(validate_kube_finalizers, all, &[bad]);
    }

    #[test]
    fn an_object_that_is_being_deleted_gets_no_more_finalizers() {
        let check = |new: &str, old: &str, expect: &str| {
            let new = json::parse(new.as_bytes()).unwrap();
            let old = json::parse(old.as_bytes()).unwrap();
            let mut errors = Errors::new();
            let at = Path::field("f");
            validate_no_new_finalizers(&Node::new(&new, at), &Node::new(&old, at), &mut errors);
            assert_eq!(errors.to_string(), expect);
        };
        check(r#"["a"]"#, r#"["b", "a"]"#, "");
        check("null", r#"["a"]"#, "");
        let expect = "f: Forbidden: no new finalizers can be added if the object is being \
                      deleted, found new finalizers []string{\"b\", \"c\"}\n";
        check(r#"["c", "a", "b", "c"]"#, r#"["a"]"#, expect);
    }
}
