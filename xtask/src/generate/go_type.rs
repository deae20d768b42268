//! From a type as Go writes it to a type as the table writes it.
//!
//! Named types are followed to what they stand for, except structs, which become names, and the
//! few types that Go encodes by code of their own.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::facts::{self, CORE, Facts, META};

/// A struct that a type refers to: package and name.
pub(super) type StructName = (String, String);

/// Types that the table has words for. A package without a path is not among the facts and goes by
/// the name that it is imported by.
const WORDS: [(&str, &str, &str); 17] = [
    ("", "bool", "bool"),
    ("", "int32", "int32"),
    ("", "int64", "int64"),
    ("", "float64", "float64"),
    ("", "string", "string"),
    ("", "interface{}", "any"),
    ("types", "UID", "string"),
    ("types", "NodeName", "string"),
    ("types", "PatchType", "string"),
    ("resource", "Quantity", "quantity"),
    ("intstr", "IntOrString", "intstr"),
    ("apimachinery/pkg/runtime", "RawExtension", "raw"),
    (META, "Time", "time"),
    (META, "MicroTime", "microtime"),
    (META, "Duration", "duration"),
    (META, "FieldsV1", "fieldset"),
    (API_EXTENSIONS, "JSON", "any"),
];

/// The package of custom resource definitions.
const API_EXTENSIONS: &str = "apiextensions-apiserver/pkg/apis/apiextensions/v1";

/// Types that hold a struct or something else, by what else that is.
const EITHER: [(&str, &str); 3] = [
    ("JSONSchemaPropsOrBool", "JSONSchemaProps|bool"),
    ("JSONSchemaPropsOrArray", "JSONSchemaProps|[]"),
    ("JSONSchemaPropsOrStringArray", "JSONSchemaProps|[string]"),
];

/// Follows the types of one package.
pub(super) struct Resolver<'a> {
    /// What is known.
    pub(super) facts: &'a Facts,
    /// The package that the text is for: its own structs are named without it.
    pub(super) home: &'a str,
    /// The structs that were met.
    pub(super) met: Vec<StructName>,
}

impl Resolver<'_> {
    /// The type as the table writes it, for a type that stands in `package`.
    pub(super) fn resolve(&mut self, package: &str, go: &str) -> Result<String> {
        self.follow(package, go).with_context(|| format!("type {go} in {package}"))
    }

    fn follow(&mut self, package: &str, go: &str) -> Result<String> {
        if go == "[]byte" {
            return Ok("bytes".to_owned());
        }
        if let Some(target) = go.strip_prefix('*') {
            return Ok(format!("*{}", self.follow(package, target)?));
        }
        if let Some(item) = go.strip_prefix("[]") {
            return Ok(format!("[{}]", self.follow(package, item)?));
        }
        if let Some(map) = go.strip_prefix("map[") {
            let (key, value) = map.split_once(']').context("a map has a key")?;
            if self.follow(package, key)? != "string" {
                bail!("the keys of a map are text");
            }
            return Ok(format!("{{{}}}", self.follow(package, value)?));
        }
        let (package, name) = self.locate(package, go)?;
        self.named(&package, &name)
    }

    /// The type as Go names it in messages, for a type that stands in `package`; none when the
    /// table tells it too.
    pub(super) fn name(&self, package: &str, go: &str) -> Result<Option<String>> {
        let (name, is_told) = self.spell(package, go.strip_prefix('*').unwrap_or(go))?;
        Ok((!is_told).then_some(name))
    }

    /// The name, and whether the table tells it too: structs have their names there, and types that
    /// stand for a word.
    fn spell(&self, package: &str, go: &str) -> Result<(String, bool)> {
        for prefix in ["*", "[]"] {
            if let Some(inner) = go.strip_prefix(prefix).filter(|inner| *inner != "byte") {
                let (name, is_told) = self.spell(package, inner)?;
                return Ok((format!("{prefix}{name}"), is_told));
            }
        }
        if let Some(map) = go.strip_prefix("map[") {
            let (key, value) = map.split_once(']').context("a map has a key")?;
            let (key, is_key_told) = self.spell(package, key)?;
            let (value, is_told) = self.spell(package, value)?;
            return Ok((format!("map[{key}]{value}"), is_key_told && is_told));
        }
        if go == "[]byte" {
            return Ok((go.to_owned(), true));
        }
        let (package, name) = self.locate(package, go)?;
        if package.is_empty() {
            return Ok((name, true));
        }
        let short = package.rsplit('/').next().unwrap_or_default();
        // All that this package has is text.
        let is_word =
            package != "types" && WORDS.iter().any(|word| word.0 == package && word.1 == name);
        let is_either =
            package == API_EXTENSIONS && EITHER.iter().any(|(either, _)| *either == name);
        let declaration = self.facts.declaration(&package, &name).unwrap_or(&Value::Null);
        let is_struct =
            declaration["fields"].is_array() || self.facts.is_empty_struct(&package, &name);
        Ok((format!("{short}.{name}"), is_word || is_either || is_struct))
    }

    fn named(&mut self, package: &str, name: &str) -> Result<String> {
        let known = WORDS.iter().find(|word| word.0 == package && word.1 == name);
        if let Some((_, _, word)) = known {
            return Ok((*word).to_owned());
        }
        let either = EITHER.iter().find(|(either, _)| *either == name);
        if let (API_EXTENSIONS, Some((_, text))) = (package, either) {
            self.met.push((package.to_owned(), "JSONSchemaProps".to_owned()));
            return Ok((*text).to_owned());
        }
        let declaration = self.facts.declaration(package, name).unwrap_or(&Value::Null);
        if declaration["fields"].is_array() || self.facts.is_empty_struct(package, name) {
            self.met.push((package.to_owned(), name.to_owned()));
            return Ok(match package == self.home {
                true => name.to_owned(),
                false => format!("{}.{name}", facts::open_api_package(package)),
            });
        }
        let under = declaration["under"].as_str().context("it is not declared")?;
        let text = self.follow(package, under)?;
        // A list that may be missing has a message of its own.
        if facts::has_marker(declaration, "+protobuf.nullable=true") {
            let item = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
            return Ok(format!("<{}>", item.context("only lists are wrapped")?));
        }
        Ok(text)
    }

    /// The package and the name of a type that is written as in `package`.
    pub(super) fn locate(&self, package: &str, go: &str) -> Result<StructName> {
        if WORDS.iter().any(|word| word.0.is_empty() && word.1 == go) {
            return Ok((String::new(), go.to_owned()));
        }
        let Some((alias, name)) = go.split_once('.') else {
            return Ok((package.to_owned(), go.to_owned()));
        };
        let has = |package: &str| self.facts.declaration(package, name).is_some();
        let package = match alias {
            "metav1" => META,
            "corev1" | "apiv1" => CORE,
            // Both are imported by this name; what both declare is text in both.
            "v1" if has(CORE) => CORE,
            "v1" if has(META) => META,
            "authenticationv1" => "api/authentication/v1",
            "runtime" => "apimachinery/pkg/runtime",
            "types" | "resource" | "intstr" => alias,
            _ => bail!("package {alias} is not known"),
        };
        Ok((package.to_owned(), name.to_owned()))
    }
}

/// The fields of a struct, and the package in which their types are written.
pub(super) fn fields<'a>(
    resolver: &Resolver<'a>,
    package: &str,
    name: &str,
) -> Result<(String, &'a [Value])> {
    let mut place = (package.to_owned(), name.to_owned());
    if resolver.facts.is_empty_struct(package, name) {
        return Ok((place.0, &[]));
    }
    for _ in 0..4 {
        let declaration = resolver
            .facts
            .declaration(&place.0, &place.1)
            .with_context(|| format!("{} is not declared in {}", place.1, place.0))?;
        if let Some(fields) = declaration["fields"].as_array() {
            return Ok((place.0, fields));
        }
        let under = declaration["under"].as_str().context("a struct has fields")?;
        place = resolver.locate(&place.0, under)?;
    }
    bail!("{name} in {package} is no struct")
}
