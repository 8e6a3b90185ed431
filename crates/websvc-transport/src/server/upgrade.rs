//! Upgrades after a 101 response: another protocol on the same connection, with the limits of this one.

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

/// Another protocol.
pub(crate) struct UpgradeHandler(Box<dyn FnOnce(Tunnel, ShutdownSignal) -> UpgradeFuture + Send>);

/// The word that the server stops.
#[derive(Debug, Clone)]
pub struct ShutdownSignal(watch::Receiver<bool>);

impl ShutdownSignal {
    /// Waits until the server stops. What was switched to has two seconds then to say goodbye.
    pub async fn begun(&mut self) {
        // An error means that the server itself is gone, which ends this task too.
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

    /// Goes on with a connection until the protocol ends, the client takes nothing any more or the server is gone.
    pub(super) async fn run_upgraded(
        self,
        stream: Stream,
        origin: &ConnectionShared,
        draining: watch::Receiver<bool>,
    ) {
        let ConnectionShared { activity, peer, .. } = origin;
        activity.switched();
        let mut told = ShutdownSignal(draining);
        let mut going = (self.0)(Tunnel::through(Box::new(stream)), told.clone());
        let going = std::future::poll_fn(move |cx| {
            // It is not polled again after a panic, so no broken state can be seen.
            catch_unwind(AssertUnwindSafe(|| going.as_mut().poll(cx))).unwrap_or_else(|panic| {
                tracing::error!(panic = message(&*panic), "what followed an upgrade panicked");
                Poll::Ready(())
            })
        });
        let cut = async {
            told.begun().await;
            sleep(CLOSE_TIMEOUT).await;
        };
        let timer = pin!(tokio::time::sleep_until(activity.next_check()));
        let mut alarm = DeadlineTimer::new(timer);
        let stalled = std::future::poll_fn(|cx| match alarm.check(activity.stalls(), activity, cx) {
            Some(_) => Poll::Ready(()),
            None => Poll::Pending,
        });
        // In this order: what was just polled may have begun to stall, and nothing else tells.
        tokio::select! {
            biased;
            () = going => {}
            () = stalled => tracing::debug!(%peer, "a client took nothing any more after an upgrade"),
            () = cut => tracing::debug!(%peer, "a connection was cut that did not end after an upgrade"),
        }
    }
}

impl fmt::Debug for UpgradeHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Switch").finish_non_exhaustive()
    }
}
