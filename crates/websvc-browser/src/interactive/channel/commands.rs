//! The commands of a client: they pass the filter, and their results are restricted to what belongs to the session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{ChannelState, MAX_IN_FLIGHT, MAX_STREAMS, MAX_WAITING_BYTES, add_session};
use crate::interactive::filter::{self, Ownership, Verdict, shorten};
use crate::interactive::members::{Members, MembersError};
use crate::interactive::visibility::{Reporter, Visibility};

const GET_TARGET_INFO: &str = "Target.getTargetInfo";

/// A command that the filter has accepted.
struct Command {
    id: u64,
    /// The protocol session of the client that gets it; empty for the browser.
    session: String,
    method: String,
}

impl ChannelState {
    /// Handles a message of the client. The method is checked before the parameters are parsed.
    pub(super) fn send(self: &Arc<Self>, message: &str) {
        let members = match Members::parse(message) {
            Ok(members) => members,
            Err(error) => {
                let code = if error == MembersError::Syntax { -32700 } else { -32600 };
                let message = format!("the message {error}");
                return self.deliver(&json!({"error": {"code": code, "message": message}}));
            }
        };
        let (Some(id), Some(method)) = (members.read::<u64>("id"), members.read::<String>("method")) else {
            let reason = "a command needs an id, a number, and a method, a string";
            return self.deliver(&json!({"error": {"code": -32600, "message": reason}}));
        };
        let session = match (members.get("sessionId"), members.read::<String>("sessionId")) {
            (None, _) => String::new(),
            (_, Some(session)) if self.owns_session(&session) => session,
            (Some(other), _) => {
                let reason = format!("there is no session {}", shorten(other));
                return self.refuse(id, "", -32001, &reason);
            }
        };
        let verdict = filter::check(&method, members.get("params"), self.as_ref());
        let command = Command { id, session, method };
        match verdict {
            Verdict::Forward(params) => self.forward(command, &params),
            Verdict::ForwardIfVisible { target, params } => {
                self.forward_if_visible(command, target, params.into_owned());
            }
            Verdict::Answer(result) => self.answer(id, &command.session, &result),
            Verdict::ShowDownloads(shows) => {
                self.shows_downloads.store(shows, Ordering::Release);
                self.answer(id, &command.session, &json!({}));
            }
            Verdict::Refuse(reason) => self.refuse(id, &command.session, -32000, &reason),
        }
    }

    fn forward(self: &Arc<Self>, command: Command, params: &str) {
        if self.begin(&command) {
            self.dispatch(command, params);
        }
    }

    /// Counts a command as not yet answered. Refuses it and returns false if there are too many.
    fn begin(&self, command: &Command) -> bool {
        let is_counted = self.in_flight.fetch_add(1, Ordering::AcqRel) < MAX_IN_FLIGHT;
        if !is_counted {
            self.fail(command, &format!("more than {MAX_IN_FLIGHT} commands are not yet answered"));
        }
        is_counted
    }

    /// Refuses a command that was counted.
    fn fail(&self, command: &Command, reason: &str) {
        self.in_flight.fetch_sub(1, Ordering::AcqRel);
        self.refuse(command.id, &command.session, -32000, reason);
    }

    /// Sends a command on if the client sees the target that it names.
    fn forward_if_visible(self: &Arc<Self>, command: Command, target: String, params: String) {
        if !self.begin(&command) {
            return;
        }
        let asked = json!({"targetId": target}).to_string();
        let state = Arc::downgrade(self);
        let reply = Box::new(move |response: Option<Value>| {
            let Some(state) = state.upgrade() else { return };
            let info = response.as_ref().map_or(&Value::Null, |response| &response["result"]["targetInfo"]);
            match state.judge(info, Reporter::Browser) {
                Visibility::Visible => state.dispatch(command, &params),
                Visibility::Hidden => {
                    state.fail(&command, &format!("there is no target {:?}", shorten(&target)));
                }
                Visibility::Forbidden => state.forbid(),
            }
        });
        if !self.browser.cdp.forward(&self.root, GET_TARGET_INFO, &asked, None, reply) {
            // The connection is lost, which ends the channel, or Chromium reads nothing.
            self.in_flight.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Sends a command that was counted, and answers it when Chromium does.
    fn dispatch(self: &Arc<Self>, command: Command, params: &str) {
        let size = u32::try_from(params.len()).unwrap_or(u32::MAX);
        let Ok(memory) = Arc::clone(&self.waiting).try_acquire_many_owned(size) else {
            let reason = format!("more than {MAX_WAITING_BYTES} bytes of commands are not yet read");
            return self.fail(&command, &reason);
        };
        let Command { id, session, method } = command;
        let target = if session.is_empty() { self.root.clone() } else { session.clone() };
        let closed =
            (method == "IO.close").then(|| Members::parse(params).ok()?.read::<String>("handle")).flatten();
        if method == "Target.setDiscoverTargets"
            && Members::parse(params).is_ok_and(|params| params.get("discover") == Some("false"))
        {
            self.lock().announced.clear();
        }
        // Weak: the connection owns the reply, and the channel owns a handle to the connection.
        let (state, name, asked) = (Arc::downgrade(self), session.clone(), method.clone());
        let reply = Box::new(move |response: Option<Value>| {
            let Some(state) = state.upgrade() else { return };
            state.in_flight.fetch_sub(1, Ordering::AcqRel);
            let Some(mut response) = response else {
                return state.refuse(id, &name, -32000, &format!("the response to {asked} is too large"));
            };
            if let Err(reason) = state.restrict(&name, &asked, &mut response["result"]) {
                return state.refuse(id, &name, -32000, &reason);
            }
            if let Some(stream) = &closed {
                // If it could not be closed, it does not exist.
                state.lock().streams.remove(stream);
            }
            let mut answer = json!({"id": id});
            for part in ["result", "error"] {
                if !response[part].is_null() {
                    answer[part] = response[part].take();
                }
            }
            add_session(&mut answer, &name);
            state.deliver(&answer);
        });
        if !self.browser.cdp.forward(&target, &method, params, Some(memory), reply) {
            self.in_flight.fetch_sub(1, Ordering::AcqRel);
            self.refuse(id, &session, -32000, "the browser accepts no more commands");
        }
    }

    /// Removes from a result what does not belong to the session, and remembers the stream that it opens. Fails with the
    /// reason if the client has too many; then the stream is closed.
    fn restrict(&self, session: &str, method: &str, result: &mut Value) -> Result<(), String> {
        if method == "Target.getTargets"
            && let Some(Value::Array(targets)) = result.get_mut("targetInfos")
        {
            targets.retain(|target| match self.judge(target, Reporter::Browser) {
                Visibility::Visible => true,
                Visibility::Hidden => false,
                Visibility::Forbidden => {
                    self.forbid();
                    false
                }
            });
        }
        if method == GET_TARGET_INFO
            && self.judge(&result["targetInfo"], Reporter::Browser) == Visibility::Forbidden
        {
            self.forbid();
        }
        if let Some(Value::String(stream)) = result.get("stream") {
            let is_added = self.lock().add_stream(stream);
            if !is_added {
                let target = if session.is_empty() { &self.root } else { session };
                self.browser.cdp.send_no_reply(target, "IO.close", json!({"handle": stream}));
                return Err(format!("more than {MAX_STREAMS} streams are open: close them with IO.close"));
            }
        }
        Ok(())
    }
}
