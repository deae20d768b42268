//! Rules in CEL: `x-kubernetes-validations`.
//!
//! After `CELSchemaContext` in `pkg/apis/apiextensions/validation/cel_validation.go` and the part
//! of `ValidateCustomResourceDefinitionOpenAPISchema` that compiles rules. What can be said about a
//! rule without compiling it is in `open_api_schema.rs`.
//!
//! Upstream tells rules that were accepted before from new ones, which may only use what an older
//! server knows, too. In 1.36 all servers know the same.

use std::cell::{OnceCell, RefCell};

use orlop_cel::DeclType;
use orlop_cel::escape::escape;
use orlop_cel::rules::{
    CompiledRule, Extent, OBJECT_COST_MAX, Rules, Update, compile_rules, schema_type,
};
use orlop_machinery::field::{At, Errors, FieldError, Path};
use orlop_machinery::node::Node;
use orlop_machinery::structural::Structural;
use orlop_machinery::{Value, json};

/// What one rule may be estimated to cost, with all values that it is about.
const RULE_COST_MAX: u64 = 10_000_000;
/// What all rules of a schema may be.
const SCHEMA_COST_MAX: u64 = 100_000_000;
/// How many rules are named when all together cost too much.
const EXPENSIVE_MAX: usize = 4;

/// A schema inside another one, as rules see it.
pub(super) struct RuleScope<'a> {
    parent: Option<&'a RuleScope<'a>>,
    step: Step<'a>,
    json: &'a Value,
    schema: &'a Structural,
    /// Whether there are rules here or around.
    is_ruled: bool,
    /// How many values of the schema an object can have; none for any number.
    cardinality: Option<u64>,
    /// What expressions see; none when they see nothing. Made when it is needed.
    decl: OnceCell<Option<DeclType>>,
    total: &'a RefCell<TotalCost>,
}

/// How one comes from a schema to one inside.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// To a property.
    Property(&'a str),
    /// To the items of a list.
    Items,
    /// To the values of a map.
    Values,
}

/// What all rules of a schema cost.
#[derive(Debug, Default)]
pub(super) struct TotalCost {
    total: u64,
    /// The most expensive rules, and their paths; the most expensive first.
    most_expensive: Vec<(String, u64)>,
}

impl<'a> RuleScope<'a> {
    /// Of a whole schema.
    pub(super) fn root(
        json: &'a Value,
        schema: &'a Structural,
        total: &'a RefCell<TotalCost>,
    ) -> RuleScope<'a> {
        RuleScope {
            parent: None,
            step: Step::Items,
            json,
            schema,
            is_ruled: has_rules(json),
            cardinality: Some(1),
            decl: OnceCell::new(),
            total,
        }
    }

    /// Of a schema inside; none when there is no telling what it is.
    pub(super) fn child<'b>(&'b self, step: Step<'b>, json: &'b Value) -> Option<RuleScope<'b>> {
        let schema = match step {
            Step::Property(name) => self.schema.field(name)?,
            Step::Items => self.schema.items()?,
            // All entries have the same.
            Step::Values => self.schema.field("")?,
        };
        let elements = elements_max(self.json);
        Some(RuleScope {
            parent: Some(self),
            step,
            json,
            schema,
            is_ruled: self.is_ruled || has_rules(json),
            cardinality: self.cardinality.zip(elements).map(|(all, each)| all.saturating_mul(each)),
            decl: OnceCell::new(),
            total: self.total,
        })
    }

    /// What expressions see.
    fn decl(&self) -> Option<&DeclType> {
        let declare = || match self.parent.filter(|parent| parent.is_ruled) {
            None => self.declare(),
            Some(parent) => {
                let around = parent.decl()?;
                let inside = match self.step {
                    Step::Items | Step::Values => around.element(),
                    Step::Property(name) => {
                        let field = escape(name).and_then(|name| around.as_object()?.field(&name));
                        field.filter(|field| field.is_visible()).map(|field| &field.ty)
                    }
                };
                inside.cloned().or_else(|| self.declare())
            }
        };
        self.decl.get_or_init(declare).as_ref()
    }

    fn declare(&self) -> Option<DeclType> {
        let is_resource = self.parent.is_none() || self.schema.is_embedded_resource;
        let extent = if is_resource { Extent::Resource } else { Extent::Part };
        schema_type::declare(self.schema, extent)
    }

    /// Reports all that is wrong with the rules of the schema. `uncorrelatable` is the path of the
    /// outermost schema whose values cannot be told from old ones, if there is any.
    pub(super) fn validate(
        &self,
        rules: &Node<'_>,
        uncorrelatable: Option<&str>,
        limit: CostLimit,
        errors: &mut Errors,
    ) {
        let Some(decl) = self.decl() else {
            let detail = "internal error: failed to construct type information for \
                          x-kubernetes-validations rules: unable to convert structural schema to \
                          CEL declarations";
            errors.internal(rules, detail);
            return;
        };
        let compiled = compile_rules(self.schema, decl);
        for (rule, compiled) in rules.items().zip(&compiled) {
            self.validate_cost(&rule, compiled, limit, errors);
            validate_old_self(&rule, compiled, uncorrelatable, errors);
        }
    }

    fn validate_cost(
        &self,
        rule: &Node<'_>,
        compiled: &CompiledRule,
        limit: CostLimit,
        errors: &mut Errors,
    ) {
        let text = rule.at("rule");
        let times = self.cardinality.unwrap_or(compiled.cardinality_max);
        let cost = compiled.cost_max.saturating_mul(times);
        self.observe(&text, (cost, "estimated rule cost"), limit, errors);
        if let Some(error) = &compiled.error {
            errors.invalid_json(&text, &shown(rule.value()), error);
        }
        let expression = rule.at("messageExpression");
        if let Some(error) = &compiled.message_error {
            errors.invalid_json(&expression, &shown(rule.value()), error);
        } else if compiled.message_program.is_some() {
            let cost = (compiled.message_cost_max, "estimated messageExpression cost");
            self.observe(&expression, cost, limit, errors);
        }
    }

    /// Notes what an expression costs, and complains if it is too much.
    fn observe(
        &self,
        expression: &Node<'_>,
        (cost, name): (u64, &str),
        limit: CostLimit,
        errors: &mut Errors,
    ) {
        if limit == CostLimit::PerRule && cost > RULE_COST_MAX {
            errors.forbidden(expression, cost_message(name, cost, RULE_COST_MAX));
        }
        self.total.borrow_mut().observe(expression.path(), cost);
    }
}

/// What rules say about the default values of one schema, which share a budget.
pub(super) struct DefaultChecks {
    budget: i64,
}

impl Default for DefaultChecks {
    fn default() -> DefaultChecks {
        DefaultChecks { budget: OBJECT_COST_MAX }
    }
}

impl DefaultChecks {
    /// Reports what rules say about a default value: as one that did not change, and as a new one.
    pub(super) fn check(
        &mut self,
        schema: &Structural,
        default: &Value,
        path: &Path<'_>,
        errors: &mut Errors,
    ) {
        if self.budget < 0 {
            return;
        }
        let is_resource = schema.is_embedded_resource;
        let extent = if is_resource { Extent::Resource } else { Extent::Part };
        let rules = Rules::compile(schema, extent);
        let before = errors.len();
        let budget = self.budget;
        for old in [Some(default), None] {
            let update = Update { schema, new: default, old, is_ratcheting: false };
            let left = rules.validate_at(path, &update, budget, errors).budget_left;
            self.budget = self.budget.min(left);
            if errors.len() > before {
                return;
            }
        }
    }
}

/// Whether each rule has a limit of its own. In a schema that did not change it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CostLimit {
    /// It has.
    PerRule,
    /// It has not.
    Total,
}

/// Transition rules stand only where it can be told what a value was.
fn validate_old_self(
    rule: &Node<'_>,
    compiled: &CompiledRule,
    uncorrelatable: Option<&str>,
    errors: &mut Errors,
) {
    let optional = rule.at("optionalOldSelf");
    if let Some(path) = uncorrelatable.filter(|_| compiled.uses_old_self) {
        let detail = format!(
            "oldSelf cannot be used on the uncorrelatable portion of the schema within {path}"
        );
        errors.invalid(&rule.at("rule"), detail);
    }
    if !compiled.uses_old_self && optional.is_set() {
        errors.invalid(&optional, "may not be set if oldSelf is not used in rule");
    }
}

impl TotalCost {
    fn observe(&mut self, path: &Path<'_>, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost < SCHEMA_COST_MAX / 100 {
            return;
        }
        let place = self.most_expensive.partition_point(|(_, other)| *other >= cost);
        self.most_expensive.insert(place, (path.to_string(), cost));
        self.most_expensive.truncate(EXPENSIVE_MAX);
    }

    /// Complains if all rules together cost too much.
    pub(super) fn validate(&self, schema: &Node<'_>, errors: &mut Errors) {
        if self.total <= SCHEMA_COST_MAX {
            return;
        }
        for (path, _) in &self.most_expensive {
            let detail = "contributed to estimated rule cost total exceeding cost limit for \
                          entire OpenAPIv3 schema";
            errors.push(FieldError {
                kind: orlop_machinery::field::ErrorKind::Forbidden,
                field: path.clone(),
                bad_value: None,
                detail: detail.to_owned(),
            });
        }
        let name =
            "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.forbidden(schema, cost_message(name, self.total, SCHEMA_COST_MAX));
    }
}

fn has_rules(schema: &Value) -> bool {
    !schema.at("x-kubernetes-validations").is_empty()
}

/// How many values a value of this schema has inside, for each schema there; none for any number.
fn elements_max(schema: &Value) -> Option<u64> {
    let bound = |name: &str| schema.at(name).as_int().map(|max| u64::try_from(max).unwrap_or(0));
    match schema.at("type").str() {
        "array" => bound("maxItems"),
        "object" if !schema.at("additionalProperties").is_null() => bound("maxProperties"),
        _ => Some(1),
    }
}

#[allow(clippy::cast_precision_loss, reason = "as Go converts")]
fn cost_message(name: &str, cost: u64, max: u64) -> String {
    let factor = match cost as f64 / max as f64 {
        factor if factor > 100.0 => "more than 100x".to_owned(),
        // So that nobody reads of a factor of 1.0.
        factor if factor < 1.5 => format!("{factor:.6}x"),
        factor => format!("{factor:.1}x"),
    };
    format!(
        "{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding \
         maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

/// A rule as upstream shows it.
fn shown(rule: &Value) -> String {
    let text = |name: &str| json::to_string(&Value::from(rule.at(name).str()));
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\
         \"OptionalOldSelf\":{}}}",
        text("rule"),
        text("message"),
        text("messageExpression"),
        json::to_string(rule.at("reason")),
        text("fieldPath"),
        json::to_string(rule.at("optionalOldSelf")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_as_exact_as_it_is_useful() {
        let factor = |cost| {
            let message = cost_message("cost", cost, RULE_COST_MAX);
            message.split(' ').nth(6).map(str::to_owned)
        };
        assert_eq!(factor(10_000_001).as_deref(), Some("1.000000x"));
        assert_eq!(factor(33_000_000).as_deref(), Some("3.3x"));
        assert_eq!(factor(1_000_000_001).as_deref(), Some("more"));
    }

    #[test]
    fn the_four_most_expensive_rules_are_named() {
        let mut total = TotalCost::default();
        for (at, cost) in [5, 3, 9, 1, 9, 0].into_iter().enumerate() {
            let root = Path::root();
            total.observe(&root.index(at), cost * SCHEMA_COST_MAX / 100);
        }
        let named: Vec<&str> = total.most_expensive.iter().map(|(path, _)| &**path).collect();
        assert_eq!(named, ["[2]", "[4]", "[0]", "[1]"]);
    }
}
