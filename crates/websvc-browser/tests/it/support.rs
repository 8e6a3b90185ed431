//! What the tests share: a loopback web with a browser in it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;
use url::Url;
use websvc_browser::{
    Browser, BrowserConfig, BrowserError, BrowserStatus, RenderRequest, RenderedPage, Step,
};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};
use websvc_transport::{AddressGuard, Client, ClientConfig};

/// A world and a browser that reaches it by name, and nothing else on this machine.
pub(crate) struct Stage {
    pub(crate) world: TestWeb,
    pub(crate) browser: Browser,
    places: usize,
}

/// Returns the configuration of the tests, or `None` with a line when there is no Chromium.
pub(crate) fn config() -> Option<BrowserConfig> {
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(Into::into);
    // A machine that does much else may take its time; and who waits in vain for what is only being started fails.
    let config = BrowserConfig { path, start_timeout: Duration::from_secs(60), ..BrowserConfig::default() };
    let client = ClientConfig::new(AddressGuard::public());
    match Browser::new(config.clone(), Client::new(client).unwrap()).executable() {
        Ok(_) => Some(config),
        Err(error) => {
            websvc_testkit::skip(&error.to_string());
            None
        }
    }
}

/// Starts a world and a browser, or returns `None` with a line when there is no Chromium.
pub(crate) async fn stage(builder: TestWebBuilder) -> Option<Stage> {
    stage_with(builder, config()?).await
}

pub(crate) async fn stage_with(builder: TestWebBuilder, config: BrowserConfig) -> Option<Stage> {
    Some(Stage::of(builder.start().await, config))
}

/// Returns a program that starts Chromium with a flag more, which ends with its directory.
pub(crate) fn wrapped(config: &BrowserConfig, directory: &TempDir, flag: &str) -> PathBuf {
    wrapped_in(config, directory, |path| format!("exec {path} '{flag}' \"$@\""))
}

/// Returns a program that runs a script of the shell in place of Chromium, which ends with its directory.
pub(crate) fn wrapped_in(
    config: &BrowserConfig,
    directory: &TempDir,
    script: impl FnOnce(&str) -> String,
) -> PathBuf {
    let client = ClientConfig::new(AddressGuard::public());
    let browser = Browser::new(config.clone(), Client::new(client).unwrap());
    let path = browser.executable().unwrap();
    // Its name tells which kind of Chromium it is.
    let wrapper = directory.path().join(path.file_name().unwrap());
    std::fs::write(&wrapper, format!("#!/bin/sh\n{}\n", script(path.to_str().unwrap()))).unwrap();
    std::fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).unwrap();
    wrapper
}

/// Starts a world of one page, `http://a.test/`.
pub(crate) async fn stage_of(html: &str) -> Option<Stage> {
    stage(TestWeb::builder().page("http://a.test/", Page::html(html))).await
}

impl Stage {
    pub(crate) fn of(world: TestWeb, config: BrowserConfig) -> Self {
        let places = config.concurrency;
        let browser = Browser::new(config, world.client());
        Self { world, browser, places }
    }

    pub(crate) async fn open(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        self.browser.render(request).await
    }

    /// Opens a URL without any extras.
    pub(crate) async fn render(&self, url: &str) -> RenderedPage {
        self.open(&request(url)).await.unwrap()
    }

    /// Waits until all pages are put away, which nobody who opens one waits for, and returns how the browser is then.
    pub(crate) async fn at_rest(&self) -> BrowserStatus {
        loop {
            let status = self.browser.status().await;
            if status.free_places == self.places {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Opens `http://a.test/` and does this there.
    pub(crate) async fn act(&self, steps: Vec<Step>) -> Result<RenderedPage, BrowserError> {
        self.open(&RenderRequest { steps, ..request("http://a.test/") }).await
    }

    /// Opens `http://a.test/`, does this there, and returns what an expression is then.
    pub(crate) async fn after(&self, mut steps: Vec<Step>, expression: &str) -> serde_json::Value {
        steps.push(Step::Script(expression.to_owned()));
        let mut rendered = self.act(steps).await.unwrap();
        rendered.returns.pop().unwrap().value
    }
}

pub(crate) fn request(url: &str) -> RenderRequest {
    within(url, Duration::from_secs(60))
}

pub(crate) fn within(url: &str, time: Duration) -> RenderRequest {
    RenderRequest::new(Url::parse(url).unwrap(), Instant::now() + time)
}
