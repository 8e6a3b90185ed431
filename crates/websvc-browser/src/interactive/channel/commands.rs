//! The commands of a client: they pass the filter, and their results are restricted to what belongs to the session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{ChannelState, MAX_IN_FLIGHT, MAX_STREAMS, MAX_WAITING_BYTES, SessionBrowser};
use crate::connection::{Json, Response};
use crate::interactive::filter::{self, Ownership, Verdict, shorten};
use crate::interactive::visibility::{Reporter, Visibility};
use crate::members::{Members, MembersError};

const GET_TARGET_INFO: &str = "Target.getTargetInfo";
/// The connection is lost, which ends the channel, or Chromium reads nothing.
const NOT_ACCEPTED: &str = "the browser accepts no more commands";

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
            let reason = format!("more than {MAX_IN_FLIGHT} commands are not yet answered");
            self.fail(command.id, &command.session, &reason);
        }
        is_counted
    }

    /// Refuses a command that was counted.
    fn fail(&self, id: u64, session: &str, reason: &str) {
        self.in_flight.fetch_sub(1, Ordering::AcqRel);
        self.refuse(id, session, -32000, reason);
    }

    /// Sends a command on if the client sees the target that it names.
    fn forward_if_visible(self: &Arc<Self>, command: Command, target: String, params: String) {
        if !self.begin(&command) {
            return;
        }
        let asked = json!({"targetId": target}).to_string();
        let (id, session) = (command.id, command.session.clone());
        let state = Arc::downgrade(self);
        let reply = Box::new(move |response: Option<Response<'_>>| {
            let Some(state) = state.upgrade() else { return };
            let result = response.and_then(|response| response.result).map(Json::parse).unwrap_or_default();
            match state.judge(&result["targetInfo"], Reporter::Browser) {
                Visibility::Visible => state.dispatch(command, &params),
                Visibility::Hidden => {
                    let reason = format!("there is no target {:?}", shorten(&target));
                    state.fail(command.id, &command.session, &reason);
                }
                Visibility::Forbidden => state.forbid(),
            }
        });
        if !self.browser.cdp.forward(&self.root, GET_TARGET_INFO, &asked, None, reply) {
            self.fail(id, &session, NOT_ACCEPTED);
        }
    }

    /// Sends a command that was counted, and answers it when Chromium does.
    fn dispatch(self: &Arc<Self>, command: Command, params: &str) {
        let Command { id, session, method } = command;
        let size = u32::try_from(params.len()).unwrap_or(u32::MAX);
        let Ok(memory) = Arc::clone(&self.waiting).try_acquire_many_owned(size) else {
            let reason = format!("more than {MAX_WAITING_BYTES} bytes of commands are not yet read");
            return self.fail(id, &session, &reason);
        };
        let target = if session.is_empty() { self.root.clone() } else { session.clone() };
        let closed =
            (method == "IO.close").then(|| Members::parse(params).ok()?.read::<String>("handle")).flatten();
        if method == "Target.setDiscoverTargets"
            && Members::parse(params).is_ok_and(|params| params.get("discover") == Some("false"))
        {
            self.lock().announced.clear();
        }
        let SessionBrowser { targets, context, .. } = &self.browser;
        let expected = (method == "Target.createTarget").then(|| targets.expect_page(context));
        // Weak: the connection owns the reply, and the channel owns a handle to the connection.
        let (state, name, asked) = (Arc::downgrade(self), session.clone(), method.clone());
        let reply = Box::new(move |response: Option<Response<'_>>| {
            // The page was reported before.
            drop(expected);
            let Some(state) = state.upgrade() else { return };
            state.in_flight.fetch_sub(1, Ordering::AcqRel);
            if let Some(stream) = &closed {
                // If it could not be closed, it does not exist.
                state.lock().streams.remove(stream);
            }
            let Some(Response { result, error }) = response else {
                return state.refuse(id, &name, -32000, &format!("the response to {asked} is too large"));
            };
            let head = json!({"id": id});
            let Some(result) = result else {
                return state.deliver_parts(head, &name, error.map(|error| ("error", error)));
            };
            match state.restrict(&name, &asked, result) {
                Ok(Some(restricted)) => state.answer(id, &name, &restricted),
                Ok(None) => state.deliver_parts(head, &name, Some(("result", result))),
                Err(reason) => state.refuse(id, &name, -32000, &reason),
            }
        });
        if !self.browser.cdp.forward(&target, &method, params, Some(memory), reply) {
            self.fail(id, &session, NOT_ACCEPTED);
        }
    }

    /// Returns a result without what does not belong to the session; `None` if it has to be as it is. Remembers the stream
    /// that it opens. Fails with the reason if the client has too many; then the stream is closed.
    fn restrict(&self, session: &str, method: &str, result: Json<'_>) -> Result<Option<Value>, String> {
        match method {
            "Target.getTargets" => {
                let mut result = result.parse();
                if let Some(Value::Array(targets)) = result.get_mut("targetInfos") {
                    targets.retain(|target| self.is_visible(target));
                }
                return Ok(Some(result));
            }
            GET_TARGET_INFO => {
                // The target that was named is visible, but may show another document now.
                self.is_visible(&result.parse()["targetInfo"]);
            }
            _ => {}
        }
        let text = result.text();
        if !text.contains("\"stream\"") {
            return Ok(None);
        }
        let Some(stream) = Members::parse(&text).ok().and_then(|result| result.read::<String>("stream"))
        else {
            return Ok(None);
        };
        if self.lock().add_stream(&stream) {
            return Ok(None);
        }
        let target = if session.is_empty() { &self.root } else { session };
        self.browser.cdp.send_no_reply(target, "IO.close", json!({"handle": stream}));
        Err(format!("more than {MAX_STREAMS} streams are open: close them with IO.close"))
    }

    /// Returns whether the client sees a target. One that shows a document of the server ends the session.
    fn is_visible(&self, target: &Value) -> bool {
        let visibility = self.judge(target, Reporter::Browser);
        if visibility == Visibility::Forbidden {
            self.forbid();
        }
        visibility == Visibility::Visible
    }
}
