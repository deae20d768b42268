//! `math.least` and `math.greatest`: calls with any number of arguments.

use crate::ast::{Expr, ExprId, ListItem, Literal};
use crate::function::{Macro, MacroCall, MacroError};

/// The macros of the library.
pub(super) static MACROS: &[Macro] = &[
    Macro { name: "least", is_member: true, arguments: None, expand: least },
    Macro { name: "greatest", is_member: true, arguments: None, expand: greatest },
];

fn least(call: &mut MacroCall<'_>) -> Result<Option<ExprId>, MacroError> {
    expand(call, "math.least()", "math.@min")
}

fn greatest(call: &mut MacroCall<'_>) -> Result<Option<ExprId>, MacroError> {
    expand(call, "math.greatest()", "math.@max")
}

/// One or two arguments stay what they are; more become a list.
fn expand(
    call: &mut MacroCall<'_>,
    name: &str,
    function: &'static str,
) -> Result<Option<ExprId>, MacroError> {
    let Some(target) = call.target else { return Ok(None) };
    if !matches!(call.ast.expr(target), Expr::Ident(name) if name == "math") {
        return Ok(None);
    }
    let error = |call: &MacroCall<'_>, at: ExprId, why: &str| {
        Err(MacroError { offset: call.ast.offset(at), message: format!("{name} {why}") })
    };
    match *call.args {
        [] => return error(call, target, "requires at least one argument"),
        [only] if !is_number(call, only) && !is_list_of_numbers(call, only) => {
            return error(call, only, "invalid single argument value");
        }
        [_] => {}
        _ => {
            if let Some(other) = call.args.iter().find(|arg| !is_number(call, **arg)) {
                return error(call, *other, "simple literal arguments must be numeric");
            }
        }
    }
    let mut args = call.args.to_vec();
    if args.len() > 2 {
        let item = |value: ExprId| ListItem { value, is_optional: false };
        let items = args.into_iter().map(item).collect();
        args = vec![call.ast.add(Expr::List { items }, call.offset)];
    }
    let expanded = Expr::Call { function: function.into(), target: None, args };
    Ok(Some(call.ast.add(expanded, call.offset)))
}

/// Whether an argument may be a number, as far as can be seen.
fn is_number(call: &MacroCall<'_>, argument: ExprId) -> bool {
    match call.ast.expr(argument) {
        Expr::Literal(literal) => {
            matches!(literal, Literal::Double(_) | Literal::Int(_) | Literal::Uint(_))
        }
        Expr::List { .. } | Expr::Map { .. } | Expr::Struct { .. } => false,
        Expr::Ident(_) | Expr::Select { .. } | Expr::Call { .. } | Expr::Comprehension(_) => true,
    }
}

fn is_list_of_numbers(call: &MacroCall<'_>, argument: ExprId) -> bool {
    match call.ast.expr(argument) {
        Expr::List { items } => {
            !items.is_empty() && items.iter().all(|item| is_number(call, item.value))
        }
        _ => false,
    }
}
