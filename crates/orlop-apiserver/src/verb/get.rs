//! GET of an object.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/get.go` and `storage/cacher`. Beyond
//! upstream: `resourceVersionMatch=Exact` reads the object as it was at a resource version, and
//! `history=true` lists the versions that are still kept, newest first. An object that is gone has
//! no history here.

use std::time::Duration;

use http::Response;
use orlop_machinery::resource_version::ResourceVersion;
use orlop_machinery::status::{Reason, Status};
use orlop_storage::{At, Error, Record, Revision};
use tokio::time::Instant;

use super::list::answer;
use crate::body::Body;
use crate::call::Call;
use crate::definition::Definition;
use crate::object::Object;
use crate::options::GetOptions;
use crate::reads::Reads;
use crate::registry::store_error;
use crate::render::{ListHead, Renderer, Source};

/// The most versions that are shown of one object.
const VERSIONS_MAX: usize = 1000;
/// How long a request waits for the store to come to a revision, and how often it looks.
const WAIT_MAX: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const EXACT: &str = "Exact";

/// Answers with an object.
pub(crate) async fn get(
    reads: &Reads,
    call: &Call,
    options: &GetOptions,
) -> Result<Response<Body>, Status> {
    let definition = &call.definition;
    let key = definition.key(&call.info.namespace, &call.info.name);
    let not_found = || Status::not_found(&definition.group_resource(), &call.info.name);
    let renderer = Renderer::new(definition.clone(), call.output, reads.clock.clone());
    if options.history {
        let versions = read_history(reads, definition, key.as_bytes()).await?;
        let revision = versions.first().ok_or_else(not_found)?.revision();
        let head = ListHead { revision, ..ListHead::default() };
        let versions: Vec<Source<'_>> =
            versions.iter().map(|object| Source::Kept(object, object.revision())).collect();
        return Ok(answer(call.output, renderer.list_of(&versions, &head)?));
    }
    let record = read(reads, definition, key.as_bytes(), options).await?;
    let record = definition.show_one(record.ok_or_else(not_found)?).await?;
    let object = Object::new(record);
    let body = renderer.object(Source::Kept(&object, object.revision()))?;
    Ok(answer(call.output, Body::from(body)))
}

async fn read(
    reads: &Reads,
    definition: &Definition,
    key: &[u8],
    options: &GetOptions,
) -> Result<Option<Record>, Status> {
    let version = ResourceVersion::parse_parameter(&options.resource_version);
    // Upstream takes this for its own fault.
    let version = version
        .map_err(|errors| Status::failure(500, Reason::Unknown, errors.to_string().trim_end()))?;
    let deadline = Instant::now() + WAIT_MAX;
    let at = match options.resource_version_match.as_str() {
        EXACT if !version.is_zero() => At::Revision(Revision(version.number())),
        _ => At::Latest,
    };
    loop {
        let current = match reads.store.get(key, at).await {
            Ok(got) if got.revision.0 >= version.number() => return Ok(got.record),
            Ok(got) => got.revision,
            Err(Error::FutureRevision { current, .. }) => current,
            Err(error) => return Err(store_error(definition, "get", &error)),
        };
        if Instant::now() >= deadline {
            return Err(Status::resource_version_too_large(version.number(), current.0, 1));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The versions of an object that are still kept, newest first, as far back as it lived without a
/// break.
async fn read_history(
    reads: &Reads,
    definition: &Definition,
    key: &[u8],
) -> Result<Vec<Object>, Status> {
    let mut versions: Vec<Record> = Vec::new();
    let mut at = At::Latest;
    while versions.len() < VERSIONS_MAX {
        let record = match reads.store.get(key, at).await {
            Ok(got) => got.record,
            Err(Error::Compacted { .. }) if !versions.is_empty() => None,
            Err(error) => return Err(store_error(definition, "get", &error)),
        };
        let Some(record) = record else { break };
        let Revision(modified) = record.modified();
        let is_first = record.created() == record.modified() || modified <= 1;
        versions.push(record);
        if is_first {
            break;
        }
        at = At::Revision(Revision(modified - 1));
    }
    Ok(definition.show(versions).await?.into_iter().map(Object::new).collect())
}
