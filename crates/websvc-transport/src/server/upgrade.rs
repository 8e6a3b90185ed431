//! Upgrades after a 101 response: another protocol on the same connection, within the limits of a connection.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use tokio::sync::watch;
use tokio::time::sleep;

use super::connection::{CLOSE_TIMEOUT, DeadlineTimer};
use super::dispatch::{ConnectionShared, message};
use super::stream::Stream;
use crate::BoxFuture;
use crate::tunnel::Tunnel;

type UpgradeFuture = BoxFuture<'static, ()>;

/// The handler of another protocol.
pub(crate) struct UpgradeHandler(Box<dyn FnOnce(Tunnel, ShutdownSignal) -> UpgradeFuture + Send>);

/// A signal that the server shuts down.
#[derive(Debug, Clone)]
pub struct ShutdownSignal(watch::Receiver<bool>);

impl ShutdownSignal {
    /// Waits until the server shuts down. An upgraded connection then has two seconds to close.
    pub async fn wait(&mut self) {
        // An error means that the server was dropped, which ends this task too.
        let _ = self.0.wait_for(|draining| *draining).await;
    }
}

impl UpgradeHandler {
    pub(crate) fn new<F>(protocol: impl FnOnce(Tunnel, ShutdownSignal) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Box::new(move |tunnel, draining| Box::pin(protocol(tunnel, draining))))
    }

    /// Runs the protocol on a connection until it ends, the client stops reading, or the server shuts down.
    pub(super) async fn run_upgraded(
        self,
        stream: Stream,
        shared: &ConnectionShared,
        draining: watch::Receiver<bool>,
    ) {
        let ConnectionShared { activity, peer, .. } = shared;
        activity.set_upgraded();
        let mut shutdown = ShutdownSignal(draining);
        let mut protocol = (self.0)(Tunnel::through(Box::new(stream)), shutdown.clone());
        let protocol = std::future::poll_fn(move |cx| {
            // The future is not polled again after a panic, so its broken state is never seen.
            catch_unwind(AssertUnwindSafe(|| protocol.as_mut().poll(cx))).unwrap_or_else(|panic| {
                tracing::error!(panic = message(&*panic), "upgraded connection handler panicked");
                Poll::Ready(())
            })
        });
        let closed = async {
            shutdown.wait().await;
            sleep(CLOSE_TIMEOUT).await;
        };
        let timer = pin!(tokio::time::sleep_until(activity.next_check()));
        let mut deadline_timer = DeadlineTimer::new(timer);
        let stalled =
            std::future::poll_fn(|cx| match deadline_timer.check(activity.stall_deadline(), activity, cx) {
                Some(_) => Poll::Ready(()),
                None => Poll::Pending,
            });
        // The order matters: polling the protocol may begin a stall, and nothing else reports that.
        tokio::select! {
            biased;
            () = protocol => {}
            () = stalled => tracing::debug!(%peer, "upgraded connection closed: the client stopped reading"),
            () = closed => tracing::debug!(%peer, "upgraded connection closed: shutdown timed out"),
        }
    }
}

impl fmt::Debug for UpgradeHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpgradeHandler").finish_non_exhaustive()
    }
}
