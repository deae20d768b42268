//! What default values must be like: as if they had been sent and had passed.
//!
//! After
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go`.

use super::accept::Dialect;
use super::embedded::validate_resource;
use super::surroundings::Surroundings;
use super::{Malformed, Metadata, Position, Shape, Structural};
use crate::field::{At, ErrorKind, Errors, FieldError, Path};
use crate::value::Value;

/// Reports what rules in CEL say about a default value: its schema, the value, its path.
pub type RuleCheck<'c> = dyn FnMut(&Structural, &Value, &Path<'_>, &mut Errors) + 'c;

/// How to look at default values.
pub struct DefaultRules<'a, 'c> {
    /// The struct of metadata.
    pub metadata: Metadata<'a>,
    /// Whether they may have fields that the schema does not know: only old definitions may.
    pub allows_unknown_fields: bool,
    /// Asked when all else is fine.
    pub check_rules: &'c mut RuleCheck<'c>,
}

impl Structural {
    /// Reports what is wrong with the default values of the schema of an object.
    pub fn validate_defaults(
        &self,
        rules: &mut DefaultRules<'_, '_>,
        path: &Path<'_>,
        errors: &mut Errors,
    ) {
        rules.schema(self, Surroundings::of_object(self), path, errors);
    }
}

impl DefaultRules<'_, '_> {
    fn schema<'s>(
        &mut self,
        schema: &'s Structural,
        around: Surroundings<'s>,
        path: &Path<'_>,
        errors: &mut Errors,
    ) {
        let around = around.enter(schema);
        if let Some(default) = &schema.default {
            let path = path.child("default");
            if around.is_inside_meta() {
                self.inside_meta((schema, default), &around, &path, errors);
            } else {
                let position =
                    if around.is_of_object() { Position::Root } else { Position::Inside };
                self.value((schema, position), default, &path, errors);
            }
        }
        // Values of maps have no defaults that count.
        if let Some(items) = schema.items() {
            self.schema(items, around.item(), &path.child("items"), errors);
        }
        if let Some(Shape::Object { properties, .. }) = schema.object_shape() {
            let path = path.child("properties");
            for (name, property) in properties {
                self.schema(property, around.field(name), &path.key(name), errors);
            }
        }
    }

    /// A default of a field of metadata: the metadata with it must be fine.
    fn inside_meta(
        &mut self,
        (schema, default): (&Structural, &Value),
        around: &Surroundings<'_>,
        path: &Path<'_>,
        errors: &mut Errors,
    ) {
        let mut object = around.surround(default.clone());
        for (field, value) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
            if object.get(field).is_none() {
                object.set(field, value);
            }
        }
        let how = (self.metadata, Malformed::Refused);
        let wrong = match around.root().coerce(&mut object, how, Position::Root) {
            Err(error) => Some(error.to_string()),
            Ok(_) => {
                let mut found = Errors::new();
                self.resources(around.root(), &object, &Path::root(), &mut found);
                aggregate(&found)
            }
        };
        match wrong {
            Some(wrong) => {
                let detail = format!("must result in valid metadata: {wrong}");
                errors.invalid_value(path, default.clone(), detail);
            }
            None => self.rest(schema, default, path, errors),
        }
    }

    fn value(
        &mut self,
        (schema, position): (&Structural, Position),
        default: &Value,
        path: &Path<'_>,
        errors: &mut Errors,
    ) {
        let mut coerced = default.clone();
        let how = (self.metadata, Malformed::Refused);
        let result = schema.coerce(&mut coerced, how, position);
        if !self.allows_unknown_fields {
            let mut pruned = default.clone();
            schema.prune(&mut pruned, position);
            if pruned != *default {
                let detail = "must not have unknown fields";
                errors.invalid_value(path, coerced.clone(), detail);
            }
        }
        if let Err(error) = result {
            errors.push(below(path, *error));
            return;
        }
        let before = errors.len();
        if position == Position::Root {
            self.resources(schema, &coerced, path, errors);
        } else {
            schema.validate_embedded(&coerced, self.metadata, path, errors);
        }
        if errors.len() == before {
            self.rest(schema, &coerced, path, errors);
        }
    }

    /// Embedded resources, the outermost of which is the value itself.
    fn resources(&self, schema: &Structural, value: &Value, path: &Path<'_>, errors: &mut Errors) {
        if let (Value::Map(map), false) = (value, schema.is_embedded_resource) {
            validate_resource(map, self.metadata, path, errors);
        }
        schema.validate_embedded(value, self.metadata, path, errors);
    }

    fn rest(&mut self, schema: &Structural, value: &Value, path: &Path<'_>, errors: &mut Errors) {
        let before = errors.len();
        schema.validate_as(value, Dialect::Default, path, errors);
        if errors.len() == before {
            (self.check_rules)(schema, value, path, errors);
        }
    }
}

/// An error about something below a path.
fn below(path: &impl At, error: FieldError) -> FieldError {
    let parent = path.path().to_string();
    let dot = if error.field.is_empty() || error.field.starts_with('[') { "" } else { "." };
    FieldError { kind: ErrorKind::Invalid, field: format!("{parent}{dot}{}", error.field), ..error }
}

/// Several errors as Go prints them as one; each different one once.
fn aggregate(errors: &Errors) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    for error in errors.list() {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("[{}]", several.join(", "))),
    }
}
