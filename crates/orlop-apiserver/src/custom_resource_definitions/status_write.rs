//! Writing the status of a definition, through the registry, as the server itself.

use orlop_machinery::Value;
use orlop_machinery::meta::{Meta, MetaMut};
use orlop_machinery::status::Status;
use orlop_machinery::time::Time;
use orlop_machinery::{Str, kind::Rules};

use orlop_kinds::custom_resource_definition_conditions::Condition;

use super::terminating;
use super::wanted::Wanted;
use crate::call::Warnings;
use crate::definition::Definition;
use crate::objects::FIELD_MANAGER;
use crate::registry::{self, Change, Manager, Write};
use crate::server::Inner;
use crate::user::User;

/// What is written about a definition.
pub(super) enum StatusChange {
    /// A decision about this version of it.
    Decision { revision: u64, wanted: Wanted },
    /// How far its end is, if it is this one and ending.
    Progress { uid: Str, condition: Condition },
    /// That its objects are gone: nothing of ours keeps it any more.
    Finish { uid: Str, condition: Condition },
}

/// Writes to the status of a definition. Returns whether that changed anything.
///
/// # Errors
///
/// A conflict when the definition is not what the change is about any more; not found when it is
/// gone; and whatever else keeps somebody from writing.
pub(super) async fn write_status(
    server: &Inner,
    definition: &Definition,
    name: &str,
    change: StatusChange,
) -> Result<bool, Status> {
    let status = definition.subresource("status").and_then(|status| status.rules.as_ref());
    let rules: &dyn Rules = &**status.ok_or_else(|| Status::internal_error("no status"))?;
    let (user, warnings) = (User::apiserver(), Warnings::default());
    let write = Write {
        definition,
        rules,
        subresource: "status",
        namespace: "",
        user: &user,
        is_dry_run: false,
        warnings: &warnings,
    };
    let now = Time::from_unix(server.now_seconds()).to_string();
    let manager = server.manager(&write, FIELD_MANAGER);
    let mut change = Writing { change, definition, manager, now, before: String::new() };
    let updated = registry::update(server, &write, name, &mut change).await?;
    Ok(change.before != updated.object.revision().to_string())
}

struct Writing<'a> {
    change: StatusChange,
    definition: &'a Definition,
    manager: Manager<'a>,
    now: String,
    /// The resource version of what was changed.
    before: String,
}

impl Change for Writing<'_> {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        let meta = Meta::of(live);
        meta.resource_version().clone_into(&mut self.before);
        let is_meant = match &self.change {
            StatusChange::Decision { revision, .. } => {
                meta.resource_version() == revision.to_string()
            }
            StatusChange::Progress { uid, .. } | StatusChange::Finish { uid, .. } => {
                meta.uid() == uid && terminating::is_ending(live)
            }
        };
        if !is_meant {
            let resource = self.definition.group_resource();
            return Err(Status::conflict(&resource, meta.name(), "it has changed"));
        }
        let mut new = live.clone();
        match &self.change {
            StatusChange::Decision { wanted, .. } => wanted.apply(&mut new, &self.now),
            StatusChange::Progress { condition, .. } => condition.set(&mut new, &self.now),
            StatusChange::Finish { condition, .. } => {
                condition.set(&mut new, &self.now);
                MetaMut::of(&mut new).set_finalizers(terminating::other_finalizers(live));
            }
        }
        Ok(self.manager.update(live, new))
    }
}
