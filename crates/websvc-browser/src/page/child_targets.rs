//! The child targets of a page: workers, and frames of other sites that Chromium runs in processes of their own.
//!
//! Each of them has a CDP session of its own. Chromium starts it paused; it runs once it has the settings of its page.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};

use super::command::Command;
use super::events::PageEvents;
use super::intercept::Interception;
use super::page_state::CRASHED_EVENT;
use crate::connection::{Cdp, CdpEvent, Response};

/// The maximum number of child targets of a page. Hostile pages create more, which stay paused.
const MAX_CHILDREN: usize = 100;

/// The settings that every child target gets before it runs.
pub(super) struct TargetSetup {
    /// Parameters of `Emulation.setUserAgentOverride`.
    pub(super) user_agent: Value,
    /// Commands for frames and workers: time zone and formats.
    pub(super) all_targets: Vec<Command>,
    /// Commands for frames only: the settings of the page that do not apply to the whole window.
    pub(super) frames: Vec<Command>,
}

/// The child targets of one page. Cheap to clone.
#[derive(Clone)]
pub(super) struct ChildTargets(Arc<ChildState>);

struct ChildState {
    cdp: Cdp,
    events: PageEvents,
    interception: Arc<Interception>,
    setup: TargetSetup,
    /// The sessions, each with that of the target which contains it; empty for those of the browser.
    sessions: Mutex<HashMap<String, String>>,
}

/// The kind of a child target.
#[derive(Clone, PartialEq, Eq)]
enum Kind {
    Frame,
    /// A window that the page opened, with the ID of its main frame.
    Tab(String),
    /// A dedicated worker. Its requests are those of the page.
    Worker,
    /// A shared worker or a service worker, which sends requests of its own.
    SharedWorker,
}

impl Kind {
    /// Reads `TargetInfo.type`.
    fn from_cdp(name: &str) -> Self {
        match name {
            "iframe" => Self::Frame,
            "shared_worker" | "service_worker" => Self::SharedWorker,
            _ => Self::Worker,
        }
    }
}

/// Returns the command that makes a page or a frame behave as if its window had the focus.
pub(super) fn focus_command() -> Command {
    Command::new("Emulation.setFocusEmulationEnabled", json!({"enabled": true}))
}

/// Returns the command that attaches to the child targets of a page or of a child target, and starts them paused.
pub(super) fn auto_attach() -> Command {
    let params = json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": true,
        "flatten": true,
        // Shared workers and service workers are reported to the session of the browser.
        "filter": [{"type": "iframe"}, {"type": "worker"}],
    });
    Command::new("Target.setAutoAttach", params)
}

impl ChildTargets {
    pub(super) fn new(
        cdp: Cdp,
        events: PageEvents,
        interception: Arc<Interception>,
        setup: TargetSetup,
    ) -> Self {
        Self(Arc::new(ChildState { cdp, events, interception, setup, sessions: Mutex::default() }))
    }

    /// Handles a `Target.*` event of the session of a page or of a child target; ignores other events.
    pub(super) fn on_target_event(&self, parent: &str, method: &str, params: &Value) {
        match method {
            "Target.attachedToTarget" => {
                let session = params["sessionId"].as_str().unwrap_or_default();
                let kind = params["targetInfo"]["type"].as_str().unwrap_or_default();
                self.set_up_kind(session, parent, &Kind::from_cdp(kind));
            }
            "Target.detachedFromTarget" => self.remove(params["sessionId"].as_str().unwrap_or_default()),
            _ => {}
        }
    }

    /// Sends the settings to a new child target and lets it run.
    pub(super) fn set_up(&self, session: &str, kind: &str) {
        self.set_up_kind(session, "", &Kind::from_cdp(kind));
    }

    /// Sends the settings to a new window of the page and lets it run.
    pub(super) fn set_up_tab(&self, session: &str, target: &str) {
        self.set_up_kind(session, "", &Kind::Tab(target.to_owned()));
    }

    fn set_up_kind(&self, session: &str, parent: &str, kind: &Kind) {
        let state = &*self.0;
        if !state.add(session, parent) {
            state.events.lock().has_skipped_targets = true;
            return;
        }
        // Its pending work is not visible, unlike timers and requests of the page.
        state.events.lock().has_background_work = true;
        self.subscribe(session, kind.clone());
        let setup = &state.setup;
        let mut commands = vec![Command::new("Emulation.setUserAgentOverride", setup.user_agent.clone())];
        if *kind != Kind::SharedWorker {
            let network = json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0});
            commands.push(Command::new("Network.enable", network));
        }
        if matches!(kind, Kind::Frame | Kind::Tab(_)) {
            commands.push(Command::new("Page.enable", json!({})));
            if *kind == Kind::Frame {
                commands.push(focus_command());
            }
            commands.extend(setup.frames.iter().cloned());
        }
        // A process that has these settings already refuses them, which does no harm.
        commands.extend(setup.all_targets.iter().cloned());
        if *kind == Kind::SharedWorker {
            // It copied the user agent of its process before the override.
            let script = json!({"expression": user_agent_script(&setup.user_agent)});
            commands.push(Command::new("Runtime.evaluate", script));
        }
        if *kind != Kind::Worker
            && let Some(patterns) = state.interception.patterns()
        {
            commands.push(Command::new("Fetch.enable", json!({"patterns": patterns})));
        }
        commands.push(auto_attach());
        for Command { method, params } in commands {
            state.cdp.send_no_reply(session, method, params);
        }
        self.resume(session, kind);
    }

    /// Lets a target run.
    fn resume(&self, session: &str, kind: &Kind) {
        const RESUME: &str = "Runtime.runIfWaitingForDebugger";

        let cdp = &self.0.cdp;
        if !matches!(kind, Kind::Tab(_)) {
            return cdp.send_no_reply(session, RESUME, json!({}));
        }
        // The process of a new window of the whole Chromium often crashes if it gets this before it runs.
        let (state, name) = (Arc::downgrade(&self.0), session.to_owned());
        let reply = Box::new(move |_: Option<Response<'_>>| {
            if let Some(state) = state.upgrade() {
                let Command { method, params } = focus_command();
                state.cdp.send_no_reply(&name, method, params);
            }
        });
        if !cdp.forward(session, RESUME, "{}", None, reply) {
            // Ends the connection, unless it has ended.
            cdp.send_no_reply(session, RESUME, json!({}));
        }
    }

    fn subscribe(&self, session: &str, kind: Kind) {
        // A weak reference: the connection owns the listener, and the state owns a handle to the connection.
        let state = Arc::downgrade(&self.0);
        let name = session.to_owned();
        self.0.cdp.subscribe(session, move |event| {
            let CdpEvent::Event { method, params } = event else { return };
            let Some(state) = state.upgrade() else { return };
            let params = params.parse();
            match method {
                "Fetch.requestPaused" => {
                    // Only the main frame of a window is subject to the navigation rule.
                    let tab = if let Kind::Tab(frame) = &kind { frame.as_str() } else { "" };
                    let decided = state.events.decide(&state.interception, &params, &name, Some(tab));
                    if let Some(Command { method, params }) = decided {
                        state.cdp.send_no_reply(&name, method, params);
                    }
                }
                "Page.javascriptDialogOpening" => state.events.answer_dialog(&state.cdp, &name, &params),
                "Page.frameNavigated" if matches!(kind, Kind::Tab(_)) => {
                    state.events.record_tab_visit(&params);
                }
                "Page.frameStartedNavigating" => {
                    if matches!(&kind, Kind::Tab(frame) if params["frameId"] == frame.as_str()) {
                        state.events.record_tab_url(params["url"].as_str().unwrap_or_default());
                    }
                }
                // Dedicated workers send this event when they finish, and share the process of their frame.
                CRASHED_EVENT if kind != Kind::Worker => state.events.record_child_crash(),
                _ if method.starts_with("Target.") => Self(state).on_target_event(&name, method, &params),
                _ if kind != Kind::SharedWorker => {
                    state.events.on_child_network_event(&name, method, &params);
                }
                _ => {}
            }
        });
    }

    /// Removes a session that has ended, and those of the targets that its target contained.
    pub(super) fn remove(&self, session: &str) {
        if self.0.lock().remove(session).is_none() {
            return;
        }
        self.0.cdp.unsubscribe(session);
        self.0.events.drop_child_requests(session);
        let contained: Vec<String> = {
            let sessions = self.0.lock();
            let contained = sessions.iter().filter(|(_, parent)| *parent == session);
            contained.map(|(child, _)| child.clone()).collect()
        };
        for child in contained {
            self.remove(&child);
        }
    }
}

impl ChildState {
    /// Adds a session; returns false if there are too many.
    fn add(&self, session: &str, parent: &str) -> bool {
        let mut sessions = self.lock();
        sessions.len() < MAX_CHILDREN && sessions.insert(session.to_owned(), parent.to_owned()).is_none()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.sessions.lock()
    }
}

impl Drop for ChildState {
    fn drop(&mut self) {
        let sessions = self.sessions.get_mut();
        for (session, _) in sessions.drain() {
            self.cdp.unsubscribe(&session);
        }
    }
}

/// Returns the script that overrides the user agent inside a worker.
fn user_agent_script(user_agent: &Value) -> String {
    let text = &user_agent["userAgent"];
    format!(
        "for (const [name, value] of [['userAgent', {text}], ['appVersion', {text}.replace('Mozilla/', '')]]) \
         Object.defineProperty(WorkerNavigator.prototype, name, \
         {{get: () => value, configurable: true, enumerable: true}})"
    )
}
