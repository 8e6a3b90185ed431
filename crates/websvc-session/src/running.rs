//! The life of a session after its start: one task waits for its end, and ends it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use websvc_engine::Engine;
use websvc_scrape::InteractivePage;
use websvc_store::{ApiVersion, Usage};

use crate::active::ActiveSession;
use crate::metrics::EndReason;
use crate::model::{SessionBilling, SessionCharge, SessionEnd};
use crate::sessions::Inner;

/// A started session, and what is needed for its end.
pub(crate) struct RunningSession {
    pub(crate) inner: Arc<Inner>,
    pub(crate) session: Arc<ActiveSession>,
    pub(crate) page: InteractivePage,
    pub(crate) billing: SessionBilling,
    pub(crate) _permit: OwnedSemaphorePermit,
}

impl RunningSession {
    /// Waits for the end of the session, saves its profile, stops its browser and charges for it.
    pub(crate) async fn run(self) {
        let Self { inner, session, page, billing, _permit } = self;
        let cause = tokio::select! {
            cause = session.wait_for_end() => cause,
            () = page.browser().ended() => EndReason::Crashed,
            () = inner.stopped() => EndReason::Shutdown,
        };
        session.stop_work();
        let duration = session.created.elapsed();
        inner.metrics.count_end(cause, duration);
        let cause = cause.name();
        if let Some(warning) = page.close().await {
            tracing::warn!(id = session.record.id, warning, "the profile of a browser session was not saved");
        }
        let credits = settle(&inner.engine, &session, billing, duration).await;
        let id = session.record.id.clone();
        if let Err(error) =
            inner.with_store(move |store| store.end_browser_session(&id, store.now_ms())).await
        {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the end of a browser session is not recorded"
            );
        }
        inner.registry.remove(&session.record.id);
        let seconds = duration.as_secs_f64();
        tracing::info!(id = session.record.id, cause, seconds, credits, "browser session ended");
        session.record_end(SessionEnd { duration, credits });
    }
}

/// Charges for a session. Returns the credits; `None` if the service is shutting down.
async fn settle(
    engine: &Engine,
    session: &ActiveSession,
    billing: SessionBilling,
    duration: Duration,
) -> Option<u64> {
    let SessionBilling { mut hold, key, request, retention, charge } = billing;
    if let Some(added) = session.take_prompt_hold() {
        hold.absorb(added);
    }
    let bill = engine.session_bill(duration, session.usage());
    match charge {
        SessionCharge::Own => {}
        SessionCharge::Included => return Some(bill.total()),
    }
    let usage = Usage {
        key,
        request,
        result: None,
        operation: "browser",
        api_version: ApiVersion::V2,
        status: 200,
        elapsed: duration,
        items: bill.items(),
        stages: Vec::new(),
        query: None,
        retention,
    };
    let settling = websvc_transport::spawn_blocking(move || {
        let price = usage.price();
        if !hold.covers(price)
            && let Err(error) = hold.extend(price)
        {
            // The held credits are charged, although the price is higher.
            tracing::error!(error = &error as &dyn std::error::Error, "credit lease could not be extended");
        }
        hold.settle(usage)
    });
    match settling.await {
        Ok(credits) => Some(credits),
        Err(error) => {
            if error.is_panic() {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the settlement of a browser session panicked"
                );
            }
            None
        }
    }
}

/// Waits for the ends of the tasks of sessions. One that panics does not keep the others from saving their profiles and being charged.
pub(crate) async fn wait_for_all(mut tasks: JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            tracing::error!(error = &error as &dyn std::error::Error, "a browser session panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn task_that_panics_does_not_abort_the_others() {
        let (panicked, after_panic) = tokio::sync::oneshot::channel::<()>();
        let (sender, mut ended) = tokio::sync::oneshot::channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // Dropped by the panic.
            let _panicked = panicked;
            panic!("a panic of a test");
        });
        tasks.spawn(async move {
            assert!(after_panic.await.is_err());
            // The panic is noticed before this task goes on.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            sender.send(()).unwrap();
        });
        wait_for_all(tasks).await;
        assert_eq!(ended.try_recv(), Ok(()));
    }
}
