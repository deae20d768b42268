//! A schema with every type, and random values that nearly fit it, for tests.

use std::sync::LazyLock;

use crate::schema::{Schema, StructId, Type, parse};
use crate::value::{Str, Value};

const TEXT: &str = "package io.example.v1
Thing
 kind string - omit
 apiVersion string - omit
 metadata Meta 1 omit
 spec Spec 2 omit
 status Status 3 omit
Meta
 name string 1 omit
 created time 2 omitzero
 deleted *time 3 omit
 labels {string} 4 omit
 finalizers [string] 5 omit
 origin Origin 6 omitzero
Origin
 file string 1
 line *int32 2 omit
 parts [string] 3 omit
Spec
 replicas *int32 1 omit
 size int64 2
 ratio float64 3 omit
 paused bool 4 omit
 policy string 5 omit go=v1.Policy
 items [Item] 6
 pointers [*Item] 7 omit
 modes [string] 8 omit go=[]v1.Mode
 limits {quantity} 9 omit go=v1.Limits
 secret bytes 10 omit
 secrets {bytes} 11 omit
 at microtime 12 omit
 wait duration 13
 patience *duration 14 omit
 surge *intstr 15 omit
 port intstr 16 omit
 raw raw 17 omit
 choice *Spec|bool 18 omit
 choices *Spec|[] 19 omit
 needs {Spec|[string]} 20 omit
 owner *Item 21
 disk *Disk 22.1 omit in=Source
Item
 name string 1
 value quantity 2 omit
 extra {[string]} 3 omit go=map[string]v1.Extra
Disk
 path string 1
Status keeps
 phase string 1 omit
";

/// The schema.
pub(crate) fn schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| parse(&[TEXT]).expect("it is a schema"));
    &SCHEMA
}

/// The struct of the objects.
pub(crate) fn thing() -> StructId {
    schema().find("io.example.v1.Thing").expect("the schema has it")
}

/// A value that is mostly of the struct, the same for the same seed.
pub(crate) fn nearly(id: StructId, seed: u64) -> Value {
    Sampler { state: seed | 1 }.object(id, 0)
}

struct Sampler {
    state: u64,
}

impl Sampler {
    fn object(&mut self, id: StructId, depth: usize) -> Value {
        let mut entries = Vec::new();
        for field in &schema().get(id).fields {
            if self.below(3) == 0 {
                entries.push((field.name.clone(), self.value(&field.ty, depth + 1)));
            }
        }
        if self.below(20) == 0 {
            entries.push((Str::from("unknown"), self.anything()));
        }
        Value::Map(entries.into_iter().collect())
    }

    fn value(&mut self, ty: &Type, depth: usize) -> Value {
        if self.below(25) == 0 || depth > 8 {
            return self.anything();
        }
        match ty {
            Type::Bool => Value::Bool(self.below(2) == 0),
            Type::Int32 | Type::Int64 => Value::from(self.below(4)),
            Type::Float64 => self.pick(&["0", "1", "0.5", "1e30"]),
            Type::String => self.pick(&[r#""""#, r#""x""#]),
            Type::Bytes => self.pick(&[r#""""#, r#""eA==""#, r#""eB==""#, "[1,2]"]),
            Type::Time => {
                self.pick(&[r#""2020-01-01T02:00:00+02:00""#, r#""0001-01-01T00:00:00Z""#])
            }
            Type::MicroTime => self.pick(&[r#""2020-01-01T02:00:00.000001Z""#]),
            Type::Duration => self.pick(&[r#""90s""#, r#""0""#]),
            Type::Quantity => self.pick(&[r#""1.50""#, "1", "0.5", r#"" 1Ki""#]),
            Type::IntOrString => self.pick(&["0", "5", r#""5%""#, r#""""#]),
            Type::Any | Type::Raw | Type::FieldSet => self.anything(),
            Type::List(list) => {
                let count = self.below(3);
                Value::List((0..count).map(|_| self.value(&list.item, depth + 1)).collect())
            }
            Type::Map(map) => {
                let keys = [Str::from("a"), Str::from("b")].into_iter();
                let count = usize::try_from(self.below(3)).unwrap_or(0);
                keys.take(count)
                    .map(|key| (key, self.value(&map.value, depth + 1)))
                    .collect::<crate::value::Map>()
                    .into()
            }
            Type::Struct(id) | Type::StructOr(id, _) => self.object(*id, depth),
        }
    }

    fn anything(&mut self) -> Value {
        self.pick(&[
            "null",
            "true",
            "5",
            "99999999999",
            "1.5",
            r#""x""#,
            "[]",
            "{}",
            "[{}]",
            r#"{"a":1}"#,
        ])
    }

    fn pick(&mut self, texts: &[&str]) -> Value {
        let at = usize::try_from(self.below(texts.len() as i64)).unwrap_or(0);
        crate::json::parse(texts[at].as_bytes()).expect("it is JSON")
    }

    /// A number from 0 to below the bound (xorshift).
    fn below(&mut self, bound: i64) -> i64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 1).cast_signed() % bound
    }
}
