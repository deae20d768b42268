//! Which names a definition may have: those that no other definition of its group has already.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/controller/status/naming_controller.go`.
//! Plural, singular and short names are one set of names within a group, kinds and kinds of lists
//! another. Names of built-in resources are not looked at, as upstream does not: what is built in
//! is found first wherever something is served.

use std::collections::{BTreeSet, HashMap};

use orlop_kinds::custom_resource_definition_conditions::{Condition, NAMES_ACCEPTED};
use orlop_machinery::status::aggregate;
use orlop_machinery::text::quote;
use orlop_machinery::{Map, Str, Value};

/// The names of a definition, as it asks for them or as it has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// `widgets`.
    pub plural: Str,
    /// `widget`.
    pub singular: Str,
    /// `wd`.
    pub short_names: Vec<Str>,
    /// `Widget`.
    pub kind: Str,
    /// `WidgetList`.
    pub list_kind: Str,
    /// `all`. Any number of resources may be in one.
    pub categories: Vec<Str>,
}

impl Names {
    /// Reads names from a spec or a status.
    pub(super) fn read(value: &Value) -> Names {
        let text = |field: &str| Str::new(value.at(field).str());
        let texts = |field: &str| {
            value.at(field).list().iter().map(|name| Str::new(name.str())).collect::<Vec<Str>>()
        };
        Names {
            plural: text("plural"),
            singular: text("singular"),
            short_names: texts("shortNames"),
            kind: text("kind"),
            list_kind: text("listKind"),
            categories: texts("categories"),
        }
    }

    /// The names as they stand in a status.
    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |field: &str, value: Value, is_always_there: bool| {
            if is_always_there || !value.is_empty() {
                map.insert(field, value);
            }
        };
        let text = |name: &Str| Value::from(name.as_str());
        let texts = |names: &[Str]| Value::List(names.iter().map(text).collect());
        put("plural", text(&self.plural), true);
        put("singular", text(&self.singular), false);
        put("shortNames", texts(&self.short_names), false);
        put("kind", text(&self.kind), true);
        put("listKind", text(&self.list_kind), false);
        put("categories", texts(&self.categories), false);
        Value::from(map)
    }

    fn resources(&self) -> impl Iterator<Item = &Str> {
        [&self.plural, &self.singular].into_iter().chain(&self.short_names)
    }

    fn kinds(&self) -> impl Iterator<Item = &Str> {
        [&self.kind, &self.list_kind].into_iter()
    }
}

/// The names that the definitions of one group have, and who waits for which.
#[derive(Debug, Default)]
pub(super) struct GroupNames {
    resources: Taken,
    kinds: Taken,
    /// By the name that they wait for, those who do.
    waiting: HashMap<Str, BTreeSet<Str>>,
}

/// How many definitions have a name: more than one only if somebody wrote so into their status.
#[derive(Debug, Default)]
struct Taken(HashMap<Str, usize>);

impl GroupNames {
    /// Whether nobody has or waits for a name.
    pub(super) fn is_empty(&self) -> bool {
        self.resources.0.is_empty() && self.kinds.0.is_empty() && self.waiting.is_empty()
    }

    /// Notes that somebody has these names.
    pub(super) fn take(&mut self, names: &Names) {
        names.resources().for_each(|name| self.resources.take(name));
        names.kinds().for_each(|name| self.kinds.take(name));
    }

    /// Notes that somebody no longer has these names.
    pub(super) fn release(&mut self, names: &Names) {
        names.resources().for_each(|name| self.resources.release(name));
        names.kinds().for_each(|name| self.kinds.release(name));
    }

    /// Those among names that nobody has.
    pub(super) fn free<'a>(&self, names: &'a Names) -> impl Iterator<Item = &'a Str> {
        let resources = names.resources().filter(|name| !self.resources.has(name));
        resources.chain(names.kinds().filter(|name| !self.kinds.has(name)))
    }

    /// Those among the names that a definition asks for which it does not get.
    pub(super) fn missing(requested: &Names, accepted: &Names) -> Vec<Str> {
        let resources =
            requested.resources().filter(|name| !accepted.resources().any(|it| it == *name));
        let kinds = requested.kinds().filter(|name| !accepted.kinds().any(|it| it == *name));
        resources.chain(kinds).cloned().collect()
    }

    /// Notes that a definition waits for a name.
    pub(super) fn wait(&mut self, name: &Str, definition: &Str) {
        self.waiting.entry(name.clone()).or_default().insert(definition.clone());
    }

    /// Notes that it waits no longer.
    pub(super) fn stop_waiting(&mut self, name: &Str, definition: &Str) {
        if let Some(waiting) = self.waiting.get_mut(name) {
            waiting.remove(definition);
            if waiting.is_empty() {
                self.waiting.remove(name);
            }
        }
    }

    /// Who waits for a name.
    pub(super) fn waiting(&self, name: &str) -> impl Iterator<Item = &Str> {
        self.waiting.get(name).into_iter().flatten()
    }

    /// The names that a definition has from now on, which asks for some and has others, and the
    /// condition that says so. What it has is among what is taken.
    pub(super) fn accept(&self, requested: &Names, accepted: &Names) -> (Names, Condition) {
        let (resources, kinds) = (&self.resources, &self.kinds);
        let (wants, has) = (requested, accepted);
        let mut choice = Choice::default();
        let names = Names {
            plural: choice.one("PluralConflict", &wants.plural, &has.plural, resources),
            singular: choice.one("SingularConflict", &wants.singular, &has.singular, resources),
            short_names: choice.several(&wants.short_names, &has.short_names, resources),
            kind: choice.one("KindConflict", &wants.kind, &has.kind, kinds),
            list_kind: choice.one("ListKindConflict", &wants.list_kind, &has.list_kind, kinds),
            categories: wants.categories.clone(),
        };
        (names, choice.condition())
    }
}

impl Taken {
    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn take(&mut self, name: &Str) {
        if !name.is_empty() {
            *self.0.entry(name.clone()).or_default() += 1;
        }
    }

    fn release(&mut self, name: &Str) {
        if let Some(count) = self.0.get_mut(name) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(name);
            }
        }
    }
}

/// Chooses between wanted and own names. Of several conflicts the last is told.
#[derive(Default)]
struct Choice {
    conflict: Option<(&'static str, String)>,
}

impl Choice {
    fn one(&mut self, reason: &'static str, wanted: &Str, own: &Str, taken: &Taken) -> Str {
        if wanted == own || !taken.has(wanted) {
            return wanted.clone();
        }
        self.conflict = Some((reason, in_use(wanted)));
        own.clone()
    }

    /// Short names are all accepted, or none of the new ones is.
    fn several(&mut self, wanted: &[Str], own: &[Str], taken: &Taken) -> Vec<Str> {
        let is_used = |name: &&Str| !own.contains(name) && taken.has(name);
        let used: Vec<String> = wanted.iter().filter(is_used).map(|name| in_use(name)).collect();
        if used.is_empty() {
            return wanted.to_vec();
        }
        self.conflict = Some(("ShortNamesConflict", aggregate(used)));
        own.to_vec()
    }

    fn condition(self) -> Condition {
        match self.conflict {
            Some((reason, message)) => Condition::new(NAMES_ACCEPTED, "False", reason, &message),
            None => Condition::new(NAMES_ACCEPTED, "True", "NoConflicts", "no conflicts found"),
        }
    }
}

fn in_use(name: &str) -> String {
    format!("{} is already in use", quote(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as `plural singular kind listKind short,short`; a dash is none.
    fn names(text: &str) -> Names {
        let mut words = text.split(' ').map(|word| if word == "-" { "" } else { word });
        let mut next = || Str::new(words.next().unwrap_or_default());
        let (plural, singular, kind, list_kind) = (next(), next(), next(), next());
        let short = next();
        let short_names = short.split(',').filter(|it| !it.is_empty()).map(Str::new).collect();
        Names { plural, singular, short_names, kind, list_kind, categories: Vec::new() }
    }

    fn shown(names: &Names) -> String {
        let parts = [&names.plural, &names.singular, &names.kind, &names.list_kind];
        let part = |it: &str| if it.is_empty() { "-".to_owned() } else { it.to_owned() };
        let mut parts: Vec<String> = parts.into_iter().map(|it| part(it)).collect();
        parts.push(part(&names.short_names.join(",")));
        parts.join(" ")
    }

    const WIDGETS: &str = "widgets widget Widget WidgetList wd";
    const NONE: &str = "- - - - -";

    /// What a definition that has `own` gets of what it asks for, next to [`WIDGETS`].
    fn check(requested: &str, own: &str, expect: &str, condition: &str) {
        let mut group = GroupNames::default();
        group.take(&names(WIDGETS));
        group.take(&names(own));
        let (accepted, found) = group.accept(&names(requested), &names(own));
        assert_eq!(shown(&accepted), expect, "{requested}");
        let found = format!("{} {}: {}", found.status, found.reason, found.message);
        assert_eq!(found, condition, "{requested}");
    }

    const FINE: &str = "True NoConflicts: no conflicts found";

    #[test]
    fn free_names_are_accepted() {
        let gadgets = "gadgets gadget Gadget GadgetList gd,gt";
        check(gadgets, NONE, gadgets, FINE);
        check(gadgets, gadgets, gadgets, FINE);
        check(gadgets, "gadgets g G GList gd", gadgets, FINE);
        // A kind may be named as a resource is.
        check("gadgets gadget widget widgets -", NONE, "gadgets gadget widget widgets -", FINE);
    }

    #[test]
    fn each_name_that_is_taken_is_left_out_and_the_last_is_told() {
        let free = "gadgets gadget Gadget GadgetList gd";
        let with = |from: &str, to: &str| free.replacen(from, to, 1);
        let check = |requested: &str, left_out: &str, condition: &str| {
            check(requested, NONE, left_out, condition);
        };
        check(
            &with("gadgets", "widget"),
            &with("gadgets", "-"),
            "False PluralConflict: \"widget\" is already in use",
        );
        check(
            &with("gadget ", "wd "),
            &with("gadget ", "- "),
            "False SingularConflict: \"wd\" is already in use",
        );
        check(
            &with("Gadget", "Widget"),
            &with("Gadget", "-"),
            "False KindConflict: \"Widget\" is already in use",
        );
        check(
            "gadgets gadget Widget WidgetList gd",
            "gadgets gadget - - gd",
            "False ListKindConflict: \"WidgetList\" is already in use",
        );
        check(
            "gizmos widgets Gizmo GizmoList wd,new,widget",
            "gizmos - Gizmo GizmoList -",
            "False ShortNamesConflict: [\"wd\" is already in use, \"widget\" is already in use]",
        );
    }

    #[test]
    fn what_a_definition_has_stays_while_it_cannot_get_more() {
        let own = "gadgets gadget Gadget GadgetList gd,gt";
        check(
            "gadgets gadget Widget GadgetList gd,wd",
            own,
            own,
            "False KindConflict: \"Widget\" is already in use",
        );
        check(
            "gadgets gadget Gadget GadgetList gd,x",
            own,
            "gadgets gadget Gadget GadgetList gd,x",
            FINE,
        );
        // Its own other names are taken, too.
        check(
            "gadgets gadgets Gadget GadgetList gd,gt",
            own,
            own,
            "False SingularConflict: \"gadgets\" is already in use",
        );
    }

    #[test]
    fn a_name_is_free_when_the_last_who_has_it_lets_it_go() {
        let mut group = GroupNames::default();
        let widgets = names(WIDGETS);
        group.take(&widgets);
        group.take(&widgets);
        group.release(&widgets);
        assert_eq!(group.free(&widgets).count(), 0);
        group.release(&widgets);
        group.release(&widgets);
        let free: Vec<&str> = group.free(&widgets).map(Str::as_str).collect();
        assert_eq!(free, ["widgets", "widget", "wd", "Widget", "WidgetList"]);
        assert!(group.is_empty());
    }

    #[test]
    fn who_waits_for_a_name_is_found_by_it() {
        let mut group = GroupNames::default();
        let (gadgets, gizmos) = (Str::new("gadgets.x"), Str::new("gizmos.x"));
        let wanted = names("gadgets widget Widget WidgetList wd");
        let missing = GroupNames::missing(&wanted, &names("gadgets - - - wd"));
        assert_eq!(missing, ["widget", "Widget", "WidgetList"]);
        for name in &missing {
            group.wait(name, &gizmos);
            group.wait(name, &gadgets);
        }
        let waiting: Vec<&Str> = group.waiting("Widget").collect();
        assert_eq!(waiting, [&gadgets, &gizmos]);
        for name in &missing {
            group.stop_waiting(name, &gizmos);
            group.stop_waiting(name, &gadgets);
        }
        assert!(group.is_empty());
    }

    #[test]
    fn names_are_written_as_they_are_read() {
        let mut widgets = names(WIDGETS);
        widgets.categories = vec![Str::new("all")];
        assert_eq!(Names::read(&widgets.to_value()), widgets);
        let none = Value::from([("kind", ""), ("plural", "")]);
        assert_eq!(Names::default().to_value(), none);
    }
}
