//! Bytes as text: base64.
//!
//! After `ext/encoders.go` of cel-go. Kubernetes does not have it; expressions of our own do.

use orlop_machinery::bytes;

use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, T};
use crate::value::Value;

use super::argument::{exactly, text};

/// The library of encodings.
pub static ENCODERS: Library = Library {
    name: "cel.lib.ext.encoders",
    functions: &[
        Function {
            name: "base64.decode",
            overloads: &[Overload::global("base64_decode_string", &[T::String], T::Bytes, decode)],
        },
        Function {
            name: "base64.encode",
            overloads: &[Overload::global("base64_encode_bytes", &[T::Bytes], T::String, encode)],
        },
    ],
    constants: &[],
    macros: &[],
};

/// What fills up the end may be missing.
fn decode<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [encoded] = exactly(args)?;
    let encoded = text(encoded)?;
    context.work.make(encoded.len())?;
    if let Ok(decoded) = bytes::decode(encoded) {
        return Ok(Value::bytes(decoded));
    }
    decode_raw(encoded)
        .map(Value::bytes)
        .map_err(|at| EvalError::new(format!("illegal base64 data at input byte {at}")))
}

/// Without what fills up the end. The error is where the first wrong byte is, as Go counts.
fn decode_raw(text: &str) -> Result<Vec<u8>, usize> {
    let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if let Some(at) = text.bytes().position(|byte| !is_sign(&byte) && !is_line_end(&byte)) {
        return Err(at);
    }
    let signs = text.bytes().filter(is_sign).count();
    let missing = match signs % 4 {
        0 => 0,
        1 => return Err(text.len() - 1),
        more => 4 - more,
    };
    bytes::decode(&(text.to_owned() + &"=".repeat(missing))).map_err(|wrong| wrong.at)
}

fn encode<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::Bytes(plain)] = exactly(args)? else { return Err(EvalError::NoSuchOverload) };
    context.work.make(plain.len().saturating_mul(2))?;
    Ok(Value::string(bytes::encode(plain)))
}
