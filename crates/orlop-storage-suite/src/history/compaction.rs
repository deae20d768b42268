//! What was given up stays given up, and nothing else does.

use orlop_storage::{At, Revision};

use super::{Answer, Call, Checked, History, Request, violation};

/// Reads of the past fail if a compaction that ended before them gave it up, and only if one that
/// began before they ended did.
///
/// # Errors
/// The first read that was answered otherwise.
pub fn compaction(history: &History) -> Checked {
    let compactions: Vec<(&Call, Revision)> = history
        .calls
        .iter()
        .filter_map(|call| match call.request {
            Request::Compact(revision) => Some((call, revision)),
            _ => None,
        })
        .collect();
    for call in &history.calls {
        let read = match &call.request {
            Request::Get(_, At::Revision(revision)) => *revision,
            Request::Range(request) => match request.at {
                At::Revision(revision) => revision,
                At::Latest => continue,
            },
            _ => continue,
        };
        check_read(call, read, &compactions)?;
    }
    Ok(())
}

fn check_read(call: &Call, read: Revision, compactions: &[(&Call, Revision)]) -> Checked {
    match &call.answer {
        Answer::RefusedCompacted { oldest } => {
            let began = |compaction: &Call| {
                let refused = matches!(compaction.answer, Answer::RefusedFuture { .. });
                !refused && call.returned.is_some_and(|returned| compaction.invoked < returned)
            };
            if read >= *oldest {
                return violation(format!("{read} was refused, though {oldest} can be read"));
            }
            if !compactions.iter().any(|(by, at)| at == oldest && began(by)) {
                return violation(format!("{oldest} is said to be compacted, but nobody did"));
            }
        }
        Answer::Get(_) | Answer::Range(_) => {
            let ended = |by: &Call| {
                matches!(by.answer, Answer::Compacted)
                    && by.returned.is_some_and(|returned| returned < call.invoked)
            };
            if let Some((_, at)) = compactions.iter().find(|(by, at)| *at > read && ended(by)) {
                return violation(format!("{read} was read after {at} had been compacted"));
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::made_up::*;
    use super::*;

    fn read_at(revision: u64, answer: Answer) -> Call {
        call(0, Request::Get("/a".into(), At::Revision(Revision(revision))), answer)
    }

    fn compacted(revision: u64) -> Call {
        call(1, Request::Compact(Revision(revision)), Answer::Compacted)
    }

    fn check(calls: Vec<Call>, expect: &str) {
        assert_eq!(verdict(compaction(&history(calls, &[], 9))), expect);
    }

    fn refused(oldest: u64) -> Answer {
        Answer::RefusedCompacted { oldest: Revision(oldest) }
    }

    #[test]
    fn reads_of_the_past_follow_compactions() {
        check(vec![read_at(3, got(None, 9)), compacted(5), read_at(3, refused(5))], "kept");
        check(vec![compacted(5), read_at(5, got(None, 9))], "kept");
    }

    #[test]
    fn a_read_of_what_was_given_up_is_found() {
        check(
            vec![compacted(5), read_at(3, got(None, 9))],
            "3 was read after 5 had been compacted",
        );
    }

    #[test]
    fn a_refusal_without_a_compaction_is_found() {
        check(vec![read_at(3, refused(5))], "5 is said to be compacted, but nobody did");
        check(vec![compacted(5), read_at(7, refused(5))], "7 was refused, though 5 can be read");
    }
}
