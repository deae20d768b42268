//! Whether the arguments of `format` fit a format string that is constant.
//!
//! After `ext/formatting.go` of cel-go, which reads the clauses one after the other and stops at
//! the first that is wrong.

use crate::ast::{Expr, ExprId, ListItem, MapEntry};
use crate::program::Checked;
use crate::ty::Type;

/// What is wrong with a format string.
pub(super) struct FormatError {
    /// The argument that does not fit; the call when it is no argument.
    pub(super) argument: Option<ExprId>,
    pub(super) message: String,
}

impl From<String> for FormatError {
    fn from(message: String) -> FormatError {
        FormatError { argument: None, message }
    }
}

/// Compares the clauses of a format string with its arguments.
pub(super) fn validate(
    checked: &Checked,
    text: &str,
    arguments: &[ListItem],
) -> Result<(), FormatError> {
    let mut rest = text.as_bytes();
    let mut used = 0;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        rest = &rest[at + 1..];
        match rest {
            [b'%', after @ ..] => {
                rest = after;
                continue;
            }
            [] => return Err("unexpected end of string".to_owned().into()),
            _ => {}
        }
        let Some(argument) = arguments.get(used) else {
            return Err(format!("index {used} out of range").into());
        };
        let (clause, after) = read_clause(rest)
            .map_err(|error| format!("could not parse formatting clause: {error}"))?;
        validate_argument(checked, clause, argument.value)?;
        rest = after;
        used += 1;
    }
    if arguments.len() > used {
        let message = format!(
            "too many arguments supplied to string.format (expected {used}, got {})",
            arguments.len()
        );
        return Err(message.into());
    }
    Ok(())
}

/// The letter of a clause, and what comes after it.
fn read_clause(text: &[u8]) -> Result<(u8, &[u8]), String> {
    let text =
        skip_precision(text).map_err(|error| format!("error while parsing precision: {error}"))?;
    match text {
        [clause @ (b's' | b'd' | b'f' | b'e' | b'b' | b'x' | b'X' | b'o'), rest @ ..] => {
            Ok((*clause, rest))
        }
        [other, ..] => Err(format!("unrecognized formatting clause \"{}\"", char::from(*other))),
        [] => Err("could not find end of precision specifier".to_owned()),
    }
}

fn skip_precision(text: &[u8]) -> Result<&[u8], String> {
    let [b'.', rest @ ..] = text else { return Ok(text) };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(count);
    if rest.is_empty() {
        return Err("could not find end of precision specifier".to_owned());
    }
    let digits = String::from_utf8_lossy(digits);
    let why = match digits.parse::<i64>() {
        Ok(_) => return Ok(rest),
        Err(_) if digits.is_empty() => "invalid syntax",
        Err(_) => "value out of range",
    };
    Err(format!(
        "error while converting precision to integer: strconv.Atoi: parsing \"{digits}\": {why}"
    ))
}

fn validate_argument(checked: &Checked, clause: u8, id: ExprId) -> Result<(), FormatError> {
    let ty = checked.ty(id);
    let wrong = match clause {
        b's' => return validate_text(checked, id),
        b'd' if !is_integer(ty) => "decimal clause can only be used on integers",
        b'f' if !matches!(ty, Type::Double | Type::String) => {
            "fixed-point clause can only be used on doubles"
        }
        b'e' if !matches!(ty, Type::Double | Type::String) => {
            "scientific clause can only be used on doubles"
        }
        b'b' if !is_integer(ty) && *ty != Type::Bool => {
            "only integers and bools can be formatted as binary"
        }
        b'x' | b'X' if !is_integer(ty) && !matches!(ty, Type::String | Type::Bytes) => {
            "only integers, byte buffers, and strings can be formatted as hex"
        }
        b'o' if !is_integer(ty) => "octal clause can only be used on integers",
        _ => return Ok(()),
    };
    if matches!(ty, Type::Dyn) { Ok(()) } else { Err(unfit(id, ty, wrong)) }
}

fn is_integer(ty: &Type) -> bool {
    matches!(ty, Type::Int | Type::Uint)
}

/// Whether a value and everything that is written in it can be shown.
fn validate_text(checked: &Checked, id: ExprId) -> Result<(), FormatError> {
    let ty = checked.ty(id);
    if matches!(ty, Type::Object(_) | Type::Optional(_) | Type::Opaque(_) | Type::Error) {
        let wrong = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, \
                     lists, types, durations, and timestamps";
        return Err(unfit(id, ty, wrong));
    }
    match checked.ast.expr(id) {
        Expr::List { items } => {
            items.iter().try_for_each(|ListItem { value, .. }| validate_text(checked, *value))
        }
        Expr::Map { entries } => entries.iter().try_for_each(|MapEntry { key, value, .. }| {
            validate_text(checked, *key)?;
            validate_text(checked, *value)
        }),
        _ => Ok(()),
    }
}

fn unfit(id: ExprId, ty: &Type, wrong: &str) -> FormatError {
    let message = format!("error during formatting: {wrong}, was given {}", ty.name());
    FormatError { argument: Some(id), message }
}
