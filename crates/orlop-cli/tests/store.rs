//! The binary as a person uses it: `up`, and the commands that look after the store.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use orlop_storage::{Embedded, Expect, Store, embedded::Options};
use tempfile::TempDir;

fn orlop(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orlop")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a command says when all is well.
fn says(arguments: &[&str]) -> String {
    let output = orlop(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The last line of a command that fails with exit code 1.
fn refuses(arguments: &[&str]) -> String {
    let output = orlop(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", text(&output.stdout));
    text(&output.stderr).trim().lines().last().unwrap().to_string()
}

/// A data folder whose store has three keys, one of them not text.
async fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(Options::new(&folder.path().join("store"))).unwrap();
    for (key, value) in [("/a/1", &b"one"[..]), ("/a/2", b"two"), ("/b", b"\xff")] {
        store.put(key.into(), value.to_vec().into(), Expect::Absent).await.unwrap();
    }
    folder
}

fn path(folder: &TempDir) -> String {
    folder.path().to_str().unwrap().to_string()
}

/// A process that ends with its test, also when that fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A running `orlop up` and the lines that it has printed until it was ready.
fn up(data_dir: &str) -> (Running, Vec<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_orlop"))
        .args(["up", "--secure-port", "0", "--data-dir", data_dir])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        lines.push(line.unwrap());
        if lines.last().unwrap().starts_with("ready") {
            break;
        }
    }
    (Running(child), lines)
}

fn terminate(mut running: Running) {
    let pid = running.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(running.0.wait().unwrap().success(), "a stop on request is a success");
}

#[tokio::test]
async fn up_opens_the_store_and_stops_on_sigterm() {
    let folder = filled().await;
    let (child, lines) = up(&path(&folder));
    assert!(lines[1].ends_with("store (3 keys, revision 4)"), "{lines:?}");
    let second = refuses(&["up", "--data-dir", &path(&folder)]);
    assert!(second.ends_with("is in use by another process"), "{second}");
    terminate(child);
    let (child, _) = up(&path(&folder));
    terminate(child);
}

#[tokio::test]
async fn check_and_dump_read_beside_a_running_server_and_write_nothing() {
    let folder = filled().await;
    let (child, _) = up(&path(&folder));
    let check = says(&["store", "check", "--data-dir", &path(&folder)]);
    // The three that were there, and what the server itself has made.
    let keys = check.lines().find_map(|line| line.strip_prefix("keys ")).unwrap();
    assert!(keys.trim().parse::<u64>().unwrap() > 3, "{check}");
    assert!(check.ends_with("the store is sound\n"), "{check}");
    let dump = says(&["store", "dump", "--data-dir", &path(&folder)]);
    let expect = r#"{"createRevision":2,"key":"/a/1","lease":0,"modRevision":2,"value":"one"}
{"createRevision":3,"key":"/a/2","lease":0,"modRevision":3,"value":"two"}
{"createRevision":4,"key":"/b","lease":0,"modRevision":4,"valueBase64":"/w=="}
"#;
    // What the server itself has made comes after it.
    assert!(dump.starts_with(expect), "{dump}");
    assert!(dump.contains(r#""key":"/registry/namespaces/default""#), "{dump}");
    let keys = ["store", "dump", "--prefix", "/a/2", "--keys-only", "--data-dir", &path(&folder)];
    assert_eq!(
        says(&keys),
        "{\"createRevision\":3,\"key\":\"/a/2\",\"lease\":0,\"modRevision\":3}\n"
    );
    terminate(child);
    // What the server does to its files is its own business, so it is stopped for this.
    let before = listing(&folder.path().join("store"));
    says(&["store", "check", "--data-dir", &path(&folder)]);
    says(&["store", "dump", "--data-dir", &path(&folder)]);
    assert_eq!(listing(&folder.path().join("store")), before);
}

#[tokio::test]
async fn a_backup_makes_the_same_store_again() {
    let folder = filled().await;
    let target = tempfile::tempdir().unwrap();
    let file = target.path().join("backup").to_str().unwrap().to_string();
    let made = says(&["store", "backup", "--data-dir", &path(&folder), &file]);
    assert!(made.contains("3 keys, revision 4"), "{made}");
    let again = refuses(&["store", "backup", "--data-dir", &path(&folder), &file]);
    assert!(again.contains("File exists"), "a backup is not overwritten: {again}");
    let exact = target.path().join("exact").to_str().unwrap().to_string();
    says(&["store", "restore", "--bump-revision", "0", "--data-dir", &exact, &file]);
    let dump = |folder: &str| says(&["store", "dump", "--data-dir", folder]);
    assert_eq!(dump(&exact), dump(&path(&folder)));
    let bumped = target.path().join("bumped").to_str().unwrap().to_string();
    let made = says(&["store", "restore", "--data-dir", &bumped, &file]);
    assert!(made.contains("revision 1000000004"), "{made}");
    let occupied = refuses(&["store", "restore", "--data-dir", &bumped, &file]);
    assert!(occupied.ends_with("is not empty"), "{occupied}");
    let store = Embedded::open(Options::new(&Path::new(&bumped).join("store"))).unwrap();
    let next = store.put("/c".into(), "3".into(), Expect::Absent).await.unwrap();
    assert_eq!(next.committed().unwrap().0, 1_000_000_005);
}

#[tokio::test]
async fn damage_is_named_and_exit_codes_tell() {
    let folder = filled().await;
    let log = folder.path().join("store/0000000000000001.log");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let line = refuses(&["store", "check", "--data-dir", &path(&folder)]);
    assert!(line.contains("0000000000000001.log is damaged at offset 0"), "{line}");
    assert_eq!(refuses(&["up", "--data-dir", &path(&folder)]), line);
    let empty = tempfile::tempdir().unwrap();
    assert!(refuses(&["store", "check", "--data-dir", &path(&empty)]).contains("cannot list"));
    assert_eq!(orlop(&["up", "--no-such-flag"]).status.code(), Some(2));
}

fn listing(folder: &Path) -> Vec<(String, u64)> {
    let mut files: Vec<(String, u64)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}
