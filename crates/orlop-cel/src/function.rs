//! Functions, constants and macros, as constant tables.
//!
//! A [`Library`] is a `static`: functions with their overloads, each with its types in the constant
//! type language [`T`], what it does, what it costs and what it is estimated to cost. Nothing is
//! built when the program starts, and an overload is its own identity.

use std::any::Any;
use std::sync::Arc;

use orlop_machinery::Str;

use crate::ast::{Ast, ExprId};
use crate::cost::{CallEstimate, CallSite};
use crate::error::EvalError;
use crate::ty::Type;
use crate::value::{Map, Value, Work};

/// Functions, constants and macros that come together.
#[derive(Debug)]
pub struct Library {
    /// Its name, such as `kubernetes.Quantity`.
    pub name: &'static str,
    /// Its functions. Two libraries may have overloads of one function.
    pub functions: &'static [Function],
    /// Its constants. A type name is a constant too.
    pub constants: &'static [Constant],
    /// Its macros.
    pub macros: &'static [Macro],
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// Its name; of an operator as in [`crate::operator`].
    pub name: &'static str,
    /// What it can be called with. The ids are unique in all libraries.
    pub overloads: &'static [Overload],
}

/// What a function can be called with, and what it does then.
#[derive(Debug)]
pub struct Overload {
    /// Such as `string_to_int`; the same as upstream's.
    pub id: &'static str,
    /// Whether it is called on its first argument: `a.f(b)`.
    pub is_member: bool,
    /// The types of its arguments, the target's first.
    pub params: &'static [T],
    /// The type of what comes out.
    pub result: T,
    /// What it does. Arguments come in the order and number of `params`, and are of their types.
    pub call: CallFn,
    /// What a call costs, by its arguments and result; 1 without.
    pub cost: Option<CostFn>,
    /// Whether that holds only for calls of which it is known beforehand that they are of this
    /// overload; others cost 1. So it is where upstream looks costs up by the overload's id.
    pub is_cost_by_id: bool,
    /// What a call is estimated to cost; without, as upstream's estimator has it: 1 or, for its own
    /// functions, a rule that it knows by the id.
    pub estimate: Option<EstimateFn>,
    /// Whether it is called only with arguments whose items fit too, as far as [`T::has`] looks.
    /// The few that are not say themselves what is wrong.
    pub is_guarded: bool,
    /// Makes something of arguments that are constant, once: a compiled regular expression.
    pub prepare: Option<PrepareFn>,
}

/// What an overload does.
pub type CallFn = for<'a> fn(&mut Context<'_>, &[Value<'a>]) -> Result<Value<'a>, EvalError>;
/// What a call costs, by its arguments and its result.
pub type CostFn = fn(&[Value<'_>], &Value<'_>) -> u64;
/// What a call is estimated to cost. None: as if there were no such function.
pub type EstimateFn = fn(&dyn CallSite) -> Option<CallEstimate>;
/// Something that a call needs, made beforehand of the arguments that are constant (others are
/// none). None when there is nothing to make. An error is the compile error, and what a call would
/// give.
pub type PrepareFn = fn(&[Option<&Value<'_>>]) -> Option<Result<Prepared, EvalError>>;
/// What [`PrepareFn`] makes.
pub type Prepared = Arc<dyn Any + Send + Sync>;

/// What a call gets beside its arguments.
#[derive(Debug)]
pub struct Context<'c> {
    /// What walks values or makes large ones counts here.
    pub work: &'c mut Work,
    /// What `prepare` made; none when it was not constant.
    pub prepared: Option<&'c (dyn Any + Send + Sync)>,
}

/// A type in a constant table.
#[derive(Clone, Copy, Debug)]
pub enum T {
    /// Anything.
    Dyn,
    /// null
    Null,
    /// true or false
    Bool,
    /// 64 bits with sign.
    Int,
    /// 64 bits without.
    Uint,
    /// A floating-point number.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A span of time.
    Duration,
    /// A point in time.
    Timestamp,
    /// Items of this type.
    List(&'static T),
    /// Keys and values of these types.
    Map(&'static T, &'static T),
    /// A value of this type or none.
    Optional(&'static T),
    /// The type of this type.
    Type(&'static T),
    /// A library's own type.
    Opaque(&'static str),
    /// A type parameter; the same name is the same type within an overload.
    Param(&'static str),
}

/// A value with a name.
#[derive(Debug)]
pub struct Constant {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: T,
    /// Its value.
    pub value: fn() -> Value<'static>,
}

/// What is replaced while parsing.
#[derive(Debug)]
pub struct Macro {
    /// The name of the function that it looks like.
    pub name: &'static str,
    /// Whether it is called on something.
    pub is_member: bool,
    /// How many arguments it has, without the target; none for any number.
    pub arguments: Option<usize>,
    /// What it becomes; none when it stays a call.
    pub expand: fn(&mut MacroCall<'_>) -> Result<Option<ExprId>, MacroError>,
}

/// A call that may be a macro.
#[derive(Debug)]
pub struct MacroCall<'a> {
    /// Where the nodes are, and where new ones go.
    pub ast: &'a mut Ast,
    /// Where the call stands; new nodes get this place.
    pub offset: u32,
    /// What it is called on.
    pub target: Option<ExprId>,
    /// What it is called with.
    pub args: &'a [ExprId],
}

/// Why a macro cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroError {
    /// Where.
    pub offset: u32,
    /// In cel-go's words.
    pub message: String,
}

impl Overload {
    /// `f(a)`
    #[must_use]
    pub const fn global(
        id: &'static str,
        params: &'static [T],
        result: T,
        call: CallFn,
    ) -> Overload {
        Overload {
            id,
            is_member: false,
            params,
            result,
            call,
            cost: None,
            is_cost_by_id: false,
            estimate: None,
            is_guarded: true,
            prepare: None,
        }
    }

    /// `a.f()`
    #[must_use]
    pub const fn member(
        id: &'static str,
        params: &'static [T],
        result: T,
        call: CallFn,
    ) -> Overload {
        Overload { is_member: true, ..Overload::global(id, params, result, call) }
    }

    /// With what it costs and is estimated to.
    #[must_use]
    pub const fn costs(self, cost: CostFn, estimate: EstimateFn) -> Overload {
        Overload { cost: Some(cost), estimate: Some(estimate), ..self }
    }

    /// With what it costs when it is known beforehand; see [`Overload::is_cost_by_id`].
    #[must_use]
    pub const fn costs_by_id(self, cost: CostFn) -> Overload {
        Overload { cost: Some(cost), is_cost_by_id: true, ..self }
    }

    /// Called with lists of anything.
    #[must_use]
    pub const fn unguarded(self) -> Overload {
        Overload { is_guarded: false, ..self }
    }

    /// With what is made of constant arguments.
    #[must_use]
    pub const fn prepares(self, prepare: PrepareFn) -> Overload {
        Overload { prepare: Some(prepare), ..self }
    }

    /// Whether it can be called with these values.
    #[must_use]
    pub fn takes(&self, args: &[Value<'_>]) -> bool {
        let fits = |(t, value): (&T, &Value<'_>)| match self.is_guarded {
            true => t.has(value),
            false => t.has_kind(value),
        };
        self.params.len() == args.len() && self.params.iter().zip(args).all(fits)
    }
}

impl T {
    /// The type that the checker sees.
    #[must_use]
    pub fn ty(self) -> Type {
        match self {
            T::Dyn => Type::Dyn,
            T::Null => Type::Null,
            T::Bool => Type::Bool,
            T::Int => Type::Int,
            T::Uint => Type::Uint,
            T::Double => Type::Double,
            T::String => Type::String,
            T::Bytes => Type::Bytes,
            T::Duration => Type::Duration,
            T::Timestamp => Type::Timestamp,
            T::List(item) => Type::list(item.ty()),
            T::Map(key, value) => Type::map(key.ty(), value.ty()),
            T::Optional(inner) => Type::optional(inner.ty()),
            T::Type(inner) => Type::type_of(inner.ty()),
            T::Opaque(name) => Type::Opaque(Str::const_new(name)),
            T::Param(name) => Type::Parameter(Str::const_new(name)),
        }
    }

    /// Whether a value is of this type. As in cel-go, the first item or entry stands for all.
    #[must_use]
    pub fn has(self, value: &Value<'_>) -> bool {
        if !self.has_kind(value) {
            return false;
        }
        match (self, value) {
            (T::List(item), Value::List(list)) if !item.is_any() => {
                list.get(0).is_none_or(|first| first.is_ok_and(|first| item.has(&first)))
            }
            (T::Map(key, item), Value::Map(map)) if !(key.is_any() && item.is_any()) => {
                map.iter().next().is_none_or(|(first, value)| {
                    key.has(&first) && value.is_ok_and(|value| item.has(&value))
                })
            }
            (T::Optional(inner), Value::Optional(Some(value))) => inner.has(value),
            _ => true,
        }
    }

    fn is_any(self) -> bool {
        matches!(self, T::Dyn | T::Param(_))
    }

    /// Whether a value is of this type. Items and entries are not looked at.
    fn has_kind(self, value: &Value<'_>) -> bool {
        match (self, value) {
            (T::Dyn | T::Param(_), _)
            | (T::Null, Value::Null)
            | (T::Bool, Value::Bool(_))
            | (T::Int, Value::Int(_))
            | (T::Uint, Value::Uint(_))
            | (T::Double, Value::Double(_))
            | (T::String, Value::String(_))
            | (T::Bytes, Value::Bytes(_))
            | (T::Duration, Value::Duration(_))
            | (T::Timestamp, Value::Timestamp(_))
            | (T::List(_), Value::List(_))
            | (T::Map(..), Value::Map(Map::Json { .. } | Map::Owned(_)))
            | (T::Optional(_), Value::Optional(_))
            | (T::Type(_), Value::Type(_)) => true,
            (T::Opaque(name), Value::Opaque(value)) => value.type_name() == name,
            _ => false,
        }
    }
}
