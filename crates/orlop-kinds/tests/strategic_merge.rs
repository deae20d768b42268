//! Strategic merge patches of real kinds, held against what upstream does with its Go types.
//!
//! `tests/strategic_merge/cases.txt` has the cases: a line that says what it is about, then lines
//! with a kind, an object, a patch, and the result or the error. An empty line ends a case, a line
//! that starts with `#` is a heading.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::time::{Duration, Instant};

use orlop_kinds::schema;
use orlop_machinery::patch::strategic::{create_two_way_merge_patch, strategic_merge};
use orlop_machinery::schema::StructId;
use orlop_machinery::{Value, json};

#[test]
fn patches_do_what_upstream_does() {
    let table = include_str!("strategic_merge/cases.txt");
    let mut count = 0;
    for text in table.split("\n\n").filter(|text| !text.starts_with('#')) {
        let (about, lines) = text.split_once('\n').unwrap();
        let word =
            |name: &str| lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let json = |name: &str| json::parse(word(name).unwrap().as_bytes()).unwrap();
        let id = find(word("kind").unwrap());
        let found = strategic_merge(schema(), id, json("original"), json("patch"));
        match word("error") {
            Some(expect) => assert_eq!(found.unwrap_err().to_string(), expect, "{about}"),
            None => assert_eq!(
                found.map(|found| json::to_string(&found)),
                Ok(json::to_string(&json("result"))),
                "{about}"
            ),
        }
        count += 1;
    }
    assert!(count > 40, "only {count} cases were found");
}

/// The struct of a kind whose name no two groups use.
fn find(kind: &str) -> StructId {
    let packages = ["api.core.v1", "api.apps.v1", "api.policy.v1", "api.rbac.v1"];
    let others = ["apiextensions-apiserver.pkg.apis.apiextensions.v1"];
    let mut packages = packages.iter().chain(&others);
    packages.find_map(|package| schema().find(&format!("io.k8s.{package}.{kind}"))).unwrap()
}

#[test]
fn a_patch_that_was_made_of_two_pods_makes_the_second_of_the_first() {
    let (before, after) = (pod("web:1"), pod("web:2"));
    let id = find("Pod");
    let patch = create_two_way_merge_patch(schema(), id, &before, &after, &[]).unwrap();
    let expect = r#"{"spec":{"$setElementOrder/containers":[{"name":"web"},{"name":"log"}],"#;
    let expect = format!(r#"{expect}"containers":[{{"image":"web:2","name":"web"}}]}}}}"#);
    assert_eq!(json::to_string(&patch), expect);
    assert_eq!(strategic_merge(schema(), id, before, patch), Ok(after));
}

fn pod(image: &str) -> Value {
    let environment: Vec<String> = (0..10)
        .map(|at| format!(r#"{{"name":"VARIABLE_{at}","value":"a value of some length {at}"}}"#))
        .collect();
    let environment = environment.join(",");
    let text = format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"web-0","namespace":"default",
        "labels":{{"app":"web","pod-template-hash":"5d4f8c7b9"}}}},"spec":{{"containers":[
        {{"name":"web","image":"{image}","env":[{environment}],"ports":[{{"containerPort":80}}],
        "resources":{{"limits":{{"cpu":"1"}}}}}},{{"name":"log","image":"log:1",
        "env":[{environment}],"volumeMounts":[{{"mountPath":"/log","name":"log"}}]}}],
        "volumes":[{{"name":"log","emptyDir":{{}}}}],"tolerations":[{{"operator":"Exists"}}]}},
        "status":{{"conditions":[{{"type":"Ready","status":"True"}}],"phase":"Running"}}}}"#
    );
    json::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_small_patch_of_a_pod_is_fast() {
    let id = find("Pod");
    let patch =
        json::parse(br#"{"spec":{"containers":[{"name":"web","image":"web:2"}]}}"#).unwrap();
    let inputs: Vec<(Value, Value)> = (0..1000).map(|_| (pod("web:1"), patch.clone())).collect();
    let start = Instant::now();
    for (pod, patch) in inputs {
        strategic_merge(schema(), id, pod, patch).unwrap();
    }
    let each = start.elapsed() / 1000;
    // Without optimisation, on a machine that does other things too.
    assert!(each < Duration::from_millis(2), "a patch took {each:?}");
}
