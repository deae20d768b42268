//! Macros: calls that are replaced while parsing.
//!
//! What they become has the shape that cel-go gives it, node by node, because costs are counted by
//! nodes. After `parser/macro.go`, `cel/library.go` (optional values), `ext/comprehensions.go`,
//! `ext/bindings.go` and `ext/lists.go` of cel-go.
//!
//! Each table belongs to a [`crate::function::Library`], which decides whether it is there.

mod expansion;

use crate::ast::{Expr, ExprId};
use crate::function::{Macro, MacroCall, MacroError};
use crate::operator::{self, ACCUMULATOR};

use self::expansion::{Fold, Quantifier};

type Expanded = Result<Option<ExprId>, MacroError>;

/// `has`, `all`, `exists`, `exists_one`, `map`, `filter`.
pub static STANDARD: &[Macro] = &[
    global("has", 1, has),
    member("all", 2, |call| quantifier(call, Quantifier::All)),
    member("exists", 2, |call| quantifier(call, Quantifier::Exists)),
    member("exists_one", 2, |call| quantifier(call, Quantifier::ExistsOne)),
    member("map", 2, map),
    member("map", 3, map),
    member("filter", 2, filter),
];

/// Those over optional values: `optMap`, `optFlatMap`.
pub static OPTIONAL: &[Macro] = &[
    member("optMap", 2, |call| optional_map(call, "optMap")),
    member("optFlatMap", 2, |call| optional_map(call, "optFlatMap")),
];

/// Those with two variables, over indices and items or keys and values.
pub static TWO_VARIABLES: &[Macro] = &[
    member("all", 3, |call| quantifier_of_two(call, Quantifier::All)),
    member("exists", 3, |call| quantifier_of_two(call, Quantifier::Exists)),
    member("existsOne", 3, |call| quantifier_of_two(call, Quantifier::ExistsOne)),
    member("exists_one", 3, |call| quantifier_of_two(call, Quantifier::ExistsOne)),
    member("transformList", 3, transform_list),
    member("transformList", 4, transform_list),
    member("transformMap", 3, |call| transform_map(call, Keys::Kept)),
    member("transformMap", 4, |call| transform_map(call, Keys::Kept)),
    member("transformMapEntry", 3, |call| transform_map(call, Keys::Made)),
    member("transformMapEntry", 4, |call| transform_map(call, Keys::Made)),
];

/// `cel.bind`
pub static BINDINGS: &[Macro] = &[member("bind", 3, bind)];

/// `sortBy`
pub static LISTS: &[Macro] = &[member("sortBy", 2, sort_by)];

/// The function that `transformMap` adds entries with.
pub const MAP_INSERT: &str = "cel.@mapInsert";
/// The function that `sortBy` sorts with.
pub const SORT_BY_KEYS: &str = "@sortByAssociatedKeys";
/// The variable of a fold over nothing, which binds a value to a name.
pub const UNUSED: &str = "#unused";

const NOT_AN_IDENTIFIER: &str = "argument is not an identifier";
const NOT_SIMPLE: &str = "argument must be a simple name";
const OVERWRITES: &str = "iteration variable overwrites accumulator variable";
/// The name that accumulators had earlier; still no name for a variable.
const ACCUMULATOR_EARLIER: &str = "__result__";
/// What `sortBy` calls the list.
const SORT_INPUT: &str = "@__sortBy_input__";

/// Where the keys of a map that is made come from.
enum Keys {
    /// From the map that is gone through.
    Kept,
    /// The transformation gives whole entries.
    Made,
}

type Expand = fn(&mut MacroCall<'_>) -> Expanded;

const fn member(name: &'static str, arguments: usize, expand: Expand) -> Macro {
    Macro { name, is_member: true, arguments: Some(arguments), expand }
}

const fn global(name: &'static str, arguments: usize, expand: Expand) -> Macro {
    Macro { name, is_member: false, arguments: Some(arguments), expand }
}

fn has(call: &mut MacroCall<'_>) -> Expanded {
    let argument = call.args[0];
    let Expr::Select { operand, field, .. } = call.ast.expr(argument) else {
        return Err(call.error(argument, "invalid argument to has() macro"));
    };
    let test = Expr::Select { operand: *operand, field: field.clone(), is_test: true };
    Ok(Some(call.add(test)))
}

fn quantifier(call: &mut MacroCall<'_>, quantifier: Quantifier) -> Expanded {
    let variable = call.variable(0, NOT_SIMPLE)?;
    call.check_accumulator(0, &variable)?;
    let fold = Fold::new(call, variable, None)?;
    Ok(Some(call.quantify(quantifier, fold, call.args[1])))
}

fn quantifier_of_two(call: &mut MacroCall<'_>, quantifier: Quantifier) -> Expanded {
    let fold = Fold::of_two(call)?;
    Ok(Some(call.quantify(quantifier, fold, call.args[2])))
}

fn map(call: &mut MacroCall<'_>) -> Expanded {
    let target = call.target();
    map_over(call, target).map(Some)
}

/// `map` over something else than the target.
fn map_over(call: &mut MacroCall<'_>, range: ExprId) -> Result<ExprId, MacroError> {
    let variable = call.variable(0, NOT_AN_IDENTIFIER)?;
    call.check_accumulator(0, &variable)?;
    let (condition, transform) = match *call.args {
        [_, condition, transform] => (Some(condition), transform),
        _ => (None, call.args[1]),
    };
    let initial = call.list(&[]);
    let fold = Fold { range, variable, second_variable: None };
    Ok(call.collect(fold, initial, condition, transform))
}

fn filter(call: &mut MacroCall<'_>) -> Expanded {
    let variable = call.variable(0, NOT_AN_IDENTIFIER)?;
    call.check_accumulator(0, &variable)?;
    let initial = call.list(&[]);
    let fold = Fold::new(call, variable, None)?;
    Ok(Some(call.collect(fold, initial, Some(call.args[1]), call.args[0])))
}

fn transform_list(call: &mut MacroCall<'_>) -> Expanded {
    let fold = Fold::of_two(call)?;
    let (condition, transform) = condition_and_transform(call);
    let initial = call.list(&[]);
    Ok(Some(call.collect(fold, initial, condition, transform)))
}

fn transform_map(call: &mut MacroCall<'_>, keys: Keys) -> Expanded {
    let fold = Fold::of_two(call)?;
    let (condition, transform) = condition_and_transform(call);
    let accumulator = call.ident(ACCUMULATOR);
    let insert = match keys {
        Keys::Kept => {
            let key = call.ident(&fold.variable);
            call.call(MAP_INSERT, &[accumulator, key, transform])
        }
        Keys::Made => call.call(MAP_INSERT, &[accumulator, transform]),
    };
    let step = call.step_if(condition, insert);
    let initial = call.add(Expr::Map { entries: Vec::new() });
    Ok(Some(call.fold_all(fold, initial, step)))
}

/// The last argument, and the one before it when there are four.
fn condition_and_transform(call: &MacroCall<'_>) -> (Option<ExprId>, ExprId) {
    match *call.args {
        [_, _, condition, transform] => (Some(condition), transform),
        _ => (None, call.args[2]),
    }
}

/// `target.hasValue() ? optional.of(transformed target.value()) : optional.none()`
fn optional_map(call: &mut MacroCall<'_>, name: &str) -> Expanded {
    let message = format!("{name}() variable name must be a simple identifier");
    let variable = call.variable(0, &message)?;
    let target = call.target();
    let has_value = call.member_call("hasValue", target, &[]);
    let copy = call.copy(target);
    let value = call.member_call("value", copy, &[]);
    let mapped = call.bind(&variable, value, call.args[1]);
    let mapped = if name == "optMap" { call.call("optional.of", &[mapped]) } else { mapped };
    let none = call.call("optional.none", &[]);
    Ok(Some(call.call(operator::CONDITIONAL, &[has_value, mapped, none])))
}

fn bind(call: &mut MacroCall<'_>) -> Expanded {
    let is_cel = |expr: &Expr| matches!(expr, Expr::Ident(name) if name == "cel");
    if !is_cel(call.ast.expr(call.target())) {
        return Ok(None);
    }
    let variable = call.variable(0, "cel.bind() variable names must be simple identifiers")?;
    Ok(Some(call.bind(&variable, call.args[1], call.args[2])))
}

/// Binds the list to a name, and sorts it by what the transformation makes of each item.
fn sort_by(call: &mut MacroCall<'_>) -> Expanded {
    let target = call.target();
    if matches!(call.ast.expr(target), Expr::Literal(_) | Expr::Map { .. } | Expr::Struct { .. }) {
        let message = "sortBy can only be applied to a list, identifier, comprehension, call or \
                       select expression";
        return Err(call.error(target, message));
    }
    let range = call.ident(SORT_INPUT);
    let keys = map_over(call, range)?;
    let list = call.ident(SORT_INPUT);
    let sorted = call.member_call(SORT_BY_KEYS, list, &[keys]);
    Ok(Some(call.bind(SORT_INPUT, target, sorted)))
}
