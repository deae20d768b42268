//! Tables: what `kubectl get` asks for, one row of cells for each object.
//!
//! A [`Table`] says what is wanted and builds the `meta.k8s.io` object. What the cells are comes
//! from the kind ([`crate::kind::Kind::row`]) or, for custom resources, from [`CustomColumns`].
//!
//! After `asTable` in `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/response.go` and
//! `apimachinery/pkg/api/meta/table`. A list without objects always has `[]` as its rows.

mod custom_columns;

use crate::field::Errors;
use crate::field::Path;
use crate::kind::{Column, Row};
use crate::partial_object_metadata::{self, MetaVersion, list_metadata};
use crate::value::{Map, Str, Value};

pub use custom_columns::{CustomColumns, UnrecognizedColumn};

/// A bookmark with this annotation ends the initial events of a watch. Its metadata is shown
/// whatever the client asked for, because the annotation is the message.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// How to show objects as a table.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// The headings. None after the first event of a watch.
    pub columns: Option<&'a [TableColumn]>,
    /// What else of each object a row carries.
    pub include: IncludeObject,
    /// The version that the client asked for.
    pub version: MetaVersion,
}

/// A heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableColumn {
    /// What stands above the cells.
    pub name: Str,
    /// The OpenAPI type of its cells.
    pub ty: Str,
    /// The OpenAPI format of its cells; `name` marks the name of the object.
    pub format: Str,
    /// For people.
    pub description: Str,
    /// 0 is always shown, more only with `-o wide`.
    pub priority: i32,
}

/// What of each object a row carries besides its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

impl Table<'_> {
    /// The table of a list, or of a single object, which say where the table comes from. The rows
    /// come with the objects that they show, and those with their `apiVersion` and `kind`.
    pub fn build<'a>(
        &self,
        source: &Value,
        rows: impl IntoIterator<Item = (Row, &'a Value)>,
    ) -> Value {
        let columns = self.columns.map(|columns| columns.iter().map(Value::from).collect());
        let rows = rows.into_iter().map(|(row, object)| self.row(row, object)).collect();
        Value::from([
            ("apiVersion", Value::from(self.version.api_version())),
            ("columnDefinitions", columns.map_or(Value::Null, Value::List)),
            ("kind", Value::from("Table")),
            ("metadata", list_metadata(source)),
            ("rows", Value::List(rows)),
        ])
    }

    fn row(&self, row: Row, object: &Value) -> Value {
        let ends_initial_events =
            object.path(&["metadata", "annotations", INITIAL_EVENTS_END]).str() == "true";
        let object = match self.include {
            IncludeObject::Object => object.clone(),
            IncludeObject::None if !ends_initial_events => Value::Null,
            IncludeObject::None | IncludeObject::Metadata => {
                partial_object_metadata::from_object(object, self.version)
            }
        };
        let mut fields = Map::with_capacity(3);
        fields.insert("cells", Value::List(row.cells));
        if !row.conditions.is_empty() {
            fields.insert("conditions", Value::List(row.conditions));
        }
        fields.insert("object", object);
        Value::Map(fields)
    }
}

impl IncludeObject {
    /// Reads the parameter `includeObject` of a request.
    ///
    /// # Errors
    ///
    /// The message of a bad request, when it is none of those known.
    pub fn parse(text: &str) -> Result<IncludeObject, String> {
        match text {
            "None" => Ok(IncludeObject::None),
            "" | "Metadata" => Ok(IncludeObject::Metadata),
            "Object" => Ok(IncludeObject::Object),
            text => {
                let mut errors = Errors::new();
                let detail = "must be 'Metadata', 'Object', 'None', or empty";
                errors.invalid_value(&Path::field("includeObject"), text, detail);
                let error = &errors.list()[0];
                Err(format!("Unable to convert to Table as requested: {error}"))
            }
        }
    }
}

impl From<&Column> for TableColumn {
    fn from(column: &Column) -> TableColumn {
        TableColumn {
            name: Str::const_new(column.name),
            ty: Str::const_new(column.ty),
            format: Str::const_new(column.format),
            description: Str::default(),
            priority: column.priority,
        }
    }
}

impl From<&TableColumn> for Value {
    fn from(column: &TableColumn) -> Value {
        Value::from([
            ("description", Value::from(column.description.clone())),
            ("format", Value::from(column.format.clone())),
            ("name", Value::from(column.name.clone())),
            ("priority", Value::from(column.priority)),
            ("type", Value::from(column.ty.clone())),
        ])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    const POD: &str = concat!(
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","resourceVersion":"7"},"#,
        r#""spec":{"x":1}}"#
    );

    fn pod() -> Value {
        json::parse(POD.as_bytes()).unwrap()
    }

    fn build(include: IncludeObject, object: &Value) -> Value {
        let columns = [TableColumn::from(&Column::NAME), TableColumn::from(&Column::AGE)];
        let table = Table { columns: Some(&columns), include, version: MetaVersion::V1 };
        let row = Row::new(vec![Value::from("a"), Value::from("5m")]);
        table.build(object, [(row, object)])
    }

    #[test]
    fn a_table_has_headings_and_rows() {
        let table = build(IncludeObject::Metadata, &pod());
        let expect = concat!(
            r#"{"apiVersion":"meta.k8s.io/v1","columnDefinitions":["#,
            r#"{"description":"","format":"name","name":"Name","priority":0,"type":"string"},"#,
            r#"{"description":"","format":"","name":"Age","priority":0,"type":"string"}],"#,
            r#""kind":"Table","metadata":{"resourceVersion":"7"},"rows":[{"cells":["a","5m"],"#,
            r#""object":{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","#,
            r#""metadata":{"name":"a","resourceVersion":"7"}}}]}"#
        );
        assert_eq!(json::to_string(&table), expect);
    }

    #[test]
    fn a_row_carries_what_was_asked_for() {
        let object_of = |include, object: &Value| {
            build(include, object).at("rows").list()[0].at("object").clone()
        };
        assert_eq!(object_of(IncludeObject::None, &pod()), Value::Null);
        assert_eq!(object_of(IncludeObject::Object, &pod()), pod());
        let mut bookmark = pod();
        bookmark.entry("metadata").entry("annotations").set(INITIAL_EVENTS_END, "true");
        assert_eq!(
            object_of(IncludeObject::None, &bookmark).at("kind").str(),
            "PartialObjectMetadata"
        );
    }

    #[test]
    fn later_events_of_a_watch_have_no_headings() {
        let table = Table { columns: None, include: IncludeObject::None, version: MetaVersion::V1 };
        let condition = Value::from([("type", "Completed"), ("status", "True")]);
        let row = Row { cells: vec![Value::Int(1)], conditions: vec![condition] };
        let built = table.build(&Value::Null, [(row, &Value::Null)]);
        let expect = concat!(
            r#"{"apiVersion":"meta.k8s.io/v1","columnDefinitions":null,"kind":"Table","#,
            r#""metadata":{},"rows":[{"cells":[1],"#,
            r#""conditions":[{"status":"True","type":"Completed"}],"object":null}]}"#
        );
        assert_eq!(json::to_string(&built), expect);
    }

    #[test]
    fn the_parameter_says_what_rows_carry() {
        for (text, expect) in [
            ("", Ok(IncludeObject::Metadata)),
            ("Metadata", Ok(IncludeObject::Metadata)),
            ("None", Ok(IncludeObject::None)),
            ("Object", Ok(IncludeObject::Object)),
            (
                "object",
                Err(concat!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: ",
                    r#""object": must be 'Metadata', 'Object', 'None', or empty"#
                )
                .to_owned()),
            ),
        ] {
            assert_eq!(IncludeObject::parse(text), expect);
        }
    }
}
