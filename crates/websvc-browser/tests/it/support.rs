//! What the tests share: a loopback web with a browser in it.

use std::time::Duration;

use tokio::time::Instant;
use url::Url;
use websvc_browser::{Browser, BrowserConfig, BrowserError, PageRequest, Rendered, Step};
use websvc_testkit::{Page, World, WorldBuilder};

/// A world and a browser that reaches it by name, and nothing else on this machine.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) browser: Browser,
}

/// Returns the configuration of the tests, or `None` with a line when there is no Chromium.
pub(crate) fn config() -> Option<BrowserConfig> {
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(Into::into);
    let config = BrowserConfig { path, ..BrowserConfig::default() };
    let client = websvc_transport::ClientConfig::new(websvc_transport::AddressGuard::public());
    let client = websvc_transport::Client::new(client).unwrap();
    match Browser::new(config.clone(), client).executable() {
        Ok(_) => Some(config),
        #[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// Starts a world and a browser, or returns `None` with a line when there is no Chromium.
pub(crate) async fn stage(builder: WorldBuilder) -> Option<Stage> {
    stage_with(builder, config()?).await
}

pub(crate) async fn stage_with(builder: WorldBuilder, config: BrowserConfig) -> Option<Stage> {
    let world = builder.start().await;
    let browser = Browser::new(config, world.client());
    Some(Stage { world, browser })
}

/// Starts a world of one page, `http://a.test/`.
pub(crate) async fn stage_of(html: &str) -> Option<Stage> {
    stage(World::builder().page("http://a.test/", Page::html(html))).await
}

impl Stage {
    pub(crate) async fn open(&self, request: &PageRequest) -> Result<Rendered, BrowserError> {
        self.browser.open(request).await
    }

    /// Opens a URL without any extras.
    pub(crate) async fn render(&self, url: &str) -> Rendered {
        self.open(&request(url)).await.unwrap()
    }

    /// Opens `http://a.test/` and does this there.
    pub(crate) async fn act(&self, steps: Vec<Step>) -> Result<Rendered, BrowserError> {
        self.open(&PageRequest { steps, ..request("http://a.test/") }).await
    }

    /// Opens `http://a.test/`, does this there, and returns what an expression is then.
    pub(crate) async fn after(&self, mut steps: Vec<Step>, expression: &str) -> serde_json::Value {
        steps.push(Step::Script(expression.to_owned()));
        let mut rendered = self.act(steps).await.unwrap();
        rendered.returns.pop().unwrap().value
    }
}

pub(crate) fn request(url: &str) -> PageRequest {
    within(url, Duration::from_secs(60))
}

pub(crate) fn within(url: &str, time: Duration) -> PageRequest {
    PageRequest::new(Url::parse(url).unwrap(), Instant::now() + time)
}
