//! JSONPath as columns of custom resources use it: `.status.conditions[?(@.type=="Ready")].status`.
//!
//! A path is parsed once and evaluated over any number of objects; what it finds are references
//! into the object, or literals of the path itself. The language, its quirks and its messages are
//! those of upstream's `client-go/util/jsonpath`, with missing keys allowed, as columns are
//! evaluated (`apiextensions-apiserver/pkg/registry/customresource/tableconvertor`).
//!
//! Both parsing and evaluation are bounded, which upstream's are not: filters inside filters go
//! sixteen deep, and no evaluation looks at more than a hundred thousand values.
//!
//! Deliberately not here: `range` and `end`, which only the output of a command line needs. Maps
//! are walked in the order of their keys, upstream's in none.

mod eval;
mod parse;
mod print;

use crate::value::{Str, Value};

pub use print::print;

/// A parsed path.
///
/// ```
/// use orlop_machinery::{json, json_path::JsonPath};
///
/// let object = json::parse(br#"{"ports": [{"name": "a", "port": 1}, {"name": "b"}]}"#).unwrap();
/// let path = JsonPath::parse(r#".ports[?(@.name=="a")].port"#).unwrap();
/// assert_eq!(path.first(&object).unwrap().unwrap().int(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    blocks: Vec<Block>,
}

/// Why a text is not a path, or a path cannot be evaluated. In upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonPathError {
    /// What is wrong.
    pub message: String,
}

/// A part of a template: plain text, or what stood between braces.
type Block = Vec<Step>;

/// One step of a path: from some values to others.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(Str),
    Slice(Slice),
    Filter(Box<Filter>),
    Wildcard,
    Recursive,
    Union(Vec<Block>),
    /// A number or truth: one for each value.
    Literal(Value),
    /// Text: one, however many values there are.
    Text(Value),
    /// A bare word. None means anything here.
    Identifier(Str),
}

/// `[start:end:step]`. Negative numbers count from the end of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    start: i64,
    /// None is the end of the list.
    end: Option<i64>,
    /// Whether only `start` was written, so that `end` is the one after it.
    is_index: bool,
    step: Option<i64>,
}

/// `[?(left operator right)]`.
#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Block,
    operator: Operator,
    right: Block,
}

#[derive(Clone, Debug, PartialEq)]
enum Operator {
    Exists,
    Less,
    Greater,
    Equal,
    NotEqual,
    LessOrEqual,
    GreaterOrEqual,
    /// Known only when an item is compared, as upstream.
    Unknown(Str),
}

impl JsonPath {
    /// Reads a path, without the braces that a template has around it.
    ///
    /// # Errors
    ///
    /// When it is not a path, in upstream's words.
    pub fn parse(path: &str) -> Result<JsonPath, JsonPathError> {
        let blocks = parse::template(&format!("{{{path}}}"))?;
        Ok(JsonPath { blocks })
    }

    /// What the path finds in an object.
    ///
    /// # Errors
    ///
    /// When a step does not fit what it meets: an index into what is no list, an index out of
    /// bounds, a comparison of a number with text. Missing fields are no error.
    pub fn find<'a>(&'a self, object: &'a Value) -> Result<Vec<&'a Value>, JsonPathError> {
        let mut found = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let results = eval::evaluate(block, object)?;
            // Braces inside a path start a template with several results; columns show the first.
            if at == 0 {
                found = results;
            }
        }
        Ok(found)
    }

    /// The first value that the path finds: what a column shows.
    ///
    /// # Errors
    ///
    /// As [`JsonPath::find`].
    pub fn first<'a>(&'a self, object: &'a Value) -> Result<Option<&'a Value>, JsonPathError> {
        Ok(self.find(object)?.first().copied())
    }
}

impl JsonPathError {
    fn new(message: impl Into<String>) -> JsonPathError {
        JsonPathError { message: message.into() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json;

    const STORE: &str = r#"{
        "name": "shop",
        "empty": null,
        "labels": {"web/html": 15, "k8s-app": 20, "a.b/c": "dotted"},
        "books": [
            {"title": "Sayings", "author": "Rees", "price": 8.95, "pages": 100},
            {"title": "Honour", "author": "Waugh", "price": 12.99, "pages": 200},
            {"title": "Moby", "author": "Melville", "price": 8.99}
        ],
        "bikes": [{"color": "red", "new": true}, {"color": "green", "new": false}],
        "numbers": [0, 1, 2, 3, 4, 5],
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "No"}]
    }"#;

    fn store() -> Value {
        json::parse(STORE.as_bytes()).unwrap()
    }

    /// What a path finds in the store, printed with spaces between. What cannot be read starts
    /// with `!!`, what cannot be evaluated with `!`.
    fn run(path: &str) -> String {
        let store = store();
        let parsed = match JsonPath::parse(path) {
            Ok(parsed) => parsed,
            Err(error) => return format!("!!{error}"),
        };
        match parsed.find(&store) {
            Ok(found) => found.into_iter().map(print).collect::<Vec<_>>().join(" "),
            Err(error) => format!("!{error}"),
        }
    }

    fn check(cases: &[(&str, &str)]) {
        for (path, expect) in cases {
            assert_eq!(run(path), *expect, "{path}");
        }
    }

    #[test]
    fn fields_lead_into_maps() {
        check(&[
            (".name", "shop"),
            ("$.name", "shop"),
            ("@.name", "shop"),
            (" .name ", "shop"),
            (".labels.web/html", "15"),
            (".labels.k8s-app", "20"),
            (r".labels.a\.b/c", "dotted"),
            (r"['labels']['a\.b/c']", "dotted"),
            ("['labels']['k8s-app']", "20"),
            // A dot in a quoted key is a step, as upstream has it.
            ("['labels.k8s-app']", "20"),
            (".labels", r#"{"a.b/c":"dotted","k8s-app":20,"web/html":15}"#),
            (".bikes[0]", r#"{"color":"red","new":true}"#),
            (".empty", "<no value>"),
            ("", &json::to_string(&store())),
        ]);
    }

    #[test]
    fn what_is_missing_is_not_found_and_no_error() {
        check(&[
            (".missing", ""),
            (".missing.deeper[0].x", ""),
            (".missing[?(@.a==1)]", ""),
            (".empty.x", ""),
            (".empty[0]", ""),
            (".name.x", ""),
            (".", ""),
        ]);
    }

    #[test]
    fn lists_are_indexed_and_cut() {
        check(&[
            (".numbers[0]", "0"),
            (".numbers[-1]", "5"),
            (".numbers[-6]", "0"),
            (".numbers[0:2]", "0 1"),
            (".numbers[:2]", "0 1"),
            (".numbers[4:]", "4 5"),
            (".numbers[-2:]", "4 5"),
            (".numbers[:-4]", "0 1"),
            (".numbers[::2]", "0 2 4"),
            (".numbers[1:4:2]", "1 3"),
            (".numbers[1::]", "1 2 3 4 5"),
            (".numbers[3:3]", ""),
            (".numbers[9:9]", ""),
            (".numbers[]", "0"),
            (".numbers[*]", "0 1 2 3 4 5"),
            (".bikes[*].color", "red green"),
            (".numbers[6]", "!array index out of bounds: index 6, length 6"),
            (".numbers[-7]", "!array index out of bounds: index -1, length 6"),
            (".numbers[2:7]", "!array index out of bounds: index 6, length 6"),
            (".numbers[3:1]", "!starting index 3 is greater than ending index 1"),
            (".numbers[0:6:0]", "!step must be > 0"),
            (".numbers[0:6:-1]", "!step must be > 0"),
            (".name[0]", "!string is not array or slice"),
            (".labels[0]", "!map[string]interface {} is not array or slice"),
            (".numbers[0][0]", "!int64 is not array or slice"),
        ]);
    }

    #[test]
    fn several_things_can_be_taken_at_once() {
        check(&[
            (".numbers[1,3,4]", "1 3 4"),
            (".numbers[1, 0:2]", "1 0 1"),
            (".books[0]['title', 'author']", "Sayings Rees"),
            (".bikes.*.color", "red green"),
            (".labels.*", "dotted 20 15"),
            (".books[0].*", "Rees 100 8.95 Sayings"),
            (".bikes[0].color.*", "114 101 100"),
            ("..color", "red green"),
            ("..title", "Sayings Honour Moby"),
            (".bikes[0]..", r#"{"color":"red","new":true} red"#),
            ("..['color']", "red green"),
        ]);
    }

    #[test]
    fn filters_keep_the_items_that_pass() {
        check(&[
            (r#".conditions[?(@.type=="Ready")].status"#, "True"),
            (".conditions[?(@.type=='Ready')].status", "True"),
            (".conditions[?( @.type == 'Ready' )].status", "True"),
            (".conditions[?(.type=='Ready')].status", "True"),
            (".conditions[?(@.type!='Ready')].status", "No"),
            (".conditions[?(@.status=='a)b')].status", ""),
            (".books[?(@.price<9.0)].title", "Sayings Moby"),
            (".books[?(@.price>=8.99)].title", "Honour Moby"),
            (".books[?(@.pages>100)].title", "Honour"),
            (".books[?(@.pages<=100)].title", "Sayings"),
            (".books[?(@.pages)].title", "Sayings Honour"),
            (".books[?(@.author[0])].title", "Sayings Honour Moby"),
            (".bikes[?(@.new==true)].color", "red"),
            (".bikes[?(@.new!=true)].color", "green"),
            (".numbers[?(@<2)]", "0 1"),
            (".books[?(@.title==@.author)]", ""),
            (".books[?(@.price==9)]", "!incompatible types for comparison"),
            (".bikes[?(@.new<true)]", "!invalid type for comparison"),
            (".books[?(@==1)]", "!invalid type for comparison"),
            (".books[?(@.*=='x')]", "!can only compare one element at a time"),
            (".numbers[?(@=1)]", "!unrecognized filter operator ="),
            (".name[?(@.x)]", "!shop is not array or slice and cannot be filtered"),
            (".empty[?(@.x)]", "!<nil> is not array or slice and cannot be filtered"),
            (
                ".bikes[0][?(@.x)]",
                "!map[color:red new:true] is not array or slice and cannot be filtered",
            ),
        ]);
    }

    #[test]
    fn literals_stand_for_themselves() {
        check(&[
            ("'a'", "a"),
            (r#""a\"b\n""#, "a\"b\n"),
            (r"'\x41\u00e9\101'", "A\u{e9}A"),
            ("5", "5"),
            ("-5", "-5"),
            ("+1.5", "1.5"),
            ("1000000.0", "1e+06"),
            ("0.00001", "1e-05"),
            ("true", "true"),
            (".numbers[0:2] 7", "7 7"),
        ]);
    }

    #[test]
    fn what_is_no_path_is_refused_in_upstreams_words() {
        check(&[
            (".a[", "!!unterminated array"),
            (".a['x]", "!!invalid array index 'x"),
            (".a[x]", "!!invalid array index x"),
            (".a[1:2:3:4]", "!!invalid array index 1:2:3:4"),
            (".a[-]", "!!array index - is not a number"),
            (".a[99999999999999999999]", "!!array index 99999999999999999999 is not a number"),
            (".a[?(@.b==1", "!!unterminated filter"),
            (".a[?(@.b==1)", "!!unclosed array expect ]"),
            (".a[?(=1)]", "!!unrecognized character in action: U+003D '='"),
            (".a[?(@.b==1 && @.c==2)]", "!!unrecognized character in action: U+0026 '&'"),
            ("....", "!!invalid multiple recursive descent"),
            ("'a", "!!unterminated quoted string"),
            (r"'\q'", r"!!unquote string '\q' error invalid syntax"),
            ("1.2.3", "!!cannot parse number 1.2.3"),
            ("#", "!!unrecognized character in action: U+0023 '#'"),
            ("\t", "!!unrecognized character in action: U+0009"),
            (".a\n", "!!unclosed action"),
            ("range .a", "!unrecognized identifier range"),
            ("end", "!not in range, nothing to end"),
        ]);
    }

    #[test]
    fn a_brace_ends_the_path_that_counts() {
        check(&[
            (".name} and {.numbers[0]", "shop"),
            (".name}{.numbers[9]", run(".numbers[9]").as_str()),
        ]);
    }

    #[test]
    fn a_path_that_multiplies_is_stopped() {
        let mut deep = Value::Int(1);
        for _ in 0..200 {
            deep = Value::from([("a", Value::List(vec![deep]))]);
        }
        let path = JsonPath::parse(&"...*".repeat(20)).unwrap();
        let error = path.find(&deep).unwrap_err();
        assert_eq!(error.message, "the path finds too many values");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(path in r#"[.\[\]?()@$*:,'"{}\\a-c0-2<=!. -]{0,40}"#) {
            run(&path);
        }
    }
}
