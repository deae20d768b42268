//! What every answer has: its form, its headers, and what discovery says there is.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::cluster::{Cluster, names};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

#[tokio::test]
async fn a_table_is_shown_of_what_is_kept_only() {
    let cluster = Cluster::start().await;
    let review = json!({"spec": {"resourceAttributes": {"namespace": "default",
        "group": "apps", "verb": "get", "resource": "deployments"}}});
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let headers = [("accept", TABLE), ("content-type", "application/json")];
    let answer = cluster.request("POST", path, &headers, review.to_string()).await;
    let (reason, _) = answer.failure(406);
    assert_eq!(reason, "NotAcceptable");
}

#[tokio::test]
async fn a_table_has_as_much_of_its_objects_as_is_wanted() {
    let cluster = Cluster::start().await;
    for name in ["a", "b", "c"] {
        cluster.post(MAPS, &json!({"metadata": {"name": name}})).await.expect(201);
    }
    let get = async |query: &str| {
        let path = format!("{MAPS}?{query}");
        cluster.request("GET", &path, &[("accept", TABLE)], "").await
    };
    let none = get("includeObject=None").await.expect(200);
    assert!(none["rows"][0]["object"].is_null());
    let metadata = get("").await.expect(200);
    assert_eq!(metadata["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    let whole = get("includeObject=Object").await.expect(200);
    assert_eq!(whole["rows"][0]["object"]["kind"], "ConfigMap");
    get("includeObject=Some").await.failure(400);
    let page = get("limit=2").await.expect(200);
    assert_eq!(page["rows"].as_array().unwrap().len(), 2);
    assert_eq!(page["metadata"]["remainingItemCount"], 1);
    let token = page["metadata"]["continue"].as_str().unwrap();
    let rest = get(&format!("limit=2&continue={token}")).await.expect(200);
    assert_eq!(rest["rows"][0]["cells"][0], "c");
}

#[tokio::test]
async fn every_answer_says_who_may_keep_it_and_how_it_is_traced() {
    let cluster = Cluster::start().await;
    for path in [MAPS, "/version", "/api/v1/nothing", "/apis"] {
        let answer = cluster.get(path).await;
        assert_eq!(answer.headers["cache-control"], "no-cache, private", "{path}");
        assert!(!answer.headers["audit-id"].is_empty(), "{path}");
    }
    let answer = cluster.request("GET", MAPS, &[("audit-id", "mine")], "").await;
    assert_eq!(answer.headers["audit-id"], "mine");
}

#[tokio::test]
async fn long_answers_are_compressed_for_those_who_can_read_it() {
    let cluster = Cluster::start().await;
    let long = "x".repeat(200 * 1024);
    let map = json!({"metadata": {"name": "long"}, "data": {"x": long}});
    let made = cluster.post(MAPS, &map).await.expect(201);
    for path in [format!("{MAPS}/long"), MAPS.to_owned()] {
        let answer = cluster.request("GET", &path, &[("accept-encoding", "gzip")], "").await;
        assert_eq!(answer.headers["content-encoding"], "gzip");
        assert!(answer.bytes.len() < 10_000);
        let mut text = String::new();
        flate2::read::GzDecoder::new(&answer.bytes[..]).read_to_string(&mut text).unwrap();
        let object: Value = serde_json::from_str(&text).unwrap();
        let object = if object["items"].is_array() { &object["items"][0] } else { &object };
        assert_eq!(object["data"], made["data"]);
        let plain = cluster.get(&path).await;
        assert!(plain.headers.get("content-encoding").is_none());
    }
    cluster.post(MAPS, &json!({"metadata": {"name": "short"}})).await.expect(201);
    let path = format!("{MAPS}/short");
    let short = cluster.request("GET", &path, &[("accept-encoding", "gzip")], "").await;
    assert!(short.headers.get("content-encoding").is_none());
}

#[tokio::test]
async fn every_group_prefers_one_of_its_versions_and_serves_them_all() {
    let cluster = Cluster::start().await;
    let groups = cluster.get("/apis").await.expect(200);
    for group in groups["groups"].as_array().unwrap() {
        let name = group["name"].as_str().unwrap();
        let versions = group["versions"].as_array().unwrap();
        assert!(versions.contains(&group["preferredVersion"]), "{name}");
        let mut alone = cluster.get(&format!("/apis/{name}")).await.expect(200);
        assert_eq!(alone["kind"], "APIGroup", "{name}");
        for field in ["kind", "apiVersion"] {
            alone.as_object_mut().unwrap().remove(field);
        }
        assert_eq!(alone, *group, "{name}");
        for version in versions {
            let version = version["groupVersion"].as_str().unwrap();
            let list = cluster.get(&format!("/apis/{version}")).await.expect(200);
            assert_eq!(list["groupVersion"], version);
            assert!(!list["resources"].as_array().unwrap().is_empty(), "{version}");
        }
    }
}

#[tokio::test]
async fn aggregated_discovery_tells_the_same_and_when_it_changed() {
    let cluster = Cluster::start().await;
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    for path in ["/api", "/apis"] {
        let answer = cluster.request("GET", path, &[("accept", accept)], "").await;
        assert_eq!(answer.headers["content-type"], accept);
        assert_eq!(answer.headers["vary"], "Accept");
        let tag = answer.headers["etag"].to_str().unwrap().to_owned();
        let list = answer.expect(200);
        assert_eq!(list["kind"], "APIGroupDiscoveryList");
        assert_eq!(list["apiVersion"], "apidiscovery.k8s.io/v2");
        for group in list["items"].as_array().unwrap() {
            let name = group["metadata"]["name"].as_str().unwrap_or_default();
            for version in group["versions"].as_array().unwrap() {
                check_version(&cluster, name, version).await;
            }
        }
        let headers = [("accept", accept), ("if-none-match", tag.as_str())];
        let same = cluster.request("GET", path, &headers, "").await;
        assert_eq!((same.code, same.bytes.len()), (304, 0));
    }
}

/// The resources of a version are those that its own document has.
async fn check_version(cluster: &Cluster, group: &str, version: &Value) {
    let name = version["version"].as_str().unwrap();
    let path = match group {
        "" => format!("/api/{name}"),
        group => format!("/apis/{group}/{name}"),
    };
    let list = cluster.get(&path).await.expect(200);
    let plain = list["resources"].as_array().unwrap().iter();
    let plain = plain.filter(|resource| !resource["name"].as_str().unwrap().contains('/'));
    let mut plain: Vec<&str> = plain.map(|resource| resource["name"].as_str().unwrap()).collect();
    let shown = version["resources"].as_array().unwrap().iter();
    let mut shown: Vec<&str> =
        shown.map(|resource| resource["resource"].as_str().unwrap()).collect();
    plain.sort_unstable();
    shown.sort_unstable();
    assert_eq!(shown, plain, "{path}");
}

#[tokio::test]
async fn the_version_is_that_of_the_api() {
    let cluster = Cluster::start().await;
    let version = cluster.get("/version").await.expect(200);
    assert_eq!((&version["major"], &version["minor"]), (&json!("1"), &json!("36")));
    assert!(version["gitVersion"].as_str().unwrap().starts_with("v1.36."));
}

#[tokio::test]
async fn a_name_is_made_from_its_start() {
    let cluster = Cluster::start().await;
    let long = "a".repeat(80);
    for (prefix, length) in [("x-", 7), (long.as_str(), 63)] {
        let map = json!({"metadata": {"generateName": prefix}});
        let made = cluster.post(MAPS, &map).await.expect(201);
        let name = made["metadata"]["name"].as_str().unwrap();
        assert_eq!(name.len(), length);
        assert!(name.starts_with(&prefix[..prefix.len().min(58)]));
    }
    assert_eq!(names(&cluster.get(MAPS).await.expect(200)).len(), 2);
    let none = cluster.post(MAPS, &json!({"data": {}})).await;
    let (reason, message) = none.failure(422);
    assert_eq!(reason, "Invalid");
    assert!(message.contains("name or generateName is required"), "{message}");
}

#[tokio::test]
async fn a_patch_makes_no_other_kind_of_an_object() {
    let cluster = Cluster::start().await;
    cluster.post(MAPS, &json!({"metadata": {"name": "a"}})).await.expect(201);
    let path = format!("{MAPS}/a");
    let merge = "application/merge-patch+json";
    for (patch, why) in [
        (
            json!({"kind": "Secret"}),
            "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        ),
        (json!({"kind": "Thing"}), "no kind \"Thing\" is registered for version \"v1\""),
        (json!({"apiVersion": "v2"}), "no kind \"ConfigMap\" is registered for version \"v2\""),
    ] {
        let (reason, message) = cluster.patch(&path, merge, &patch).await.failure(422);
        assert_eq!(reason, "Invalid");
        assert!(message.contains(why), "{message}");
    }
    let strategic = "application/strategic-merge-patch+json";
    for (patch_type, patch) in [
        (merge, json!({"kind": null})),
        (strategic, json!({"kind": "Secret", "apiVersion": "v2"})),
        (strategic, json!({"$patch": "replace", "metadata": {"name": "a"}, "data": {"x": "y"}})),
    ] {
        let patched = cluster.patch(&path, patch_type, &patch).await.expect(200);
        assert_eq!((&patched["kind"], &patched["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
    }
    assert_eq!(cluster.get(&path).await.expect(200)["kind"], "ConfigMap");
}
