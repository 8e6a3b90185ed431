//! The sink that writes pages to the index and its mirrors, and the shutdown of both.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use websvc_engine::crawl::{IndexSink, Sink, SinkError, SinkFuture};
use websvc_engine::{BulkReport, Mirror, MirrorMetrics};
use websvc_types::counted;
use websvc_types::index::IndexDocument;

use super::{App, IndexMode};
use crate::output;

/// Time that the shutdown writes pages that wait for a mirror. The others are written after the next start.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Time that a crawl or an import waits for a mirror. Pages that it does not take in this time wait in its outbox.
const PATIENCE: Duration = Duration::from_secs(30);

impl App {
    /// Returns the sink for the pages of a crawl or an import.
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        match self.engine.mirrors() {
            [] => Box::new(IndexSink(Arc::clone(&self.index))),
            mirrors => {
                let index = self.engine.writable_index().map(|index| IndexSink(Arc::clone(index)));
                Box::new(MirroredSink { index, mirrors: mirrors.to_vec() })
            }
        }
    }

    /// Flushes the indexes, writes pages that wait for mirrors, and returns the metrics of the mirrors.
    ///
    /// # Errors
    /// An index cannot be flushed.
    pub(crate) async fn close(&self) -> Result<Vec<MirrorMetrics>> {
        if let Some(browser) = self.engine.scraper().browser() {
            browser.stop().await;
        }
        let (index, team_indexes) = (Arc::clone(&self.index), self.engine.team_indexes().cloned());
        let flush = move || index.flush().and(team_indexes.map_or(Ok(()), |indexes| indexes.flush()));
        websvc_transport::spawn_blocking(flush).await??;
        let mut all_metrics = Vec::new();
        for mirror in self.engine.mirrors() {
            // Otherwise the service that has the data directory open writes them.
            let timeout = match self.access {
                IndexMode::Write(_) => SHUTDOWN_TIMEOUT,
                IndexMode::Read => Duration::ZERO,
            };
            let metrics = mirror.close(timeout).await;
            let MirrorMetrics { name, written, refused, lost, waiting, first_failure, outbox: _ } = &metrics;
            if written + refused + lost + waiting > 0 {
                let waiting = match waiting {
                    0 => String::new(),
                    waiting => format!(", {waiting} in the outbox"),
                };
                let failure = first_failure
                    .as_ref()
                    .map_or_else(String::new, |reason| format!("; first failure: {reason}"));
                output::note(&format!(
                    "{name}: {} written, {refused} rejected, {lost} lost{waiting}{failure}",
                    counted(*written, "page", "pages")
                ));
            }
            all_metrics.push(metrics);
        }
        Ok(all_metrics)
    }
}

/// Fails if a mirror does not have all pages.
///
/// # Errors
/// Names the mirror that lacks pages.
pub(crate) fn ensure_complete(all_metrics: &[MirrorMetrics]) -> Result<()> {
    for MirrorMetrics { name, refused, lost, waiting, .. } in all_metrics {
        if refused + lost > 0 {
            bail!("{} missing in {name}", counted(refused + lost, "page is", "pages are"));
        }
        if *waiting > 0 {
            let waiting = counted(*waiting, "page waits", "pages wait");
            bail!("{waiting} in the outbox of {name}: `websvc serve` writes them when {name} accepts them");
        }
    }
    Ok(())
}

/// The index, if pages are written to it, and its mirrors.
#[derive(Debug)]
struct MirroredSink {
    index: Option<IndexSink>,
    mirrors: Vec<Arc<Mirror>>,
}

impl Sink for MirroredSink {
    fn accept(&self, documents: Vec<IndexDocument>) -> SinkFuture<'_> {
        Box::pin(async move {
            for mirror in &self.mirrors {
                mirror.catch_up().await;
                // Rejected pages are counted and reported at the end. Lost ones abort the work.
                let BulkReport { lost, first_failure, .. } =
                    mirror.write(documents.clone(), None, PATIENCE).await;
                if lost > 0 {
                    let reason = first_failure.unwrap_or_default();
                    let pages = counted(lost, "page", "pages");
                    let text = format!("{pages} could not be written to {}: {reason}", mirror.name());
                    return Err(SinkError(text.into()));
                }
            }
            match &self.index {
                Some(index) => index.accept(documents).await,
                None => Ok(()),
            }
        })
    }
}
