//! Calls of every function of the libraries: what comes out, what it costs and what it is estimated
//! to cost, as upstream has it.
//!
//! The cases are in `cases/library`, one file per library or two; what kube-apiserver 1.36 and
//! cel-go answered is written behind each expression.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::sync::Arc;

use core::net::IpAddr;
use orlop_cel::cost::SizeEstimate;
use orlop_cel::environment::Functions;
use orlop_cel::estimate::{Sizes, estimate_cost};
use orlop_cel::function::Library;
use orlop_cel::library::authorizer::{
    AuthorizationDecision, AuthorizationRequest, Authorize, Authorizer, Target, User,
};
use orlop_cel::library::named_format::NamedFormat;
use orlop_cel::library::semver::Version;
use orlop_cel::library::{self, json_patch};
use orlop_cel::value::{OwnedMap, Value};
use orlop_cel::{Bindings, Environment, Type};
use orlop_machinery::Str;
use orlop_machinery::ip_literal::IpPrefix;
use orlop_machinery::quantity::Quantity;
use orlop_machinery::text::{quote, quote_lossless};
use orlop_machinery::url::Url;

/// What upstream lets one expression cost.
const BUDGET: u64 = 1_000_000;

macro_rules! files {
    ($($file:ident),* $(,)?) => {
        $(#[test]
        fn $file() {
            let cases = include_str!(concat!("cases/library/", stringify!($file), ".txt"));
            check(cases, &[]);
        })*
    };
}

files![authorizer, format, lists, network, optional, quantity, regex, semver, strings, url];

#[test]
fn extensions() {
    check(include_str!("cases/library/extensions.txt"), library::EXTENSIONS);
}

#[test]
fn what_is_too_much_ends() {
    let functions = Arc::new(Functions::new(library::KUBERNETES));
    for expression in [
        "lists.range(10000000000)",
        "lists.range(9223372036854775807)",
        "s.replace('', s).replace('', s).replace('', s).replace('', s).replace('', s)\
         .replace('', s).replace('', s).replace('', s).replace('', s).replace('', s)",
        "lists.range(100000).map(x, lists.range(100000))",
        "lists.range(100000).map(x, x).distinct()",
        "lists.range(100000).map(x, 'aaaaaaaaaaaaaaaa').join().matches('(a?){1000}b')",
        "'%.9f'.format([1.0]).split('').map(x, lists.range(1000000)).flatten()",
    ] {
        let end = outcome(&functions, expression);
        assert!(end.contains("error: operation cancelled"), "{expression}: {end}");
    }
}

/// A case is an expression, two spaces with an arrow between them, and how it ends: its cost, the
/// least and the most that were estimated, and a value or an error; or why it is no expression.
fn check(cases: &str, more: &[&'static Library]) {
    let mut libraries = library::KUBERNETES.to_vec();
    libraries.push(&json_patch::JSON_PATCH);
    libraries.extend(more);
    let functions = Arc::new(Functions::new(&libraries));
    let mut failed = Vec::new();
    let mut count = 0;
    for line in cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expression, expected) = line.split_once(" => ").unwrap();
        count += 1;
        let actual = in_ascii(&outcome(&functions, expression));
        if actual != expected {
            failed.push(format!("{expression}\n  expected {expected}\n  actual   {actual}"));
        }
    }
    assert!(failed.is_empty(), "{} of {count}:\n{}", failed.len(), failed.join("\n"));
}

fn outcome(functions: &Arc<Functions>, expression: &str) -> String {
    let mut environment = Environment::new(Arc::clone(functions));
    environment.require_homogeneous_literals();
    let authorizer = environment.declare("authorizer", Authorizer::ty());
    let d = environment.declare("d", Type::Dyn);
    let s = environment.declare("s", Type::String);
    let l = environment.declare("l", Type::list(Type::String));
    let n = environment.declare("n", Type::Int);
    let checked = match environment.check(expression) {
        Ok(checked) => checked,
        Err(issues) => return format!("issue: {}", issues.list[0].message),
    };
    let program = match environment.plan(&checked) {
        Ok(program) => program,
        Err(issues) => return format!("plan error: {}", issues.list[0].message),
    };
    let mut map = OwnedMap::default();
    map.insert(Value::str("a"), Value::Int(1)).unwrap();
    let me = User { name: "me".to_owned(), groups: vec!["g".to_owned()], extra: Vec::new() };
    let mut bindings = Bindings::new();
    bindings.set(authorizer, Value::opaque(Authorizer::new(me, Arc::new(Describe))));
    bindings.set(d, map.into());
    bindings.set(s, Value::str("some text"));
    bindings.set(l, Value::list(vec![Value::str("b"), Value::str("a")]));
    bindings.set(n, Value::Int(2));
    let estimated = estimate_cost(&checked, &Unknown);
    let outcome = program.evaluate(&bindings, BUDGET);
    let costs = format!("{} {} {}", outcome.cost, estimated.min, estimated.max);
    match outcome.result {
        Ok(value) => format!("{costs} {}", show(&value)),
        Err(error) => format!("{costs} error: {error}"),
    }
}

fn in_ascii(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => out.extend(c.escape_unicode()),
        }
    }
    out
}

/// Nothing is known about the sizes of variables.
struct Unknown;

impl Sizes for Unknown {
    fn size(&self, _: &[Str]) -> Option<SizeEstimate> {
        None
    }
}

/// Says what it was asked. What is to be got is allowed, and `fail` fails.
struct Describe;

impl Authorize for Describe {
    fn authorize(&self, request: &AuthorizationRequest) -> AuthorizationDecision {
        let (user, verb) = (&request.user, &request.verb);
        let mut reason = format!("{} [{}] {verb}", user.name, user.groups.join(" "));
        match &request.target {
            Target::Path(path) => reason += &format!(" {path}"),
            Target::Resource(target) => {
                let fields = target.field_selector.as_ref();
                let labels = target.label_selector.as_ref();
                reason += &format!(
                    " {}/*/{}/{} ns={} n={} f={} {} l={} {}",
                    target.group,
                    target.resource,
                    target.subresource,
                    target.namespace,
                    target.name,
                    fields.map_or(0, |it| it.as_ref().map_or(0, |it| it.requirements().len())),
                    fields.is_some_and(Result::is_err),
                    labels.map_or(0, |it| it.as_ref().map_or(0, |it| it.requirements().len())),
                    labels.is_some_and(Result::is_err),
                );
            }
        }
        let error = (verb == "fail").then(|| "broken".to_owned());
        AuthorizationDecision { is_allowed: verb == "get", reason, error }
    }
}

fn show(value: &Value<'_>) -> String {
    match value {
        Value::Uint(number) => format!("{number}u"),
        Value::Double(_) => format!("double({value})"),
        Value::String(text) => quote(text),
        Value::Bytes(bytes) => format!("b{}", quote_lossless(bytes)),
        Value::Duration(span) => format!("duration({span})"),
        Value::Timestamp(time) => format!("timestamp({time})"),
        Value::Optional(None) => "none".to_owned(),
        Value::Optional(Some(value)) => format!("some({})", show(value)),
        Value::Type(ty) => format!("type({})", ty.name()),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(|item| show(&item.unwrap())).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(k, v)| format!("{}: {}", show(&k), show(&v.unwrap())));
            let mut entries: Vec<String> = entries.collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Opaque(_) => show_opaque(value),
        other => other.to_string(),
    }
}

fn show_opaque(value: &Value<'_>) -> String {
    if let Some(quantity) = value.as_opaque::<Quantity>() {
        format!("quantity({quantity})")
    } else if let Some(ip) = value.as_opaque::<IpAddr>() {
        format!("ip({ip})")
    } else if let Some(cidr) = value.as_opaque::<IpPrefix>() {
        format!("cidr({}/{})", cidr.address, cidr.bits)
    } else if let Some(url) = value.as_opaque::<Url>() {
        format!("url({url})")
    } else if let Some(version) = value.as_opaque::<Version>() {
        format!("semver({version})")
    } else if let Some(format) = value.as_opaque::<NamedFormat>() {
        format!("format({})", format.name())
    } else {
        value.ty().name().to_owned()
    }
}
