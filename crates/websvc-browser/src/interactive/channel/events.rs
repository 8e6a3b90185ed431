//! The events for a client: those of its protocol sessions, without targets that it does not see.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ChannelState, MAX_SESSIONS, add_session};
use crate::connection::CdpEvent;
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

    fn on_event(self: &Arc<Self>, session: &str, mut method: String, params: Value) {
        let target = |name: &str| params[name].as_str().unwrap_or_default();
        match method.as_str() {
            "Target.attachedToTarget" => {
                let attached = target("sessionId");
                let reporter = if session == self.root { Reporter::Browser } else { Reporter::Container };
                match self.judge(&params["targetInfo"], reporter) {
                    Visibility::Visible if self.add_session(attached, session) => {}
                    Visibility::Visible | Visibility::Hidden => return self.leave(session, attached),
                    Visibility::Forbidden => return self.forbid(),
                }
            }
            "Target.detachedFromTarget" => {
                let removed = self.lock().remove_session(target("sessionId"));
                if removed.is_empty() {
                    return;
                }
                for session in &removed {
                    self.browser.cdp.unsubscribe(session);
                }
            }
            "Target.targetCreated" | "Target.targetInfoChanged" => {
                let info = &params["targetInfo"];
                match self.judge(info, Reporter::Browser) {
                    Visibility::Visible => {}
                    Visibility::Hidden => return,
                    Visibility::Forbidden => return self.forbid(),
                }
                let id = info["targetId"].as_str().unwrap_or_default();
                // The client does not know a target that was hidden until now.
                let is_new = self.lock().announced.insert(id.to_owned());
                method = if is_new { "Target.targetCreated" } else { "Target.targetInfoChanged" }.to_owned();
            }
            "Target.targetCrashed" if !self.lock().announced.contains(target("targetId")) => return,
            "Target.targetDestroyed" if !self.lock().announced.remove(target("targetId")) => return,
            _ => {}
        }
        let mut message = json!({"method": method});
        message["params"] = params;
        add_session(&mut message, if session == self.root { "" } else { session });
        self.deliver(&message);
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
