//! Lists in pages: of one moment as long as it is kept, and of later ones after that.

use serde_json::{Value, json};

use crate::cluster::{Cluster, names, version};

const TEMPLATES: &str = "/api/v1/namespaces/default/podtemplates";
const TOTAL: usize = 40;

async fn make_templates(cluster: &Cluster) {
    for number in 0..TOTAL {
        let template = json!({
            "metadata": {"name": format!("template-{number:04}")},
            "template": {"spec": {"containers": [{"name": "main", "image": "example/main"}]}},
        });
        cluster.post(TEMPLATES, &template).await.expect(201);
    }
}

/// A page is one of several: it says how much is left, or that nothing is.
fn check_page(page: &Value, found: &mut usize, limit: usize) -> Option<String> {
    let names = names(page);
    assert!(names.len() <= limit);
    for name in names {
        assert_eq!(name, format!("template-{found:04}"));
        *found += 1;
    }
    let metadata = &page["metadata"];
    match metadata["continue"].as_str() {
        None => {
            assert!(metadata["remainingItemCount"].is_null());
            None
        }
        Some(token) => {
            assert_eq!(metadata["remainingItemCount"], TOTAL - *found);
            Some(token.to_owned())
        }
    }
}

#[tokio::test]
async fn pages_show_everything_once_and_in_order() {
    let cluster = Cluster::start().await;
    make_templates(&cluster).await;
    let (mut found, mut path) = (0, format!("{TEMPLATES}?limit=17"));
    let mut versions = Vec::new();
    loop {
        let page = cluster.get(&path).await.expect(200);
        versions.push(version(&page));
        // What is made meanwhile is not of the moment of the first page.
        let late = json!({"metadata": {"generateName": "later-"},
            "template": {"spec": {"containers": [{"name": "main", "image": "example/main"}]}}});
        cluster.post(TEMPLATES, &late).await.expect(201);
        let Some(token) = check_page(&page, &mut found, 17) else { break };
        path = format!("{TEMPLATES}?limit=17&continue={token}");
    }
    assert_eq!(found, TOTAL);
    assert_eq!(versions, [versions[0]; 3]);
    let all = cluster.get(&format!("{TEMPLATES}?limit=1000")).await.expect(200);
    assert_eq!(names(&all).len(), TOTAL + 3);
    assert!(all["metadata"]["continue"].is_null());
}

#[tokio::test]
async fn a_list_goes_on_when_its_moment_is_forgotten() {
    let cluster = Cluster::start().await;
    make_templates(&cluster).await;
    let first = cluster.get(&format!("{TEMPLATES}?limit=4")).await.expect(200);
    let mut found = 0;
    let token = check_page(&first, &mut found, 4).unwrap();
    cluster.namespace("later").await;
    let newest = cluster.store.revision().await.unwrap();
    cluster.store.compact(newest).await.unwrap();
    // A server that was there remembers; another one does not.
    let cluster = Cluster::on(cluster.store.clone()).await;
    let path = format!("{TEMPLATES}?limit=4&continue={token}");
    let status = cluster.get(&path).await.expect(410);
    assert_eq!(status["reason"], "Expired");
    let token = status["metadata"]["continue"].as_str().unwrap();
    let path = format!("{TEMPLATES}?limit=4&continue={token}");
    let mut page = cluster.get(&path).await.expect(200);
    assert!(version(&page) > version(&first));
    let moment = version(&page);
    while let Some(token) = check_page(&page, &mut found, 4) {
        let path = format!("{TEMPLATES}?limit=4&continue={token}");
        page = cluster.get(&path).await.expect(200);
        assert_eq!(version(&page), moment);
    }
    assert_eq!(found, TOTAL);
}

#[tokio::test]
async fn a_page_of_selected_objects_does_not_say_how_many_are_left() {
    let cluster = Cluster::start().await;
    for name in ["a", "b", "c"] {
        let map = json!({"metadata": {"name": name, "labels": {"x": "y"}}});
        cluster.post("/api/v1/namespaces/default/configmaps", &map).await.expect(201);
    }
    let path = "/api/v1/namespaces/default/configmaps?limit=2&labelSelector=x%3Dy";
    let page = cluster.get(path).await.expect(200);
    assert_eq!(names(&page), ["a", "b"]);
    assert!(page["metadata"]["remainingItemCount"].is_null());
    let token = page["metadata"]["continue"].as_str().unwrap();
    let rest = cluster.get(&format!("{path}&continue={token}")).await.expect(200);
    assert_eq!(names(&rest), ["c"]);
}

#[tokio::test]
async fn a_token_stands_alone() {
    let cluster = Cluster::start().await;
    make_templates(&cluster).await;
    let first = cluster.get(&format!("{TEMPLATES}?limit=4")).await.expect(200);
    let token = first["metadata"]["continue"].as_str().unwrap();
    let path = format!("{TEMPLATES}?limit=4&continue={token}");
    let (_, message) = cluster.get(&format!("{path}&resourceVersion=1")).await.failure(400);
    assert_eq!(message, "specifying resource version is not allowed when using continue");
    let (_, message) =
        cluster.get(&format!("{path}&resourceVersionMatch=Exact")).await.failure(422);
    assert!(message.contains("resourceVersionMatch: Forbidden"), "{message}");
    let (_, message) = cluster.get(&format!("{TEMPLATES}?limit=4&continue=xyz")).await.failure(400);
    assert!(message.starts_with("invalid continue token: continue key is not valid"), "{message}");
}
