//! The structs of `meta.k8s.io` in which answers are wrapped.

use std::sync::OnceLock;

use orlop_machinery::schema::{Schema, StructId};

/// Where they are in the schema of the built-in kinds.
pub(super) struct Metas {
    pub schema: &'static Schema,
    pub list_meta: StructId,
    pub partial_object_metadata: StructId,
    pub status: StructId,
    pub column: StructId,
    pub row: StructId,
}

/// See [`Metas`].
pub(super) fn metas() -> &'static Metas {
    static METAS: OnceLock<Metas> = OnceLock::new();
    METAS.get_or_init(|| {
        let schema = orlop_kinds::schema();
        let find = |name: &str| {
            let name = format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}");
            schema.find(&name).expect("the schema has the structs of meta.k8s.io")
        };
        Metas {
            schema,
            list_meta: find("ListMeta"),
            partial_object_metadata: find("PartialObjectMetadata"),
            status: find("Status"),
            column: find("TableColumnDefinition"),
            row: find("TableRow"),
        }
    })
}
