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
            is_terminating: is_true(TERMINATING),
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
