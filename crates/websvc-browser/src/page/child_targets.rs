//! The parts of a page that Chromium runs apart from it: workers, and frames of other sites.
//!
//! Each of them has a session of its own and waits until it has been told what the page was told.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::command::Command;
use super::events::PageEvents;
use super::intercept::Interception;
use super::page_state::CRASHED;
use crate::connection::{Cdp, CdpEvent};

/// Parts that are run; a hostile page makes more.
const MAX_CHILDREN: usize = 100;

/// What every part of a page is told, by its kind.
pub(super) struct TargetSetup {
    /// Who looks at the page, with which languages.
    pub(super) identity: Value,
    /// Commands for frames and for workers: time zone and formats.
    pub(super) everywhere: Vec<Command>,
    /// Commands for frames only: what the page itself is told, as far as it is not of the whole window.
    pub(super) frames: Vec<Command>,
}

/// The parts of one page. Cheap to clone.
#[derive(Clone)]
pub(super) struct ChildTargets(Arc<ChildState>);

struct ChildState {
    cdp: Cdp,
    watch: PageEvents,
    interception: Arc<Interception>,
    orders: TargetSetup,
    sessions: Mutex<HashSet<String>>,
}

/// Parts that have nothing of the window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Frame,
    /// Its requests are the page's.
    Worker,
    /// A shared worker or a service worker, which makes requests of its own.
    Apart,
}

impl Kind {
    fn named(name: &str) -> Self {
        match name {
            "iframe" => Self::Frame,
            "shared_worker" | "service_worker" => Self::Apart,
            _ => Self::Worker,
        }
    }
}

/// Returns the command that makes the parts of a page, or of a part of it, wait to be told.
pub(super) fn attaching() -> Command {
    let params = json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": true,
        "flatten": true,
        // Workers that can be shared arrive at the browser itself.
        "filter": [{"type": "iframe"}, {"type": "worker"}],
    });
    ("Target.setAutoAttach", params)
}

impl ChildTargets {
    pub(super) fn new(
        cdp: Cdp,
        watch: PageEvents,
        interception: Arc<Interception>,
        orders: TargetSetup,
    ) -> Self {
        Self(Arc::new(ChildState { cdp, watch, interception, orders, sessions: Mutex::default() }))
    }

    /// Takes in what arrived at the page itself; other events are none of its business.
    pub(super) fn hear(&self, method: &str, params: &Value) {
        match method {
            "Target.attachedToTarget" => {
                let session = params["sessionId"].as_str().unwrap_or_default();
                self.tell(session, params["targetInfo"]["type"].as_str().unwrap_or_default());
            }
            "Target.detachedFromTarget" => self.forget(params["sessionId"].as_str().unwrap_or_default()),
            _ => {}
        }
    }

    /// Tells a part what it must know and lets it run.
    pub(super) fn tell(&self, session: &str, kind: &str) {
        let family = &*self.0;
        if !family.admit(session) {
            family.watch.lock().is_crowded = true;
            return;
        }
        // What it is about to do cannot be seen as timers and requests of the page can.
        family.watch.lock().works_elsewhere = true;
        let kind = Kind::named(kind);
        self.follow(session, kind);
        let orders = &family.orders;
        let mut commands = vec![("Emulation.setUserAgentOverride", orders.identity.clone())];
        if kind != Kind::Apart {
            commands.push(("Network.enable", json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})));
        }
        if kind == Kind::Frame {
            commands.push(("Page.enable", json!({})));
            commands.extend(orders.frames.iter().cloned());
        }
        // In a process that knows them already these are refused, which is as good.
        commands.extend(orders.everywhere.iter().cloned());
        if kind == Kind::Apart {
            // It has taken its name from the process before it could be told another one.
            commands.push(("Runtime.evaluate", json!({"expression": naming(&orders.identity)})));
        }
        if kind != Kind::Worker
            && let Some(patterns) = family.interception.patterns()
        {
            commands.push(("Fetch.enable", json!({"patterns": patterns})));
        }
        commands.push(attaching());
        commands.push(("Runtime.runIfWaitingForDebugger", json!({})));
        for (method, params) in commands {
            family.cdp.send_no_reply(session, method, params);
        }
    }

    fn follow(&self, session: &str, kind: Kind) {
        // The listener must not keep the family alive: the family's connection keeps the listener.
        let family = Arc::downgrade(&self.0);
        let name = session.to_owned();
        self.0.cdp.subscribe(session, move |notice| {
            let CdpEvent::Event { method, params } = notice else { return };
            let Some(family) = family.upgrade() else { return };
            match method.as_str() {
                "Fetch.requestPaused" => {
                    let (method, answer) = family.interception.decide(&params);
                    family.watch.asked(method);
                    family.cdp.send_no_reply(&name, method, answer);
                }
                // Workers end like this when they are done, and share the process of their frame.
                CRASHED if kind != Kind::Worker => family.watch.lose_part(),
                _ if method.starts_with("Target.") => Self(family).hear(&method, &params),
                _ if kind != Kind::Apart => family.watch.traffic(&name, &method, &params),
                _ => {}
            }
        });
    }

    fn forget(&self, session: &str) {
        self.0.lock().remove(session);
        self.0.cdp.unsubscribe(session);
        self.0.watch.drop_child_requests(session);
    }
}

impl ChildState {
    fn admit(&self, session: &str) -> bool {
        let mut sessions = self.lock();
        sessions.len() < MAX_CHILDREN && sessions.insert(session.to_owned())
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ChildState {
    fn drop(&mut self) {
        let sessions = self.sessions.get_mut().unwrap_or_else(PoisonError::into_inner);
        for session in sessions.drain() {
            self.cdp.unsubscribe(&session);
        }
    }
}

/// Returns the script that gives a worker the page's name for the browser.
fn naming(identity: &Value) -> String {
    let text = &identity["userAgent"];
    format!(
        "for (const [name, value] of [['userAgent', {text}], ['appVersion', {text}.replace('Mozilla/', '')]]) \
         Object.defineProperty(WorkerNavigator.prototype, name, \
         {{get: () => value, configurable: true, enumerable: true}})"
    )
}
