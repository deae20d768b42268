//! What a server says about the definitions and objects of a package, as lines of text, those
//! about one definition below its name.
//!
//! Definitions are made first, all of them; then each is waited for, looked for in discovery and
//! OpenAPI, and listed as a table; then objects are made without being kept (`dryRun`): the
//! package's own, one from the schema for a kind without, and broken ones. Causes of a refusal
//! are sorted, because Kubernetes names them in an order of its own each time.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use orlop_apiserver_suite::{ApiClient, Reply};
use serde_json::{Value, json};

use super::packages::{Document, Package};
use super::{broken, sample};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// How long a server may take to serve what it has accepted.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(2);
/// What is shown of a line; some messages quote whole schemas.
const LINE_CHARS_MAX: usize = 600;
/// The condition of definitions in groups that are Kubernetes' own, which comes by itself.
const APPROVAL: &str = "KubernetesAPIApprovalPolicyConformant";
/// The heading of the package's own objects.
const SAMPLES: &str = "samples";
/// The verbs of a resource and of a subresource, in the order in which they are served.
const VERBS: &str = "delete,deletecollection,get,list,patch,create,update,watch";
const SUBRESOURCE_VERBS: &str = "get,patch,update";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Asks everything and returns the lines.
pub(super) async fn inquire(
    client: &ApiClient,
    package: &Package,
    folder: &Path,
) -> Result<String> {
    let mut inquiry = Inquiry { client, said: BTreeMap::new(), definitions: Vec::new() };
    for document in package.read_definitions(folder)? {
        inquiry.define(document).await?;
    }
    inquiry.served().await?;
    inquiry.documented().await?;
    let bases = inquiry.samples(package.read_samples(folder)?).await?;
    inquiry.objects(&bases).await?;
    Ok(inquiry.text())
}

struct Inquiry<'a> {
    client: &'a ApiClient,
    /// Lines by what they are about.
    said: BTreeMap<String, Vec<String>>,
    /// Those that the server has taken.
    definitions: Vec<Value>,
}

impl Inquiry<'_> {
    /// Makes a definition. One with unknown fields is refused as kubectl would see it, and then
    /// made without them.
    async fn define(&mut self, document: Document) -> Result<()> {
        let name = text(&document.object["metadata"]["name"]);
        for mode in ["Strict", "Warn"] {
            let path = format!("{DEFINITIONS}?fieldValidation={mode}");
            let reply = self.send("POST", &path, Some(&document.object)).await?;
            self.say(&name, &answer(&reply));
            if reply.code == 201 {
                self.definitions.push(document.object);
                return Ok(());
            }
            if reply.code != 400 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits for each definition and says how it is served.
    async fn served(&mut self) -> Result<()> {
        for definition in self.definitions.clone() {
            let name = text(&definition["metadata"]["name"]);
            let path = format!("{DEFINITIONS}/{name}");
            let decided = |found: &Value| {
                let conditions = found["status"]["conditions"].as_array()?;
                let is = |kind: &str, status: &str| {
                    conditions.iter().any(|one| one["type"] == kind && one["status"] == status)
                };
                let is_decided = is("Established", "True") || is("NamesAccepted", "False");
                let is_judged = !is_protected(&definition)
                    || conditions.iter().any(|one| one["type"] == APPROVAL);
                (is_decided && is_judged).then(|| conditions.clone())
            };
            let conditions = self.wait(&path, decided).await?;
            let mut shown: Vec<String> = conditions.iter().map(condition).collect();
            shown.sort();
            self.say(&name, &shown.join(" "));
            for version in served_versions(&definition) {
                self.discovered(&definition, &version).await?;
            }
        }
        Ok(())
    }

    /// What discovery says of one version, and the columns of its table.
    async fn discovered(&mut self, definition: &Value, version: &str) -> Result<()> {
        let name = text(&definition["metadata"]["name"]);
        let plural = text(&definition["spec"]["names"]["plural"]);
        let group_version = format!("/apis/{}/{version}", text(&definition["spec"]["group"]));
        let resources = self
            .wait(&group_version, |list| {
                let all = list["resources"].as_array()?;
                let ours = |one: &&Value| {
                    text(&one["name"]).split('/').next().is_some_and(|first| first == plural)
                };
                let found: Vec<Value> = all.iter().filter(ours).cloned().collect();
                (!found.is_empty()).then_some(found)
            })
            .await?;
        let mut shown: Vec<String> = resources.iter().map(resource).collect();
        shown.sort();
        for line in shown {
            self.say(&name, &format!("{version} {line}"));
        }
        if version != storage_version(definition) && is_converted(definition) {
            return Ok(());
        }
        let path = format!("{group_version}/{plural}");
        let columns = self.wait_as(&path, TABLE, |table| {
            let columns = table["columnDefinitions"].as_array()?;
            Some(columns.iter().map(column).collect::<Vec<_>>())
        });
        let columns = columns.await?.join(", ");
        self.say(&name, &format!("{version} columns {columns}"));
        Ok(())
    }

    /// Counts the fields of each kind in the OpenAPI documents.
    async fn documented(&mut self) -> Result<()> {
        let mut kinds: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
        for definition in &self.definitions {
            let spec = &definition["spec"];
            for version in served_versions(definition) {
                let about = text(&definition["metadata"]["name"]);
                let group = text(&spec["group"]);
                let kind =
                    json!({ "group": group, "kind": spec["names"]["kind"], "version": version });
                kinds.entry(format!("{group}/{version}")).or_default().push((about, kind));
            }
        }
        for (group_version, kinds) in kinds {
            let path = format!("/openapi/v3/apis/{group_version}");
            let counted = |document: &Value| {
                let schemas = document["components"]["schemas"].as_object()?;
                let count = |(about, kind): &(String, Value)| {
                    let is_it = |schema: &&Value| {
                        let kinds = schema["x-kubernetes-group-version-kind"].as_array();
                        kinds.is_some_and(|kinds| kinds.contains(kind))
                    };
                    Some((about.clone(), count_fields(schemas.values().find(is_it)?)))
                };
                kinds.iter().map(count).collect::<Option<Vec<_>>>()
            };
            for (about, count) in self.wait(&path, counted).await? {
                self.say(&about, &format!("{group_version} {count} fields in OpenAPI"));
            }
        }
        Ok(())
    }

    /// Tries the package's objects; returns the first good one of each definition.
    async fn samples(&mut self, samples: Vec<Document>) -> Result<BTreeMap<String, Value>> {
        let mut bases = BTreeMap::new();
        let mut created = 0;
        for Document { place, mut object } in samples {
            let Some((definition, version)) = self.definition_of(&object) else { continue };
            prepare(&mut object, &definition);
            let reply = self.try_object(&definition, &version, &object, "Strict").await?;
            if reply.code != 201 {
                let kind = text(&object["kind"]);
                self.say(SAMPLES, &format!("{place} {kind}: {}", answer(&reply)));
                continue;
            }
            created += 1;
            if version == storage_version(&definition) {
                bases.entry(text(&definition["metadata"]["name"])).or_insert(object);
            }
        }
        self.say(SAMPLES, &format!("{created} created"));
        Ok(bases)
    }

    /// The definition and version of an object, if it can be made without anybody converting it.
    fn definition_of(&self, object: &Value) -> Option<(Value, String)> {
        let api_version = object["apiVersion"].as_str()?;
        let (group, version) = api_version.split_once('/')?;
        let is_it = |one: &&Value| {
            one["spec"]["group"] == group && one["spec"]["names"]["kind"] == object["kind"]
        };
        let definition = self.definitions.iter().find(is_it)?;
        let is_served = served_versions(definition).iter().any(|one| one == version);
        let is_plain = version == storage_version(definition) || !is_converted(definition);
        (is_served && is_plain).then(|| (definition.clone(), version.to_owned()))
    }

    /// For each definition: an object from the schema if the package has none, and broken ones.
    async fn objects(&mut self, bases: &BTreeMap<String, Value>) -> Result<()> {
        for definition in self.definitions.clone() {
            let name = text(&definition["metadata"]["name"]);
            let spec = &definition["spec"];
            let version = storage_version(&definition);
            if !served_versions(&definition).contains(&version) {
                continue;
            }
            let versions = spec["versions"].as_array().into_iter().flatten();
            let stored = versions.clone().find(|one| one["name"] == version.as_str());
            let schema = &stored.context("a stored version")?["schema"]["openAPIV3Schema"];
            let base = match bases.get(&name) {
                Some(sample) => sample.clone(),
                None => {
                    let api_version = format!("{}/{version}", text(&spec["group"]));
                    let mut made =
                        sample::make(&api_version, &text(&spec["names"]["kind"]), schema);
                    prepare(&mut made, &definition);
                    let reply = self.try_object(&definition, &version, &made, "Strict").await?;
                    self.say(&name, &format!("made from its schema: {}", answer(&reply)));
                    made
                }
            };
            for one in broken::all(schema, &base) {
                let reply = self.try_object(&definition, &version, &one.object, "Strict").await?;
                let Some(field) = one.what.strip_prefix("unknown ") else {
                    self.say(&name, &format!("{}: {}", one.what, answer(&reply)));
                    continue;
                };
                let warned = self.try_object(&definition, &version, &one.object, "Warn").await?;
                self.say(&name, &unknown(&base, field, &reply, &warned));
            }
        }
        Ok(())
    }

    async fn try_object(
        &self,
        definition: &Value,
        version: &str,
        object: &Value,
        mode: &str,
    ) -> Result<Reply> {
        let spec = &definition["spec"];
        let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
        let namespace = if is_namespaced(definition) { "namespaces/default/" } else { "" };
        let path = format!(
            "/apis/{group}/{version}/{namespace}{plural}?dryRun=All&fieldValidation={mode}"
        );
        self.send("POST", &path, Some(object)).await
    }

    async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Reply> {
        let reply = self.client.send(method, path, body).await;
        reply.map_err(|none| anyhow::anyhow!("{method} {path}: {none:?}"))
    }

    async fn wait<T>(&self, path: &str, look: impl Fn(&Value) -> Option<T>) -> Result<T> {
        self.wait_as(path, "application/json", look).await
    }

    /// Reads until there is what is looked for.
    async fn wait_as<T>(
        &self,
        path: &str,
        accept: &str,
        look: impl Fn(&Value) -> Option<T>,
    ) -> Result<T> {
        let begin = Instant::now();
        loop {
            let reply = self.client.get_as(path, accept).await;
            let reply = reply.map_err(|none| anyhow::anyhow!("{path}: {none:?}"))?;
            if reply.code == 200
                && let Some(found) = look(&reply.json()?)
            {
                return Ok(found);
            }
            if begin.elapsed() > PATIENCE {
                let shown: String = reply.text().chars().take(LINE_CHARS_MAX).collect();
                bail!("{path}: not what was waited for: {} {shown}", reply.code);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn say(&mut self, about: &str, what: &str) {
        let line = what.replace('\n', "\\n").chars().take(LINE_CHARS_MAX).collect();
        self.said.entry(about.to_owned()).or_default().push(line);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (about, lines) in &self.said {
            text.push_str(&format!("{about}\n"));
            text.extend(lines.iter().map(|line| format!("  {line}\n")));
        }
        text
    }
}

/// What an answer to a request to make something comes to, with its warnings.
fn answer(reply: &Reply) -> String {
    let mut said = vec![outcome(reply)];
    for warning in reply.headers.get_all("warning") {
        said.push(format!("warning {}", String::from_utf8_lossy(warning.as_bytes())));
    }
    said.join("; ")
}

fn outcome(reply: &Reply) -> String {
    if reply.code == 201 {
        return "created".to_owned();
    }
    let status: Value = serde_json::from_slice(&reply.bytes).unwrap_or_default();
    let mut causes: Vec<String> = status["details"]["causes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| {
            let [reason, field, message] =
                ["reason", "field", "message"].map(|key| text(&one[key]));
            format!("{reason} {field} {message}")
        })
        .collect();
    causes.sort();
    if causes.is_empty() {
        causes.push(text(&status["message"]));
    }
    format!("{} {}", reply.code, causes.join(" | "))
}

/// How an unknown field fares in strict mode and in the one that warns; in two words if it fares as
/// always.
fn unknown(object: &Value, field: &str, strict: &Reply, warned: &Reply) -> String {
    let kind = text(&object["kind"]);
    let version = text(&object["apiVersion"]).rsplit('/').next().map(str::to_owned);
    let refusal = format!(
        "400 {kind} in version \"{}\" cannot be handled as a {kind}: strict decoding error: \
         unknown field \"{field}\"",
        version.unwrap_or_default()
    );
    let warning = format!("created; warning 299 - \"unknown field \\\"{field}\\\"\"");
    let (strict, said) = (answer(strict), answer(warned));
    let is_pruned = !warned.text().contains("noSuchField\":");
    if strict == refusal && said == warning && is_pruned {
        return format!("unknown {field}: refused, pruned");
    }
    format!("unknown {field}: {strict}, pruned={is_pruned} {said}")
}

/// Gives an object a name and a place: names that the server makes up differ each time.
fn prepare(object: &mut Value, definition: &Value) {
    let metadata = &mut object["metadata"];
    if let Some(base) = metadata["generateName"].as_str() {
        metadata["name"] = json!(format!("{base}x"));
    }
    if let Some(fields) = metadata.as_object_mut() {
        fields.remove("generateName");
        fields.remove("namespace");
        if is_namespaced(definition) {
            fields.insert("namespace".to_owned(), json!("default"));
        }
    }
}

fn condition(one: &Value) -> String {
    let [kind, status, reason] = ["type", "status", "reason"].map(|key| text(&one[key]));
    let message =
        if status == "True" { String::new() } else { format!("({})", text(&one["message"])) };
    format!("{kind}={status}/{reason}{message}")
}

/// A resource of discovery, with what is not as it always is.
fn resource(one: &Value) -> String {
    let list = |key: &str| {
        let words = one[key].as_array().into_iter().flatten().map(text);
        words.collect::<Vec<_>>().join(",")
    };
    let scope = if one["namespaced"] == true { "namespaced" } else { "cluster" };
    let mut shown = vec![text(&one["name"]), text(&one["kind"]), scope.to_owned()];
    for (key, value) in [
        ("singular", text(&one["singularName"])),
        ("short", list("shortNames")),
        ("categories", list("categories")),
        ("group", text(&one["group"])),
        ("version", text(&one["version"])),
        ("verbs", list("verbs")),
    ] {
        if !["", VERBS, SUBRESOURCE_VERBS].contains(&value.as_str()) {
            shown.push(format!("{key}={value}"));
        }
    }
    shown.join(" ")
}

fn column(one: &Value) -> String {
    let name = text(&one["name"]);
    match one["priority"].as_i64() {
        Some(0) | None => format!("{name} {}", text(&one["type"])),
        Some(priority) => format!("{name} {} {priority}", text(&one["type"])),
    }
}

fn count_fields(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => {
            let own =
                fields.get("properties").and_then(Value::as_object).map_or(0, |all| all.len());
            own + fields.values().map(count_fields).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_fields).sum(),
        _ => 0,
    }
}

fn served_versions(definition: &Value) -> Vec<String> {
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    versions.filter(|one| one["served"] == true).map(|one| text(&one["name"])).collect()
}

fn storage_version(definition: &Value) -> String {
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    versions.filter(|one| one["storage"] == true).map(|one| text(&one["name"])).collect()
}

fn is_converted(definition: &Value) -> bool {
    definition["spec"]["conversion"]["strategy"] == "Webhook"
}

fn is_protected(definition: &Value) -> bool {
    let group = text(&definition["spec"]["group"]);
    group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io")
}

fn is_namespaced(definition: &Value) -> bool {
    definition["spec"]["scope"] == "Namespaced"
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
