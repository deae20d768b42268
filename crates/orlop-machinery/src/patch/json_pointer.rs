//! Places in a document, as JSON patches name them (RFC 6901), the way upstream finds them.
//!
//! Follows `gopkg.in/evanphx/json-patch.v4/patch.go`, which is laxer than the RFC: what stands
//! before the first slash is ignored, a negative index counts from the end, and an index may have
//! a sign or leading zeros. A place is a container (a map or a list) and a key in it that need not
//! exist; so the whole document is not a place.

use std::borrow::Cow;
use std::num::IntErrorKind;

use crate::text::quote;
use crate::value::{Map, Value};

/// Finds the container of a path and the key in it. None when a step is missing, or is neither a
/// map nor a list.
pub(super) fn find<'a, 'b>(
    document: &'a mut Value,
    path: &'b str,
) -> Option<(Container<'a>, Cow<'b, str>)> {
    let (_, steps) = path.split_once('/')?;
    let (parents, key) = match steps.rsplit_once('/') {
        Some((parents, key)) => (Some(parents), key),
        None => (None, steps),
    };
    let mut at = document;
    for step in parents.into_iter().flat_map(|parents| parents.split('/')) {
        at = Container::of(at)?.into_item(&decode(step))?;
    }
    Some((Container::of(at)?, decode(key)))
}

/// How many steps a path has: how deep the value at its end is.
pub(super) fn depth(path: &str) -> usize {
    path.bytes().filter(|byte| *byte == b'/').count()
}

/// Takes the escapes out of a step.
fn decode(step: &str) -> Cow<'_, str> {
    if !step.contains('~') {
        return Cow::Borrowed(step);
    }
    let mut out = String::with_capacity(step.len());
    let mut rest = step;
    while let Some((before, after)) = rest.split_once('~') {
        out.push_str(before);
        let (c, skip) = match after.as_bytes().first() {
            Some(b'0') => ('~', 1),
            Some(b'1') => ('/', 1),
            _ => ('~', 0),
        };
        out.push(c);
        rest = &after[skip..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A map or a list, to change what is in it.
pub(super) enum Container<'a> {
    Map(&'a mut Map),
    List(&'a mut Vec<Value>),
}

impl<'a> Container<'a> {
    fn of(value: &'a mut Value) -> Option<Container<'a>> {
        match value {
            Value::Map(map) => Some(Container::Map(map)),
            Value::List(list) => Some(Container::List(list)),
            _ => None,
        }
    }

    fn into_item(self, key: &str) -> Option<&'a mut Value> {
        match self {
            Container::Map(map) => map.get_mut(key),
            Container::List(list) => {
                let at = index(key, list.len()).ok()?;
                list.get_mut(at)
            }
        }
    }

    /// The value of a key. A map has none for a key that is missing; a list refuses it.
    pub(super) fn get(&self, key: &str) -> Result<Option<&Value>, String> {
        match self {
            Container::Map(map) => Ok(map.get(key)),
            Container::List(list) => Ok(list.get(index(key, list.len())?)),
        }
    }

    /// How many items adding may push aside.
    pub(super) fn cost_of_adding(&self, key: &str) -> usize {
        match self {
            Container::List(list) if key != "-" => list.len(),
            Container::List(_) => 0,
            Container::Map(_) => self.cost_of_setting(key),
        }
    }

    /// How many items setting may push aside.
    pub(super) fn cost_of_setting(&self, key: &str) -> usize {
        match self {
            Container::Map(map) if !map.contains_key(key) => map.len(),
            Container::Map(_) | Container::List(_) => 0,
        }
    }

    /// How many items removing may push aside.
    pub(super) fn cost_of_removing(&self) -> usize {
        match self {
            Container::Map(map) => map.len(),
            Container::List(list) => list.len(),
        }
    }

    /// Puts a value in: instead of what a map had, before what a list had.
    pub(super) fn add(&mut self, key: &str, value: Value) -> Result<(), String> {
        match self {
            Container::Map(map) => {
                map.insert(key, value);
            }
            Container::List(list) if key == "-" => list.push(value),
            Container::List(list) => {
                let at = parse_index(key).map_err(|error| {
                    format!("value was not a proper array index: '{key}': {error}")
                })?;
                list.insert(in_bounds(at, list.len() + 1)?, value);
            }
        }
        Ok(())
    }

    /// Puts a value in instead of what was there.
    pub(super) fn set(&mut self, key: &str, value: Value) -> Result<(), String> {
        match self {
            Container::Map(map) => {
                map.insert(key, value);
            }
            Container::List(list) => {
                let at = index(key, list.len())?;
                list[at] = value;
            }
        }
        Ok(())
    }

    /// Takes a value out.
    pub(super) fn remove(&mut self, key: &str) -> Result<Value, String> {
        match self {
            Container::Map(map) => map
                .remove(key)
                .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value")),
            Container::List(list) => Ok(list.remove(index(key, list.len())?)),
        }
    }
}

/// The position that a key means in a list.
fn index(key: &str, len: usize) -> Result<usize, String> {
    in_bounds(parse_index(key)?, len)
}

fn parse_index(key: &str) -> Result<i64, String> {
    key.parse().map_err(|error: std::num::ParseIntError| {
        let reason = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.Atoi: parsing {}: {reason}", quote(key))
    })
}

fn in_bounds(at: i64, len: usize) -> Result<usize, String> {
    let from_start = match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) => usize::try_from(at.unsigned_abs()).ok().and_then(|back| len.checked_sub(back)),
    };
    let found = from_start.filter(|from_start| *from_start < len);
    found.ok_or_else(|| format!("Unable to access invalid index: {at}: invalid index referenced"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_taken_out_once() {
        for (step, key) in
            [("a", "a"), ("a~1b", "a/b"), ("m~0n", "m~n"), ("~01", "~1"), ("~", "~"), ("~2", "~2")]
        {
            assert_eq!(decode(step), key);
        }
    }

    #[test]
    fn an_index_may_have_a_sign_and_zeros() {
        for (key, expect) in [
            ("0", Ok(0)),
            ("00", Ok(0)),
            ("+1", Ok(1)),
            ("-1", Ok(2)),
            ("-3", Ok(0)),
            ("-4", Err("Unable to access invalid index: -4: invalid index referenced")),
            ("3", Err("Unable to access invalid index: 3: invalid index referenced")),
            ("", Err(r#"strconv.Atoi: parsing "": invalid syntax"#)),
            ("1e0", Err(r#"strconv.Atoi: parsing "1e0": invalid syntax"#)),
            (
                "-99999999999999999999",
                Err(r#"strconv.Atoi: parsing "-99999999999999999999": value out of range"#),
            ),
        ] {
            assert_eq!(index(key, 3), expect.map_err(str::to_owned), "{key}");
        }
    }
}
