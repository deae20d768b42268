//! Rules at work on a schema: of that of one version they must make that of the other.
//!
//! Fields that only one version has must be named by a rule, so that nobody forgets one. Parts that
//! keep unknown fields may have any.

use orlop_machinery::{Map, Value};

use super::Pair;
use super::expression::Expression;
use super::field_path::FieldPath;
use super::rule::{Outputs, Rule};

/// Schemas that are nested deeper are not looked into: upstream refuses them elsewhere.
const DEPTH_MAX: usize = 64;
/// What an object is before a rule puts something into it.
const OBJECT: &str = "object";

/// Checks the rules of a pair against the schemas of its versions.
pub(super) fn check_pair(pair: &Pair, from: &Value, to: &Value, errors: &mut Vec<String>) {
    let mut check = Check { pair, errors: Vec::new() };
    let mut made = from.clone();
    check.rules(&format!("{}.rules", pair.at), &pair.rules, &mut made, to);
    // After an error the rest is not what the author meant.
    if check.errors.is_empty() {
        check.compare(&mut Vec::new(), &made, to);
    }
    errors.append(&mut check.errors);
}

struct Check<'a> {
    pair: &'a Pair,
    errors: Vec<String>,
}

/// What a schema says about a path.
enum Found<'a> {
    Schema(&'a Value),
    /// Anything may be there.
    Free,
    /// Nothing is there.
    Nothing,
}

impl Check<'_> {
    fn rules(&mut self, at: &str, rules: &[Rule], made: &mut Value, to: &Value) {
        for (index, rule) in rules.iter().enumerate() {
            let at = format!("{at}[{index}].{}", rule.name());
            if let Err(why) = self.rule(&at, rule, made, to) {
                self.errors.push(format!("{at}: {why}"));
            }
        }
    }

    fn rule(&mut self, at: &str, rule: &Rule, made: &mut Value, to: &Value) -> Result<(), String> {
        let (old, new) = (&self.pair.from, &self.pair.to);
        match rule {
            Rule::Move { from, to } => {
                let field = take(made, from, old)?;
                put(made, to, field)
            }
            Rule::Remove { path, value } => {
                let field = take(made, path, old)?;
                check_start(value.as_ref(), &field, path)
            }
            Rule::Add { path, value } => {
                let field = match find(to, path) {
                    Found::Schema(field) => field.clone(),
                    Found::Free => Value::Null,
                    Found::Nothing => return Err(format!("{path} is not in the schema of {new}")),
                };
                check_start(value.as_ref(), &field, path)?;
                put(made, path, field)
            }
            Rule::Values { path, pairs, .. } => {
                let field = find(made, path).known(path, old)?;
                if let Some((wrong, _)) = pairs.iter().find(|(from, _)| !fits(from, field)) {
                    return Err(does_not_fit(wrong, path, old));
                }
                let field = match find(to, path) {
                    Found::Schema(field) => field.clone(),
                    // Another rule moves it on; what it is there is compared in the end.
                    Found::Free | Found::Nothing => retyped(field, pairs),
                };
                if let Some((_, wrong)) = pairs.iter().find(|(_, to)| !fits(to, &field)) {
                    return Err(does_not_fit(wrong, path, new));
                }
                take(made, path, old)?;
                put(made, path, field)
            }
            Rule::Each { path, rules } => {
                let Found::Schema(wanted) = find(to, path) else {
                    return Err(format!("{path} is not in the schema of {new}"));
                };
                let wanted = inner_of(wanted).map(|(_, inner)| inner).cloned().unwrap_or_default();
                let field = find(made, path).known(path, old)?;
                let Some((key, inner)) = inner_of(field) else {
                    return Err(format!("{path} is neither a list nor a map"));
                };
                let mut inner = inner.clone();
                self.rules(&format!("{at}.rules"), rules, &mut inner, &wanted);
                let mut field = take(made, path, old)?;
                field.set(key, inner);
                put(made, path, field)
            }
            Rule::Compute { forward, backward, .. } => self.compute(forward, backward, made, to),
        }
    }

    fn compute(
        &self,
        forward: &Outputs,
        backward: &Outputs,
        made: &mut Value,
        to: &Value,
    ) -> Result<(), String> {
        let (old, new) = (&self.pair.from, &self.pair.to);
        for (path, expression) in backward {
            check_result(path, expression, &take(made, path, old)?)?;
        }
        for (path, expression) in forward {
            let field = match find(to, path) {
                Found::Schema(field) => field.clone(),
                Found::Free => Value::Null,
                Found::Nothing => return Err(format!("{path} is not in the schema of {new}")),
            };
            check_result(path, expression, &field)?;
            put(made, path, field)?;
        }
        Ok(())
    }

    /// That what the rules make is what the other version has.
    fn compare(&mut self, path: &mut Vec<String>, made: &Value, to: &Value) {
        let (old, new) = (&self.pair.from, &self.pair.to);
        let (is_free, wants_free) = (keeps_unknown(made), keeps_unknown(to));
        if path.len() > DEPTH_MAX || (is_free && wants_free) {
            return;
        }
        let place = path.concat();
        if !path.is_empty() && type_of(made) != type_of(to) {
            let (made, to) = (type_of(made), type_of(to));
            let why = format!(
                "{}: {place} is {made} in {old} and {to} in {new}: say with values or compute \
                 how the one becomes the other",
                self.pair.at
            );
            self.errors.push(why);
            return;
        }
        if let (Some((_, made)), Some((_, to))) = (inner_of(made), inner_of(to)) {
            path.push("[*]".to_owned());
            self.compare(path, made, to);
            path.pop();
            return;
        }
        let (fields, wanted) = (made.at("properties").map(), to.at("properties").map());
        let dot = if path.is_empty() { "" } else { "." };
        for (name, field) in fields.iter() {
            match wanted.get(name) {
                Some(wanted) => {
                    path.push(format!("{dot}{name}"));
                    self.compare(path, field, wanted);
                    path.pop();
                }
                None if wants_free => {}
                None => self.missing((&place, dot, name), (old, new), "remove"),
            }
        }
        for name in wanted.keys().filter(|name| !is_free && !fields.contains_key(name)) {
            self.missing((&place, dot, name), (new, old), "add");
        }
    }

    fn missing(
        &mut self,
        (place, dot, name): (&str, &str, &str),
        (has, lacks): (&str, &str),
        word: &str,
    ) {
        self.errors.push(format!(
            "{}: {place}{dot}{name} of {has} has no place in {lacks} and no rule says what becomes \
             of it: move it, or {word} it (what {lacks} cannot hold is kept in an annotation)",
            self.pair.at
        ));
    }
}

impl<'a> Found<'a> {
    fn known(self, path: &FieldPath, version: &str) -> Result<&'a Value, String> {
        match self {
            Found::Schema(schema) => Ok(schema),
            _ => {
                Err(format!("{path} is not in the schema of {version} as the rules before left it"))
            }
        }
    }
}

fn find<'a>(schema: &'a Value, path: &FieldPath) -> Found<'a> {
    let mut here = schema;
    for step in path.steps() {
        match here.at("properties").get(step) {
            Some(next) => here = next,
            None if keeps_unknown(here) => return Found::Free,
            None => return Found::Nothing,
        }
    }
    Found::Schema(here)
}

/// Takes a field out of a schema, and objects around it that have nothing else.
fn take(schema: &mut Value, path: &FieldPath, version: &str) -> Result<Value, String> {
    if let Found::Free = find(schema, path) {
        return Ok(Value::Null);
    }
    find(schema, path).known(path, version)?;
    let steps: Vec<&str> = path.steps().collect();
    Ok(take_steps(schema, &steps).unwrap_or_default())
}

fn take_steps(schema: &mut Value, steps: &[&str]) -> Option<Value> {
    let (first, rest) = steps.split_first()?;
    let properties = schema.get_mut("properties")?;
    if rest.is_empty() {
        return properties.remove(first);
    }
    let inner = properties.get_mut(first)?;
    let taken = take_steps(inner, rest)?;
    if inner.at("properties").map().is_empty() && !keeps_unknown(inner) {
        properties.remove(first);
    }
    Some(taken)
}

/// Puts a field into a schema, with the objects around it.
fn put(schema: &mut Value, path: &FieldPath, field: Value) -> Result<(), String> {
    match find(schema, path) {
        Found::Nothing => {}
        Found::Free => return Ok(()),
        Found::Schema(_) => return Err(format!("{path} is there already")),
    }
    let mut here = schema;
    for step in path.steps() {
        let ty = here.at("type").str();
        if !(ty.is_empty() || ty == OBJECT) || inner_of(here).is_some() {
            return Err(format!("{path} cannot be in what is no object"));
        }
        here.set_default("type", OBJECT);
        here = here.entry("properties").entry(step);
    }
    *here = field;
    Ok(())
}

fn keeps_unknown(schema: &Value) -> bool {
    schema.is_null() || schema.at("x-kubernetes-preserve-unknown-fields").bool()
}

/// What the items of a list or the values of a map are, and under which word it stands.
fn inner_of(schema: &Value) -> Option<(&'static str, &Value)> {
    let inner = |word: &'static str| {
        let found = schema.get(word).filter(|inner| matches!(inner, Value::Map(_)));
        found.map(|inner| (word, inner))
    };
    inner("items").or_else(|| inner("additionalProperties"))
}

fn type_of(schema: &Value) -> String {
    if schema.at("x-kubernetes-int-or-string").bool() {
        return "int-or-string".to_owned();
    }
    match schema.at("type").str() {
        "" => "anything".to_owned(),
        OBJECT if schema.at("additionalProperties").as_map().is_some() => "map".to_owned(),
        ty => ty.to_owned(),
    }
}

/// The schema of a field whose values are exchanged.
fn retyped(field: &Value, pairs: &[(Value, Value)]) -> Value {
    let ty = match pairs.first().map(|(_, to)| to) {
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Int(_)) => "integer",
        Some(Value::Float(_)) => "number",
        _ => "string",
    };
    let mut retyped = Value::Map(Map::new());
    retyped.set("type", ty);
    if !field.at("enum").list().is_empty() {
        retyped.set("enum", pairs.iter().map(|(_, to)| to.clone()).collect::<Vec<_>>());
    }
    retyped
}

fn check_start(value: Option<&Value>, field: &Value, path: &FieldPath) -> Result<(), String> {
    match value {
        Some(value) if !fits(value, field) => Err(does_not_fit(value, path, "its version")),
        _ => Ok(()),
    }
}

/// That the type of what an expression makes, if it is known, is that of the field.
fn check_result(path: &FieldPath, expression: &Expression, field: &Value) -> Result<(), String> {
    let wanted = type_of(field);
    let Some(made) = expression.json_type() else { return Ok(()) };
    let fits = match wanted.as_str() {
        "anything" => true,
        "int-or-string" => matches!(made, "integer" | "string"),
        "number" => matches!(made, "integer" | "number"),
        "map" => made == OBJECT,
        wanted => made == wanted,
    };
    if fits { Ok(()) } else { Err(format!("{path} is {wanted}, and its expression makes {made}")) }
}

fn does_not_fit(value: &Value, path: &FieldPath, version: &str) -> String {
    let shown = orlop_machinery::json::to_string(value);
    format!("{shown} is no value that {path} may have in {version}")
}

/// Whether a value is of the type of a schema, and among its choices.
fn fits(value: &Value, schema: &Value) -> bool {
    let choices = schema.at("enum").list();
    if !choices.is_empty() && !choices.contains(value) {
        return false;
    }
    match (type_of(schema).as_str(), value) {
        ("anything", _)
        | ("string", Value::String(_))
        | ("integer", Value::Int(_))
        | ("number", Value::Int(_) | Value::Float(_))
        | ("boolean", Value::Bool(_))
        | ("int-or-string", Value::Int(_) | Value::String(_)) => true,
        ("object", Value::Map(map)) => {
            let properties = schema.at("properties");
            let is_free = keeps_unknown(schema);
            map.iter().all(|(name, value)| match properties.get(name) {
                Some(schema) => fits(value, schema),
                None => is_free,
            })
        }
        ("map", Value::Map(map)) => {
            map.values().all(|value| fits(value, schema.at("additionalProperties")))
        }
        ("array", Value::List(items)) => items.iter().all(|item| fits(item, schema.at("items"))),
        (_, Value::Null) => schema.at("nullable").bool(),
        _ => false,
    }
}
