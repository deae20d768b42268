//! The operations of a JSON patch.

use std::borrow::Cow;

use super::{COPY_BYTES_MAX, JsonPatchError, MOVED_ITEMS_MAX, mistyped};
use crate::json;
use crate::patch::json_pointer::{self, Container};
use crate::patch::json_type;
use crate::value::{Map, Str, Value};

/// One step of a patch, as lax as upstream reads it: most of what is wrong with it shows when it
/// is applied.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operation {
    kind: Kind,
    path: Member,
    from: Member,
    /// None when there is no such member.
    value: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
    Unknown(Str),
}

/// What has limits over all operations.
#[derive(Debug, Default)]
pub(super) struct Spent {
    copied_bytes: usize,
    moved_items: usize,
}

/// A member that should be text.
#[derive(Clone, Debug, PartialEq)]
enum Member {
    Text(Str),
    Missing,
    /// It is of this JSON type.
    Other(&'static str),
}

impl Operation {
    pub(super) fn from_value(value: Value) -> Result<Operation, JsonPatchError> {
        let mut map = match value {
            Value::Map(map) => map,
            // Upstream reads it as an operation without members.
            Value::Null => Map::new(),
            other => return Err(mistyped(&other, "jsonpatch.Operation")),
        };
        Ok(Operation {
            kind: Kind::from_member(Member::from_value(map.remove("op"))),
            path: Member::from_value(map.remove("path")),
            from: Member::from_value(map.remove("from")),
            value: map.remove("value"),
        })
    }

    pub(super) fn apply(&self, document: &mut Value, spent: &mut Spent) -> Result<(), String> {
        match &self.kind {
            Kind::Add => self.add(document, spent),
            Kind::Remove => self.remove(document, spent),
            Kind::Replace => self.replace(document, spent),
            Kind::Move => self.move_value(document, spent),
            Kind::Copy => self.copy(document, spent),
            Kind::Test => self.test(document),
            Kind::Unknown(kind) => Err(format!("Unexpected kind: {kind}")),
        }
    }

    fn add(&self, document: &mut Value, spent: &mut Spent) -> Result<(), String> {
        let path = self.path()?;
        let (mut container, key) = self.find(document, "doc is missing path", path)?;
        spent.move_items(container.cost_of_adding(&key))?;
        let value = self.value.clone().unwrap_or_default();
        spent.descend(&value, path)?;
        let result = container.add(&key, value);
        result.map_err(|error| format!("error in add for path: '{path}': {error}"))
    }

    fn remove(&self, document: &mut Value, spent: &mut Spent) -> Result<(), String> {
        let path = self.path()?;
        let (mut container, key) = self.find(document, "doc is missing path", path)?;
        spent.move_items(container.cost_of_removing())?;
        match container.remove(&key) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("error in remove for path: '{path}': {error}")),
        }
    }

    fn replace(&self, document: &mut Value, spent: &mut Spent) -> Result<(), String> {
        let path = self.path()?;
        if path.is_empty() {
            return self.replace_document(document);
        }
        let (mut container, key) = self.find(document, "doc is missing path", path)?;
        spent.move_items(container.cost_of_setting(&key))?;
        let value = self.value.clone().unwrap_or_default();
        spent.descend(&value, path)?;
        container.set(&key, value).map_err(|_| self.missing("doc is missing key", path))
    }

    fn replace_document(&self, document: &mut Value) -> Result<(), String> {
        match &self.value {
            Some(value @ (Value::Map(_) | Value::List(_))) => {
                document.clone_from(value);
                Ok(())
            }
            // Upstream's message, with what Go prints for an error that is not there.
            _ => Err("replace operation value must be object or array: %!w(<nil>)".into()),
        }
    }

    fn move_value(&self, document: &mut Value, spent: &mut Spent) -> Result<(), String> {
        let from = self.from()?;
        let (mut container, key) = self.find(document, "doc is missing from path", from)?;
        spent.move_items(container.cost_of_removing())?;
        let value = container.remove(&key);
        let value = value.map_err(|error| format!("error in move for path: '{key}': {error}"))?;
        let path = self.path()?;
        let (mut container, key) = self.find(document, "doc is missing destination path", path)?;
        if json_pointer::depth(path) > json_pointer::depth(from) {
            spent.descend(&value, path)?;
        }
        spent.move_items(container.cost_of_adding(&key))?;
        let result = container.add(&key, value);
        result.map_err(|error| format!("error in move for path: '{path}': {error}"))
    }

    fn copy(&self, document: &mut Value, spent: &mut Spent) -> Result<(), String> {
        let from = self.from()?;
        let (container, key) = self.find(document, "doc is missing from path", from)?;
        let value = container.get(&key);
        let value = value.map_err(|error| format!("error in copy for from: '{from}': {error}"))?;
        let value = value.cloned().unwrap_or_default();
        let path = self.path()?;
        let (mut container, key) = self.find(document, "doc is missing destination path", path)?;
        spent.copy(&value)?;
        spent.move_items(container.cost_of_adding(&key))?;
        spent.descend(&value, path)?;
        let result = container.add(&key, value);
        result.map_err(|error| format!("error while adding value during copy: {error}"))
    }

    fn test(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path()?;
        let wanted = self.value.as_ref();
        let is_equal = if path.is_empty() {
            wanted == Some(&*document)
        } else {
            let (container, key) = self.find(document, "is missing path", path)?;
            let found = container.get(&key);
            let found =
                found.map_err(|error| format!("error in test for path: '{path}': {error}"))?;
            wanted.unwrap_or(&Value::Null) == found.unwrap_or(&Value::Null)
        };
        if is_equal { Ok(()) } else { Err(format!("testing value {path} failed: test failed")) }
    }

    pub(super) fn path(&self) -> Result<&str, String> {
        let reason = match &self.path {
            Member::Text(path) => return Ok(path),
            // These do not say why.
            _ if matches!(self.kind, Kind::Add | Kind::Remove | Kind::Copy) => MISSING.into(),
            Member::Missing => format!("operation missing path field: {MISSING}"),
            Member::Other(found) => not_text(found),
        };
        Err(format!("{} operation failed to decode path: {reason}", self.kind.name()))
    }

    fn from(&self) -> Result<&str, String> {
        let reason = match &self.from {
            Member::Text(from) => return Ok(from),
            Member::Missing => format!("operation, missing from field: {MISSING}"),
            Member::Other(found) => not_text(found),
        };
        Err(format!("{} operation failed to decode from: {reason}", self.kind.name()))
    }

    fn find<'a, 'b>(
        &self,
        document: &'a mut Value,
        complaint: &str,
        path: &'b str,
    ) -> Result<(Container<'a>, Cow<'b, str>), String> {
        json_pointer::find(document, path).ok_or_else(|| match self.kind {
            Kind::Add | Kind::Remove => self.missing(complaint, &format!("\"{path}\"")),
            _ => self.missing(complaint, path),
        })
    }

    fn missing(&self, complaint: &str, path: &str) -> String {
        format!("{} operation does not apply: {complaint}: {path}: {MISSING}", self.kind.name())
    }
}

const MISSING: &str = "missing value";

impl Spent {
    fn copy(&mut self, value: &Value) -> Result<(), String> {
        if !value.is_null() {
            self.copied_bytes += json::to_vec(value).len();
        }
        if self.copied_bytes <= COPY_BYTES_MAX {
            return Ok(());
        }
        Err(format!(
            "Unable to complete the copy, the accumulated size increase of copy is {}, exceeding \
             the limit {COPY_BYTES_MAX}",
            self.copied_bytes
        ))
    }

    /// Refuses a value that would make the document too deep at a path.
    fn descend(&mut self, value: &Value, path: &str) -> Result<(), String> {
        let levels = json::DEPTH_MAX.checked_sub(json_pointer::depth(path));
        match levels.and_then(|levels| count_values(value, levels)) {
            // Counting is work too.
            Some(count) => self.move_items(count),
            None => Err("exceeded max depth".into()),
        }
    }

    fn move_items(&mut self, count: usize) -> Result<(), String> {
        self.moved_items = self.moved_items.saturating_add(count);
        if self.moved_items <= MOVED_ITEMS_MAX {
            return Ok(());
        }
        Err(format!("the patch moves more than {MOVED_ITEMS_MAX} items of lists and maps"))
    }
}

impl Kind {
    fn from_member(member: Member) -> Kind {
        let Member::Text(text) = member else { return Kind::Unknown(Str::const_new("unknown")) };
        match text.as_str() {
            "add" => Kind::Add,
            "remove" => Kind::Remove,
            "replace" => Kind::Replace,
            "move" => Kind::Move,
            "copy" => Kind::Copy,
            "test" => Kind::Test,
            _ => Kind::Unknown(text),
        }
    }

    fn name(&self) -> &str {
        match self {
            Kind::Add => "add",
            Kind::Remove => "remove",
            Kind::Replace => "replace",
            Kind::Move => "move",
            Kind::Copy => "copy",
            Kind::Test => "test",
            Kind::Unknown(kind) => kind,
        }
    }
}

impl Member {
    fn from_value(value: Option<Value>) -> Member {
        match value {
            Some(Value::String(text)) => Member::Text(text),
            Some(Value::Null) | None => Member::Missing,
            Some(other) => Member::Other(json_type(&other)),
        }
    }
}

fn not_text(found: &str) -> String {
    format!("json: cannot unmarshal {found} into Go value of type string")
}

/// How many values there are in a value; none when it is nested deeper than so many levels.
fn count_values(value: &Value, levels: usize) -> Option<usize> {
    let count = |count: usize, inner| Some(count + count_values(inner, levels - 1)?);
    match value {
        Value::List(_) | Value::Map(_) if levels == 0 => None,
        Value::List(list) => list.iter().try_fold(1, count),
        Value::Map(map) => map.values().try_fold(1, count),
        _ => Some(1),
    }
}
