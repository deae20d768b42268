//! DELETE of a collection: every object that a list would show.
//!
//! After `Store.DeleteCollection`: the deletions are not one transaction, and one that fails ends
//! the rest.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use http::Response;
use orlop_machinery::Value;
use orlop_machinery::status::{Reason, Status};

use crate::body::Body;
use crate::cache::Item;
use crate::call::Call;
use crate::decode_body;
use crate::options::ListOptions;
use crate::registry::{self, Write};
use crate::render::Page;
use crate::server::Inner;

use super::delete::warn_of_orphans;
use super::list::{respond_with_list, select};

/// How many objects are deleted side by side.
const WORKERS: usize = 32;

/// Deletes the objects that the selectors choose, and answers with them.
pub(crate) async fn delete_collection(
    server: &Arc<Inner>,
    call: &mut Call,
) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    let list_options = ListOptions::parse(call.query(), &call.info, &definition)?;
    let options = decode_body::read_delete_options(call).await?;
    warn_of_orphans(call, &options);
    let is_dry_run = !options.at("dryRun").is_empty();
    let (page, head) = select(&server.reads, call, &list_options).await?;
    let write = call.write(&definition, definition.rules(), is_dry_run);
    let names = names(&page, &definition.storage.prefix);
    let next = AtomicUsize::new(0);
    let workers = (0..WORKERS.min(names.len()))
        .map(|_| Box::pin(work(server, &write, (&names, &next), &options)) as Pin<Box<_>>);
    join(workers.collect()).await?;
    respond_with_list(&server.reads, call, page, head).await
}

/// Namespace and name of each object; the namespace is empty for objects of the cluster.
fn names(page: &Page, prefix: &str) -> Vec<(String, String)> {
    let objects = page.view.objects.iter_from_place(page.start).take(page.end - page.start);
    let chosen = objects.filter(|Item(object)| match &page.filter {
        Some(filter) => filter.matches(object),
        None => true,
    });
    let split = |Item(object): &Item| {
        let key = String::from_utf8_lossy(object.key()).into_owned();
        let place = key.strip_prefix(prefix).unwrap_or_default();
        let (namespace, name) = place.split_once('/').unwrap_or(("", place));
        (namespace.to_owned(), name.to_owned())
    };
    chosen.map(split).collect()
}

/// Deletes the next object that nobody deletes, until there is none.
async fn work(
    server: &Inner,
    write: &Write<'_>,
    (names, next): (&[(String, String)], &AtomicUsize),
    options: &Value,
) -> Result<(), Status> {
    while let Some((namespace, name)) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
        let write = Write { namespace, ..*write };
        match registry::delete(server, &write, name, options).await {
            Err(status) if !status.is(&Reason::NotFound) => return Err(status),
            _ => {}
        }
    }
    Ok(())
}

/// Somebody who deletes one object after the other.
type Worker<'a> = Pin<Box<dyn Future<Output = Result<(), Status>> + Send + 'a>>;

/// Waits for all workers, or for the first that fails.
async fn join(mut workers: Vec<Worker<'_>>) -> Result<(), Status> {
    poll_fn(|context| {
        let mut failure = None;
        workers.retain_mut(|worker| match worker.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(Ok(())) => false,
            Poll::Ready(Err(status)) => {
                failure.get_or_insert(status);
                false
            }
        });
        match failure {
            Some(status) => Poll::Ready(Err(status)),
            None if workers.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
    .await
}
