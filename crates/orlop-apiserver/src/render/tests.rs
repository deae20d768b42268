//! Each form of an answer, as upstream writes it.

use std::sync::Arc;
use std::time::Duration;

use orlop_machinery::partial_object_metadata::MetaVersion;
use orlop_machinery::protobuf;
use orlop_machinery::table::IncludeObject;
use orlop_storage::Revision;
use orlop_storage::tree::Tree;

use super::*;
use crate::body::Body;
use crate::cache::{Item, Seen, View};
use crate::catalog::Catalog;

#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now(&self) -> Duration {
        Duration::from_secs(1_000_000_000)
    }
}

fn namespace(name: &str) -> Object {
    let stored = format!(
        concat!(
            r#"{{"kind":"Namespace","apiVersion":"v1","metadata":{{"name":"{}","uid":"u","#,
            r#""creationTimestamp":"2001-09-09T01:41:40Z","labels":"#,
            r#"{{"kubernetes.io/metadata.name":"{}"}}}},"spec":{{"finalizers":["kubernetes"]}},"#,
            r#""status":{{"phase":"Active"}}}}"#
        ),
        name, name
    );
    let key = format!("/registry/namespaces/{name}");
    Object::written(key.as_bytes(), stored.as_bytes(), Revision(7))
}

fn renderer(format: Format, shape: Shape) -> Renderer {
    let definition = Catalog::built_in().find("", "v1", "namespaces").unwrap().clone();
    Renderer::new(definition, Output { format, shape }, Arc::new(Noon))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn check(format: Format, shape: Shape, expect: &str) {
    let object = namespace("a");
    let rendered = renderer(format, shape).object(Source::Kept(&object, 9)).unwrap();
    assert_eq!(text(&rendered), expect);
    // The same object as a value looks the same.
    let renderer = renderer(format, shape);
    let value = object.value(&renderer.definition, 9).unwrap();
    assert_eq!(text(&renderer.object(Source::Value(&value)).unwrap()), expect);
}

const WHOLE: &str = concat!(
    r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","uid":"u","#,
    r#""resourceVersion":"9","creationTimestamp":"2001-09-09T01:41:40Z","#,
    r#""labels":{"kubernetes.io/metadata.name":"a"}},"#,
    r#""spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}"#
);
const METADATA: &str = concat!(
    r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","#,
    r#""uid":"u","resourceVersion":"9","creationTimestamp":"2001-09-09T01:41:40Z","#,
    r#""labels":{"kubernetes.io/metadata.name":"a"}}}"#
);

#[test]
fn an_object_goes_out_in_every_form() {
    check(Format::Json, Shape::Object, &format!("{WHOLE}\n"));
    check(Format::Json, Shape::Metadata(MetaVersion::V1), &format!("{METADATA}\n"));
    check(
        Format::PrettyJson,
        Shape::Metadata(MetaVersion::V1Beta1),
        concat!(
            "{\n  \"kind\": \"PartialObjectMetadata\",\n",
            "  \"apiVersion\": \"meta.k8s.io/v1beta1\",\n  \"metadata\": {\n",
            "    \"name\": \"a\",\n    \"uid\": \"u\",\n    \"resourceVersion\": \"9\",\n",
            "    \"creationTimestamp\": \"2001-09-09T01:41:40Z\",\n    \"labels\": {\n",
            "      \"kubernetes.io/metadata.name\": \"a\"\n    }\n  }\n}"
        ),
    );
    check(
        Format::Yaml,
        Shape::Object,
        concat!(
            "apiVersion: v1\nkind: Namespace\nmetadata:\n",
            "  creationTimestamp: \"2001-09-09T01:41:40Z\"\n  labels:\n",
            "    kubernetes.io/metadata.name: a\n  name: a\n",
            "  resourceVersion: \"9\"\n  uid: u\nspec:\n  finalizers:\n  - kubernetes\n",
            "status:\n  phase: Active\n"
        ),
    );
}

#[test]
fn a_table_has_one_row_for_one_object() {
    let columns = concat!(
        r#"[{"name":"Name","type":"string","format":"name","description":"","priority":0},"#,
        r#"{"name":"Status","type":"string","format":"","description":"","priority":0},"#,
        r#"{"name":"Age","type":"string","format":"","description":"","priority":0}]"#
    );
    let table = |columns: &str, object: &str| {
        format!(
            concat!(
                r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":"#,
                r#"{{"resourceVersion":"9"}},"columnDefinitions":{},"rows":[{{"#,
                r#""cells":["a","Active","5m"],"object":{}}}]}}"#
            ),
            columns, object
        )
    };
    let shape = |include| Shape::Table(MetaVersion::V1, include);
    let expect = |object: &str| format!("{}\n", table(columns, object));
    check(Format::Json, shape(IncludeObject::Metadata), &expect(METADATA));
    check(Format::Json, shape(IncludeObject::Object), &expect(WHOLE));
    check(Format::Json, shape(IncludeObject::None), &expect("null"));
    let renderer = renderer(Format::Json, shape(IncludeObject::None));
    let event = renderer.event(Shown {
        seen: Seen::Modified,
        object: &namespace("a"),
        revision: 9,
        has_columns: false,
    });
    let table = table("null", "null");
    assert_eq!(text(&event), format!("{{\"type\":\"MODIFIED\",\"object\":{table}}}\n"));
}

#[test]
fn protobuf_is_what_the_object_is() {
    let renderer = renderer(Format::Protobuf, Shape::Object);
    let object = namespace("a");
    let sealed = renderer.object(Source::Kept(&object, 9)).unwrap();
    let envelope = protobuf::open(&sealed).unwrap();
    assert_eq!((envelope.api_version.as_str(), envelope.kind.as_str()), ("v1", "Namespace"));
    let definition = &renderer.definition;
    let mut value = protobuf::decode(&definition.schema, definition.id, envelope.raw).unwrap();
    value.set("kind", "Namespace");
    value.set("apiVersion", "v1");
    assert_eq!(value, object.value(definition, 9).unwrap());
}

async fn list(renderer: Renderer, count: usize) -> (Vec<u8>, usize) {
    let objects = (0..count).map(|at| Item(Arc::new(namespace(&format!("n{at:05}")))));
    let view = View { objects: Tree::from_ascending(objects), revision: 12 };
    let page = Page { view, start: 0, end: count, filter: None };
    let head = ListHead { revision: 12, ..ListHead::default() };
    let (mut all, mut pieces) = (Vec::new(), 0);
    match renderer.list(page, head).await.unwrap() {
        Body::Whole(bytes) => all.extend_from_slice(&bytes),
        Body::Pieces(parts) => parts.iter().for_each(|part| all.extend_from_slice(part)),
        Body::Stream(mut stream) => {
            while let Some(piece) = std::future::poll_fn(|cx| stream.poll_piece(cx)).await {
                assert!(piece.len() < 2 * list_pieces::PIECE_BYTES);
                all.extend_from_slice(&piece);
                pieces += 1;
            }
        }
    }
    (all, pieces)
}

#[tokio::test]
async fn a_list_of_built_in_kinds_names_its_kind_once() {
    let start = concat!(
        r#"{"kind":"NamespaceList","apiVersion":"v1","#,
        r#""metadata":{"resourceVersion":"12"},"items":["#
    );
    let (empty, _) = list(renderer(Format::Json, Shape::Object), 0).await;
    assert_eq!(text(&empty), format!("{start}]}}\n"));
    let (one, pieces) = list(renderer(Format::Json, Shape::Object), 1).await;
    let item = r#"{"metadata":{"name":"n00000","uid":"u","resourceVersion":"7","creation"#;
    assert!(text(&one).starts_with(&format!("{start}{item}")), "{}", text(&one));
    assert_eq!(pieces, 0, "a short list is one piece");
    let metadata = renderer(Format::Json, Shape::Metadata(MetaVersion::V1));
    let (none, _) = list(metadata, 0).await;
    assert!(text(&none).ends_with("\"items\":null}\n"));
}

#[tokio::test]
async fn a_long_list_is_made_in_pieces_that_fit_together() {
    let (all, pieces) = list(renderer(Format::Json, Shape::Object), 2000).await;
    assert!(pieces > 3);
    let value = json::parse(&all).unwrap();
    assert_eq!(value.at("items").list().len(), 2000);
    let table = Shape::Table(MetaVersion::V1, IncludeObject::Metadata);
    let (all, _) = list(renderer(Format::Json, table), 2000).await;
    assert_eq!(json::parse(&all).unwrap().at("rows").list().len(), 2000);
    let (sealed, _) = list(renderer(Format::Protobuf, Shape::Object), 2000).await;
    let envelope = protobuf::open(&sealed).unwrap();
    assert_eq!(envelope.kind, "NamespaceList");
    let schema = orlop_kinds::schema();
    let id = schema.find("io.k8s.api.core.v1.NamespaceList").unwrap();
    let list = protobuf::decode(schema, id, envelope.raw).unwrap();
    assert_eq!(list.at("items").list().len(), 2000);
    assert_eq!(list.path(&["metadata", "resourceVersion"]).str(), "12");
}
