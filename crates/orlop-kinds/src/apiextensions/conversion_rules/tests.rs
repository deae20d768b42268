//! Rules on small resources: what they do, what is kept, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test")]

use orlop_machinery::{json, yaml};
use proptest::prelude::*;

use super::*;

/// A resource with two versions.
fn definition(v1: &str, v2: &str, rules: &str) -> Value {
    let schema = |name: &str, fields: &str| {
        let text = format!(
            "{{name: {name}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: \
             {{type: object, properties: {fields}}}}}}}}}}}"
        );
        yaml::parse(text.as_bytes()).unwrap()
    };
    let mut definition = Value::from([("metadata", Value::Null)]);
    definition.entry("metadata").entry("annotations").set(ANNOTATION, rules);
    let spec = definition.entry("spec");
    spec.set("group", "example.com");
    spec.set("conversion", [("strategy", "None")]);
    spec.set("versions", vec![schema("v1", v1), schema("v2", v2)]);
    definition
}

fn rules(list: &str) -> String {
    format!("conversions:\n- from: v1\n  to: v2\n  rules: {list}\n")
}

fn compile(v1: &str, v2: &str, list: &str) -> ConversionRules {
    ConversionRules::compile(&definition(v1, v2, &rules(list))).unwrap().unwrap()
}

fn object(version: &str, spec: &str) -> Value {
    let text = format!(
        "{{apiVersion: example.com/{version}, kind: Foo, metadata: {{name: a}}, spec: {spec}}}"
    );
    yaml::parse(text.as_bytes()).unwrap()
}

/// Converts an object of v1 to v2, compares it, and converts it back.
fn check(compiled: &ConversionRules, v1: &str, v2: &str) {
    let original = object("v1", v1);
    let converted = compiled.convert(original.clone(), "v2").unwrap();
    assert_eq!(converted.at("apiVersion").str(), "example.com/v2");
    let shown = json::to_string(converted.at("spec"));
    assert_eq!(converted.at("spec"), object("v2", v2).at("spec"), "{shown}");
    assert_eq!(compiled.convert(converted, "v1").unwrap(), original);
}

fn check_refused(v1: &str, v2: &str, list: &str, expect: &[&str]) {
    let errors = ConversionRules::compile(&definition(v1, v2, &rules(list))).unwrap_err();
    assert_eq!(errors, expect);
}

const TEXT: &str = "{type: string}";

#[test]
fn fields_move_and_move_back() {
    let compiled = compile(
        "{host: {type: string}, port: {type: integer}, other: {type: string}}",
        "{endpoint: {type: object, properties: {host: {type: string}, port: {type: integer}}}, \
         other: {type: string}}",
        "[{move: {from: spec.host, to: spec.endpoint.host}}, \
          {move: {from: [spec, port], to: spec.endpoint.port}}]",
    );
    check(&compiled, "{host: a, port: 1, other: x}", "{endpoint: {host: a, port: 1}, other: x}");
    check(&compiled, "{port: 1}", "{endpoint: {port: 1}}");
    check(&compiled, "{other: x}", "{other: x}");
    check(&compiled, "{}", "{}");
}

#[test]
fn values_are_exchanged_and_may_change_their_type() {
    let compiled = compile(
        "{fast: {type: boolean}, level: {type: string, enum: [a, b]}}",
        "{mode: {type: string, enum: [Fast, Slow]}, level: {type: string, enum: [A, B]}}",
        "[{values: {path: spec.fast, pairs: [{from: true, to: Fast}, {from: false, to: Slow}]}}, \
          {move: {from: spec.fast, to: spec.mode}}, \
          {values: {path: spec.level, pairs: [{from: a, to: A}, {from: b, to: B}]}}]",
    );
    check(&compiled, "{fast: true, level: b}", "{mode: Fast, level: B}");
    check(&compiled, "{fast: false}", "{mode: Slow}");
}

#[test]
fn each_item_of_lists_and_maps_is_converted() {
    let item =
        |field: &str| format!("{{type: object, properties: {{{field}: {TEXT}, x: {TEXT}}}}}");
    let (old, new) = (item("old"), item("new"));
    let compiled = compile(
        &format!(
            "{{list: {{type: array, items: {old}}}, \
                  map: {{type: object, additionalProperties: {old}}}}}"
        ),
        &format!(
            "{{items: {{type: array, items: {new}}}, \
                  map: {{type: object, additionalProperties: {new}}}}}"
        ),
        "[{move: {from: spec.list, to: spec.items}}, \
          {each: {path: spec.items, rules: [{move: {from: old, to: new}}]}}, \
          {each: {path: spec.map, rules: [{move: {from: old, to: new}}]}}]",
    );
    check(
        &compiled,
        "{list: [{old: a, x: b}, {}, {old: c}], map: {k: {old: d}}}",
        "{items: [{new: a, x: b}, {}, {new: c}], map: {k: {new: d}}}",
    );
    check(&compiled, "{list: []}", "{items: []}");
}

fn note_and_tier() -> ConversionRules {
    compile(
        "{name: {type: string}, note: {type: string}}",
        "{name: {type: string}, tier: {type: string}}",
        "[{remove: {path: spec.note}}, {add: {path: spec.tier, value: standard}}]",
    )
}

#[test]
fn what_a_version_cannot_have_is_kept_beside_it() {
    let compiled = note_and_tier();
    check(&compiled, "{name: a, note: b}", "{name: a, tier: standard}");
    let converted = compiled.convert(object("v1", "{name: a, note: b}"), "v2").unwrap();
    let kept = converted.path(&["metadata", "annotations", KEPT]).str();
    assert_eq!(kept, r#"{"v1":[{"path":["spec","note"],"value":"b"}]}"#);
    let plain = compiled.convert(object("v1", "{name: a}"), "v2").unwrap();
    assert!(plain.path(&["metadata", "annotations"]).is_null());
    let second = object("v2", "{name: a, tier: gold}");
    let first = compiled.convert(second.clone(), "v1").unwrap();
    assert_eq!(first.at("spec"), object("v1", "{name: a}").at("spec"));
    assert_eq!(compiled.convert(first, "v2").unwrap(), second);
    // A field that is not there stays so, though it would begin with a value.
    let second = object("v2", "{name: a}");
    let first = compiled.convert(second.clone(), "v1").unwrap();
    assert_eq!(compiled.convert(first, "v2").unwrap(), second);
}

#[test]
fn what_is_kept_overrules_nobody() {
    let compiled = compile(
        "{mode: {type: string, enum: [fast, turbo, slow]}}",
        "{mode: {type: string, enum: [Fast, Slow]}}",
        "[{values: {path: spec.mode, lossy: true, pairs: [{from: fast, to: Fast}, \
          {from: turbo, to: Fast}, {from: slow, to: Slow}]}}]",
    );
    check(&compiled, "{mode: turbo}", "{mode: Fast}");
    let mut changed = compiled.convert(object("v1", "{mode: turbo}"), "v2").unwrap();
    changed.entry("spec").set("mode", "Slow");
    let back = compiled.convert(changed, "v1").unwrap();
    assert_eq!(back, object("v1", "{mode: slow}"));
}

#[test]
fn items_are_known_again_in_another_order() {
    let compiled = compile(
        "{list: {type: array, items: {type: object, properties: {n: {type: integer}, \
          note: {type: string}}}}}",
        "{list: {type: array, items: {type: object, properties: {n: {type: integer}}}}}",
        "[{each: {path: spec.list, rules: [{remove: {path: note}}]}}]",
    );
    let original = "{list: [{n: 1, note: a}, {n: 2}, {n: 3, note: c}]}";
    check(&compiled, original, "{list: [{n: 1}, {n: 2}, {n: 3}]}");
    let mut changed = compiled.convert(object("v1", original), "v2").unwrap();
    changed.entry("spec").entry("list").make_list().reverse();
    changed.entry("spec").entry("list").make_list().remove(1);
    let back = compiled.convert(changed, "v1").unwrap();
    assert_eq!(back, object("v1", "{list: [{n: 3, note: c}, {n: 1, note: a}]}"));
}

#[test]
fn versions_without_rules_of_their_own_are_reached_through_others() {
    let mut three = definition("{a: {type: string}}", "{b: {type: string}}", "");
    let mut third = three.path(&["spec", "versions"]).list()[1].clone();
    third.set("name", "v3");
    let properties = ["schema", "openAPIV3Schema", "properties", "spec", "properties"];
    let fields = third.path_mut(&properties).unwrap();
    let b = fields.remove("b").unwrap();
    fields.set("c", b);
    three.entry("spec").entry("versions").make_list().push(third);
    let text = "conversions:\n- {from: v1, to: v2, rules: [{move: {from: spec.a, to: spec.b}}]}\n\
                - {from: v3, to: v2, rules: [{move: {from: spec.c, to: spec.b}}]}\n";
    three.entry("metadata").entry("annotations").set(ANNOTATION, text);
    let compiled = ConversionRules::compile(&three).unwrap().unwrap();
    let converted = compiled.convert(object("v1", "{a: x}"), "v3").unwrap();
    assert_eq!(converted, object("v3", "{c: x}"));
    assert_eq!(compiled.convert(converted, "v1").unwrap(), object("v1", "{a: x}"));
    let lonely = text.lines().take(2).collect::<Vec<_>>().join("\n");
    three.entry("metadata").entry("annotations").set(ANNOTATION, lonely);
    let errors = ConversionRules::compile(&three).unwrap_err();
    assert_eq!(
        errors,
        ["conversions: there is no way between v1 and v3: say how one of the versions with rules \
          becomes v3"]
    );
}

#[test]
fn documents_that_cannot_be_read_are_refused() {
    let check = |text: &str, expect: &[&str]| {
        let errors = ConversionRules::compile(&definition("{}", "{}", text)).unwrap_err();
        assert_eq!(errors, expect, "{text}");
    };
    check("conversions: 1", &["conversions: must be a list"]);
    check("{conversions: [], x: 1}", &["x: unknown field"]);
    let words = "must be one of move, values, add, remove, each or compute";
    check(&rules("[{moev: {}}]"), &[&format!("conversions[0].rules[0].moev: {words}")]);
    check(&rules("[1]"), &[&format!("conversions[0].rules[0]: {words}")]);
    check(
        &rules("[{move: {from: spec., to: 1}}]"),
        &[
            "conversions[0].rules[0].move.from: must be a path such as spec.host",
            "conversions[0].rules[0].move.to: must be a path such as spec.host",
        ],
    );
    check(
        &rules("[{remove: {path: metadata.labels}}]"),
        &["conversions[0].rules[0].remove.path: metadata is the same in all versions"],
    );
    check(
        &rules("[{move: {from: spec.a, to: spec.a.b}}]"),
        &["conversions[0].rules[0].move: spec.a cannot move to spec.a.b"],
    );
    check(
        "conversions: [{from: v1, to: v9, rules: []}]",
        &[
            "conversions[0].to: there is no version v9",
            "conversions: there is no way between v1 and v2: say how one of the versions with \
             rules becomes v2",
        ],
    );
}

#[test]
fn rules_that_do_not_fit_the_schemas_are_refused() {
    check_refused(
        "{a: {type: string}}",
        "{b: {type: string}}",
        "[]",
        &[
            "conversions[0]: spec.a of v1 has no place in v2 and no rule says what becomes of it: \
             move it, or remove it (what v2 cannot hold is kept in an annotation)",
            "conversions[0]: spec.b of v2 has no place in v1 and no rule says what becomes of it: \
             move it, or add it (what v1 cannot hold is kept in an annotation)",
        ],
    );
    check_refused(
        "{a: {type: string}}",
        "{a: {type: integer}}",
        "[]",
        &["conversions[0]: spec.a is string in v1 and integer in v2: say with values or compute \
           how the one becomes the other"],
    );
    check_refused(
        "{a: {type: string}}",
        "{a: {type: string}}",
        "[{move: {from: spec.x, to: spec.y}}]",
        &["conversions[0].rules[0].move: spec.x is not in the schema of v1 as the rules before \
           left it"],
    );
    check_refused(
        "{a: {type: string}}",
        "{a: {type: string}, b: {type: integer}}",
        "[{add: {path: spec.b, value: text}}]",
        &["conversions[0].rules[0].add: \"text\" is no value that spec.b may have in its version"],
    );
    check_refused(
        "{a: {type: string}, b: {type: string}}",
        "{b: {type: string}}",
        "[{move: {from: spec.a, to: spec.b}}]",
        &["conversions[0].rules[0].move: spec.b is there already"],
    );
    check_refused(
        "{a: {type: string, enum: [x]}}",
        "{a: {type: string, enum: [y]}}",
        "[{values: {path: spec.a, pairs: [{from: z, to: y}]}}]",
        &["conversions[0].rules[0].values: \"z\" is no value that spec.a may have in v1"],
    );
}

#[test]
fn rules_that_lose_something_are_refused() {
    check_refused(
        "{mode: {type: string, enum: [fast, turbo, slow]}}",
        "{mode: {type: string, enum: [Fast, Slow]}}",
        "[{values: {path: spec.mode, pairs: [{from: fast, to: Fast}, {from: turbo, to: Fast}, \
          {from: slow, to: Slow}]}}]",
        &["conversions[0]: v1 to v2 and back makes \"fast\" of \"turbo\" in spec.mode"],
    );
}

const SPLIT: &str = "[{compute: {forward: {spec.host: \"self.spec.address.split(':')[0]\", \
     spec.port: \"int(self.spec.address.split(':')[1])\"}, backward: {spec.address: \
     \"self.spec.host + ':' + string(self.spec.port)\"}}}]";
const SPLIT_V1: &str = "{address: {type: string}, x: {type: string}}";
const SPLIT_V2: &str = "{host: {type: string}, port: {type: integer}, x: {type: string}}";

fn split_document(rules: &str, samples: &str) -> Value {
    let text = format!("conversions: [{{from: v1, to: v2, rules: {rules}, samples: {samples}}}]");
    definition(SPLIT_V1, SPLIT_V2, &text)
}

#[test]
fn fields_are_split_and_joined_by_expressions() {
    let samples = "{v1: {spec.address: ['a:1', 'b.c:65535']}}";
    let rules = SPLIT.replace(
        "self.spec.host + ':' + string(self.spec.port)",
        "has(self.spec.host) && has(self.spec.port) ? \
         optional.of(self.spec.host + ':' + string(self.spec.port)) : optional.none()",
    );
    let errors = ConversionRules::compile(&split_document(&rules, samples)).unwrap_err();
    assert_eq!(
        errors,
        [
            "conversions[0]: v2 to v1 and back makes nothing of 454 in spec.port",
            "conversions[0]: v2 to v1 and back makes nothing of \"spec.host-0\" in spec.host",
        ]
    );
    let lossy = rules.replace("{compute: {", "{compute: {lossy: true, ");
    let compiled = ConversionRules::compile(&split_document(&lossy, samples)).unwrap().unwrap();
    check(&compiled, "{address: 'h:80', x: y}", "{host: h, port: 80, x: y}");
    check(&compiled, "{x: y}", "{x: y}");
    // Half an address has no place in v1; it is kept beside it.
    let half = object("v2", "{host: h}");
    let first = compiled.convert(half.clone(), "v1").unwrap();
    assert_eq!(first.at("spec"), &Value::Null);
    assert_eq!(compiled.convert(first, "v2").unwrap(), half);
    let error = compiled.convert(object("v1", "{address: h}"), "v2").unwrap_err();
    assert_eq!(
        error.to_string(),
        "conversion of Foo from v1 to v2 failed: spec.port: index out of bounds: 1"
    );
}

#[test]
fn expressions_that_cannot_work_are_refused() {
    let check = |rules: &str, samples: &str, expect: &str| {
        let errors = ConversionRules::compile(&split_document(rules, samples)).unwrap_err();
        let is_told = errors.iter().any(|error| error.contains(expect));
        assert!(is_told, "{errors:#?} {expect}");
    };
    check(&SPLIT.replace("int(", "(("), "{}", "Syntax error: missing ')'");
    let expect = "spec.port is integer, and its expression makes string";
    check(&SPLIT.replace("int(", "string("), "{}", expect);
    let expect = "(samples can say what values of a field look like)";
    check(SPLIT, "{}", expect);
    let expect = "spec.missing is not in the schema of v2";
    check(&SPLIT.replace("spec.port:", "spec.missing:"), "{}", expect);
    let swapped = SPLIT.replace("+ ':' +", "+ '-' +");
    let expect = "makes \"a-1\" of \"a:1\" in spec.address";
    check(&swapped, "{v1: {spec.address: ['a:1']}}", expect);
}

#[test]
fn a_webhook_goes_before_rules() {
    let mut with_webhook = definition("{}", "{}", "nonsense");
    with_webhook.entry("spec").set("conversion", [("strategy", "Webhook")]);
    assert!(ConversionRules::compile(&with_webhook).unwrap().is_none());
    with_webhook.entry("metadata").remove("annotations");
    assert!(ConversionRules::compile(&with_webhook).unwrap().is_none());
}

#[test]
fn a_strange_annotation_of_an_object_does_no_harm() {
    let compiled = note_and_tier();
    for kept in [
        "garbage",
        "[]",
        r#"{"v2": 1}"#,
        r#"{"v2": [1, {}, {"path": []}, {"path": ["metadata", "name"], "value": "evil"}]}"#,
        r#"{"v2": [{"path": ["spec", "name", "x", "y"], "value": 1}]}"#,
        r#"{"v2": [{"path": ["spec", "name"], "item": 0, "value": 1}]}"#,
    ] {
        let mut strange = object("v1", "{name: a}");
        strange.entry("metadata").entry("annotations").set(KEPT, kept);
        let converted = compiled.convert(strange, "v2").unwrap();
        assert_eq!(converted, object("v2", "{name: a, tier: standard}"), "{kept}");
    }
}

/// A resource whose second version moves, exchanges, adds and removes, in items too.
fn large() -> ConversionRules {
    compile(
        "{host: {type: string}, port: {type: integer}, mode: {type: string, enum: [a, b, c]}, \
          note: {type: string}, list: {type: array, items: {type: object, properties: \
          {old: {type: string}, gone: {type: integer}}}}}",
        "{at: {type: object, properties: {host: {type: string}, port: {type: integer}}}, \
          mode: {type: string, enum: [A, B]}, tier: {type: string}, items: {type: array, items: \
          {type: object, properties: {new: {type: string}, level: {type: integer}}}}}",
        "[{move: {from: spec.host, to: spec.at.host}}, \
          {move: {from: spec.port, to: spec.at.port}}, \
          {values: {path: spec.mode, lossy: true, pairs: [{from: a, to: A}, {from: b, to: B}, \
          {from: c, to: B}]}}, {remove: {path: spec.note}}, \
          {add: {path: spec.tier, value: standard}}, {move: {from: spec.list, to: spec.items}}, \
          {each: {path: spec.items, rules: [{move: {from: old, to: new}}, {remove: {path: gone}}, \
          {add: {path: level, value: 1}}]}}]",
    )
}

fn text() -> impl Strategy<Value = Value> {
    "[a-c]{0,2}".prop_map(Value::from)
}

/// An object with some of these fields.
fn some_of(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let fields: Vec<_> = fields
        .into_iter()
        .map(|(name, value)| {
            proptest::option::of(value).prop_map(move |value| (name, value)).boxed()
        })
        .collect();
    let make = |fields: Vec<(&'static str, Option<Value>)>| {
        let fields = fields.into_iter();
        let fields = fields.filter_map(|(name, value)| Some((Str::new(name), value?)));
        Value::Map(fields.collect())
    };
    fields.prop_map(make).boxed()
}

fn number() -> BoxedStrategy<Value> {
    (0..3_i64).prop_map(Value::Int).boxed()
}

fn choice(choices: &'static [&'static str]) -> BoxedStrategy<Value> {
    proptest::sample::select(choices).prop_map(Value::from).boxed()
}

fn list_of(item: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    proptest::collection::vec(item, 0..4).prop_map(Value::List).boxed()
}

fn first_version() -> BoxedStrategy<Value> {
    let item = some_of(vec![("old", text().boxed()), ("gone", number())]);
    some_of(vec![
        ("host", text().boxed()),
        ("port", number()),
        ("mode", choice(&["a", "b", "c"])),
        ("note", text().boxed()),
        ("list", list_of(item)),
    ])
}

fn second_version() -> BoxedStrategy<Value> {
    let item = some_of(vec![("new", text().boxed()), ("level", number())]);
    some_of(vec![
        ("at", some_of(vec![("host", text().boxed()), ("port", number())])),
        ("mode", choice(&["A", "B"])),
        ("tier", choice(&["standard", "gold"])),
        ("items", list_of(item)),
    ])
}

proptest! {
    #[test]
    fn objects_come_back_from_the_other_version(spec in first_version()) {
        let compiled = large();
        let mut original = object("v1", "{}");
        original.set("spec", spec);
        let there = compiled.convert(original.clone(), "v2").unwrap();
        prop_assert_eq!(compiled.convert(there, "v1").unwrap(), original);
    }

    #[test]
    fn objects_come_back_from_the_first_version(spec in second_version()) {
        let compiled = large();
        let mut original = object("v2", "{}");
        original.set("spec", spec);
        let there = compiled.convert(original.clone(), "v1").unwrap();
        // And through further turns.
        let again = compiled.convert(there, "v2").unwrap();
        prop_assert_eq!(&again, &original);
        let there = compiled.convert(again, "v1").unwrap();
        prop_assert_eq!(compiled.convert(there, "v2").unwrap(), original);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        // Whatever comes out, it comes out.
        drop(ConversionRules::compile(&definition("{}", "{}", &text)));
        drop(ConversionRules::compile(&definition("{}", "{}", &rules(&text))));
    }
}

/// The example of the guide is what it says: its definition is accepted and converts.
#[test]
fn the_example_of_the_guide_works() {
    let guide = include_str!("../../../../../docs/guides/conversion.md");
    let example = guide.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let example = yaml::parse(example.as_bytes()).unwrap();
    let compiled = ConversionRules::compile(&example).unwrap().unwrap();
    check(
        &compiled,
        "{size: 1Gi, class: fast, mode: ro, note: mine, address: 'db:5432', users: [{user: a}]}",
        "{storage: {size: 1Gi, class: fast}, mode: ReadOnly, tier: standard, host: db, \
          port: 5432, users: [{name: a}]}",
    );
    check(&compiled, "{address: 'db:1'}", "{host: db, port: 1, tier: standard}");
}
