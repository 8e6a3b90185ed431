//! An open page, and the commands to it.

use std::collections::BTreeSet;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;

use super::command::Command;
use super::events::PageEvents;
use super::warm_page::{BrowserContext, WarmPage};
use crate::config::BrowserConfig;
use crate::connection::CdpError;
use crate::egress::Egress;
use crate::process::BrowserProcess;
use crate::request::{Device, RenderRequest, Viewport};
use crate::state::Changes;

/// The maximum part of the time that is reserved for reading the content.
const CONTENT_RESERVE: Duration = Duration::from_secs(2);
/// The maximum part of the time that is reserved if the storage of the page is also read.
const STATE_RESERVE: Duration = Duration::from_secs(5);

/// An open page. Dropping it disposes of its browser context.
pub(crate) struct Page<'a> {
    pub(super) process: &'a BrowserProcess,
    pub(crate) config: &'a BrowserConfig,
    pub(super) egress: Egress,
    pub(super) context: BrowserContext,
    pub(super) target: String,
    pub(super) session: String,
    _subscription: Subscription<'a>,
    pub(super) events: PageEvents,
    pub(crate) device: Device,
    pub(crate) viewport: Viewport,
    /// The time when waiting for the page ends, so that its content can be read before the deadline.
    pub(crate) soft_deadline: Instant,
    /// The time by which the state must have been captured, if the request wants it.
    pub(super) capture_deadline: Instant,
    /// The maximum number of pages of its context; `None` if the windows that it opens are closed.
    pub(super) max_tabs: Option<usize>,
    warnings: Mutex<Vec<String>>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(
        process: &'a BrowserProcess,
        warm_page: WarmPage,
        config: &'a BrowserConfig,
        request: &RenderRequest,
    ) -> Self {
        let WarmPage { egress, context, target, session, events } = warm_page;
        // The page is still empty, so it has no connections yet.
        egress.allow(request.hosts.clone());
        let remaining = request.deadline.saturating_duration_since(Instant::now());
        let captures = request.session.as_ref().is_some_and(|session| session.changes == Changes::Captured);
        let reserve =
            if captures { STATE_RESERVE.min(remaining / 3) } else { CONTENT_RESERVE.min(remaining / 5) };
        let soft_deadline = request.deadline - reserve;
        let capture_deadline = request.deadline - reserve / 10;
        let viewport = request.viewport.unwrap_or_else(|| request.device.viewport());
        Self {
            process,
            config,
            egress,
            context,
            target,
            events,
            device: request.device,
            viewport,
            soft_deadline,
            capture_deadline,
            max_tabs: None,
            warnings: Mutex::default(),
            _subscription: Subscription { process, session: session.clone() },
            session,
        }
    }

    /// Sends a command to the page and returns its result.
    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Result<Value, CdpError> {
        self.process.cdp().call(&self.session, method, params).await
    }

    /// Sends a command to the page without waiting for its result.
    pub(crate) fn send_no_reply(&self, method: &'static str, params: Value) {
        self.process.cdp().send_no_reply(&self.session, method, params);
    }

    /// Sends a command to the browser itself and returns its result.
    pub(crate) async fn call_browser(&self, method: &'static str, params: Value) -> Result<Value, CdpError> {
        self.process.cdp().call("", method, params).await
    }

    /// Subscribes to the events of the page; `decide` returns the command for each paused request.
    pub(super) fn intercept_requests(&self, decide: impl Fn(&Value) -> Command + Send + Sync + 'static) {
        let decide = move |paused: &Value| Some(decide(paused));
        self.events.subscribe(self.process.cdp(), &self.session, decide, |_, _| {});
    }

    /// Returns the ID of the page's target, which is also that of its main frame.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Returns the ID of the page's browser context.
    pub(crate) fn context_id(&self) -> &str {
        &self.context.id
    }

    /// Returns the origins of the documents that the page has shown.
    pub(crate) fn visited(&self) -> BTreeSet<String> {
        self.events.lock().visited.clone()
    }

    /// Adds a warning for the caller, once.
    pub(crate) fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    pub(crate) fn collect_warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.lock().clone();
        if self.egress.is_over_budget() {
            let limit = self.config.traffic_bytes_per_page;
            warnings.push(format!("the page sent and received more than {limit} bytes; the rest is missing"));
        }
        if self.events.lock().has_skipped_targets {
            warnings.push("some workers and frames of the page were not run: it has too many".to_owned());
        }
        warnings
    }

    pub(crate) fn into_context(self) -> BrowserContext {
        self.context
    }

    pub(super) fn into_parts(self) -> (Egress, BrowserContext) {
        (self.egress, self.context)
    }
}

/// A subscription to the events of a page, which ends when it is dropped.
struct Subscription<'a> {
    process: &'a BrowserProcess,
    session: String,
}

impl Drop for Subscription<'_> {
    fn drop(&mut self) {
        self.process.cdp().unsubscribe(&self.session);
    }
}
