//! Whether one type can stand for another, and what type variables stand for then.
//!
//! After `checker/types.go` and `checker/mapping.go` of cel-go. A type variable is a
//! [`Type::Parameter`] whose name is `_var` and a number; messages can show it. What a failed
//! attempt has bound is taken back.

use orlop_machinery::Str;

use super::calls::can_fit;
use crate::function::{Overload, T};
use crate::ty::Type;

/// How many steps all comparisons of types together may take.
const STEPS_MAX: u64 = 4_000_000;
/// How many parts a type may have.
const PARTS_MAX: usize = 2_000;
/// How the names of type variables begin.
const VARIABLE: &str = "_var";

/// Type variables, and what they stand for.
#[derive(Debug, Default)]
pub(super) struct Unifier {
    /// What each variable stands for, if that is known.
    bindings: Vec<Option<Type>>,
    /// What variables stood for before the current attempt, in the order of the changes.
    undo: Vec<(usize, Option<Type>)>,
    steps: u64,
}

impl Unifier {
    /// Whether types are too large to go on.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps > STEPS_MAX
    }

    pub(super) fn new_variable(&mut self) -> Type {
        self.bindings.push(None);
        Type::Parameter(Str::from(format!("{VARIABLE}{}", self.bindings.len() - 1)))
    }

    /// The type, unless it is too large: then everything ends.
    pub(super) fn bounded(&mut self, ty: Type) -> Type {
        let mut parts = PARTS_MAX;
        if !count_parts(&ty, &mut parts) {
            self.steps = STEPS_MAX + 1;
            return Type::Error;
        }
        ty
    }

    /// The type of a call of this overload, if the arguments fit.
    pub(super) fn call(&mut self, overload: &Overload, arguments: &[Type]) -> Option<Type> {
        let mut parameters = Parameters::default();
        for parameter in overload.params.iter().chain([&overload.result]) {
            parameters.collect(*parameter);
        }
        // Variables are made even for what cannot fit: upstream numbers them so.
        let first = self.bindings.len();
        self.bindings.resize(first + parameters.names.len(), None);
        let can_fit = |(parameter, argument): (&T, &Type)| can_fit(*parameter, argument);
        if overload.params.len() != arguments.len()
            || !overload.params.iter().zip(arguments).all(can_fit)
        {
            return None;
        }
        let fits = self.attempt(|unifier| {
            overload.params.iter().zip(arguments).all(|(parameter, argument)| {
                unifier.assign(argument, &parameters.instantiate(*parameter, first))
            })
        });
        fits.then(|| self.substitute(&parameters.instantiate(overload.result, first)))
    }

    /// Whether a value of `from` can be one of `to`. Variables in both are bound so that it is.
    pub(super) fn is_assignable(&mut self, from: &Type, to: &Type) -> bool {
        self.attempt(|unifier| unifier.assign(from, to))
    }

    fn attempt(&mut self, attempt: impl FnOnce(&mut Unifier) -> bool) -> bool {
        self.undo.clear();
        let done = attempt(self);
        if !done {
            while let Some((variable, binding)) = self.undo.pop() {
                self.bindings[variable] = binding;
            }
        }
        done
    }

    fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.steps += 1;
        if self.is_exhausted() {
            return false;
        }
        if let Some(variable) = variable(to) {
            match self.bind(from, to, variable) {
                Bound::Yes => return true,
                Bound::Conflict => return false,
                Bound::Inside => {}
            }
        }
        if let Some(variable) = variable(from) {
            return matches!(self.bind(to, from, variable), Bound::Yes);
        }
        match (from, to) {
            (Type::Dyn | Type::Error, _) | (_, Type::Dyn | Type::Error) => true,
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
                self.assign(a, b)
            }
            (Type::Map(a), Type::Map(b)) => self.assign(&a.0, &b.0) && self.assign(&a.1, &b.1),
            (Type::Object(_), Type::Object(_)) | (Type::Opaque(_), Type::Opaque(_)) => from == to,
            _ => std::mem::discriminant(from) == std::mem::discriminant(to),
        }
    }

    /// Lets a variable stand for a type, or what both have in common.
    fn bind(&mut self, ty: &Type, parameter: &Type, variable: usize) -> Bound {
        if is_same(ty, parameter) {
            return Bound::Yes;
        }
        if let Some(before) = self.bindings[variable].clone() {
            if is_same(ty, &before) {
                return Bound::Yes;
            }
            if !self.assign(ty, &before) {
                return Bound::Conflict;
            }
            let general = most_general(ty, &before);
            if self.is_free_of(variable, general) {
                self.set(variable, general.clone());
            }
            return Bound::Yes;
        }
        if !self.is_free_of(variable, ty) {
            return Bound::Inside;
        }
        self.set(variable, ty.clone());
        Bound::Yes
    }

    fn set(&mut self, variable: usize, ty: Type) {
        let before = self.bindings[variable].replace(ty);
        self.undo.push((variable, before));
    }

    /// Whether a variable does not occur in a type, so that it can stand for it.
    fn is_free_of(&mut self, of: usize, ty: &Type) -> bool {
        self.steps += 1;
        if self.is_exhausted() {
            return false;
        }
        match ty {
            Type::Parameter(_) => match variable(ty) {
                Some(found) if found == of => false,
                Some(found) => match self.bindings[found].clone() {
                    Some(ty) => self.is_free_of(of, &ty),
                    None => true,
                },
                None => true,
            },
            Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => {
                self.is_free_of(of, inner)
            }
            Type::Map(inner) => self.is_free_of(of, &inner.0) && self.is_free_of(of, &inner.1),
            _ => true,
        }
    }

    /// The type with everything for its variables that they stand for.
    pub(super) fn substitute(&mut self, ty: &Type) -> Type {
        self.replace(ty, Unbound::Kept)
    }

    /// The same, where variables that stand for nothing are dyn.
    pub(super) fn resolve(&mut self, ty: &Type) -> Type {
        self.replace(ty, Unbound::Dyn)
    }

    fn replace(&mut self, ty: &Type, unbound: Unbound) -> Type {
        self.steps += 1;
        if self.is_exhausted() {
            return Type::Error;
        }
        match ty {
            Type::Parameter(_) => match variable(ty).and_then(|at| self.bindings[at].clone()) {
                Some(bound) => self.replace(&bound, unbound),
                None if unbound == Unbound::Dyn => Type::Dyn,
                None => ty.clone(),
            },
            Type::List(inner) if is_open(inner) => Type::list(self.replace(inner, unbound)),
            Type::Optional(inner) if is_open(inner) => Type::optional(self.replace(inner, unbound)),
            Type::Type(inner) if is_open(inner) => Type::type_of(self.replace(inner, unbound)),
            Type::Map(inner) if is_open(&inner.0) || is_open(&inner.1) => {
                Type::map(self.replace(&inner.0, unbound), self.replace(&inner.1, unbound))
            }
            _ => ty.clone(),
        }
    }
}

/// What became of binding a variable.
enum Bound {
    Yes,
    /// It stands for something else.
    Conflict,
    /// It occurs in the type.
    Inside,
}

/// What becomes of variables that stand for nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unbound {
    Kept,
    Dyn,
}

/// The type parameters of an overload, in the order in which they occur.
#[derive(Default)]
struct Parameters {
    names: Vec<&'static str>,
}

impl Parameters {
    fn collect(&mut self, ty: T) {
        match ty {
            T::Param(name) if !self.names.contains(&name) => self.names.push(name),
            T::List(inner) | T::Optional(inner) | T::Type(inner) => self.collect(*inner),
            T::Map(key, value) => {
                self.collect(*key);
                self.collect(*value);
            }
            _ => {}
        }
    }

    /// The type with a variable for each parameter.
    fn instantiate(&self, ty: T, first: usize) -> Type {
        match ty {
            T::Param(name) => {
                let at = self.names.iter().position(|other| *other == name).unwrap_or(0);
                Type::Parameter(Str::from(format!("{VARIABLE}{}", first + at)))
            }
            T::List(inner) => Type::list(self.instantiate(*inner, first)),
            T::Optional(inner) => Type::optional(self.instantiate(*inner, first)),
            T::Type(inner) => Type::type_of(self.instantiate(*inner, first)),
            T::Map(key, value) => {
                Type::map(self.instantiate(*key, first), self.instantiate(*value, first))
            }
            _ => ty.ty(),
        }
    }
}

/// Of two types that fit each other the one that says less.
pub(super) fn most_general<'t>(a: &'t Type, b: &'t Type) -> &'t Type {
    if is_equal_or_less_specific(a, b) { a } else { b }
}

fn is_equal_or_less_specific(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dyn | Type::Parameter(_), _) => true,
        (_, Type::Dyn | Type::Parameter(_)) => false,
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
            is_equal_or_less_specific(a, b)
        }
        (Type::Map(a), Type::Map(b)) => {
            is_equal_or_less_specific(&a.0, &b.0) && is_equal_or_less_specific(&a.1, &b.1)
        }
        (Type::Type(_), Type::Type(_)) => true,
        _ => is_same(a, b),
    }
}

/// Whether null can stand for a value of the type. After the checker that cel-go had first.
fn is_nullable(ty: &Type) -> bool {
    match ty {
        Type::Null | Type::Object(_) | Type::Opaque(_) | Type::Optional(_) => true,
        Type::Duration | Type::Timestamp => true,
        _ => false,
    }
}

fn is_same(a: &Type, b: &Type) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b) && a == b
}

/// The number of a type variable.
fn variable(ty: &Type) -> Option<usize> {
    let Type::Parameter(name) = ty else { return None };
    name.strip_prefix(VARIABLE)?.parse().ok()
}

/// Whether there can be variables in a type.
fn is_open(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Parameter(_) | Type::List(_) | Type::Map(_) | Type::Optional(_) | Type::Type(_)
    )
}

/// Counts down the parts of a type; false when there are more.
fn count_parts(ty: &Type, left: &mut usize) -> bool {
    let Some(less) = left.checked_sub(1) else { return false };
    *left = less;
    match ty {
        Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => count_parts(inner, left),
        Type::Map(inner) => count_parts(&inner.0, left) && count_parts(&inner.1, left),
        _ => true,
    }
}
