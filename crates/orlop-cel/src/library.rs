//! The libraries: what expressions can call, one file each.

mod argument;
pub mod authorizer;
pub mod bindings;
pub mod cidr;
pub mod comprehensions;
pub mod encoders;
pub mod ip;
pub mod json_patch;
pub mod kubernetes_lists;
pub mod lists;
pub mod math;
pub mod named_format;
pub mod optional;
mod pattern;
mod price;
pub mod quantity;
pub mod regex;
pub mod semver;
pub mod sets;
pub mod standard;
pub mod strings;
pub mod url;

use crate::function::Library;

/// What Kubernetes 1.36 gives to every expression: see
/// `staging/src/k8s.io/apiserver/pkg/cel/environment/base.go`.
pub static KUBERNETES: &[&Library] = &[
    &standard::STANDARD,
    &url::URLS,
    &regex::REGEX,
    &kubernetes_lists::KUBERNETES_LISTS,
    &authorizer::AUTHORIZER,
    &optional::OPTIONAL,
    &quantity::QUANTITY,
    &strings::STRINGS,
    &sets::SETS,
    &ip::IP,
    &cidr::CIDR,
    &named_format::FORMAT,
    &comprehensions::TWO_VARIABLE_COMPREHENSIONS,
    &semver::SEMVER,
    &lists::LISTS,
];

/// What cel-go has beside these: for expressions that only we evaluate.
pub static EXTENSIONS: &[&Library] =
    &[&bindings::BINDINGS, &encoders::ENCODERS, &math::MATH, &strings::STRINGS_REVERSE];
