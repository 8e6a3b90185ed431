//! A scraper over a loopback web, with a clock that stands still until it is moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use websvc_scrape::{Clock, Page, ProxyConfig, ScrapeConfig, ScrapeError, Scraper};
use websvc_store::Store;
use websvc_testkit::TestWeb;
use websvc_transport::{Client, Proxy};
use websvc_validate::{Policy, ScrapePlan, check_scrape_options};

pub(crate) struct Bench {
    pub(crate) world: TestWeb,
    pub(crate) scraper: Scraper,
    pub(crate) store: Store,
    now_ms: Arc<AtomicI64>,
    _directory: TempDir,
}

impl Bench {
    pub(crate) fn new(world: TestWeb) -> Self {
        Self::with(world, |_| {})
    }

    pub(crate) fn with(world: TestWeb, change: impl FnOnce(&mut ScrapeConfig)) -> Self {
        let client = world.client();
        Self::made(world, client, change)
    }

    /// Takes this client instead of one that trusts the world.
    pub(crate) fn asking(world: TestWeb, client: Client) -> Self {
        Self::made(world, client, |_| {})
    }

    fn made(world: TestWeb, client: Client, change: impl FnOnce(&mut ScrapeConfig)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let now_ms = Arc::new(AtomicI64::new(1_700_000_000_000));
        let told = Arc::clone(&now_ms);
        let clock = Clock::new(move || Timestamp::from_millisecond(told.load(SeqCst)).unwrap());
        let mut config = ScrapeConfig { clock, ..ScrapeConfig::default() };
        change(&mut config);
        let scraper = Scraper::new(client, store.clone(), config);
        Self { world, scraper, store, now_ms, _directory: directory }
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, time: Duration) {
        self.now_ms.fetch_add(i64::try_from(time.as_millis()).unwrap(), SeqCst);
    }

    pub(crate) async fn get(&self, url: &str, options: Value) -> Result<Page, ScrapeError> {
        let deadline = Instant::now() + Duration::from_secs(20);
        self.scraper.scrape(&url.parse().unwrap(), &plan(options), deadline).await
    }
}

pub(crate) fn plan(options: Value) -> ScrapePlan {
    let options = serde_json::from_value(options).unwrap();
    check_scrape_options(options, &Policy::default()).unwrap().plan
}

pub(crate) fn proxy(addr: std::net::SocketAddr) -> Proxy {
    Proxy::new(&format!("http://{addr}").parse().unwrap()).unwrap()
}

pub(crate) fn pools(basic: Vec<Proxy>, enhanced: Vec<Proxy>) -> ProxyConfig {
    ProxyConfig { basic, enhanced, ..ProxyConfig::default() }
}
