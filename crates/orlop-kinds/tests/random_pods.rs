//! Pods with anything anywhere: no rule stumbles, and defaults that are set stay as they are.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use orlop_kinds::catalog::catalog;
use orlop_kinds::schema;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::Context;
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_pod_makes_a_rule_stumble(seeds in any::<(u64, u64)>()) {
        let entry = catalog().find_kind("v1", "Pod").unwrap();
        let pod = |seed: u64| {
            let mut pod = Chance(seed).object(entry.id, 0);
            catalog().set_defaults(entry, &mut pod);
            pod
        };
        let (mut new, old) = (pod(seeds.0), pod(seeds.1));
        let mut again = new.clone();
        catalog().set_defaults(entry, &mut again);
        prop_assert_eq!(&new, &again);
        let context = Context::default();
        entry.kind.validate(&context, &entry.node(&new), &mut Errors::new());
        entry.kind.prepare_update(&context, &mut new, &old);
        let mut errors = Errors::new();
        entry.kind.validate_update(&context, &entry.node(&new), &entry.node(&old), &mut errors);
        // The text of every error can be made too.
        prop_assert_eq!(errors.to_string().lines().count() >= errors.len(), true);
    }
}
