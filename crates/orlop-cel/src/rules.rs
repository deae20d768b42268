//! Rules of custom resources: `x-kubernetes-validations`.
//!
//! [`Rules::compile`] makes programs of all rules of a schema, once; [`Rules::validate`] evaluates
//! them over an object within a budget. The tree of nodes has the schema's shape but only where
//! rules are at or below a node: the rest of an object is never looked at, and a schema without
//! rules costs nothing. After
//! `pkg/apiserver/schema/cel/{compilation,validation}.go` of `apiextensions-apiserver`.
//!
//! Upstream tells expressions that are new from those that were stored, to refuse what an older
//! server would not know. In 1.36 both know the same, so there is one environment here.

pub mod compile;
mod correlate;
pub mod field_path;
mod message;
pub mod schema_type;
mod validate;

use std::collections::BTreeMap;

use orlop_machinery::Str;
use orlop_machinery::field::{ErrorKind, Errors, FieldError};
use orlop_machinery::structural::{Shape, Structural};

use crate::decl_type::DeclType;
use crate::escape::escape;

pub use compile::{CompiledRule, compile_rules};
pub use schema_type::{Extent, declare};
pub use validate::Update;

/// What the evaluation of one rule may cost.
pub const RULE_COST_MAX: u64 = 1_000_000;
/// What all rules together may cost for one object.
pub const OBJECT_COST_MAX: i64 = 10_000_000;

/// The rules of a schema, ready to be evaluated.
#[derive(Debug, Default)]
pub struct Rules {
    /// None when there are no rules.
    root: Option<RuleNode>,
}

/// The rules of one node of a schema, and of those below it.
#[derive(Debug)]
struct RuleNode {
    /// What expressions see; none when they see nothing, and then no rule can be evaluated.
    decl: Option<DeclType>,
    /// As many as the schema has at this node.
    rules: Vec<CompiledRule>,
    /// By the names of JSON.
    properties: BTreeMap<Str, RuleNode>,
    /// Of the items of a list, or the values of a map.
    element: Option<Box<RuleNode>>,
}

/// What comes of evaluating rules, beside errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// What is left of the budget; negative when it was used up and rules were left out.
    pub budget_left: i64,
    /// What is wrong, but was before and did not change.
    pub warnings: Vec<String>,
}

impl Rules {
    /// Compiles all rules of a schema. A rule that does not compile is an error whenever it would
    /// be evaluated.
    #[must_use]
    pub fn compile(schema: &Structural, extent: Extent) -> Rules {
        if !has_rules(schema) {
            return Rules::default();
        }
        let decl = schema_type::declare(schema, extent);
        Rules { root: compile_node(schema, decl) }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Evaluates the rules over an object, unless errors that were found before make that
    /// pointless: then one more says so.
    pub fn validate_unless_blocked(
        &self,
        update: &Update<'_>,
        budget: i64,
        errors: &mut Errors,
    ) -> Evaluation {
        if self.is_empty() || !errors.list().iter().any(|error| is_blocking(error.kind)) {
            return self.validate(update, budget, errors);
        }
        let detail = "some validation rules were not checked because the object was invalid; \
                      correct the existing errors to complete validation";
        errors.push(FieldError {
            kind: ErrorKind::Invalid,
            field: validate::ROOT_PATH.to_owned(),
            bad_value: Some(orlop_machinery::Value::Null),
            detail: detail.to_owned(),
        });
        Evaluation { budget_left: budget, warnings: Vec::new() }
    }
}

/// Whether a value is so wrong that rules would stumble over it.
fn is_blocking(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotSupported
            | ErrorKind::Required
            | ErrorKind::TooLong
            | ErrorKind::TooMany
            | ErrorKind::TypeInvalid
    )
}

/// Whether there are rules at a node or below.
fn has_rules(schema: &Structural) -> bool {
    if !schema.validations.is_empty() {
        return true;
    }
    match &schema.shape {
        Some(Shape::Object { properties, .. }) => {
            properties.iter().any(|(_, inner)| has_rules(inner))
        }
        Some(Shape::Map { values: inner, .. } | Shape::Array { items: inner, .. }) => {
            has_rules(inner)
        }
        _ => false,
    }
}

/// The node of a schema, if rules are at it or below.
fn compile_node(schema: &Structural, decl: Option<DeclType>) -> Option<RuleNode> {
    let mut node = RuleNode { decl, rules: Vec::new(), properties: BTreeMap::new(), element: None };
    if let Some(decl) = &node.decl {
        node.rules = compile_rules(schema, decl);
    }
    let inner_decl = |node: &RuleNode| node.decl.as_ref().and_then(DeclType::element).cloned();
    match &schema.shape {
        Some(Shape::Object { properties, .. }) => {
            for (name, property) in properties.iter() {
                if let Some(inner) = compile_property(name, property, node.decl.as_ref()) {
                    node.properties.insert(name.clone(), inner);
                }
            }
        }
        Some(Shape::Map { values: inner, .. } | Shape::Array { items: inner, .. })
            if has_rules(inner) =>
        {
            let decl = inner_decl(&node);
            node.element = compile_node(inner, decl).map(Box::new);
        }
        _ => {}
    }
    let is_empty =
        schema.validations.is_empty() && node.properties.is_empty() && node.element.is_none();
    (!is_empty).then_some(node)
}

/// The node of a property. What an expression cannot see has no rules, but for properties whose
/// names it cannot write: those have rules of their own.
fn compile_property(
    name: &str,
    schema: &Structural,
    around: Option<&DeclType>,
) -> Option<RuleNode> {
    if !has_rules(schema) {
        return None;
    }
    let decl = match escape(name) {
        Some(escaped) => {
            let field = around?.as_object()?.field(&escaped)?;
            field.is_visible().then(|| field.ty.clone())?
        }
        None => schema_type::declare(schema, schema_type::extent_of(schema))?,
    };
    compile_node(schema, Some(decl))
}
