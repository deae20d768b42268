//! The object of which nobody has set anything.
//!
//! What Go makes of a type: fields that are always written are there with their zero value, and so
//! are structs that are no pointers. A creation is an update of this object, so its writer does not
//! come to manage what is there anyway.

use super::typing::Typing;
use crate::schema::{Omit, Schema, StructId, Type};
use crate::value::{Map, Value};

/// The zero object of a kind.
pub(super) fn zero_object(typing: Typing<'_>, api_version: &str, kind: &str) -> Value {
    let mut object = match typing {
        Typing::Deduced => Value::Map(Map::new()),
        Typing::Struct(schema, id) => zero_struct(schema, id, 0),
    };
    object.set("apiVersion", api_version);
    object.set("kind", kind);
    object
}

/// Deeper nesting of structs that are no pointers is not followed: in Go there is none.
const DEPTH_MAX: usize = 32;

fn zero_struct(schema: &Schema, id: StructId, depth: usize) -> Value {
    let mut map = Map::new();
    if depth > DEPTH_MAX {
        return Value::Map(map);
    }
    for field in &schema.get(id).fields {
        let value = match &field.ty {
            Type::Struct(id) if !field.is_pointer => zero_struct(schema, *id, depth + 1),
            _ => field.zero(),
        };
        let is_omitted = match field.omit {
            Omit::Never => false,
            Omit::Empty => field.is_pointer || !is_struct_in_go(&field.ty),
            Omit::Zero => true,
        };
        if !is_omitted {
            map.insert(field.name.clone(), value);
        }
    }
    Value::Map(map)
}

/// Whether Go holds it as a struct, which `omitempty` never leaves out.
fn is_struct_in_go(ty: &Type) -> bool {
    match ty {
        Type::Struct(_)
        | Type::StructOr(..)
        | Type::Time
        | Type::MicroTime
        | Type::Duration
        | Type::Quantity
        | Type::IntOrString
        | Type::Any
        | Type::Raw
        | Type::FieldSet => true,
        Type::Bool
        | Type::Int32
        | Type::Int64
        | Type::Float64
        | Type::String
        | Type::Bytes
        | Type::List(_)
        | Type::Map(_) => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;
    use crate::schema::parse;

    const TEXT: &str = "\
package p
Object
 kind string - omit
 apiVersion string - omit
 metadata Meta 1 omit
 spec Spec 2 omit
 status *Spec 3 omit
Meta
 name string 1 omit
 creationTimestamp time 8 omitzero
Spec
 containers [string] 1
 count int32 2
 text string 3
 flag bool 4 omit
 port intstr 5 omit
 size quantity 6 omit
 since time 7 omit
 parts Parts 8 omitzero
Parts
 a string 1
";

    #[test]
    fn the_zero_object_is_what_go_makes_of_the_type() {
        let schema = parse(&[TEXT]).unwrap();
        let typing = Typing::Struct(&schema, schema.find("p.Object").unwrap());
        let expect = concat!(
            r#"{"apiVersion":"v1","kind":"O","metadata":{},"spec":{"containers":null,"count":0,"#,
            r#""port":0,"since":null,"size":"0","text":""}}"#,
        );
        assert_eq!(json::to_string(&zero_object(typing, "v1", "O")), expect);
        let expect = r#"{"apiVersion":"v1","kind":"O"}"#;
        assert_eq!(json::to_string(&zero_object(Typing::Deduced, "v1", "O")), expect);
    }
}
