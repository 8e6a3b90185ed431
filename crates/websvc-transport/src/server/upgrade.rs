//! Upgrades after a 101 response: another protocol on the same connection, within the limits of a connection.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use tokio::sync::watch;
use tokio::time::sleep;

use super::deadline_timer::{CLOSE_TIMEOUT, DeadlineTimer};
use super::dispatch::{ConnectionShared, message};
use super::stream::Stream;
use crate::tunnel::Tunnel;
use crate::upgrade::{ShutdownSignal, UpgradeHandler};

/// Runs the protocol on a connection until it ends, the client stops reading, or the server shuts down.
pub(super) async fn run_upgraded(
    handler: UpgradeHandler,
    stream: Stream,
    shared: &ConnectionShared,
    draining: watch::Receiver<bool>,
) {
    let ConnectionShared { activity, peer, .. } = shared;
    activity.set_upgraded();
    let mut shutdown = ShutdownSignal::new(draining);
    let mut protocol = handler.start(Tunnel::through(Box::new(stream)), shutdown.clone());
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
