//! The revisioned store behind Orlop's API server.
//!
//! [`Store`] is what Kubernetes needs from etcd, over bytes, and nothing more: get, range at a
//! revision, optimistic writes, watch from a revision, compaction, leases. Three engines keep it:
//!
//! | engine | state | durability | for |
//! |---|---|---|---|
//! | [`Memory`] | this process | none | tests; [`Memory::fork`] copies the whole state in O(1) |
//! | [`Embedded`] | this process | write-ahead log and snapshots in one folder | the default |
//! | [`Etcd`] | an etcd cluster | etcd's | more than one machine |
//!
//! # Guarantees
//! - One revision counter. Each transaction that changes something moves it by one; it is never
//!   reused and never goes back.
//! - A write is acknowledged when it is as durable as its engine gets; reads are linearizable.
//! - A read at an older revision is exact, or fails with [`Error::Compacted`].
//! - A watch delivers every change of its range after its start exactly once, in order of
//!   revisions, a transaction whole or not at all; or it ends and says why.
//!
//! # What is deliberately not here
//! Objects, kinds, resource versions and anything else that knows what the bytes mean.
//!
//! # Example
//! ```
//! use orlop_storage::{At, Expect, KeyRange, Memory, Outcome, RangeRequest, Store};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), orlop_storage::Error> {
//! let store = Memory::new();
//! let created = store.put("/registry/a".into(), "1".into(), Expect::Absent).await?;
//! let Outcome::Committed { revision } = created else { unreachable!("the store was empty") };
//!
//! let again = store.put("/registry/a".into(), "2".into(), Expect::Absent).await?;
//! assert!(matches!(again, Outcome::Conflict { .. }));
//!
//! store.put("/registry/a".into(), "2".into(), Expect::Revision(revision)).await?;
//! let old = RangeRequest::new(KeyRange::prefix("/registry/")).at(At::Revision(revision));
//! assert_eq!(store.range(old).await?.records[0].value(), b"1");
//! # Ok(())
//! # }
//! ```

mod clock;
pub mod embedded;
mod error;
mod etcd;
mod hub;
mod key_range;
mod memory;
mod read;
mod record;
mod retention;
mod revision;
mod state;
mod store;
pub mod tree;
mod watch;
mod write;

pub use clock::{Clock, SystemClock};
pub use embedded::Embedded;
pub use error::{Error, WatchEnd};
pub use etcd::{Etcd, EtcdOptions};
pub use key_range::KeyRange;
pub use memory::Memory;
pub use read::{At, Get, Range, RangeRequest, Select};
pub use record::Record;
pub use retention::HistoryLimits;
pub use revision::{LeaseId, Revision};
pub use store::Store;
pub use watch::{Delivery, Event, ProgressRequester, Watch, WatchRequest, WatchSource};
pub use write::{Action, Expect, Outcome, Txn, Write};

/// How many events a watcher may be behind before it is cut off.
pub const WATCH_BUFFER_EVENTS: usize = 8192;
