//! An empty page with a context of its own, made before anybody asks for it.
//!
//! Starting the process of a page takes Chromium as long as reading a small one. Nothing in here depends on a request
//! but the way out, and each is used once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use websvc_transport::{Client, Proxy};

use super::events::PageEvents;
use crate::config::BrowserConfig;
use crate::egress::{Bounds, Destinations, Egress};
use crate::error::BrowserError;
use crate::process::BrowserProcess;

/// How long Chromium may take to put a page away; a process that takes longer is no good any more.
const CLOSING: Duration = Duration::from_secs(5);

/// A page that was nowhere yet. Dropping it puts its context away.
pub(crate) struct WarmPage {
    pub(super) egress: Egress,
    pub(super) context: BrowserContext,
    pub(super) target: String,
    pub(super) session: String,
    pub(super) watch: PageEvents,
}

/// A browser context: cookies, cache, storage and a way out that nobody else has.
pub(crate) struct BrowserContext {
    process: Arc<BrowserProcess>,
    pub(super) id: String,
    is_open: bool,
}

impl WarmPage {
    /// Makes a context with a way out, and a page in it.
    pub(crate) async fn make(
        process: &Arc<BrowserProcess>,
        client: &Client,
        config: &BrowserConfig,
        proxy: Option<Proxy>,
    ) -> Result<Self, BrowserError> {
        let bounds = Bounds {
            connect_timeout: config.connect_timeout,
            connections: config.connections_per_page,
            traffic_bytes: config.traffic_bytes_per_page,
        };
        let to = Destinations::Guarded { client: client.clone(), proxy };
        let egress = Egress::start(to, bounds, process.proxy_listener()).await;
        let egress = egress.map_err(|source| BrowserError::Start { source, log: String::new() })?;
        let context = BrowserContext::create(process, &egress).await?;
        let created = json!({"url": "about:blank", "browserContextId": context.id});
        let target = named(process, "Target.createTarget", created, "targetId").await?;
        let session = process.arrivals().session(&context.id, &target);
        let session = session.ok_or_else(|| BrowserError::lacking("Target.createTarget", "session"))?;
        let watch = PageEvents::new(&target, process.watched().cloned());
        watch.follow_end(process.cdp(), &session);
        let prepared = Self { egress, context, target, session, watch };
        tokio::select! {
            biased;
            // The process of a page that has crashed answers nothing.
            () = prepared.watch.wait_until(|state| state.is_crashed) => return Err(BrowserError::Crashed),
            enabled = prepared.enable(process) => enabled?,
        }
        Ok(prepared)
    }

    /// Asks for what is told of every page. The first answer takes as long as the process of the page to start.
    async fn enable(&self, process: &BrowserProcess) -> Result<(), BrowserError> {
        let deny = json!({"behavior": "deny", "browserContextId": self.context.id});
        // The bodies are of no use here; without room for them Chromium keeps none.
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

    /// Tells whether nothing has happened to it while it was waiting.
    pub(crate) fn is_sound(&self) -> bool {
        !self.watch.lock().is_crashed
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
        let id = named(process, method, params, "browserContextId").await?;
        process.arrivals().register_context(&id);
        Ok(Self { process: Arc::clone(process), id, is_open: true })
    }

    fn disposal(&self) -> Value {
        json!({"browserContextId": self.id})
    }

    /// Puts the context away with its pages, and ends a Chromium that cannot.
    pub(crate) async fn close(mut self) {
        let closing = self.process.cdp().call("", "Target.disposeBrowserContext", self.disposal());
        let closed = timeout(CLOSING, closing).await;
        self.is_open = false;
        if closed.is_err() {
            tracing::warn!("Chromium does not put a page away and is ended");
            self.process.kill();
        }
    }
}

impl Drop for BrowserContext {
    fn drop(&mut self) {
        self.process.arrivals().forget(&self.id);
        if self.is_open {
            self.process.cdp().send_no_reply("", "Target.disposeBrowserContext", self.disposal());
        }
    }
}

/// Makes something in the browser and returns the name that it gets.
async fn named(
    process: &BrowserProcess,
    method: &'static str,
    params: Value,
    name: &str,
) -> Result<String, BrowserError> {
    let mut answer = process.cdp().call("", method, params).await?;
    match answer[name].take() {
        Value::String(name) => Ok(name),
        _ => Err(BrowserError::lacking(method, name)),
    }
}
