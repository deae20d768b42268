//! The files of the log that are not being written: one made ready ahead, and those to be dropped.
//!
//! A segment is filled with zeros and synced before its turn comes, by a thread of its own. Writing
//! into it then changes no metadata: a sync is one flush of the device, and does not wait for what
//! the file system has to do for other files. Segments that a snapshot has made superfluous are
//! used again.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::disk::{self, Disk, DiskFile, Open};
use super::{background, names};

/// How many files are kept to be used again.
const SPARES_MAX: usize = 6;
/// How much is zeroed and synced at a time: little enough that the log's own syncs do not wait.
const FILL_BYTES: usize = 1 << 20;

/// A segment that can be written.
pub(super) struct Prepared {
    pub(super) number: u64,
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) length: u64,
}

/// The log's side: what it asks the thread for. Dropping it ends the thread.
pub(super) struct Segments {
    shared: Arc<Mutex<Shared>>,
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    /// The log writes this segment, or will soon: no file may be put in its place.
    claimed: u64,
    prepared: Option<Prepared>,
}

enum Order {
    Prepare(u64),
    Drop(Vec<u64>),
}

/// The thread's side.
struct Worker {
    disk: Arc<dyn Disk>,
    segment_bytes: u64,
    shared: Arc<Mutex<Shared>>,
    /// The numbers of spare files with the length of a segment.
    spares: Vec<u64>,
    next_spare: u64,
}

impl Segments {
    pub(super) fn new(disk: Arc<dyn Disk>, segment_bytes: u64) -> Self {
        let (sender, receiver) = channel();
        let shared: Arc<Mutex<Shared>> = Arc::default();
        let shared_too = shared.clone();
        let mut worker =
            Worker { disk, segment_bytes, shared: shared_too, spares: Vec::new(), next_spare: 0 };
        let thread = background::spawn("orlop-segments", move || worker.run(&receiver));
        if let Err(error) = &thread {
            tracing::warn!(%error, "log segments are not prepared ahead");
        }
        Self { shared, orders: Some(sender), thread: thread.ok() }
    }

    /// Takes the segment with this number, if it is ready. If not, the log makes it itself.
    pub(super) fn claim(&self, number: u64) -> Option<Prepared> {
        let mut shared = lock(&self.shared);
        shared.claimed = number;
        shared.prepared.take().filter(|prepared| prepared.number == number)
    }

    /// Asks for a segment to be made ready.
    pub(super) fn prepare(&self, number: u64) {
        self.order(Order::Prepare(number));
    }

    /// Asks for segments to be dropped, whose content a durable snapshot has.
    pub(super) fn drop_files(&self, numbers: Vec<u64>) {
        self.order(Order::Drop(numbers));
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // Without the thread the log makes its segments itself, and old ones stay.
            let _ = orders.send(order);
        }
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl Worker {
    fn run(&mut self, orders: &Receiver<Order>) {
        for order in orders {
            let done = match order {
                Order::Prepare(number) => self.prepare(number),
                Order::Drop(numbers) => self.drop_files(&numbers),
            };
            if let Err(error) = done {
                tracing::warn!(%error, "cannot look after the log's segments");
            }
        }
        for spare in &self.spares {
            let _ = self.disk.remove(&names::spare(*spare));
        }
    }

    fn prepare(&mut self, number: u64) -> io::Result<()> {
        if self.spares.is_empty() {
            let spare = self.new_spare();
            self.fill(&names::spare(spare)).inspect_err(|_| {
                let _ = self.disk.remove(&names::spare(spare));
            })?;
            self.spares.push(spare);
        }
        let name = names::segment(number);
        {
            let shared = lock(&self.shared);
            if number <= shared.claimed {
                return Ok(());
            }
            let spare = self.spares.last().expect("there is one now");
            self.disk.rename(&names::spare(*spare), &name)?;
        }
        self.spares.pop();
        self.disk.sync_names()?;
        let file = self.disk.open(&name, Open::Direct)?;
        let prepared = Prepared { number, file, length: self.segment_bytes };
        lock(&self.shared).prepared = Some(prepared);
        Ok(())
    }

    fn new_spare(&mut self) -> u64 {
        self.next_spare += 1;
        self.next_spare
    }

    fn fill(&self, name: &str) -> io::Result<()> {
        let file = self.disk.open(name, Open::Write)?;
        file.allocate(self.segment_bytes)?;
        let zeros = vec![0; FILL_BYTES];
        for offset in (0..self.segment_bytes).step_by(FILL_BYTES) {
            let rest = usize::try_from(self.segment_bytes - offset).unwrap_or(usize::MAX);
            disk::write_all(&*file, offset, &zeros[..rest.min(FILL_BYTES)])?;
            file.sync()?;
        }
        Ok(())
    }

    /// Drops all it can; the first thing that went wrong is the answer.
    fn drop_files(&mut self, numbers: &[u64]) -> io::Result<()> {
        let mut result = Ok(());
        for number in numbers {
            result = result.and(self.drop_file(&names::segment(*number)));
        }
        result.and(self.disk.sync_names())
    }

    fn drop_file(&mut self, name: &str) -> io::Result<()> {
        let length = self.disk.open(name, Open::Read).and_then(|file| file.length());
        let whole = length.is_ok_and(|length| length == self.segment_bytes);
        if !whole || self.spares.len() >= SPARES_MAX {
            return self.disk.remove(name);
        }
        let spare = self.new_spare();
        self.disk.rename(name, &names::spare(spare))?;
        self.spares.push(spare);
        Ok(())
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
