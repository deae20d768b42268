//! Rules at work on a value.

use orlop_machinery::Value;

use super::field_path::FieldPath;
use super::rule::{Outputs, Rule};

/// What the expressions of one conversion of an object may cost: upstream's bound for the
/// validation of an object.
const OBJECT_BUDGET: u64 = 10_000_000;

/// From the first version of a pair to the second, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

impl Direction {
    pub(super) fn reversed(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }
}

/// What becomes of values that the other version cannot hold.
///
/// Rules run backwards in exactly the opposite order, down to the items of lists, so what one run
/// has recorded the opposite run takes from the end. That tells on samples what rules lose that do
/// not say so. Objects are not converted in this way: between two conversions they change.
pub(super) enum Kept {
    /// They go.
    Ignored,
    /// They are noted.
    Recorded(Vec<Option<Value>>),
    /// They come back.
    Replayed(Vec<Option<Value>>),
}

/// What a run of rules has beside the object.
pub(super) struct Work {
    pub(super) kept: Kept,
    /// What its expressions may still cost.
    pub(super) budget: u64,
}

impl Work {
    /// For an object, whose values that find no place go.
    pub(super) fn for_object() -> Work {
        Work { kept: Kept::Ignored, budget: OBJECT_BUDGET }
    }
}

/// Applies rules to an object, or to an item of a list.
///
/// # Errors
/// When a field cannot be set where it should be.
pub(super) fn apply(
    rules: &[Rule],
    value: &mut Value,
    direction: Direction,
    work: &mut Work,
) -> Result<(), String> {
    match direction {
        Direction::Forward => {
            rules.iter().try_for_each(|rule| apply_rule(rule, value, direction, work))
        }
        Direction::Backward => {
            rules.iter().rev().try_for_each(|rule| apply_rule(rule, value, direction, work))
        }
    }
}

fn apply_rule(
    rule: &Rule,
    value: &mut Value,
    direction: Direction,
    work: &mut Work,
) -> Result<(), String> {
    let is_forward = direction == Direction::Forward;
    match rule {
        Rule::Move { from, to } => {
            let (from, to) = if is_forward { (from, to) } else { (to, from) };
            match from.take(value) {
                Some(content) => to.put(value, content),
                None => Ok(()),
            }
        }
        Rule::Values { path, pairs, is_lossy } => {
            let before = path.get(value).cloned();
            exchange(path, pairs, value, direction);
            if *is_lossy { keep_exchanged(path, before, value, work) } else { Ok(()) }
        }
        Rule::Add { path, value: start } if is_forward => begin(path, start, value, work),
        Rule::Remove { path, value: start } if !is_forward => begin(path, start, value, work),
        Rule::Add { path, .. } | Rule::Remove { path, .. } => {
            let taken = path.take(value);
            if let Kept::Recorded(all) = &mut work.kept {
                all.push(taken);
            }
            Ok(())
        }
        Rule::Each { path, rules } => apply_to_each(path, rules, value, (direction, work)),
        Rule::Compute { forward, backward, is_lossy } => {
            let (made, gone) = if is_forward { (forward, backward) } else { (backward, forward) };
            compute((made, gone), value, *is_lossy, work)
        }
    }
}

/// Computes fields and takes those away that they come from.
fn compute(
    (made, gone): (&Outputs, &Outputs),
    value: &mut Value,
    is_lossy: bool,
    work: &mut Work,
) -> Result<(), String> {
    let mut results = Vec::new();
    if gone.iter().any(|(path, _)| path.get(value).is_some()) {
        for (path, expression) in made {
            let result = expression.evaluate(value, &mut work.budget);
            let result = result.map_err(|why| format!("{path}: {why}"))?;
            results.push((path, Some(result).filter(|result| !result.is_null())));
        }
    }
    for (path, _) in gone {
        let taken = path.take(value);
        if let (Kept::Recorded(all), true) = (&mut work.kept, is_lossy) {
            all.push(taken);
        }
    }
    if let (Kept::Replayed(all), true) = (&mut work.kept, is_lossy) {
        let made = made.iter().rev();
        results = made.map(|(path, _)| (path, all.pop().flatten())).collect();
    }
    for (path, result) in results {
        if let Some(result) = result {
            path.put(value, result)?;
        }
    }
    Ok(())
}

/// Gives a field that the version before could not have its first value, or the one it had.
fn begin(
    path: &FieldPath,
    start: &Option<Value>,
    value: &mut Value,
    work: &mut Work,
) -> Result<(), String> {
    let content = match &mut work.kept {
        Kept::Replayed(all) => all.pop().flatten(),
        _ if path.get(value).is_some() => None,
        _ => start.clone(),
    };
    match content {
        Some(content) => path.put(value, content),
        None => Ok(()),
    }
}

fn exchange(path: &FieldPath, pairs: &[(Value, Value)], value: &mut Value, direction: Direction) {
    let Some(place) = path.get_mut(value) else { return };
    let found = pairs.iter().find_map(|(from, to)| match direction {
        Direction::Forward => (from == place).then_some(to),
        Direction::Backward => (to == place).then_some(from),
    });
    if let Some(found) = found {
        *place = found.clone();
    }
}

fn keep_exchanged(
    path: &FieldPath,
    before: Option<Value>,
    value: &mut Value,
    work: &mut Work,
) -> Result<(), String> {
    match &mut work.kept {
        Kept::Ignored => Ok(()),
        Kept::Recorded(all) => {
            all.push(before);
            Ok(())
        }
        Kept::Replayed(all) => match all.pop().flatten() {
            Some(content) => path.put(value, content),
            None => Ok(()),
        },
    }
}

fn apply_to_each(
    path: &FieldPath,
    rules: &[Rule],
    value: &mut Value,
    (direction, work): (Direction, &mut Work),
) -> Result<(), String> {
    let mut items: Vec<&mut Value> = match path.get_mut(value) {
        Some(Value::List(items)) => items.iter_mut().collect(),
        Some(Value::Map(map)) => map.iter_mut().map(|(_, value)| value).collect(),
        _ => return Ok(()),
    };
    if direction == Direction::Backward {
        items.reverse();
    }
    items.into_iter().try_for_each(|item| apply(rules, item, direction, work))
}
