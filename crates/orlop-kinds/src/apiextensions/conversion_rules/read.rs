//! The document of rules, read.
//!
//! Unknown words are refused: a misspelt rule would do nothing.

use std::collections::BTreeMap;

use orlop_machinery::{Str, Value, yaml};

use super::expression::Expression;
use super::field_path::FieldPath;
use super::rule::{Outputs, Rule};
use super::{COMMON, Pair};

/// How many rules there may be in all.
const RULES_MAX: usize = 1000;
/// How many pairs of versions there may be.
const PAIRS_MAX: usize = 20;
/// How deep `each` may stand in `each`.
const EACH_DEPTH_MAX: usize = 8;

/// Reads the text of the annotation.
pub(super) fn read(text: &str) -> Result<Vec<Pair>, Vec<String>> {
    let document = yaml::parse(text.as_bytes()).map_err(|error| vec![error.to_string()])?;
    let mut reader = Reader { errors: Vec::new(), rules: 0 };
    reader.check_fields("", &document, &["conversions"]);
    let pairs: Vec<Pair> = match document.at("conversions") {
        Value::List(pairs) if pairs.len() <= PAIRS_MAX => {
            let pairs = pairs.iter().enumerate();
            pairs.map(|(at, pair)| reader.pair(format!("conversions[{at}]"), pair)).collect()
        }
        Value::List(_) => {
            reader.errors.push(format!("conversions: there may be {PAIRS_MAX} at most"));
            Vec::new()
        }
        _ => {
            reader.errors.push("conversions: must be a list".to_owned());
            Vec::new()
        }
    };
    if reader.rules > RULES_MAX {
        reader.errors.push(format!("conversions: there may be {RULES_MAX} rules at most"));
    }
    if reader.errors.is_empty() { Ok(pairs) } else { Err(reader.errors) }
}

struct Reader {
    errors: Vec<String>,
    rules: usize,
}

impl Reader {
    fn pair(&mut self, at: String, pair: &Value) -> Pair {
        self.check_fields(&at, pair, &["from", "to", "rules", "samples"]);
        let rules = self.rules(&format!("{at}.rules"), pair.at("rules"), 0);
        let samples = self.samples(&format!("{at}.samples"), pair.at("samples"));
        let [from, to] = ["from", "to"].map(|field| Str::new(pair.at(field).str()));
        Pair { at, from, to, rules, samples }
    }

    fn rules(&mut self, at: &str, rules: &Value, depth: usize) -> Vec<Rule> {
        let Value::List(rules) = rules else {
            self.errors.push(format!("{at}: must be a list"));
            return Vec::new();
        };
        if depth > EACH_DEPTH_MAX {
            self.errors.push(format!("{at}: each may stand in each {EACH_DEPTH_MAX} times only"));
            return Vec::new();
        }
        self.rules += rules.len();
        let mut read = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            read.extend(self.rule(&format!("{at}[{index}]"), rule, depth));
        }
        read
    }

    fn rule(&mut self, at: &str, rule: &Value, depth: usize) -> Option<Rule> {
        const WORDS: &str = "move, values, add, remove, each or compute";
        let mut entries = rule.map().iter();
        let (Some((word, content)), None) = (entries.next(), entries.next()) else {
            self.errors.push(format!("{at}: must be one of {WORDS}"));
            return None;
        };
        let at = format!("{at}.{word}");
        match word {
            "move" => {
                self.check_fields(&at, content, &["from", "to"]);
                let from = self.path(&at, content, "from", depth);
                let to = self.path(&at, content, "to", depth);
                let (from, to) = (from?, to?);
                if from.overlaps(&to) {
                    self.errors.push(format!("{at}: {from} cannot move to {to}"));
                    return None;
                }
                Some(Rule::Move { from, to })
            }
            "values" => {
                self.check_fields(&at, content, &["path", "pairs", "lossy"]);
                let pairs = self.pairs(&format!("{at}.pairs"), content.at("pairs"));
                let path = self.path(&at, content, "path", depth)?;
                Some(Rule::Values { path, pairs, is_lossy: content.at("lossy").bool() })
            }
            "add" | "remove" => {
                self.check_fields(&at, content, &["path", "value"]);
                let path = self.path(&at, content, "path", depth)?;
                let value = content.get("value").cloned();
                let is_add = word == "add";
                Some(if is_add { Rule::Add { path, value } } else { Rule::Remove { path, value } })
            }
            "each" => {
                self.check_fields(&at, content, &["path", "rules"]);
                let rules = self.rules(&format!("{at}.rules"), content.at("rules"), depth + 1);
                Some(Rule::Each { path: self.path(&at, content, "path", depth)?, rules })
            }
            "compute" => {
                self.check_fields(&at, content, &["forward", "backward", "lossy"]);
                let forward = self.outputs(&format!("{at}.forward"), content.at("forward"), depth);
                let backward =
                    self.outputs(&format!("{at}.backward"), content.at("backward"), depth);
                Some(Rule::Compute { forward, backward, is_lossy: content.at("lossy").bool() })
            }
            _ => {
                self.errors.push(format!("{at}: must be one of {WORDS}"));
                None
            }
        }
    }

    fn outputs(&mut self, at: &str, outputs: &Value, depth: usize) -> Outputs {
        let mut read = Vec::new();
        for (path, text) in outputs.map().iter() {
            let place = format!("{at}[{path}]");
            let path = Value::from([("path", path)]);
            let path = self.path(&place, &path, "path", depth);
            match (path, Expression::compile(text.str())) {
                (Some(path), Ok(expression)) => read.push((path, expression)),
                (None, Ok(_)) => {}
                (_, Err(why)) => self.errors.push(format!("{place}: {why}")),
            }
        }
        if outputs.map().is_empty() {
            self.errors.push(format!("{at}: must have expressions by the paths of their fields"));
        }
        read
    }

    fn path(&mut self, at: &str, content: &Value, field: &str, depth: usize) -> Option<FieldPath> {
        let why = match FieldPath::read(content.at(field)) {
            Ok(path) if depth == 0 && COMMON.contains(&path.first()) => {
                format!("{} is the same in all versions", path.first())
            }
            Ok(path) => return Some(path),
            Err(why) => why,
        };
        self.errors.push(format!("{at}.{field}: {why}"));
        None
    }

    /// Pairs of values. That the same value stands in two of them is found by samples.
    fn pairs(&mut self, at: &str, pairs: &Value) -> Vec<(Value, Value)> {
        let mut read = Vec::new();
        for (index, pair) in pairs.list().iter().enumerate() {
            let at = format!("{at}[{index}]");
            self.check_fields(&at, pair, &["from", "to"]);
            for field in ["from", "to"] {
                let value = pair.at(field);
                if matches!(value, Value::Null | Value::List(_) | Value::Map(_)) {
                    self.errors.push(format!("{at}.{field}: must be text, a number or a truth"));
                }
            }
            read.push((pair.at("from").clone(), pair.at("to").clone()));
        }
        if read.is_empty() {
            self.errors.push(format!("{at}: must have pairs of from and to"));
        }
        read
    }

    fn samples(&mut self, at: &str, samples: &Value) -> BTreeMap<Str, BTreeMap<Str, Vec<Value>>> {
        let mut read: BTreeMap<Str, BTreeMap<Str, Vec<Value>>> = BTreeMap::new();
        for (version, fields) in samples.map().iter() {
            for (path, values) in fields.map().iter() {
                if values.list().is_empty() {
                    self.errors.push(format!("{at}.{version}.{path}: must be a list of values"));
                }
                let of_version = read.entry(Str::new(version)).or_default();
                of_version.insert(Str::new(path), values.list().to_vec());
            }
        }
        read
    }

    fn check_fields(&mut self, at: &str, value: &Value, known: &[&str]) {
        let Value::Map(map) = value else {
            self.errors.push(format!("{at}: must be an object with {}", known.join(", ")));
            return;
        };
        for field in map.keys().filter(|field| !known.contains(field)) {
            let dot = if at.is_empty() { "" } else { "." };
            self.errors.push(format!("{at}{dot}{field}: unknown field"));
        }
    }
}
