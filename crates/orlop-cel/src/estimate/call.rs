//! What calls of the language's own functions cost, by the ids of their overloads.
//!
//! After `functionCost` in `checker/cost.go` of cel-go, and the equality of
//! `staging/src/k8s.io/apiserver/pkg/cel/library/cost.go`.

use orlop_machinery::Str;

use crate::ast::{Expr, ExprId, Literal};
use crate::cost::{
    CallEstimate, CallSite, CostEstimate, REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR,
    SizeEstimate,
};
use crate::function::Overload;
use crate::operator;
use crate::ty::Type;

use super::path::FieldPath;
use super::{EntrySize, Estimator, OLD_ACCUMULATOR};

/// The longest text of a named format that can be compared.
const FORMAT_SIZE_MAX: u64 = 64;

/// Types whose values are compared at once.
const COMPARED_AT_ONCE: [&str; 9] = [
    "kubernetes.Quantity",
    "kubernetes.Semver",
    "kubernetes.authorization.Authorizer",
    "kubernetes.authorization.Decision",
    "kubernetes.authorization.GroupCheck",
    "kubernetes.authorization.PathCheck",
    "kubernetes.authorization.ResourceCheck",
    "net.CIDR",
    "net.IP",
];

/// A call with what is known about its arguments.
pub(super) struct Call {
    id: ExprId,
    target: Option<Argument>,
    args: Vec<Argument>,
    /// What the arguments cost; without the target.
    costs: Vec<CostEstimate>,
}

/// An argument, as it is known when the call is reached.
pub(super) struct Argument {
    id: ExprId,
    path: FieldPath,
    size: Option<SizeEstimate>,
}

/// A call as libraries see it.
struct Site<'c, 'a> {
    estimator: &'c Estimator<'a>,
    arguments: Vec<&'c Argument>,
}

impl Call {
    pub(super) fn new(id: ExprId) -> Call {
        Call { id, target: None, args: Vec::new(), costs: Vec::new() }
    }

    pub(super) fn add_argument(&mut self, argument: Argument, cost: CostEstimate) {
        self.args.push(argument);
        self.costs.push(cost);
    }

    pub(super) fn set_target(&mut self, target: Argument) {
        self.target = Some(target);
    }

    fn costs_of_arguments(&self) -> CostEstimate {
        self.costs.iter().copied().fold(CostEstimate::default(), CostEstimate::plus)
    }
}

impl Argument {
    fn size(&self) -> SizeEstimate {
        self.size.unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// What looking at every character costs.
    fn traversal(&self) -> CostEstimate {
        self.size().traversal(STRING_TRAVERSAL_FACTOR)
    }
}

impl Estimator<'_> {
    /// An argument as it is now.
    pub(super) fn node(&mut self, id: ExprId) -> Argument {
        let mut path = self.path(id);
        let is_accumulator = path.with_steps(|steps| {
            let first = steps.first().map(Str::as_str);
            matches!(first, Some(operator::ACCUMULATOR | OLD_ACCUMULATOR))
        });
        if is_accumulator {
            path = FieldPath::default();
        }
        Argument { id, path, size: self.size(id) }
    }

    /// What a call of this overload costs, with its arguments.
    pub(super) fn cost_overload(&mut self, call: &Call, overload: &Overload) -> CallEstimate {
        let arguments = call.costs_of_arguments();
        let found = match (overload.estimate, overload.id) {
            (Some(estimate), _) => {
                let arguments = call.target.iter().chain(&call.args).collect();
                estimate(&Site { estimator: self, arguments })
            }
            (None, "equals") => self.cost_equals(call),
            _ => None,
        };
        if let Some(estimate) = found.or_else(|| cost_by_length(call, overload.id)) {
            return CallEstimate { cost: estimate.cost.plus(arguments), ..estimate };
        }
        match (overload.id, call.costs.as_slice()) {
            // The right side may not be looked at.
            ("logical_and" | "logical_or", [left, right]) => {
                let cost = CostEstimate { min: left.min, max: left.plus(*right).max };
                CallEstimate { cost, result_size: None }
            }
            ("conditional", [condition, yes, no]) => {
                let cost = condition.plus(yes.union(*no));
                let size = call.args[1].size().union(call.args[2].size());
                self.join_entries(call, 1, 2);
                CallEstimate { cost, result_size: Some(size) }
            }
            ("add_string" | "add_bytes" | "add_list", [_, _]) => {
                let size = call.args[0].size().plus(call.args[1].size());
                self.join_entries(call, 0, 1);
                let cost = match overload.id {
                    "add_list" => CostEstimate::fixed(1),
                    _ => size.traversal(STRING_TRAVERSAL_FACTOR),
                };
                CallEstimate { cost: cost.plus(arguments), result_size: Some(size) }
            }
            _ => CallEstimate { cost: CostEstimate::fixed(1).plus(arguments), result_size: None },
        }
    }

    /// The result has the entries of either argument.
    fn join_entries(&mut self, call: &Call, first: usize, second: usize) {
        let entry = |at: usize| self.entry_size(call.args[at].id);
        let joined = EntrySize::union(entry(first), entry(second));
        self.set_entry_size(call.id, joined);
    }

    /// Values of libraries' own types are compared at their own price.
    fn cost_equals(&self, call: &Call) -> Option<CallEstimate> {
        let [left, right] = call.args.as_slice() else { return None };
        let (Type::Opaque(name), Type::Opaque(other)) =
            (self.checked.ty(left.id), self.checked.ty(right.id))
        else {
            return None;
        };
        let cost = match name.as_str() {
            _ if name != other => return None,
            name if COMPARED_AT_ONCE.contains(&name) => CostEstimate::fixed(1),
            "kubernetes.NamedFormat" => {
                CostEstimate { min: 1, max: FORMAT_SIZE_MAX }.scaled(STRING_TRAVERSAL_FACTOR)
            }
            // Only the right side is looked at.
            "kubernetes.URL" => {
                let max = right.size.map_or(1, |size| size.max);
                CostEstimate { min: 1, max }.scaled(STRING_TRAVERSAL_FACTOR)
            }
            _ => return None,
        };
        Some(CallEstimate { cost, result_size: None })
    }
}

/// What depends on how long the arguments are; without what they cost themselves.
fn cost_by_length(call: &Call, overload: &str) -> Option<CallEstimate> {
    let sized =
        |cost, min, max| Some(CallEstimate { cost, result_size: Some(SizeEstimate { min, max }) });
    let unsized_ = |cost| Some(CallEstimate { cost, result_size: None });
    match (overload, call.target.as_ref(), call.args.as_slice()) {
        ("string_format", Some(target), _) => unsized_(target.traversal()),
        // Upstream's numbers wrap here.
        ("string_to_bytes", _, [text]) => {
            let size = text.size();
            sized(text.traversal(), size.min, size.max.wrapping_mul(4))
        }
        ("bytes_to_string", _, [bytes]) => {
            let size = bytes.size();
            sized(bytes.traversal(), size.min / 4, size.max)
        }
        ("strings_quote", _, [text]) => {
            let size = text.size();
            let max = size.max.wrapping_mul(2).wrapping_add(2);
            sized(text.traversal(), size.min.wrapping_add(2), max)
        }
        ("starts_with_string" | "ends_with_string", _, [part]) => unsized_(part.traversal()),
        ("in_list", _, [_, list]) => unsized_(list.size().traversal(1.0)),
        ("matches_string", Some(target), [pattern]) => {
            let text = target.size().plus(SizeEstimate::fixed(1));
            let pattern = pattern.size().traversal(REGEX_LENGTH_FACTOR);
            unsized_(text.traversal(STRING_TRAVERSAL_FACTOR).times(pattern))
        }
        ("contains_string", Some(target), [part]) => {
            unsized_(target.traversal().times(part.traversal()))
        }
        (id, _, [left, right]) if is_comparison(id) => {
            let max = left.size().max.min(right.size().max);
            let cost = CostEstimate { min: u64::from(max > 0), max };
            unsized_(cost.scaled(STRING_TRAVERSAL_FACTOR))
        }
        _ => None,
    }
}

fn is_comparison(overload: &str) -> bool {
    const ORDERS: [&str; 4] = ["less", "less_equals", "greater", "greater_equals"];
    let order = overload.strip_suffix("_string").or_else(|| overload.strip_suffix("_bytes"));
    matches!(overload, "equals" | "not_equals") || order.is_some_and(|name| ORDERS.contains(&name))
}

impl CallSite for Site<'_, '_> {
    fn len(&self) -> usize {
        self.arguments.len()
    }

    fn size(&self, argument: usize) -> SizeEstimate {
        let argument = self.arguments[argument];
        let found = argument.size.or_else(|| self.size_at(&argument.path));
        found.unwrap_or(SizeEstimate::UNKNOWN)
    }

    fn element_size(&self, argument: usize) -> SizeEstimate {
        let path = &self.arguments[argument].path;
        if path.is_empty() {
            return SizeEstimate::UNKNOWN;
        }
        let items = path.append_to_copy(Str::const_new("@items"));
        self.size_at(&items).unwrap_or(SizeEstimate::UNKNOWN)
    }

    fn ty(&self, argument: usize) -> &Type {
        self.estimator.checked.ty(self.arguments[argument].id)
    }

    fn literal(&self, argument: usize) -> Option<&Literal> {
        match self.estimator.checked.ast.expr(self.arguments[argument].id) {
            Expr::Literal(literal) => Some(literal),
            _ => None,
        }
    }
}

impl Site<'_, '_> {
    fn size_at(&self, path: &FieldPath) -> Option<SizeEstimate> {
        path.with_steps(|steps| self.estimator.sizes.size(steps))
    }
}
