//! Deletes the snapshots of pages that exceed their limits.

use std::convert::Infallible;
use std::time::Duration;

use crate::engine::Engine;

/// The interval of the sweep.
const SWEEP_INTERVAL: Duration = Duration::from_secs(600);

impl Engine {
    /// Deletes periodically the page snapshots that were not used for long, and those of deleted teams. Never returns.
    pub async fn sweep_page_snapshots(&self) -> Infallible {
        let mut interval = tokio::time::interval(SWEEP_INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let (store, limits) = (self.scraper().store().clone(), self.config().snapshots);
            let now_ms = self.scraper().now_ms();
            let sweep = websvc_transport::spawn_blocking(move || store.evict_page_snapshots(&limits, now_ms));
            match sweep.await {
                Ok(Ok(0)) | Err(_) => {}
                Ok(Ok(snapshots)) => tracing::info!(snapshots, "deleted old page snapshots"),
                Ok(Err(error)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, "old page snapshots could not be deleted");
                }
            }
        }
    }
}
