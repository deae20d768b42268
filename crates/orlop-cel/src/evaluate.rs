//! Running a plan: values, costs and the budget.
//!
//! After `interpreter/interpretable.go`, `attributes.go` and `runtimecost.go` of cel-go, with the
//! options that Kubernetes sets: asking whether a field is there costs only the way to it. Costs
//! are counted where cel-go counts them, also on the way to an error, and the evaluation ends as
//! soon as they are more than the budget.
//!
//! The depth of the recursion is that of the plan, which is bounded.

mod attribute;
mod fold;

use std::sync::Arc;

use crate::cost;
use crate::error::EvalError;
use crate::function::Context;
use crate::library::comprehensions;
use crate::operator;
use crate::plan::{Append, Call, Comparison, Insert, Node, Object, Plan};
use crate::program::Bindings;
use crate::value::{List, Map, OwnedMap, OwnedObject, Text, Value, Work};

/// What an entry of a map or an item of a list that is made takes.
const VALUE_BYTES: usize = size_of::<Value<'static>>();

/// What came out of a node.
type Evaluated<'a> = Result<Value<'a>, EvalError>;

/// One run of a plan.
pub(crate) struct Evaluation<'a, 'b> {
    bindings: &'b Bindings<'a>,
    /// The variables of comprehensions, in their places.
    locals: Vec<Local<'a>>,
    cost: u64,
    budget: u64,
    work: Work,
}

/// A variable of a comprehension.
#[derive(Clone, Debug, Default)]
enum Local<'a> {
    #[default]
    Unset,
    /// Evaluated when it is read first.
    Later(&'a Node),
    Known(Evaluated<'a>),
}

impl<'a, 'b> Evaluation<'a, 'b> {
    pub(crate) fn new(plan: &Plan, bindings: &'b Bindings<'a>, budget: u64) -> Self {
        let locals = vec![Local::Unset; plan.slots];
        Evaluation { bindings, locals, cost: 0, budget, work: Work::default() }
    }

    /// What it cost so far.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    /// The value of a node.
    pub(crate) fn run(&mut self, node: &'a Node) -> Evaluated<'a> {
        match node {
            Node::Constant(value) => Ok(borrow(value)),
            Node::Attribute(attribute) => self.attribute(attribute),
            Node::Conditional(parts) => self.conditional(parts),
            Node::And(terms) => self.junction(terms, false),
            Node::Or(terms) => self.junction(terms, true),
            Node::NotStrictlyFalse(node) => self.not_strictly_false(node),
            Node::Equals(operands) => self.equals(operands),
            Node::NotEquals(operands) => self.not_equals(operands),
            Node::Compare(comparison) => self.compare(comparison),
            Node::Member(of) => self.member(&of.0, &of.1),
            Node::Append(append) => self.append(append),
            Node::Insert(insert) => self.insert(insert),
            Node::Call(call) => self.call(call),
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Object(object) => self.object(object),
            Node::Fold(fold) => self.fold(fold),
            Node::OptionalOr(operands) => self.optional_or(operands, false),
            Node::OptionalOrValue(operands) => self.optional_or(operands, true),
        }
    }

    fn charge(&mut self, cost: u64) -> Result<(), EvalError> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.budget { Err(EvalError::CostLimitExceeded) } else { Ok(()) }
    }

    /// Has no cost of its own, and its branches cost as parts of an attribute do.
    fn conditional(&mut self, [condition, truthy, falsy]: &'a [Node; 3]) -> Evaluated<'a> {
        match self.run(condition)? {
            Value::Bool(true) => self.resolve(truthy),
            Value::Bool(false) => self.resolve(falsy),
            _ => Err(EvalError::NoSuchOverload),
        }
    }

    /// `&&` and `||`: the deciding truth wins over an error on either side.
    fn junction(&mut self, terms: &'a [Node; 2], deciding: bool) -> Evaluated<'a> {
        let mut failed = None;
        for term in terms {
            match self.run(term) {
                Ok(Value::Bool(truth)) if truth == deciding => return Ok(Value::Bool(deciding)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => failed = failed.or(Some(EvalError::NoSuchOverload)),
                Err(error) if error.is_absorbable() => failed = failed.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        failed.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    fn not_strictly_false(&mut self, node: &'a Node) -> Evaluated<'a> {
        let result = match self.run(node) {
            Ok(Value::Bool(truth)) => truth,
            Err(error) if !error.is_absorbable() => return Err(error),
            _ => true,
        };
        self.charge(1)?;
        Ok(Value::Bool(result))
    }

    /// Both operands, as an operator gets them: both are evaluated, then the first error counts,
    /// and the operator costs also then.
    fn operands(&mut self, operands: &'a [Node; 2]) -> Result<[Value<'a>; 2], EvalError> {
        let first = self.run(&operands[0]);
        if let Err(error) = &first
            && !error.is_absorbable()
        {
            return Err(error.clone());
        }
        let second = self.run(&operands[1]);
        match (first, second) {
            (Ok(first), Ok(second)) => Ok([first, second]),
            (_, Err(error)) if !error.is_absorbable() => Err(error),
            (Err(error), _) | (_, Err(error)) => {
                self.charge(1)?;
                Err(error)
            }
        }
    }

    fn equals(&mut self, operands: &'a [Node; 2]) -> Evaluated<'a> {
        let [a, b] = self.operands(operands)?;
        let result = a.equals(&b, &mut self.work);
        self.charge(equality_cost(&a, &b))?;
        Ok(Value::Bool(result?))
    }

    /// What cannot be compared is not equal.
    fn not_equals(&mut self, operands: &'a [Node; 2]) -> Evaluated<'a> {
        let [a, b] = self.operands(operands)?;
        let result = a.equals(&b, &mut self.work);
        self.charge(comparison_cost(&a, &b))?;
        match result {
            Ok(is_equal) => Ok(Value::Bool(!is_equal)),
            Err(error) if error.is_absorbable() => Ok(Value::Bool(true)),
            Err(error) => Err(error),
        }
    }

    fn compare(&mut self, comparison: &'a Comparison) -> Evaluated<'a> {
        let [a, b] = self.operands(&comparison.operands)?;
        self.charge(comparison.cost(&a, &b))?;
        match a.compare(&b) {
            Ok(ordering) => Ok(Value::Bool(comparison.order.holds(ordering))),
            Err(EvalError::NoSuchOverload)
                if can_first(comparison.order.name(), Some(&a)) == Some(false) =>
            {
                Err(EvalError::new(format!("no such overload: {}", comparison.order.name())))
            }
            Err(error) => Err(error),
        }
    }

    fn member(&mut self, item: &'a Node, list: &'a List<'static>) -> Evaluated<'a> {
        let item = self.run(item)?;
        for other in list.iter() {
            if other?.equals(&item, &mut self.work)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }

    /// Reading the accumulator and adding to it cost as they do elsewhere.
    fn append(&mut self, append: &'a Append) -> Evaluated<'a> {
        let accumulator = self.take_local(append.slot);
        self.charge(cost::SELECT_AND_IDENT)?;
        let list = self.run(&append.list);
        self.charge(1)?;
        match (accumulator?, list?) {
            (Value::List(all), Value::List(more)) => {
                Ok(Value::List(all.concat(&more, &mut self.work)?))
            }
            _ => Err(EvalError::NoSuchOverload),
        }
    }

    /// The same for maps.
    fn insert(&mut self, insert: &'a Insert) -> Evaluated<'a> {
        let accumulator = self.take_local(insert.slot);
        self.charge(cost::SELECT_AND_IDENT)?;
        let Value::Map(map) = accumulator? else { return Err(EvalError::NoSuchOverload) };
        let key_or_map = self.run(&insert.key_or_map)?;
        let result = match (&insert.value, key_or_map) {
            (Some(value), key) => {
                let value = self.run(value)?;
                comprehensions::insert_entry(map, key, value, &mut self.work)
            }
            (None, Value::Map(more)) => comprehensions::insert_entries(map, &more, &mut self.work),
            (None, _) => Err(EvalError::NoSuchOverload),
        };
        self.charge(1)?;
        result
    }

    fn call(&mut self, call: &'a Call) -> Evaluated<'a> {
        match &call.args[..] {
            [only] => {
                let arg = self.run(only);
                let args = [self.argument(arg)?];
                self.apply(call, &args)
            }
            [first, second] => {
                let first = self.run(first);
                let second = self.run(second);
                let args = match (first, second) {
                    (Ok(first), Ok(second)) => [first, second],
                    (first, second) => {
                        self.argument(first)?;
                        self.argument(second)?;
                        unreachable!("one of them is an error");
                    }
                };
                self.apply(call, &args)
            }
            many => {
                let mut args = Vec::with_capacity(many.len());
                for arg in many {
                    args.push(self.run(arg)?);
                }
                self.apply(call, &args)
            }
        }
    }

    /// An argument; when it is an error, the call costs nevertheless.
    fn argument(&mut self, argument: Evaluated<'a>) -> Evaluated<'a> {
        if let Err(error) = &argument
            && error.is_absorbable()
        {
            self.charge(1)?;
        }
        argument
    }

    fn apply(&mut self, call: &'a Call, args: &[Value<'a>]) -> Evaluated<'a> {
        let Some(overload) = call.overloads.iter().find(|overload| overload.takes(args)) else {
            self.charge(1)?;
            return Err(no_such_overload(call, args));
        };
        let prepared = call.prepared.as_deref();
        let mut context = Context { work: &mut self.work, prepared };
        let result = (overload.call)(&mut context, args);
        let is_known = call.overloads.len() == 1 || !overload.is_cost_by_id;
        let cost = match overload.cost.filter(|_| is_known) {
            Some(cost) => cost(args, result.as_ref().unwrap_or(&Value::Null)),
            None => 1,
        };
        self.charge(cost)?;
        result
    }

    fn list(&mut self, items: &'a [(Node, bool)]) -> Evaluated<'a> {
        let mut values = Vec::with_capacity(items.len());
        self.work.make(items.len() * VALUE_BYTES)?;
        for (item, is_optional) in items {
            match (self.run(item)?, is_optional) {
                (Value::Optional(Some(value)), true) => values.push((*value).clone()),
                (Value::Optional(None), true) => {}
                (value, true) => {
                    return Err(EvalError::new(format!(
                        "cannot initialize optional list element from non-optional value {value}"
                    )));
                }
                (value, false) => values.push(value),
            }
        }
        self.charge(cost::LIST_CREATE)?;
        Ok(Value::list(values))
    }

    fn map(&mut self, entries: &'a [(Node, Node, bool)]) -> Evaluated<'a> {
        let mut map = OwnedMap::with_capacity(entries.len());
        self.work.make(entries.len() * 2 * VALUE_BYTES)?;
        for (key, value, is_optional) in entries {
            let (key, value) = (self.run(key)?, self.run(value)?);
            match (value, is_optional) {
                (Value::Optional(Some(value)), true) => map.set(key, (*value).clone())?,
                (Value::Optional(None), true) => {}
                (value, true) => return Err(no_optional(&key.to_string(), &value)),
                (value, false) => map.set(key, value)?,
            }
        }
        self.charge(cost::MAP_CREATE)?;
        Ok(map.into())
    }

    fn object(&mut self, object: &'a Object) -> Evaluated<'a> {
        let mut fields = Vec::with_capacity(object.fields.len());
        self.work.make(object.fields.len() * 2 * VALUE_BYTES)?;
        for (name, value, is_optional) in &object.fields {
            match (self.run(value)?, is_optional) {
                (Value::Optional(Some(value)), true) => {
                    fields.push((name.clone(), (*value).clone()));
                }
                (Value::Optional(None), true) => {}
                (value, true) => return Err(no_optional(name, &value)),
                (value, false) => fields.push((name.clone(), value)),
            }
        }
        self.charge(cost::STRUCT_CREATE)?;
        let decl = object.decl.clone();
        Ok(Value::Map(Map::Object(Arc::new(OwnedObject { decl, fields }))))
    }

    /// The second operand is evaluated only when it is needed; no cost of its own.
    fn optional_or(&mut self, operands: &'a [Node; 2], unwraps: bool) -> Evaluated<'a> {
        match self.run(&operands[0])? {
            Value::Optional(Some(value)) if unwraps => Ok((*value).clone()),
            Value::Optional(None) => self.run(&operands[1]),
            other => Ok(other),
        }
    }
}

/// A constant, without counting.
fn borrow<'a>(constant: &'a Value<'static>) -> Value<'a> {
    match constant {
        Value::String(text) => Value::String(Text::Borrowed(text)),
        other => other.clone(),
    }
}

/// A library's own value is compared for one, but only here.
fn equality_cost(a: &Value<'_>, b: &Value<'_>) -> u64 {
    match a {
        Value::Opaque(_) => 1,
        _ => comparison_cost(a, b),
    }
}

fn comparison_cost(a: &Value<'_>, b: &Value<'_>) -> u64 {
    cost::scale(cost::size_of(a).min(cost::size_of(b)), cost::STRING_TRAVERSAL_FACTOR)
}

/// In cel-go's words, which depend on how a function is bound there: to all its types at once, to
/// what its first argument can do, or to each overload.
fn no_such_overload(call: &Call, args: &[Value<'_>]) -> EvalError {
    let name = call.function.as_str();
    match name {
        "contains" | "startsWith" | "endsWith" | "matches" | operator::IN | operator::NOT => {
            return EvalError::NoSuchOverload;
        }
        "size" => return EvalError::fixed("no such overload: size"),
        _ => {}
    }
    match can_first(name, args.first()) {
        Some(true) => EvalError::NoSuchOverload,
        Some(false) => EvalError::new(format!("no such overload: {name}")),
        None => {
            let types: Vec<String> = args.iter().map(|arg| arg.ty().name().to_owned()).collect();
            EvalError::new(format!("no such overload: {name}({})", types.join(", ")))
        }
    }
}

/// Whether an operator is made for what its first operand is; none when it is no operator. Texts
/// and times take any, and then refuse it.
fn can_first(name: &str, first: Option<&Value<'_>>) -> Option<bool> {
    let first = first?;
    let is_number = matches!(first, Value::Int(_) | Value::Uint(_) | Value::Double(_));
    let takes_any = matches!(first, Value::String(_) | Value::Duration(_) | Value::Timestamp(_));
    Some(match name {
        operator::ADD => {
            is_number || takes_any || matches!(first, Value::List(_) | Value::Bytes(_))
        }
        operator::SUBTRACT | operator::MULTIPLY | operator::DIVIDE => is_number || takes_any,
        operator::MODULO => takes_any || matches!(first, Value::Int(_) | Value::Uint(_)),
        "sort" => matches!(first, Value::List(_)),
        operator::NEGATE => is_number || takes_any || matches!(first, Value::Bool(_)),
        operator::LESS | operator::LESS_EQUALS | operator::GREATER | operator::GREATER_EQUALS => {
            is_number || takes_any || matches!(first, Value::Bytes(_) | Value::Bool(_))
        }
        _ => return None,
    })
}

fn no_optional(name: &str, value: &Value<'_>) -> EvalError {
    EvalError::new(format!(
        "cannot initialize optional entry '{name}' from non-optional value {value}"
    ))
}
