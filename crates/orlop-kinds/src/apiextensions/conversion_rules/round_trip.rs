//! That rules lose nothing: samples go to the other version and come back the same.
//!
//! What rules say that the other version cannot have (`add`, `remove`, `lossy`) is left out of it:
//! that is kept in an annotation. Everything else must come back by the rules alone.

use orlop_machinery::{Value, json};

use super::Pair;
use super::apply::{Direction, Kept, Work, apply};
use super::sample::{Known, samples};

/// What the expressions of a pair may cost on all samples of a version.
const CHECK_BUDGET: u64 = 10_000_000;
/// How many losses of a pair are told.
const TOLD_MAX: usize = 5;

/// Checks that both versions of a pair come back from the other.
pub(super) fn check_pair(pair: &Pair, from: &Value, to: &Value, errors: &mut Vec<String>) {
    for (direction, schema) in [(Direction::Forward, from), (Direction::Backward, to)] {
        let (start, end) = pair.ends(direction);
        let none = Known::new();
        let known = pair.samples.get(start).unwrap_or(&none);
        let mut told = Vec::new();
        let mut budget = CHECK_BUDGET;
        for sample in samples(schema, known) {
            if let Err(why) = check_sample(pair, direction, &sample, &mut budget)
                && !told.contains(&why)
                && told.len() < TOLD_MAX
            {
                told.push(why);
            }
        }
        errors
            .extend(told.iter().map(|why| format!("{}: {start} to {end} and back {why}", pair.at)));
    }
}

fn check_sample(
    pair: &Pair,
    direction: Direction,
    sample: &Value,
    budget: &mut u64,
) -> Result<(), String> {
    let mut value = sample.clone();
    let mut work = Work { kept: Kept::Recorded(Vec::new()), budget: *budget };
    let fails =
        |why: String| format!("fails: {why} (samples can say what values of a field look like)");
    let there = apply(&pair.rules, &mut value, direction, &mut work);
    if let Kept::Recorded(recorded) = work.kept {
        work.kept = Kept::Replayed(recorded);
    }
    let back = there.and_then(|()| apply(&pair.rules, &mut value, direction.reversed(), &mut work));
    *budget = work.budget;
    back.map_err(fails)?;
    match first_difference(&mut String::new(), Some(sample), Some(&value)) {
        Some(difference) => Err(difference),
        None => Ok(()),
    }
}

/// Which field came back otherwise, and how.
fn first_difference(
    path: &mut String,
    sample: Option<&Value>,
    back: Option<&Value>,
) -> Option<String> {
    match (sample, back) {
        (Some(Value::Map(left)), Some(Value::Map(right))) => {
            let names = left.keys().chain(right.keys().filter(|name| !left.contains_key(name)));
            let dot = if path.is_empty() { "" } else { "." };
            names.into_iter().find_map(|name| {
                let length = path.len();
                path.push_str(dot);
                path.push_str(name);
                let found = first_difference(path, left.get(name), right.get(name));
                path.truncate(length);
                found
            })
        }
        (Some(Value::List(left)), Some(Value::List(right))) if left.len() == right.len() => {
            left.iter().zip(right).find_map(|(left, right)| {
                let length = path.len();
                path.push_str("[*]");
                let found = first_difference(path, Some(left), Some(right));
                path.truncate(length);
                found
            })
        }
        (left, right) if left == right => None,
        (left, right) => {
            let show = |value: Option<&Value>| value.map_or("nothing".into(), json::to_string);
            let (left, right) = (show(left), show(right));
            Some(format!("makes {right} of {left} in {path}"))
        }
    }
}
