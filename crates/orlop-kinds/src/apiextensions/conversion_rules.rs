//! Conversion between versions of a custom resource by rules, without a webhook.
//!
//! The annotation [`ANNOTATION`] of a CustomResourceDefinition whose strategy is `None` says for
//! pairs of versions what moves where; docs/guides/conversion.md describes its form. Rules are
//! applied one after the other to the object as the rules before have left it, and backwards in the
//! opposite order, so one list of rules is both directions. Versions without rules of their own are
//! reached through others. A server that does not know the annotation treats the strategy as
//! what it says: nothing but `apiVersion` changes.
//!
//! Nothing is lost: what an object has in one version and cannot have in the other is kept in the
//! annotation [`KEPT`] of the object and comes back with it, unless whoever changed the object in
//! between changed that place too (`keep.rs`). Yet rules that claim to be reversible must be so by
//! themselves: [`ConversionRules::compile`] shows it on samples made from the schemas
//! (`round_trip.rs`), or refuses the rules.
//!
//! This is ours; Kubernetes has nothing like it. All of it is pure and bounded.

mod apply;
mod expression;
mod field_path;
mod keep;
mod read;
mod round_trip;
mod rule;
mod sample;
mod schema;

use std::collections::{BTreeMap, VecDeque};

use orlop_machinery::field::{Errors, Path};
use orlop_machinery::{Str, Value};

use apply::{Direction, Work, apply};
use rule::Rule;

/// The annotation of a CustomResourceDefinition that holds rules.
pub const ANNOTATION: &str = "conversion.orlop.dev/rules";
/// The annotation of an object that holds what its version cannot.
pub const KEPT: &str = "conversion.orlop.dev/kept";

/// Fields that are no version's own.
const COMMON: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Rules that have been checked.
#[derive(Debug)]
pub struct ConversionRules {
    group: Str,
    pairs: Vec<Pair>,
}

/// The rules between two versions.
#[derive(Debug)]
struct Pair {
    /// Where it stands, for errors.
    at: String,
    from: Str,
    to: Str,
    rules: Vec<Rule>,
    /// Values that fields have, by version and by path: for checking.
    samples: BTreeMap<Str, BTreeMap<Str, Vec<Value>>>,
}

/// Why an object cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("conversion of {kind} from {from} to {to} failed: {reason}")]
pub struct ConversionError {
    /// The kind of the object.
    pub kind: String,
    /// The version that it is in.
    pub from: String,
    /// The wanted version.
    pub to: String,
    /// What went wrong.
    pub reason: String,
}

impl ConversionRules {
    /// Reads and checks the rules of a CustomResourceDefinition; none if it has none, or if a
    /// webhook converts.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn compile(definition: &Value) -> Result<Option<ConversionRules>, Vec<String>> {
        let spec = definition.at("spec");
        let annotations = definition.path(&["metadata", "annotations"]);
        let Some(text) = annotations.get(ANNOTATION).and_then(Value::as_str) else {
            return Ok(None);
        };
        if spec.path(&["conversion", "strategy"]).str() == "Webhook" {
            return Ok(None);
        }
        let pairs = read::read(text)?;
        let rules = ConversionRules { group: Str::new(spec.at("group").str()), pairs };
        rules.check(spec)?;
        Ok(Some(rules))
    }

    fn check(&self, spec: &Value) -> Result<(), Vec<String>> {
        let schemas = schemas_of(spec);
        let mut errors = self.check_versions(&schemas);
        if !errors.is_empty() {
            return Err(errors);
        }
        for pair in &self.pairs {
            let (from, to) = (&schemas[pair.from.as_str()], &schemas[pair.to.as_str()]);
            let before = errors.len();
            schema::check_pair(pair, from, to, &mut errors);
            // Samples of schemas that do not fit would only say so again.
            if errors.len() == before {
                round_trip::check_pair(pair, from, to, &mut errors);
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// That pairs are of versions that exist, and that every version can be reached.
    fn check_versions(&self, schemas: &BTreeMap<&str, Value>) -> Vec<String> {
        let mut errors = Vec::new();
        for pair in &self.pairs {
            for (field, version) in [("from", &pair.from), ("to", &pair.to)] {
                if !schemas.contains_key(version.as_str()) {
                    errors.push(format!("{}.{field}: there is no version {version}", pair.at));
                }
            }
            if pair.from == pair.to {
                errors.push(format!("{}: from and to are the same version", pair.at));
            }
        }
        let Some(first) = schemas.keys().next() else { return errors };
        for version in schemas.keys() {
            if self.route(first, version).is_none() {
                errors.push(format!(
                    "conversions: there is no way between {first} and {version}: say how one of \
                     the versions with rules becomes {version}"
                ));
            }
        }
        errors
    }

    /// Converts an object into a version such as `v2`. An object that is in it already comes back
    /// as it is.
    ///
    /// # Errors
    /// When there is no way, or an expression fails.
    pub fn convert(&self, mut object: Value, to: &str) -> Result<Value, ConversionError> {
        let version = object.at("apiVersion").str();
        let from = version.rsplit('/').next().unwrap_or_default().to_owned();
        let kind = object.at("kind").str().to_owned();
        let fail = |reason| ConversionError { kind, from: from.clone(), to: to.to_owned(), reason };
        let Some(route) = self.route(&from, to) else {
            return Err(fail("no rules lead there".to_owned()));
        };
        for (pair, direction) in route {
            if let Err(reason) = convert_once(pair, direction, &mut object) {
                return Err(fail(reason));
            }
            let (_, next) = pair.ends(direction);
            object.set("apiVersion", format!("{}/{next}", self.group));
        }
        Ok(object)
    }

    /// The shortest way between two versions; of several the one whose rules come first.
    fn route(&self, from: &str, to: &str) -> Option<Vec<(&Pair, Direction)>> {
        let mut ways: BTreeMap<&str, Vec<(&Pair, Direction)>> = BTreeMap::new();
        let mut waiting = VecDeque::from([from]);
        ways.insert(from, Vec::new());
        while let Some(here) = waiting.pop_front() {
            if here == to {
                return ways.remove(to);
            }
            for pair in &self.pairs {
                for direction in [Direction::Forward, Direction::Backward] {
                    let (start, end) = pair.ends(direction);
                    if start == here && !ways.contains_key(end) {
                        let mut way = ways[here].clone();
                        way.push((pair, direction));
                        ways.insert(end, way);
                        waiting.push_back(end);
                    }
                }
            }
        }
        None
    }
}

impl Pair {
    /// The version before and the one after.
    fn ends(&self, direction: Direction) -> (&str, &str) {
        match direction {
            Direction::Forward => (&self.from, &self.to),
            Direction::Backward => (&self.to, &self.from),
        }
    }
}

/// Reports all that is wrong with the rules of a CustomResourceDefinition.
pub(super) fn validate(definition: &Value, errors: &mut Errors) {
    let Err(details) = ConversionRules::compile(definition) else { return };
    let metadata = Path::field("metadata");
    let annotations = metadata.child("annotations");
    for detail in details {
        errors.invalid_without_value(&annotations.key(ANNOTATION), detail);
    }
}

/// Whether the rules of an update need no look: neither they nor what they are about has changed.
pub(super) fn is_unchanged(new: &Value, old: &Value) -> bool {
    let parts: [&[&str]; 3] = [
        &["metadata", "annotations", ANNOTATION],
        &["spec", "versions"],
        &["spec", "conversion", "strategy"],
    ];
    parts.iter().all(|path| new.path(path) == old.path(path))
}

/// The schema of each version, without what all objects have.
fn schemas_of(spec: &Value) -> BTreeMap<&str, Value> {
    let versions = spec.at("versions").list().iter();
    let schemas = versions.map(|version| {
        let mut schema = version.path(&["schema", "openAPIV3Schema"]).clone();
        if let Some(properties) = schema.get_mut("properties") {
            for field in COMMON {
                properties.remove(field);
            }
        }
        (version.at("name").str(), schema)
    });
    schemas.collect()
}

/// One step: converts, brings back what was kept for the new version, and keeps what the new
/// version cannot hold.
fn convert_once(pair: &Pair, direction: Direction, object: &mut Value) -> Result<(), String> {
    let (from, to) = pair.ends(direction);
    let mut kept = keep::take(object);
    let original = object.clone();
    apply(&pair.rules, object, direction, &mut Work::for_object())?;
    if let Some(entries) = kept.remove(to) {
        keep::restore(object, &entries);
    }
    let mut back = object.clone();
    // What cannot come back at all is kept whole.
    if apply(&pair.rules, &mut back, direction.reversed(), &mut Work::for_object()).is_err() {
        back = Value::Null;
    }
    let entries = keep::difference(&original, &back);
    if !entries.is_empty() {
        kept.insert(from, Value::List(entries));
    }
    keep::put(object, kept);
    Ok(())
}

#[cfg(test)]
mod tests;
