//! ComponentStatus: whether the parts of the control plane are well. Deprecated; only read.
//!
//! After `pkg/registry/core/componentstatus`.

use orlop_machinery::Value;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules, Verb};
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: ComponentStatus = ComponentStatus;

/// The kind.
pub(crate) struct ComponentStatus;

static COLUMNS: &[Column] =
    &[Column::NAME, Column::text("Status"), Column::text("Message"), Column::text("Error")];

impl Kind for ComponentStatus {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "ComponentStatus", "componentstatuses", PACKAGE)
            .short(&["cs"])
            .verbs(&[Verb::Get, Verb::List])
    }

    fn is_stored(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn row(&self, _context: &Context<'_>, object: &Value) -> Row {
        let conditions = object.at("conditions").list();
        let healthy = conditions.iter().find(|found| found.at("type").str() == "Healthy");
        let text = |field| healthy.map_or("", |condition| condition.at(field).str());
        let status = match healthy {
            None => "Unknown",
            Some(_) if text("status") == "True" => "Healthy",
            Some(_) => "Unhealthy",
        };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            status.into(),
            text("message").into(),
            text("error").into(),
        ])
    }
}

impl Rules for ComponentStatus {
    fn warn(&self, _context: &Context<'_>, _object: &Node<'_>, warnings: &mut Vec<String>) {
        warnings.push("v1 ComponentStatus is deprecated in v1.19+".into());
    }
}
