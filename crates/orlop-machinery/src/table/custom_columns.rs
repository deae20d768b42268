//! The columns that a CustomResourceDefinition defines.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor`.
//! The paths are read once; a path that finds nothing, or cannot be evaluated, gives an empty cell.

use super::TableColumn;
use crate::human_duration::human_duration;
use crate::json_path::{self, JsonPath};
use crate::kind::Row;
use crate::text::quote;
use crate::time::Time;
use crate::value::{Str, Value};

/// How to show the objects of a custom resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CustomColumns {
    /// The first is the name; the others are as many as there are paths.
    headings: Vec<TableColumn>,
    paths: Vec<JsonPath>,
}

/// A column whose path cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unrecognized column definition {}", quote(.json_path))]
pub struct UnrecognizedColumn {
    /// The path.
    pub json_path: String,
}

impl CustomColumns {
    /// Reads `additionalPrinterColumns`. Without any, the age is shown.
    ///
    /// A column that cannot be read ends the table: the columns before it are still good, and the
    /// error says which it was.
    #[must_use]
    pub fn read(definitions: &Value) -> (CustomColumns, Option<UnrecognizedColumn>) {
        let mut columns = CustomColumns::default();
        columns.headings.push(TableColumn {
            name: Str::const_new("Name"),
            ty: Str::const_new("string"),
            format: Str::const_new("name"),
            description: Str::const_new("The name of the object."),
            priority: 0,
        });
        let definitions = definitions.list();
        if definitions.is_empty() {
            let age = Value::from([
                ("description", "When the object was made."),
                ("jsonPath", ".metadata.creationTimestamp"),
                ("name", "Age"),
                ("type", "date"),
            ]);
            let error = columns.add(&age).err();
            return (columns, error);
        }
        let error = definitions.iter().find_map(|definition| columns.add(definition).err());
        (columns, error)
    }

    fn add(&mut self, definition: &Value) -> Result<(), UnrecognizedColumn> {
        let json_path = definition.at("jsonPath").str();
        let Ok(path) = JsonPath::parse(json_path) else {
            return Err(UnrecognizedColumn { json_path: json_path.to_owned() });
        };
        let text = |name: &str| Str::new(definition.at(name).str());
        let mut description = text("description");
        if description.is_empty() {
            let prefix = "Custom resource definition column (in JSONPath format): ";
            description = Str::from(format!("{prefix}{json_path}"));
        }
        self.headings.push(TableColumn {
            name: text("name"),
            ty: text("type"),
            format: text("format"),
            description,
            priority: i32::try_from(definition.at("priority").int()).unwrap_or_default(),
        });
        self.paths.push(path);
        Ok(())
    }

    /// The headings.
    #[must_use]
    pub fn headings(&self) -> &[TableColumn] {
        &self.headings
    }

    /// The cells of one object.
    #[must_use]
    pub fn row(&self, now_seconds: i64, object: &Value) -> Row {
        let mut cells = Vec::with_capacity(self.headings.len());
        cells.push(Value::from(object.path(&["metadata", "name"]).str()));
        for (path, heading) in self.paths.iter().zip(&self.headings[1..]) {
            let found = path.first(object).unwrap_or_default();
            cells.push(found.map_or(Value::Null, |value| cell(&heading.ty, value, now_seconds)));
        }
        Row::new(cells)
    }
}

/// A found value as a cell of a column of this type; null when it does not fit.
fn cell(ty: &str, value: &Value, now_seconds: i64) -> Value {
    match (ty, value) {
        ("string", value) => Value::from(json_path::print(value)),
        ("integer", Value::Int(number)) => Value::Int(*number),
        ("integer", Value::Float(number)) =>
        {
            #[allow(clippy::cast_possible_truncation, reason = "cut as Go does, at the ends kept")]
            Value::Int(*number as i64)
        }
        ("number", Value::Int(_) | Value::Float(_)) => {
            value.as_float().map_or(Value::Null, Value::Float)
        }
        ("boolean", Value::Bool(truth)) => Value::Bool(*truth),
        ("date", Value::String(text)) => Value::from(age(text, now_seconds)),
        _ => Value::Null,
    }
}

fn age(text: &str, now_seconds: i64) -> String {
    match text.parse::<Time>() {
        Ok(time) if time.is_zero() => "<unknown>".into(),
        Ok(time) => human_duration(now_seconds.saturating_sub(time.unix_seconds())),
        Err(_) if text.is_empty() || text == "null" => "<unknown>".into(),
        Err(_) => "<invalid>".into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    /// 2024-01-01T00:00:00Z
    const NOW: i64 = 1_704_067_200;

    const OBJECT: &str = r#"{
        "metadata": {"name": "a", "creationTimestamp": "2023-12-31T23:55:00Z"},
        "spec": {
            "text": "x", "int": 5, "float": 2.5, "yes": true, "map": {"b": 1}, "null": null,
            "large": 1000000.0, "time": "2023-12-30T00:00:00Z", "bad": "yesterday", "none": "",
            "zero": "0001-01-01T00:00:00Z"
        }
    }"#;

    fn check(ty: &str, path: &str, expect: &str) {
        let definition = Value::from([("name", "X"), ("type", ty), ("jsonPath", path)]);
        let (columns, error) = CustomColumns::read(&Value::List(vec![definition]));
        assert_eq!(error, None);
        let object = json::parse(OBJECT.as_bytes()).unwrap();
        let row = columns.row(NOW, &object);
        assert_eq!(row.cells[0].str(), "a");
        assert_eq!(json::to_string(&row.cells[1]), expect, "{ty} {path}");
    }

    #[test]
    fn a_cell_is_what_its_column_says_or_nothing() {
        for (ty, path, expect) in [
            ("string", ".spec.text", r#""x""#),
            ("string", ".spec.int", r#""5""#),
            ("string", ".spec.large", r#""1e+06""#),
            ("string", ".spec.yes", r#""true""#),
            ("string", ".spec.map", r#""{\"b\":1}""#),
            ("string", ".spec.null", r#""\u003cno value\u003e""#),
            ("string", ".spec.missing", "null"),
            ("string", ".spec.text[0]", "null"),
            ("integer", ".spec.int", "5"),
            ("integer", ".spec.float", "2"),
            ("integer", ".spec.text", "null"),
            ("number", ".spec.float", "2.5"),
            ("number", ".spec.int", "5"),
            ("boolean", ".spec.yes", "true"),
            ("boolean", ".spec.int", "null"),
            ("date", ".spec.time", r#""2d""#),
            ("date", ".spec.bad", r#""\u003cinvalid\u003e""#),
            ("date", ".spec.none", r#""\u003cunknown\u003e""#),
            ("date", ".spec.zero", r#""\u003cunknown\u003e""#),
            ("date", ".spec.int", "null"),
            ("other", ".spec.int", "null"),
        ] {
            check(ty, path, expect);
        }
    }

    #[test]
    fn without_columns_the_age_is_shown() {
        let (columns, error) = CustomColumns::read(&Value::Null);
        assert_eq!(error, None);
        let names: Vec<_> = columns.headings().iter().map(|heading| &heading.name).collect();
        assert_eq!(names, ["Name", "Age"]);
        let object = json::parse(OBJECT.as_bytes()).unwrap();
        assert_eq!(columns.row(NOW, &object).cells[1].str(), "5m");
    }

    #[test]
    fn a_column_that_cannot_be_read_ends_the_table() {
        let column = |path: &str| Value::from([("name", "X"), ("jsonPath", path)]);
        let (columns, error) =
            CustomColumns::read(&Value::List(vec![column(".a"), column(".b["), column(".c")]));
        assert_eq!(error.unwrap().to_string(), r#"unrecognized column definition ".b[""#);
        assert_eq!(columns.headings().len(), 2);
        assert_eq!(
            columns.headings()[1].description,
            "Custom resource definition column (in JSONPath format): .a"
        );
    }
}
