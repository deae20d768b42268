//! Names and other small texts by the rules that Kubernetes has for them.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/format.go`.

mod text_format;

use std::any::Any;

use orlop_machinery::names;
use orlop_machinery::url::Url;

use crate::cost::{self, CallEstimate, CallSite, REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR};
use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, T};
use crate::value::{Opaque, Value};

use super::argument::{exactly, opaque, text};
use super::price;

/// The function that makes a format.
macro_rules! named_by {
    ($name:literal, $format:ident) => {
        Function {
            name: $name,
            overloads: &[Overload::global($name, &[], SELF, |_, _| Ok(Value::opaque($format)))],
        }
    };
}

/// The library of formats.
pub static FORMAT: Library = Library {
    name: "kubernetes.format",
    functions: &[
        Function {
            name: "format.named",
            overloads: &[Overload::global("format-named", &[T::String], T::Optional(&SELF), named)
                .costs(price::one, price::one_estimate)],
        },
        Function {
            name: "validate",
            overloads: &[Overload::member(
                "format-validate",
                &[SELF, T::String],
                T::Optional(&T::List(&T::String)),
                validate,
            )
            .costs(validate_cost, validate_estimate)],
        },
        named_by!("format.dns1123Label", DNS1123_LABEL),
        named_by!("format.dns1123Subdomain", DNS1123_SUBDOMAIN),
        named_by!("format.dns1035Label", DNS1035_LABEL),
        named_by!("format.qualifiedName", QUALIFIED_NAME),
        named_by!("format.dns1123LabelPrefix", DNS1123_LABEL_PREFIX),
        named_by!("format.dns1123SubdomainPrefix", DNS1123_SUBDOMAIN_PREFIX),
        named_by!("format.dns1035LabelPrefix", DNS1035_LABEL_PREFIX),
        named_by!("format.labelValue", LABEL_VALUE),
        named_by!("format.uri", URI),
        named_by!("format.uuid", UUID),
        named_by!("format.byte", BYTE),
        named_by!("format.date", DATE),
        named_by!("format.datetime", DATE_TIME),
    ],
    constants: &[],
    macros: &[],
};

const TYPE: &str = "kubernetes.NamedFormat";
const SELF: T = T::Opaque(TYPE);
/// The length of a pattern that is estimated with.
const PATTERN_SIZE_ESTIMATED: f64 = 128.0;

/// A rule for texts.
#[derive(Clone, Copy, Debug)]
pub struct NamedFormat {
    /// How `format.named` finds it.
    name: &'static str,
    /// What is wrong with a text.
    rule: fn(&str) -> Vec<String>,
    /// How long a pattern would be that says the same.
    pattern_size: u64,
}

const DNS1123_LABEL: NamedFormat =
    NamedFormat::new("dns1123Label", |text| names::name_is_dns_label(text, false), 30);
const DNS1123_SUBDOMAIN: NamedFormat =
    NamedFormat::new("dns1123Subdomain", |text| names::name_is_dns_subdomain(text, false), 60);
const DNS1035_LABEL: NamedFormat =
    NamedFormat::new("dns1035Label", |text| names::name_is_dns1035_label(text, false), 30);
const QUALIFIED_NAME: NamedFormat = NamedFormat::new("qualifiedName", names::qualified_name, 60);
const DNS1123_LABEL_PREFIX: NamedFormat =
    NamedFormat::new("dns1123LabelPrefix", |text| names::name_is_dns_label(text, true), 30);
const DNS1123_SUBDOMAIN_PREFIX: NamedFormat =
    NamedFormat::new("dns1123SubdomainPrefix", |text| names::name_is_dns_subdomain(text, true), 60);
const DNS1035_LABEL_PREFIX: NamedFormat =
    NamedFormat::new("dns1035LabelPrefix", |text| names::name_is_dns1035_label(text, true), 30);
const LABEL_VALUE: NamedFormat = NamedFormat::new("labelValue", names::label_value, 40);
const URI: NamedFormat = NamedFormat::new("uri", uri, 1103);
const UUID: NamedFormat = NamedFormat::new("uuid", text_format::uuid, 70);
const BYTE: NamedFormat = NamedFormat::new("byte", text_format::byte, 84);
const DATE: NamedFormat = NamedFormat::new("date", text_format::date, 71);
const DATE_TIME: NamedFormat = NamedFormat::new("datetime", text_format::date_time, 71);

const ALL: [NamedFormat; 13] = [
    DNS1123_LABEL,
    DNS1123_SUBDOMAIN,
    DNS1035_LABEL,
    QUALIFIED_NAME,
    DNS1123_LABEL_PREFIX,
    DNS1123_SUBDOMAIN_PREFIX,
    DNS1035_LABEL_PREFIX,
    LABEL_VALUE,
    URI,
    UUID,
    BYTE,
    DATE,
    DATE_TIME,
];

impl NamedFormat {
    const fn new(
        name: &'static str,
        rule: fn(&str) -> Vec<String>,
        pattern_size: u64,
    ) -> NamedFormat {
        NamedFormat { name, rule, pattern_size }
    }

    /// How `format.named` finds it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl Opaque for NamedFormat {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equals(&self, other: &dyn Opaque) -> Option<bool> {
        let other = other.as_any().downcast_ref::<NamedFormat>()?;
        Some(self.name == other.name)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn named<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [name] = exactly(args)?;
    let name = text(name)?;
    let found = ALL.into_iter().find(|format| format.name == &**name);
    Ok(found.map_or(Value::none(), |format| Value::some(Value::opaque(format))))
}

fn validate<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [format, value] = exactly(args)?;
    let (format, value) = (opaque::<NamedFormat>(format)?, text(value)?);
    context.work.look(value.len())?;
    let wrong = (format.rule)(value);
    if wrong.is_empty() {
        return Ok(Value::none());
    }
    context.work.make(wrong.iter().map(String::len).sum())?;
    Ok(Value::some(Value::list(wrong.into_iter().map(Value::string).collect())))
}

fn uri(text: &str) -> Vec<String> {
    Url::parse_request_uri(text).err().map(|wrong| wrong.to_string()).into_iter().collect()
}

fn validate_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    match args {
        [format, value] => match format.as_opaque::<NamedFormat>() {
            Some(format) => price::pattern_cost(cost::size_of(value), format.pattern_size),
            None => 1,
        },
        _ => 1,
    }
}

fn validate_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    let looks = site.size(1).traversal(STRING_TRAVERSAL_FACTOR);
    Some(price::costing(looks.scaled(PATTERN_SIZE_ESTIMATED * REGEX_LENGTH_FACTOR)))
}
