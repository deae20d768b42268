//! From the text of a rule to a program, with what the rule can cost.
//!
//! After `pkg/apiserver/schema/cel/compilation.go`. What a definition says about the results, such
//! as that a rule is too expensive, is up to whoever validates definitions.

use std::sync::{Arc, LazyLock};

use orlop_machinery::Value;
use orlop_machinery::structural::Structural;

use crate::ast::{Expr, ExprId};
use crate::decl_type::DeclType;
use crate::environment::{Environment, Functions, VariableId};
use crate::estimate::estimate_cost;
use crate::library;
use crate::program::{Checked, Program};
use crate::ty::Type;

use super::field_path::{Brackets, find_field};
use super::schema_type::REQUEST_SIZE_MAX;

/// What rules call the value, and what it was before.
const SELF: &str = "self";
const OLD_SELF: &str = "oldSelf";

/// What rules can call.
static FUNCTIONS: LazyLock<Arc<Functions>> =
    LazyLock::new(|| Arc::new(Functions::new(library::KUBERNETES)));

/// What came of compiling one rule.
#[derive(Debug, Default)]
pub struct CompiledRule {
    /// The rule; none when it is empty, or does not compile.
    pub program: Option<Program>,
    /// Why it does not compile.
    pub error: Option<String>,
    /// Whether it compares with what was before.
    pub uses_old_self: bool,
    /// What evaluating it once costs at most.
    pub cost_max: u64,
    /// How often it can be evaluated at most, as far as the size of a request tells.
    pub cardinality_max: u64,
    /// What says what is wrong, when the rule is broken.
    pub message_program: Option<Program>,
    /// Why that does not compile.
    pub message_error: Option<String>,
    /// What evaluating that costs at most.
    pub message_cost_max: u64,
    /// The field that is to blame, relative to where the rule stands; may be empty.
    pub field_path: String,
}

/// Where rules of one node are compiled.
struct Scope<'a> {
    schema: &'a Structural,
    decl: &'a DeclType,
    /// For rules that want `oldSelf` as it is, and for those that want it as an optional.
    plain: Environment,
    optional: Option<Environment>,
}

/// Compiles the rules that stand at this node of a schema, in their order.
#[must_use]
pub fn compile_rules(schema: &Structural, decl: &DeclType) -> Vec<CompiledRule> {
    if schema.validations.is_empty() {
        return Vec::new();
    }
    let is_optional = |rule: &Value| rule.at("optionalOldSelf").bool();
    let mut plain = new_environment(decl);
    plain.declare(OLD_SELF, decl.ty());
    let optional = schema.validations.iter().any(is_optional).then(|| {
        let mut environment = new_environment(decl);
        environment.declare(OLD_SELF, Type::optional(decl.ty()));
        environment
    });
    let scope = Scope { schema, decl, plain, optional };
    schema.validations.iter().map(|rule| scope.compile(rule)).collect()
}

/// The variables of every rule, in the order in which they are declared.
pub(super) fn variables() -> (VariableId, VariableId) {
    static IDS: LazyLock<(VariableId, VariableId)> = LazyLock::new(|| {
        let mut environment = Environment::new(Arc::new(Functions::default()));
        (environment.declare(SELF, Type::Dyn), environment.declare(OLD_SELF, Type::Dyn))
    });
    *IDS
}

fn new_environment(decl: &DeclType) -> Environment {
    let mut environment = Environment::new(Arc::clone(&FUNCTIONS));
    environment.require_homogeneous_literals();
    environment.declare_data(SELF, decl);
    environment
}

impl Scope<'_> {
    fn compile(&self, rule: &Value) -> CompiledRule {
        let mut compiled = CompiledRule::default();
        if let Err(error) = self.compile_rule(rule, &mut compiled) {
            compiled.error = Some(error);
            return compiled;
        }
        if let Err(error) = self.compile_message(rule, &mut compiled) {
            compiled.message_error = Some(error);
            return compiled;
        }
        let path = rule.at("fieldPath").str();
        if !path.is_empty() {
            let field = find_field(path, self.schema, Brackets::Allowed);
            compiled.field_path = field.map(|field| field.path).unwrap_or_default();
        }
        compiled
    }

    fn compile_rule(&self, rule: &Value, compiled: &mut CompiledRule) -> Result<(), String> {
        let source = rule.at("rule").str();
        if source.trim().is_empty() {
            return Ok(());
        }
        let environment = self.environment(rule);
        let checked =
            environment.check(source).map_err(|issues| format!("compilation failed: {issues}"))?;
        if *checked.result_type() != Type::Bool {
            return Err("cel expression must evaluate to a bool".to_owned());
        }
        compiled.uses_old_self = uses_old_self(&checked);
        let program = environment
            .plan(&checked)
            .map_err(|issues| format!("program instantiation failed: {issues}"))?;
        compiled.cost_max = estimate_cost(&checked, self.decl).max;
        // At least a comma is between two of them.
        compiled.cardinality_max = REQUEST_SIZE_MAX / (self.decl.serialized_size_min() + 1);
        compiled.program = Some(program);
        Ok(())
    }

    fn compile_message(&self, rule: &Value, compiled: &mut CompiledRule) -> Result<(), String> {
        let source = rule.at("messageExpression").str();
        if source.is_empty() || compiled.program.is_none() {
            return Ok(());
        }
        let environment = self.environment(rule);
        let checked = environment
            .check(source)
            .map_err(|issues| format!("messageExpression compilation failed: {issues}"))?;
        if *checked.result_type() != Type::String {
            return Err("messageExpression must evaluate to a string".to_owned());
        }
        let program = environment
            .plan(&checked)
            .map_err(|issues| format!("messageExpression instantiation failed: {issues}"))?;
        compiled.message_cost_max = estimate_cost(&checked, self.decl).max;
        compiled.message_program = Some(program);
        Ok(())
    }

    fn environment(&self, rule: &Value) -> &Environment {
        let optional = self.optional.as_ref().filter(|_| rule.at("optionalOldSelf").bool());
        optional.unwrap_or(&self.plain)
    }
}

/// Whether something is called `oldSelf`; as upstream, whatever it is.
fn uses_old_self(checked: &Checked) -> bool {
    let ids = (0..checked.ast.len()).filter_map(ExprId::from_index);
    ids.filter(|id| checked.reference(*id).is_some()).any(|id| match checked.ast.expr(id) {
        Expr::Ident(name) => name.trim_start_matches('.') == OLD_SELF,
        _ => false,
    })
}
