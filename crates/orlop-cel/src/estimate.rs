//! What an expression can cost at most, known before it runs.
//!
//! After `checker/cost.go` of cel-go, with the options that Kubernetes sets: asking whether a field
//! is there is free. These numbers decide which custom resource definitions are refused, so they
//! are upstream's to the last unit, with its quirks: see `path` for the strangest. What a call of
//! a library costs is in the table of the library; what the language itself has is in `call`.

mod call;
mod path;

use orlop_machinery::Str;

use crate::ast::{Comprehension, Expr, ExprId, ListItem, Literal, MapEntry};
use crate::cost::{
    CallEstimate, CostEstimate, LIST_CREATE, MAP_CREATE, SELECT_AND_IDENT, STRUCT_CREATE,
    SizeEstimate,
};
use crate::decl_type::DeclType;
use crate::program::{Checked, Reference};
use crate::ty::Type;

use call::Call;
use path::FieldPath;

/// The name that older macros give their accumulator.
const OLD_ACCUMULATOR: &str = "__result__";

/// How large data is.
pub trait Sizes {
    /// The size of what a path leads to; none where nothing is known. The first step is a variable,
    /// the others are fields, `@items`, `@keys`, `@values` and `@indices`.
    fn size(&self, path: &[Str]) -> Option<SizeEstimate>;
}

/// The least and the most that an expression costs.
#[must_use]
pub fn estimate_cost(checked: &Checked, sizes: &dyn Sizes) -> CostEstimate {
    let nodes = checked.ast.len();
    let mut estimator = Estimator {
        checked,
        sizes,
        paths: vec![FieldPath::default(); nodes],
        computed: vec![None; nodes],
        entries: vec![None; nodes],
        locals: Vec::new(),
    };
    estimator.cost(checked.ast.root())
}

/// Every variable is of this type: `self` and `oldSelf` are.
impl Sizes for DeclType {
    fn size(&self, path: &[Str]) -> Option<SizeEstimate> {
        let (_, steps) = path.split_first()?;
        let mut found = self;
        for (at, step) in steps.iter().enumerate() {
            found = match step.as_str() {
                "@items" | "@values" => found.element()?,
                // Keys are text of which nothing is known, and nothing is inside.
                "@keys" if found.is_map() => {
                    return (at + 1 == steps.len()).then(|| SizeEstimate::fixed(0));
                }
                name => &found.as_object()?.field(name)?.ty,
            };
        }
        Some(SizeEstimate { min: 0, max: found.elements_max() })
    }
}

/// How large the keys and the values of a container are.
#[derive(Clone, Copy, Debug)]
struct EntrySize {
    is_list: bool,
    key: SizeEstimate,
    value: SizeEstimate,
}

/// A variable of a comprehension or a binding.
struct Local {
    name: Str,
    path: FieldPath,
    size: Option<SizeEstimate>,
    entry: Option<EntrySize>,
}

/// What a variable of a comprehension stands for.
#[derive(Clone, Copy)]
enum Iterated {
    /// The index, or the key.
    Key,
    /// The item, or the value.
    Value,
    /// The item, or the key.
    Single,
}

struct Estimator<'a> {
    checked: &'a Checked,
    sizes: &'a dyn Sizes,
    /// Where each node's data is; by node.
    paths: Vec<FieldPath>,
    /// How large each node's value is, where it was found; by node.
    computed: Vec<Option<SizeEstimate>>,
    /// How large the entries of each node's value are, where it was found; by node.
    entries: Vec<Option<EntrySize>>,
    /// Inner ones last.
    locals: Vec<Local>,
}

impl<'a> Estimator<'a> {
    fn cost(&mut self, id: ExprId) -> CostEstimate {
        let checked = self.checked;
        match checked.ast.expr(id) {
            Expr::Literal(_) => CostEstimate::default(),
            Expr::Ident(name) => self.cost_ident(id, name),
            Expr::Select { operand, field, is_test } => {
                self.cost_select(id, *operand, field, *is_test)
            }
            Expr::Call { function, target, args } => self.cost_call(id, function, *target, args),
            Expr::List { items } => self.cost_list(id, items),
            Expr::Map { entries } => self.cost_map(id, entries),
            Expr::Struct { fields, .. } => fields
                .iter()
                .map(|field| self.cost(field.value))
                .fold(CostEstimate::fixed(STRUCT_CREATE), CostEstimate::plus),
            Expr::Comprehension(fold) if is_binding(checked, fold) => self.cost_binding(id, fold),
            Expr::Comprehension(fold) => self.cost_comprehension(id, fold),
        }
    }

    fn cost_ident(&mut self, id: ExprId, name: &Str) -> CostEstimate {
        self.paths[id.index()] = match self.local(name) {
            Some(local) => local.path.clone(),
            None => FieldPath::variable(name.clone()),
        };
        CostEstimate::fixed(SELECT_AND_IDENT)
    }

    fn cost_select(
        &mut self,
        id: ExprId,
        operand: ExprId,
        field: &Str,
        is_test: bool,
    ) -> CostEstimate {
        let is_name = matches!(
            self.checked.reference(id),
            Some(Reference::Variable(_) | Reference::Constant(_))
        );
        if is_name {
            // Dots in a qualified name are no selects.
            return self.cost_ident(id, field);
        }
        let cost = self.cost(operand);
        if is_test {
            return cost;
        }
        self.paths[id.index()] = self.path(operand).append(field.clone());
        match self.checked.ty(operand) {
            Type::Map(_) | Type::Object(_) | Type::Parameter(_) => {
                cost.plus(CostEstimate::fixed(SELECT_AND_IDENT))
            }
            _ => cost,
        }
    }

    fn cost_call(
        &mut self,
        id: ExprId,
        function: &str,
        target: Option<ExprId>,
        args: &[ExprId],
    ) -> CostEstimate {
        if let ("dyn", [arg]) = (function, args) {
            let cost = self.cost(*arg);
            self.copy_sizes(id, *arg);
            return cost.plus(CostEstimate::fixed(1));
        }
        let mut call = Call::new(id);
        for arg in args {
            let cost = self.cost(*arg);
            call.add_argument(self.node(*arg), cost);
        }
        let Some(Reference::Overloads { overloads, is_qualified }) = self.checked.reference(id)
        else {
            return CostEstimate::default();
        };
        let mut cost = CostEstimate::default();
        if let Some(target) = target.filter(|_| !is_qualified) {
            cost = self.cost(target);
            call.set_target(self.node(target));
        }
        let mut around = CostEstimate { min: u64::MAX, max: 0 };
        let mut result_size = None;
        for overload in overloads {
            let CallEstimate { cost, result_size: size } = self.cost_overload(&call, overload);
            around = around.union(cost);
            result_size = match (result_size, size) {
                (Some(a), Some(b)) => Some(SizeEstimate::union(a, b)),
                (found, other) => found.or(other),
            };
            let step = match overload.id {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(step), Some(container)) = (step, args.first()) {
                result_size = self.entry_size(*container).map(|entry| entry.value);
                self.paths[id.index()] = self.path(*container).append(Str::const_new(step));
            }
            result_size = result_size.or_else(|| self.size(id));
        }
        self.set_size(id, result_size);
        cost.plus(around)
    }

    fn cost_list(&mut self, id: ExprId, items: &[ListItem]) -> CostEstimate {
        let mut sum = CostEstimate::fixed(LIST_CREATE);
        let mut size = least(items.is_empty());
        for item in items {
            sum = sum.plus(self.cost(item.value));
            size = size.union(self.size_or_unknown(item.value));
        }
        let key = SizeEstimate::fixed(1);
        self.entries[id.index()] = Some(EntrySize { is_list: true, key, value: size });
        sum
    }

    fn cost_map(&mut self, id: ExprId, entries: &[MapEntry]) -> CostEstimate {
        let mut sum = CostEstimate::fixed(MAP_CREATE);
        let (mut key, mut value) = (least(entries.is_empty()), least(entries.is_empty()));
        for entry in entries {
            sum = sum.plus(self.cost(entry.key));
            sum = sum.plus(self.cost(entry.value));
            key = key.union(self.size_or_unknown(entry.key));
            value = value.union(self.size_or_unknown(entry.value));
        }
        self.entries[id.index()] = Some(EntrySize { is_list: false, key, value });
        sum
    }

    fn cost_comprehension(&mut self, id: ExprId, fold: &Comprehension) -> CostEstimate {
        let mut sum = self.cost(fold.range).plus(self.cost(fold.initial));
        self.push_binding(&fold.accumulator, fold.initial);
        if let Some(second) = &fold.second_variable {
            self.push_iterated(&fold.variable, fold.range, Iterated::Key);
            self.push_iterated(second, fold.range, Iterated::Value);
        } else {
            self.push_iterated(&fold.variable, fold.range, Iterated::Single);
        }
        let condition = self.cost(fold.condition);
        let step = self.cost(fold.step);
        self.pop(&fold.variable);
        if let Some(second) = &fold.second_variable {
            self.pop(second);
        }
        sum = sum.plus(self.cost(fold.result));
        self.pop(&fold.accumulator);
        let count = self.size_or_unknown(fold.range);
        let turn = step.plus(condition);
        let turns = CostEstimate { min: count.min, max: count.max }.times(turn);
        match self.checked.ast.expr(fold.initial) {
            Expr::Literal(_) => {
                let size = self.size(fold.initial);
                self.set_size(id, size);
            }
            Expr::List { .. } | Expr::Map { .. } => {
                self.set_size(id, Some(count));
                let entry = self.entry_size(fold.step);
                self.set_entry_size(id, entry);
            }
            _ => {}
        }
        sum.plus(turns)
    }

    fn cost_binding(&mut self, id: ExprId, fold: &Comprehension) -> CostEstimate {
        let sum = self.cost(fold.range).plus(self.cost(fold.initial));
        self.push_binding(&fold.accumulator, fold.initial);
        let result = self.cost(fold.result);
        self.pop(&fold.accumulator);
        self.copy_sizes(id, fold.result);
        sum.plus(result)
    }

    fn push_binding(&mut self, name: &Str, value: ExprId) {
        let (path, entry) = (self.path(value), self.entry_size(value));
        let size = self.size(value);
        self.locals.push(Local { name: name.clone(), path, size, entry });
    }

    fn push_iterated(&mut self, name: &Str, range: ExprId, iterated: Iterated) {
        let entry = self.entry_size(range);
        let is_list = match entry {
            Some(entry) => entry.is_list,
            None => matches!(self.checked.ty(range), Type::List(_)),
        };
        let (step, size) = match (iterated, is_list) {
            (Iterated::Key, true) => ("@indices", entry.map(|entry| entry.key)),
            (Iterated::Key | Iterated::Single, false) => ("@keys", entry.map(|entry| entry.key)),
            (Iterated::Value, false) => ("@values", entry.map(|entry| entry.value)),
            (_, true) => ("@items", entry.map(|entry| entry.value)),
        };
        let path = self.path(range).append(Str::const_new(step));
        self.locals.push(Local { name: name.clone(), path, size, entry: None });
    }

    fn pop(&mut self, name: &str) {
        if let Some(at) = self.locals.iter().rposition(|local| local.name == name) {
            self.locals.remove(at);
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    /// The variable that a node is, if it is one of a comprehension.
    fn local_at(&self, id: ExprId) -> Option<&Local> {
        match self.checked.ast.expr(id) {
            Expr::Ident(name) => self.local(name),
            _ => None,
        }
    }

    fn path(&self, id: ExprId) -> FieldPath {
        match self.local_at(id) {
            Some(local) => local.path.clone(),
            None => self.paths[id.index()].clone(),
        }
    }

    /// How large a node's value is, where that can be known.
    fn size(&mut self, id: ExprId) -> Option<SizeEstimate> {
        if let Some(size) = self.computed[id.index()] {
            return Some(size);
        }
        if let Some(size) = written_size(self.checked.ast.expr(id)) {
            return Some(SizeEstimate::fixed(size));
        }
        if let Some(size) = self.path(id).with_steps(|steps| self.sizes.size(steps)) {
            self.computed[id.index()] = Some(size);
            return Some(size);
        }
        if is_scalar(self.checked.ty(id)) {
            return Some(SizeEstimate::fixed(1));
        }
        self.local_at(id).and_then(|local| local.size)
    }

    fn size_or_unknown(&mut self, id: ExprId) -> SizeEstimate {
        self.size(id).unwrap_or(SizeEstimate::UNKNOWN)
    }

    fn entry_size(&self, id: ExprId) -> Option<EntrySize> {
        self.entries[id.index()].or_else(|| self.local_at(id).and_then(|local| local.entry))
    }

    fn set_size(&mut self, id: ExprId, size: Option<SizeEstimate>) {
        let place = &mut self.computed[id.index()];
        *place = size.or(*place);
    }

    fn set_entry_size(&mut self, id: ExprId, entry: Option<EntrySize>) {
        let place = &mut self.entries[id.index()];
        *place = entry.or(*place);
    }

    fn copy_sizes(&mut self, to: ExprId, from: ExprId) {
        let (size, entry) = (self.size(from), self.entry_size(from));
        self.set_size(to, size);
        self.set_entry_size(to, entry);
    }
}

impl EntrySize {
    /// Either of both; known only where both are.
    fn union(a: Option<EntrySize>, b: Option<EntrySize>) -> Option<EntrySize> {
        let (a, b) = (a?, b?);
        Some(EntrySize {
            is_list: a.is_list,
            key: a.key.union(b.key),
            value: a.value.union(b.value),
        })
    }
}

/// What is joined with the sizes of entries to get the size of any.
fn least(is_empty: bool) -> SizeEstimate {
    SizeEstimate { min: if is_empty { 0 } else { u64::MAX }, max: 0 }
}

/// Whether this is what `cel.bind` expands to.
fn is_binding(checked: &Checked, fold: &Comprehension) -> bool {
    let is_empty = match checked.ast.expr(fold.range) {
        Expr::List { items } => items.is_empty(),
        _ => false,
    };
    is_empty
        && *checked.ast.expr(fold.condition) == Expr::Literal(Literal::Bool(false))
        && fold.accumulator != OLD_ACCUMULATOR
}

/// The size of what stands in the expression itself.
fn written_size(expr: &Expr) -> Option<u64> {
    let size = match expr {
        Expr::Literal(Literal::String(text)) => text.chars().count(),
        Expr::Literal(Literal::Bytes(bytes)) => bytes.len(),
        Expr::Literal(_) => 1,
        Expr::List { items } => items.len(),
        Expr::Map { entries } => entries.len(),
        _ => return None,
    };
    Some(size as u64)
}

fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => {
            true
        }
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}
