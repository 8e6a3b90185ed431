//! The fixture of the tests: the tools of a process over a loopback web.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::watch;
use websvc_agent::{Environment, ToolCall, ToolFailure, ToolOutput};
use websvc_browser::{Browser, BrowserConfig};
use websvc_engine::{Engine, EngineConfig, IndexMode, Pricing, Searxng, SearxngConfig};
use websvc_runs::{RunEnvironment, RunSetup, RunTools};
use websvc_scrape::threat::Classifier;
use websvc_scrape::{BackgroundLimits, ScrapeConfig, Scraper};
use websvc_store::{CreditHold, SnapshotLimits, Store, UsageRetention};
use websvc_testkit::{FakeSearxng, TestWeb, TestWebBuilder};
use websvc_transport::{Client, ClientConfig};
use websvc_validate::Policy;

/// The tools of a process, and the web that they read.
pub(crate) struct Fixture {
    pub(crate) web: TestWeb,
    pub(crate) store: Store,
    tools: RunTools,
    _directory: TempDir,
}

/// The options of a fixture.
#[derive(Default)]
pub(crate) struct Options {
    /// The results of every search.
    pub(crate) results: Vec<serde_json::Value>,
    /// True to render shell pages.
    pub(crate) has_browser: bool,
    /// True to allow connections to loopback addresses, which no installation does by default.
    pub(crate) allows_loopback: bool,
}

impl Fixture {
    pub(crate) async fn new(web: TestWebBuilder) -> Self {
        Self::with(web, Options::default()).await.unwrap()
    }

    /// Starts a web and creates the tools; skips the test and returns `None` without Chromium if it is needed.
    pub(crate) async fn with(web: TestWebBuilder, options: Options) -> Option<Self> {
        let Options { results, has_browser, allows_loopback } = options;
        let search = FakeSearxng::new().results("general", results);
        let web = web.page_with("http://search.test/search", move |request| search.respond(request));
        let web = web.start().await;
        // Port 81 is the same server, for calls that try another port.
        let guard = web.guard().connect_to("*:81", &web.http_addr().to_string()).unwrap();
        let guard = if allows_loopback { guard.allow("127.0.0.1".parse().unwrap()) } else { guard };
        let client = Client::new(ClientConfig::new(guard)).unwrap();
        let browser = if has_browser { Some(browser(&client)?) } else { None };
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let config = SearxngConfig {
            url: "http://search.test/".parse().unwrap(),
            name: "web".to_owned(),
            endpoint: Default::default(),
        };
        let engine = Engine::new(EngineConfig {
            sources: vec![Arc::new(Searxng::new(config, client.clone()))],
            scraper: Scraper::new(client, store.clone(), ScrapeConfig { browser, ..ScrapeConfig::default() }),
            index: None,
            index_mode: IndexMode::Write,
            team_indexes: None,
            mirrors: Vec::new(),
            pricing: Pricing::default(),
            snapshots: SnapshotLimits::default(),
            threat: Classifier::none(),
            model: None,
            media: websvc_engine::MediaTools::Off,
        });
        let tools = RunTools::new(&engine.with_background_limits(BackgroundLimits::default()), None);
        Some(Self { web, store, tools, _directory: directory })
    }

    /// Creates the environment of a run with settings that `change` makes from the default ones.
    pub(crate) fn run(&self, change: impl FnOnce(&mut RunSetup)) -> RunEnvironment {
        self.run_with(self.store.hold_unlimited("default"), change)
    }

    /// Creates the environment of a run of a team that holds these credits.
    pub(crate) fn run_with(&self, hold: CreditHold, change: impl FnOnce(&mut RunSetup)) -> RunEnvironment {
        let mut setup = RunSetup {
            id: "run".to_owned(),
            team: "default".to_owned(),
            policy: Policy::default(),
            concurrency: None,
            key: None,
            retention: UsageRetention::Whole,
            urls: Vec::new(),
            is_strict: false,
            user_texts: Vec::new(),
            private_texts: Vec::new(),
            location: None,
            threat_protection: None,
            allows_interact: false,
            max_credits: 1_000,
            step_credits: 1,
            deadline: Instant::now() + Duration::from_secs(600),
            cancelled: watch::channel(false).1,
            on_event: Box::new(|_| {}),
        };
        change(&mut setup);
        self.tools.environment(setup, hold)
    }

    /// Returns the URLs of the received requests in alphabetical order, except those to the search engine.
    pub(crate) fn requested(&self) -> Vec<String> {
        let urls = self.web.requests().into_iter().map(|request| request.url);
        let mut urls: Vec<String> = urls.filter(|url| !url.starts_with("http://search.test/")).collect();
        urls.sort();
        urls
    }
}

fn browser(client: &Client) -> Option<Browser> {
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(Into::into);
    let config = BrowserConfig { path, start_timeout: Duration::from_secs(60), ..BrowserConfig::default() };
    let browser = Browser::new(config, client.clone());
    match browser.executable() {
        Ok(_) => Some(browser),
        Err(error) => {
            websvc_testkit::skip(&error.to_string());
            None
        }
    }
}

/// Reads a page.
pub(crate) async fn scrape(run: &RunEnvironment, url: &str) -> Result<ToolOutput, ToolFailure> {
    run.call(&ToolCall::Scrape { url: url.to_owned() }).await
}

/// Returns the markdown of a page that must be read.
pub(crate) async fn read(run: &RunEnvironment, url: &str) -> String {
    match scrape(run, url).await {
        Ok(ToolOutput::Read { mut pages, .. }) => pages.remove(0).markdown,
        other => panic!("{url}: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_refused(outcome: &Result<ToolOutput, ToolFailure>, what: &str) {
    assert!(matches!(outcome, Err(ToolFailure::Refused(_))), "{what}: {outcome:?}");
}
