//! Evaluates the rules of a schema over an object.
//!
//! After `pkg/apiserver/schema/cel/validation.go`. Rules of a node come before those below it; what
//! is below comes in the order of names, which upstream does not have.

use orlop_machinery::Value as Json;
use orlop_machinery::field::{ErrorKind, Errors, FieldError, Path};
use orlop_machinery::structural::{Correlation, Shape, Structural};

use crate::decl_type::DeclType;
use crate::error::EvalError;
use crate::program::Bindings;
use crate::value::Value;

use super::correlate::{Correlated, Ratchet};
use super::message::{self, MessageError};
use super::schema_type::type_name;
use super::{CompiledRule, Evaluation, RULE_COST_MAX, RuleNode, Rules, compile};

/// What upstream prints for the path of the object itself.
pub(super) const ROOT_PATH: &str = "<nil>";

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// An object that is written.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// The schema that the rules were compiled from.
    pub schema: &'a Structural,
    /// The object.
    pub new: &'a Json,
    /// What it was before; none when it is created.
    pub old: Option<&'a Json>,
    /// Whether rules may stay broken for what does not change.
    pub is_ratcheting: bool,
}

/// Rules are not evaluated any more.
struct BudgetExceeded;

/// One value that rules are evaluated over.
#[derive(Clone, Copy)]
struct Place<'p> {
    schema: &'p Structural,
    new: &'p Json,
    old: Option<&'p Json>,
    ratchet: Ratchet<'p>,
}

struct Run<'r> {
    budget: i64,
    warnings: Vec<String>,
    errors: &'r mut Errors,
}

impl Rules {
    /// Evaluates the rules over an object and adds what is wrong to the errors. `path` is where
    /// the object is.
    pub fn validate_at(
        &self,
        path: &Path<'_>,
        update: &Update<'_>,
        budget: i64,
        errors: &mut Errors,
    ) -> Evaluation {
        let mut run = Run { budget, warnings: Vec::new(), errors };
        let Some(root) = &self.root else {
            return Evaluation { budget_left: budget, warnings: Vec::new() };
        };
        let Update { schema, new, old, .. } = *update;
        let correlated =
            old.filter(|_| update.is_ratcheting).map(|old| Correlation::new(schema, new, old));
        let correlated = correlated.map(Correlated::new);
        let ratchet = correlated.as_ref().map(Ratchet::new).unwrap_or_default();
        let place = Place { schema, new, old, ratchet };
        let budget_left = match run.visit(root, path, place) {
            Ok(()) => run.budget,
            Err(BudgetExceeded) => -1,
        };
        Evaluation { budget_left, warnings: run.warnings }
    }

    /// The same for a whole object.
    pub fn validate(&self, update: &Update<'_>, budget: i64, errors: &mut Errors) -> Evaluation {
        self.validate_at(&Path::root(), update, budget, errors)
    }
}

impl Run<'_> {
    fn visit(
        &mut self,
        node: &RuleNode,
        path: &Path<'_>,
        place: Place<'_>,
    ) -> Result<(), BudgetExceeded> {
        if place.new.is_null() {
            return Ok(());
        }
        let place = Place { old: place.old.filter(|old| !old.is_null()), ..place };
        self.evaluate_rules(node, path, place)?;
        match (place.new, &place.schema.shape) {
            (Json::Map(new), Some(Shape::Object { properties, .. })) => {
                for (name, inner) in &node.properties {
                    if let (Some(new), Some(schema)) = (new.get(name), properties.get(name)) {
                        self.visit_key(inner, (&path.child(name), name), (schema, new), place)?;
                    }
                }
            }
            (Json::Map(new), Some(Shape::Map { values, .. })) => {
                let Some(inner) = &node.element else { return Ok(()) };
                for (key, new) in new.iter() {
                    self.visit_key(inner, (&path.key(key), key), (values, new), place)?;
                }
            }
            (Json::List(new), Some(Shape::Array { items, .. })) => {
                let Some(inner) = &node.element else { return Ok(()) };
                self.visit_items(inner, path, (items, new), place)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Goes on to a field or an entry.
    fn visit_key(
        &mut self,
        node: &RuleNode,
        (path, name): (&Path<'_>, &str),
        (schema, new): (&Structural, &Json),
        around: Place<'_>,
    ) -> Result<(), BudgetExceeded> {
        let child = around.ratchet.key(name);
        let ratchet = around.ratchet.inside_key(name, child.as_ref());
        let old = around.old.and_then(|old| old.get(name));
        self.visit(node, path, Place { schema, new, old, ratchet })
    }

    fn visit_items(
        &mut self,
        node: &RuleNode,
        path: &Path<'_>,
        (schema, new): (&Structural, &[Json]),
        around: Place<'_>,
    ) -> Result<(), BudgetExceeded> {
        let around_items = around.old.map(|old| Correlation::new(around.schema, around.new, old));
        let old_items = around_items.map(|correlation| correlation.old_items());
        for (index, new) in new.iter().enumerate() {
            let correlation = old_items.as_ref().and_then(|items| items.correlate(index));
            let old = correlation.map(|correlation| correlation.old());
            let child = correlation.map(Correlated::new);
            let ratchet = around.ratchet.inside(child.as_ref());
            self.visit(node, &path.index(index), Place { schema, new, old, ratchet })?;
        }
        Ok(())
    }

    fn evaluate_rules(
        &mut self,
        node: &RuleNode,
        path: &Path<'_>,
        place: Place<'_>,
    ) -> Result<(), BudgetExceeded> {
        if place.schema.validations.is_empty() {
            return Ok(());
        }
        let Some(decl) = &node.decl else {
            let detail = "rule compiler initialization error: failed to convert to declType for \
                          CEL validation rules";
            self.push_invalid(path, place, detail);
            return Ok(());
        };
        if self.budget <= 0 {
            self.push_invalid(path, place, OUT_OF_BUDGET);
            return Err(BudgetExceeded);
        }
        let (self_id, old_self_id) = compile::variables();
        let mut plain = Bindings::new();
        plain.set_json(self_id, place.new, decl);
        let mut optional = None;
        if node.rules.iter().any(|rule| rule.uses_old_self) {
            let mut bindings = plain.clone();
            let old = place.old.and_then(|old| read_optional(old, decl));
            bindings.set(old_self_id, old.map_or_else(Value::none, Value::some));
            optional = Some(bindings);
            if let Some(old) = place.old {
                plain.set_json(old_self_id, old, decl);
            }
        }
        for (rule, text) in node.rules.iter().zip(&place.schema.validations) {
            let is_optional = text.at("optionalOldSelf").bool();
            if rule.uses_old_self && place.old.is_none() && !is_optional {
                continue;
            }
            let bindings = optional.as_ref().filter(|_| is_optional).unwrap_or(&plain);
            self.evaluate_rule(RuleAt { rule, text, path, place }, bindings)?;
        }
        Ok(())
    }

    fn evaluate_rule(
        &mut self,
        at: RuleAt<'_>,
        bindings: &Bindings<'_>,
    ) -> Result<(), BudgetExceeded> {
        let RuleAt { rule, text, path, place } = at;
        if let Some(error) = &rule.error {
            self.push_invalid(path, place, format!("rule compile error: {error}"));
            return Ok(());
        }
        let Some(program) = &rule.program else { return Ok(()) };
        let outcome = program.evaluate(bindings, RULE_COST_MAX);
        if self.spend(outcome.cost).is_err() {
            self.push_invalid(path, place, OUT_OF_BUDGET);
            return Err(BudgetExceeded);
        }
        let shown = message::shown_rule(text);
        match outcome.result {
            Ok(Value::Bool(true)) => Ok(()),
            Ok(_) => self.break_rule(at, bindings),
            Err(error @ (EvalError::CostLimitExceeded | EvalError::ValueTooLarge)) => {
                let detail = format!(
                    "'{error}': no further validation rules will be run due to call cost exceeds \
                     limit for rule: {shown}"
                );
                self.push_invalid(path, place, detail);
                Err(BudgetExceeded)
            }
            Err(error) => {
                let detail = match error.to_string() {
                    text if text.starts_with("no such overload") => format!(
                        "'{text}': call arguments did not match a supported operator, function \
                         or macro signature for rule: {shown}"
                    ),
                    text => format!("{text} evaluating rule: {shown}"),
                };
                self.push_invalid(path, place, detail);
                Ok(())
            }
        }
    }

    /// A rule is not kept: says so, in the words of its message.
    fn break_rule(
        &mut self,
        at: RuleAt<'_>,
        bindings: &Bindings<'_>,
    ) -> Result<(), BudgetExceeded> {
        let RuleAt { rule, text, path, place } = at;
        let mut field = path_text(path);
        if !rule.field_path.is_empty() {
            field = path.child(&rule.field_path).to_string();
        }
        let is_forgiven = !rule.uses_old_self && place.ratchet.forgives();
        let mut detail = None;
        if let Some(program) = &rule.message_program {
            let outcome = program.evaluate(bindings, RULE_COST_MAX);
            let is_affordable = self.spend(outcome.cost).is_ok();
            match message::read_message(outcome.result, text, is_affordable) {
                Ok(message) => detail = Some(message),
                Err(MessageError::Ignored) => {}
                Err(MessageError::Final(detail)) => {
                    let value = Some(Json::from(type_name(place.schema)));
                    let kind = ErrorKind::Invalid;
                    self.push(FieldError { kind, field, bad_value: value, detail }, is_forgiven);
                    return Err(BudgetExceeded);
                }
            }
        }
        let detail = detail.unwrap_or_else(|| message::default_message(text));
        let value = match place.new {
            Json::Map(_) | Json::List(_) => None,
            value => Some(value.clone()),
        };
        let error = match text.at("reason").str() {
            "FieldValueForbidden" => {
                FieldError { kind: ErrorKind::Forbidden, field, bad_value: None, detail }
            }
            "FieldValueRequired" => {
                FieldError { kind: ErrorKind::Required, field, bad_value: None, detail }
            }
            "FieldValueDuplicate" => FieldError {
                kind: ErrorKind::Duplicate,
                field,
                bad_value: value,
                detail: String::new(),
            },
            _ => FieldError { kind: ErrorKind::Invalid, field, bad_value: value, detail },
        };
        self.push(error, is_forgiven);
        Ok(())
    }

    fn spend(&mut self, cost: u64) -> Result<(), BudgetExceeded> {
        let cost = i64::try_from(cost).map_err(|_| BudgetExceeded)?;
        if cost > self.budget {
            return Err(BudgetExceeded);
        }
        self.budget -= cost;
        Ok(())
    }

    fn push(&mut self, error: FieldError, is_forgiven: bool) {
        if is_forgiven {
            self.warnings.push(error.to_string());
        } else {
            self.errors.push(error);
        }
    }

    /// An error that shows the type of the value.
    fn push_invalid(&mut self, path: &Path<'_>, place: Place<'_>, detail: impl Into<String>) {
        self.errors.push(FieldError {
            kind: ErrorKind::Invalid,
            field: path_text(path),
            bad_value: Some(Json::from(type_name(place.schema))),
            detail: detail.into(),
        });
    }
}

/// A rule at a value.
#[derive(Clone, Copy)]
struct RuleAt<'r> {
    rule: &'r CompiledRule,
    /// As it is written.
    text: &'r Json,
    path: &'r Path<'r>,
    place: Place<'r>,
}

/// The old value of a rule that wants it as an optional. What is inside of it reads as if there
/// were no schema: upstream loses it when it unpacks the optional. None when it is not what the
/// schema says.
fn read_optional<'a>(old: &'a Json, decl: &'a DeclType) -> Option<Value<'a>> {
    let decl = match old {
        Json::Map(_) | Json::List(_) => DeclType::dynamic(),
        _ => decl,
    };
    Value::from_json(old, decl).ok()
}

fn path_text(path: &Path<'_>) -> String {
    match path.to_string() {
        text if text.is_empty() => ROOT_PATH.to_owned(),
        text => text,
    }
}
