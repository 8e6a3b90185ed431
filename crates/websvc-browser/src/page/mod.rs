//! One page, from its context of its own to the end of that.

mod content;
mod events;
mod intercept;
mod navigate;
mod script;
mod settle;
mod setup;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};
use websvc_transport::Client;

use crate::config::BrowserConfig;
use crate::connection::CallError;
use crate::egress::{Bounds, Destinations, Egress};
use crate::error::BrowserError;
use crate::process::Process;
use crate::rendered::Rendered;
use crate::request::{Device, PageRequest, Viewport};
use crate::{picture, step};

pub(crate) use script::Outcome;
pub(crate) use setup::metrics;

use events::Watch;

/// How long Chromium may take to put a page away; a process that takes longer is no good any more.
const CLOSING: Duration = Duration::from_secs(5);
/// The part of the time that is kept for taking the content, at most.
const RESERVE: Duration = Duration::from_secs(2);

/// An open page. Dropping it puts its context away.
pub(crate) struct Page<'a> {
    process: &'a Process,
    pub(crate) config: &'a BrowserConfig,
    egress: Egress,
    context: Context<'a>,
    target: String,
    session: String,
    watch: Watch,
    pub(crate) device: Device,
    pub(crate) viewport: Viewport,
    /// When waiting for more must end.
    pub(crate) soft_deadline: Instant,
    warnings: Mutex<Vec<String>>,
}

/// A browser context: cookies, cache, storage and a way out that nobody else has.
struct Context<'a> {
    process: &'a Process,
    id: String,
    is_open: bool,
}

/// Opens a page, does what the request says, and puts it away, before the deadline.
pub(crate) async fn render(
    process: &Process,
    client: &Client,
    config: &BrowserConfig,
    request: &PageRequest,
) -> Result<Rendered, BrowserError> {
    let working = async {
        let page = Page::create(process, client, config, request).await?;
        let outcome = timeout_at(request.deadline, page.work(request)).await;
        page.close().await;
        outcome.unwrap_or(Err(BrowserError::Deadline))
    };
    // Putting away has a time of its own beyond the deadline.
    timeout_at(request.deadline + CLOSING, working).await.unwrap_or(Err(BrowserError::Deadline))
}

impl<'a> Page<'a> {
    async fn create(
        process: &'a Process,
        client: &Client,
        config: &'a BrowserConfig,
        request: &PageRequest,
    ) -> Result<Self, BrowserError> {
        let creating = async {
            let bounds = Bounds {
                connect_timeout: config.connect_timeout,
                connections: config.connections_per_page,
                traffic_bytes: config.traffic_bytes_per_page,
            };
            let to = Destinations::Guarded { client: client.clone(), proxy: request.proxy.clone() };
            let egress = Egress::start(to, bounds).await;
            let egress = egress.map_err(|source| BrowserError::Start { source, log: String::new() })?;
            let context = Context::create(process, &egress).await?;
            let created = json!({"url": "about:blank", "browserContextId": context.id});
            let target = named(process, "Target.createTarget", created, "targetId").await?;
            let attached = json!({"targetId": target, "flatten": true});
            let session = named(process, "Target.attachToTarget", attached, "sessionId").await?;
            Ok::<_, BrowserError>((egress, context, target, session))
        };
        let created = timeout_at(request.deadline, creating).await;
        let (egress, context, target, session) = created.map_err(|_| BrowserError::Deadline)??;
        let left = request.deadline.saturating_duration_since(Instant::now());
        let soft_deadline = request.deadline - RESERVE.min(left / 5);
        let viewport = request.viewport.unwrap_or_else(|| request.device.viewport());
        let watch = Watch::new(&target);
        let device = request.device;
        let warnings = Mutex::default();
        Ok(Self {
            process,
            config,
            egress,
            context,
            target,
            session,
            watch,
            device,
            viewport,
            soft_deadline,
            warnings,
        })
    }

    /// Does the work unless the page ends before.
    async fn work(&self, request: &PageRequest) -> Result<Rendered, BrowserError> {
        let ended = self.watch.until(|state| state.is_crashed || state.forbidden_scheme.is_some());
        let outcome = tokio::select! {
            biased;
            () = ended => None,
            outcome = self.go_through(request) => Some(outcome),
        };
        let state = self.watch.lock();
        match (&state.forbidden_scheme, outcome) {
            (Some(scheme), _) => Err(BrowserError::ForbiddenScheme { scheme: scheme.clone() }),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(BrowserError::Crashed),
        }
    }

    async fn go_through(&self, request: &PageRequest) -> Result<Rendered, BrowserError> {
        let mut rendered = Rendered::default();
        self.set_up(request).await?;
        self.navigate(&request.url).await?;
        self.wait_until(request.wait_until).await?;
        if !request.wait_for.is_zero() {
            self.wait(request.wait_for).await;
        }
        step::run_all(self, &request.steps, &mut rendered).await?;
        let scraped = self.scrape().await?;
        (rendered.url, rendered.html) = (scraped.url, scraped.html);
        if let Some(screenshot) = &request.screenshot {
            rendered.screenshot = Some(picture::take(self, screenshot).await?);
        }
        rendered.cookies = self.cookies().await?;
        if let Some(document) = self.watch.lock().document.clone() {
            rendered.status = Some(document.status);
            rendered.headers = document.headers;
            rendered.unverified = document.is_unverified;
        }
        rendered.refused = self.egress.refused();
        rendered.warnings = self.all_warnings();
        Ok(rendered)
    }

    /// Sends a command to the page.
    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Result<Value, CallError> {
        self.process.cdp().call(&self.session, method, params).await
    }

    /// Sends a command to the page whose answer nobody needs.
    pub(crate) fn post(&self, method: &'static str, params: Value) {
        self.process.cdp().post(&self.session, method, params);
    }

    /// Notes what went wrong without failing.
    pub(crate) fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    fn all_warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if self.egress.is_over_budget() {
            let limit = self.config.traffic_bytes_per_page;
            warnings.push(format!("the page sent and received more than {limit} bytes; the rest is missing"));
        }
        warnings
    }

    async fn close(mut self) {
        self.process.cdp().forget(&self.session);
        self.context.close().await;
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        self.process.cdp().forget(&self.session);
    }
}

impl<'a> Context<'a> {
    async fn create(process: &'a Process, egress: &Egress) -> Result<Self, BrowserError> {
        let method = "Target.createBrowserContext";
        let params = json!({
            "disposeOnDetach": true,
            "proxyServer": egress.server(),
            "proxyBypassList": "<-loopback>",
        });
        let id = named(process, method, params, "browserContextId").await?;
        Ok(Self { process, id, is_open: true })
    }

    fn disposal(&self) -> Value {
        json!({"browserContextId": self.id})
    }

    async fn close(&mut self) {
        let closing = self.process.cdp().call("", "Target.disposeBrowserContext", self.disposal());
        let closed = timeout(CLOSING, closing).await;
        self.is_open = false;
        if closed.is_err() {
            tracing::warn!("Chromium does not put a page away and is ended");
            self.process.kill();
        }
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.process.cdp().post("", "Target.disposeBrowserContext", self.disposal());
        }
    }
}

/// Makes something in the browser and returns the name that it gets.
async fn named(
    process: &Process,
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
