//! Random values for tests of laws.
//!
//! Every value here is one that a reader can give: floats that are whole numbers of 64 bits are
//! not among them, because their text reads as a whole number.

use proptest::prelude::*;

use super::{Str, Value};

/// Any value, nested a few levels.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::vec((text(), inner), 0..6).prop_map(|entries| {
                let entries = entries.into_iter().map(|(key, value)| (Str::from(key), value));
                Value::Map(entries.collect())
            }),
        ]
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (-1000_i64..1000).prop_map(Value::Int),
        any::<f64>().prop_filter_map("reads as a float", float),
        (-1e6..1e6).prop_filter_map("reads as a float", float),
        text().prop_map(Value::from),
    ]
}

fn float(number: f64) -> Option<Value> {
    let is_whole = number.fract() == 0.0 && number.abs() < 9.3e18;
    (number.is_finite() && !is_whole).then_some(Value::Float(number))
}

/// Texts, among them those that other formats take for something else.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z.-]{0,12}",
        "[ \\n\\t:#'\"\\[\\]{}!&*|>%@`,?-]{0,6}[a-z]{0,3}[ \\n]{0,2}",
        "[0-9_.eExobXOB+:-]{1,8}",
        prop::sample::select(vec![
            "",
            "~",
            "null",
            "yes",
            "No",
            "y",
            "on",
            "true",
            "0755",
            "0x1f",
            "1e3",
            ".inf",
            "<<",
            "=",
            "-",
            "--- ",
            "...",
            "2001-01-01",
            "12:30:45",
            "1_000",
            "\u{feff}x",
            "\u{85}",
        ])
        .prop_map(str::to_owned),
    ]
}
