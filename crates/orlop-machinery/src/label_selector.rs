//! Choosing objects by their labels.
//!
//! Behaviour follows `staging/src/k8s.io/apimachinery/pkg/labels/selector.go` for the text form
//! (`app=web,tier in (a,b)`) and `.../pkg/apis/meta/v1/helpers.go` for the form in objects
//! (`matchLabels` and `matchExpressions`). A selector is a list of requirements that all have to
//! hold, sorted by key, so that equal selectors print alike. Matching allocates nothing.
//!
//! Not here: selectors of nodes, and whether a selector in an object is valid; that is validation.

mod object;
mod parse;
mod requirement;

use std::fmt;
use std::str::FromStr;

use crate::field::Errors;
use crate::text::quote;
use crate::value::{Map, Str, Value};

pub use object::format_value;
pub use requirement::{Operator, Requirement};

/// Requirements on labels, or a selector that never matches.
///
/// ```
/// use orlop_machinery::{Value, label_selector::LabelSelector};
///
/// let selector: LabelSelector = "tier in (web, api), !canary".parse().unwrap();
/// assert_eq!(selector.to_string(), "!canary,tier in (api,web)");
/// assert!(selector.matches(Value::from([("tier", "web")]).map()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    /// Sorted by key.
    requirements: Vec<Requirement>,
    /// Then there are no requirements.
    is_nothing: bool,
}

/// Why there is no such selector. In upstream's words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LabelSelectorError {
    /// The text cannot be read.
    #[error("{0}")]
    Syntax(String),
    /// One of the requirements in the text cannot be read.
    #[error("unable to parse requirement: {0}")]
    Requirement(String),
    /// Key, operator and values do not fit.
    #[error("{}", aggregate(.0))]
    Invalid(Errors),
    /// An object may not use this operator.
    #[error("{} is not a valid label selector operator", quote(.0))]
    UnknownOperator(Str),
}

impl LabelSelector {
    /// Matches all labels.
    #[must_use]
    pub const fn everything() -> LabelSelector {
        LabelSelector { requirements: Vec::new(), is_nothing: false }
    }

    /// Matches no labels.
    #[must_use]
    pub const fn nothing() -> LabelSelector {
        LabelSelector { requirements: Vec::new(), is_nothing: true }
    }

    /// All requirements have to hold.
    #[must_use]
    pub fn new(mut requirements: Vec<Requirement>) -> LabelSelector {
        requirements.sort_by(|a, b| a.key().cmp(b.key()));
        LabelSelector { requirements, is_nothing: false }
    }

    /// Every one of these labels has to be there. They are not validated.
    #[must_use]
    pub fn from_labels(labels: &Map) -> LabelSelector {
        let requirements = labels.iter().map(|(key, value)| Requirement::equals(key, value.str()));
        LabelSelector { requirements: requirements.collect(), is_nothing: false }
    }

    /// Whether the labels of an object match.
    #[must_use]
    pub fn matches(&self, labels: &Map) -> bool {
        self.matches_by(|key| labels.get(key).map(Value::str))
    }

    /// Whether labels match, wherever they are kept.
    #[must_use]
    pub fn matches_by<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.is_nothing && self.requirements.iter().all(|term| term.matches(lookup(term.key())))
    }

    /// Whether it matches all labels because it requires nothing.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty() && !self.is_nothing
    }

    /// Whether it was made to match nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.is_nothing
    }

    /// What has to hold, sorted by key.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Requires more. Nothing stays nothing.
    #[must_use]
    pub fn and(mut self, more: impl IntoIterator<Item = Requirement>) -> LabelSelector {
        if self.is_nothing {
            return self;
        }
        self.requirements.extend(more);
        LabelSelector::new(self.requirements)
    }

    /// The one value that a label must have, if the first requirement on it says so.
    #[must_use]
    pub fn requires_exact_match(&self, label: &str) -> Option<&str> {
        self.requirements.iter().find(|term| term.key() == label)?.only_value()
    }

    /// Whether some labels match both selectors.
    #[must_use]
    pub fn overlaps(&self, other: &LabelSelector) -> bool {
        if self.is_nothing || other.is_nothing {
            return false;
        }
        let mut terms: Vec<_> = self.requirements.iter().chain(&other.requirements).collect();
        terms.sort_by(|a, b| a.key().cmp(b.key()));
        terms.chunk_by(|a, b| a.key() == b.key()).all(requirement::can_all_hold)
    }
}

impl FromStr for LabelSelector {
    type Err = LabelSelectorError;

    fn from_str(text: &str) -> Result<LabelSelector, LabelSelectorError> {
        parse::parse(text).map(LabelSelector::new)
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.requirements.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

/// Several errors in one line, each once, as upstream joins them.
fn aggregate(errors: &Errors) -> String {
    let mut messages: Vec<String> = Vec::new();
    for error in errors.list() {
        let message = error.to_string();
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    match messages.as_slice() {
        [message] => message.clone(),
        messages => format!("[{}]", messages.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The canonical text, or the error.
    fn check(text: &str, expect: &str) {
        let seen = match text.parse::<LabelSelector>() {
            Ok(selector) => selector.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expect, "{text}");
    }

    fn parse(text: &str) -> LabelSelector {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// Labels as text: `a=b,c=d`.
    fn labels(text: &str) -> Map {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (Str::new(key), Value::from(value))).collect()
    }

    #[test]
    fn text_becomes_sorted_text() {
        check("", "");
        check("  ", "");
        check("x=a,y=b,z=c", "x=a,y=b,z=c");
        check("z==c , x!=a,y", "x!=a,y,z==c");
        check("x=", "x=");
        check("x= ,z= ", "x=,z=");
        check("x= ,z", "x=,z");
        check("!x", "!x");
        check("x>1,y<2", "x>1,y<2");
        check("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()");
        check("x in (b,a,b)", "x in (a,b)");
        check("x in (,)", "x in ()");
        check("in in (in, notin), notin notin (in)", "in in (in,notin),notin notin (in)");
        check("example.com/x\t=\r\nb", "example.com/x=b");
        check("x in (a) , x=a", "x in (a),x=a");
    }

    #[test]
    fn what_is_no_selector_says_so_in_upstreams_words() {
        let unable = "unable to parse requirement: ";
        check("x=a y=b", "found 'y', expected: ',' or 'end of string'");
        check("x==a==b", "found '==', expected: ',' or 'end of string'");
        check(",x", "found ',', expected: !, identifier, or 'end of string'");
        check("x,", "found '', expected: identifier after ','");
        check("x,,y", "found ',', expected: identifier after ','");
        check("!x=a", "found '=', expected: ',' or 'end of string'");
        check("!", &format!("{unable}found '', expected: identifier"));
        check("!=a", "found '!=', expected: !, identifier, or 'end of string'");
        check("x a", &format!("{unable}found 'a', expected: in, notin, =, ==, !=, gt, lt"));
        check("x=!a", &format!("{unable}found '!', expected: identifier"));
        check("x in a", &format!("{unable}found 'a' expected: '('"));
        check("x in (", &format!("{unable}found '', expected: ',', ')' or identifier"));
        check("x in (a", &format!("{unable}found '', expected: ',' or ')'"));
        check("x in (a b)", &format!("{unable}found 'b', expected: ',' or ')'"));
        check("x in (,", &format!("{unable}found '', expected: ',', or identifier"));
        check(
            "x>a",
            &format!(
                "{unable}values[0]: Invalid value: \"a\": \
                 for 'Gt', 'Lt' operators, the value must be an integer"
            ),
        );
        let name = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
                    end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
                    '123-abc', regex used for validation is \
                    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
        check("a!b", &format!("{unable}found '!', expected: in, notin, =, ==, !=, gt, lt"));
        check("-a", &format!("{unable}<nil>: Invalid value: \"-a\": name part {name}"));
        check(
            "a=b-",
            &format!(
                "{unable}values[0][a]: Invalid value: \"b-\": a valid label must be an empty \
                 string or consist of alphanumeric characters, '-', '_' or '.', and must start \
                 and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
                 '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            ),
        );
    }

    #[test]
    fn requirements_match_as_upstream_matches() {
        let table = [
            ("", "", true),
            ("", "x=y", true),
            ("x=y", "x=y", true),
            ("x=y,z=w", "x=y,z=w", true),
            ("x=y,z=w", "x=y", false),
            ("x!=y", "x=z", true),
            ("x!=y", "", true),
            ("x!=y", "x=y", false),
            ("notin", "notin=in", true),
            ("x", "x=z", true),
            ("!x", "y=z", true),
            ("!x", "x=z", false),
            ("x>1", "x=2", true),
            ("x>1", "x=1", false),
            ("x>1", "", false),
            ("x>1", "x=a", false),
            ("x<1", "x=0", true),
            ("x=", "x=", true),
            ("x=", "", false),
            ("x in (a,b)", "x=b", true),
            ("x in (a,b)", "x=c", false),
            ("x notin (a,b)", "", true),
            ("x notin (a,b)", "x=a", false),
        ];
        for (selector, text, expect) in table {
            assert_eq!(parse(selector).matches(&labels(text)), expect, "{selector} on {text}");
        }
        assert!(!LabelSelector::nothing().matches(&Map::new()));
        assert!(LabelSelector::from_labels(&labels("a=b")).matches(&labels("a=b,c=d")));
    }

    #[test]
    fn nothing_stays_nothing() {
        let more = || [Requirement::equals("a", "b")];
        assert!(LabelSelector::nothing().and(more()).is_nothing());
        assert_eq!(LabelSelector::everything().and(more()).to_string(), "a=b");
        assert_eq!(parse("z,b").and(more()).to_string(), "a=b,b,z");
        assert!(!LabelSelector::nothing().is_everything());
        assert_eq!(LabelSelector::nothing().to_string(), "");
    }

    #[test]
    fn the_first_requirement_on_a_label_says_its_value() {
        let table = [
            ("x=a", Some("a")),
            ("x==a", Some("a")),
            ("x in (a)", Some("a")),
            ("x in (a,b)", None),
            ("x!=a,x=b", None),
            ("y=a", None),
        ];
        for (selector, expect) in table {
            assert_eq!(parse(selector).requires_exact_match("x"), expect, "{selector}");
        }
    }

    #[test]
    fn selectors_overlap_when_labels_can_match_both() {
        let table = [
            ("", "", true),
            ("x=a", "y=b", true),
            ("x=a", "x=b", false),
            ("x=a", "x!=a", false),
            ("x in (a,b)", "x!=a", true),
            ("x in (a,b)", "x notin (a,b)", false),
            ("!x", "x", false),
            ("!x", "x!=a", true),
            ("x!=a", "x", true),
            ("x>1", "x<3", true),
            ("x>1", "x<2", false),
            ("x<0", "", false),
            ("x>1", "x=1", false),
            ("x>1", "x!=2", true),
        ];
        for (a, b, expect) in table {
            assert_eq!(parse(a).overlaps(&parse(b)), expect, "{a} and {b}");
            assert_eq!(parse(b).overlaps(&parse(a)), expect, "{b} and {a}");
        }
        assert!(!LabelSelector::nothing().overlaps(&LabelSelector::everything()));
    }

    fn terms() -> impl Strategy<Value = String> {
        let key = "[xyz]";
        let value = "[abc0123]?";
        prop_oneof![
            (key, "(=|==|!=)", value).prop_map(|(key, sign, value)| key + &sign + &value),
            (key, "[<>]", "[0-3]").prop_map(|(key, sign, value)| key + &sign + &value),
            ("!?", key).prop_map(|(sign, key)| sign + &key),
            (key, "(in|notin)", prop::collection::vec(value, 1..4)).prop_map(
                |(key, operator, values)| format!("{key} {operator} ({})", values.join(","))
            ),
        ]
    }

    fn selectors() -> impl Strategy<Value = LabelSelector> {
        prop::collection::vec(terms(), 0..5).prop_map(|terms| parse(&terms.join(",")))
    }

    fn some_labels() -> impl Strategy<Value = Map> {
        prop::collection::btree_map("[xyz]", "[abc0123]?", 0..4).prop_map(|labels| {
            labels.into_iter().map(|(key, value)| (Str::from(key), Value::from(value))).collect()
        })
    }

    proptest! {
        #[test]
        fn printed_selectors_read_as_the_same(selector in selectors()) {
            prop_assert_eq!(parse(&selector.to_string()), selector);
        }

        #[test]
        fn both_match_what_their_sum_matches(
            a in selectors(), b in selectors(), labels in some_labels()
        ) {
            let both = a.clone().and(b.requirements().iter().cloned());
            let expect = a.matches(&labels) && b.matches(&labels);
            prop_assert_eq!(both.matches(&labels), expect);
            if expect {
                prop_assert!(a.overlaps(&b));
            }
        }

        #[test]
        fn no_text_is_a_panic(text in "[-a!=,()<> in\\PC]{0,40}") {
            let _ = text.parse::<LabelSelector>();
        }
    }
}
