//! The events of a page: they update its state and wake the tasks that wait for a change.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::charset::decide_response;
use super::command::Command;
use super::intercept::{FAIL_REQUEST, Interception, fail_command};
use super::page_state::{CRASHED_EVENT, END_EVENTS, PageState, PendingNavigation};
use crate::connection::{Cdp, CdpEvent};
use crate::watchdog::MonitoredBrowser;

/// The maximum number of navigations that wait for the navigation rule. Hostile pages start more, which fail.
const MAX_PENDING_NAVIGATIONS: usize = 100;

/// The state of a page, updated by its events. Cheap to clone.
#[derive(Clone)]
pub(super) struct PageEvents {
    state: Arc<Mutex<PageState>>,
    /// The memory monitor of the browser; `None` for a remote browser.
    monitor: Option<Arc<MonitoredBrowser>>,
    /// The number of changes so far.
    changes: watch::Sender<u64>,
}

impl PageEvents {
    pub(super) fn new(frame: &str, monitor: Option<Arc<MonitoredBrowser>>) -> Self {
        let state = Arc::new(Mutex::new(PageState::new(frame)));
        Self { state, monitor, changes: watch::Sender::new(0) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, PageState> {
        self.state.lock()
    }

    /// Waits until the state satisfies a condition.
    pub(super) async fn wait_until(&self, condition: impl Fn(&PageState) -> bool) {
        let mut changes = self.changes.subscribe();
        while !condition(&self.lock()) {
            // Cannot fail: `self` owns the sender.
            let _ = changes.changed().await;
        }
    }

    /// Subscribes a page that no request uses yet: only its end is of interest.
    pub(super) fn subscribe_end(&self, cdp: &Cdp, session: &str) {
        let events = self.clone();
        cdp.subscribe(session, move |event| {
            let is_end = match &event {
                CdpEvent::Lost => true,
                CdpEvent::Event { method, .. } => END_EVENTS.contains(method),
            };
            if is_end {
                events.lock().is_crashed = true;
                events.notify();
            }
        });
    }

    /// Subscribes to all events of a session.
    ///
    /// `decide` returns the command for a paused request, or `None` if another task sends it later. `on_target` handles
    /// the `Target.*` events.
    pub(super) fn subscribe(
        &self,
        cdp: &Cdp,
        session: &str,
        decide: impl Fn(&Value) -> Option<Command> + Send + Sync + 'static,
        on_target: impl Fn(&str, &Value) + Send + Sync + 'static,
    ) {
        let events = self.clone();
        let (commands, name) = (cdp.clone(), session.to_owned());
        cdp.subscribe(session, move |event| {
            match event {
                CdpEvent::Lost => events.lock().is_crashed = true,
                CdpEvent::Event { method, params } => {
                    let params = params.parse();
                    match method {
                        "Page.javascriptDialogOpening" => events.answer_dialog(&commands, &name, &params),
                        "Fetch.requestPaused" => {
                            if let Some(Command { method, params }) = decide(&params) {
                                commands.send_no_reply(&name, method, params);
                            }
                        }
                        _ if method.starts_with("Target.") => on_target(method, &params),
                        _ if method.starts_with("Network.") => {
                            events.lock().on_network_event(&name, method, &params);
                        }
                        _ => {
                            if method == CRASHED_EVENT {
                                events.record_excess();
                            }
                            events.lock().on_page_event(method, &params);
                        }
                    }
                }
            }
            events.notify();
        });
    }

    /// Answers a dialog, unless a client controls the session.
    pub(super) fn answer_dialog(&self, commands: &Cdp, session: &str, params: &Value) {
        if self.lock().clients.load(Ordering::Acquire) > 0 {
            return;
        }
        // Leaving a page is always allowed; `confirm` and `prompt` are dismissed.
        let accept = matches!(params["type"].as_str(), Some("alert" | "beforeunload"));
        commands.send_no_reply(session, "Page.handleJavaScriptDialog", json!({"accept": accept}));
    }

    /// Returns the command for a paused request of the page; `None` if the navigation rule is checked first. `tab` is the
    /// main frame of a window that the page opened.
    pub(super) fn decide(
        &self,
        interception: &Interception,
        paused: &Value,
        session: &str,
        tab: Option<&str>,
    ) -> Option<Command> {
        let decided = {
            let mut state = self.lock();
            let frame = state.frame().to_owned();
            decide_response(paused, &frame, state.charset.as_mut())
        };
        if let Some(decided) = decided {
            return decided;
        }
        let resume = interception.decide(paused);
        if resume.method == FAIL_REQUEST {
            // A file of this machine, which ends a session.
            self.record_tab_url(paused["request"]["url"].as_str().unwrap_or_default());
            return Some(resume);
        }
        let mut state = self.lock();
        let url = interception.navigation_to_check(paused, tab.unwrap_or(state.frame()));
        let Some(url) = url else { return Some(resume) };
        let request_id = paused["requestId"].clone();
        if state.pending_navigations.len() >= MAX_PENDING_NAVIGATIONS {
            return Some(fail_command(&request_id));
        }
        state.pending_navigations.push_back(PendingNavigation {
            url,
            session: session.to_owned(),
            request_id,
            resume,
        });
        None
    }

    /// Records that the navigation rule of the request refused a navigation, which ends the page.
    pub(super) fn refuse(&self, reason: String) {
        self.lock().refusal.get_or_insert(reason);
        self.notify();
    }

    /// Removes the traces of earlier documents, before the page navigates to the URL of its request.
    pub(super) fn reset_navigation(&self) {
        let mut state = self.lock();
        (state.document, state.previous_document, state.document_url) = (None, None, None);
        state.has_response = false;
    }

    /// Handles a network event of a child target.
    pub(super) fn on_child_network_event(&self, session: &str, method: &str, params: &Value) {
        self.lock().on_network_event(session, method, params);
        self.notify();
    }

    /// Records the origin of a document that a window of the page has shown.
    pub(super) fn record_tab_visit(&self, params: &Value) {
        self.lock().record_visit(params);
    }

    /// Records the URL of a document that a tab of the session requests or shows.
    pub(super) fn record_tab_url(&self, url: &str) {
        self.lock().record_tab_url(url);
        self.notify();
    }

    /// Records that a process of a child target ended.
    pub(super) fn record_child_crash(&self) {
        self.record_excess();
        self.notify();
    }

    /// Removes the requests in flight of a child target that has ended.
    pub(super) fn drop_child_requests(&self, session: &str) {
        self.lock().in_flight.retain(|_, reported_by| reported_by != session);
        self.notify();
    }

    /// Records the exceeded limit, which ends the page, if the watchdog killed one of its processes.
    fn record_excess(&self) {
        if let Some(excess) = self.monitor.as_ref().and_then(|monitor| monitor.take_excess()) {
            self.lock().excess.get_or_insert(excess);
        }
    }

    pub(super) fn notify(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}
