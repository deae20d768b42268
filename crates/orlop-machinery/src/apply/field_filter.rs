//! Which changed fields count: a strategy resets some fields, and nobody may own those.
//!
//! A resource that resets `status` excludes it; a subresource that writes a few nested fields
//! includes only those. Behaviour after `structured-merge-diff/fieldpath` (`set.go`: filters and
//! matchers) and `apiserver/pkg/registry/rest` (reset fields).

use super::field_path::PathElement;
use super::field_set::FieldSet;
use crate::value::Str;

/// Keeps some fields of a set.
#[derive(Clone, Debug)]
pub enum FieldFilter {
    /// All but these and what is below them.
    Exclude(FieldSet),
    /// Only what the pattern matches.
    Include(FieldPattern),
}

/// Filters by API version; a version without one keeps every field.
#[derive(Clone, Debug, Default)]
pub struct ResetFields {
    by_version: Vec<(Str, FieldFilter)>,
}

/// Paths that start in certain ways.
///
/// Where a step may be anything, what else the pattern says about that step is not looked at; so
/// too with a second such step, which upstream forgets as well.
#[derive(Clone, Debug, Default)]
pub struct FieldPattern {
    /// Whether everything from here on matches.
    is_open: bool,
    /// Steps that match and what must follow them; no element matches any. Those come first.
    steps: Vec<(Option<PathElement>, FieldPattern)>,
}

impl ResetFields {
    /// The same filter in several versions.
    #[must_use]
    pub fn new(versions: &[&str], filter: &FieldFilter) -> ResetFields {
        let mut fields = ResetFields::default();
        for version in versions {
            fields.set(version, filter.clone());
        }
        fields
    }

    /// Sets the filter of a version.
    pub fn set(&mut self, version: &str, filter: FieldFilter) {
        self.by_version.retain(|(known, _)| known != version);
        self.by_version.push((Str::new(version), filter));
    }

    pub(super) fn apply(&self, version: &str, set: &mut FieldSet) {
        if let Some((_, filter)) = self.by_version.iter().find(|(known, _)| known == version) {
            filter.apply(set);
        }
    }
}

impl FieldFilter {
    /// All but these paths of field names (`spec.replicas`) and what is below them.
    #[must_use]
    pub fn exclude(paths: &[&str]) -> FieldFilter {
        FieldFilter::Exclude(FieldSet::of_fields(paths))
    }

    /// Only what starts like one of these paths of field names, in which `*` is any step
    /// (`spec.containers.*.resources`).
    #[must_use]
    pub fn include(prefixes: &[&str]) -> FieldFilter {
        let patterns = prefixes.iter().map(|prefix| FieldPattern::prefix(prefix));
        FieldFilter::Include(patterns.reduce(FieldPattern::merge).unwrap_or_else(FieldPattern::any))
    }

    /// Takes out what the filter does not keep.
    pub fn apply(&self, set: &mut FieldSet) {
        match self {
            FieldFilter::Exclude(fields) => set.subtract_with_children(fields),
            FieldFilter::Include(pattern) => pattern.apply(set),
        }
    }
}

impl FieldPattern {
    /// Matches everything.
    #[must_use]
    pub fn any() -> FieldPattern {
        FieldPattern { is_open: true, steps: Vec::new() }
    }

    /// Matches what starts with this path of field names, in which `*` is any step.
    #[must_use]
    pub fn prefix(path: &str) -> FieldPattern {
        path.rsplit('.').fold(FieldPattern::any(), |rest, name| {
            let element = (name != "*").then(|| PathElement::field(name));
            FieldPattern { is_open: false, steps: vec![(element, rest)] }
        })
    }

    /// Matches what one or the other does.
    #[must_use]
    pub fn merge(mut self, other: FieldPattern) -> FieldPattern {
        if self.is_open || other.is_open {
            return FieldPattern::any();
        }
        for (element, rest) in other.steps {
            match self.steps.iter_mut().find(|(known, _)| *known == element) {
                Some((None, _)) => {}
                Some((Some(_), known)) => *known = std::mem::take(known).merge(rest),
                None if element.is_none() => self.steps.insert(0, (element, rest)),
                None => self.steps.push((element, rest)),
            }
        }
        self
    }

    fn apply(&self, set: &mut FieldSet) {
        if self.is_open {
            return;
        }
        set.retain(|element, branch| {
            let matches =
                |known: &Option<PathElement>| known.as_ref().is_none_or(|at| at == element);
            let Some((_, rest)) = self.steps.iter().find(|(known, _)| matches(known)) else {
                return false;
            };
            rest.apply(&mut branch.children);
            true
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::super::fields_v1;
    use super::*;

    fn check(filter: &FieldFilter, input: &str, expect: &str) {
        let mut set = fields_v1::parse(input).unwrap();
        filter.apply(&mut set);
        assert_eq!(fields_v1::to_text(&set), expect);
    }

    const POD: &str = concat!(
        r#"{"f:metadata":{},"f:spec":{".":{},"f:containers":{".":{},"k:{\"name\":\"a\"}":{".":{},"#,
        r#""f:image":{},"f:resizePolicy":{},"f:resources":{".":{},"f:limits":{"f:cpu":{}}}}},"#,
        r#""f:hostNetwork":{}},"f:status":{"f:phase":{}}}"#,
    );
    const RESOURCES: &str = concat!(
        r#"{"f:spec":{".":{},"f:containers":{".":{},"k:{\"name\":\"a\"}":{".":{},"#,
        r#""f:resources":{".":{},"f:limits":{"f:cpu":{}}}}}}}"#,
    );

    #[test]
    fn excluded_fields_go_with_what_is_below() {
        check(
            &FieldFilter::exclude(&["spec", "status.other"]),
            POD,
            r#"{"f:metadata":{},"f:status":{"f:phase":{}}}"#,
        );
    }

    #[test]
    fn only_what_matches_a_prefix_stays_and_the_way_to_it() {
        check(&FieldFilter::include(&["spec.containers.*.resources"]), POD, RESOURCES);
        check(
            &FieldFilter::include(&["spec.hostNetwork", "status"]),
            POD,
            r#"{"f:spec":{".":{},"f:hostNetwork":{}},"f:status":{"f:phase":{}}}"#,
        );
        check(&FieldFilter::include(&[]), POD, POD);
    }

    #[test]
    fn a_second_pattern_after_any_step_is_not_looked_at() {
        check(
            &FieldFilter::include(&[
                "spec.containers.*.resources",
                "spec.containers.*.resizePolicy",
            ]),
            POD,
            RESOURCES,
        );
    }

    #[test]
    fn a_version_without_filter_keeps_everything() {
        let fields = ResetFields::new(&["v1", "v2"], &FieldFilter::exclude(&["status"]));
        for (version, expect) in [("v1", 1), ("v2", 1), ("v3", 2)] {
            let mut set = FieldSet::of_fields(&["spec", "status"]);
            fields.apply(version, &mut set);
            assert_eq!(set.len(), expect);
        }
    }
}
