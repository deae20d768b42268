//! URLs and their parts.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/urls.go` and `.../cel/url.go`. What is
//! unescaped and no text any more gets replacement characters.

use std::any::Any;

use orlop_machinery::text::from_utf8_as_go;
use orlop_machinery::url::{Url, UrlError};

use crate::error::EvalError;
use crate::function::{CallFn, Context, Function, Library, Overload, T};
use crate::value::{Opaque, OwnedMap, Value};

use super::argument::{exactly, opaque, text};
use super::price;

/// The library of URLs.
pub static URLS: Library = Library {
    name: "kubernetes.urls",
    functions: &[
        Function {
            name: "url",
            overloads: &[Overload::global("string_to_url", &[T::String], URL, parse)
                .costs(price::traversal, price::copy_estimate)],
        },
        Function {
            name: "isURL",
            overloads: &[Overload::global("is_url_string", &[T::String], T::Bool, is_url)],
        },
        Function { name: "getScheme", overloads: &[part("url_get_scheme", T::String, scheme)] },
        Function { name: "getHost", overloads: &[part("url_get_host", T::String, host)] },
        Function {
            name: "getHostname",
            overloads: &[part("url_get_hostname", T::String, hostname)],
        },
        Function { name: "getPort", overloads: &[part("url_get_port", T::String, port)] },
        Function {
            name: "getEscapedPath",
            overloads: &[part("url_get_escaped_path", T::String, escaped_path)],
        },
        Function { name: "getQuery", overloads: &[part("url_get_query", QUERY, query)] },
    ],
    constants: &[],
    macros: &[],
};

const URL_TYPE: &str = "kubernetes.URL";
const URL: T = T::Opaque(URL_TYPE);
const QUERY: T = T::Map(&T::String, &T::List(&T::String));

const fn part(id: &'static str, result: T, call: CallFn) -> Overload {
    Overload::member(id, &[URL], result, call).costs(price::one, price::one_estimate)
}

impl Opaque for Url {
    fn type_name(&self) -> &'static str {
        URL_TYPE
    }

    fn equals(&self, other: &dyn Opaque) -> Option<bool> {
        let other = other.as_any().downcast_ref::<Url>()?;
        Some(self.to_string() == other.to_string())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn parse<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let whole = text(whole)?;
    context.work.make(whole.len())?;
    // A request knows no fragment, so it only tells whether the text is a URL.
    let url = Url::parse_request_uri(whole).and_then(|_| Url::parse(whole));
    url.map(Value::opaque).map_err(|wrong| parse_error(&wrong))
}

fn parse_error(wrong: &UrlError) -> EvalError {
    EvalError::new(format!("URL parse error during conversion from string: {wrong}"))
}

fn is_url<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    Ok(Value::Bool(Url::parse_request_uri(text(whole)?).is_ok()))
}

fn scheme<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    url_of(args).map(|url| Value::string(url.scheme.as_str()))
}

fn host<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    url_of(args).map(|url| Value::string(&*from_utf8_as_go(&url.host)))
}

fn hostname<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    url_of(args).map(|url| Value::string(url.hostname()))
}

fn port<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    url_of(args).map(|url| Value::string(url.port()))
}

fn escaped_path<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let path = url_of(args)?.escaped_path();
    context.work.make(path.len())?;
    Ok(Value::string(path))
}

fn query<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let url = url_of(args)?;
    context.work.make(url.query.len())?;
    let values = url.query_values();
    let mut map = OwnedMap::with_capacity(values.len());
    for (key, values) in values {
        context.work.make((values.len() + 2).saturating_mul(size_of::<Value<'_>>()))?;
        let values = values.into_iter().map(Value::string).collect();
        map.insert(Value::string(key), Value::list(values))?;
    }
    Ok(map.into())
}

fn url_of<'v>(args: &'v [Value<'_>]) -> Result<&'v Url, EvalError> {
    let [url] = exactly(args)?;
    opaque(url)
}
