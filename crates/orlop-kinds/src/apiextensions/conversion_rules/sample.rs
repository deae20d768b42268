//! Objects made from a schema, to show on them what rules do.
//!
//! They are the same every time. Every field of text has a value of its own, so that two fields
//! that change places are found out; fields with choices have each of them; and besides objects
//! with everything there are objects that lack one field or have only what they must.

use std::collections::BTreeMap;

use orlop_machinery::{Map, Str, Value};

/// How many values of one field are tried.
const CHOICES_MAX: usize = 16;
/// How many fields are left out, one at a time.
const OMITTED_MAX: usize = 200;
/// How large a sample may grow.
const NODES_MAX: usize = 5_000;
/// How large all samples of a schema may be together.
const NODES_OF_ALL_MAX: usize = 50_000;
/// How deep a sample may grow.
const DEPTH_MAX: usize = 64;

/// Values that fields have, by path.
pub(super) type Known = BTreeMap<Str, Vec<Value>>;

/// Samples of a schema.
pub(super) fn samples(schema: &Value, known: &Known) -> Vec<Value> {
    let mut all = Vec::new();
    let mut turns = 1;
    let mut turn = 0;
    let mut paths = Vec::new();
    while turn < turns {
        let mut maker = Maker::new(known, turn);
        all.push(maker.object(schema, ""));
        turns = maker.turns.min(CHOICES_MAX);
        paths = maker.optional;
        turn += 1;
    }
    let mut bare = Maker { wants_required_only: true, ..Maker::new(known, 0) };
    all.push(bare.object(schema, ""));
    paths.truncate(OMITTED_MAX);
    let mut nodes = 0;
    for path in paths {
        let mut maker = Maker { omitted: Some(path), ..Maker::new(known, 0) };
        all.push(maker.object(schema, ""));
        nodes += maker.nodes;
        if nodes > NODES_OF_ALL_MAX {
            break;
        }
    }
    all
}

struct Maker<'a> {
    known: &'a Known,
    /// Which of its values each field has.
    turn: usize,
    /// The most values that a field has.
    turns: usize,
    wants_required_only: bool,
    omitted: Option<String>,
    /// The paths of fields that need not be there.
    optional: Vec<String>,
    nodes: usize,
    depth: usize,
}

impl<'a> Maker<'a> {
    fn new(known: &'a Known, turn: usize) -> Maker<'a> {
        Maker {
            known,
            turn,
            turns: 1,
            wants_required_only: false,
            omitted: None,
            optional: Vec::new(),
            nodes: 0,
            depth: 0,
        }
    }

    fn value(&mut self, schema: &Value, path: &str) -> Value {
        self.nodes += 1;
        if let Some(values) = self.known.get(path) {
            return self.choose(values);
        }
        let choices = schema.at("enum").list();
        if !choices.is_empty() {
            return self.choose(choices);
        }
        if schema.at("x-kubernetes-int-or-string").bool() {
            return self.choose(&[Value::Int(80), Value::from(format!("{path}-text"))]);
        }
        match schema.at("type").str() {
            "string" => Value::from(format!("{path}-{}", self.turn)),
            "integer" => Value::Int(self.number(schema, path)),
            "number" => {
                let whole = i32::try_from(self.number(schema, path)).unwrap_or_default();
                Value::Float(f64::from(whole) + 0.5)
            }
            "boolean" => self.choose(&[Value::Bool(true), Value::Bool(false)]),
            "array" => self.list(schema, path),
            "object" => self.object(schema, path),
            _ => Value::from(format!("{path}-{}", self.turn)),
        }
    }

    fn choose(&mut self, values: &[Value]) -> Value {
        self.turns = self.turns.max(values.len());
        values.get(self.turn % values.len().max(1)).cloned().unwrap_or_default()
    }

    /// A whole number within bounds that few other fields have.
    fn number(&self, schema: &Value, path: &str) -> i64 {
        let spread = path.bytes().fold(7_i64, |sum, byte| (sum * 31 + i64::from(byte)) % 1_000);
        let turn = i64::try_from(self.turn).unwrap_or_default();
        let low = schema.at("minimum").as_int().unwrap_or(1);
        let wanted = low.saturating_add(spread).saturating_add(turn);
        schema.at("maximum").as_int().map_or(wanted, |high| wanted.min(high))
    }

    fn list(&mut self, schema: &Value, path: &str) -> Value {
        let path = format!("{path}[*]");
        if !self.has_room() {
            return Value::List(Vec::new());
        }
        self.depth += 1;
        let first = self.value(schema.at("items"), &path);
        // The second item has other values than the first.
        self.turn += 1;
        let second = self.value(schema.at("items"), &path);
        self.turn -= 1;
        self.depth -= 1;
        Value::List(vec![first, second])
    }

    fn object(&mut self, schema: &Value, path: &str) -> Value {
        let mut map = Map::new();
        if !self.has_room() {
            return Value::Map(map);
        }
        self.depth += 1;
        if let values @ Value::Map(_) = schema.at("additionalProperties") {
            for key in ["a", "b"] {
                let value = self.value(values, &format!("{path}[*]"));
                map.insert(key, value);
            }
        }
        let required = schema.at("required").list();
        for (name, property) in schema.at("properties").map().iter() {
            let dot = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{dot}{name}");
            let is_required = required.iter().any(|required| required.str() == name);
            if !is_required {
                self.optional.push(path.clone());
            }
            let is_omitted = self.omitted.as_ref() == Some(&path);
            if is_omitted || (self.wants_required_only && !is_required) {
                continue;
            }
            let value = self.value(property, &path);
            map.insert(name, value);
        }
        self.depth -= 1;
        Value::Map(map)
    }

    fn has_room(&self) -> bool {
        self.nodes < NODES_MAX && self.depth < DEPTH_MAX
    }
}
