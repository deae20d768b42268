//! What is known about the API: the types as Go declares them, and the OpenAPI documents.
//!
//! Only stable versions are looked at.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

/// The package of object metadata and options.
pub(super) const META: &str = "apimachinery/pkg/apis/meta/v1";

/// The package of the first group.
pub(super) const CORE: &str = "api/core/v1";

/// The facts about all types.
pub(super) struct Facts {
    /// Packages by path, each with its types by name.
    packages: Map<String, Value>,
    /// Every schema of the OpenAPI documents by name.
    schemas: BTreeMap<String, Value>,
}

impl Facts {
    /// Reads them from the folder of one release.
    pub(super) fn read(data: &Path) -> Result<Facts> {
        let packages = match parse(&data.join("types.json"))? {
            Value::Object(packages) => packages,
            _ => Map::new(),
        };
        let mut schemas = BTreeMap::new();
        let folder = data.join("openapi-spec/v3");
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains("alpha") || name.contains("beta") {
                continue;
            }
            let mut document = parse(&entry.path())?;
            if let Value::Object(found) = document["components"]["schemas"].take() {
                schemas.extend(found);
            }
        }
        Ok(Facts::new(packages, schemas))
    }

    /// From types by package and schemas by name.
    pub(super) fn new(packages: Map<String, Value>, schemas: BTreeMap<String, Value>) -> Facts {
        Facts { packages, schemas }
    }

    /// The paths of the packages of stable versions, sorted.
    pub(super) fn packages(&self) -> impl Iterator<Item = &str> {
        self.packages.keys().map(String::as_str).filter(|path| is_stable(path))
    }

    /// The names of the types of a package, sorted.
    pub(super) fn names(&self, package: &str) -> Vec<&str> {
        let mut names: Vec<&str> = match self.packages.get(package) {
            Some(Value::Object(types)) => types.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        names.sort_unstable();
        names
    }

    /// How Go declares a type.
    pub(super) fn declaration(&self, package: &str, name: &str) -> Option<&Value> {
        self.packages.get(package)?.get(name)
    }

    /// Whether a type is a struct without fields: only OpenAPI knows it.
    pub(super) fn is_empty_struct(&self, package: &str, name: &str) -> bool {
        let is_declared = self.declaration(package, name).is_some();
        !is_declared && self.schema(package, name).is_some_and(|schema| schema["type"] == "object")
    }

    /// The schema of a type in OpenAPI.
    pub(super) fn schema(&self, package: &str, name: &str) -> Option<&Value> {
        self.schemas.get(&format!("{}.{name}", open_api_package(package)))
    }
}

/// `io.k8s.api.core.v1` for `api/core/v1`.
pub(super) fn open_api_package(package: &str) -> String {
    format!("io.k8s.{}", package.replace('/', "."))
}

/// The values after `+name=` among the markers of a declaration.
pub(super) fn markers<'a>(
    declaration: &'a Value,
    name: &'a str,
) -> impl Iterator<Item = &'a str> + 'a {
    let all = declaration["markers"].as_array().map_or(&[][..], Vec::as_slice);
    let text = all.iter().filter_map(Value::as_str);
    text.filter_map(move |marker| marker.strip_prefix('+')?.strip_prefix(name)?.strip_prefix('='))
}

/// Whether a declaration has a marker without a value.
pub(super) fn has_marker(declaration: &Value, marker: &str) -> bool {
    let all = declaration["markers"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().any(|found| found.as_str() == Some(marker))
}

/// The API packages end in a stable version; what else is listed is machinery.
fn is_stable(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_version = last.strip_prefix('v').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    is_version && !path.contains("/testing/")
}

fn parse(path: &Path) -> Result<Value> {
    let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("parsing {}", path.display()))
}
