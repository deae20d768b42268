//! `cargo xtask gen`: writes the table of built-in kinds from facts about the API.
//!
//! The facts are the types of the API as Go declares them and its OpenAPI documents; they lie
//! beside the repository and are no part of it. What comes out is one text per API package in
//! `crates/orlop-kinds/src/schema/`, in the form that `orlop_machinery::schema::parse` reads:
//! names, types, numbers and rules, never prose. The same facts give the same bytes.

mod facts;
mod go_type;
mod texts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::shell;
use facts::Facts;

/// Where the facts are, in the folder that is given.
const DATA: &str = "data/kubernetes-1.36";

/// Where the texts go, from the root of the repository.
const OUTPUT: &str = "crates/orlop-kinds/src/schema";

/// Runs the command.
///
/// # Errors
///
/// When the facts are missing or say something that the table cannot.
pub fn run(arguments: &[String]) -> Result<u8> {
    let is_check = arguments.iter().any(|argument| argument == "--check");
    let mut folders = arguments.iter().filter(|argument| *argument != "--check");
    let shared = folders.next().map_or_else(shared_folder, PathBuf::from);
    if folders.next().is_some() || shared.to_string_lossy().starts_with('-') {
        bail!("usage: cargo xtask gen [--check] [SHARED_DIR]");
    }
    let texts = texts(&shared.join(DATA))?;
    let output = shell::root().join(OUTPUT);
    if is_check {
        return check(&output, &texts);
    }
    std::fs::create_dir_all(&output)?;
    for name in existing(&output)? {
        if !texts.contains_key(&name) {
            std::fs::remove_file(output.join(name))?;
        }
    }
    for (name, text) in &texts {
        std::fs::write(output.join(name), text).with_context(|| format!("writing {name}"))?;
    }
    println!("gen: wrote {} files to {OUTPUT}", texts.len());
    Ok(0)
}

/// The folder `shared` beside the repository, unless `ORLOP_SHARED` names another.
fn shared_folder() -> PathBuf {
    std::env::var_os("ORLOP_SHARED").map_or_else(|| shell::root().join("../shared"), PathBuf::from)
}

/// The texts of the table by the names of their files.
fn texts(data: &Path) -> Result<BTreeMap<String, String>> {
    let facts = Facts::read(data)?;
    texts::write(&facts)
}

/// Says which files differ from what the facts give.
fn check(output: &Path, texts: &BTreeMap<String, String>) -> Result<u8> {
    let mut differing: Vec<String> =
        existing(output)?.into_iter().filter(|name| !texts.contains_key(name)).collect();
    for (name, text) in texts {
        if std::fs::read_to_string(output.join(name)).ok().as_ref() != Some(text) {
            differing.push(name.clone());
        }
    }
    for name in &differing {
        println!("gen: {OUTPUT}/{name} is not what the facts give; run `cargo xtask gen`");
    }
    Ok(u8::from(!differing.is_empty()))
}

/// The names of the texts that are there.
fn existing(output: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(output).with_context(|| format!("reading {OUTPUT}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".txt") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
