//! The share of work that nobody waits for: pages of jobs take a part of each pool, so that the rest is always there for
//! requests that somebody waits for.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ScrapeError;
use crate::scraper::Scraper;

/// How much of each pool the pages of jobs may take at one time; at least 1 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackgroundLimits {
    /// Pages that are parsed.
    pub parsing: usize,
    /// Documents that are read.
    pub documents: usize,
    /// Pages that a browser draws.
    pub drawing: usize,
}

impl Default for BackgroundLimits {
    /// Half of the cores, one document, half of the browser's usual pages.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self { parsing: cores / 2, documents: 1, drawing: 4 }
    }
}

/// A bounded part of the pools.
#[derive(Debug)]
pub(crate) struct BackgroundPermits {
    parsing: Arc<Semaphore>,
    documents: Arc<Semaphore>,
    drawing: Arc<Semaphore>,
}

/// A pool of which there is a share.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BackgroundPool {
    Parsing,
    Documents,
    Rendering,
}

impl BackgroundPermits {
    pub(crate) fn new(config: BackgroundLimits) -> Self {
        let pool = |places: usize| Arc::new(Semaphore::new(places.max(1)));
        let BackgroundLimits { parsing, documents, drawing } = config;
        Self { parsing: pool(parsing), documents: pool(documents), drawing: pool(drawing) }
    }

    /// Waits for a place of this share. Only who has one asks the pool itself, so that no more than the share waits there.
    ///
    /// # Errors
    /// That the service is stopping.
    pub(crate) async fn acquire(&self, pool: BackgroundPool) -> Result<OwnedSemaphorePermit, ScrapeError> {
        let places = match pool {
            BackgroundPool::Parsing => &self.parsing,
            BackgroundPool::Documents => &self.documents,
            BackgroundPool::Rendering => &self.drawing,
        };
        Arc::clone(places).acquire_owned().await.map_err(|_closed| ScrapeError::Stopping)
    }
}

impl Scraper {
    /// Returns a scraper of the same pools that takes a share of them only: for pages that nobody waits for.
    #[must_use]
    pub fn with_background_limits(&self, config: BackgroundLimits) -> Self {
        Self { share: Some(Arc::new(BackgroundPermits::new(config))), ..self.clone() }
    }

    /// Waits for a place of the share, where there is one.
    pub(crate) async fn acquire(
        &self,
        pool: BackgroundPool,
    ) -> Result<Option<OwnedSemaphorePermit>, ScrapeError> {
        match &self.share {
            Some(share) => share.acquire(pool).await.map(Some),
            None => Ok(None),
        }
    }
}
