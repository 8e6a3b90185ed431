//! The ways to open a page in a session.

use std::path::Path;

use serde_json::{Value, json};

use super::EgressTest;
use super::direct::{self, DirectAttack};
use super::playwright::Playwright;
use crate::browser_sessions::cdp::CdpClient;
use crate::browser_sessions::live::Viewer;

/// A client of the DevTools protocol, and the first tab of the session.
pub(super) struct Client {
    pub(super) cdp: CdpClient,
    pub(super) target: String,
    pub(super) page: String,
}

/// A way to make the browser of a session open a page.
pub(super) enum Way {
    /// Code in the sandbox.
    Node,
    /// `agent-browser` commands.
    Bash,
    /// A client of the DevTools protocol, in a tab of its own.
    Client(Box<Client>),
    /// A window that a page opens.
    Popup(Box<Client>),
    /// Mouse and keyboard of a viewer. The client shows the page that the viewer uses.
    LiveView(Box<Client>, Box<Viewer>),
    /// The library Playwright.
    Playwright(Box<Playwright>),
}

impl Client {
    async fn connect(test: &EgressTest) -> Self {
        let mut cdp = CdpClient::connect(&test.test, &test.session["cdpUrl"]).await;
        let (target, page) = cdp.attach_to_only_page().await;
        Self { cdp, target, page }
    }

    /// Opens a URL in a new tab, and returns the session of the protocol.
    pub(super) async fn open_tab(&mut self, url: &str) -> String {
        let tab = self.cdp.open_tab().await;
        self.cdp.call(Some(&tab), "Page.navigate", json!({ "url": url })).await;
        tab
    }

    /// Opens a URL in the first tab, and waits until its document is complete.
    pub(super) async fn show(&mut self, url: &str) {
        self.cdp.call(Some(&self.page), "Page.navigate", json!({ "url": url })).await;
        let expression =
            "new Promise((shown) => document.readyState == 'complete' ? shown() : onload = () => shown())";
        self.evaluate(expression).await;
    }

    /// Evaluates an expression in the first tab.
    pub(super) async fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "userGesture": true, "returnByValue": true});
        self.cdp.call(Some(&self.page), "Runtime.evaluate", params).await
    }
}

impl Way {
    pub(super) async fn client(test: &EgressTest) -> Self {
        Self::Client(Box::new(Client::connect(test).await))
    }

    pub(super) async fn popup(test: &EgressTest) -> Self {
        Self::Popup(Box::new(Client::connect(test).await))
    }

    pub(super) async fn live_view(test: &EgressTest) -> Self {
        let client = Client::connect(test).await;
        let viewer = Viewer::connect(&test.test, &test.session["interactiveLiveViewUrl"]).await;
        Self::LiveView(Box::new(client), Box::new(viewer))
    }

    pub(super) async fn playwright(test: &EgressTest, package: &Path) -> Self {
        Self::Playwright(Box::new(
            Playwright::connect(package, test.session["cdpUrl"].as_str().unwrap()).await,
        ))
    }

    /// Opens a page.
    pub(super) async fn open(&mut self, test: &EgressTest, url: &str) {
        match self {
            Self::Node => {
                // A page may fail to load. Its requests are of interest.
                let code = format!("await page.goto({url:?}, {{ waitUntil: 'commit' }}).catch(() => 0)");
                test.test.execute(&test.session, "node", &code).await;
            }
            Self::Bash => drop(test.test.execute(&test.session, "bash", &format!("open {url}")).await),
            Self::Client(client) => drop(client.open_tab(url).await),
            Self::Popup(client) => drop(client.open_tab(&format!("http://a.localhost/opener?{url}")).await),
            Self::LiveView(client, viewer) => {
                client.show(&format!("http://a.localhost/link?{url}")).await;
                viewer.click().await;
            }
            Self::Playwright(playwright) => {
                playwright.run(&format!("await page.goto({url:?}, {{ waitUntil: 'commit' }})")).await;
            }
        }
    }

    /// Leaves the page, which is unloaded, and closes its windows.
    pub(super) async fn leave(&mut self, test: &EgressTest) {
        let close = "for (const other of context.pages().slice(1)) await other.close();
            await page.goto('about:blank').catch(() => 0)";
        match self {
            Self::Node => drop(
                test.test
                    .execute(&test.session, "node", &format!("page = context.pages()[0]; {close}"))
                    .await,
            ),
            Self::Bash => {
                let commands = "tab 0; open about:blank; tab close 1";
                test.test.execute(&test.session, "bash", commands).await;
            }
            Self::Client(client) | Self::Popup(client) => client.cdp.close_tabs_except(&client.target).await,
            Self::LiveView(client, _) => {
                client.cdp.close_tabs_except(&client.target).await;
                client.cdp.call(Some(&client.page), "Page.navigate", json!({"url": "about:blank"})).await;
            }
            Self::Playwright(playwright) => playwright.run(close).await,
        }
    }

    /// Returns the attacks that only this way has.
    pub(super) fn direct_attacks(&self) -> Vec<DirectAttack> {
        match self {
            Self::Node => direct::programs(),
            Self::Bash => direct::commands(),
            Self::Client(_) => direct::protocol(),
            Self::Popup(_) => direct::windows(),
            Self::LiveView(..) => direct::inputs(),
            Self::Playwright(_) => direct::playwright(),
        }
    }
}
