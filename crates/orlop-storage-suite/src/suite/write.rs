//! Writing one key: what is expected of it, and what becomes of its revisions.

use std::sync::Arc;

use orlop_storage::{Expect, Revision, Store, Txn};

use super::fixture::*;

/// A key that does not exist can be created.
pub async fn an_absent_key_can_be_created(store: Arc<dyn Store>) {
    let revision = commit(&store, Txn::new().put("/a", "1", Expect::Absent)).await;
    assert_record(&must_get(&store, "/a").await, "/a", "1", (revision, revision));
}

/// A key that exists is not created again, and the answer shows it.
pub async fn an_existing_key_is_not_created_again(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let (current, revision) = conflict(&store, Txn::new().put("/a", "2", Expect::Absent)).await;
    assert_eq!(revision, created);
    assert_record(current[0].as_ref().expect("/a exists"), "/a", "1", (created, created));
    assert_record(&must_get(&store, "/a").await, "/a", "1", (created, created));
}

/// An update that knows the current revision is made.
pub async fn an_update_of_the_current_revision_commits(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let second = commit(&store, Txn::new().put("/a", "2", Expect::Revision(created))).await;
    let third = commit(&store, Txn::new().put("/a", "3", Expect::Revision(second))).await;
    assert_record(&must_get(&store, "/a").await, "/a", "3", (created, third));
}

/// An update that knows an older revision is not made, and the answer shows the current record.
pub async fn an_update_of_a_stale_revision_conflicts(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let modified = put(&store, "/a", "2").await;
    let stale = Txn::new().put("/a", "3", Expect::Revision(created));
    let (current, _) = conflict(&store, stale).await;
    assert_record(current[0].as_ref().expect("/a exists"), "/a", "2", (created, modified));
    assert_record(&must_get(&store, "/a").await, "/a", "2", (created, modified));
}

/// An update of a key that does not exist conflicts and does not create it.
pub async fn an_update_of_an_absent_key_conflicts(store: Arc<dyn Store>) {
    let revision = put(&store, "/other", "1").await;
    let (current, at) =
        conflict(&store, Txn::new().put("/a", "1", Expect::Revision(revision))).await;
    assert_eq!((current, at), (vec![None], revision));
    assert_eq!(get(&store, "/a").await, None);
}

/// Without an expectation a put creates, and overwrites.
pub async fn an_unconditional_put_creates_and_overwrites(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let modified = put(&store, "/a", "2").await;
    assert_record(&must_get(&store, "/a").await, "/a", "2", (created, modified));
}

/// A delete that knows the current revision is made.
pub async fn a_delete_of_the_current_revision_commits(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let deleted = commit(&store, Txn::new().delete("/a", Expect::Revision(created))).await;
    assert_eq!(deleted, created.next());
    assert_eq!(get(&store, "/a").await, None);
}

/// A delete that knows an older revision is not made, and the answer shows the current record.
pub async fn a_delete_of_a_stale_revision_conflicts(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let modified = put(&store, "/a", "2").await;
    let (current, at) = conflict(&store, Txn::new().delete("/a", Expect::Revision(created))).await;
    assert_eq!(at, modified);
    assert_record(current[0].as_ref().expect("/a exists"), "/a", "2", (created, modified));
    assert!(get(&store, "/a").await.is_some(), "a delete that conflicts deletes nothing");
}

/// Without an expectation a delete removes what is there.
pub async fn an_unconditional_delete_removes(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    assert_eq!(delete(&store, "/a").await, created.next());
    assert_eq!(get(&store, "/a").await, None);
    assert_eq!(everything(&store).await.count, 0);
}

/// Deleting what is not there commits and changes nothing.
pub async fn a_delete_of_an_absent_key_changes_nothing(store: Arc<dyn Store>) {
    let before = put(&store, "/other", "1").await;
    assert_eq!(delete(&store, "/a").await, before, "it answers the newest revision");
    assert_eq!(newest(&store).await, before);
    delete(&store, "/other").await;
    let gone = newest(&store).await;
    assert_eq!(delete(&store, "/other").await, gone, "a second delete changes nothing");
    assert_eq!(newest(&store).await, gone);
}

/// A delete that expects a revision of a key that is not there conflicts.
pub async fn a_conditional_delete_of_an_absent_key_conflicts(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let deleted = delete(&store, "/a").await;
    let (current, at) = conflict(&store, Txn::new().delete("/a", Expect::Revision(created))).await;
    assert_eq!((current, at), (vec![None], deleted));
}

/// A delete that expects absence conflicts with what is there, and else changes nothing.
pub async fn a_delete_that_expects_absence_never_deletes(store: Arc<dyn Store>) {
    let before = put(&store, "/a", "1").await;
    let (current, _) = conflict(&store, Txn::new().delete("/a", Expect::Absent)).await;
    assert_eq!(current, [get(&store, "/a").await]);
    assert_eq!(commit(&store, Txn::new().delete("/b", Expect::Absent)).await, before);
}

/// A key created, updated, deleted and created again shows in its revisions what it went through.
pub async fn revisions_of_a_record_tell_its_life(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let updated = put(&store, "/a", "2").await;
    assert_record(&must_get(&store, "/a").await, "/a", "2", (created, updated));
    delete(&store, "/a").await;
    let again = commit(&store, Txn::new().put("/a", "3", Expect::Absent)).await;
    assert_record(&must_get(&store, "/a").await, "/a", "3", (again, again));
    let updated = put(&store, "/a", "4").await;
    assert_record(&must_get(&store, "/a").await, "/a", "4", (again, updated));
}

/// A writer that knows a former life of a key does not touch its present one.
pub async fn a_former_life_of_a_key_does_not_count(store: Arc<dyn Store>) {
    let first = put(&store, "/a", "same").await;
    delete(&store, "/a").await;
    let second = put(&store, "/a", "same").await;
    conflict(&store, Txn::new().put("/a", "x", Expect::Revision(first))).await;
    conflict(&store, Txn::new().delete("/a", Expect::Revision(first))).await;
    assert_record(&must_get(&store, "/a").await, "/a", "same", (second, second));
}

/// A value that was changed and changed back is still changed.
pub async fn a_value_that_returned_is_not_the_old_one(store: Arc<dyn Store>) {
    let first = put(&store, "/a", "one").await;
    put(&store, "/a", "two").await;
    let third = put(&store, "/a", "one").await;
    conflict(&store, Txn::new().put("/a", "x", Expect::Revision(first))).await;
    assert_record(&must_get(&store, "/a").await, "/a", "one", (first, third));
}

/// What counts is when the key was last changed, not when it was created.
pub async fn the_created_revision_is_not_what_is_expected(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let modified = put(&store, "/a", "2").await;
    let other = put(&store, "/b", "3").await;
    for wrong in [created, other, other.next()] {
        conflict(&store, Txn::new().put("/a", "x", Expect::Revision(wrong))).await;
    }
    commit(&store, Txn::new().put("/a", "3", Expect::Revision(modified))).await;
}

/// Writing the same value again is a change.
pub async fn the_same_value_again_is_a_new_revision(store: Arc<dyn Store>) {
    let created = put(&store, "/a", "1").await;
    let again = put(&store, "/a", "1").await;
    assert_eq!(again, created.next());
    assert_record(&must_get(&store, "/a").await, "/a", "1", (created, again));
}

/// No record was changed at revision zero: expecting it never holds, not even of an absent key.
pub async fn expecting_revision_zero_never_holds(store: Arc<dyn Store>) {
    let zero = Expect::Revision(Revision::ZERO);
    let (current, _) = conflict(&store, Txn::new().put("/a", "1", zero)).await;
    assert_eq!(current, [None]);
    put(&store, "/a", "1").await;
    conflict(&store, Txn::new().put("/a", "2", zero)).await;
    conflict(&store, Txn::new().delete("/a", zero)).await;
    conflict(&store, Txn::new().check("/none", zero)).await;
}
