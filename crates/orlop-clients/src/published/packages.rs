//! The table of packages, and reading what lies in one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// The table: `published.txt` beside the sources, which describes its columns.
const TABLE: &str = include_str!("../../published.txt");
/// Larger files are dumps, not samples.
const SAMPLE_BYTES_MAX: u64 = 200_000;

/// A package that has definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// What we call it.
    pub name: String,
    /// The Go module and its version, `MODULE@VERSION`.
    pub module: String,
    /// Folders or files with definitions, from the module's root.
    pub definitions: Vec<String>,
    /// Folders with objects.
    pub samples: Vec<String>,
}

/// An object from a file.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// The file from the module's root, and which document of it.
    pub(super) place: String,
    pub(super) object: Value,
}

/// All packages of the table.
///
/// # Panics
/// When a line has not four columns.
#[must_use]
pub fn packages() -> Vec<Package> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let words = |list: &str| -> Vec<String> {
        list.split(',').filter(|word| *word != "-").map(str::to_owned).collect()
    };
    lines
        .map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let [name, module, definitions, samples] = columns[..] else {
                panic!("not four columns: {line}");
            };
            Package {
                name: name.to_owned(),
                module: module.to_owned(),
                definitions: words(definitions),
                samples: words(samples),
            }
        })
        .collect()
}

impl Package {
    /// Its definitions.
    pub(super) fn read_definitions(&self, folder: &Path) -> Result<Vec<Document>> {
        let mut found = read(folder, &self.definitions, u64::MAX)?;
        found.retain(|one| {
            one.object["kind"] == "CustomResourceDefinition"
                && one.object["apiVersion"] == "apiextensions.k8s.io/v1"
        });
        Ok(found)
    }

    /// Its objects, of whatever kinds.
    pub(super) fn read_samples(&self, folder: &Path) -> Result<Vec<Document>> {
        read(folder, &self.samples, SAMPLE_BYTES_MAX)
    }
}

/// The objects in files and folders, in the order of paths. What is no YAML or a template is
/// passed over: such files lie everywhere.
fn read(folder: &Path, places: &[String], bytes_max: u64) -> Result<Vec<Document>> {
    let mut files = Vec::new();
    for place in places {
        collect_files(&folder.join(place), &mut files)?;
    }
    files.sort();
    files.dedup();
    let mut found = Vec::new();
    for file in files {
        if file.metadata()?.len() > bytes_max {
            continue;
        }
        let text = std::fs::read(&file)?;
        let Ok(values) = orlop_machinery::yaml::parse_all(&text) else { continue };
        let path = file.strip_prefix(folder).context("files lie in the folder")?;
        for (number, value) in values.iter().enumerate() {
            let object = serde_json::from_str(&orlop_machinery::json::to_string(value))?;
            found.push(Document { place: format!("{}#{number}", path.display()), object });
        }
    }
    Ok(found)
}

fn collect_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        files.extend(Some(path.to_owned()).filter(|_| is_yaml));
        return Ok(());
    }
    for entry in path.read_dir().with_context(|| path.display().to_string())? {
        collect_files(&entry?.path(), files)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_package_of_its_own() {
        let packages = packages();
        assert!(packages.len() >= 30);
        assert!(packages.iter().all(|one| one.module.contains('@')));
        assert!(packages.windows(2).all(|two| two[0].name < two[1].name), "sorted by name");
    }
}
