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
#[derive(Clone, Copy)]
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

#[cfg(test)]
mod tests {
    use crate::ast::{Ast, Comprehension, Expr, ExprId};
    use crate::environment::Functions;
    use crate::function::Library;
    use crate::parser::{FieldNames, parse};

    static MACROS: [Library; 5] = [
        library(super::STANDARD),
        library(super::OPTIONAL),
        library(super::TWO_VARIABLES),
        library(super::BINDINGS),
        library(super::LISTS),
    ];

    const fn library(macros: &'static [super::Macro]) -> Library {
        Library { name: "macros", functions: &[], constants: &[], macros }
    }

    fn expand(source: &str) -> Result<String, String> {
        let functions = Functions::new(&MACROS.each_ref());
        match parse(source, &functions, FieldNames::Plain) {
            Ok(ast) => Ok(show(&ast, ast.root())),
            Err(issues) => Err(issues.list[0].message.clone()),
        }
    }

    fn check(source: &str, expected: &str) {
        assert_eq!(expand(source).as_deref(), Ok(expected), "{source}");
    }

    fn check_error(source: &str, expected: &str) {
        assert_eq!(expand(source), Err(expected.to_owned()), "{source}");
    }

    fn show(ast: &Ast, id: ExprId) -> String {
        let all = |ids: &[ExprId]| -> String {
            ids.iter().map(|id| show(ast, *id)).collect::<Vec<_>>().join(", ")
        };
        match ast.expr(id) {
            Expr::Literal(literal) => format!("{literal:?}"),
            Expr::Ident(name) => name.to_string(),
            Expr::Select { operand, field, is_test } => {
                let test = if *is_test { "~" } else { "" };
                format!("{}.{field}{test}", show(ast, *operand))
            }
            Expr::Call { function, target: Some(target), args } => {
                format!("{}.{function}({})", show(ast, *target), all(args))
            }
            Expr::Call { function, target: None, args } => format!("{function}({})", all(args)),
            Expr::List { items } => {
                format!("[{}]", all(&items.iter().map(|item| item.value).collect::<Vec<_>>()))
            }
            Expr::Map { .. } => "{}".to_owned(),
            Expr::Struct { name, .. } => format!("{name}{{}}"),
            Expr::Comprehension(fold) => {
                let Comprehension { variable, second_variable, accumulator, .. } = fold.as_ref();
                let second =
                    second_variable.as_ref().map_or_else(String::new, |v| format!(", {v}"));
                format!(
                    "fold({variable}{second} of {}; {accumulator} = {}; {}; {}; {})",
                    show(ast, fold.range),
                    show(ast, fold.initial),
                    show(ast, fold.condition),
                    show(ast, fold.step),
                    show(ast, fold.result)
                )
            }
        }
    }

    #[test]
    fn quantifiers_fold_truths() {
        check("has(a.b)", "a.b~");
        check(
            "l.all(x, p)",
            "fold(x of l; @result = Bool(true); @not_strictly_false(@result); \
             _&&_(@result, p); @result)",
        );
        check(
            "l.exists(x, p)",
            "fold(x of l; @result = Bool(false); @not_strictly_false(!_(@result)); \
             _||_(@result, p); @result)",
        );
        let one = "Int(0); Bool(true); _?_:_(p, _+_(@result, Int(1)), @result); \
                   _==_(@result, Int(1)))";
        check("l.exists_one(x, p)", &format!("fold(x of l; @result = {one}"));
        check("l.existsOne(i, x, p)", &format!("fold(i, x of l; @result = {one}"));
        check(
            "l.all(i, x, p)",
            "fold(i, x of l; @result = Bool(true); @not_strictly_false(@result); \
             _&&_(@result, p); @result)",
        );
    }

    #[test]
    fn transformations_fold_lists_and_maps() {
        check("l.map(x, f)", "fold(x of l; @result = []; Bool(true); _+_(@result, [f]); @result)");
        let filtered = "fold(x of l; @result = []; Bool(true); \
                        _?_:_(p, _+_(@result, [FN]), @result); @result)";
        check("l.map(x, p, f)", &filtered.replace("FN", "f"));
        check("l.filter(x, p)", &filtered.replace("FN", "x"));
        check(
            "m.transformList(k, v, p, f)",
            "fold(k, v of m; @result = []; Bool(true); \
             _?_:_(p, _+_(@result, [f]), @result); @result)",
        );
        check(
            "m.transformMap(k, v, f)",
            "fold(k, v of m; @result = {}; Bool(true); \
             cel.@mapInsert(@result, k, f); @result)",
        );
        check(
            "m.transformMapEntry(k, v, p, f)",
            "fold(k, v of m; @result = {}; Bool(true); \
             _?_:_(p, cel.@mapInsert(@result, f), @result); @result)",
        );
    }

    #[test]
    fn bindings_fold_over_nothing() {
        check("cel.bind(x, v, r)", "fold(#unused of []; x = v; Bool(false); x; r)");
        check("other.bind(x, v, r)", "other.bind(x, v, r)");
        check(
            "o.optMap(x, r)",
            "_?_:_(o.hasValue(), optional.of(fold(#unused of []; x = o.value(); Bool(false); x; \
             r)), optional.none())",
        );
        check(
            "o.optFlatMap(x, r)",
            "_?_:_(o.hasValue(), fold(#unused of []; x = o.value(); Bool(false); x; r), \
             optional.none())",
        );
        check(
            "l.sortBy(x, k)",
            "fold(#unused of []; @__sortBy_input__ = l; Bool(false); @__sortBy_input__; \
             @__sortBy_input__.@sortByAssociatedKeys(fold(x of @__sortBy_input__; @result = []; \
             Bool(true); _+_(@result, [k]); @result)))",
        );
    }

    #[test]
    fn what_is_no_macro_stays_a_call() {
        check("l.all(x)", "l.all(x)");
        check("l.map(a, b, c, d)", "l.map(a, b, c, d)");
        check("all(l, x, p)", "all(l, x, p)");
        check("has(a, b)", "has(a, b)");
        check(".has(a.b)", ".has(a.b)");
    }

    #[test]
    fn arguments_must_be_names() {
        check_error("has(a)", "invalid argument to has() macro");
        check_error("l.all(1, p)", "argument must be a simple name");
        check_error("l.map(a.b, p)", "argument is not an identifier");
        check_error("l.filter(__result__, p)", super::OVERWRITES);
        check_error("l.all(i, i, p)", "duplicate variable name: i");
        check_error("l.transformMap(i, __result__, p)", super::OVERWRITES);
        check_error("o.optMap(1, p)", "optMap() variable name must be a simple identifier");
        check_error("cel.bind(1, v, r)", "cel.bind() variable names must be simple identifiers");
    }
}
