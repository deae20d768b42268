//! Everything that is known and decided about all definitions. It is a value; nothing here waits,
//! reads a clock or writes.
//!
//! Decisions about names are made one after the other, each on top of those before, whether or not
//! these are stored already. A definition is looked at when it changes, and when a name is free
//! that it waits for; so any number of definitions costs a constant for each. Accepted names only
//! ever change to those that are asked for, so looking at those who wait comes to an end.

use std::collections::HashMap;
use std::sync::Arc;

use orlop_kinds::custom_resource_definition_conditions::{
    Condition, ESTABLISHED, NAMES_ACCEPTED, TERMINATING, find,
};
use orlop_machinery::Str;

use super::facts::{Edition, Facts};
use super::names::{GroupNames, Names};
use super::wanted::{Wanted, want};
use crate::object::Object;

/// See the module's documentation.
#[derive(Default)]
pub(super) struct State {
    known: HashMap<Str, Known>,
    groups: HashMap<Str, GroupNames>,
}

/// What is known about one definition.
struct Known {
    facts: Facts,
    object: Arc<Object>,
    /// The names that count as taken by it.
    taken: Names,
    /// The names that it waits for.
    waits_for: Vec<Str>,
    /// What was decided about it and is not in its status yet.
    wanted: Option<Wanted>,
    /// The edition whose own conditions this server has written.
    settled: Option<Edition>,
    /// How it is served.
    served: Option<ServedAs>,
}

/// What makes a difference to how a definition is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServedAs {
    uid: Str,
    edition: Edition,
    names: Names,
    pub is_established: bool,
    pub is_terminating: bool,
}

/// How serving changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Serving {
    /// As before.
    Same,
    /// Like this from now on.
    As(ServedAs),
    /// Not any more.
    Ended,
}

/// A decision that is to be written.
pub(super) struct Decision {
    /// The version of the definition that it is about.
    pub revision: u64,
    /// The edition that it is about.
    pub edition: Edition,
    /// What its status should say.
    pub wanted: Wanted,
}

impl State {
    /// The names of all definitions that are known.
    pub(super) fn names(&self) -> impl Iterator<Item = &Str> {
        self.known.keys()
    }

    /// The version of a definition that is known.
    pub(super) fn revision(&self, name: &str) -> Option<u64> {
        self.known.get(name).map(|known| known.facts.revision)
    }

    /// The bytes of a definition.
    pub(super) fn object(&self, name: &str) -> Option<&Arc<Object>> {
        self.known.get(name).map(|known| &known.object)
    }

    /// The uid of a definition that waits for its objects to go.
    pub(super) fn ending(&self, name: &str) -> Option<&Str> {
        let facts = &self.known.get(name)?.facts;
        facts.is_ending.then_some(&facts.uid)
    }

    /// Notes how a definition is now. It is to be decided about next.
    pub(super) fn observe(&mut self, name: &Str, object: Arc<Object>, facts: Facts) {
        if let Some(known) = self.known.get_mut(name) {
            (known.facts, known.object) = (facts, object);
            return;
        }
        self.groups.entry(facts.group.clone()).or_default().take(&facts.accepted);
        let known = Known {
            taken: facts.accepted.clone(),
            facts,
            object,
            waits_for: Vec::new(),
            wanted: None,
            settled: None,
            served: None,
        };
        self.known.insert(name.clone(), known);
    }

    /// Notes that a definition is gone. Returns whether it was served, and who is to be decided
    /// about next, having waited for its names.
    pub(super) fn forget(&mut self, name: &Str) -> (Serving, Vec<Str>) {
        let Some(known) = self.known.remove(name) else { return (Serving::Same, Vec::new()) };
        let serving = if known.served.is_some() { Serving::Ended } else { Serving::Same };
        let Some(group) = self.groups.get_mut(&known.facts.group) else {
            return (serving, Vec::new());
        };
        known.waits_for.iter().for_each(|it| group.stop_waiting(it, name));
        group.release(&known.taken);
        let woken = woken(group, &[&known.taken]);
        if group.is_empty() {
            self.groups.remove(&known.facts.group);
        }
        (serving, woken)
    }

    /// Decides about a definition. Returns who is to be decided about next, because names are free
    /// now that they wait for.
    pub(super) fn decide(&mut self, name: &Str) -> Vec<Str> {
        let Some(known) = self.known.get_mut(name) else { return Vec::new() };
        let facts = &known.facts;
        let group = self.groups.entry(facts.group.clone()).or_default();
        known.waits_for.iter().for_each(|it| group.stop_waiting(it, name));
        // What is stored counts: others decide, too, and clients may write.
        group.release(&known.taken);
        group.take(&facts.accepted);
        let (accepted, condition) = group.accept(&facts.requested, &facts.accepted);
        group.release(&facts.accepted);
        group.take(&accepted);
        known.waits_for = GroupNames::missing(&facts.requested, &accepted);
        known.waits_for.iter().for_each(|it| group.wait(it, name));
        let before = std::mem::replace(&mut known.taken, accepted.clone());
        let woken = woken(group, &[&before, &facts.accepted]);
        let is_settled = known.settled == Some(facts.edition);
        known.wanted = want(facts, (accepted, condition), is_settled);
        woken
    }

    /// What is to be written about a definition.
    pub(super) fn decision(&self, name: &str) -> Option<Decision> {
        let known = self.known.get(name)?;
        let wanted = known.wanted.clone()?;
        let Facts { revision, edition, .. } = known.facts;
        Some(Decision { revision, edition, wanted })
    }

    /// Notes that what was wanted of an edition of a definition was written, by this server or
    /// another.
    pub(super) fn settle(&mut self, name: &str, edition: Edition) {
        if let Some(known) = self.known.get_mut(name) {
            known.settled = Some(edition);
        }
    }

    /// How serving a definition changes with what is decided about it. Told once.
    pub(super) fn serving(&mut self, name: &str) -> Serving {
        let Some(known) = self.known.get_mut(name) else { return Serving::Same };
        let new = known.served_as();
        if known.served == new {
            return Serving::Same;
        }
        known.served = new;
        known.served.clone().map_or(Serving::Ended, Serving::As)
    }
}

impl Known {
    fn served_as(&self) -> Option<ServedAs> {
        let is_true = |kind: &str| {
            let stored = find(&self.facts.conditions, kind).is_some_and(Condition::is_true);
            self.wanted.as_ref().map_or(stored, |wanted| wanted.is_true(kind, stored))
        };
        let is_established = is_true(ESTABLISHED);
        if !is_established && !is_true(NAMES_ACCEPTED) {
            return None;
        }
        let wanted = self.wanted.as_ref().map(Wanted::accepted);
        Some(ServedAs {
            uid: self.facts.uid.clone(),
            edition: self.facts.edition,
            names: wanted.unwrap_or(&self.facts.accepted).clone(),
            is_established,
            // Upstream lets objects be made again when all are gone and others still keep the
            // definition; nobody would delete those.
            is_terminating: is_true(TERMINATING) || self.facts.is_deleting,
        })
    }
}

/// Who waits for names among some that are free.
fn woken(group: &GroupNames, names: &[&Names]) -> Vec<Str> {
    let free = names.iter().flat_map(|names| group.free(names));
    let mut woken: Vec<Str> = free.flat_map(|name| group.waiting(name)).cloned().collect();
    woken.sort_unstable();
    woken.dedup();
    woken
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use orlop_storage::Revision;

    use super::*;

    /// A state, and what its owner would do with it: what is decided is stored at once.
    #[derive(Default)]
    struct Model {
        state: State,
        revision: u64,
        /// How often something was decided.
        decisions: usize,
        /// What was written, oldest first.
        written: Vec<String>,
    }

    fn names(plural: &str, kind: &str) -> Names {
        let list_kind = Str::from(format!("{kind}List"));
        Names {
            plural: Str::new(plural),
            singular: Str::new(plural.trim_end_matches('s')),
            kind: Str::new(kind),
            list_kind,
            ..Names::default()
        }
    }

    impl Model {
        /// A definition changes: it asks for a kind.
        fn set(&mut self, plural: &str, kind: &str) {
            let requested = names(plural, kind);
            let before = self.state.known.get(plural).map(|known| known.facts.clone());
            let facts = Facts {
                uid: Str::new(plural),
                group: Str::new("example.com"),
                requested,
                has_valid_ca_bundle: true,
                ..before.unwrap_or_default()
            };
            self.observe(plural, facts);
            self.settle([Str::new(plural)].into());
        }

        fn remove(&mut self, plural: &str) {
            let (_, woken) = self.state.forget(&Str::new(plural));
            self.settle(woken.into());
        }

        fn observe(&mut self, plural: &str, facts: Facts) {
            self.revision += 1;
            let object = Object::written(plural.as_bytes(), b"{}", Revision(self.revision));
            let facts = Facts { revision: self.revision, ..facts };
            self.state.observe(&Str::new(plural), Arc::new(object), facts);
        }

        fn settle(&mut self, mut queue: VecDeque<Str>) {
            while let Some(name) = queue.pop_front() {
                self.decisions += 1;
                queue.extend(self.state.decide(&name));
                let Some(Decision { wanted, .. }) = self.state.decision(&name) else { continue };
                let mut facts = self.state.known[&name].facts.clone();
                let mut object = orlop_machinery::Value::Null;
                for condition in &facts.conditions {
                    condition.set(&mut object, "");
                }
                wanted.apply(&mut object, "");
                facts.conditions = Condition::all(&object);
                facts.accepted = wanted.accepted().clone();
                let kind = facts.accepted.kind.clone();
                let names = find(&facts.conditions, NAMES_ACCEPTED).unwrap().reason.clone();
                self.written.push(format!("{name} {kind} {names}"));
                self.observe(&name, facts);
                queue.push_back(name);
            }
        }

        #[track_caller]
        fn expect(&mut self, written: &[&str]) {
            assert_eq!(std::mem::take(&mut self.written), written);
        }
    }

    #[test]
    fn names_go_to_who_came_first_and_then_to_who_waits() {
        let mut model = Model::default();
        model.set("as", "A");
        model.expect(&["as A NoConflicts"]);
        model.set("bs", "A");
        model.set("cs", "A");
        model.expect(&["bs  ListKindConflict", "cs  ListKindConflict"]);
        model.remove("as");
        model.expect(&["bs A NoConflicts"]);
        model.set("bs", "B");
        model.expect(&["bs B NoConflicts", "cs A NoConflicts"]);
        model.set("bs", "A");
        model.expect(&["bs B ListKindConflict"]);
        model.set("bs", "B");
        model.expect(&["bs B NoConflicts"]);
    }

    #[test]
    fn nothing_is_left_of_what_is_gone() {
        let mut model = Model::default();
        for (plural, kind) in [("as", "A"), ("bs", "A"), ("cs", "C")] {
            model.set(plural, kind);
        }
        for plural in ["as", "bs", "cs", "never"] {
            model.remove(plural);
        }
        assert!(model.state.known.is_empty());
        assert!(model.state.groups.is_empty());
    }

    #[test]
    fn decisions_that_are_not_stored_yet_count() {
        let mut state = State::default();
        for (revision, plural) in [(1, "as"), (2, "bs")] {
            let facts = Facts {
                revision,
                group: Str::new("g"),
                requested: names(plural, "Same"),
                ..Facts::default()
            };
            let object = Arc::new(Object::written(b"k", b"{}", Revision(revision)));
            state.observe(&Str::new(plural), object, facts);
        }
        // In whatever order and however often.
        for plural in ["as", "bs", "as", "bs"] {
            assert_eq!(state.decide(&Str::new(plural)), [""; 0]);
        }
        let kind = |plural: &str| state.decision(plural).unwrap().wanted.accepted().kind.clone();
        assert_eq!((kind("as").as_str(), kind("bs").as_str()), ("Same", ""));
    }

    #[test]
    fn a_thousand_definitions_cost_a_thousand_decisions() {
        let mut model = Model::default();
        for number in 0..1000 {
            model.set(&format!("a{number}s"), &format!("A{number}"));
        }
        // One each when it came, and one when what was written came back.
        assert_eq!((model.decisions, model.written.len()), (2000, 1000));
        model.decisions = 0;
        model.set("bs", "A7");
        model.remove("a7s");
        assert_eq!(model.decisions, 4);
    }

    #[test]
    fn what_is_served_is_told_once() {
        let mut model = Model::default();
        model.set("as", "A");
        let name = Str::new("as");
        let Serving::As(served) = model.state.serving(&name) else { panic!("it is served") };
        assert!(served.is_established && !served.is_terminating);
        assert_eq!(served.names.kind, "A");
        assert_eq!(model.state.serving(&name), Serving::Same);
        model.set("bs", "A");
        assert_eq!(model.state.serving(&Str::new("bs")), Serving::Same);
        let mut ending = model.state.known[&name].facts.clone();
        ending.conditions.push(Condition::new(TERMINATING, "True", "", ""));
        model.observe("as", ending);
        let Serving::As(served) = model.state.serving(&name) else { panic!("it is served") };
        assert!(served.is_terminating);
        assert_eq!(model.state.forget(&name), (Serving::Ended, vec![Str::new("bs")]));
        assert_eq!(model.state.serving(&name), Serving::Same);
    }
}
