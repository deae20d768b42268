//! Expressions that are checked ([`Checked`]) and that can be evaluated ([`Program`]).

use std::sync::Arc;

use crate::ast::{Ast, ExprId};
use crate::checker;
use crate::decl_type::DeclType;
use crate::environment::{Environment, VariableId};
use crate::error::{EvalError, Issues};
use crate::evaluate::Evaluation;
use crate::function::Overload;
use crate::plan::{Plan, plan};
use crate::ty::Type;
use crate::value::{Json, Value};

/// An expression whose types fit.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What was read.
    pub source: Arc<str>,
    /// The expression.
    pub ast: Ast,
    /// The type of each node. As long as the nodes.
    pub types: Vec<Type>,
    /// What each node refers to, where it is a name or a call. As long as the nodes.
    pub references: Vec<Option<Reference>>,
}

/// What a name or a call refers to.
#[derive(Clone, Debug)]
pub enum Reference {
    /// A variable of the environment. Selects that are part of its qualified name carry this too.
    Variable(VariableId),
    /// A variable of a comprehension around it; found by its name.
    Local,
    /// A constant, or a type.
    Constant(Value<'static>),
    /// The overloads that fit; several when argument types are dyn. A qualified function such as
    /// `math.greatest` is a call with a target in the tree, but has none: its arguments are `args`.
    Overloads {
        /// Not empty.
        overloads: Vec<&'static Overload>,
        /// Whether the target is the namespace of the function's name and is no argument.
        is_qualified: bool,
    },
    /// The type of a struct that is made.
    Struct(DeclType),
}

/// An expression that can be evaluated.
#[derive(Debug)]
pub struct Program {
    plan: Plan,
    result_type: Type,
}

/// The values of variables.
#[derive(Clone, Debug, Default)]
pub struct Bindings<'a> {
    values: Vec<Binding<'a>>,
}

#[derive(Clone, Debug, Default)]
enum Binding<'a> {
    #[default]
    Unset,
    Value(Value<'a>),
    Json(&'a Json, &'a DeclType),
}

/// What came out of an evaluation.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The value, or why there is none.
    pub result: Result<Value<'a>, EvalError>,
    /// What it cost.
    pub cost: u64,
}

impl Environment {
    /// Parses and checks an expression.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, in cel-go's words.
    pub fn check(&self, source: &str) -> Result<Checked, Issues> {
        checker::check(self, source)
    }

    /// Makes a checked expression ready to be evaluated.
    ///
    /// # Errors
    ///
    /// When a constant is wrong: a regular expression that is none.
    pub fn plan(&self, checked: &Checked) -> Result<Program, Issues> {
        let result_type = checked.result_type().clone();
        Ok(Program { plan: plan(self, checked)?, result_type })
    }

    /// Parses and checks an expression and makes it ready to be evaluated.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, in cel-go's words.
    pub fn compile(&self, source: &str) -> Result<Program, Issues> {
        self.plan(&self.check(source)?)
    }
}

impl Checked {
    /// The type of the whole expression.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        &self.types[self.ast.root().index()]
    }

    /// The type of a node.
    #[must_use]
    pub fn ty(&self, id: ExprId) -> &Type {
        &self.types[id.index()]
    }

    /// What a node refers to.
    #[must_use]
    pub fn reference(&self, id: ExprId) -> Option<&Reference> {
        self.references[id.index()].as_ref()
    }
}

impl Program {
    /// The type of what comes out.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        &self.result_type
    }

    /// Evaluates the expression. Ends with an error when it costs more than the budget.
    #[must_use]
    pub fn evaluate<'a>(&'a self, bindings: &Bindings<'a>, budget: u64) -> Outcome<'a> {
        let mut evaluation = Evaluation::new(&self.plan, bindings, budget);
        let result = evaluation.run(&self.plan.root);
        Outcome { result, cost: evaluation.cost() }
    }
}

impl<'a> Bindings<'a> {
    /// Without values.
    #[must_use]
    pub fn new() -> Bindings<'a> {
        Bindings::default()
    }

    /// Sets a variable.
    pub fn set(&mut self, id: VariableId, value: Value<'a>) {
        *self.entry(id) = Binding::Value(value);
    }

    /// Sets a variable to JSON, which is read by its declared type when it is needed.
    pub fn set_json(&mut self, id: VariableId, json: &'a Json, decl: &'a DeclType) {
        *self.entry(id) = Binding::Json(json, decl);
    }

    /// Takes a variable's value away.
    pub fn unset(&mut self, id: VariableId) {
        *self.entry(id) = Binding::Unset;
    }

    /// The value of a variable, if it has one.
    #[must_use]
    pub fn get(&self, id: VariableId) -> Option<Result<Value<'a>, EvalError>> {
        match self.values.get(id.index())? {
            Binding::Unset => None,
            Binding::Value(value) => Some(Ok(value.clone())),
            Binding::Json(json, decl) => Some(Value::from_json(json, decl)),
        }
    }

    fn entry(&mut self, id: VariableId) -> &mut Binding<'a> {
        if self.values.len() <= id.index() {
            self.values.resize(id.index() + 1, Binding::Unset);
        }
        &mut self.values[id.index()]
    }
}
