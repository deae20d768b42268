//! What a server does to the metadata of an object before it deletes it.
//!
//! After `staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go` and the deletion of
//! `.../registry/generic/registry/store.go`. The order: [`check_options`],
//! [`check_preconditions`], for kinds that end by themselves [`end_gracefully`], then the
//! finalizers ([`finalizers_for_deletion`]), and [`mark_as_deleting`] if there are some and there
//! is no grace.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::{FINALIZER_FOREGROUND, FINALIZER_ORPHAN, Meta, MetaMut, validate_delete_options};
use crate::field::Errors;
use crate::group_version::{GroupKind, GroupResource};
use crate::node::Node;
use crate::status::Status;
use crate::time::Time;
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

/// How an object ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// At once, or when its finalizers are gone.
    Now,
    /// By itself, within its grace period: the object was changed to say so.
    Graceful,
    /// It is ending already, and not later than it is to.
    Pending,
}

/// The options of a delete are well-formed.
///
/// # Errors
///
/// When they are not.
pub fn check_options(options: &Value) -> Result<(), Status> {
    let mut errors = Errors::new();
    validate_delete_options(&Node::root(options), &mut errors);
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(&GroupKind::new("meta.k8s.io", "DeleteOptions"), "", &errors))
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

/// The same in the words for kinds whose end begins in a way of its own. Conflicts name the
/// resource.
///
/// # Errors
///
/// When it is another object or another version of it.
pub fn check_preconditions_of_said_end(
    object: &Value,
    options: &Value,
    resource: &GroupResource,
) -> Result<(), Status> {
    let meta = Meta::of(object);
    let preconditions = options.at("preconditions");
    let checks = [
        ("uid", "UID", meta.uid()),
        ("resourceVersion", "ResourceVersion", meta.resource_version()),
    ];
    for (field, noun, current) in checks {
        let wanted = preconditions.at(field).as_str().filter(|wanted| *wanted != current);
        if let Some(wanted) = wanted {
            let why = format!(
                "Precondition failed: {noun} in precondition: {wanted}, {noun} in object meta: \
                 {current}"
            );
            return Err(Status::conflict(resource, meta.name(), why));
        }
    }
    Ok(())
}

/// Starts, or hurries, the end of an object of a kind that ends by itself.
///
/// `has_grace` says whether this object gets time to end, and sets the grace period of the options
/// where they have none.
///
/// # Errors
///
/// When it says so but sets none, which is a fault of the server, or when the object has a time
/// that is none.
pub fn end_gracefully(
    object: &mut Value,
    options: &mut Value,
    now: Time,
    has_grace: impl FnOnce(&Value, &mut Value) -> bool,
) -> Result<Ending, Status> {
    raise_negative(options, "gracePeriodSeconds");
    if let Some(metadata) = object.get_mut("metadata") {
        raise_negative(metadata, "deletionGracePeriodSeconds");
    }
    if let Some(deletion) = Meta::of(object).deletion_timestamp() {
        let deletion = Time::from_str(deletion).map_err(Status::internal_error)?;
        return Ok(hurry(object, options, deletion, now));
    }
    if !has_grace(object, options) {
        return Ok(Ending::Now);
    }
    let Some(grace) = options.at("gracePeriodSeconds").as_int() else {
        return Err(Status::internal_error("options.GracePeriodSeconds should not be nil"));
    };
    let mut meta = MetaMut::of(object);
    meta.set_deletion_timestamp(Some(&later(now, grace).to_string()));
    meta.set_deletion_grace_period_seconds(Some(grace));
    // What controllers do about the object changes with this.
    let generation = meta.read().generation();
    if generation > 0 {
        meta.set_generation(generation.saturating_add(1));
    }
    Ok(Ending::Graceful)
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
    let before: BTreeSet<&str> = meta.finalizers().collect();
    let after: BTreeSet<&str> = finalizers.iter().map(Str::as_str).collect();
    let is_same = before == after;
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

/// An object that is ending may end sooner, but not later.
fn hurry(object: &mut Value, options: &mut Value, deletion: Time, now: Time) -> Ending {
    let mut meta = MetaMut::of(object);
    let grace = match meta.read().deletion_grace_period_seconds() {
        // A delete that broke off between its two steps is taken up again.
        None | Some(0) => return Ending::Now,
        Some(grace) => grace,
    };
    let Some(mut wanted) = options.at("gracePeriodSeconds").as_int() else {
        options.set("gracePeriodSeconds", grace);
        return Ending::Pending;
    };
    if wanted >= grace {
        return Ending::Pending;
    }
    let mut deletion = later(later(deletion, grace.saturating_neg()), wanted);
    if deletion < now {
        // The wanted period is over. Unless there was to be none, somebody else still ends it.
        deletion = now;
        wanted = wanted.min(1);
    }
    meta.set_deletion_timestamp(Some(&deletion.to_string()));
    meta.set_deletion_grace_period_seconds(Some(wanted));
    Ending::Graceful
}

/// A grace period below zero is the shortest one.
fn raise_negative(value: &mut Value, field: &str) {
    if value.at(field).int() < 0 {
        value.set(field, 1);
    }
}

fn later(time: Time, seconds: i64) -> Time {
    Time::from_unix(time.unix_seconds().saturating_add(seconds))
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
    fn kinds_whose_end_is_said_have_words_of_their_own() {
        let check = |preconditions: &str, expect: &str| {
            let object = parse(r#"{"metadata":{"name":"a","uid":"1","resourceVersion":"5"}}"#);
            let options = parse(&format!(r#"{{"preconditions":{preconditions}}}"#));
            let resource = GroupResource::new("", "namespaces");
            let seen = check_preconditions_of_said_end(&object, &options, &resource);
            assert_eq!(seen.map_or_else(|status| status.message, |()| String::new()), expect);
        };
        check("null", "");
        check(r#"{"uid":"1","resourceVersion":"5"}"#, "");
        let start = "Operation cannot be fulfilled on namespaces \"a\": Precondition failed: ";
        check(
            r#"{"uid":"2","resourceVersion":"4"}"#,
            &format!("{start}UID in precondition: 2, UID in object meta: 1"),
        );
        check(
            r#"{"resourceVersion":"4"}"#,
            &format!(
                "{start}ResourceVersion in precondition: 4, ResourceVersion in object meta: 5"
            ),
        );
    }

    #[test]
    fn options_are_checked_as_an_object_of_their_own() {
        assert_eq!(check_options(&parse("{}")), Ok(()));
        let status = check_options(&parse(r#"{"dryRun":["x"]}"#)).unwrap_err();
        let expect = "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: \
                      [\"x\"]: supported values: \"All\"";
        assert_eq!((status.code, status.message.as_str()), (422, expect));
    }

    /// Of metadata and the grace period of the options, what becomes of both. The kind gives 30
    /// seconds.
    fn check_ending(before: &str, wanted: Option<i64>, ending: Ending, after: &str, grace: i64) {
        let mut object = parse(&format!(r#"{{"metadata":{before}}}"#));
        let mut options = Value::from([("gracePeriodSeconds", wanted)]);
        let now = Time::from_str("2026-01-01T00:01:00Z").unwrap();
        let has_grace = |_: &Value, options: &mut Value| {
            options.set_default("gracePeriodSeconds", 30);
            true
        };
        let seen = end_gracefully(&mut object, &mut options, now, has_grace);
        assert_eq!(seen, Ok(ending), "{before}");
        assert_eq!(json::to_string(object.at("metadata")), after);
        assert_eq!(options.at("gracePeriodSeconds").int(), grace);
    }

    fn ending_at(time: &str, grace: i64) -> String {
        let time = format!("2026-01-01T00:{time}Z");
        format!(r#"{{"deletionGracePeriodSeconds":{grace},"deletionTimestamp":"{time}"}}"#)
    }

    #[test]
    fn an_object_gets_time_to_end() {
        let graceful = Ending::Graceful;
        check_ending("{}", None, graceful, &ending_at("01:30", 30), 30);
        check_ending("{}", Some(5), graceful, &ending_at("01:05", 5), 5);
        check_ending("{}", Some(0), graceful, &ending_at("01:00", 0), 0);
        check_ending("{}", Some(-9), graceful, &ending_at("01:01", 1), 1);
        let counted = ending_at("01:30", 30).replace('}', r#","generation":3}"#);
        check_ending(r#"{"generation":2}"#, None, graceful, &counted, 30);
    }

    #[test]
    fn an_object_that_is_ending_may_only_end_sooner() {
        let before = ending_at("01:20", 30);
        check_ending(&before, None, Ending::Pending, &before, 30);
        check_ending(&before, Some(30), Ending::Pending, &before, 30);
        check_ending(&before, Some(20), Ending::Graceful, &ending_at("01:10", 20), 20);
        check_ending(&before, Some(5), Ending::Graceful, &ending_at("01:00", 1), 5);
        check_ending(&before, Some(0), Ending::Graceful, &ending_at("01:00", 0), 0);
        let broken_off = ending_at("01:20", 0);
        check_ending(&broken_off, Some(5), Ending::Now, &broken_off, 5);
        let without = r#"{"deletionTimestamp":"2026-01-01T00:01:20Z"}"#;
        check_ending(without, Some(5), Ending::Now, without, 5);
    }

    #[test]
    fn an_object_without_grace_ends_now() {
        let mut object = parse("{}");
        let seen = end_gracefully(&mut object, &mut Value::Null, Time::ZERO, |_, _| false);
        assert_eq!((seen, object), (Ok(Ending::Now), parse("{}")));
        let seen = end_gracefully(&mut Value::Null, &mut Value::Null, Time::ZERO, |_, _| true);
        let expect = "Internal error occurred: options.GracePeriodSeconds should not be nil";
        assert_eq!(seen.unwrap_err().message, expect);
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
