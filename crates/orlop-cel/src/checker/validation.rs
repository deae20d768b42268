//! Constants that are well typed and still wrong.
//!
//! After the validators that Kubernetes turns on
//! (`staging/src/k8s.io/apiserver/pkg/cel/environment/base.go`): lists and maps of one type,
//! durations, timestamps and regular expressions that are none (`cel/validator.go` of cel-go), and
//! format strings that do not fit their arguments ([`mod@super::format`]).

use super::format;
use crate::ast::{Expr, ExprId, ListItem, Literal, MapEntry};
use crate::environment::Environment;
use crate::error::Issues;
use crate::function::{Context, Overload};
use crate::program::{Checked, Reference};
use crate::ty::Type;
use crate::value::{Value, Work};

/// The overload of `format` whose arguments are looked at.
const FORMAT: &str = "string_format";

/// Looks at all constants, where the environment asks for it.
pub(super) fn validate(
    environment: &Environment,
    checked: &Checked,
    source: &str,
) -> Result<(), Issues> {
    if !environment.requires_homogeneous_literals() {
        return Ok(());
    }
    let mut validator = Validator { checked, issues: Issues::new(source) };
    validator.visit(checked.ast.root(), Mixed::Refused);
    if validator.issues.list.is_empty() { Ok(()) } else { Err(validator.issues.sorted()) }
}

struct Validator<'c> {
    checked: &'c Checked,
    issues: Issues,
}

/// Whether lists and maps may have items of different types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mixed {
    Refused,
    /// Within the arguments of `format`.
    Accepted,
}

impl Validator<'_> {
    fn visit(&mut self, id: ExprId, mixed: Mixed) {
        match self.checked.ast.expr(id) {
            Expr::Literal(_) | Expr::Ident(_) => {}
            Expr::Select { operand, .. } => {
                // The parts of a qualified name have no constants.
                if self.checked.reference(id).is_none() {
                    self.visit(*operand, mixed);
                }
            }
            Expr::Call { function, target, args } => {
                self.visit_call(id, function, (*target, args), mixed)
            }
            Expr::List { items } => {
                self.validate_list(items, mixed);
                items.iter().for_each(|item| self.visit(item.value, mixed));
            }
            Expr::Map { entries } => {
                self.validate_map(entries, mixed);
                for entry in entries {
                    self.visit(entry.key, mixed);
                    self.visit(entry.value, mixed);
                }
            }
            Expr::Struct { fields, .. } => {
                fields.iter().for_each(|field| self.visit(field.value, mixed));
            }
            Expr::Comprehension(fold) => {
                for part in [fold.range, fold.initial, fold.condition, fold.step, fold.result] {
                    self.visit(part, mixed);
                }
            }
        }
    }

    fn visit_call(
        &mut self,
        id: ExprId,
        function: &str,
        (target, args): (Option<ExprId>, &[ExprId]),
        mixed: Mixed,
    ) {
        let mixed = if function == "format" { Mixed::Accepted } else { mixed };
        match (function, target, args) {
            ("duration" | "timestamp" | "matches", _, [argument, ..]) => {
                self.validate_argument(id, function, *argument);
            }
            ("format", Some(target), [argument]) => self.validate_format(id, target, *argument),
            _ => {}
        }
        target.iter().chain(args).for_each(|part| self.visit(*part, mixed));
    }

    /// The first argument, if it is constant. Of `matches(text, pattern)` that is the text, which
    /// upstream looks at too.
    fn validate_argument(&mut self, id: ExprId, function: &str, argument: ExprId) {
        let Expr::Literal(literal) = self.checked.ast.expr(argument) else { return };
        let value = constant(literal);
        let Some(Reference::Overloads { overloads, .. }) = self.checked.reference(id) else {
            return;
        };
        let is_wrong = match function {
            "matches" => overloads.iter().any(|overload| is_no_pattern(overload, &value)),
            _ => !overloads.iter().any(|overload| has_value(overload, &value)),
        };
        if is_wrong {
            let offset = self.checked.ast.offset(argument);
            self.issues.report(Some(offset), format!("invalid {function} argument"));
        }
    }

    fn validate_list(&mut self, items: &[ListItem], mixed: Mixed) {
        if mixed == Mixed::Accepted {
            return;
        }
        let mut first: Option<Type> = None;
        for ListItem { value, is_optional } in items {
            let ty = self.item_type(*value, *is_optional);
            match &first {
                None => first = Some(ty),
                Some(first) if *first != ty => return self.report_mismatch(*value, first, &ty),
                Some(_) => {}
            }
        }
    }

    fn validate_map(&mut self, entries: &[MapEntry], mixed: Mixed) {
        if mixed == Mixed::Accepted {
            return;
        }
        let mut first: Option<(Type, Type)> = None;
        for MapEntry { key, value, is_optional } in entries {
            let key_type = self.checked.ty(*key).clone();
            let value_type = self.item_type(*value, *is_optional);
            let Some((keys, values)) = &first else {
                first = Some((key_type, value_type));
                continue;
            };
            if *keys != key_type {
                self.report_mismatch(*key, keys, &key_type);
            }
            if *values != value_type {
                self.report_mismatch(*value, values, &value_type);
            }
        }
    }

    fn item_type(&self, id: ExprId, is_optional: bool) -> Type {
        match self.checked.ty(id) {
            Type::Optional(inner) if is_optional => Type::clone(inner),
            ty => ty.clone(),
        }
    }

    fn validate_format(&mut self, id: ExprId, target: ExprId, argument: ExprId) {
        let is_format = match self.checked.reference(id) {
            Some(Reference::Overloads { overloads, .. }) => {
                overloads.iter().any(|overload| overload.id == FORMAT)
            }
            _ => true,
        };
        let ast = &self.checked.ast;
        if let Expr::Literal(Literal::String(text)) = ast.expr(target)
            && let Expr::List { items } = ast.expr(argument)
            && is_format
            && let Err(error) = format::validate(self.checked, text, items)
        {
            let offset = ast.offset(error.argument.unwrap_or(id));
            self.issues.report(Some(offset), error.message);
        }
    }

    fn report_mismatch(&mut self, id: ExprId, expected: &Type, found: &Type) {
        let offset = self.checked.ast.offset(id);
        let message = format!("expected type '{expected}' but found '{found}'");
        self.issues.report(Some(offset), message);
    }
}

/// The value of a literal, if a constructor or a pattern can be made of it; else null, of which
/// nothing can.
fn constant(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::String(text) => Value::string(text.as_str()),
        Literal::Int(number) => Value::Int(*number),
        _ => Value::Null,
    }
}

/// Whether a call with this one argument gives a value.
fn has_value(overload: &Overload, value: &Value<'static>) -> bool {
    let args = [value.clone()];
    let mut context = Context { work: &mut Work::default(), prepared: None };
    overload.takes(&args) && (overload.call)(&mut context, &args).is_ok()
}

fn is_no_pattern(overload: &Overload, value: &Value<'_>) -> bool {
    let Some(prepare) = overload.prepare else { return false };
    matches!(prepare(&[None, Some(value)]), Some(Err(_)))
}
