//! A schema as text.
//!
//! ```text
//! package io.k8s.api.core.v1
//! Container
//!  name string 1 req
//!  env [EnvVar] 7 omit list=map:name patch=merge key=name
//!  resources ResourceRequirements 8 omit
//!  livenessProbe *Probe 10 omit
//! ```
//!
//! A line without indent starts a struct, by its name in the package; words after it are `atomic`,
//! `keeps`, and `union=DISCRIMINATOR:FIELD,FIELD`. An indented line is a field, in the order of
//! declaration: name, type, protobuf number (`2.7` is field 7 of the embedded message 2, which may
//! be embedded itself: `4.2.7`; `-` is none), then words:
//!
//! | word | |
//! |---|---|
//! | `omit`, `omitzero` | left out of JSON when empty, when zero |
//! | `req` | required in OpenAPI |
//! | `atomic`, `granular` | the struct or map in it changes as a whole, or does not |
//! | `list=atomic`, `list=set`, `list=map:KEY,KEY` | how items are told apart |
//! | `patch=merge`, `patch=merge,retainKeys`, `patch=replace` | strategic merge patch |
//! | `key=KEY` | merge key of a strategic merge patch |
//! | `enum=A,B` | the only values allowed |
//! | `go=TYPE` | its type in Go, where that is a name of its own: `go=v1.PullPolicy` |
//! | `in=NAME.NAME` | the embedded structs of Go that it stands in |
//! | `default=JSON` | what a missing field means; the last word of a line |
//!
//! A type is `bool`, `int32`, `int64`, `float64`, `string`, `bytes`, `time`, `microtime`,
//! `duration`, `quantity`, `intstr`, `any`, `raw`, `fieldset`, `[T]`, `<T>` (a list whose items
//! travel in a protobuf message of their own), `{T}` (map from string), or the name of a struct: as
//! it is in the same package, else with its package. `S|bool`, `S|[]` and `S|[string]` are a struct
//! or a truth, a list of such structs, a list of text. `*` before a type is a pointer. Empty lines
//! and lines that start with `#` are skipped.

use std::collections::HashMap;

use super::{
    Alternative, Field, Identity, List, MapOf, Omit, Patch, Schema, Struct, StructId, Tag, Type,
    Union,
};
use crate::json;
use crate::value::Str;

/// Where the text is wrong, and how.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("schema line {line}: {message}")]
pub struct ParseError {
    /// Counted from 1, over all texts together.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads the texts of a schema. They may refer to each other's structs.
///
/// # Errors
///
/// When a line is not in the form above or names a struct that is in none of the texts.
pub fn parse(texts: &[&'static str]) -> Result<Schema, ParseError> {
    let mut parser = Parser { schema: Schema::default(), ids: find_structs(texts), package: "" };
    let lines = texts.iter().flat_map(|text| text.lines());
    for (at, line) in lines.enumerate() {
        let result = match line.as_bytes().first() {
            None | Some(b'#') => Ok(()),
            Some(b' ') => parser.field(line),
            Some(_) => parser.header(line),
        };
        result.map_err(|message| ParseError { line: at + 1, message })?;
    }
    for new in &mut parser.schema.structs {
        sort_fields(new);
    }
    Ok(parser.schema)
}

/// A schema while it is read.
struct Parser {
    schema: Schema,
    /// Every struct by package and name.
    ids: HashMap<(&'static str, &'static str), StructId>,
    package: &'static str,
}

fn find_structs(texts: &[&'static str]) -> HashMap<(&'static str, &'static str), StructId> {
    let mut ids = HashMap::with_capacity(1024);
    let mut package = "";
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Some(word) = line.split(' ').next().filter(|word| !word.is_empty()) else { continue };
        match line.strip_prefix("package ") {
            Some(name) => package = name,
            None if word.starts_with('#') => {}
            None => {
                let next = u32::try_from(ids.len()).expect("few structs");
                ids.insert((package, word), StructId(next));
            }
        }
    }
    ids
}

impl Parser {
    fn header(&mut self, line: &'static str) -> Result<(), String> {
        if let Some(package) = line.strip_prefix("package ") {
            self.package = package;
            return Ok(());
        }
        let mut words = line.split(' ');
        let short = words.next().unwrap_or_default();
        let mut name = Str::with_capacity(self.package.len() + 1 + short.len());
        name.push_str(self.package);
        name.push('.');
        name.push_str(short);
        let mut new = Struct { name, ..Struct::default() };
        for word in words {
            match word {
                "atomic" => new.is_atomic = true,
                "keeps" => new.keeps_unknown = true,
                word => match word.strip_prefix("union=").and_then(|word| word.split_once(':')) {
                    Some((discriminator, fields)) => {
                        let discriminator = Str::const_new(discriminator);
                        let fields = fields.split(',').map(Str::const_new).collect();
                        new.union = Some(Box::new(Union { discriminator, fields }));
                    }
                    None => return Err(format!("unknown word {word:?} after a struct")),
                },
            }
        }
        if self.schema.by_name.contains_key(&new.name) {
            return Err(format!("struct {} stands twice", new.name));
        }
        self.schema.add(new);
        Ok(())
    }

    fn field(&mut self, line: &'static str) -> Result<(), String> {
        let mut rest = line.trim_start();
        let mut next = || {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            rest = after;
            word
        };
        let name = next();
        let (is_pointer, ty) = match next() {
            word if word.starts_with('*') => (true, &word[1..]),
            word => (false, word),
        };
        let mut field = Field {
            name: Str::const_new(name),
            ty: self.ty(ty)?,
            is_pointer,
            omit: Omit::Never,
            is_required: false,
            is_atomic: false,
            is_granular: false,
            tag: tag(next())?,
            patch: Patch::default(),
            merge_key: Str::const_new(""),
            extra: None,
        };
        while !rest.is_empty() {
            if let Some(text) = rest.strip_prefix("default=") {
                let value = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
                field.extra.get_or_insert_default().default = Some(value);
                break;
            }
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            rest = after;
            self.word(&mut field, word)?;
        }
        let last = self.schema.structs.last_mut().ok_or("a field before the first struct")?;
        last.fields.push(field);
        Ok(())
    }

    fn word(&self, field: &mut Field, word: &'static str) -> Result<(), String> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "omit" => field.omit = Omit::Empty,
            "omitzero" => field.omit = Omit::Zero,
            "req" => field.is_required = true,
            "atomic" => match &mut field.ty {
                Type::Map(map) => map.is_atomic = true,
                _ => field.is_atomic = true,
            },
            "granular" => field.is_granular = true,
            "list" => match &mut field.ty {
                Type::List(list) => list.identity = identity(value)?,
                // In Go bytes are a list, and some are declared as one.
                Type::Bytes if value == "atomic" => field.is_atomic = true,
                _ => return Err("only a list can have this word".into()),
            },
            "patch" => field.patch = patch(value)?,
            "key" => field.merge_key = Str::const_new(value),
            "go" => field.extra.get_or_insert_default().type_name = Str::const_new(value),
            "in" => field.extra.get_or_insert_default().embedded = Str::const_new(value),
            "enum" => {
                let choices = value.split(',').map(Str::const_new).collect();
                field.extra.get_or_insert_default().choices = choices;
            }
            _ => return Err(format!("unknown word {word:?} after a field")),
        }
        Ok(())
    }

    fn ty(&self, word: &'static str) -> Result<Type, String> {
        Ok(match word {
            "bool" => Type::Bool,
            "int32" => Type::Int32,
            "int64" => Type::Int64,
            "float64" => Type::Float64,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            "time" => Type::Time,
            "microtime" => Type::MicroTime,
            "duration" => Type::Duration,
            "quantity" => Type::Quantity,
            "intstr" => Type::IntOrString,
            "any" => Type::Any,
            "raw" => Type::Raw,
            "fieldset" => Type::FieldSet,
            word => return self.compound(word),
        })
    }

    fn compound(&self, word: &'static str) -> Result<Type, String> {
        if let Some(item) = inner(word, '[', ']') {
            return self.list(item, false);
        }
        if let Some(item) = inner(word, '<', '>') {
            return self.list(item, true);
        }
        if let Some(value) = inner(word, '{', '}') {
            let map = MapOf { value: self.ty(value)?, is_atomic: false };
            return Ok(Type::Map(Box::new(map)));
        }
        if let Some((object, other)) = word.split_once('|') {
            let other = match other {
                "bool" => Alternative::Bool,
                "[]" => Alternative::List,
                "[string]" => Alternative::Strings,
                other => return Err(format!("unknown alternative {other:?}")),
            };
            return Ok(Type::StructOr(self.id(object)?, other));
        }
        self.id(word).map(Type::Struct)
    }

    fn list(&self, item: &'static str, is_wrapped: bool) -> Result<Type, String> {
        let (is_item_pointer, item) = match item.strip_prefix('*') {
            Some(item) => (true, item),
            None => (false, item),
        };
        let identity = Identity::Atomic { is_declared: false };
        let list = List { item: self.ty(item)?, is_item_pointer, identity, is_wrapped };
        Ok(Type::List(Box::new(list)))
    }

    fn id(&self, word: &'static str) -> Result<StructId, String> {
        let path = word.rsplit_once('.').unwrap_or((self.package, word));
        self.ids.get(&path).copied().ok_or_else(|| format!("unknown type {word:?}"))
    }
}

/// What stands between the brackets.
fn inner(word: &'static str, open: char, close: char) -> Option<&'static str> {
    word.strip_prefix(open)?.strip_suffix(close)
}

fn tag(word: &str) -> Result<Option<Tag>, String> {
    if word == "-" {
        return Ok(None);
    }
    let mut numbers = word.rsplit('.').map(|text| match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => Err(format!("bad protobuf number {word:?}")),
    });
    let number = numbers.next().ok_or("a protobuf number is missing")??;
    let inside = numbers.next().transpose()?;
    let outside = numbers.next().transpose()?;
    match numbers.next() {
        None => Ok(Some(Tag { number, inside, outside })),
        Some(_) => Err(format!("bad protobuf number {word:?}")),
    }
}

fn identity(value: &'static str) -> Result<Identity, String> {
    match value.split_once(':') {
        None if value == "atomic" => Ok(Identity::Atomic { is_declared: true }),
        None if value == "set" => Ok(Identity::Set),
        Some(("map", keys)) => Ok(Identity::Keys(keys.split(',').map(Str::const_new).collect())),
        _ => Err(format!("unknown kind of list {value:?}")),
    }
}

fn patch(value: &str) -> Result<Patch, String> {
    let mut patch = Patch::default();
    for word in value.split(',') {
        match word {
            "merge" => patch.merges = true,
            "retainKeys" => patch.retains_keys = true,
            "replace" => patch.replaces = true,
            word => return Err(format!("unknown patch strategy {word:?}")),
        }
    }
    Ok(patch)
}

/// Sorts the fields by name and remembers how they were declared.
fn sort_fields(new: &mut Struct) {
    let count = u16::try_from(new.fields.len()).expect("few fields");
    let fields = std::mem::take(&mut new.fields);
    let mut numbered: Vec<(u16, Field)> = (0..count).zip(fields).collect();
    numbered.sort_by(|a, b| a.1.name.cmp(&b.1.name));
    new.order = vec![0; numbered.len()];
    for ((declared, field), sorted) in numbered.into_iter().zip(0..) {
        new.order[usize::from(declared)] = sorted;
        new.fields.push(field);
    }
}
