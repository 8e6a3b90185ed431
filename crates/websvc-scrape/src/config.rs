//! The configuration of a scraper.

use std::sync::Arc;

use crate::blocklist::Blocklist;
use websvc_browser::Browser;
use websvc_stage::StageTimes;
use websvc_store::CacheLimits;

use crate::documents::DocumentWorkers;
use crate::proxies::ProxyConfig;

/// The limits and dependencies of a [`Scraper`](crate::Scraper).
#[derive(Debug, Clone)]
pub struct ScrapeConfig {
    /// The maximum size of a body, on the wire and decoded, in bytes.
    pub max_body_bytes: u64,
    /// The maximum number of concurrent fetches.
    pub concurrency: usize,
    /// The limits of the page cache.
    pub cache: CacheLimits,
    /// The maximum size of the in-memory cache of formatted pages, in bytes.
    pub output_cache_bytes: u64,
    /// The proxies.
    pub proxies: ProxyConfig,
    /// The configuration of the document workers; with `None` documents are not read.
    pub documents: Option<DocumentWorkers>,
    /// The browser that renders pages whose content scripts create; with `None` no page is rendered. It must use the
    /// same guarded client as the scraper.
    pub browser: Option<Browser>,
    /// The lists of advertising that the browser blocks.
    pub blocklist: Arc<Blocklist>,
    /// The metrics of how long the stages take.
    pub stages: StageTimes,
}

impl Default for ScrapeConfig {
    fn default() -> Self {
        Self {
            max_body_bytes: 20 * 1024 * 1024,
            concurrency: 64,
            cache: CacheLimits::default(),
            output_cache_bytes: 32 * 1024 * 1024,
            proxies: ProxyConfig::default(),
            documents: None,
            browser: None,
            blocklist: Arc::new(Blocklist::bundled()),
            stages: StageTimes::default(),
        }
    }
}
