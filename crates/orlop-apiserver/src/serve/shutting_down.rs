//! The one signal that the end has begun.
//!
//! Whoever gets the operating system's signal begins; the listener and every watch listen.

use std::sync::Arc;

use tokio::sync::watch;

/// Tells everybody who holds a clone that the end has begun. It never goes back.
#[derive(Clone, Debug)]
pub struct ShuttingDown(Arc<watch::Sender<bool>>);

impl ShuttingDown {
    /// One that has not begun.
    #[must_use]
    pub fn new() -> ShuttingDown {
        ShuttingDown(Arc::new(watch::Sender::new(false)))
    }

    /// Begins; again is the same as once.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Whether it has begun.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it has begun. Never comes if every clone is dropped before.
    pub fn begun(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut receiver = self.0.subscribe();
        async move {
            if receiver.wait_for(|begun| *begun).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Default for ShuttingDown {
    fn default() -> ShuttingDown {
        ShuttingDown::new()
    }
}
