//! The pieces that expansions are made of.

use orlop_machinery::Str;

use super::{ACCUMULATOR_EARLIER, NOT_SIMPLE, OVERWRITES, UNUSED};
use crate::ast::{Ast, Comprehension, Expr, ExprId, ListItem, Literal, MapEntry, StructField};
use crate::function::{MacroCall, MacroError};
use crate::operator::{self, ACCUMULATOR};

/// How the outcomes for all items become one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quantifier {
    All,
    Exists,
    ExistsOne,
}

/// What is gone through, and what each item is called.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) range: ExprId,
    pub(super) variable: Str,
    pub(super) second_variable: Option<Str>,
}

impl Fold {
    /// Over the target.
    pub(super) fn new(
        call: &MacroCall<'_>,
        variable: Str,
        second_variable: Option<Str>,
    ) -> Result<Fold, MacroError> {
        Ok(Fold { range: call.target(), variable, second_variable })
    }

    /// Over the target, with two variables that are the first two arguments.
    pub(super) fn of_two(call: &MacroCall<'_>) -> Result<Fold, MacroError> {
        let first = call.variable(0, NOT_SIMPLE)?;
        let second = call.variable(1, NOT_SIMPLE)?;
        if first == second {
            return Err(call.error(call.args[1], format!("duplicate variable name: {first}")));
        }
        call.check_accumulator(0, &first)?;
        call.check_accumulator(1, &second)?;
        Fold::new(call, first, Some(second))
    }
}

impl MacroCall<'_> {
    /// What it is called on; only a member is expanded by what asks for it.
    pub(super) fn target(&self) -> ExprId {
        self.target.expect("the table says that it is called on something")
    }

    pub(super) fn error(&self, at: ExprId, message: impl Into<String>) -> MacroError {
        MacroError { offset: self.ast.offset(at), message: message.into() }
    }

    /// The name that an argument is.
    pub(super) fn variable(&self, argument: usize, message: &str) -> Result<Str, MacroError> {
        let argument = self.args[argument];
        match self.ast.expr(argument) {
            Expr::Ident(name) => Ok(name.clone()),
            _ => Err(self.error(argument, message)),
        }
    }

    pub(super) fn check_accumulator(
        &self,
        argument: usize,
        variable: &str,
    ) -> Result<(), MacroError> {
        if variable == ACCUMULATOR || variable == ACCUMULATOR_EARLIER {
            return Err(self.error(self.args[argument], OVERWRITES));
        }
        Ok(())
    }

    /// Adds a node at the place of the call.
    pub(super) fn add(&mut self, expr: Expr) -> ExprId {
        self.ast.add(expr, self.offset)
    }

    pub(super) fn literal(&mut self, literal: Literal) -> ExprId {
        self.add(Expr::Literal(literal))
    }

    pub(super) fn ident(&mut self, name: &str) -> ExprId {
        self.add(Expr::Ident(Str::from(name)))
    }

    pub(super) fn list(&mut self, items: &[ExprId]) -> ExprId {
        let item = |value: &ExprId| ListItem { value: *value, is_optional: false };
        self.add(Expr::List { items: items.iter().map(item).collect() })
    }

    pub(super) fn call(&mut self, function: &'static str, args: &[ExprId]) -> ExprId {
        let function = Str::const_new(function);
        self.add(Expr::Call { function, target: None, args: args.to_vec() })
    }

    pub(super) fn member_call(
        &mut self,
        function: &'static str,
        target: ExprId,
        args: &[ExprId],
    ) -> ExprId {
        let function = Str::const_new(function);
        self.add(Expr::Call { function, target: Some(target), args: args.to_vec() })
    }

    /// Whether the predicate holds for all items, any, or exactly one.
    pub(super) fn quantify(
        &mut self,
        quantifier: Quantifier,
        fold: Fold,
        predicate: ExprId,
    ) -> ExprId {
        match quantifier {
            Quantifier::All => {
                let initial = self.literal(Literal::Bool(true));
                let so_far = self.ident(ACCUMULATOR);
                let condition = self.call(operator::NOT_STRICTLY_FALSE, &[so_far]);
                let so_far = self.ident(ACCUMULATOR);
                let step = self.call(operator::AND, &[so_far, predicate]);
                let result = self.ident(ACCUMULATOR);
                self.fold(fold, [initial, condition, step, result])
            }
            Quantifier::Exists => {
                let initial = self.literal(Literal::Bool(false));
                let so_far = self.ident(ACCUMULATOR);
                let not = self.call(operator::NOT, &[so_far]);
                let condition = self.call(operator::NOT_STRICTLY_FALSE, &[not]);
                let so_far = self.ident(ACCUMULATOR);
                let step = self.call(operator::OR, &[so_far, predicate]);
                let result = self.ident(ACCUMULATOR);
                self.fold(fold, [initial, condition, step, result])
            }
            Quantifier::ExistsOne => {
                let initial = self.literal(Literal::Int(0));
                let condition = self.literal(Literal::Bool(true));
                let (so_far, one) = (self.ident(ACCUMULATOR), self.literal(Literal::Int(1)));
                let more = self.call(operator::ADD, &[so_far, one]);
                let step = self.step_if(Some(predicate), more);
                let (so_far, one) = (self.ident(ACCUMULATOR), self.literal(Literal::Int(1)));
                let result = self.call(operator::EQUALS, &[so_far, one]);
                self.fold(fold, [initial, condition, step, result])
            }
        }
    }

    /// A list of what each item becomes.
    pub(super) fn collect(
        &mut self,
        fold: Fold,
        initial: ExprId,
        condition: Option<ExprId>,
        transform: ExprId,
    ) -> ExprId {
        let so_far = self.ident(ACCUMULATOR);
        let item = self.list(&[transform]);
        let longer = self.call(operator::ADD, &[so_far, item]);
        let step = self.step_if(condition, longer);
        self.fold_all(fold, initial, step)
    }

    /// The step, where the condition holds; else the accumulator stays.
    pub(super) fn step_if(&mut self, condition: Option<ExprId>, step: ExprId) -> ExprId {
        let Some(condition) = condition else { return step };
        let so_far = self.ident(ACCUMULATOR);
        self.call(operator::CONDITIONAL, &[condition, step, so_far])
    }

    /// A fold over all items whose result is the accumulator.
    pub(super) fn fold_all(&mut self, fold: Fold, initial: ExprId, step: ExprId) -> ExprId {
        let condition = self.literal(Literal::Bool(true));
        let result = self.ident(ACCUMULATOR);
        self.fold(fold, [initial, condition, step, result])
    }

    fn fold(&mut self, fold: Fold, parts: [ExprId; 4]) -> ExprId {
        let [initial, condition, step, result] = parts;
        let accumulator = Str::const_new(ACCUMULATOR);
        let Fold { range, variable, second_variable } = fold;
        self.add(Expr::Comprehension(Box::new(Comprehension {
            range,
            variable,
            second_variable,
            accumulator,
            initial,
            condition,
            step,
            result,
        })))
    }

    /// A value under a name: a fold over nothing, whose accumulator is the value.
    pub(super) fn bind(&mut self, name: &str, value: ExprId, result: ExprId) -> ExprId {
        let range = self.list(&[]);
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(name);
        self.add(Expr::Comprehension(Box::new(Comprehension {
            range,
            variable: Str::const_new(UNUSED),
            second_variable: None,
            accumulator: Str::from(name),
            initial: value,
            condition,
            step,
            result,
        })))
    }

    /// A copy of a node and everything in it, at the same places.
    pub(super) fn copy(&mut self, id: ExprId) -> ExprId {
        copy(self.ast, id, self.offset)
    }
}

/// The depth is that of the tree, which the parser bounds. Fields move to the place of the call.
fn copy(ast: &mut Ast, id: ExprId, fields_offset: u32) -> ExprId {
    let mut expr = ast.expr(id).clone();
    match &mut expr {
        Expr::Literal(_) | Expr::Ident(_) => {}
        Expr::Select { operand, .. } => *operand = copy(ast, *operand, fields_offset),
        Expr::Call { target, args, .. } => {
            for part in target.iter_mut().chain(args) {
                *part = copy(ast, *part, fields_offset);
            }
        }
        Expr::List { items } => {
            for ListItem { value, .. } in items {
                *value = copy(ast, *value, fields_offset);
            }
        }
        Expr::Map { entries } => {
            for MapEntry { key, value, .. } in entries {
                *key = copy(ast, *key, fields_offset);
                *value = copy(ast, *value, fields_offset);
            }
        }
        Expr::Struct { fields, .. } => {
            for StructField { value, offset, .. } in fields {
                *value = copy(ast, *value, fields_offset);
                *offset = fields_offset;
            }
        }
        Expr::Comprehension(fold) => {
            let Comprehension { range, initial, condition, step, result, .. } = fold.as_mut();
            for part in [range, initial, condition, step, result] {
                *part = copy(ast, *part, fields_offset);
            }
        }
    }
    let offset = ast.offset(id);
    ast.add(expr, offset)
}
