//! What a scraper is told.

use std::sync::Arc;

use websvc_blocklist::Blocklist;
use websvc_browser::Browser;
use websvc_stage::StageTimes;
use websvc_store::CacheLimits;

use crate::clock::Clock;
use crate::documents::DocumentWorkers;
use crate::proxies::ProxyConfig;

/// The bounds of a scraper.
#[derive(Debug, Clone)]
pub struct ScrapeConfig {
    /// The largest body, on the wire and decoded.
    pub max_body_bytes: u64,
    /// How many pages are fetched at one time.
    pub concurrency: usize,
    /// The bounds of the page cache.
    pub cache: CacheLimits,
    /// How many bytes of written pages are kept in memory.
    pub rendered_bytes: u64,
    /// The ways to hosts.
    pub proxies: ProxyConfig,
    /// The time by which cached pages are young or old.
    pub clock: Clock,
    /// Who reads documents; `None` reads none.
    pub documents: Option<DocumentWorkers>,
    /// Who draws pages that scripts fill; `None` draws none. It must go out by the same guard as the scraper.
    pub browser: Option<Browser>,
    /// The lists of advertising that the browser leaves out.
    pub blocklist: Arc<Blocklist>,
    /// Where it is counted how long the stages take.
    pub stages: StageTimes,
}

impl Default for ScrapeConfig {
    fn default() -> Self {
        Self {
            max_body_bytes: 20 * 1024 * 1024,
            concurrency: 64,
            cache: CacheLimits::default(),
            rendered_bytes: 32 * 1024 * 1024,
            proxies: ProxyConfig::default(),
            clock: Clock::default(),
            documents: None,
            browser: None,
            blocklist: Arc::new(Blocklist::bundled()),
            stages: StageTimes::default(),
        }
    }
}
