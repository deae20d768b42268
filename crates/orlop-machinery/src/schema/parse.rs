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
    let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    let outline = Outline::read(&lines);
    let mut parser =
        Parser { schema: Schema::with_capacity(outline.ids.len()), outline, package: "" };
    for (at, line) in lines.into_iter().enumerate() {
        let result = match line.as_bytes().first() {
            None | Some(b'#') => Ok(()),
            Some(b' ') => parser.field(line),
            Some(_) => parser.header(line),
        };
        result.map_err(|message| ParseError { line: at + 1, message })?;
    }
    parser.schema.structs.iter_mut().for_each(sort_fields);
    Ok(parser.schema)
}

/// A schema while it is read.
struct Parser {
    schema: Schema,
    outline: Outline,
    package: &'static str,
}

/// Which structs there are: known before the first field is read, for fields may refer to structs
/// that come later.
struct Outline {
    /// Every struct by package and name.
    ids: HashMap<(&'static str, &'static str), StructId>,
    /// How many fields each has.
    sizes: Vec<usize>,
}

impl Outline {
    fn read(lines: &[&'static str]) -> Outline {
        let mut outline = Outline { ids: HashMap::with_capacity(1024), sizes: Vec::new() };
        let mut package = "";
        for line in lines {
            match line.as_bytes().first() {
                None | Some(b'#') => {}
                Some(b' ') => outline.sizes.last_mut().into_iter().for_each(|size| *size += 1),
                Some(_) => match line.strip_prefix("package ") {
                    Some(name) => package = name,
                    None => {
                        let word = line.split(' ').next().unwrap_or_default();
                        let next = u32::try_from(outline.sizes.len()).expect("few structs");
                        outline.ids.insert((package, word), StructId(next));
                        outline.sizes.push(0);
                    }
                },
            }
        }
        outline
    }
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
        let size = self.outline.sizes[self.schema.len()];
        let mut new = Struct { name, fields: Vec::with_capacity(size), ..Struct::default() };
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
        let id = self.schema.add(new);
        if self.outline.ids.get(&(self.package, short)) != Some(&id) {
            return Err(format!("struct {short} stands twice"));
        }
        Ok(())
    }

    fn field(&mut self, line: &'static str) -> Result<(), String> {
        let mut rest = &line[1..];
        let name = next_word(&mut rest);
        let (is_pointer, ty) = match next_word(&mut rest) {
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
            tag: tag(next_word(&mut rest))?,
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
            self.word(&mut field, next_word(&mut rest))?;
        }
        let last = self.schema.structs.last_mut().ok_or("a field before the first struct")?;
        last.fields.push(field);
        Ok(())
    }

    fn word(&self, field: &mut Field, word: &'static str) -> Result<(), String> {
        // The word of most fields.
        if word == "omit" {
            field.omit = Omit::Empty;
            return Ok(());
        }
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
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
        self.outline.ids.get(&path).copied().ok_or_else(|| format!("unknown type {word:?}"))
    }
}

/// Takes the word before the next space. Words are short: looking at each byte is faster than
/// setting out to search.
fn next_word(rest: &mut &'static str) -> &'static str {
    let end = rest.bytes().position(|byte| byte == b' ').unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after.strip_prefix(' ').unwrap_or(after);
    word
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
    let mut sorted: Vec<u16> = (0..count).collect();
    sorted.sort_unstable_by_key(|&at| new.fields[usize::from(at)].name.as_str());
    new.order = vec![0; sorted.len()];
    for (&declared, place) in sorted.iter().zip(0..) {
        new.order[usize::from(declared)] = place;
    }
    // Each swap brings one field to its place.
    let mut places = new.order.clone();
    for at in 0..places.len() {
        while usize::from(places[at]) != at {
            let place = usize::from(places[at]);
            new.fields.swap(at, place);
            places.swap(at, place);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    /// The one field of the one struct of a text.
    fn field(line: &'static str) -> Result<Field, String> {
        let text = format!("package p\nS\n {line}\nProps\n").leak();
        let mut schema = parse(&[text]).map_err(|error| error.to_string())?;
        Ok(schema.structs[0].fields.remove(0))
    }

    #[test]
    fn types_are_read() {
        let check = |word: &str, expect: &str| {
            let found = field(format!("f {word} 1").leak()).map(|field| format!("{:?}", field.ty));
            assert_eq!(found.as_deref(), Ok(expect), "{word}");
        };
        check("bool", "Bool");
        check("*intstr", "IntOrString");
        check("Props", "Struct(StructId(1))");
        check("p.Props", "Struct(StructId(1))");
        check("*Props|bool", "StructOr(StructId(1), Bool)");
        check("Props|[]", "StructOr(StructId(1), List)");
        check("Props|[string]", "StructOr(StructId(1), Strings)");
        check("{bytes}", "Map(MapOf { value: Bytes, is_atomic: false })");
        let list = |item: &str, is_item_pointer, is_wrapped| {
            format!(
                "List(List {{ item: {item}, is_item_pointer: {is_item_pointer}, identity: \
                 Atomic {{ is_declared: false }}, is_wrapped: {is_wrapped} }})"
            )
        };
        check("[time]", &list("Time", false, false));
        check("[*Props]", &list("Struct(StructId(1))", true, false));
        check("<string>", &list("String", false, true));
        let map =
            format!("Map(MapOf {{ value: {}, is_atomic: false }})", list("String", false, true));
        check("{<string>}", &map);
    }

    #[test]
    fn words_are_read() {
        let found = field("f [Props] 4.2.7 omit req list=map:a,b patch=merge,retainKeys key=a");
        let found = found.unwrap();
        let Type::List(list) = &found.ty else { panic!("{found:?}") };
        assert_eq!(list.identity, Identity::Keys(vec!["a".into(), "b".into()]));
        assert_eq!(found.tag, Some(Tag { number: 7, inside: Some(2), outside: Some(4) }));
        assert_eq!(found.patch, Patch { merges: true, retains_keys: true, replaces: false });
        assert_eq!((found.omit, found.is_required), (Omit::Empty, true));
        assert_eq!(found.merge_key, "a");
        let found = field("f *string - enum=A,B default=\"a b\"").unwrap();
        assert_eq!((found.is_pointer, found.tag), (true, None));
        assert_eq!(found.default(), Some(&"a b".into()));
        assert_eq!(found.extra.unwrap().choices, ["A", "B"]);
    }

    #[test]
    fn fields_are_found_by_name_and_known_in_order() {
        let schema = parse(&["package p\nS atomic union=b:c\n b string 1\n c string 2\n a S 3"]);
        let schema = schema.unwrap();
        let found = schema.get(schema.find("p.S").unwrap());
        let names: Vec<&str> = found.in_order().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["b", "c", "a"]);
        assert_eq!(found.field("c").unwrap().tag.unwrap().number, 2);
        assert!(found.is_atomic);
        let union = Union { discriminator: "b".into(), fields: vec!["c".into()] };
        assert_eq!(found.union.as_deref(), Some(&union));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let check = |text: &'static str, expect: &str| {
            assert_eq!(parse(&[text]).map(|_| ()).unwrap_err().to_string(), expect);
        };
        check(" f string 1", "schema line 1: a field before the first struct");
        check("package p\nS\n f T 1", "schema line 3: unknown type \"T\"");
        check("S\n f string x", "schema line 2: bad protobuf number \"x\"");
        check("S\n f string 1.2.3.4", "schema line 2: bad protobuf number \"1.2.3.4\"");
        check("S\n f string 1 often", "schema line 2: unknown word \"often\" after a field");
        check("S\n f string 1 list=set", "schema line 2: only a list can have this word");
        check("S\nT\nS", "schema line 1: struct S stands twice");
        check("S big", "schema line 1: unknown word \"big\" after a struct");
    }
}
