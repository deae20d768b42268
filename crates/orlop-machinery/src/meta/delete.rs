//! What a server does to the metadata of an object before it deletes it.
//!
//! After `staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go` and the deletion of
//! `.../registry/generic/registry/store.go`.

use super::{FINALIZER_FOREGROUND, FINALIZER_ORPHAN, Meta, MetaMut};
use crate::group_version::GroupResource;
use crate::status::Status;
use crate::value::{Str, Value};

/// What becomes of dependents when a delete does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GarbageCollection {
    /// They are deleted after the object.
    #[default]
    DeleteDependents,
    /// They are cut loose.
    OrphanDependents,
    /// Objects of this kind have none.
    Unsupported,
}

/// The object is the one that the options of the delete mean. Conflicts name its kind.
///
/// # Errors
///
/// When it is another object or another version of it.
pub fn check_preconditions(
    object: &Value,
    options: &Value,
    kind: &GroupResource,
) -> Result<(), Status> {
    let meta = Meta::of(object);
    let preconditions = options.at("preconditions");
    let checks = [
        ("uid", "UID", meta.uid(), "deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", meta.resource_version(), "modified"),
    ];
    for (field, noun, current, fate) in checks {
        let Some(wanted) = preconditions.at(field).as_str().filter(|wanted| *wanted != current)
        else {
            continue;
        };
        let why = format!(
            "the {noun} in the precondition ({wanted}) does not match the {noun} in record \
             ({current}). The object might have been {fate}"
        );
        return Err(Status::conflict(kind, meta.name(), why));
    }
    Ok(())
}

/// The finalizers of the object once it is being deleted with these options; none when they stay
/// as they are.
#[must_use]
pub fn finalizers_for_deletion(
    object: &Value,
    options: &Value,
    default: GarbageCollection,
) -> Option<Vec<Str>> {
    let meta = Meta::of(object);
    let fate = dependents_fate(meta, options, default);
    let is_collectors = |name: &str| name == FINALIZER_ORPHAN || name == FINALIZER_FOREGROUND;
    let mut finalizers: Vec<Str> =
        meta.finalizers().filter(|name| !is_collectors(name)).map(Str::new).collect();
    finalizers.extend(fate.map(Str::new));
    let is_same = meta.finalizers().all(|name| finalizers.iter().any(|new| new == name))
        && finalizers.iter().all(|new| meta.finalizers().any(|name| new == name));
    (!is_same).then_some(finalizers)
}

/// Marks an object as being deleted, without grace: it waits for its finalizers only.
pub fn mark_as_deleting(object: &mut Value, now: &str) {
    let mut meta = MetaMut::of(object);
    let generation = meta.read().generation();
    let deletion = meta.read().deletion_timestamp();
    let is_first = deletion.is_none();
    // Times to the second in UTC compare as texts.
    let is_later = deletion.is_none_or(|deletion| deletion > now);
    if is_first && generation > 0 {
        meta.set_generation(generation.saturating_add(1));
    }
    if is_later {
        meta.set_deletion_timestamp(Some(now));
    }
    meta.set_deletion_grace_period_seconds(Some(0));
}

/// The finalizer of the garbage collector that the object must have: what the options say, else
/// what the object has, else what its kind does.
fn dependents_fate(
    meta: Meta<'_>,
    options: &Value,
    default: GarbageCollection,
) -> Option<&'static str> {
    if default == GarbageCollection::Unsupported {
        return None;
    }
    if let Some(orphan) = options.at("orphanDependents").as_bool() {
        return orphan.then_some(FINALIZER_ORPHAN);
    }
    match options.at("propagationPolicy").str() {
        "Orphan" => return Some(FINALIZER_ORPHAN),
        "Foreground" => return Some(FINALIZER_FOREGROUND),
        "Background" => return None,
        _ => {}
    }
    for name in meta.finalizers() {
        match name {
            FINALIZER_ORPHAN => return Some(FINALIZER_ORPHAN),
            FINALIZER_FOREGROUND => return Some(FINALIZER_FOREGROUND),
            _ => {}
        }
    }
    (default == GarbageCollection::OrphanDependents).then_some(FINALIZER_ORPHAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn parse(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_delete_may_mean_one_object_and_one_version() {
        let check = |preconditions: &str, expect: &str| {
            let object = parse(r#"{"metadata":{"name":"a","uid":"1","resourceVersion":"5"}}"#);
            let options = parse(&format!(r#"{{"preconditions":{preconditions}}}"#));
            let kind = GroupResource::new("apps", "Deployment");
            let seen = check_preconditions(&object, &options, &kind);
            assert_eq!(seen.map_or_else(|status| status.message, |()| String::new()), expect);
        };
        check("null", "");
        check(r#"{"uid":"1","resourceVersion":"5"}"#, "");
        let start = "Operation cannot be fulfilled on Deployment.apps \"a\": the ";
        check(
            r#"{"uid":"2"}"#,
            &format!(
                "{start}UID in the precondition (2) does not match the UID in record (1). The \
                 object might have been deleted and then recreated"
            ),
        );
        check(
            r#"{"uid":"1","resourceVersion":"4"}"#,
            &format!(
                "{start}ResourceVersion in the precondition (4) does not match the \
                 ResourceVersion in record (5). The object might have been modified"
            ),
        );
    }

    #[test]
    fn options_then_the_object_then_the_kind_say_what_becomes_of_dependents() {
        use GarbageCollection::{DeleteDependents, OrphanDependents, Unsupported};
        let check = |finalizers: &str, options: &str, default, expect: Option<&[&str]>| {
            let object = parse(&format!(r#"{{"metadata":{{"finalizers":{finalizers}}}}}"#));
            let seen = finalizers_for_deletion(&object, &parse(options), default);
            let expect = expect.map(|names| names.iter().map(Str::new).collect());
            assert_eq!(seen, expect, "{finalizers} {options} {default:?}");
        };
        let orphan = r#"{"propagationPolicy":"Orphan"}"#;
        let foreground = r#"{"propagationPolicy":"Foreground"}"#;
        let background = r#"{"propagationPolicy":"Background"}"#;
        check("[]", "{}", DeleteDependents, None);
        check("[]", "{}", OrphanDependents, Some(&["orphan"]));
        check("[]", orphan, DeleteDependents, Some(&["orphan"]));
        check("[]", foreground, OrphanDependents, Some(&["foregroundDeletion"]));
        check("[]", background, OrphanDependents, None);
        check("[]", r#"{"orphanDependents":true}"#, DeleteDependents, Some(&["orphan"]));
        check("[]", r#"{"orphanDependents":false}"#, OrphanDependents, None);
        check(r#"["orphan"]"#, "{}", DeleteDependents, None);
        check(r#"["orphan"]"#, background, DeleteDependents, Some(&[]));
        check(
            r#"["orphan","a/b"]"#,
            foreground,
            DeleteDependents,
            Some(&["a/b", "foregroundDeletion"]),
        );
        check(r#"["foregroundDeletion"]"#, "{}", OrphanDependents, None);
        check(r#"["orphan"]"#, orphan, Unsupported, Some(&[]));
        check("[]", orphan, Unsupported, None);
    }

    #[test]
    fn an_object_that_waits_for_finalizers_has_no_grace() {
        let check = |before: &str, after: &str| {
            let mut object = parse(&format!(r#"{{"metadata":{before}}}"#));
            mark_as_deleting(&mut object, "2026-01-01T00:00:10Z");
            assert_eq!(json::to_string(object.at("metadata")), after);
        };
        let now = r#""deletionGracePeriodSeconds":0,"deletionTimestamp":"2026-01-01T00:00:10Z""#;
        check("{}", &format!("{{{now}}}"));
        check(r#"{"generation":2}"#, &format!(r#"{{{now},"generation":3}}"#));
        let later = r#"{"deletionTimestamp":"2026-01-01T00:00:40Z","generation":2}"#;
        check(later, &format!(r#"{{{now},"generation":2}}"#));
        let earlier = r#"{"deletionTimestamp":"2026-01-01T00:00:09Z"}"#;
        check(
            earlier,
            r#"{"deletionGracePeriodSeconds":0,"deletionTimestamp":"2026-01-01T00:00:09Z"}"#,
        );
    }
}
