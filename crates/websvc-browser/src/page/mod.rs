//! One page, from its context of its own to the end of that.

mod child_targets;
mod content;
mod downloads;
mod events;
mod inject_css;
mod intercept;
mod navigate;
mod script;
mod setup;
mod virtual_time;
mod wait_idle;
mod warm_page;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use websvc_transport::Client;

use crate::config::BrowserConfig;
use crate::connection::CdpError;
use crate::egress::Egress;
use crate::error::BrowserError;
use crate::process::BrowserProcess;
use crate::rendered_page::RenderedPage;
use crate::request::{Device, RenderRequest, Viewport};
use crate::state::{Changes, Session};
use crate::watchdog::Excess;
use crate::{action, screenshot};

pub(crate) use script::Outcome;
pub(crate) use setup::metrics;
pub(crate) use warm_page::{BrowserContext, WarmPage};

use events::PageEvents;

/// How long Chromium may take to put a page away; a process that takes longer is no good any more.
const CLOSING: Duration = Duration::from_secs(5);
/// The part of the time that is kept for taking the content, at most.
const RESERVE: Duration = Duration::from_secs(2);
/// The same when the page's storage is read afterwards.
const RESERVE_TO_KEEP: Duration = Duration::from_secs(5);

/// An open page. Dropping it puts its context away.
pub(crate) struct Page<'a> {
    process: &'a BrowserProcess,
    pub(crate) config: &'a BrowserConfig,
    egress: Egress,
    context: BrowserContext,
    target: String,
    session: String,
    _listening: Listening<'a>,
    watch: PageEvents,
    pub(crate) device: Device,
    pub(crate) viewport: Viewport,
    /// When waiting for more must end.
    pub(crate) soft_deadline: Instant,
    /// When the state must have been taken, if it is wanted.
    keep_deadline: Instant,
    warnings: Mutex<Vec<String>>,
}

/// What became of a page.
pub(crate) struct PageVisit {
    pub(crate) outcome: Result<RenderedPage, BrowserError>,
    /// What is left for whoever puts it away.
    pub(crate) context: Option<BrowserContext>,
    /// Something of the page was answered, be it a redirect.
    pub(crate) has_begun: bool,
}

/// Does what the request says in a page that was made ahead of it, or is made for it, before the deadline.
pub(crate) async fn visit(
    process: &Arc<BrowserProcess>,
    ready: Option<WarmPage>,
    client: &Client,
    config: &BrowserConfig,
    request: &RenderRequest,
) -> PageVisit {
    let prepared = match ready {
        Some(prepared) => Ok(prepared),
        None => {
            let making = WarmPage::make(process, client, config, request.proxy.clone());
            timeout_at(request.deadline, making).await.unwrap_or(Err(BrowserError::Deadline))
        }
    };
    match prepared {
        Ok(prepared) => {
            let page = Page::new(process, prepared, config, request);
            let outcome = page.work_in_time(request).await;
            let has_begun = page.watch.lock().has_begun;
            PageVisit { outcome, context: Some(page.into_context()), has_begun }
        }
        Err(error) => PageVisit { outcome: Err(error), context: None, has_begun: false },
    }
}

impl<'a> Page<'a> {
    fn new(
        process: &'a BrowserProcess,
        prepared: WarmPage,
        config: &'a BrowserConfig,
        request: &RenderRequest,
    ) -> Self {
        let WarmPage { egress, context, target, session, watch } = prepared;
        let left = request.deadline.saturating_duration_since(Instant::now());
        let keeps = request.session.as_ref().is_some_and(|session| session.changes == Changes::Kept);
        let reserve = if keeps { RESERVE_TO_KEEP.min(left / 3) } else { RESERVE.min(left / 5) };
        let soft_deadline = request.deadline - reserve;
        let keep_deadline = request.deadline - reserve / 10;
        let viewport = request.viewport.unwrap_or_else(|| request.device.viewport());
        Self {
            process,
            config,
            egress,
            context,
            target,
            watch,
            device: request.device,
            viewport,
            soft_deadline,
            keep_deadline,
            warnings: Mutex::default(),
            _listening: Listening { process, session: session.clone() },
            session,
        }
    }

    async fn work_in_time(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        timeout_at(request.deadline, self.run(request)).await.unwrap_or(Err(BrowserError::Deadline))
    }

    /// Does the work unless the page ends before.
    async fn run(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        let ended = self.watch.wait_until(|state| {
            state.is_crashed
                || state.excess.is_some()
                || state.forbidden_scheme.is_some()
                || state.refusal.is_some()
        });
        let outcome = tokio::select! {
            biased;
            () = ended => None,
            never = self.check_navigations(request.navigation_rule.as_ref()) => match never {},
            outcome = self.go_through(request) => Some(outcome),
        };
        let state = self.watch.lock();
        if let Some(reason) = &state.refusal {
            return Err(BrowserError::RefusedByRule { reason: reason.clone() });
        }
        if let Some(Excess { limit_bytes, is_shared }) = state.excess {
            return Err(BrowserError::MemoryExceeded { limit_bytes, is_shared });
        }
        match (&state.forbidden_scheme, outcome) {
            (Some(scheme), _) => Err(BrowserError::ForbiddenScheme { scheme: scheme.clone() }),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(BrowserError::Crashed),
        }
    }

    async fn go_through(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        let mut rendered = RenderedPage::default();
        if let Some(session) = &request.session {
            self.restore(&session.state).await?;
            self.watch.begin_anew();
        }
        self.set_up(request).await?;
        self.navigate(&request.url).await?;
        self.wait_until(request).await?;
        if !request.wait_for.is_zero() {
            self.wait(request.wait_for).await;
        }
        self.inject_css(request).await?;
        if !request.steps.is_empty() {
            self.watch.lock().is_acting = true;
            action::run_actions(self, &request.steps, &mut rendered).await?;
            self.inject_css(request).await?;
        }
        let scraped = self.scrape().await?;
        (rendered.url, rendered.html) = (scraped.url, scraped.html);
        if let Some(screenshot) = &request.screenshot {
            rendered.screenshot = Some(screenshot::take(self, screenshot).await?);
        }
        rendered.cookies = self.cookies().await?;
        if let Some(document) = self.watch.lock().document.clone() {
            rendered.status = Some(document.status);
            rendered.headers = document.headers;
            rendered.unverified = document.is_unverified;
        }
        rendered.downloads = self.downloads().await?;
        if let Some(Session { state, changes: Changes::Kept }) = &request.session {
            rendered.state = self.capture(state, self.keep_deadline).await?;
        }
        rendered.refused = self.egress.refused();
        rendered.warnings = self.all_warnings();
        Ok(rendered)
    }

    /// Sends a command to the page.
    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Result<Value, CdpError> {
        self.process.cdp().call(&self.session, method, params).await
    }

    /// Sends a command to the page whose answer nobody needs.
    pub(crate) fn post(&self, method: &'static str, params: Value) {
        self.process.cdp().send_no_reply(&self.session, method, params);
    }

    /// Sends a command to the browser as a whole.
    pub(crate) async fn browser_call(&self, method: &'static str, params: Value) -> Result<Value, CdpError> {
        self.process.cdp().call("", method, params).await
    }

    /// Listens to the page, and answers the requests that it is asked about.
    pub(crate) fn answer_requests(
        &self,
        decide: impl Fn(&Value) -> (&'static str, Value) + Send + Sync + 'static,
    ) {
        let deciding = move |paused: &Value| Some(decide(paused));
        self.watch.follow(self.process.cdp(), &self.session, deciding, None);
    }

    /// Returns the name of the page's main frame.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Returns the name of the page's context.
    pub(crate) fn context_id(&self) -> &str {
        &self.context.id
    }

    /// Returns the origins whose documents the page has shown.
    pub(crate) fn visited(&self) -> BTreeSet<String> {
        self.watch.lock().visited.clone()
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
        if self.watch.lock().is_crowded {
            warnings.push("the page has more workers and frames of other sites than are run".to_owned());
        }
        warnings
    }

    fn into_context(self) -> BrowserContext {
        self.context
    }
}

/// Ends the listening to a page.
struct Listening<'a> {
    process: &'a BrowserProcess,
    session: String,
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.process.cdp().unsubscribe(&self.session);
    }
}
