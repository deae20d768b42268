//! Which overloads a call can mean.
//!
//! After `resolveOverload` of `checker/checker.go` of cel-go: all overloads that fit are kept, the
//! first gives the type, and different types of several make dyn.

use super::Checker;
use crate::ast::{Expr, ExprId, Literal};
use crate::function::{Overload, T};
use crate::operator;
use crate::program::Reference;
use crate::ty::Type;

/// How a function is called.
struct Call<'c> {
    id: ExprId,
    function: &'c str,
    overloads: Vec<&'static Overload>,
    target: Option<ExprId>,
    args: &'c [ExprId],
    /// Whether the target stands for the beginning of the function's name.
    is_qualified: bool,
}

impl Checker<'_> {
    pub(super) fn check_call(
        &mut self,
        id: ExprId,
        function: &str,
        target: Option<ExprId>,
        args: &[ExprId],
    ) -> Type {
        if function == operator::OPTIONAL_SELECT
            && let [operand, field] = *args
            && let Expr::Literal(Literal::String(field)) = self.ast.expr(field)
        {
            return self.check_optional_select(id, operand, field);
        }
        for arg in args {
            self.check(*arg);
        }
        // Given `a.b.c()`, either `a.b.c` is a function or `c` is called on `a.b`.
        if let Some(target) = target
            && let Some(prefix) = self.qualified_name(target)
            && let Some((function, overloads)) = self.find_function(&format!("{prefix}.{function}"))
        {
            let target = None;
            let function = &function;
            return self.resolve(Call {
                id,
                function,
                overloads,
                target,
                args,
                is_qualified: true,
            });
        }
        if let Some(target) = target {
            self.check(target);
        }
        match self.find_function(function) {
            Some((function, overloads)) => {
                let function = &function;
                self.resolve(Call { id, function, overloads, target, args, is_qualified: false })
            }
            None => self.report_undeclared(id, function),
        }
    }

    fn check_optional_select(&mut self, id: ExprId, operand: ExprId, field: &str) -> Type {
        let ty = self.check_field(id, operand, field);
        let ty = match ty {
            Type::Optional(_) if self.is_optional(operand) => ty,
            ty => Type::optional(ty),
        };
        let overloads = self.environment.functions().overloads(operator::OPTIONAL_SELECT).to_vec();
        self.references[id.index()] = Some(Reference::Overloads { overloads, is_qualified: false });
        self.unifier.substitute(&ty)
    }

    fn is_optional(&mut self, id: ExprId) -> bool {
        let ty = self.type_of(id);
        matches!(self.unifier.substitute(&ty), Type::Optional(_))
    }

    /// The overloads of a function, and its name in the container where it is.
    fn find_function(&self, name: &str) -> Option<(String, Vec<&'static Overload>)> {
        self.candidates(name).find_map(|name| {
            let overloads = self.environment.functions().overloads(&name);
            (!overloads.is_empty()).then(|| (name, overloads.to_vec()))
        })
    }

    fn resolve(&mut self, call: Call<'_>) -> Type {
        let mut overloads = call.overloads.clone();
        overloads.retain(|overload| overload.is_member == call.target.is_some());
        if matches!(call.function, operator::AND | operator::OR) && !overloads.is_empty() {
            return self.resolve_logic(&call, overloads);
        }
        let arguments: Vec<Type> =
            call.target.iter().chain(call.args).map(|id| self.type_of(*id)).collect();
        let mut result: Option<Type> = None;
        overloads.retain(|overload| {
            let Some(ty) = self.unifier.call(overload, &arguments) else { return false };
            result = Some(match result.take() {
                Some(before) if !matches!(before, Type::Dyn) && before != ty => Type::Dyn,
                Some(before) => before,
                None => ty,
            });
            true
        });
        let Some(result) = result else {
            self.report_no_overload(&call, &arguments);
            return Type::Error;
        };
        let reference = Reference::Overloads { overloads, is_qualified: call.is_qualified };
        self.references[call.id.index()] = Some(reference);
        result
    }

    /// Each operand is checked by itself.
    fn resolve_logic(&mut self, call: &Call<'_>, overloads: Vec<&'static Overload>) -> Type {
        let mut is_wrong = false;
        for arg in call.args {
            let ty = self.type_of(*arg);
            if !self.unifier.is_assignable(&ty, &Type::Bool) {
                self.report_mismatch(*arg, &Type::Bool, &ty);
                is_wrong = true;
            }
        }
        if is_wrong {
            return Type::Error;
        }
        let reference = Reference::Overloads { overloads, is_qualified: false };
        self.references[call.id.index()] = Some(reference);
        Type::Bool
    }

    fn report_no_overload(&mut self, call: &Call<'_>, arguments: &[Type]) {
        let mut types: Vec<String> =
            arguments.iter().map(|ty| self.unifier.resolve(ty).to_string()).collect();
        let target = match call.target {
            Some(_) => format!("{}.", types.remove(0)),
            None => String::new(),
        };
        let message = format!(
            "found no matching overload for '{}' applied to '{target}({})'",
            call.function,
            types.join(", ")
        );
        self.report(call.id, message);
    }
}

/// Whether an argument can be of a parameter's type, by its outermost part. Never says no where
/// unification would say yes; saves it for most overloads.
pub(super) fn can_fit(parameter: T, argument: &Type) -> bool {
    match (parameter, argument) {
        (T::Dyn | T::Param(_), _) | (_, Type::Dyn | Type::Error | Type::Parameter(_)) => true,
        (T::Duration | T::Timestamp | T::Opaque(_) | T::Optional(_), Type::Null)
        | (T::Null, Type::Duration | Type::Timestamp | Type::Opaque(_))
        | (T::Null, Type::Optional(_) | Type::Object(_) | Type::Null)
        | (T::Bool, Type::Bool)
        | (T::Int, Type::Int)
        | (T::Uint, Type::Uint)
        | (T::Double, Type::Double)
        | (T::String, Type::String)
        | (T::Bytes, Type::Bytes)
        | (T::Duration, Type::Duration)
        | (T::Timestamp, Type::Timestamp)
        | (T::List(_), Type::List(_))
        | (T::Map(..), Type::Map(_))
        | (T::Optional(_), Type::Optional(_))
        | (T::Type(_), Type::Type(_)) => true,
        (T::Opaque(name), Type::Opaque(other)) => name == other,
        _ => false,
    }
}
