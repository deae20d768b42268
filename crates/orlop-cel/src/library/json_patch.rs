//! JSON patches that expressions make: `JSONPatch{op: "add", ...}`.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/jsonpatch.go` and
//! `.../pkg/cel/mutation/jsonpatch.go`. Not here: applying patches.

use crate::decl_type::{DeclType, Field, Shape};
use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, T};
use crate::value::Value;

use super::argument::{exactly, text};
use super::price;

/// The library of JSON patches.
pub static JSON_PATCH: Library = Library {
    name: "kubernetes.jsonpatch",
    functions: &[Function {
        name: "jsonpatch.escapeKey",
        overloads: &[Overload::global(
            "string_jsonpatch_escapeKey_string",
            &[T::String],
            T::String,
            escape_key,
        )
        .costs(price::traversal, price::copy_estimate)],
    }],
    constants: &[],
    macros: &[],
};

/// The name of the type.
pub const JSON_PATCH_TYPE: &str = "JSONPatch";

/// The type of an operation: for environments in which expressions make patches.
#[must_use]
pub fn json_patch_type() -> DeclType {
    let field = |name: &'static str, shape: Shape| Field {
        name: name.into(),
        json_name: name.into(),
        ty: DeclType::new(shape),
        is_required: false,
    };
    DeclType::object(
        JSON_PATCH_TYPE,
        vec![
            field("op", Shape::String),
            field("path", Shape::String),
            field("from", Shape::String),
            field("value", Shape::Dyn),
        ],
    )
}

fn escape_key<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [key] = exactly(args)?;
    let key = text(key)?;
    context.work.make(key.len().saturating_mul(2))?;
    Ok(Value::string(key.replace('~', "~0").replace('/', "~1")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::environment::{Environment, Functions};
    use crate::library::KUBERNETES;
    use crate::program::Bindings;

    fn check(expression: &str, expect: &str) {
        let mut libraries = KUBERNETES.to_vec();
        libraries.push(&JSON_PATCH);
        let mut environment = Environment::new(Arc::new(Functions::new(&libraries)));
        environment.add_types(&json_patch_type());
        let seen = match environment.compile(expression) {
            Ok(program) => match program.evaluate(&Bindings::new(), 1000).result {
                Ok(value) => value.to_string(),
                Err(error) => error.to_string(),
            },
            Err(issues) => issues.list[0].message.clone(),
        };
        assert_eq!(seen, expect, "{expression}");
    }

    #[test]
    fn patches_are_objects() {
        check("JSONPatch{op: 'add', path: '/a', value: 1}.op", "add");
        check("JSONPatch{op: 'add', path: '/a', value: {'b': [1]}}.value.b[0]", "1");
        check("has(JSONPatch{op: 'remove'}.from)", "false");
        check("[JSONPatch{op: 'test'}].map(p, p.op)[0]", "test");
        check(
            "JSONPatch{op: 1}",
            "expected type of field 'op' is 'string' but provided type is 'int'",
        );
        check("JSONPatch{nope: 1}", "undefined field 'nope'");
        check("'/a/' + jsonpatch.escapeKey('k8s.io/my~label')", "/a/k8s.io~1my~0label");
    }
}
