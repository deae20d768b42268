//! What every custom resource looks like before its own schema is asked: kind, version, metadata,
//! and anything else.
//!
//! Bodies and stored bytes are decoded into this one struct, so that metadata is checked as that of
//! built-in kinds and everything else stays as it was sent. Fields are written in the order of
//! their names, as upstream writes custom resources.

use std::sync::LazyLock;

use orlop_machinery::defaults::Defaults;
use orlop_machinery::schema::{Schema, StructId};

/// The struct of any custom resource.
pub(super) struct Envelope {
    /// The schema that has it.
    pub schema: Schema,
    /// The struct.
    pub id: StructId,
    /// The struct of its metadata.
    pub metadata: StructId,
    /// None: custom resources bring their own.
    pub defaults: Defaults,
}

/// The one envelope.
pub(super) fn envelope() -> &'static Envelope {
    static ENVELOPE: LazyLock<Envelope> = LazyLock::new(|| {
        let schema = orlop_kinds::schema::custom_resources();
        let find = |name: &str| schema.find(name).expect("the schema of custom resources has it");
        Envelope {
            id: find(orlop_kinds::schema::CUSTOM_RESOURCE),
            metadata: find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
            defaults: Defaults::new(&schema, []),
            schema,
        }
    });
    &ENVELOPE
}
