//! The texts: which structs stand in them, and the lines of each.
//!
//! A struct stands in the table when it is a kind or when one that stands there refers to it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::facts::{self, Facts, META, has_marker, markers};
use super::go_type::{self, Resolver, StructName};

/// Structs that travel alone though they have no kind of their own.
const ALONE: [(&str, &str); 1] = [(META, "WatchEvent")];

/// Writes all texts, by the names of their files.
pub(super) fn write(facts: &Facts) -> Result<BTreeMap<String, String>> {
    let mut waiting: Vec<StructName> = kinds(facts);
    let mut structs: BTreeMap<StructName, String> = BTreeMap::new();
    while let Some(name) = waiting.pop() {
        if structs.contains_key(&name) {
            continue;
        }
        let mut writer = StructWriter {
            resolver: Resolver { facts, home: &name.0, met: Vec::new() },
            schema: facts.schema(&name.0, &name.1).unwrap_or(&Value::Null),
            text: String::new(),
        };
        let place = format!("{} in {}", name.1, name.0);
        writer.write(&name.0, &name.1).with_context(|| place)?;
        let StructWriter { resolver, text, .. } = writer;
        waiting.extend(resolver.met);
        structs.insert(name, text);
    }
    let mut texts = BTreeMap::new();
    for ((package, _), text) in structs {
        let file: &mut String = texts.entry(file_name(&package)?).or_default();
        if file.is_empty() {
            writeln!(file, "# Written by `cargo xtask gen`.")?;
            writeln!(file, "package {}", facts::open_api_package(&package))?;
        }
        file.push_str(&text);
    }
    Ok(texts)
}

/// `core_v1.txt` for `api/core/v1`.
fn file_name(package: &str) -> Result<String> {
    let (rest, version) = package.rsplit_once('/').context("a package has a version")?;
    let group = rest.rsplit('/').next().unwrap_or_default();
    Ok(format!("{group}_{version}.txt"))
}

/// Every struct that has a kind, and those that travel alone.
fn kinds(facts: &Facts) -> Vec<StructName> {
    let mut kinds = Vec::new();
    for package in facts.packages() {
        for name in facts.names(package) {
            let Some(declaration) = facts.declaration(package, name) else { continue };
            let fields = declaration["fields"].as_array().map_or(&[][..], Vec::as_slice);
            let has_kind = fields.iter().any(is_type_meta);
            let is_alone = ALONE.contains(&(package, name));
            if has_kind || is_alone || declaration["under"] == "metav1.List" {
                kinds.push((package.to_owned(), name.to_owned()));
            }
        }
    }
    kinds
}

fn is_type_meta(field: &Value) -> bool {
    let go = field["type"].as_str().unwrap_or_default();
    field["inline"] == true && matches!(go, "TypeMeta" | "metav1.TypeMeta" | "v1.TypeMeta")
}

/// Writes one struct.
struct StructWriter<'a> {
    resolver: Resolver<'a>,
    /// Its schema in OpenAPI; null when no document has it.
    schema: &'a Value,
    text: String,
}

impl StructWriter<'_> {
    fn write(&mut self, package: &str, name: &str) -> Result<()> {
        let declaration = self.resolver.facts.declaration(package, name).unwrap_or(&Value::Null);
        self.text.push_str(name);
        if markers(declaration, "structType").any(|kind| kind == "atomic") {
            self.text.push_str(" atomic");
        }
        for union in self.schema["x-kubernetes-unions"].as_array().into_iter().flatten() {
            let fields = union["fields-to-discriminateBy"].as_object();
            let fields: Vec<&str> =
                fields.into_iter().flat_map(|map| map.keys()).map(String::as_str).collect();
            let discriminator = union["discriminator"].as_str().unwrap_or_default();
            write!(self.text, " union={discriminator}:{}", fields.join(","))?;
        }
        self.text.push('\n');
        self.fields(package, name, &Embedding::default())
    }

    /// Writes the fields of a struct that may be embedded in the one that is written.
    fn fields(&mut self, package: &str, name: &str, embedding: &Embedding) -> Result<()> {
        let (package, fields) = go_type::fields(&self.resolver, package, name)?;
        for field in fields {
            if field["inline"] == true {
                let go = field["type"].as_str().context("a field has a type")?;
                let inner = self.resolver.locate(&package, go)?;
                let embedding = embedding.deeper(field, &inner.1)?;
                self.fields(&inner.0, &inner.1, &embedding)?;
            } else if field["json"].as_str().is_some_and(|json| json != "-") {
                let line = self.field(&package, field, embedding);
                let line = line.with_context(|| format!("field {}", field["go"]))?;
                writeln!(self.text, " {line}")?;
            }
        }
        Ok(())
    }

    fn field(&mut self, package: &str, field: &Value, embedding: &Embedding) -> Result<String> {
        let json = field["json"].as_str().context("a field has a name")?;
        let go = field["type"].as_str().context("a field has a type")?;
        let ty = self.resolver.resolve(package, go)?;
        let tag = match embedding.prefix.as_str() {
            "-" => "-".to_owned(),
            prefix => match protobuf_number(field)? {
                "-" => "-".to_owned(),
                number => format!("{prefix}{number}"),
            },
        };
        let mut line = format!("{json} {ty} {tag}");
        match field["omit"].as_str() {
            None => {}
            Some("omitempty") => line.push_str(" omit"),
            Some("omitzero") => line.push_str(" omitzero"),
            Some(other) => bail!("{other} is not known"),
        }
        if self.is_required(json, field) {
            line.push_str(" req");
        }
        line.push_str(&identity(field)?);
        line.push_str(&patch(field));
        if let Some(name) = self.resolver.name(package, go)? {
            write!(line, " go={name}")?;
        }
        if !embedding.names.is_empty() {
            write!(line, " in={}", embedding.names)?;
        }
        if let Some(default) = self.default(json, field)? {
            write!(line, " default={default}")?;
        }
        Ok(line)
    }

    /// As OpenAPI says; for a struct that no document has, by the rule that the documents follow.
    fn is_required(&self, json: &str, field: &Value) -> bool {
        if self.schema.is_null() {
            let is_optional = has_marker(field, "+optional") || field["omit"] == "omitempty";
            return !is_optional || has_marker(field, "+required");
        }
        let required = self.schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        required.iter().any(|name| name.as_str() == Some(json))
    }

    /// The declared default. A document shows what the declaration may only refer to.
    fn default(&self, json: &str, field: &Value) -> Result<Option<String>> {
        let Some(declared) = markers(field, "default").next() else { return Ok(None) };
        let shown = &self.schema["properties"][json]["default"];
        if !shown.is_null() {
            return Ok(Some(shown.to_string()));
        }
        serde_json::from_str::<Value>(declared).context("a default is JSON")?;
        Ok(Some(declared.to_owned()))
    }
}

/// Where the fields of an embedded struct stand.
#[derive(Default)]
struct Embedding {
    /// The protobuf number of the message that they travel in, with a dot; a dash when they travel
    /// in none.
    prefix: String,
    /// The names of the structs that are embedded, joined with dots.
    names: String,
}

impl Embedding {
    /// The place of the struct of this name that `field` embeds.
    fn deeper(&self, field: &Value, name: &str) -> Result<Embedding> {
        // Kind and version travel outside the message, and are read before anything else.
        if is_type_meta(field) {
            return Ok(Embedding { prefix: "-".to_owned(), names: String::new() });
        }
        let prefix = format!("{}{}.", self.prefix, protobuf_number(field)?);
        let dot = if self.names.is_empty() { "" } else { "." };
        Ok(Embedding { prefix, names: format!("{}{dot}{name}", self.names) })
    }
}

/// The number of a field in its message, `-` when it does not travel.
fn protobuf_number(field: &Value) -> Result<&str> {
    match field["proto"].as_str() {
        None | Some("-") => Ok("-"),
        Some(text) => text.split(',').nth(1).context("a number after the kind"),
    }
}

/// How the parts of a field are told apart.
fn identity(field: &Value) -> Result<String> {
    let mut text = String::new();
    match markers(field, "listType").next() {
        None => {}
        Some(kind @ ("atomic" | "set")) => write!(text, " list={kind}")?,
        Some("map") => {
            let keys: Vec<&str> = markers(field, "listMapKey").collect();
            write!(text, " list=map:{}", keys.join(","))?;
        }
        Some(other) => bail!("list type {other} is not known"),
    }
    for marker in ["mapType", "structType"] {
        match markers(field, marker).next() {
            None => {}
            Some(kind @ ("atomic" | "granular")) => write!(text, " {kind}")?,
            Some(other) => bail!("{marker} {other} is not known"),
        }
    }
    Ok(text)
}

/// How a strategic merge patch treats the field.
fn patch(field: &Value) -> String {
    let mut text = String::new();
    if let Some(strategy) = field["patch"]["strategy"].as_str() {
        text = format!(" patch={strategy}");
    }
    if let Some(key) = field["patch"]["mergeKey"].as_str() {
        text.push_str(&format!(" key={key}"));
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    /// The text that types of a package give, with the types of metadata beside them.
    fn check(types: &str, schemas: &str, expect: &str) {
        let meta = r#"{"TypeMeta":
                {"fields": [{"json": "kind", "omit": "omitempty", "type": "string"}]},
            "Names": {"under": "[]string", "markers": ["+protobuf.nullable=true"]}}"#;
        let packages = format!(r#"{{"{META}": {meta}, "api/ships/v1": {types}}}"#);
        let packages = serde_json::from_str(&packages).unwrap();
        let facts = Facts::new(packages, serde_json::from_str(schemas).unwrap());
        let texts = write(&facts).unwrap();
        let head = "# Written by `cargo xtask gen`.\npackage io.k8s.api.ships.v1\n";
        assert_eq!(texts["ships_v1.txt"], format!("{head}{expect}"));
    }

    const KIND: &str = r#"{"inline": true, "type": "metav1.TypeMeta"}"#;

    #[test]
    fn embedded_structs_stand_in_their_place() {
        let types = r#"{"Ship": {"fields": [KIND,
                {"inline": true, "proto": "bytes,2,opt", "type": "Hull"},
                {"json": "mast", "proto": "bytes,1,opt", "omit": "omitempty", "type": "*Mast"}]},
            "Hull": {"fields": [{"json": "planks", "proto": "varint,3,opt", "type": "int32"}]},
            "Mast":
                {"fields": [{"json": "-", "type": "int32"}], "markers": ["+structType=atomic"]}}"#;
        let expect = "Mast atomic
Ship
 kind string - omit
 \
            planks int32 2.3 req in=Hull
 mast *Mast 1 omit
";
        check(&types.replace("KIND", KIND), "{}", expect);
    }

    #[test]
    fn named_types_are_followed_and_markers_become_words() {
        let types = r#"{"Ship": {"fields": [KIND,
            {"json": "names", "proto": "bytes,1,rep", "type": "metav1.Names"},
            {"json": "cargo", "proto": "bytes,2,rep", "type": "[]Crate", "omit": "omitempty",
             "markers": ["+listType=map", "+listMapKey=a", "+listMapKey=b"],
             "patch": {"strategy": "merge", "mergeKey": "a"}},
            {"json": "flag", "proto": "bytes,3,opt", "type": "Flag",
             "markers": ["+default=ref(Red)"]},
            {"json": "log", "proto": "bytes,4,rep", "type": "map[Flag][]byte"}]},
            "Flag": {"under": "string"}, "Crate": {"fields": []}}"#;
        let schemas = r#"{"io.k8s.api.ships.v1.Ship":
            {"required": ["log"], "properties": {"flag": {"default": "Red"}}}}"#;
        let expect = "Crate\nShip\n kind string - omit\n names <string> 1 go=v1.Names\n \
            cargo [Crate] 2 omit list=map:a,b patch=merge key=a\n \
            flag string 3 go=v1.Flag default=\"Red\"\n log {bytes} 4 req go=map[v1.Flag][]byte\n";
        check(&types.replace("KIND", KIND), schemas, expect);
    }
}
