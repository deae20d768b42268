//! What calls of libraries cost, where several cost alike.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/cost.go`. The estimates decide which custom
//! resource definitions are refused: they are upstream's to the digit.

use crate::cost::{
    self, CallEstimate, CallSite, CostEstimate, REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR,
    SizeEstimate, scale,
};
use crate::ty::Type;
use crate::value::Value;

/// A value with more parts than this costs more than anything may.
const PARTS_MAX: u64 = 10_000_000;

/// How large an argument is; 1 when there is none.
pub(super) fn size_of(args: &[Value<'_>], at: usize) -> u64 {
    args.get(at).map_or(1, cost::size_of)
}

/// What costs next to nothing.
pub(super) fn one(_: &[Value<'_>], _: &Value<'_>) -> u64 {
    1
}

/// The same, estimated.
pub(super) fn one_estimate(_: &dyn CallSite) -> Option<CallEstimate> {
    Some(costing(CostEstimate::fixed(1)))
}

/// One look at the first argument.
pub(super) fn traversal(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    scale(size_of(args, 0), STRING_TRAVERSAL_FACTOR)
}

/// The same, estimated.
pub(super) fn traversal_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    Some(costing(site.size(0).traversal(STRING_TRAVERSAL_FACTOR)))
}

/// The same, of a call whose result is as large as its argument.
pub(super) fn copy_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let cost = site.size(0).traversal(STRING_TRAVERSAL_FACTOR);
    Some(CallEstimate { cost, result_size: Some(site.size(0)) })
}

/// Two looks at the first argument.
pub(super) fn double_traversal(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    scale(size_of(args, 0).saturating_mul(2), STRING_TRAVERSAL_FACTOR)
}

/// The same, estimated.
pub(super) fn double_traversal_cost(size: SizeEstimate) -> CostEstimate {
    size.traversal(2.0 * STRING_TRAVERSAL_FACTOR)
}

/// Looking for a pattern, which is the second argument, in a text.
pub(super) fn pattern(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    pattern_cost(size_of(args, 0), size_of(args, 1))
}

/// Looking for a pattern of some length in a text. Counts one more, for empty texts.
pub(super) fn pattern_cost(text: u64, pattern: u64) -> u64 {
    let text = scale(text.saturating_add(1), STRING_TRAVERSAL_FACTOR);
    text.saturating_mul(scale(pattern, REGEX_LENGTH_FACTOR))
}

/// The same, estimated. In the worst case every character is found by itself.
pub(super) fn pattern_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let text = site.size(0);
    let looks = text.plus(SizeEstimate::fixed(1)).traversal(STRING_TRAVERSAL_FACTOR);
    let cost = looks.times(site.size(1).traversal(REGEX_LENGTH_FACTOR));
    Some(CallEstimate { cost, result_size: Some(SizeEstimate { min: 0, max: text.max }) })
}

/// Looking at every part of the first argument.
pub(super) fn deep_traversal(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    let mut left = PARTS_MAX;
    args.first().and_then(|value| parts_cost(value, &mut left)).unwrap_or(match args {
        [] => 0,
        _ => u64::MAX,
    })
}

/// The same, estimated: one for each item, and one look at each that is text or bytes. The first
/// argument is a list, or text.
pub(super) fn deep_traversal_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let Type::List(item) = site.ty(0) else { return traversal_estimate(site) };
    let mut of_item = CostEstimate::fixed(1);
    if matches!(**item, Type::String | Type::Bytes) {
        of_item = of_item.plus(site.element_size(0).traversal(STRING_TRAVERSAL_FACTOR));
    }
    let items = site.size(0);
    Some(costing(CostEstimate { min: items.min, max: items.max }.times(of_item)))
}

/// An estimate that does not know how large the result is.
pub(super) fn costing(cost: CostEstimate) -> CallEstimate {
    CallEstimate { cost, result_size: None }
}

/// None when there are too many parts.
fn parts_cost(value: &Value<'_>, left: &mut u64) -> Option<u64> {
    *left = left.checked_sub(1)?;
    let of_bytes = |len: usize| {
        #[allow(clippy::cast_precision_loss, reason = "as Go converts")]
        let cost = len as f64 * STRING_TRAVERSAL_FACTOR;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "as Go converts"
        )]
        let cost = cost as u64;
        cost
    };
    match value {
        Value::String(text) => Some(of_bytes(text.len())),
        Value::Bytes(bytes) => Some(of_bytes(bytes.len())),
        Value::List(list) => {
            let mut cost: u64 = 0;
            for item in list.iter().flatten() {
                cost = cost.saturating_add(parts_cost(&item, left)?);
            }
            Some(cost)
        }
        Value::Map(map) => {
            let mut cost: u64 = 0;
            for (key, value) in map.iter() {
                cost = cost.saturating_add(parts_cost(&key, left)?);
                if let Ok(value) = value {
                    cost = cost.saturating_add(parts_cost(&value, left)?);
                }
            }
            Some(cost)
        }
        _ => Some(1),
    }
}
