//! A panic ends one request, not the server.
//!
//! After `staging/src/k8s.io/apiserver/pkg/server/filters/wrap.go`. The future is not polled again
//! after a panic, so what it left half-done is only dropped.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// That something panicked, and what it said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("panic: {message}")]
pub(crate) struct Panicked {
    /// What the panic said.
    pub message: String,
}

/// A future whose panics are values.
pub(crate) struct Guarded<F>(Pin<Box<F>>);

/// Catches the panics of a future.
pub(crate) fn catch<F: Future>(future: F) -> Guarded<F> {
    Guarded(Box::pin(future))
}

impl<F: Future> Future for Guarded<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.0.as_mut();
        match catch_unwind(AssertUnwindSafe(|| future.poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(Panicked { message: describe(&*panic) })),
        }
    }
}

fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("of no text").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panics_are_values() {
        assert_eq!(catch(async { 1 }).await, Ok(1));
        let later = catch(async {
            tokio::task::yield_now().await;
            if true {
                panic!("number {}", 5);
            }
        });
        assert_eq!(later.await, Err(Panicked { message: "number 5".to_owned() }));
        let plain = catch(async {
            if true {
                panic!("plain")
            }
        });
        assert_eq!(plain.await.unwrap_err().to_string(), "panic: plain");
    }
}
