//! The fixture of the tests: a scraper over a loopback web, with a clock that only the test advances.

use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use websvc_scrape::{Page, ProxyConfig, ScrapeConfig, ScrapeError, Scraper};
use websvc_store::Store;
use websvc_testkit::TestWeb;
use websvc_transport::{Client, Proxy};
use websvc_types::ScrapeOptions;
use websvc_validate::{Policy, ScrapePlan, check_request};

/// A scraper over a loopback web.
pub(crate) struct Fixture {
    pub(crate) web: TestWeb,
    pub(crate) scraper: Scraper,
    pub(crate) store: Store,
    _directory: TempDir,
}

impl Fixture {
    pub(crate) fn new(web: TestWeb) -> Self {
        Self::with_config(web, |_| {})
    }

    /// Creates a scraper with a configuration that `change` makes from the default one.
    pub(crate) fn with_config(web: TestWeb, change: impl FnOnce(&mut ScrapeConfig)) -> Self {
        let client = web.client();
        Self::build(web, client, change)
    }

    /// Creates a scraper with another client than that of the web.
    pub(crate) fn with_client(web: TestWeb, client: Client) -> Self {
        Self::build(web, client, |_| {})
    }

    fn build(web: TestWeb, client: Client, change: impl FnOnce(&mut ScrapeConfig)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        store.clock().stop_at(1_700_000_000_000);
        let mut config = ScrapeConfig::default();
        change(&mut config);
        let scraper = Scraper::new(client, store.clone(), config);
        Self { web, scraper, store, _directory: directory }
    }

    /// Advances the clock.
    pub(crate) fn advance(&self, time: Duration) {
        self.store.clock().advance(time);
    }

    /// Scrapes a page with these options.
    pub(crate) async fn scrape(&self, url: &str, options: Value) -> Result<Page, ScrapeError> {
        let deadline = Instant::now() + Duration::from_secs(20);
        self.scraper.scrape(&url.parse().unwrap(), &plan(options), deadline).await
    }
}

pub(crate) fn plan(options: Value) -> ScrapePlan {
    let options: ScrapeOptions = serde_json::from_value(options).unwrap();
    check_request(&options, &Policy::default()).unwrap().plan
}

pub(crate) fn proxy(addr: std::net::SocketAddr) -> Proxy {
    Proxy::new(&format!("http://{addr}").parse().unwrap()).unwrap()
}

pub(crate) fn pools(basic: Vec<Proxy>, enhanced: Vec<Proxy>) -> ProxyConfig {
    ProxyConfig { basic, enhanced, ..ProxyConfig::default() }
}
