//! Where data is: a variable, and the fields from there on.
//!
//! Upstream appends to slices that share their memory. While there is room, appending to a path
//! writes behind its end, into what another path that began with it may have there: of
//! `x.items.all(y, y < x.max)`, where `x` has room, the size of `x.items` is looked up as that of
//! `x.max` once the loop's body was seen. Costs depend on it, so paths share here in the same way.

use std::cell::RefCell;
use std::rc::Rc;

use orlop_machinery::Str;

/// A path that shares its steps with others.
#[derive(Clone, Default)]
pub(super) struct FieldPath {
    steps: Rc<RefCell<Vec<Str>>>,
    /// How many steps are this path's own.
    len: usize,
    /// How many steps there is room for: 0, 1, 2, 4, ...
    room: usize,
}

impl FieldPath {
    /// To a variable.
    pub(super) fn variable(name: Str) -> FieldPath {
        FieldPath::default().append(name)
    }

    /// One step further.
    pub(super) fn append(&self, step: Str) -> FieldPath {
        if self.len == self.room {
            let mut steps = self.steps.borrow()[..self.len].to_vec();
            steps.push(step);
            let room = (2 * self.room).max(1);
            return FieldPath { steps: Rc::new(RefCell::new(steps)), len: self.len + 1, room };
        }
        let mut steps = self.steps.borrow_mut();
        match steps.get_mut(self.len) {
            Some(place) => *place = step,
            None => steps.push(step),
        }
        drop(steps);
        FieldPath { steps: Rc::clone(&self.steps), len: self.len + 1, room: self.room }
    }

    /// One step further, in memory of its own.
    pub(super) fn append_to_copy(&self, step: Str) -> FieldPath {
        let mut steps = self.steps.borrow()[..self.len].to_vec();
        steps.push(step);
        let len = steps.len();
        FieldPath { steps: Rc::new(RefCell::new(steps)), len, room: len }
    }

    /// Whether it leads nowhere.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What its steps say.
    pub(super) fn with_steps<R>(&self, look: impl FnOnce(&[Str]) -> R) -> R {
        look(&self.steps.borrow()[..self.len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &FieldPath) -> String {
        path.with_steps(|steps| steps.iter().map(Str::as_str).collect::<Vec<_>>().join("."))
    }

    #[test]
    fn paths_with_room_share_their_end() {
        let item = FieldPath::variable("self".into()).append("list".into()).append("@items".into());
        let first = item.append("items".into());
        assert_eq!(text(&first), "self.list.@items.items");
        let second = item.append("max".into());
        assert_eq!(text(&second), "self.list.@items.max");
        assert_eq!(text(&first), "self.list.@items.max");
    }

    #[test]
    fn paths_without_room_do_not() {
        let list = FieldPath::variable("self".into()).append("list".into());
        let (first, second) = (list.append("a".into()), list.append("b".into()));
        assert_eq!((text(&first).as_str(), text(&second).as_str()), ("self.list.a", "self.list.b"));
        let (copy, other) = (first.append_to_copy("x".into()), first.append("y".into()));
        assert_eq!(
            (text(&copy).as_str(), text(&other).as_str()),
            ("self.list.a.x", "self.list.a.y")
        );
    }
}
