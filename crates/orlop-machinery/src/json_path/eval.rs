//! Walking a path. As upstream's `client-go/util/jsonpath/jsonpath.go`.

use std::cmp::Ordering;
use std::sync::LazyLock;

use super::{Block, Filter, JsonPathError, Operator, Slice, Step};
use crate::go_text;
use crate::value::Value;

/// No evaluation produces more values than this. Upstream has no bound, and a path such as
/// `..*..*..*` multiplies.
const VALUES_MAX: usize = 100_000;

/// What Go has when it takes a text apart: its bytes as numbers.
static BYTES: LazyLock<Vec<Value>> = LazyLock::new(|| (0..256).map(Value::Int).collect());

/// What a block finds in an object.
pub(super) fn evaluate<'a>(
    block: &'a Block,
    object: &'a Value,
) -> Result<Vec<&'a Value>, JsonPathError> {
    Evaluation { values_left: VALUES_MAX }.block(block, vec![object])
}

struct Evaluation {
    values_left: usize,
}

type Found<'a> = Result<Vec<&'a Value>, JsonPathError>;

impl Evaluation {
    fn block<'a>(&mut self, block: &'a Block, mut values: Vec<&'a Value>) -> Found<'a> {
        for step in block {
            values = self.step(step, &values)?;
            self.count(values.len())?;
        }
        Ok(values)
    }

    fn step<'a>(&mut self, step: &'a Step, values: &[&'a Value]) -> Found<'a> {
        Ok(match step {
            Step::Field(name) => values.iter().filter_map(|value| value.get(name)).collect(),
            Step::Slice(slice) => return take_slices(slice, values),
            Step::Filter(filter) => return self.filter(filter, values),
            Step::Wildcard => values.iter().flat_map(|value| children(value)).collect(),
            Step::Recursive => {
                let mut found = Vec::new();
                for value in values {
                    self.descend(value, &mut found)?;
                }
                found
            }
            Step::Union(blocks) => {
                let mut found = Vec::new();
                for block in blocks {
                    found.extend(self.block(block, values.to_vec())?);
                }
                found
            }
            Step::Literal(literal) => vec![literal; values.len()],
            Step::Text(text) => vec![text],
            Step::Identifier(name) => {
                let message = match name.as_str() {
                    "end" => "not in range, nothing to end".into(),
                    name => format!("unrecognized identifier {name}"),
                };
                return Err(JsonPathError { message });
            }
        })
    }

    /// The value and everything below it that is not empty and not a number or truth.
    fn descend<'a>(
        &mut self,
        value: &'a Value,
        found: &mut Vec<&'a Value>,
    ) -> Result<(), JsonPathError> {
        self.count(1)?;
        match value {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => return Ok(()),
            value if value.is_empty() => return Ok(()),
            value => found.push(value),
        }
        match value {
            Value::List(items) => items.iter().try_for_each(|item| self.descend(item, found)),
            Value::Map(map) => map.values().try_for_each(|value| self.descend(value, found)),
            _ => Ok(()),
        }
    }

    fn filter<'a>(&mut self, filter: &'a Filter, values: &[&'a Value]) -> Found<'a> {
        let mut found = Vec::new();
        for value in values {
            let Value::List(items) = value else {
                let shown = go_text::show(value);
                let message = format!("{shown} is not array or slice and cannot be filtered");
                return Err(JsonPathError { message });
            };
            for item in items {
                if self.passes(filter, item)? {
                    found.push(item);
                }
            }
        }
        Ok(found)
    }

    fn passes<'a>(&mut self, filter: &'a Filter, item: &'a Value) -> Result<bool, JsonPathError> {
        self.count(1)?;
        let left = self.block(&filter.left, vec![item]);
        if filter.operator == Operator::Exists {
            // Upstream keeps what it had before a step that fails, and takes that for a find.
            return match left {
                Err(error) if self.values_left == 0 => Err(error),
                left => Ok(left.map_or(true, |left| !left.is_empty())),
            };
        }
        let Some(left) = at_most_one(&left?)? else { return Ok(false) };
        let right = self.block(&filter.right, vec![item])?;
        let Some(right) = at_most_one(&right)? else { return Ok(false) };
        compare(&filter.operator, left, right)
    }

    fn count(&mut self, values: usize) -> Result<(), JsonPathError> {
        self.values_left = self.values_left.saturating_sub(values);
        match self.values_left {
            0 => Err(JsonPathError::new("the path finds too many values")),
            _ => Ok(()),
        }
    }
}

fn at_most_one<'a>(values: &[&'a Value]) -> Result<Option<&'a Value>, JsonPathError> {
    match values {
        [] => Ok(None),
        [value] => Ok(Some(value)),
        _ => Err(JsonPathError::new("can only compare one element at a time")),
    }
}

/// The values inside a value.
fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::List(items) => items.iter().collect(),
        Value::Map(map) => map.values().collect(),
        Value::String(text) => text.bytes().map(|byte| &BYTES[usize::from(byte)]).collect(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => Vec::new(),
    }
}

fn take_slices<'a>(slice: &Slice, values: &[&'a Value]) -> Found<'a> {
    let mut found = Vec::new();
    for value in values {
        let items = match value {
            Value::Null => continue,
            Value::List(items) => items,
            value => {
                let message = format!("{} is not array or slice", type_name(value));
                return Err(JsonPathError { message });
            }
        };
        let (start, end) = bounds(slice, items.len())?;
        if start == end {
            return Ok(found);
        }
        let step = match slice.step {
            None => 1,
            Some(step) => match usize::try_from(step) {
                Ok(step) if step > 0 => step,
                _ => return Err(JsonPathError::new("step must be > 0")),
            },
        };
        found.extend(items[start..end].iter().step_by(step));
    }
    Ok(found)
}

/// The bounds of a slice in a list of this length. Equal ones ask for nothing, wherever they are.
fn bounds(slice: &Slice, length: usize) -> Result<(usize, usize), JsonPathError> {
    let size = i64::try_from(length).unwrap_or(i64::MAX);
    let mut start = slice.start;
    if start < 0 {
        start += size;
    }
    let mut end = slice.end.unwrap_or(size);
    if end < 0 || (end == 0 && slice.is_index) {
        end += size;
    }
    let out_of_bounds = |index: i64| {
        let message = format!("array index out of bounds: index {index}, length {length}");
        JsonPathError { message }
    };
    if start == end {
        return Ok((0, 0));
    }
    if start >= size {
        return Err(out_of_bounds(start));
    }
    let start_at = usize::try_from(start).map_err(|_| out_of_bounds(start))?;
    if end > size {
        return Err(out_of_bounds(end.wrapping_sub(1)));
    }
    let end_at = usize::try_from(end).map_err(|_| out_of_bounds(end.wrapping_sub(1)))?;
    if start_at > end_at {
        let message = format!("starting index {start} is greater than ending index {end}");
        return Err(JsonPathError { message });
    }
    Ok((start_at, end_at))
}

fn compare(operator: &Operator, left: &Value, right: &Value) -> Result<bool, JsonPathError> {
    let order = match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => {
            return match operator {
                Operator::Equal => Ok(left == right),
                Operator::NotEqual => Ok(left != right),
                Operator::Unknown(name) => Err(unknown(name)),
                _ => Err(JsonPathError::new("invalid type for comparison")),
            };
        }
        _ if matches!(operator, Operator::Unknown(_)) => Ordering::Equal,
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => {
            left.partial_cmp(right).unwrap_or(Ordering::Equal)
        }
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (left, right) if is_basic(left) && is_basic(right) => {
            return Err(JsonPathError::new("incompatible types for comparison"));
        }
        _ => return Err(JsonPathError::new("invalid type for comparison")),
    };
    Ok(match operator {
        Operator::Less => order.is_lt(),
        Operator::Greater => order.is_gt(),
        Operator::Equal | Operator::Exists => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::LessOrEqual => order.is_le(),
        Operator::GreaterOrEqual => order.is_ge(),
        Operator::Unknown(name) => return Err(unknown(name)),
    })
}

fn unknown(operator: &str) -> JsonPathError {
    JsonPathError { message: format!("unrecognized filter operator {operator}") }
}

fn is_basic(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_))
}

/// What Go calls the type of a decoded value.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::List(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    }
}
