//! Making a checked expression ready to run: a tree of [`Node`]s in which names are places, calls
//! are functions, and what is constant is a value.
//!
//! After `interpreter/planner.go` and `decOptimize` of cel-go, because what things cost follows
//! from how they are planned there: selects and indexes on something are one [`Attribute`],
//! written lists and maps of constants and conversions of constants are constants, and cost
//! nothing.

mod call;

use orlop_machinery::Str;

use crate::ast::{Comprehension, Expr, ExprId, Literal};
use crate::cost;
use crate::decl_type::DeclType;
use crate::environment::{Environment, VariableId};
use crate::error::{EvalError, Issues};
use crate::function::{Overload, Prepared};
use crate::macros;
use crate::operator;
use crate::program::{Checked, Reference};
use crate::value::{List, OwnedMap, Value};

/// Deeper expressions are refused: evaluating them would need too much stack.
pub(crate) const DEPTH_MAX: usize = 256;

/// What is done.
#[derive(Debug)]
pub(crate) enum Node {
    /// Nothing: the value is known.
    Constant(Value<'static>),
    /// Reading a variable or a value, and following fields and indexes from there.
    Attribute(Box<Attribute>),
    /// `a ? b : c`
    Conditional(Box<[Node; 3]>),
    /// `a && b`
    And(Box<[Node; 2]>),
    /// `a || b`
    Or(Box<[Node; 2]>),
    /// True, unless it is false.
    NotStrictlyFalse(Box<Node>),
    /// `a == b`
    Equals(Box<[Node; 2]>),
    /// `a != b`
    NotEquals(Box<[Node; 2]>),
    /// `a < b`
    Compare(Box<Comparison>),
    /// `a in [1, 2]` with a constant list, which costs nothing.
    Member(Box<(Node, List<'static>)>),
    /// `a + b` where nobody needs `a` after it.
    Append(Box<Append>),
    /// `cel.@mapInsert(a, k, v)` where nobody needs `a` after it.
    Insert(Box<Insert>),
    /// A function.
    Call(Box<Call>),
    /// `[a, ?b]`
    List(Vec<(Node, bool)>),
    /// `{a: b}`
    Map(Vec<(Node, Node, bool)>),
    /// `Name{a: b}`
    Object(Box<Object>),
    /// A comprehension.
    Fold(Box<Fold>),
    /// `a.or(b)`
    OptionalOr(Box<[Node; 2]>),
    /// `a.orValue(b)`
    OptionalOrValue(Box<[Node; 2]>),
}

/// Something, and what is followed from there.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) base: Base,
    pub(crate) qualifiers: Vec<Qualifier>,
    /// Whether only the presence of the last is asked for.
    pub(crate) is_test: bool,
}

/// Where an attribute starts.
#[derive(Debug)]
pub(crate) enum Base {
    Variable(VariableId, Str),
    Local(usize),
    Node(Node),
}

/// A step of an attribute.
#[derive(Debug)]
pub(crate) struct Qualifier {
    pub(crate) step: Step,
    /// From here on what is missing is none.
    pub(crate) is_optional: bool,
}

/// What a step goes by.
#[derive(Debug)]
pub(crate) enum Step {
    Name(Str),
    Constant(Value<'static>),
    Node(Node),
}

/// `a < b` and the like.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) operands: [Node; 2],
    pub(crate) order: Order,
    /// Whether it is known that texts are compared, which costs by their size.
    pub(crate) is_text: bool,
}

/// Which order is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    Less,
    LessEquals,
    Greater,
    GreaterEquals,
}

/// `accumulator + list`, the accumulator being given up.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) slot: usize,
    pub(crate) list: Node,
}

/// `cel.@mapInsert(accumulator, key, value)`, or with a map instead of key and value.
#[derive(Debug)]
pub(crate) struct Insert {
    pub(crate) slot: usize,
    pub(crate) key_or_map: Node,
    pub(crate) value: Option<Node>,
}

/// A call of a function.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: Str,
    /// Those that fit as far as was known; the values decide.
    pub(crate) overloads: Vec<&'static Overload>,
    pub(crate) args: Vec<Node>,
    pub(crate) prepared: Option<Prepared>,
}

/// Making an object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) decl: DeclType,
    pub(crate) fields: Vec<(Str, Node, bool)>,
}

/// A comprehension. Its variables are in the places from `slot` on: accumulator, first, second.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) slot: usize,
    pub(crate) has_second: bool,
    pub(crate) range: Node,
    pub(crate) initial: Node,
    pub(crate) condition: Node,
    pub(crate) step: Node,
    pub(crate) result: Node,
}

/// What came out of planning.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) root: Node,
    /// How many places variables of comprehensions need.
    pub(crate) slots: usize,
}

/// Plans a checked expression.
pub(crate) fn plan(environment: &Environment, checked: &Checked) -> Result<Plan, Issues> {
    let mut planner = Planner { environment, checked, scope: Vec::new(), slots: 0, depth: 0 };
    let root = planner.node(checked.ast.root())?;
    Ok(Plan { root, slots: planner.slots })
}

struct Planner<'p> {
    environment: &'p Environment,
    checked: &'p Checked,
    /// Names of the comprehensions around, with their places; the innermost last.
    scope: Vec<(Str, usize)>,
    slots: usize,
    depth: usize,
}

impl Planner<'_> {
    fn node(&mut self, id: ExprId) -> Result<Node, Issues> {
        if self.depth >= DEPTH_MAX {
            return Err(self.issue(id, "max recursion depth exceeded"));
        }
        self.depth += 1;
        let node = self.expr(id);
        self.depth -= 1;
        node
    }

    fn expr(&mut self, id: ExprId) -> Result<Node, Issues> {
        let checked = self.checked;
        if let Some(Reference::Constant(value)) = checked.reference(id) {
            return Ok(Node::Constant(value.clone()));
        }
        match checked.ast.expr(id) {
            Expr::Literal(literal) => Ok(Node::Constant(literal_value(literal))),
            Expr::Ident(name) => self.variable(id, name),
            Expr::Select { operand, field, is_test } => self.select(id, *operand, field, *is_test),
            Expr::Call { .. } => self.call(id),
            Expr::List { items } => {
                let mut planned = Vec::with_capacity(items.len());
                for item in items {
                    planned.push((self.node(item.value)?, item.is_optional));
                }
                Ok(fold_list(planned))
            }
            Expr::Map { entries } => {
                let mut planned = Vec::with_capacity(entries.len());
                for entry in entries {
                    let (key, value) = (self.node(entry.key)?, self.node(entry.value)?);
                    planned.push((key, value, entry.is_optional));
                }
                fold_map(planned).map_err(|error| self.issue(id, error.to_string()))
            }
            Expr::Struct { name, fields } => {
                let Some(Reference::Struct(decl)) = checked.reference(id) else {
                    return Err(self.issue(id, format!("unknown type: {name}")));
                };
                let mut planned = Vec::with_capacity(fields.len());
                for field in fields {
                    let value = self.node(field.value)?;
                    planned.push((field.name.clone(), value, field.is_optional));
                }
                Ok(Node::Object(Box::new(Object { decl: decl.clone(), fields: planned })))
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
        }
    }

    /// A name, or a select that is a qualified name.
    fn variable(&mut self, id: ExprId, name: &Str) -> Result<Node, Issues> {
        let base = match self.checked.reference(id) {
            Some(Reference::Variable(variable)) => {
                let declared = self.environment.variables().get(variable.index());
                Base::Variable(*variable, declared.map_or(name.clone(), |v| v.name.clone()))
            }
            _ => match self.scope.iter().rev().find(|(local, _)| local == name) {
                Some((_, slot)) => Base::Local(*slot),
                None => {
                    let text = format!("undeclared reference to '{name}' (in container '')");
                    return Err(self.issue(id, text));
                }
            },
        };
        let attribute = Attribute { base, qualifiers: Vec::new(), is_test: false };
        Ok(Node::Attribute(Box::new(attribute)))
    }

    fn select(
        &mut self,
        id: ExprId,
        operand: ExprId,
        field: &Str,
        is_test: bool,
    ) -> Result<Node, Issues> {
        if matches!(self.checked.reference(id), Some(Reference::Variable(_))) {
            return self.variable(id, field);
        }
        let operand = self.node(operand)?;
        let step = Step::Name(field.clone());
        let mut attribute = qualify(operand, Qualifier { step, is_optional: false });
        attribute.is_test = is_test;
        Ok(Node::Attribute(Box::new(attribute)))
    }

    fn comprehension(&mut self, comprehension: &Comprehension) -> Result<Node, Issues> {
        let initial = self.node(comprehension.initial)?;
        let range = self.node(comprehension.range)?;
        let outer = self.scope.len();
        // Never used again: the initial value is evaluated at any time later.
        let slot = self.slots;
        self.slots += 3;
        let names = [&Some(comprehension.variable.clone()), &comprehension.second_variable];
        for (at, name) in names.into_iter().enumerate() {
            if let Some(name) = name {
                self.scope.push((name.clone(), slot + 1 + at));
            }
        }
        self.scope.push((comprehension.accumulator.clone(), slot));
        let condition = self.node(comprehension.condition)?;
        let mut step = self.node(comprehension.step)?;
        give_up_accumulator(&mut step, slot);
        self.scope.truncate(outer);
        self.scope.push((comprehension.accumulator.clone(), slot));
        let result = self.node(comprehension.result)?;
        self.scope.truncate(outer);
        let has_second = comprehension.second_variable.is_some();
        let fold = Fold { slot, has_second, range, initial, condition, step, result };
        Ok(Node::Fold(Box::new(fold)))
    }

    fn issue(&self, id: ExprId, message: impl Into<String>) -> Issues {
        let mut issues = Issues::new(&self.checked.source);
        issues.report(Some(self.checked.ast.offset(id)), message);
        issues
    }
}

fn literal_value(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(truth) => Value::Bool(*truth),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::Uint(*number),
        Literal::Double(number) => Value::Double(*number),
        Literal::String(text) => Value::string(text.as_str()),
        Literal::Bytes(bytes) => Value::bytes(bytes.as_slice()),
    }
}

/// One more step from something. What is no attribute yet becomes one that starts there.
fn qualify(operand: Node, qualifier: Qualifier) -> Attribute {
    match operand {
        Node::Attribute(mut attribute) if !attribute.is_test => {
            attribute.qualifiers.push(qualifier);
            *attribute
        }
        node => Attribute { base: Base::Node(node), qualifiers: vec![qualifier], is_test: false },
    }
}

/// A list of constants is a constant.
fn fold_list(items: Vec<(Node, bool)>) -> Node {
    let is_constant =
        |(node, is_optional): &(Node, bool)| matches!(node, Node::Constant(_)) && !is_optional;
    if !items.iter().all(is_constant) {
        return Node::List(items);
    }
    let values = items.into_iter().filter_map(|(node, _)| match node {
        Node::Constant(value) => Some(value),
        _ => None,
    });
    Node::Constant(Value::list(values.collect()))
}

/// A map of constants is a constant.
fn fold_map(entries: Vec<(Node, Node, bool)>) -> Result<Node, EvalError> {
    let is_constant = |(key, value, is_optional): &(Node, Node, bool)| {
        matches!((key, value), (Node::Constant(_), Node::Constant(_))) && !is_optional
    };
    if !entries.iter().all(is_constant) {
        return Ok(Node::Map(entries));
    }
    let mut map = OwnedMap::with_capacity(entries.len());
    for entry in entries {
        if let (Node::Constant(key), Node::Constant(value), _) = entry {
            map.set(key, value)?;
        }
    }
    Ok(Node::Constant(map.into()))
}

/// In a step that is `accumulator + [x]`, or chooses between that and the accumulator, the list
/// grows in place, and so does a map: the step's result takes the place of the accumulator anyway.
fn give_up_accumulator(step: &mut Node, slot: usize) {
    let call = match step {
        Node::Conditional(parts) => {
            give_up_accumulator(&mut parts[1], slot);
            give_up_accumulator(&mut parts[2], slot);
            return;
        }
        Node::Call(call) if call.args.first().is_some_and(|first| is_local(first, slot)) => call,
        _ => return,
    };
    let is_append = call.function == operator::ADD && call.args.get(1).is_some_and(is_item);
    let is_insert = call.function == macros::MAP_INSERT;
    if !is_append && !is_insert {
        return;
    }
    let mut args = std::mem::take(&mut call.args).into_iter().skip(1);
    let first = args.next().expect("both have a second argument");
    *step = match (is_append, args.next()) {
        (true, _) => Node::Append(Box::new(Append { slot, list: first })),
        (false, value) => Node::Insert(Box::new(Insert { slot, key_or_map: first, value })),
    };
}

fn is_local(node: &Node, slot: usize) -> bool {
    matches!(node, Node::Attribute(attribute) if attribute.qualifiers.is_empty()
        && matches!(attribute.base, Base::Local(local) if local == slot))
}

/// What macros append. They give the accumulator a name that nobody can write, so the item does not
/// read it.
fn is_item(node: &Node) -> bool {
    matches!(node, Node::List(items) if items.len() == 1)
}

impl Comparison {
    /// What it costs to compare these.
    pub(crate) fn cost(&self, a: &Value<'_>, b: &Value<'_>) -> u64 {
        if !self.is_text {
            return 1;
        }
        cost::scale(cost::size_of(a).min(cost::size_of(b)), cost::STRING_TRAVERSAL_FACTOR)
    }
}

impl Order {
    fn of(function: &str) -> Option<Order> {
        Some(match function {
            operator::LESS => Order::Less,
            operator::LESS_EQUALS => Order::LessEquals,
            operator::GREATER => Order::Greater,
            operator::GREATER_EQUALS => Order::GreaterEquals,
            _ => return None,
        })
    }

    /// Its name as a function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Order::Less => operator::LESS,
            Order::LessEquals => operator::LESS_EQUALS,
            Order::Greater => operator::GREATER,
            Order::GreaterEquals => operator::GREATER_EQUALS,
        }
    }

    /// Whether the order of two values is as asked for.
    pub(crate) fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Order::Less => ordering.is_lt(),
            Order::LessEquals => ordering.is_le(),
            Order::Greater => ordering.is_gt(),
            Order::GreaterEquals => ordering.is_ge(),
        }
    }
}
