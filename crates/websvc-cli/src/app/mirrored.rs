//! Writing to the index and to its mirrors, and the end of it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use websvc_engine::crawl::{IndexSink, Sink, SinkError, SinkFuture};
use websvc_engine::{BulkReport, Mirror, MirrorMetrics};
use websvc_types::index::IndexDocument;

use super::App;
use crate::output;

/// How long the end waits for pages that are on their way elsewhere.
const PATIENCE: Duration = Duration::from_secs(30);

impl App {
    /// Returns where the pages of a crawl or an import go.
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        match self.engine.mirrors() {
            [] => Box::new(IndexSink(Arc::clone(&self.index))),
            mirrors => {
                let index = self.engine.writable_index().map(|index| IndexSink(Arc::clone(index)));
                Box::new(MirroredSink { index, mirrors: mirrors.to_vec() })
            }
        }
    }

    /// Waits until everything is written, and tells what became of pages elsewhere.
    ///
    /// # Errors
    /// The index failed.
    pub(crate) async fn close(&self) -> Result<Vec<MirrorMetrics>> {
        if let Some(browser) = self.engine.scraper().browser() {
            browser.stop().await;
        }
        let (index, of_teams) = (Arc::clone(&self.index), self.engine.team_indexes().cloned());
        let flush = move || index.flush().and(of_teams.map_or(Ok(()), |indexes| indexes.flush()));
        tokio::task::spawn_blocking(flush).await??;
        let mut reports = Vec::new();
        for mirror in self.engine.mirrors() {
            let report = mirror.close(PATIENCE).await;
            let MirrorMetrics { name, written, refused, lost, first_failure } = &report;
            if written + refused + lost > 0 {
                let why =
                    first_failure.as_ref().map_or_else(String::new, |why| format!("; first failure: {why}"));
                output::note(&format!(
                    "{name}: {written} pages written, {refused} refused, {lost} lost{why}"
                ));
            }
            reports.push(report);
        }
        Ok(reports)
    }
}

/// Refuses to call complete what is not.
///
/// # Errors
/// A mirror has not all pages; it is named.
pub(crate) fn ensure_complete(reports: &[MirrorMetrics]) -> Result<()> {
    for MirrorMetrics { name, refused, lost, .. } in reports {
        if refused + lost > 0 {
            bail!("{} pages are not in {name}", refused + lost);
        }
    }
    Ok(())
}

/// The index of this process, if it is filled, and its mirrors.
#[derive(Debug)]
struct MirroredSink {
    index: Option<IndexSink>,
    mirrors: Vec<Arc<Mirror>>,
}

impl Sink for MirroredSink {
    fn accept(&self, documents: Vec<IndexDocument>) -> SinkFuture<'_> {
        Box::pin(async move {
            for mirror in &self.mirrors {
                // Refused pages are counted and told at the end; a server that cannot be reached ends the work.
                let BulkReport { lost, first_failure, .. } = mirror.write(&documents).await;
                if lost > 0 {
                    let why = first_failure.unwrap_or_default();
                    let text = format!("{lost} pages could not be written to {}: {why}", mirror.name());
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
