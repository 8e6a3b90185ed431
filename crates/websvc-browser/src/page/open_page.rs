//! An open page, and how it is spoken to.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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

/// The part of the time that is kept for taking the content, at most.
const RESERVE: Duration = Duration::from_secs(2);
/// The same when the page's storage is read afterwards.
const RESERVE_TO_KEEP: Duration = Duration::from_secs(5);

/// An open page. Dropping it puts its context away.
pub(crate) struct Page<'a> {
    pub(super) process: &'a BrowserProcess,
    pub(crate) config: &'a BrowserConfig,
    pub(super) egress: Egress,
    pub(super) context: BrowserContext,
    pub(super) target: String,
    pub(super) session: String,
    _listening: Listening<'a>,
    pub(super) watch: PageEvents,
    pub(crate) device: Device,
    pub(crate) viewport: Viewport,
    /// When waiting for more must end.
    pub(crate) soft_deadline: Instant,
    /// When the state must have been taken, if it is wanted.
    pub(super) keep_deadline: Instant,
    pub(super) warnings: Mutex<Vec<String>>,
}

impl<'a> Page<'a> {
    pub(super) fn new(
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
    pub(super) fn answer_requests(&self, decide: impl Fn(&Value) -> Command + Send + Sync + 'static) {
        let deciding = move |paused: &Value| Some(decide(paused));
        self.watch.follow(self.process.cdp(), &self.session, deciding, |_, _| {});
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

    pub(super) fn all_warnings(&self) -> Vec<String> {
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

    pub(super) fn into_context(self) -> BrowserContext {
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
