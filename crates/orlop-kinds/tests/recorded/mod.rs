//! Where recorded facts about Kubernetes 1.36 lie, for the tests that compare with them.

#![allow(dead_code, reason = "not every test needs all of it")]
#![allow(clippy::disallowed_methods, reason = "where the facts lie may be said by the environment")]

use std::path::{Path, PathBuf};
use std::{env, fs};

use orlop_kinds::schema;
use orlop_machinery::schema::StructId;
use orlop_machinery::{Value, json};

/// The folder with the facts; none, with a line that says so, where it does not exist.
pub(crate) fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = env::var_os("ORLOP_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("data/kubernetes-1.36");
    if !folder.is_dir() {
        println!("skipped: there are no recorded facts in {}", folder.display());
        return None;
    }
    Some(folder)
}

/// The files of a folder with an extension, sorted.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

/// A file of JSON.
pub(crate) fn json(path: &Path) -> Value {
    json::parse(&fs::read(path).unwrap()).unwrap()
}

/// The struct of a recorded object, by the name of its file without extension, such as
/// `rbac.authorization.k8s.io.v1.Role`; none for versions that are not served.
pub(crate) fn find(name: &str) -> Option<StructId> {
    let (group_version, kind) = name.rsplit_once('.')?;
    let (group, version) = group_version.rsplit_once('.')?;
    let is_served = !version.contains("alpha") && !version.contains("beta");
    let package = match group.split('.').next()? {
        "apiextensions" => "apiextensions-apiserver.pkg.apis.apiextensions".to_owned(),
        group => format!("api.{group}"),
    };
    let meta = format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}");
    let found = schema().find(&format!("io.k8s.{package}.{version}.{kind}"));
    let found = found.or_else(|| schema().find(&meta));
    is_served.then(|| found.unwrap_or_else(|| panic!("the schema has no struct for {name}")))
}
