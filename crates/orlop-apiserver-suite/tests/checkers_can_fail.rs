//! The checkers of the store find what is wrong with an API too: what is filled in hides nothing.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use orlop_apiserver_suite::api_store::Notes;
use orlop_apiserver_suite::complete::complete;
use orlop_storage::{
    At, Delivery, Event, Expect, Get, KeyRange, Outcome, Range, Record, Revision, Txn,
};
use orlop_storage_suite::history::{Answer, Call, History, Request, WatchLog, check};
use serde_json::json;

const KEY: &str = "/registry/pods/a";

/// One object: made at 10, changed at 20, deleted at 30. Others write too.
struct Life {
    notes: Notes,
    calls: Vec<Call>,
    watch: Vec<Delivery>,
}

impl Life {
    fn new() -> Self {
        let mut life = Self { notes: Notes::default(), calls: Vec::new(), watch: Vec::new() };
        let (made, changed) = (life.version(10, "one"), life.version(20, "two"));
        life.put("one", Expect::Absent, 10);
        life.put("two", Expect::Revision(Revision(10)), 20);
        let delete = Txn::new().delete(KEY, Expect::Revision(Revision(20)));
        life.call(Request::Commit(delete), committed(30));
        let previous = made.clone();
        life.tell(Event::Created { record: made });
        life.tell(Event::Updated { record: changed, previous });
        life.tell_of_deletion("two");
        life
    }

    /// A version as the API shows it.
    fn version(&self, version: u64, value: &str) -> Record {
        self.notes.record(&json!({
            "metadata": {"namespace": "pods", "name": "a", "uid": "u",
                "resourceVersion": version.to_string()},
            "data": {"value": value},
        }))
    }

    fn put(&mut self, value: &'static str, expect: Expect, at: u64) {
        self.call(Request::Commit(Txn::new().put(KEY, value, expect)), committed(at));
    }

    fn call(&mut self, request: Request, answer: Answer) {
        let invoked = 2 * self.calls.len() as u64;
        let returned = Some(invoked + 1);
        self.calls.push(Call { client: 0, invoked, returned, request, answer });
    }

    fn read(&mut self, at: At, record: Option<Record>, revision: u64) {
        let get = Get { record, revision: Revision(revision) };
        self.call(Request::Get(KEY.into(), at), Answer::Get(get));
    }

    fn tell(&mut self, event: Event) {
        self.watch.push(Delivery::Events([event].into()));
    }

    fn tell_of_deletion(&mut self, value: &str) {
        let none = Revision::ZERO;
        let previous = Record::new(KEY.as_bytes(), value.as_bytes(), none, none, None);
        self.tell(Event::Deleted { revision: Revision(30), previous });
    }

    /// `expect` is how the verdict begins.
    #[track_caller]
    fn check(self, expect: &str) {
        let at = |revision| Range { records: Vec::new(), count: 0, revision };
        let watch = WatchLog {
            client: 0,
            range: KeyRange::prefix("/registry/pods/"),
            after: Some(Revision(5)),
            deliveries: self.watch,
            end: None,
        };
        let history = History {
            start: at(Revision(5)),
            calls: self.calls,
            watches: vec![watch],
            end: at(Revision(35)),
        };
        let found = match check(&complete(&history, &self.notes)) {
            Ok(_) => "kept".to_owned(),
            Err(violation) => violation.to_string(),
        };
        assert!(found.contains(expect), "found: {found}");
    }
}

fn committed(revision: u64) -> Answer {
    Answer::Outcome(Outcome::Committed { revision: Revision(revision) })
}

#[test]
fn what_others_write_is_not_missed() {
    let mut life = Life::new();
    life.watch.push(Delivery::Progress(Revision(33)));
    let past = life.version(20, "two");
    life.read(At::Revision(Revision(27)), Some(past), 27);
    life.read(At::Latest, None, 34);
    life.check("kept");
}

#[test]
fn a_stale_read_of_one_object_is_found() {
    let mut life = Life::new();
    let stale = life.version(20, "two");
    life.read(At::Latest, Some(stale), 20);
    life.check("at revision 4, the state was 0 keys");
}

#[test]
fn a_wrong_read_of_the_past_is_found() {
    let mut life = Life::new();
    let wrong = life.version(10, "one");
    life.read(At::Revision(Revision(20)), Some(wrong), 20);
    life.check("at revision 3, the state was 1 keys");
}

#[test]
fn a_deletion_that_shows_something_else_is_found() {
    let mut life = Life::new();
    life.watch.pop();
    life.tell_of_deletion("one");
    life.check("previous: client 0");
}

#[test]
fn an_event_that_is_missing_is_found() {
    let mut life = Life::new();
    life.watch.remove(1);
    life.check("reliable: client 0");
    let mut life = Life::new();
    life.watch.remove(0);
    life.check("resumable: client 0");
    let mut life = Life::new();
    life.watch.pop();
    life.watch.push(Delivery::Progress(Revision(31)));
    life.check("bookmarkable: client 0");
}

#[test]
fn an_event_that_comes_twice_is_found() {
    let mut life = Life::new();
    let again = life.watch[2].clone();
    life.watch.push(again);
    life.check("unique: client 0");
}
