//! What all versions have in common.
//!
//! Upstream works on a form of the object in which a schema, subresources, columns and selectable
//! fields that all versions share stand once, in the spec. So that is where its errors say that
//! they are. After `Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_...` in
//! `pkg/apis/apiextensions/v1/conversion.go`.

use orlop_machinery::Value;
use orlop_machinery::value::NULL;

/// The fields that stand in the spec and not in the versions. Null where versions differ.
pub(super) struct Lifted<'a> {
    pub(super) schema: &'a Value,
    pub(super) subresources: &'a Value,
    pub(super) columns: &'a Value,
    pub(super) selectable_fields: &'a Value,
    pub(super) is_schema_common: bool,
    pub(super) are_subresources_common: bool,
    pub(super) are_columns_common: bool,
    pub(super) are_selectable_fields_common: bool,
}

impl<'a> Lifted<'a> {
    /// Of the spec of a definition.
    pub(super) fn of(spec: &'a Value) -> Lifted<'a> {
        let versions = spec.at("versions").list();
        let common = |field: &str| match versions {
            [] => (&NULL, true),
            [first, rest @ ..] => {
                let value = first.at(field);
                let is_common = rest.iter().all(|version| version.at(field) == value);
                (if is_common { value } else { &NULL }, is_common)
            }
        };
        let (schema, is_schema_common) = common("schema");
        let (subresources, are_subresources_common) = common("subresources");
        let (columns, are_columns_common) = common("additionalPrinterColumns");
        let (selectable_fields, are_selectable_fields_common) = common("selectableFields");
        Lifted {
            schema,
            subresources,
            columns,
            selectable_fields,
            is_schema_common,
            are_subresources_common,
            are_columns_common,
            are_selectable_fields_common,
        }
    }
}

/// The schemas of a definition: the common one, or one of each version.
pub(super) fn schemas(object: &Value) -> Vec<&Value> {
    let spec = object.at("spec");
    let lifted = Lifted::of(spec);
    let versions = spec.at("versions").list().iter().map(|version| version.at("schema"));
    let schemas: Vec<&Value> =
        if lifted.is_schema_common { vec![lifted.schema] } else { versions.collect() };
    schemas.into_iter().map(|schema| schema.at("openAPIV3Schema")).collect()
}
