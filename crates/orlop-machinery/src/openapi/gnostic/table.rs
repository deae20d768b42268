//! The messages of `openapi.v2`, as text.
//!
//! A line is a message: its name, `:`, and its fields in the order of their numbers, from 1 on. A
//! field is its key in JSON, `=`, and what it holds: `string`, `bool`, `int`, `double`, `any`, a
//! message, `[T]` for several, `{T}` for a message of named values. The key `x-` stands for all
//! vendor extensions, `/` for all paths, `code` for all codes of responses; each is several named
//! values. `...` stands for the fields that parameters, headers and items share.
//!
//! A line with `?` instead of `:` is a message that holds one of several things; each is chosen by
//! what stands before its `=`: a type of JSON (`{}`, `bool`), a key that is there (`$ref`), a value
//! of a key (`in~body`), or nothing, which is chosen when no other is.
//!
//! A line with `*` holds one or several of what stands behind it.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::value::Value;

const TEXT: &str = "\
Document: swagger=string info=Info host=string basePath=string schemes=[string] \
consumes=[string] produces=[string] paths=Paths definitions={Schema} parameters={Parameter} \
responses={Response} security=[{StringArray}] securityDefinitions={SecurityDefinitionsItem} \
tags=[Tag] externalDocs=ExternalDocs x-=any
Info: title=string version=string description=string termsOfService=string contact=Contact \
license=License x-=any
Contact: name=string url=string email=string x-=any
License: name=string url=string x-=any
ExternalDocs: description=string url=string x-=any
Tag: name=string description=string externalDocs=ExternalDocs x-=any
Paths: x-=any /=PathItem
PathItem: $ref=string get=Operation put=Operation post=Operation delete=Operation \
options=Operation head=Operation patch=Operation parameters=[ParametersItem] x-=any
Operation: tags=[string] summary=string description=string externalDocs=ExternalDocs \
operationId=string produces=[string] consumes=[string] parameters=[ParametersItem] \
responses=Responses schemes=[string] deprecated=bool security=[{StringArray}] x-=any
ParametersItem? =Parameter $ref=JsonReference
JsonReference: $ref=string description=string
Parameter? in~body=BodyParameter =NonBodyParameter
BodyParameter: description=string name=string in=string required=bool schema=Schema x-=any
NonBodyParameter? in~header=HeaderParameterSubSchema in~formData=FormDataParameterSubSchema \
in~query=QueryParameterSubSchema in~path=PathParameterSubSchema
HeaderParameterSubSchema: required=bool in=string description=string name=string ... x-=any
FormDataParameterSubSchema: required=bool in=string description=string name=string \
allowEmptyValue=bool ... x-=any
QueryParameterSubSchema: required=bool in=string description=string name=string \
allowEmptyValue=bool ... x-=any
PathParameterSubSchema: required=bool in=string description=string name=string ... x-=any
PrimitivesItems: ... x-=any
Header: ... description=string x-=any
Responses: code=ResponseValue x-=any
ResponseValue? =Response $ref=JsonReference
Response: description=string schema=SchemaItem headers={Header} examples={any} x-=any
SchemaItem? =Schema type~file=FileSchema
FileSchema: format=string title=string description=string default=any required=[string] \
type=string readOnly=bool externalDocs=ExternalDocs example=any x-=any
Schema: $ref=string format=string title=string description=string default=any multipleOf=double \
maximum=double exclusiveMaximum=bool minimum=double exclusiveMinimum=bool maxLength=int \
minLength=int pattern=string maxItems=int minItems=int uniqueItems=bool maxProperties=int \
minProperties=int required=[string] enum=[any] additionalProperties=AdditionalPropertiesItem \
type=TypeItem items=ItemsItem allOf=[Schema] properties={Schema} discriminator=string \
readOnly=bool xml=Xml externalDocs=ExternalDocs example=any x-=any
AdditionalPropertiesItem? {}=Schema bool=bool
TypeItem* string
ItemsItem* Schema
StringArray* string
Xml: name=string namespace=string prefix=string attribute=bool wrapped=bool x-=any
SecurityDefinitionsItem? type~basic=BasicAuthenticationSecurity type~apiKey=ApiKeySecurity \
flow~implicit=Oauth2ImplicitSecurity flow~password=Oauth2PasswordSecurity \
flow~application=Oauth2ApplicationSecurity flow~accessCode=Oauth2AccessCodeSecurity
BasicAuthenticationSecurity: type=string description=string x-=any
ApiKeySecurity: type=string name=string in=string description=string x-=any
Oauth2ImplicitSecurity: type=string flow=string scopes={string} authorizationUrl=string \
description=string x-=any
Oauth2PasswordSecurity: type=string flow=string scopes={string} tokenUrl=string \
description=string x-=any
Oauth2ApplicationSecurity: type=string flow=string scopes={string} tokenUrl=string \
description=string x-=any
Oauth2AccessCodeSecurity: type=string flow=string scopes={string} authorizationUrl=string \
tokenUrl=string description=string x-=any";

/// What `...` stands for.
const SHARED: &str = "type=string format=string items=PrimitivesItems collectionFormat=string \
default=any maximum=double exclusiveMaximum=bool minimum=double exclusiveMinimum=bool \
maxLength=int minLength=int pattern=string maxItems=int minItems=int uniqueItems=bool enum=[any] \
multipleOf=double";

/// The messages, read.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(TEXT));

/// All messages. The first is the document.
pub(super) struct Table {
    pub(super) messages: Vec<Message>,
}

pub(super) enum Message {
    /// Fields in the order of their numbers.
    Fields(Vec<Field>),
    /// Choices in the order of their numbers.
    OneOf(Vec<Choice>),
    /// One or several at number 1.
    OneOrMany(Shape),
}

pub(super) struct Field {
    pub(super) number: u32,
    pub(super) key: Key,
    pub(super) shape: Shape,
}

/// Which keys of a JSON object belong to a field.
pub(super) enum Key {
    Name(&'static str),
    Extensions,
    Paths,
    Codes,
}

pub(super) struct Choice {
    pub(super) number: u32,
    pub(super) when: When,
    pub(super) shape: Shape,
}

/// What a JSON value must be to be chosen.
pub(super) enum When {
    Map,
    Truth,
    HasKey(&'static str),
    HasValue(&'static str, &'static str),
    Otherwise,
}

/// What a value is.
#[derive(Debug, PartialEq)]
pub(super) enum Shape {
    Text,
    Truth,
    Whole,
    Number,
    /// Any JSON, as YAML.
    Any,
    /// A message, by its place in the table.
    Message(usize),
    Many(Box<Shape>),
    /// A message of named values.
    Named(Box<Shape>),
}

type Places = HashMap<&'static str, usize>;

impl Table {
    fn read(text: &'static str) -> Table {
        let name = |line: &'static str| line.split([':', '?', '*']).next().unwrap_or_default();
        let places: Places = text.lines().map(name).zip(0..).collect();
        let messages = text.lines().map(|line| Message::read(&line[name(line).len()..], &places));
        Table { messages: messages.collect() }
    }
}

impl Message {
    /// Reads what stands behind the name.
    fn read(text: &'static str, places: &Places) -> Message {
        let words = text[1..].split_whitespace();
        match text.as_bytes()[0] {
            b'*' => Message::OneOrMany(Shape::read(text[1..].trim(), places)),
            b'?' => {
                let choices = (1..).zip(words);
                let choices = choices.map(|(number, word)| Choice::read(number, word, places));
                Message::OneOf(choices.collect())
            }
            _ => {
                let words = words.map(|word| if word == "..." { SHARED } else { word });
                let fields = (1..).zip(words.flat_map(str::split_whitespace));
                let fields = fields.map(|(number, word)| Field::read(number, word, places));
                Message::Fields(fields.collect())
            }
        }
    }
}

impl Field {
    fn read(number: u32, word: &'static str, places: &Places) -> Field {
        let (key, shape) = word.split_once('=').expect("a field has a key and a shape");
        let key = match key {
            "x-" => Key::Extensions,
            "/" => Key::Paths,
            "code" => Key::Codes,
            name => Key::Name(name),
        };
        Field { number, key, shape: Shape::read(shape, places) }
    }
}

impl Key {
    pub(super) fn matches(&self, key: &str) -> bool {
        match self {
            Key::Name(name) => *name == key,
            Key::Extensions => key.starts_with("x-"),
            Key::Paths => key.starts_with('/'),
            Key::Codes => {
                let is_number = key.len() == 3 && key.bytes().all(|byte| byte.is_ascii_digit());
                is_number || key == "default"
            }
        }
    }
}

impl Choice {
    fn read(number: u32, word: &'static str, places: &Places) -> Choice {
        let (when, shape) = word.split_once('=').expect("a choice has a condition and a shape");
        let when = match when.split_once('~') {
            Some((key, value)) => When::HasValue(key, value),
            None => match when {
                "" => When::Otherwise,
                "{}" => When::Map,
                "bool" => When::Truth,
                key => When::HasKey(key),
            },
        };
        Choice { number, when, shape: Shape::read(shape, places) }
    }
}

impl When {
    pub(super) fn matches(&self, value: &Value) -> bool {
        match self {
            When::Map => matches!(value, Value::Map(_)),
            When::Truth => matches!(value, Value::Bool(_)),
            When::HasKey(key) => value.get(key).is_some(),
            When::HasValue(key, expect) => value.at(key).str() == *expect,
            When::Otherwise => true,
        }
    }
}

impl Shape {
    fn read(text: &'static str, places: &Places) -> Shape {
        let inner = |open, close| text.strip_prefix(open)?.strip_suffix(close);
        if let Some(inner) = inner('[', ']') {
            return Shape::Many(Box::new(Shape::read(inner, places)));
        }
        if let Some(inner) = inner('{', '}') {
            return Shape::Named(Box::new(Shape::read(inner, places)));
        }
        match text {
            "string" => Shape::Text,
            "bool" => Shape::Truth,
            "int" => Shape::Whole,
            "double" => Shape::Number,
            "any" => Shape::Any,
            name => Shape::Message(*places.get(name).expect("every message is in the table")),
        }
    }

    pub(super) fn is_scalar(&self) -> bool {
        matches!(self, Shape::Text | Shape::Truth | Shape::Whole | Shape::Number)
    }
}
