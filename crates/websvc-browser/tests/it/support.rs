//! Shared setup of the tests: a loopback web and a browser that can reach only its hosts.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;
use url::Url;
use websvc_browser::{
    Browser, BrowserConfig, BrowserError, BrowserStatus, HostRule, RenderRequest, RenderedPage, Step,
};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};
use websvc_transport::{AddressGuard, Client, ClientConfig};

/// A loopback web, and a browser that reaches its hosts by name and nothing else on this machine.
pub(crate) struct Setup {
    pub(crate) web: TestWeb,
    pub(crate) browser: Browser,
    /// The rule for the hosts of attacking pages.
    pub(crate) hosts: Option<HostRule>,
    concurrency: usize,
}

/// Returns the configuration of the tests; skips the test and returns `None` without Chromium.
pub(crate) fn config() -> Option<BrowserConfig> {
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(Into::into);
    // Long enough for a busy machine. A request whose deadline passes during the start fails.
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

/// Starts a web and a browser; skips the test and returns `None` without Chromium.
pub(crate) async fn setup(builder: TestWebBuilder) -> Option<Setup> {
    setup_with(builder, config()?).await
}

pub(crate) async fn setup_with(builder: TestWebBuilder, config: BrowserConfig) -> Option<Setup> {
    Some(Setup::new(builder.start().await, config))
}

/// Creates a program in `directory` that starts Chromium with an additional flag.
pub(crate) fn chromium_wrapper(config: &BrowserConfig, directory: &TempDir, flag: &str) -> PathBuf {
    chromium_wrapper_script(config, directory, |path| format!("exec {path} '{flag}' \"$@\""))
}

/// Creates a program in `directory` that runs a shell script in place of Chromium.
pub(crate) fn chromium_wrapper_script(
    config: &BrowserConfig,
    directory: &TempDir,
    script: impl FnOnce(&str) -> String,
) -> PathBuf {
    let client = ClientConfig::new(AddressGuard::public());
    let browser = Browser::new(config.clone(), Client::new(client).unwrap());
    let path = browser.executable().unwrap();
    // The file name decides whether Chromium is the headless shell.
    let wrapper = directory.path().join(path.file_name().unwrap());
    std::fs::write(&wrapper, format!("#!/bin/sh\n{}\n", script(path.to_str().unwrap()))).unwrap();
    std::fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).unwrap();
    wrapper
}

/// Starts a web with one page, `http://a.test/`, and a browser.
pub(crate) async fn setup_page(html: &str) -> Option<Setup> {
    setup(TestWeb::builder().page("http://a.test/", Page::html(html))).await
}

impl Setup {
    pub(crate) fn new(web: TestWeb, config: BrowserConfig) -> Self {
        let client = web.client();
        Self::with_client(web, config, client)
    }

    /// Starts a browser with another client than that of the web.
    pub(crate) fn with_client(web: TestWeb, config: BrowserConfig, client: Client) -> Self {
        let concurrency = config.concurrency;
        Self { web, browser: Browser::new(config, client), hosts: None, concurrency }
    }

    pub(crate) async fn open(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        self.browser.render(request).await
    }

    /// Renders a URL with default settings.
    pub(crate) async fn render(&self, url: &str) -> RenderedPage {
        self.open(&request(url)).await.unwrap()
    }

    /// Waits until all pages are closed, which happens in the background, and returns the status of the browser.
    pub(crate) async fn wait_all_closed(&self) -> BrowserStatus {
        let closed = async {
            loop {
                let status = self.browser.status().await;
                if status.free_permits == self.concurrency {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), closed).await.expect("all pages are closed")
    }

    /// Renders `http://a.test/` with these steps.
    pub(crate) async fn run_steps(&self, steps: Vec<Step>) -> Result<RenderedPage, BrowserError> {
        self.open(&RenderRequest { steps, ..request("http://a.test/") }).await
    }

    /// Renders `http://a.test/` with these steps, and returns the value of an expression after them.
    pub(crate) async fn evaluate_after(&self, mut steps: Vec<Step>, expression: &str) -> serde_json::Value {
        steps.push(Step::Script(expression.to_owned()));
        let mut rendered = self.run_steps(steps).await.unwrap();
        rendered.returns.pop().unwrap().value
    }
}

pub(crate) fn request(url: &str) -> RenderRequest {
    request_within(url, Duration::from_secs(60))
}

pub(crate) fn request_within(url: &str, timeout: Duration) -> RenderRequest {
    RenderRequest::new(Url::parse(url).unwrap(), Instant::now() + timeout)
}
