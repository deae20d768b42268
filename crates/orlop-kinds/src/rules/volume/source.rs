//! A volume has one source and no more.
//!
//! Pods and persistent volumes have different kinds of sources, and the same rule about their
//! number.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;

/// The field of a kind of source, and what it must say. `C` is what the rules need besides.
pub(crate) type Source<C> = (&'static str, Check<C>);

/// How a source is checked.
pub(crate) enum Check<C> {
    /// On its own, and only if it is the first.
    Plain(fn(&Node<'_>, &mut Errors)),
    /// With what it is in, and only if it is the first.
    Within(fn(&Node<'_>, &C, &mut Errors)),
    /// With what it is in, and it does not matter whether there are others.
    Always(fn(&Node<'_>, &C, &mut Errors)),
}

/// Reports what is wrong with the source that `holder` has, and that it has none or several. Of
/// several the first in the list is checked.
pub(crate) fn validate_one_source<C>(
    holder: &Node<'_>,
    sources: &[Source<C>],
    context: &C,
    errors: &mut Errors,
) {
    let mut is_first = true;
    for (field, check) in sources {
        let source = holder.at(field);
        if !source.is_set() {
            continue;
        }
        match check {
            Check::Always(rule) => rule(holder, context, errors),
            Check::Plain(rule) if is_first => rule(&source, errors),
            Check::Within(rule) if is_first => rule(holder, context, errors),
            Check::Plain(_) | Check::Within(_) => {
                let at = holder.path().child(shown_field(field));
                errors.forbidden(&at, "may not specify more than 1 volume type");
            }
        }
        is_first = false;
    }
    if is_first {
        errors.required(holder, "must specify a volume type");
    }
}

/// Reports which of the fields are missing.
pub(crate) fn require(source: &Node<'_>, fields: &[&str], errors: &mut Errors) {
    for field in fields {
        if source.at(field).is_empty() {
            errors.required(&source.at(field), "");
        }
    }
}

/// The reference to a secret, when there is one, has these fields.
pub(crate) fn require_of_secret(source: &Node<'_>, fields: &[&str], errors: &mut Errors) {
    let secret = source.at("secretRef");
    if secret.is_set() {
        require(&secret, fields, errors);
    }
}

/// How upstream spells a field when it is one too many.
fn shown_field(field: &'static str) -> &'static str {
    match field {
        "cephfs" => "cephFS",
        "downwardAPI" => "downwarAPI",
        field => field,
    }
}
