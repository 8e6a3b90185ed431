//! Warm pages: empty pages in a browser context of their own, created before a request needs one.
//!
//! Chromium takes as long to start the process of a page as to load a small page. Of a request, only the proxy matters
//! to a warm page. Each is used once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use websvc_transport::{Client, Proxy};

use super::events::PageEvents;
use crate::config::BrowserConfig;
use crate::egress::{Destinations, Egress, EgressLimits};
use crate::error::BrowserError;
use crate::process::BrowserProcess;

/// The maximum time in which Chromium closes a context. A process that needs longer is not usable any more.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// An empty page that has not navigated yet. Dropping it disposes of its browser context.
pub(crate) struct WarmPage {
    pub(super) egress: Egress,
    pub(super) context: BrowserContext,
    pub(super) target: String,
    pub(super) session: String,
    pub(super) events: PageEvents,
}

/// A browser context: cookies, cache, storage and a proxy that it shares with no other page.
pub(crate) struct BrowserContext {
    process: Arc<BrowserProcess>,
    pub(super) id: String,
    is_open: bool,
}

impl WarmPage {
    /// Creates a browser context with a proxy, and a page in it.
    pub(crate) async fn create(
        process: &Arc<BrowserProcess>,
        client: &Client,
        config: &BrowserConfig,
        proxy: Option<Proxy>,
    ) -> Result<Self, BrowserError> {
        let limits = EgressLimits {
            connect_timeout: config.connect_timeout,
            connections: config.connections_per_page,
            traffic_bytes: config.traffic_bytes_per_page,
        };
        let destinations = Destinations::Guarded { client: client.clone(), proxy };
        let egress = Egress::start(destinations, limits, process.proxy_listener()).await;
        let egress = egress.map_err(|source| BrowserError::Start { source, log: String::new() })?;
        let context = BrowserContext::create(process, &egress).await?;
        let params = json!({"url": "about:blank", "browserContextId": context.id});
        let target = create(process, "Target.createTarget", params, "targetId").await?;
        let session = process.targets().session(&context.id, &target);
        let session = session.ok_or_else(|| BrowserError::missing_field("Target.createTarget", "session"))?;
        let events = PageEvents::new(&target, process.monitor().cloned());
        events.subscribe_end(process.cdp(), &session);
        let page = Self { egress, context, target, session, events };
        tokio::select! {
            biased;
            // A page whose process has crashed does not respond.
            () = page.events.wait_until(|state| state.is_crashed) => return Err(BrowserError::Crashed),
            enabled = page.enable_domains(process) => enabled?,
        }
        Ok(page)
    }

    /// Sends the commands that are the same for every page. The first response takes as long as the start of the page's
    /// process.
    async fn enable_domains(&self, process: &BrowserProcess) -> Result<(), BrowserError> {
        let deny = json!({"behavior": "deny", "browserContextId": self.context.id});
        // Without buffers, Chromium does not retain the bodies of responses, which are not used.
        let network = json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0});
        let (cdp, session) = (process.cdp(), self.session.as_str());
        tokio::try_join!(
            cdp.call("", "Browser.setDownloadBehavior", deny),
            cdp.call(session, "Inspector.enable", json!({})),
            cdp.call(session, "Page.enable", json!({})),
            cdp.call(session, "Network.enable", network),
            cdp.call(session, "Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
        )?;
        Ok(())
    }

    /// Returns whether the page has not crashed since its creation.
    pub(crate) fn is_alive(&self) -> bool {
        !self.events.lock().is_crashed
    }
}

impl BrowserContext {
    async fn create(process: &Arc<BrowserProcess>, egress: &Egress) -> Result<Self, BrowserError> {
        let method = "Target.createBrowserContext";
        let params = json!({
            "disposeOnDetach": true,
            "proxyServer": egress.proxy_url(),
            "proxyBypassList": "<-loopback>",
        });
        let id = create(process, method, params, "browserContextId").await?;
        process.targets().register_context(&id);
        Ok(Self { process: Arc::clone(process), id, is_open: true })
    }

    fn dispose_params(&self) -> Value {
        json!({"browserContextId": self.id})
    }

    /// Disposes of the context and its pages. Kills a Chromium that does not.
    pub(crate) async fn close(mut self) {
        let closing = self.process.cdp().call("", "Target.disposeBrowserContext", self.dispose_params());
        let closed = timeout(CLOSE_TIMEOUT, closing).await;
        self.is_open = false;
        if closed.is_err() {
            tracing::warn!("Chromium did not close a page in time; killing it");
            self.process.kill();
        }
    }
}

impl Drop for BrowserContext {
    fn drop(&mut self) {
        self.process.targets().unregister_context(&self.id);
        if self.is_open {
            self.process.cdp().send_no_reply("", "Target.disposeBrowserContext", self.dispose_params());
        }
    }
}

/// Creates an object in the browser and returns its ID, the field `id_field` of the response.
async fn create(
    process: &BrowserProcess,
    method: &'static str,
    params: Value,
    id_field: &str,
) -> Result<String, BrowserError> {
    let mut response = process.cdp().call("", method, params).await?;
    match response[id_field].take() {
        Value::String(id) => Ok(id),
        _ => Err(BrowserError::missing_field(method, id_field)),
    }
}
