//! What a page's events say: what is loading, what was answered, what ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::command::Command;
use super::intercept::{FAIL, Interception, failure};
use super::page_state::{CRASHED, ENDS, PendingNavigation, State};
use crate::connection::{Cdp, CdpEvent};
use crate::watchdog::Watched;

/// Documents that wait for a decision; a hostile page asks for more.
const MAX_TO_ASK: usize = 100;

/// What is known of a page. Cheap to clone.
#[derive(Clone)]
pub(super) struct PageEvents {
    state: Arc<Mutex<State>>,
    /// Memory limit of the processes; `None` for a browser that runs elsewhere.
    memory: Option<Arc<Watched>>,
    changes: watch::Sender<u64>,
}

impl PageEvents {
    pub(super) fn new(frame: &str, memory: Option<Arc<Watched>>) -> Self {
        Self { state: Arc::new(Mutex::new(State::new(frame))), memory, changes: watch::Sender::new(0) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is true, as the events tell it.
    pub(super) async fn wait_until(&self, is_true: impl Fn(&State) -> bool) {
        let mut changes = self.changes.subscribe();
        while !is_true(&self.lock()) {
            // The sender lives in this very value.
            let _ = changes.changed().await;
        }
    }

    /// Listens only for the end of a page that nobody uses yet.
    pub(super) fn follow_end(&self, cdp: &Cdp, session: &str) {
        let watch = self.clone();
        cdp.subscribe(session, move |notice| {
            let is_end = match &notice {
                CdpEvent::Lost => true,
                CdpEvent::Event { method, .. } => ENDS.contains(&method.as_str()),
            };
            if is_end {
                watch.lock().is_crashed = true;
                watch.changes.send_modify(|count| *count += 1);
            }
        });
    }

    /// Takes note that a process of the page is gone, and ends the page when that was for its memory.
    fn lose_process(&self) {
        if let Some(excess) = self.memory.as_ref().and_then(|memory| memory.claim()) {
            self.lock().excess.get_or_insert(excess);
        }
    }

    /// Takes note that a part of the page has ended.
    pub(super) fn lose_part(&self) {
        self.lose_process();
        self.changes.send_modify(|count| *count += 1);
    }

    /// Notes that the rule of the request refused where the page went.
    pub(super) fn refuse(&self, reason: String) {
        self.lock().refusal.get_or_insert(reason);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Listens to a session, answering what must be answered at once.
    /// `decide` gives the command that answers a paused request, unless that is sent later by somebody else.
    pub(super) fn follow(
        &self,
        cdp: &Cdp,
        session: &str,
        decide: impl Fn(&Value) -> Option<Command> + Send + Sync + 'static,
        on_target: impl Fn(&str, &Value) + Send + Sync + 'static,
    ) {
        let watch = self.clone();
        let (answers, name) = (cdp.clone(), session.to_owned());
        cdp.subscribe(session, move |notice| {
            match notice {
                CdpEvent::Lost => watch.lock().is_crashed = true,
                CdpEvent::Event { method, params } => match method.as_str() {
                    "Page.javascriptDialogOpening" => {
                        watch.lock().dialogs += 1;
                        // A page that asks whether it may be left may be left; all other questions are denied.
                        let accept = matches!(params["type"].as_str(), Some("alert" | "beforeunload"));
                        answers.send_no_reply(
                            &name,
                            "Page.handleJavaScriptDialog",
                            json!({"accept": accept}),
                        );
                    }
                    "Fetch.requestPaused" => {
                        if let Some((method, answer)) = decide(&params) {
                            watch.asked(method);
                            answers.send_no_reply(&name, method, answer);
                        }
                    }
                    _ if method.starts_with("Target.") => on_target(&method, &params),
                    _ if method.starts_with("Network.") => watch.lock().traffic(&name, &method, &params),
                    _ => {
                        if method == CRASHED {
                            watch.lose_process();
                        }
                        watch.lock().apply(&method, &params);
                    }
                },
            }
            watch.changes.send_modify(|count| *count += 1);
        });
    }

    /// Decides on a paused request of the page; `None` when the rule of the request is asked first.
    pub(super) fn decide(&self, interception: &Interception, paused: &Value) -> Option<Command> {
        let go_on = interception.decide(paused);
        if go_on.0 == FAIL {
            return Some(go_on);
        }
        let mut state = self.lock();
        let Some(url) = interception.to_ask(paused, state.frame()) else { return Some(go_on) };
        let id = paused["requestId"].clone();
        if state.to_ask.len() >= MAX_TO_ASK {
            return Some(failure(&id));
        }
        state.to_ask.push_back(PendingNavigation { url, id, go_on });
        None
    }

    /// Notes how a request that was asked about was answered.
    pub(super) fn asked(&self, answer: &str) {
        if answer == FAIL {
            self.lock().blocked += 1;
        }
    }

    /// Forgets where the page was before it goes where the request wants it.
    pub(super) fn begin_anew(&self) {
        let mut state = self.lock();
        (state.document, state.left, state.document_url) = (None, None, None);
        state.has_begun = false;
    }

    /// Takes in what a part of the page tells of its requests.
    pub(super) fn traffic(&self, session: &str, method: &str, params: &Value) {
        self.lock().traffic(session, method, params);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Waits no more for what a part of the page was loading: it has ended.
    pub(super) fn drop_child_requests(&self, session: &str) {
        self.lock().in_flight.retain(|_, teller| teller != session);
        self.changes.send_modify(|count| *count += 1);
    }
}
