//! Networks: an address and a length.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/cidr.go`.

use std::any::Any;
use std::sync::Arc;

use core::net::IpAddr;
use orlop_machinery::ip_literal::IpPrefix;

use crate::cost::{
    CallEstimate, CallSite, CostEstimate, STRING_TRAVERSAL_FACTOR, SizeEstimate, scale,
};
use crate::error::EvalError;
use crate::function::{CallFn, Constant, Context, Function, Library, Overload, T};
use crate::value::{Opaque, Value};

use super::argument::{exactly, opaque, text};
use super::ip::{IP_TYPE, check_not_mapped, parse_ip};
use super::price;

/// The library of networks.
pub static CIDR: Library = Library {
    name: "kubernetes.net.cidr",
    functions: &[
        Function {
            name: "cidr",
            overloads: &[Overload::global("string_to_cidr", &[T::String], CIDR_TYPE, parse)
                .costs(price::traversal, price::traversal_estimate)],
        },
        Function {
            name: "isCIDR",
            overloads: &[Overload::global("is_cidr", &[T::String], T::Bool, is_cidr)
                .costs(price::traversal, price::traversal_estimate)],
        },
        Function { name: "containsIP", overloads: CONTAINS_IP },
        Function { name: "containsCIDR", overloads: CONTAINS_CIDR },
        Function { name: "ip", overloads: &[fact("cidr_ip", IP_TYPE, address)] },
        Function {
            name: "prefixLength",
            overloads: &[fact("cidr_prefix_length", T::Int, prefix_length)],
        },
        Function { name: "masked", overloads: &[fact("cidr_masked", CIDR_TYPE, masked)] },
        Function {
            name: "string",
            overloads: &[Overload::global("cidr_to_string", &[CIDR_TYPE], T::String, to_string)],
        },
    ],
    constants: &[Constant {
        name: TYPE,
        ty: T::Type(&CIDR_TYPE),
        value: || Value::Type(Arc::new(CIDR_TYPE.ty())),
    }],
    macros: &[],
};

const CONTAINS_IP: &[Overload] = &[
    Overload::member("cidr_contains_ip_string", &[CIDR_TYPE, T::String], T::Bool, contains_ip_text)
        .costs(ip_text_cost, ip_text_estimate),
    Overload::member("cidr_contains_ip_ip", &[CIDR_TYPE, IP_TYPE], T::Bool, contains_ip)
        .costs(ip_cost, ip_estimate),
];

const CONTAINS_CIDR: &[Overload] = &[
    Overload::member(
        "cidr_contains_cidr_string",
        &[CIDR_TYPE, T::String],
        T::Bool,
        contains_cidr_text,
    )
    .costs(cidr_text_cost, cidr_text_estimate),
    Overload::member("cidr_contains_cidr", &[CIDR_TYPE, CIDR_TYPE], T::Bool, contains_cidr)
        .costs(cidr_cost, cidr_estimate),
];

const TYPE: &str = "net.CIDR";
const CIDR_TYPE: T = T::Opaque(TYPE);
/// The bytes of an address.
const ADDRESS_SIZE: SizeEstimate = SizeEstimate { min: 4, max: 16 };

const fn fact(id: &'static str, result: T, call: CallFn) -> Overload {
    Overload::member(id, &[CIDR_TYPE], result, call).costs(price::one, price::one_estimate)
}

impl Opaque for IpPrefix {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equals(&self, other: &dyn Opaque) -> Option<bool> {
        other.as_any().downcast_ref().map(|other| self == other)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// The bytes that name the network.
    fn size(&self) -> u64 {
        u64::from(self.bits).div_ceil(8)
    }
}

fn parse_cidr(text: &str) -> Result<IpPrefix, EvalError> {
    // Upstream says twice where it was.
    const DURING: &str = "network address parse error during conversion from string: ";
    let wrong = |message: String| EvalError::new(format!("{DURING}{message}"));
    let prefix: IpPrefix = text.parse().map_err(|error| wrong(format!("{DURING}{error}")))?;
    check_not_mapped(prefix.address, text).map_err(|error| wrong(error.to_string()))?;
    Ok(prefix)
}

fn parse<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    parse_cidr(text(whole)?).map(Value::opaque)
}

fn is_cidr<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    Ok(Value::Bool(parse_cidr(text(whole)?).is_ok()))
}

fn contains_ip_text<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [network, ip] = exactly(args)?;
    // Upstream does not say what is wrong with the address.
    let ip = parse_ip(text(ip)?).map_err(|_| EvalError::NoSuchOverload)?;
    Ok(Value::Bool(opaque::<IpPrefix>(network)?.contains(ip)))
}

fn contains_ip<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [network, ip] = exactly(args)?;
    let ip = *opaque::<IpAddr>(ip)?;
    Ok(Value::Bool(opaque::<IpPrefix>(network)?.contains(ip)))
}

fn contains_cidr_text<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [network, other] = exactly(args)?;
    let other = parse_cidr(text(other)?)?;
    Ok(Value::Bool(has_network(*opaque(network)?, other)))
}

fn contains_cidr<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [network, other] = exactly(args)?;
    Ok(Value::Bool(has_network(*opaque(network)?, *opaque(other)?)))
}

fn has_network(whole: IpPrefix, part: IpPrefix) -> bool {
    whole.bits <= part.bits && whole.contains(part.address)
}

fn address<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    network(args).map(|network| Value::opaque(network.address))
}

fn prefix_length<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    network(args).map(|network| Value::Int(network.bits.into()))
}

fn masked<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let network = network(args)?;
    Ok(Value::opaque(IpPrefix { address: network.network(), bits: network.bits }))
}

fn to_string<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    network(args).map(|network| Value::string(format!("{}/{}", network.address, network.bits)))
}

fn network(args: &[Value<'_>]) -> Result<IpPrefix, EvalError> {
    let [network] = exactly(args)?;
    opaque::<IpPrefix>(network).copied()
}

/// Two looks at the bytes that name the network.
fn ip_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    scale(price::size_of(args, 0).saturating_mul(2), STRING_TRAVERSAL_FACTOR)
}

fn ip_text_cost(args: &[Value<'_>], result: &Value<'_>) -> u64 {
    ip_cost(args, result).saturating_add(reading(args))
}

/// The same, and masking.
fn cidr_cost(args: &[Value<'_>], result: &Value<'_>) -> u64 {
    let masking = scale(price::size_of(args, 0), STRING_TRAVERSAL_FACTOR);
    ip_cost(args, result).saturating_add(masking).saturating_add(1)
}

fn cidr_text_cost(args: &[Value<'_>], result: &Value<'_>) -> u64 {
    cidr_cost(args, result).saturating_add(reading(args))
}

/// What it costs to read the text that is the second argument.
fn reading(args: &[Value<'_>]) -> u64 {
    scale(price::size_of(args, 1), STRING_TRAVERSAL_FACTOR)
}

fn ip_estimate(_: &dyn CallSite) -> Option<CallEstimate> {
    Some(price::costing(ip_estimated()))
}

fn ip_text_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    Some(price::costing(ip_estimated().plus(site.size(1).traversal(STRING_TRAVERSAL_FACTOR))))
}

fn cidr_estimate(_: &dyn CallSite) -> Option<CallEstimate> {
    Some(price::costing(cidr_estimated()))
}

fn cidr_text_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    Some(price::costing(cidr_estimated().plus(site.size(1).traversal(STRING_TRAVERSAL_FACTOR))))
}

fn ip_estimated() -> CostEstimate {
    ADDRESS_SIZE.plus(ADDRESS_SIZE).traversal(STRING_TRAVERSAL_FACTOR)
}

fn cidr_estimated() -> CostEstimate {
    let masking = ADDRESS_SIZE.traversal(STRING_TRAVERSAL_FACTOR);
    ip_estimated().plus(masking).plus(CostEstimate::fixed(1))
}
