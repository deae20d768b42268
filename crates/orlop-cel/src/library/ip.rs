//! IP addresses.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/ip.go`. An address has no zone, and an IPv4
//! address is not written as one of IPv6.

use std::any::Any;
use std::sync::Arc;

use core::net::{IpAddr, Ipv4Addr};
use orlop_machinery::ip_literal;
use orlop_machinery::text::quote;

use crate::cost::{CallEstimate, CallSite};
use crate::error::EvalError;
use crate::function::{CallFn, Constant, Context, Function, Library, Overload, T};
use crate::value::{Opaque, Value};

use super::argument::{exactly, opaque, text};
use super::price;

/// The library of addresses.
pub static IP: Library = Library {
    name: "kubernetes.net.ip",
    functions: &[
        Function {
            name: "ip",
            overloads: &[Overload::global("string_to_ip", &[T::String], IP_TYPE, parse)
                .costs(price::traversal, price::traversal_estimate)],
        },
        Function {
            name: "isIP",
            overloads: &[Overload::global("is_ip", &[T::String], T::Bool, is_ip)
                .costs(price::traversal, price::traversal_estimate)],
        },
        Function {
            name: "ip.isCanonical",
            overloads: &[Overload::global("ip_is_canonical", &[T::String], T::Bool, is_canonical)
                .costs(price::double_traversal, canonical_estimate)],
        },
        Function { name: "family", overloads: &[fact("ip_family", T::Int, family)] },
        Function {
            name: "isUnspecified",
            overloads: &[fact("ip_is_unspecified", T::Bool, is_unspecified)],
        },
        Function { name: "isLoopback", overloads: &[fact("ip_is_loopback", T::Bool, is_loopback)] },
        Function {
            name: "isLinkLocalMulticast",
            overloads: &[fact("ip_is_link_local_multicast", T::Bool, is_link_local_multicast)],
        },
        Function {
            name: "isLinkLocalUnicast",
            overloads: &[fact("ip_is_link_local_unicast", T::Bool, is_link_local_unicast)],
        },
        Function {
            name: "isGlobalUnicast",
            overloads: &[fact("ip_is_global_unicast", T::Bool, is_global_unicast)],
        },
        Function {
            name: "string",
            overloads: &[Overload::global("ip_to_string", &[IP_TYPE], T::String, to_string)],
        },
    ],
    constants: &[Constant {
        name: TYPE,
        ty: T::Type(&IP_TYPE),
        value: || Value::Type(Arc::new(IP_TYPE.ty())),
    }],
    macros: &[],
};

const TYPE: &str = "net.IP";
pub(super) const IP_TYPE: T = T::Opaque(TYPE);

const fn fact(id: &'static str, result: T, call: CallFn) -> Overload {
    Overload::member(id, &[IP_TYPE], result, call).costs(price::one, price::one_estimate)
}

impl Opaque for IpAddr {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equals(&self, other: &dyn Opaque) -> Option<bool> {
        other.as_any().downcast_ref::<IpAddr>().map(|other| self == other)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// In bytes.
    fn size(&self) -> u64 {
        match self {
            IpAddr::V4(_) => 4,
            IpAddr::V6(_) => 16,
        }
    }
}

/// Reads an address.
pub(super) fn parse_ip(text: &str) -> Result<IpAddr, EvalError> {
    let literal = ip_literal::parse(text.as_bytes()).map_err(|wrong| {
        let shown = quote(text);
        EvalError::new(format!(
            "IP Address {shown} parse error during conversion from string: {wrong}"
        ))
    })?;
    if literal.has_zone {
        let message = format!("IP address {} with zone value is not allowed", quote(text));
        return Err(EvalError::new(message));
    }
    check_not_mapped(literal.address, text)?;
    Ok(literal.address)
}

/// That an address is not an IPv4 address in the form of IPv6.
pub(super) fn check_not_mapped(address: IpAddr, text: &str) -> Result<(), EvalError> {
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            Err(EvalError::new(format!("IPv4-mapped IPv6 address {} is not allowed", quote(text))))
        }
        _ => Ok(()),
    }
}

fn parse<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    parse_ip(text(whole)?).map(Value::opaque)
}

fn is_ip<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    Ok(Value::Bool(parse_ip(text(whole)?).is_ok()))
}

fn is_canonical<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let whole = text(whole)?;
    Ok(Value::Bool(parse_ip(whole)?.to_string() == **whole))
}

fn canonical_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    Some(price::costing(price::double_traversal_cost(site.size(0))))
}

fn family<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::Int(if ip.is_ipv4() { 4 } else { 6 }))
}

fn is_unspecified<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::Bool(ip.is_unspecified()))
}

fn is_loopback<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::Bool(ip.is_loopback()))
}

fn is_link_local_multicast<'a>(
    _: &mut Context<'_>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| {
        Value::Bool(match ip {
            IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
            IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
        })
    })
}

fn is_link_local_unicast<'a>(
    _: &mut Context<'_>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::Bool(is_link_local(ip)))
}

fn is_global_unicast<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| {
        let is_other = ip.is_unspecified()
            || ip == IpAddr::V4(Ipv4Addr::BROADCAST)
            || ip.is_loopback()
            || ip.is_multicast()
            || is_link_local(ip);
        Value::Bool(!is_other)
    })
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn to_string<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::string(ip.to_string()))
}

fn address(args: &[Value<'_>]) -> Result<IpAddr, EvalError> {
    let [ip] = exactly(args)?;
    opaque::<IpAddr>(ip).copied()
}
