//! What is specific to the etcd engine: authentication, TLS, lost connections and members,
//! compaction in step with other API servers, long messages, old and new servers.
//!
//! Every test has servers of its own. Without an etcd binary the tests say so and pass, except in
//! CI, where they fail.

#![allow(clippy::print_stdout, reason = "what a test has seen is worth a line")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use orlop_storage::{
    At, Delivery, Error, Etcd, EtcdOptions, Event, Expect, KeyRange, Outcome, RangeRequest,
    Revision, Select, Store, Txn, Watch, WatchEnd, WatchRequest,
};
use orlop_storage_suite::engines::{self, put};
use orlop_storage_suite::etcd_server::{
    EtcdServer, EtcdServerOptions, EtcdServerTls, etcd_version,
};
use tokio::time::{Instant, sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(30);

async fn connect(server: &EtcdServer) -> Result<Etcd> {
    Ok(Etcd::connect(EtcdOptions::new([server.endpoint()]).compact_every(None)).await?)
}

/// Deliveries as text: `+key@revision`, `=key@revision`, `-key@revision`, `progress@revision`.
async fn next(watch: &mut Watch) -> Result<Vec<String>> {
    let text = |event: &Event| {
        let sign = match event {
            Event::Created { .. } => '+',
            Event::Updated { .. } => '=',
            Event::Deleted { .. } => '-',
        };
        format!("{sign}{}@{}", event.key().escape_ascii(), event.revision())
    };
    match timeout(PATIENCE, watch.next()).await.context("no delivery in time")?? {
        Delivery::Events(events) => Ok(events.iter().map(text).collect()),
        Delivery::Progress(revision) => Ok(vec![format!("progress@{revision}")]),
    }
}

async fn take(watch: &mut Watch, count: usize) -> Result<Vec<String>> {
    let mut found = Vec::new();
    while found.len() < count {
        found.extend(next(watch).await?);
    }
    Ok(found)
}

async fn end(watch: &mut Watch) -> Result<WatchEnd> {
    loop {
        if let Err(end) = timeout(PATIENCE, watch.next()).await.context("no end in time")? {
            return Ok(end);
        }
    }
}

#[tokio::test]
async fn reads_of_the_past_are_exact_or_refused_with_the_oldest_revision() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let store = connect(&server).await?;
    let first = put(&store, "/a", "1").await?;
    let second = put(&store, "/a", "2").await?;
    let third = put(&store, "/b", "3").await?;

    let old = store.get(b"/a", At::Revision(first)).await?;
    ensure!(old.record.context("exists")?.value() == b"1" && old.revision == third);
    let list = RangeRequest::new(KeyRange::prefix("/")).limit(1);
    let page = store.range(list.clone()).await?;
    ensure!(page.count == 2 && page.records.len() == 1 && page.more());
    let count = store.range(list.clone().select(Select::Count)).await?;
    ensure!(count.count == 2 && count.records.is_empty());
    let keys = store.range(list.clone().limit(0).select(Select::Keys)).await?;
    ensure!(keys.records.len() == 2 && keys.records[0].value().is_empty());
    let none = store.range(RangeRequest::new(KeyRange::new("b", "a"))).await?;
    ensure!(none.count == 0 && none.revision == third);

    let future = store.get(b"/a", At::Revision(Revision(third.0 + 5))).await;
    ensure!(matches!(future, Err(Error::FutureRevision { current, .. }) if current == third));
    let zero = store.range(list.clone().at(At::Revision(Revision::ZERO))).await;
    ensure!(matches!(zero, Err(Error::Invalid { .. })));

    store.compact(second).await?;
    ensure!(store.get(b"/a", At::Revision(second)).await?.record.context("kept")?.value() == b"2");
    let gone = store.get(b"/a", At::Revision(first)).await;
    ensure!(matches!(gone, Err(Error::Compacted { oldest }) if oldest == second), "{gone:?}");
    let again = store.compact(second).await;
    ensure!(matches!(again, Err(Error::Compacted { oldest }) if oldest == second), "{again:?}");
    let beyond = store.compact(Revision(1000)).await;
    ensure!(matches!(beyond, Err(Error::FutureRevision { current, .. }) if current == third));
    store.health().await?;
    Ok(())
}

#[tokio::test]
async fn a_conflict_shows_every_record_and_changes_nothing() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let store = connect(&server).await?;
    let one = put(&store, "/a", "1").await?;
    let txn = Txn::new()
        .put("/b", "x", Expect::Absent)
        .check("/a", Expect::Revision(Revision(one.0 + 7)))
        .delete("/c", Expect::Anything);
    let Outcome::Conflict { current, revision } = store.commit(txn).await? else {
        bail!("/a is not at that revision")
    };
    ensure!(revision == one && current.len() == 3);
    ensure!(current[0].is_none() && current[2].is_none());
    ensure!(current[1].as_ref().context("exists")?.modified() == one);

    // Nothing is ever at revision zero, not even what does not exist.
    let zero = store.put("/z".into(), "1".into(), Expect::Revision(Revision::ZERO)).await?;
    ensure!(matches!(zero, Outcome::Conflict { .. }));
    let nothing = store.delete("/z".into(), Expect::Absent).await?;
    ensure!(nothing == Outcome::Committed { revision: one }, "no change, no revision");
    let check = store.commit(Txn::new().check("/a", Expect::Revision(one))).await?;
    ensure!(check == Outcome::Committed { revision: one });
    let swapped = store.commit(Txn::new().put("/a", "2", Expect::Revision(one)).put(
        "/b",
        "1",
        Expect::Absent,
    ));
    ensure!(swapped.await? == Outcome::Committed { revision: one.next() });
    Ok(())
}

#[tokio::test]
async fn a_watch_delivers_whole_transactions_after_its_start() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let store = connect(&server).await?;
    let first = put(&store, "/w/a", "1").await?;
    let mut past = store.watch(WatchRequest::new(KeyRange::prefix("/w/")).after(first)).await?;
    let mut now = store.watch(WatchRequest::new(KeyRange::prefix("/w/"))).await?;
    let future = WatchRequest::new(KeyRange::prefix("/w/")).after(Revision(first.0 + 2));
    let mut future = store.watch(future).await?;

    put(&store, "/other", "1").await?;
    store
        .commit(Txn::new().put("/w/a", "2", Expect::Anything).put("/w/b", "1", Expect::Absent))
        .await?;
    store.delete("/w/a".into(), Expect::Anything).await?;
    let expect: Vec<String> = [("=/w/a", 2), ("+/w/b", 2), ("-/w/a", 3)]
        .map(|(text, offset)| format!("{text}@{}", first.0 + offset))
        .into();
    ensure!(take(&mut past, 3).await? == expect);
    ensure!(take(&mut now, 3).await? == expect);
    ensure!(take(&mut future, 1).await? == expect[2..]);

    drop(store);
    ensure!(matches!(end(&mut past).await?, WatchEnd::Stopped { .. }));
    Ok(())
}

#[tokio::test]
async fn a_watch_of_compacted_history_is_refused_and_the_edge_is_whole() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let store = connect(&server).await?;
    let first = put(&store, "/a", "1").await?;
    let second = put(&store, "/a", "2").await?;
    store.delete("/a".into(), Expect::Anything).await?;
    store.compact(second).await?;
    let from = |after| WatchRequest::new(KeyRange::all()).after(after);
    for after in [Revision::ZERO, first] {
        let refused = store.watch(from(after)).await;
        ensure!(matches!(refused, Err(Error::Compacted { oldest }) if oldest == second));
    }
    let mut watch = store.watch(from(second)).await?;
    ensure!(take(&mut watch, 1).await? == [format!("-/a@{}", second.0 + 1)]);
    Ok(())
}

#[tokio::test]
async fn progress_never_comes_before_an_event_it_covers() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let store = std::sync::Arc::new(connect(&server).await?);
    let mut watch = store.watch(WatchRequest::new(KeyRange::prefix("/p/"))).await?;
    let requester = watch.progress_requester();
    let writer = tokio::spawn({
        let store = std::sync::Arc::clone(&store);
        async move {
            let mut last = Revision::ZERO;
            for i in 0..400 {
                let key = if i % 3 == 0 { format!("/other/{i}") } else { format!("/p/{}", i % 7) };
                last = put(&*store, &key, "x").await?;
                if i % 5 == 0 {
                    requester.request();
                }
            }
            requester.request();
            Ok::<_, anyhow::Error>(last)
        }
    });
    let (mut seen, mut covered, mut events, mut answers) = (Revision::ZERO, Revision::ZERO, 0, 0);
    let last = writer.await??;
    while covered < last {
        match timeout(PATIENCE, watch.next()).await.context("no progress in time")?? {
            Delivery::Events(batch) => {
                for event in batch.iter() {
                    ensure!(event.revision() > covered, "{event:?} after progress {covered}");
                    ensure!(event.revision() > seen, "{event:?} again");
                    seen = event.revision();
                    events += 1;
                }
            }
            Delivery::Progress(revision) => {
                ensure!(revision >= covered && revision >= seen);
                covered = revision;
                answers += 1;
            }
        }
    }
    println!("etcd {}: {events} events, {answers} times progress", etcd_version()?);
    ensure!(events == 266, "{events} of 266 events");
    Ok(())
}

#[tokio::test]
async fn progress_is_said_on_request_and_at_intervals_while_nothing_changes() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let store = connect(&server).await?;
    let mut asked = store.watch(WatchRequest::new(KeyRange::prefix("/p/"))).await?;
    let regular = WatchRequest::new(KeyRange::prefix("/p/"));
    let mut regular = store.watch(regular.progress_every(Duration::from_millis(200))).await?;
    let newest = put(&store, "/other", "1").await?;
    asked.progress_requester().request();
    ensure!(next(&mut asked).await? == [format!("progress@{newest}")]);
    let silence = timeout(Duration::from_millis(700), asked.next()).await;
    ensure!(silence.is_err(), "nobody asked: {silence:?}");
    let mut last = String::new();
    for _ in 0..4 {
        last = next(&mut regular).await?.remove(0);
    }
    ensure!(last == format!("progress@{newest}"), "{last}");

    // From a revision of the future on there is no progress before the store gets there.
    let after = Revision(newest.0 + 2);
    let mut future = store.watch(WatchRequest::new(KeyRange::prefix("/p/")).after(after)).await?;
    future.progress_requester().request();
    ensure!(timeout(Duration::from_millis(500), future.next()).await.is_err());
    for _ in 0..3 {
        put(&store, "/other", "2").await?;
    }
    let said = next(&mut future).await?.remove(0);
    let said: u64 = said.strip_prefix("progress@").context("progress")?.parse()?;
    ensure!((after.0..=newest.0 + 3).contains(&said), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_slow_watcher_gets_what_was_buffered_and_can_resume() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let options = EtcdOptions::new([server.endpoint()]).compact_every(None);
    let store = Etcd::connect(EtcdOptions { watch_buffer: 10, ..options }).await?;
    let start = store.revision().await?;
    let mut watch = store.watch(WatchRequest::new(KeyRange::all()).after(start)).await?;
    // From here on the watch is in step, and each change is a message of its own.
    let start = put(&store, "/first", "x").await?;
    take(&mut watch, 1).await?;
    for i in 0..50 {
        put(&store, &format!("/{i}"), "x").await?;
    }
    sleep(Duration::from_secs(3)).await;
    let mut seen = start;
    let resume_after = loop {
        match timeout(PATIENCE, watch.next()).await.context("no end in time")? {
            Ok(Delivery::Events(events)) => {
                for event in events.iter() {
                    ensure!(event.revision() == seen.next());
                    seen = event.revision();
                }
            }
            Ok(Delivery::Progress(_)) => {}
            Err(WatchEnd::Lagged { resume_after }) => break resume_after,
            Err(other) => bail!("{other}"),
        }
    };
    ensure!(resume_after == seen && seen > start && seen.0 < start.0 + 50);
    let mut rest = store.watch(WatchRequest::new(KeyRange::all()).after(resume_after)).await?;
    let left = usize::try_from(start.0 + 50 - seen.0)?;
    ensure!(take(&mut rest, left).await?.len() == left);
    Ok(())
}

#[tokio::test]
async fn long_answers_and_long_watch_messages_arrive() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let store = connect(&server).await?;
    let start = store.revision().await?;
    for i in 0..40 {
        put(&store, &format!("/big/{i:02}"), vec![b'x'; 1 << 20]).await?;
    }
    let all = store.range(RangeRequest::new(KeyRange::prefix("/big/"))).await?;
    ensure!(all.records.len() == 40 && all.records[39].value().len() == 1 << 20);
    // The history comes as one message of more than 40 MiB.
    let mut watch = store.watch(WatchRequest::new(KeyRange::prefix("/big/")).after(start)).await?;
    ensure!(take(&mut watch, 40).await?.len() == 40);

    let small: Vec<u64> = (0..1300).collect();
    for chunk in small.chunks(100) {
        let add = |txn: Txn, i: &u64| txn.put(format!("/s/{i:05}"), "v", Expect::Absent);
        store.commit(chunk.iter().fold(Txn::new(), add)).await?;
    }
    let request = RangeRequest::new(KeyRange::prefix("/s/"));
    let pages = store.range(request.clone()).await?;
    ensure!(pages.count == 1300 && pages.records.len() == 1300);
    ensure!(pages.records.is_sorted_by(|a, b| a.key() < b.key()));
    let limited = store.range(request.limit(700)).await?;
    ensure!(limited.count == 1300 && limited.records.len() == 700 && limited.more());

    let large = Txn::new().put("/l", vec![0; Txn::BYTES_MAX - 2], Expect::Anything);
    ensure!(matches!(store.commit(large).await, Err(Error::Invalid { .. })), "etcd's own limit");
    Ok(())
}

#[tokio::test]
async fn records_die_with_their_lease() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let store = connect(&server).await?;
    for ttl in [Duration::from_millis(999), Duration::from_secs(366 * 24 * 3600)] {
        ensure!(matches!(store.grant_lease(ttl).await, Err(Error::Invalid { .. })));
    }
    let lease = store.grant_lease(Duration::from_secs(1)).await?;
    let mut watch = store.watch(WatchRequest::new(KeyRange::all())).await?;
    store.commit(Txn::new().put_leased("/e", "x", Expect::Absent, lease)).await?;
    let found = store.get(b"/e", At::Latest).await?.record.context("exists")?;
    ensure!(found.lease() == Some(lease));
    let changes = take(&mut watch, 2).await?;
    ensure!(changes[0].starts_with("+/e") && changes[1].starts_with("-/e"), "{changes:?}");
    let late = store.commit(Txn::new().put_leased("/e", "x", Expect::Absent, lease)).await;
    ensure!(matches!(late, Err(Error::LeaseNotFound { lease: named }) if named == lease));
    Ok(())
}

#[tokio::test]
async fn a_full_database_is_no_space_and_reads_go_on() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let arguments = ["--quota-backend-bytes", "4194304"].map(String::from).to_vec();
    let server = EtcdServer::start_with(&EtcdServerOptions { arguments, ..Default::default() })?;
    let store = connect(&server).await?;
    let mut refused = None;
    for i in 0..20 {
        match put(&store, &format!("/{i}"), vec![0; 1 << 20]).await {
            Ok(_) => {}
            Err(error) => {
                refused = Some(error.downcast::<Error>()?);
                break;
            }
        }
    }
    ensure!(matches!(refused, Some(Error::NoSpace)), "{refused:?}");
    ensure!(store.get(b"/0", At::Latest).await?.record.is_some());
    Ok(())
}

fn post(endpoint: &str, path: &str, body: &str) -> Result<String> {
    let address = endpoint.strip_prefix("http://").context("no TLS here")?;
    let mut stream = TcpStream::connect(address)?;
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    ensure!(answer.contains(" 200 "), "{path}: {answer}");
    Ok(answer)
}

#[tokio::test]
async fn a_user_logs_in_and_again_when_the_token_is_forgotten() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let mut server = EtcdServer::start()?;
    let endpoint = server.endpoint().to_string();
    post(&endpoint, "/v3/auth/user/add", r#"{"name":"root","password":"secret"}"#)?;
    post(&endpoint, "/v3/auth/role/add", r#"{"name":"root"}"#)?;
    post(&endpoint, "/v3/auth/user/grant", r#"{"user":"root","role":"root"}"#)?;
    post(&endpoint, "/v3/auth/enable", "{}")?;

    let anonymous = EtcdOptions::new([&endpoint]);
    let wrong = anonymous.clone().user("root", "wrong");
    for options in [anonymous.clone(), wrong] {
        let refused = Etcd::connect(options).await;
        ensure!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
    }
    let store = Etcd::connect(anonymous.user("root", "secret").compact_every(None)).await?;
    let mut watch = store.watch(WatchRequest::new(KeyRange::prefix("/a"))).await?;
    put(&store, "/a", "1").await?;

    // Tokens live in the memory of the server.
    server.kill()?;
    server.restart()?;
    // A read finds out about the broken connection; a write would end in doubt.
    store.health().await?;
    put(&store, "/a", "2").await?;
    put(&store, "/a", "3").await?;
    watch.progress_requester().request();
    let found = take(&mut watch, 3).await?;
    ensure!(found.iter().filter(|text| text.contains("/a@")).count() == 3, "{found:?}");
    Ok(())
}

/// Certificates in a folder, for the server and one client.
struct Certificates {
    folder: tempfile::TempDir,
    ca: String,
    client: (String, String),
}

impl Certificates {
    fn new() -> Result<Self> {
        let ca_key = rcgen::KeyPair::generate()?;
        let mut parameters = rcgen::CertificateParams::new(Vec::new())?;
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let ca = parameters.self_signed(&ca_key)?;
        let issuer = rcgen::Issuer::new(parameters, ca_key);
        let sign = |name: &str| -> Result<(String, String)> {
            let key = rcgen::KeyPair::generate()?;
            let mut parameters = rcgen::CertificateParams::new(vec![name.to_string()])?;
            parameters.extended_key_usages = vec![
                rcgen::ExtendedKeyUsagePurpose::ServerAuth,
                rcgen::ExtendedKeyUsagePurpose::ClientAuth,
            ];
            let certificate = parameters.signed_by(&key, &issuer)?;
            Ok((certificate.pem(), key.serialize_pem()))
        };
        let folder = tempfile::tempdir()?;
        let (server, client) = (sign("127.0.0.1")?, sign("client")?);
        std::fs::write(folder.path().join("ca.pem"), ca.pem())?;
        std::fs::write(folder.path().join("server.pem"), server.0)?;
        std::fs::write(folder.path().join("server.key"), server.1)?;
        Ok(Self { folder, ca: ca.pem(), client })
    }

    fn server(&self) -> EtcdServerTls {
        let file = |name: &str| Path::join(self.folder.path(), name);
        EtcdServerTls {
            certificate: file("server.pem"),
            key: file("server.key"),
            ca: file("ca.pem"),
        }
    }
}

#[tokio::test]
async fn tls_needs_the_right_ca_name_and_client_certificate() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let certificates = Certificates::new()?;
    let options = EtcdServerOptions { tls: Some(certificates.server()), ..Default::default() };
    let server = EtcdServer::start_with(&options)?;
    let (certificate, key) = &certificates.client;
    let mut options = EtcdOptions::new([server.endpoint()]).compact_every(None);
    options.request_timeout = Duration::from_secs(2);
    let trusting = options.clone().ca(certificates.ca.as_str());
    let right = trusting.clone().identity(certificate.as_str(), key.as_str());
    let store = Etcd::connect(right.clone()).await?;
    let mut watch = store.watch(WatchRequest::new(KeyRange::all())).await?;
    put(&store, "/a", "1").await?;
    ensure!(take(&mut watch, 1).await?.len() == 1);

    let stranger = Certificates::new()?;
    let wrong_ca = options.ca(stranger.ca).identity(certificate.as_str(), key.as_str());
    for (what, options) in
        [("no certificate", trusting), ("name", right.domain("other")), ("CA", wrong_ca)]
    {
        let refused = Etcd::connect(options).await;
        ensure!(matches!(refused, Err(Error::Unavailable { .. })), "{what}: {refused:?}");
        println!("{what}: {}", refused.err().context("refused")?);
    }
    Ok(())
}

#[tokio::test]
async fn a_watch_outlives_its_server_and_a_dead_server_takes_no_writes() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let mut server = EtcdServer::start()?;
    let mut options = EtcdOptions::new([server.endpoint()]).compact_every(None);
    options.request_timeout = Duration::from_secs(2);
    let store = Etcd::connect(options).await?;
    let mut watch = store.watch(WatchRequest::new(KeyRange::prefix("/a"))).await?;
    let first = put(&store, "/a", "0").await?;
    for round in 1..=3 {
        server.kill()?;
        let dead = store.put("/a".into(), "dead".into(), Expect::Anything).await;
        // The first write may find out about the broken connection; then it is not sure.
        let sure = matches!(dead, Err(Error::Unavailable { .. }));
        ensure!(sure || matches!(dead, Err(Error::Unknown { .. })), "{dead:?}");
        let dead = store.put("/a".into(), "dead".into(), Expect::Anything).await;
        ensure!(matches!(dead, Err(Error::Unavailable { .. })), "{dead:?}");
        ensure!(matches!(store.health().await, Err(Error::Unavailable { .. })));
        server.restart()?;
        let next = put(&store, "/a", format!("{round}")).await?;
        ensure!(next.0 == first.0 + round, "nothing was written meanwhile");
    }
    let found = take(&mut watch, 4).await?;
    let expect = (0..4).map(|i| format!("{}/a@{}", if i == 0 { '+' } else { '=' }, first.0 + i));
    ensure!(found == expect.collect::<Vec<_>>(), "{found:?}");
    Ok(())
}

#[tokio::test]
async fn a_silent_server_leaves_a_write_unknown_and_is_not_asked_twice() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let mut options = EtcdOptions::new([server.endpoint()]).compact_every(None);
    options.request_timeout = Duration::from_secs(1);
    let store = Etcd::connect(options).await?;
    let first = put(&store, "/a", "1").await?;
    server.pause()?;
    let write = store.put("/a".into(), "2".into(), Expect::Anything).await;
    ensure!(matches!(write, Err(Error::Unknown { .. })), "{write:?}");
    ensure!(matches!(store.health().await, Err(Error::Unavailable { .. })));
    server.resume()?;
    sleep(Duration::from_millis(500)).await;
    let now = store.revision().await?;
    ensure!(now == first || now == first.next(), "the write happened at most once");
    Ok(())
}

#[tokio::test]
async fn two_stores_compact_in_step_and_keep_one_interval() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let server = EtcdServer::start()?;
    let interval = Some(Duration::from_millis(700));
    let options = EtcdOptions::new([server.endpoint()]);
    let one = Etcd::connect(options.clone().compact_every(interval)).await?;
    let _two = Etcd::connect(options.clone().compact_every(interval)).await?;
    let observer = Etcd::connect(options.compact_every(None)).await?;
    let early = put(&one, "/a", "1").await?;
    let deadline = Instant::now() + PATIENCE;
    let oldest = loop {
        match observer.get(b"/a", At::Revision(early)).await {
            Err(Error::Compacted { oldest }) => break oldest,
            other => drop(other?),
        }
        put(&one, "/a", "2").await?;
        ensure!(Instant::now() < deadline, "never compacted");
        sleep(Duration::from_millis(50)).await;
    };
    // The clock key holds the revision in decimal digits, as other API servers expect it.
    let key = observer.get(b"compact_rev_key", At::Latest).await?.record.context("the key")?;
    let noted: u64 = std::str::from_utf8(key.value())?.parse()?;
    ensure!(noted >= oldest.0, "{noted} {oldest}");
    let newest = observer.revision().await?;
    ensure!(oldest < newest, "what is younger than the interval stays");
    Ok(())
}
