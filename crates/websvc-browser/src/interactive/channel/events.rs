//! The events for a client: those of its protocol sessions, without targets that it does not see.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ChannelState, MAX_SESSIONS};
use crate::connection::{CdpEvent, Json};
use crate::interactive::visibility::{Reporter, Visibility};

impl ChannelState {
    /// Sends the events of a protocol session to the client.
    pub(super) fn listen(self: &Arc<Self>, session: &str) {
        let (state, name) = (Arc::downgrade(self), session.to_owned());
        self.browser.cdp.subscribe(session, move |event| {
            let Some(state) = state.upgrade() else { return };
            match event {
                CdpEvent::Lost => state.close(),
                CdpEvent::Event { method, params } => state.on_event(&name, method, params),
            }
        });
    }

    fn on_event(self: &Arc<Self>, session: &str, method: &str, params: Json<'_>) {
        let method = if method.starts_with("Target.") {
            // Of no other event, the content is needed.
            match self.on_target_event(session, method, &params.parse()) {
                Some(method) => method,
                None => return,
            }
        } else {
            method
        };
        let session = if session == self.root { "" } else { session };
        self.deliver_parts(json!({"method": method}), session, Some(("params", params)));
    }

    /// Handles an event about a target. Returns its name for the client; `None` if the client does not get it.
    fn on_target_event<'a>(
        self: &Arc<Self>,
        session: &str,
        method: &'a str,
        params: &Value,
    ) -> Option<&'a str> {
        let target = |name: &str| params[name].as_str().unwrap_or_default();
        match method {
            "Target.attachedToTarget" => {
                let attached = target("sessionId");
                let reporter = if session == self.root { Reporter::Browser } else { Reporter::Container };
                match self.judge(&params["targetInfo"], reporter) {
                    Visibility::Visible if self.add_session(attached, session) => {}
                    Visibility::Visible | Visibility::Hidden => {
                        self.leave(session, attached);
                        return None;
                    }
                    Visibility::Forbidden => {
                        self.forbid();
                        return None;
                    }
                }
            }
            "Target.detachedFromTarget" => {
                let removed = self.lock().remove_session(target("sessionId"));
                if removed.is_empty() {
                    return None;
                }
                for session in &removed {
                    self.browser.cdp.unsubscribe(session);
                }
            }
            "Target.targetCreated" | "Target.targetInfoChanged" => {
                let info = &params["targetInfo"];
                match self.judge(info, Reporter::Browser) {
                    Visibility::Visible => {}
                    Visibility::Hidden => return None,
                    Visibility::Forbidden => {
                        self.forbid();
                        return None;
                    }
                }
                let id = info["targetId"].as_str().unwrap_or_default();
                // The client does not know a target that was hidden until now.
                let is_new = self.lock().announced.insert(id.to_owned());
                return Some(if is_new { "Target.targetCreated" } else { "Target.targetInfoChanged" });
            }
            "Target.targetCrashed" if !self.lock().announced.contains(target("targetId")) => return None,
            "Target.targetDestroyed" if !self.lock().announced.remove(target("targetId")) => return None,
            _ => {}
        }
        Some(method)
    }

    /// Adds a protocol session of the client; returns false if there are too many.
    fn add_session(self: &Arc<Self>, session: &str, parent: &str) -> bool {
        {
            let mut objects = self.lock();
            if objects.sessions.len() >= MAX_SESSIONS {
                return false;
            }
            objects.sessions.insert(session.to_owned(), parent.to_owned());
        }
        self.listen(session);
        true
    }

    /// Detaches from a target that the client does not see.
    fn leave(&self, parent: &str, attached: &str) {
        let cdp = &self.browser.cdp;
        cdp.send_no_reply(attached, "Runtime.runIfWaitingForDebugger", json!({}));
        cdp.send_no_reply(parent, "Target.detachFromTarget", json!({"sessionId": attached}));
    }
}
