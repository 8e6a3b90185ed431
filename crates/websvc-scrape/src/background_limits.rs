//! Concurrency limits for background work: jobs and runs together use a part of each pool, so that the rest is always free
//! for requests of HTTP callers.

use std::sync::Arc;

use websvc_transport::{FairPermit, FairQueue, FairSemaphore};

use crate::scraper::Scraper;

/// The maximum number of concurrent background pages in each pool; at least 1 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackgroundLimits {
    /// Pages that are being parsed.
    pub parsing: usize,
    /// Documents that are being read.
    pub documents: usize,
    /// Pages that the browser is rendering.
    pub rendering: usize,
}

impl Default for BackgroundLimits {
    /// Returns half of the cores, one document, and half of the browser's default pages.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self { parsing: cores / 2, documents: 1, rendering: 4 }
    }
}

/// The permits for background work in each pool, divided among the teams.
#[derive(Debug)]
pub(crate) struct BackgroundPermits {
    parsing: FairSemaphore,
    documents: FairSemaphore,
    rendering: FairSemaphore,
}

/// A pool with a limit for background work.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BackgroundPool {
    Parsing,
    Documents,
    Rendering,
}

impl BackgroundPermits {
    pub(crate) fn new(config: BackgroundLimits) -> Self {
        let pool = |permits: usize| FairSemaphore::new(FairQueue::new(permits.max(1)));
        let BackgroundLimits { parsing, documents, rendering } = config;
        Self { parsing: pool(parsing), documents: pool(documents), rendering: pool(rendering) }
    }

    /// Waits for a background permit of a team. It is acquired before the permit of the pool itself, so that background
    /// tasks beyond the limit do not queue there.
    pub(crate) async fn acquire(&self, pool: BackgroundPool, team: &str) -> FairPermit {
        let permits = match pool {
            BackgroundPool::Parsing => &self.parsing,
            BackgroundPool::Documents => &self.documents,
            BackgroundPool::Rendering => &self.rendering,
        };
        permits.acquire(team).await
    }
}

impl Scraper {
    /// Returns a scraper with the same pools that limits its use of them, for background work. Its clones share the limits;
    /// another call creates limits of its own.
    #[must_use]
    pub fn with_background_limits(&self, config: BackgroundLimits) -> Self {
        Self { background: Some(Arc::new(BackgroundPermits::new(config))), ..self.clone() }
    }

    /// Waits for a background permit, if this scraper does background work.
    pub(crate) async fn acquire(&self, pool: BackgroundPool) -> Option<FairPermit> {
        match &self.background {
            Some(background) => Some(background.acquire(pool, &self.team).await),
            None => None,
        }
    }
}
