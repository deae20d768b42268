//! Pods and nodes with anything anywhere: no rule of any endpoint stumbles, no row has too few
//! cells, and defaults that are set stay as they are.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use orlop_kinds::catalog::{Entry, catalog};
use orlop_kinds::schema;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::schema::{Omit, StructId, Type};
use orlop_machinery::{Map, Value};
use proptest::prelude::*;

/// Texts that mean something to some rule, and some that mean nothing anywhere.
const TEXTS: [&str; 40] = [
    "",
    "a",
    "b",
    "A b",
    "a.b/c",
    "Always",
    "Never",
    "OnFailure",
    "None",
    "Default",
    "windows",
    "linux",
    "Localhost",
    "Unconfined",
    "RuntimeDefault",
    "RestartContainer",
    "NotRequired",
    "Bidirectional",
    "Enabled",
    "In",
    "Exists",
    "Lt",
    "Equal",
    "NoExecute",
    "metadata.name",
    "metadata.labels['a']",
    "limits.cpu",
    "limits.hugepages-2Mi",
    "net.core.x",
    "kernel/shm",
    "10.0.0.1",
    "..",
    "/",
    "../a",
    ".",
    "a\\b",
    "\u{e9}=",
    "v1",
    "TCP",
    "DoNotSchedule",
];
const NUMBERS: [i64; 8] = [0, 1, -1, 2, 80, 101, 65536, 2_147_483_648];
const QUANTITIES: [&str; 7] = ["0", "1", "-1", "1m", "100u", "3Mi", "4Mi"];
const TIMES: [&str; 2] = ["2026-01-01T00:00:00Z", "0001-01-01T00:00:01Z"];
const KEYS: [&str; 8] = [
    "a",
    "cpu",
    "memory",
    "hugepages-2Mi",
    "example.com/gpu",
    "controller.kubernetes.io/pod-deletion-cost",
    "container.apparmor.security.beta.kubernetes.io/a",
    "scheduler.alpha.kubernetes.io/tolerations",
];

/// How deep a pod is made: beyond, lists and structs are empty.
const DEPTH_MAX: usize = 9;

/// Chooses by numbers that come from nowhere else: a simple generator is enough here.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn object(&mut self, id: StructId, depth: usize) -> Value {
        let mut object = Value::Map(Map::new());
        for field in &schema().get(id).fields {
            let is_always =
                field.omit == Omit::Never || field.name == "spec" || field.name == "containers";
            if is_always || (depth < DEPTH_MAX && self.below(3) == 0) {
                let value = self.value(&field.ty, depth + 1);
                // What Go leaves out is not there.
                if field.is_pointer || field.omit != Omit::Empty || !value.is_empty() {
                    object.set(&field.name, value);
                }
            }
        }
        object
    }

    fn value(&mut self, ty: &Type, depth: usize) -> Value {
        let count = if depth < DEPTH_MAX { self.below(3) } else { 0 };
        match ty {
            Type::Bool => Value::Bool(self.below(2) == 0),
            Type::Int32 | Type::Int64 => Value::Int(self.of(&NUMBERS)),
            Type::IntOrString if self.below(2) == 0 => Value::Int(self.of(&NUMBERS)),
            Type::String | Type::IntOrString => self.of(&TEXTS).into(),
            Type::Quantity => self.of(&QUANTITIES).into(),
            Type::Time => self.of(&TIMES).into(),
            Type::List(list) => {
                Value::List((0..count).map(|_| self.value(&list.item, depth + 1)).collect())
            }
            Type::Map(map) => {
                let entries =
                    (0..count).map(|_| (self.of(&KEYS).into(), self.value(&map.value, depth + 1)));
                Value::Map(entries.collect())
            }
            Type::Struct(id) => self.object(*id, depth),
            _ => ty.zero(),
        }
    }
}

/// Everything that is done with an object that is sent to an endpoint. How long the text of all
/// errors is does not matter: it can be made.
fn send(entry: &Entry, rules: &dyn Rules, sent: &Value, old: &Value) -> usize {
    let context = Context::default();
    let mut errors = Errors::new();
    let mut warnings = Vec::new();
    let mut new = sent.clone();
    rules.prepare_create(&context, &mut new);
    rules.validate(&context, &entry.node(&new), &mut errors);
    rules.warn(&context, &entry.node(&new), &mut warnings);
    let mut new = sent.clone();
    rules.prepare_update(&context, &mut new, old);
    let (new, old) = (entry.node(&new), entry.node(old));
    rules.validate_update(&context, &new, &old, &mut errors);
    rules.warn_update(&context, &new, &old, &mut warnings);
    errors.to_string().len()
}

fn check(kind: &str, seeds: (u64, u64)) -> Result<(), TestCaseError> {
    let entry = catalog().find_kind("v1", kind).unwrap();
    let object = |seed: u64| {
        let mut object = Chance(seed).object(entry.id, 0);
        catalog().set_defaults(entry, &mut object);
        object
    };
    let (new, old) = (object(seeds.0), object(seeds.1));
    let mut again = new.clone();
    catalog().set_defaults(entry, &mut again);
    prop_assert_eq!(&new, &again);
    send(entry, entry.kind, &new, &old);
    for subresource in entry.resource.subresources.iter().filter(|found| found.kind.is_none()) {
        if let Some(rules) = &subresource.rules {
            send(entry, &**rules, &new, &old);
        }
    }
    let row = entry.kind.row(&Context::default(), &new);
    prop_assert_eq!(row.cells.len(), entry.kind.columns().len());
    for field in entry.kind.selectable_fields() {
        (field.get)(&new);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_pod_makes_a_rule_stumble(seeds in any::<(u64, u64)>()) {
        check("Pod", seeds)?;
    }

    #[test]
    fn no_node_makes_a_rule_stumble(seeds in any::<(u64, u64)>()) {
        check("Node", seeds)?;
    }
}
