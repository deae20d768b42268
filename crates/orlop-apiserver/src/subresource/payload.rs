//! Kinds that no resource has: they are only sent to a subresource of something else, or come
//! from it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use orlop_kinds::scale;
use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::shared::Shared;

use crate::definition::{Definition, Storage};
use crate::form::AsShown;

/// `autoscaling/v1` Scale.
pub(super) static SCALE: LazyLock<Arc<Definition>> = LazyLock::new(|| define(&Scale));
/// `policy/v1` Eviction.
pub(super) static EVICTION: LazyLock<Arc<Definition>> = LazyLock::new(|| define(&Eviction));

struct Scale;

impl Kind for Scale {
    fn resource(&self) -> Resource {
        let package = "io.k8s.api.autoscaling.v1";
        Resource::namespaced(("autoscaling", "v1"), "Scale", "scales", package)
    }

    fn is_stored(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        scale::COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        scale::row(context, object)
    }
}

impl Rules for Scale {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        scale::validate_scale(object, errors);
    }
}

struct Eviction;

impl Kind for Eviction {
    fn resource(&self) -> Resource {
        Resource::namespaced(("policy", "v1"), "Eviction", "evictions", "io.k8s.api.policy.v1")
    }

    fn is_stored(&self) -> bool {
        false
    }
}

// Its rules stand where the pod has its endpoint.
impl Rules for Eviction {}

fn define(kind: &'static dyn Kind) -> Arc<Definition> {
    let resource = kind.resource();
    let schema = orlop_kinds::schema();
    let id = schema.find(&resource.schema_name).expect("the table has every built-in struct");
    let api_version = resource.api_version();
    Arc::new(Definition {
        kind: Shared::Static(kind),
        schema: Shared::Static(schema),
        id,
        defaults: Shared::Static(orlop_kinds::catalog().defaults()),
        form: Shared::Static(&AsShown),
        storage: Storage { prefix: String::new(), id, api_version: api_version.clone() },
        api_version,
        resource,
        is_retired: AtomicBool::new(false),
    })
}
