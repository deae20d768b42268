//! The cases of the conformance files, as `SimpleTest` of `cel/expr/conformance/test/simple.proto`
//! describes them, in words of our own: nothing here knows the crate that is tested.

use super::text_format::{Field, Message};

/// One expression and what comes of it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The name of the file, without its ending.
    pub(crate) file: String,
    /// The section in the file.
    pub(crate) section: String,
    /// The name in the section.
    pub(crate) name: String,
    /// The expression.
    pub(crate) expression: String,
    /// The namespace in which names are looked up.
    pub(crate) container: String,
    /// Whether the expression is evaluated without having been checked.
    pub(crate) is_unchecked: bool,
    /// Whether it is not evaluated.
    pub(crate) is_check_only: bool,
    /// Names and their types.
    pub(crate) variables: Vec<(String, Kind)>,
    /// Names and the signatures of functions.
    pub(crate) functions: Vec<(String, Signature)>,
    /// Names and their values.
    pub(crate) bindings: Vec<(String, Datum)>,
    /// What comes of it.
    pub(crate) expect: Expect,
}

/// What comes of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expect {
    /// A value.
    Value(Datum),
    /// A value, and the type that the checker says. Without a value where it is not evaluated.
    Typed(Option<Datum>, Kind),
    /// An error while it is evaluated.
    Error,
}

/// A value as the files write it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A signed number.
    Int(i64),
    /// An unsigned number.
    Uint(u64),
    /// A floating number.
    Double(f64),
    /// Text.
    String(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Items.
    List(Vec<Datum>),
    /// Entries, in any order.
    Map(Vec<(Datum, Datum)>),
    /// A type, by its name.
    Type(String),
    /// A span of time: seconds and billionths.
    Duration(i64, i64),
    /// A point in time: seconds since 1970 and billionths.
    Timestamp(i64, i64),
    /// A protobuf message or enum, which there are not here.
    Message(String),
}

/// A type as the files write it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Any.
    Dyn,
    /// A primitive or well-known type, by the name that CEL has for it.
    Plain(&'static str),
    /// A list.
    List(Box<Kind>),
    /// A map.
    Map(Box<Kind>, Box<Kind>),
    /// A type parameter.
    Parameter(String),
    /// A type with parameters.
    Abstract(String, Vec<Kind>),
    /// The type of a type.
    Type(Box<Kind>),
    /// A type of protobuf, which there are not here.
    Message(String),
}

/// One overload of a function.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// Its name.
    pub(crate) overload: String,
    /// What it takes.
    pub(crate) parameters: Vec<Kind>,
    /// What comes of it.
    pub(crate) result: Kind,
    /// Whether the first parameter stands before the name.
    pub(crate) is_member: bool,
}

/// All cases of a file.
pub(crate) fn read_cases(file: &str, text: &str) -> Vec<Case> {
    let message = Message::read(text);
    let mut cases = Vec::new();
    for section in message.messages("section") {
        for test in section.messages("test") {
            cases.push(read_case(file, &section.text("name"), test));
        }
    }
    cases
}

fn read_case(file: &str, section: &str, test: &Message) -> Case {
    let mut variables = Vec::new();
    let mut functions = Vec::new();
    for declaration in test.messages("type_env") {
        let name = declaration.text("name");
        if let Some(ident) = declaration.message("ident") {
            let kind = read_kind(ident.message("type").expect("an ident has a type"));
            variables.push((name.clone(), kind));
        }
        for function in declaration.messages("function") {
            for overload in function.messages("overloads") {
                functions.push((name.clone(), read_signature(overload)));
            }
        }
    }
    let read_binding = |binding: &Message| {
        let value = binding.message("value").and_then(|value| value.message("value"));
        (binding.text("key"), read_datum(value.expect("a binding has a value")))
    };
    Case {
        file: file.to_owned(),
        section: section.to_owned(),
        name: test.text("name"),
        expression: test.text("expr"),
        container: test.text("container"),
        is_unchecked: test.is_true("disable_check"),
        is_check_only: test.is_true("check_only"),
        variables,
        functions,
        bindings: test.messages("bindings").map(read_binding).collect(),
        expect: read_expect(test),
    }
}

fn read_expect(test: &Message) -> Expect {
    if let Some(value) = test.message("value") {
        return Expect::Value(read_datum(value));
    }
    if let Some(typed) = test.message("typed_result") {
        let kind = typed.message("deduced_type").map_or(Kind::Dyn, read_kind);
        return Expect::Typed(typed.message("result").map(read_datum), kind);
    }
    if test.message("eval_error").is_some() {
        return Expect::Error;
    }
    // A test that says nothing wants true.
    Expect::Value(Datum::Bool(true))
}

fn read_signature(overload: &Message) -> Signature {
    Signature {
        overload: overload.text("overload_id"),
        parameters: overload.messages("params").map(read_kind).collect(),
        result: overload.message("result_type").map_or(Kind::Dyn, read_kind),
        is_member: overload.is_true("is_instance_function"),
    }
}

fn read_datum(value: &Message) -> Datum {
    let Some((name, field)) = value.fields().next() else { return Datum::Null };
    match (name, field) {
        ("null_value", _) => Datum::Null,
        ("bool_value", Field::Word(word)) => Datum::Bool(word == "true"),
        ("int64_value", Field::Word(word)) => Datum::Int(read_int(word)),
        ("uint64_value", Field::Word(word)) => Datum::Uint(read_uint(word)),
        ("double_value", Field::Word(word)) => Datum::Double(read_double(word)),
        ("string_value", Field::Text(text)) => {
            Datum::String(String::from_utf8(text.clone()).expect("text is UTF-8"))
        }
        ("bytes_value", Field::Text(text)) => Datum::Bytes(text.clone()),
        ("type_value", Field::Text(text)) => {
            Datum::Type(String::from_utf8(text.clone()).expect("a name is UTF-8"))
        }
        ("list_value", Field::Message(list)) => {
            Datum::List(list.messages("values").map(read_datum).collect())
        }
        ("map_value", Field::Message(map)) => {
            let part = |entry: &Message, name| {
                read_datum(entry.message(name).expect("an entry has a key and a value"))
            };
            let entries = map.messages("entries");
            Datum::Map(entries.map(|entry| (part(entry, "key"), part(entry, "value"))).collect())
        }
        ("object_value" | "enum_value", Field::Message(inner)) => read_object(inner),
        _ => panic!("unknown value {name}: {field:?}"),
    }
}

/// A message in an `Any`: its type is the name of the only field.
fn read_object(any: &Message) -> Datum {
    let Some((name, Field::Message(message))) = any.fields().next() else {
        return Datum::Message(String::new());
    };
    let number = |name: &str| match message.text(name).as_str() {
        "" => 0,
        word => read_int(word),
    };
    match name {
        "type.googleapis.com/google.protobuf.Duration" => {
            Datum::Duration(number("seconds"), number("nanos"))
        }
        "type.googleapis.com/google.protobuf.Timestamp" => {
            Datum::Timestamp(number("seconds"), number("nanos"))
        }
        _ => Datum::Message(name.to_owned()),
    }
}

fn read_int(word: &str) -> i64 {
    let (sign, digits) = word.strip_prefix('-').map_or((1, word), |digits| (-1, digits));
    let number = i128::from(read_uint(digits)) * sign;
    i64::try_from(number).expect("a number fits")
}

fn read_uint(word: &str) -> u64 {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).expect("hexadecimal digits"),
        None => word.parse().expect("digits"),
    }
}

fn read_double(word: &str) -> f64 {
    match word.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "-inf" | "-infinity" => f64::NEG_INFINITY,
        "nan" => f64::NAN,
        other => other.parse().expect("a number"),
    }
}

/// The kind of a message `cel.expr.Type`.
fn read_kind(ty: &Message) -> Kind {
    let Some((name, field)) = ty.fields().next() else { return Kind::Dyn };
    let inner = |message: &Message, name: &str| message.message(name).map_or(Kind::Dyn, read_kind);
    match (name, field) {
        ("dyn", _) => Kind::Dyn,
        ("null", _) => Kind::Plain("null_type"),
        ("primitive" | "well_known", Field::Word(word)) => read_plain(word),
        ("list_type", Field::Message(list)) => Kind::List(Box::new(inner(list, "elem_type"))),
        ("map_type", Field::Message(map)) => {
            Kind::Map(Box::new(inner(map, "key_type")), Box::new(inner(map, "value_type")))
        }
        ("type_param", Field::Text(_)) => Kind::Parameter(ty.text("type_param")),
        ("type", Field::Message(of)) => Kind::Type(Box::new(read_kind(of))),
        ("abstract_type", Field::Message(of)) => {
            let parameters = of.messages("parameter_types").map(read_kind).collect();
            Kind::Abstract(of.text("name"), parameters)
        }
        ("message_type", _) => Kind::Message(ty.text("message_type")),
        ("wrapper", _) => Kind::Message("google.protobuf.Wrapper".to_owned()),
        _ => panic!("unknown type {name}: {field:?}"),
    }
}

fn read_plain(word: &str) -> Kind {
    Kind::Plain(match word {
        "BOOL" => "bool",
        "INT64" => "int",
        "UINT64" => "uint",
        "DOUBLE" => "double",
        "STRING" => "string",
        "BYTES" => "bytes",
        "TIMESTAMP" => "google.protobuf.Timestamp",
        "DURATION" => "google.protobuf.Duration",
        "ANY" => return Kind::Message("google.protobuf.Any".to_owned()),
        _ => panic!("unknown type {word}"),
    })
}
