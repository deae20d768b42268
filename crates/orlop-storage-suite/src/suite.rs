//! One behaviour suite for every engine: named cases against `Arc<dyn Store>` and nothing else.
//!
//! Each case gets a store of its own, fresh and empty, and panics if the store breaks the contract.
//! [`for_each_store_case!`](crate::for_each_store_case) is the one list of them: a case that is
//! added there runs on every engine. [`store_suite!`](crate::store_suite) makes one test of each
//! case for one engine.
//!
//! The subjects follow Kubernetes' own storage tests
//! (staging/src/k8s.io/apiserver/pkg/storage/testing, store_tests.go and watcher_tests.go) as far
//! as they are about bytes and revisions, etcd's API guarantees, and the bugs that etcd's
//! robustness tests found; those carry etcd's issue number.
//!
//! Within one transaction the events of different keys have no order, and one delivery may hold
//! several transactions: the cases assume neither.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use orlop_storage::Store;

mod collected;
mod fixture;

pub mod compact;
pub mod get;
pub mod lease;
pub mod limits;
pub mod range;
pub mod revision;
pub mod txn;
pub mod watch;
pub mod watch_order;
pub mod watch_progress;
pub mod watch_slow;
pub mod write;

/// How long one case may take.
const CASE_TIME_MAX: Duration = Duration::from_secs(120);

/// Every case, as `(subject, case)`.
pub const CASES: &[(&str, &str)] = crate::for_each_store_case!(__store_case_names);

/// Runs one case on one engine; what [`store_suite!`](crate::store_suite) expands to.
///
/// `open` gives a fresh, empty store and whatever must outlive it, or nothing if the engine cannot
/// be had here; in continuous integration (`CI=true`) it must be.
///
/// # Panics
/// If the case fails, takes too long, or `skips` names a case that does not exist.
pub fn run_case<Opened, Guard, Run>(
    case: &str,
    skips: &[(&str, &str)],
    open: impl FnOnce() -> Opened,
    run: impl FnOnce(Arc<dyn Store>) -> Run,
) where
    Opened: Future<Output = Option<(Arc<dyn Store>, Guard)>>,
    Guard: Any,
    Run: Future<Output = ()>,
{
    for (skipped, reason) in skips {
        let known = CASES.iter().any(|(_, name)| name == skipped);
        assert!(known, "the skipped case {skipped} does not exist");
        if *skipped == case {
            println!("skipped {case}: {reason}");
            return;
        }
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let Some((store, guard)) = open().await else {
            return crate::engines::assert_not_required();
        };
        let ended = tokio::time::timeout(CASE_TIME_MAX, run(store)).await;
        assert!(ended.is_ok(), "{case} took more than {CASE_TIME_MAX:?}");
        drop(guard);
    });
}

/// One test per case of the suite, for one engine.
///
/// `open` is the absolute path of a function `async fn() -> Option<(Arc<dyn Store>, impl Any)>`.
/// An engine that cannot do something by its nature skips the case by name, with the reason.
///
/// ```
/// orlop_storage_suite::store_suite!(reference, orlop_storage_suite::engines::reference);
/// orlop_storage_suite::store_suite!(
///     reference_in_part,
///     orlop_storage_suite::engines::reference,
///     skip { a_watcher_that_never_reads_is_cut_off: "it may buffer without a bound" }
/// );
/// ```
#[macro_export]
macro_rules! store_suite {
    ($module:ident, $open:path) => {
        $crate::store_suite!($module, $open, skip {});
    };
    ($module:ident, $open:path, skip { $($case:ident: $reason:literal),* $(,)? }) => {
        #[cfg(test)]
        mod $module {
            const SKIPS: &[(&str, &str)] = &[$((stringify!($case), $reason)),*];
            use $open as open;
            $crate::for_each_store_case!(__store_case_tests);
        }
    };
}

/// What [`store_suite!`] makes of the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_case_tests {
    ($($subject:ident { $($case:ident,)* })*) => {$(
        mod $subject {$(
            #[test]
            fn $case() {
                let case = stringify!($case);
                let run = $crate::suite::$subject::$case;
                $crate::suite::run_case(case, super::SKIPS, super::open, run);
            }
        )*}
    )*};
}

/// What [`CASES`] makes of the list.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_case_names {
    ($($subject:ident { $($case:ident,)* })*) => {
        &[$($((stringify!($subject), stringify!($case)),)*)*]
    };
}

/// The list: every case of the suite by subject, handed to `$callback`.
#[macro_export]
macro_rules! for_each_store_case {
    ($callback:ident) => {
        $crate::$callback! {
            get {
                a_missing_key_has_no_record,
                a_written_key_is_read_back_whole,
                a_read_sees_the_write_acknowledged_before_it,
                a_read_sees_the_writes_of_others,
                a_key_can_be_read_at_each_revision_of_its_past,
                a_key_is_absent_at_revisions_before_its_creation,
                a_deleted_key_is_still_there_in_the_past,
                each_life_of_a_recreated_key_can_be_read,
                a_read_of_the_past_names_the_newest_revision,
                a_read_at_the_newest_revision_is_a_read_of_the_latest,
                a_future_revision_cannot_be_read,
                revision_zero_cannot_be_read,
                keys_that_begin_alike_are_different,
                binary_keys_and_values_are_kept_exactly,
                an_empty_value_is_a_value,
                a_value_of_one_mebibyte_is_kept,
                a_long_key_is_kept,
            }
            range {
                an_empty_store_has_an_empty_range,
                a_range_is_ordered_by_the_bytes_of_its_keys,
                a_prefix_does_not_take_its_neighbours,
                a_prefix_of_highest_bytes_ends_rightly,
                a_range_holds_its_start_and_not_its_end,
                a_range_of_one_key_is_alone,
                the_empty_key_is_where_all_keys_begin,
                a_range_that_ends_before_it_starts_is_empty,
                a_limit_cuts_and_says_that_there_is_more,
                a_limit_that_is_large_enough_leaves_no_more,
                a_count_returns_no_records,
                keys_alone_keep_their_revisions,
                a_range_at_an_old_revision_is_exact,
                counts_and_limits_of_the_past_are_exact,
                a_range_before_keys_that_came_and_went_is_exact,
                a_range_of_the_past_names_the_newest_revision,
                ranges_refuse_future_revisions_and_zero,
                pages_of_one_revision_are_one_snapshot,
                a_large_range_is_complete,
                a_range_is_one_snapshot_while_transactions_run,
            }
            write {
                an_absent_key_can_be_created,
                an_existing_key_is_not_created_again,
                an_update_of_the_current_revision_commits,
                an_update_of_a_stale_revision_conflicts,
                an_update_of_an_absent_key_conflicts,
                an_unconditional_put_creates_and_overwrites,
                a_delete_of_the_current_revision_commits,
                a_delete_of_a_stale_revision_conflicts,
                an_unconditional_delete_removes,
                a_delete_of_an_absent_key_changes_nothing,
                a_conditional_delete_of_an_absent_key_conflicts,
                a_delete_that_expects_absence_never_deletes,
                revisions_of_a_record_tell_its_life,
                a_former_life_of_a_key_does_not_count,
                a_value_that_returned_is_not_the_old_one,
                the_created_revision_is_not_what_is_expected,
                the_same_value_again_is_a_new_revision,
                expecting_revision_zero_never_holds,
            }
            txn {
                several_writes_are_one_revision,
                puts_and_deletes_mix_in_one_transaction,
                one_failed_expectation_changes_nothing,
                a_conflict_carries_the_current_records_in_order,
                a_conflict_is_enough_to_try_again,
                failed_transactions_do_not_move_the_revision,
                a_check_guards_the_other_writes,
                a_check_alone_changes_nothing,
                a_needless_delete_beside_a_put_is_harmless,
                needless_deletes_alone_change_nothing,
                expectations_are_judged_against_the_state_before,
                a_transaction_of_the_most_writes_commits,
                opposite_orders_of_keys_do_not_deadlock,
                concurrent_transfers_keep_the_sum,
            }
            limits {
                an_empty_transaction_is_refused,
                a_key_named_twice_is_refused,
                an_empty_key_is_refused,
                too_many_writes_are_refused,
                too_large_a_transaction_is_refused,
                a_transaction_just_below_the_limit_commits,
                a_refusal_harms_nobody_else,
                absurd_revisions_are_answered,
            }
            revision {
                each_change_moves_the_revision_by_one,
                reads_do_not_move_the_revision,
                the_newest_revision_includes_acknowledged_writes,
                revisions_are_neither_reused_nor_skipped,
                one_update_wins_each_version,
                one_create_wins,
                one_delete_wins,
                concurrent_increments_all_count,
                a_reader_never_goes_back_in_time,
                a_store_that_serves_is_healthy,
                a_store_is_shared_by_many_tasks,
            }
            watch {
                a_watch_from_now_delivers_what_follows,
                creation_update_and_deletion_are_told_apart,
                a_recreated_key_is_created_again,
                replayed_events_carry_previous_values,
                a_deletion_has_its_own_revision,
                a_watch_after_a_revision_delivers_exactly_the_rest,
                a_watch_after_zero_delivers_all_history,
                history_goes_over_into_the_present,
                a_watch_of_a_key_is_told_of_that_key,
                a_watch_of_a_prefix_ignores_its_neighbours,
                a_watch_of_a_range_follows_its_bounds,
                a_watch_of_an_empty_range_stays_silent,
                all_watchers_are_told_the_same,
                watches_of_different_ranges_are_apart,
                what_changes_nothing_is_not_told,
                a_transaction_is_delivered_whole,
                a_watch_is_told_its_part_of_a_transaction,
                events_carry_any_bytes,
                hundreds_of_watches_are_served,
                a_dropped_watch_disturbs_nobody,
                waiting_can_be_given_up_without_loss,
                a_watch_resumes_where_it_was_dropped,
            }
            watch_order {
                events_come_in_order_under_concurrent_writers,
                no_change_is_delivered_twice,
                each_event_follows_from_the_one_before,
                a_list_and_a_watch_after_it_are_the_state,
                a_watch_resumed_among_writers_is_complete,
                many_watches_of_the_past_are_complete,
                transactions_stay_whole_under_load,
                an_event_can_be_read_when_it_is_delivered,
                watches_of_single_keys_add_up_to_the_whole,
            }
            watch_progress {
                progress_on_request_is_the_newest_revision,
                progress_covers_writes_outside_the_range,
                progress_never_overtakes_events,
                progress_comes_after_the_history,
                progress_is_not_said_unasked,
                many_requests_are_answered,
                each_watch_is_answered_for_itself,
                a_watch_resumes_after_its_progress,
                an_idle_watch_says_its_progress_by_itself,
                a_future_watch_delivers_nothing_old_and_nothing_early,
                a_future_watch_says_no_progress_before_its_start,
                a_future_watch_survives_compaction,
            }
            watch_slow {
                a_watcher_that_never_reads_is_cut_off,
                a_watcher_that_never_reads_loses_nothing,
                a_slow_watcher_slows_nobody,
                a_long_history_is_replayed_whole,
            }
            compact {
                the_compacted_revision_stays_readable,
                older_revisions_fail_and_name_the_oldest,
                compacting_again_or_further_back_fails,
                the_future_cannot_be_compacted,
                compaction_leaves_the_present_alone,
                the_revision_does_not_go_back_after_compaction,
                deleted_keys_vanish_with_their_history,
                a_key_compacted_at_its_deletion_stays_deleted,
                compaction_between_two_lives_of_a_key,
                records_keep_revisions_that_are_compacted,
                a_conflict_with_a_compacted_revision_is_answered,
                a_list_that_outlives_its_revision_says_so,
                a_watch_of_compacted_history_is_refused,
                a_watch_after_the_compacted_revision_is_complete,
                watch_after_a_compacted_delete_is_not_missing_it,
                deletions_after_the_compacted_revision_are_replayed,
                a_running_watch_does_not_notice_compaction,
                a_watch_that_compaction_overtakes_has_no_gap,
                reads_during_compaction_are_exact_or_fail,
                compaction_among_writers_disturbs_none,
            }
            lease {
                a_record_tells_its_lease,
                leases_are_distinct,
                a_grant_does_not_move_the_revision,
                a_record_dies_with_its_lease,
                an_expiry_is_delivered_as_deletions,
                a_record_written_without_its_lease_outlives_it,
                a_record_moves_to_the_lease_it_was_last_written_under,
                an_expiry_after_a_delete_is_harmless,
                the_expiry_of_an_unused_lease_changes_nothing,
                an_unknown_lease_is_refused,
                an_expired_lease_is_refused,
                leases_out_of_bounds_are_refused,
                a_lease_may_hold_many_records,
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A case that is written but not listed would never run.
    #[test]
    fn every_case_is_in_the_list() {
        let sources = [
            ("get", include_str!("suite/get.rs")),
            ("range", include_str!("suite/range.rs")),
            ("write", include_str!("suite/write.rs")),
            ("txn", include_str!("suite/txn.rs")),
            ("limits", include_str!("suite/limits.rs")),
            ("revision", include_str!("suite/revision.rs")),
            ("watch", include_str!("suite/watch.rs")),
            ("watch_order", include_str!("suite/watch_order.rs")),
            ("watch_progress", include_str!("suite/watch_progress.rs")),
            ("watch_slow", include_str!("suite/watch_slow.rs")),
            ("compact", include_str!("suite/compact.rs")),
            ("lease", include_str!("suite/lease.rs")),
        ];
        for (subject, source) in sources {
            let written = source.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            let written: Vec<&str> = written.filter_map(|line| line.split('(').next()).collect();
            let listed = CASES.iter().filter(|(listed, _)| *listed == subject);
            let listed: Vec<&str> = listed.map(|(_, case)| *case).collect();
            assert_eq!(written, listed, "the cases of {subject}, in the order of the file");
        }
    }

    #[test]
    fn case_names_are_unique() {
        let mut names: Vec<&str> = CASES.iter().map(|(_, case)| *case).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(names.len() >= 80, "the suite has {} cases", names.len());
    }
}
