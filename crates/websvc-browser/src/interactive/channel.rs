//! A channel of the DevTools protocol for one client of a session: it sees only the targets of the session, and its
//! commands pass the filter.
//!
//! Each client is attached to the browser by a protocol session of its own (`Target.attachToBrowserTarget`), which stands
//! for the browser in its messages. So the clients of a session, and websvc itself, do not affect each other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::mpsc;

use super::downloads::{AcceptedDownloads, DownloadError, DownloadedFile, Downloads};
use super::filter::{self, Ownership, Verdict};
use crate::connection::{Cdp, CdpEvent};
use crate::error::BrowserError;
use crate::page::ClientChange;

/// The maximum number of messages that wait for a client to receive them.
const MAX_QUEUED: usize = 8 * 1024;
/// The maximum size of these messages. A client that does not read them is disconnected.
const MAX_QUEUED_BYTES: usize = 128 * 1024 * 1024;
/// The maximum number of commands of a client that are not yet answered.
const MAX_IN_FLIGHT: usize = 1024;
/// The maximum number of targets to which a client is attached.
const MAX_SESSIONS: usize = 256;
/// The maximum number of open streams of a client.
const MAX_STREAMS: usize = 64;

/// The error of a channel that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the connection to the browser session has ended")]
pub struct ChannelClosed;

/// The page of a session that a client drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTarget {
    /// The ID of its target.
    pub target: String,
    /// The session of the protocol in which messages to it carry `sessionId`.
    pub session: String,
}

/// A channel of the DevTools protocol. Dropping it detaches the client.
pub struct CdpChannel {
    shared: Arc<ChannelState>,
    messages: mpsc::Receiver<String>,
    /// The downloads of a program.
    accepted: Option<AcceptedDownloads>,
}

/// The right to end a channel.
#[derive(Debug, Clone)]
pub(super) struct ChannelHandle(Arc<ChannelState>);

/// Counts the open channels of a browser, whose number decides who answers the dialogs of its pages.
pub(super) type ClientCount = Box<dyn Fn(ClientChange) + Send + Sync>;

/// The state that a channel shares with the listeners of its protocol sessions.
pub(super) struct ChannelState {
    cdp: Cdp,
    /// The browser context of the session.
    context: String,
    /// The protocol session that stands for the browser.
    root: String,
    objects: Mutex<Objects>,
    /// The sender of messages to the client; `None` once the channel has ended.
    outgoing: Mutex<Option<mpsc::Sender<String>>>,
    queued_bytes: AtomicUsize,
    in_flight: AtomicUsize,
    is_closed: AtomicBool,
    /// True if the client sees the events of downloads.
    shows_downloads: AtomicBool,
    clients: ClientCount,
}

/// The objects of a client.
#[derive(Default)]
struct Objects {
    /// The sessions, each with that of the target which contains it.
    sessions: HashMap<String, String>,
    streams: HashSet<String>,
}

impl Objects {
    /// Adds an open stream; returns false if there are too many.
    fn add_stream(&mut self, stream: &str) -> bool {
        self.streams.contains(stream)
            || (self.streams.len() < MAX_STREAMS && self.streams.insert(stream.to_owned()))
    }

    /// Removes a session that has ended, and those of the targets that its target contained, whose ends Chromium does not
    /// report. Returns all of them.
    fn remove_session(&mut self, session: &str) -> Vec<String> {
        let mut removed = Vec::new();
        if self.sessions.remove(session).is_none() {
            return removed;
        }
        removed.push(session.to_owned());
        let mut next = 0;
        while let Some(parent) = removed.get(next) {
            let contained = self.sessions.extract_if(|_, container| container == parent);
            let contained: Vec<String> = contained.map(|(session, _)| session).collect();
            removed.extend(contained);
            next += 1;
        }
        removed
    }
}

impl std::fmt::Debug for ChannelState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChannelState").field("context", &self.context).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for CdpChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CdpChannel").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl CdpChannel {
    /// Attaches a client to the browser.
    pub(super) async fn open(cdp: &Cdp, context: &str, clients: ClientCount) -> Result<Self, BrowserError> {
        let attached = cdp.call("", "Target.attachToBrowserTarget", json!({})).await?;
        let root = attached["sessionId"].as_str();
        let root =
            root.ok_or_else(|| BrowserError::missing_field("Target.attachToBrowserTarget", "sessionId"))?;
        let (outgoing, messages) = mpsc::channel(MAX_QUEUED);
        let shared = Arc::new(ChannelState {
            cdp: cdp.clone(),
            context: context.to_owned(),
            root: root.to_owned(),
            objects: Mutex::default(),
            outgoing: Mutex::new(Some(outgoing)),
            queued_bytes: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            shows_downloads: AtomicBool::new(false),
            clients,
        });
        (shared.clients)(ClientChange::Attached);
        shared.listen(root);
        Ok(Self { shared, messages, accepted: None })
    }

    /// Lets the client see the downloads of the session when it asks for that.
    pub(super) fn follow(&self, downloads: &Downloads) {
        downloads.add_channel(&self.shared);
    }

    /// Makes the client a program, which gets the downloads of the session until it leaves.
    pub(super) fn accept(&mut self, accepted: AcceptedDownloads) {
        self.shared.shows_downloads.store(true, Ordering::Release);
        self.accepted = Some(accepted);
    }

    /// Waits until a download of a program has ended, and returns its file, once. `id` is its `guid` in the protocol.
    pub fn receive_download(
        &self,
        id: String,
    ) -> impl Future<Output = Result<DownloadedFile, DownloadError>> + Send + use<> {
        let receiving = self.accepted.as_ref().map(|accepted| accepted.receive(id));
        async move {
            match receiving {
                Some(receiving) => receiving.await,
                None => Err(DownloadError::Unknown),
            }
        }
    }

    /// Cancels a download of a program.
    pub fn cancel_download(&self, id: &str) {
        if let Some(accepted) = &self.accepted {
            accepted.cancel(id);
        }
    }

    /// Attaches the client to a page.
    pub(super) async fn attach(&self, target: &str) -> Result<PageTarget, BrowserError> {
        let params = json!({"targetId": target, "flatten": true});
        let attached = self.shared.cdp.call(&self.shared.root, "Target.attachToTarget", params).await?;
        let session = attached["sessionId"].as_str();
        let session =
            session.ok_or_else(|| BrowserError::missing_field("Target.attachToTarget", "sessionId"))?;
        Ok(PageTarget { target: target.to_owned(), session: session.to_owned() })
    }

    pub(super) fn handle(&self) -> ChannelHandle {
        ChannelHandle(Arc::clone(&self.shared))
    }

    /// Sends a message of the client: a command as JSON. A command that is refused is answered with an error.
    ///
    /// # Errors
    /// [`ChannelClosed`] if the channel has ended.
    pub fn send(&self, message: &str) -> Result<(), ChannelClosed> {
        if self.shared.is_closed() {
            return Err(ChannelClosed);
        }
        self.shared.send(message);
        Ok(())
    }

    /// Returns the next message for the client; `None` if the channel has ended.
    pub async fn receive(&mut self) -> Option<String> {
        let message = self.messages.recv().await?;
        self.shared.queued_bytes.fetch_sub(message.len(), Ordering::AcqRel);
        Some(message)
    }
}

impl Drop for CdpChannel {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl ChannelHandle {
    /// Ends the channel, and detaches the client from all targets.
    pub(super) fn close(&self) {
        self.0.close();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl ChannelState {
    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    fn close(&self) {
        if self.is_closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let sessions = std::mem::take(&mut self.lock().sessions);
        for session in sessions.keys() {
            self.cdp.unsubscribe(session);
        }
        self.cdp.unsubscribe(&self.root);
        // Detaches from all targets, too.
        self.cdp.send_no_reply("", "Target.detachFromTarget", json!({"sessionId": self.root}));
        drop(self.outgoing.lock().take());
        (self.clients)(ClientChange::Detached);
    }

    fn lock(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock()
    }

    /// Queues a message for the client. Ends the channel of a client that does not read.
    fn deliver(&self, message: &Value) {
        let text = message.to_string();
        let size = text.len();
        let queued = self.queued_bytes.fetch_add(size, Ordering::AcqRel) + size;
        let is_delivered = {
            let outgoing = self.outgoing.lock();
            outgoing.as_ref().is_some_and(|outgoing| outgoing.try_send(text).is_ok())
        };
        // A single message may be larger than the limit.
        if !is_delivered || (queued > MAX_QUEUED_BYTES && queued > size) {
            self.close();
        }
    }

    fn answer(&self, id: u64, session: &str, result: &Value) {
        let mut response = json!({"id": id, "result": result});
        add_session(&mut response, session);
        self.deliver(&response);
    }

    /// Sends an event of a download to a client that sees them.
    pub(super) fn show_download(&self, method: &str, params: &Value) {
        if self.shows_downloads.load(Ordering::Acquire) {
            self.deliver(&json!({"method": method, "params": params}));
        }
    }

    fn refuse(&self, id: u64, session: &str, code: i64, reason: &str) {
        let mut response = json!({"id": id, "error": {"code": code, "message": reason}});
        add_session(&mut response, session);
        self.deliver(&response);
    }

    fn send(self: &Arc<Self>, message: &str) {
        let Ok(mut message) = serde_json::from_str::<Value>(message) else {
            let error = json!({"error": {"code": -32700, "message": "the message is not JSON"}});
            return self.deliver(&error);
        };
        let (Some(id), Some(method)) = (message["id"].as_u64(), message["method"].as_str()) else {
            let reason = "a command needs an id, a number, and a method, a string";
            return self.deliver(&json!({"error": {"code": -32600, "message": reason}}));
        };
        let (method, session) = (method.to_owned(), message["sessionId"].take());
        let session = match &session {
            Value::Null => "",
            Value::String(session) if self.owns_session(session) => session,
            other => {
                let reason = format!("there is no session {other}");
                return self.refuse(id, "", -32001, &reason);
            }
        };
        match filter::check(&method, message["params"].take(), self.as_ref()) {
            Verdict::Forward(params) => self.forward(id, session, &method, params),
            Verdict::Answer(result) => self.answer(id, session, &result),
            Verdict::ShowDownloads(shows) => {
                self.shows_downloads.store(shows, Ordering::Release);
                self.answer(id, session, &json!({}));
            }
            Verdict::Refuse(reason) => self.refuse(id, session, -32000, &reason),
        }
    }

    fn forward(self: &Arc<Self>, id: u64, session: &str, method: &str, params: Value) {
        if self.in_flight.fetch_add(1, Ordering::AcqRel) >= MAX_IN_FLIGHT {
            self.in_flight.fetch_sub(1, Ordering::AcqRel);
            let reason = format!("more than {MAX_IN_FLIGHT} commands are not yet answered");
            return self.refuse(id, session, -32000, &reason);
        }
        // Weak: the connection owns the reply, and the channel owns a handle to the connection.
        let (state, name, asked) = (Arc::downgrade(self), session.to_owned(), method.to_owned());
        let closed = if method == "IO.close" { params["handle"].as_str().map(str::to_owned) } else { None };
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
        let target = if session.is_empty() { &self.root } else { session };
        if !self.cdp.forward(target, method, params, reply) {
            self.in_flight.fetch_sub(1, Ordering::AcqRel);
            self.refuse(id, session, -32000, "the browser accepts no more commands");
        }
    }

    /// Removes from a result what does not belong to the session, and remembers the stream that it opens. Fails with the
    /// reason if the client has too many; then the stream is closed.
    fn restrict(&self, session: &str, method: &str, result: &mut Value) -> Result<(), String> {
        if method == "Target.getTargets"
            && let Some(Value::Array(targets)) = result.get_mut("targetInfos")
        {
            targets.retain(|target| self.is_visible(target));
        }
        if let Some(Value::String(stream)) = result.get("stream") {
            let is_added = self.lock().add_stream(stream);
            if !is_added {
                let target = if session.is_empty() { &self.root } else { session };
                self.cdp.send_no_reply(target, "IO.close", json!({"handle": stream}));
                return Err(format!("more than {MAX_STREAMS} streams are open: close them with IO.close"));
            }
        }
        Ok(())
    }

    /// Returns whether a `Target.TargetInfo` belongs to the session.
    fn is_visible(&self, target: &Value) -> bool {
        target["browserContextId"] == self.context.as_str()
    }

    /// Sends the events of a protocol session to the client.
    fn listen(self: &Arc<Self>, session: &str) {
        let (state, name) = (Arc::downgrade(self), session.to_owned());
        self.cdp.subscribe(session, move |event| {
            let Some(state) = state.upgrade() else { return };
            match event {
                CdpEvent::Lost => state.close(),
                CdpEvent::Event { method, params } => state.on_event(&name, &method, params),
            }
        });
    }

    fn on_event(self: &Arc<Self>, session: &str, method: &str, params: Value) {
        match method {
            "Target.attachedToTarget" => {
                let attached = params["sessionId"].as_str().unwrap_or_default();
                // The targets inside a page have its context.
                if !self.is_visible(&params["targetInfo"]) || !self.add_session(attached, session) {
                    return self.leave(session, attached);
                }
            }
            "Target.detachedFromTarget" => {
                let detached = params["sessionId"].as_str().unwrap_or_default();
                let removed = self.lock().remove_session(detached);
                if removed.is_empty() {
                    return;
                }
                for session in &removed {
                    self.cdp.unsubscribe(session);
                }
            }
            "Target.targetCreated" | "Target.targetInfoChanged"
                if !self.is_visible(&params["targetInfo"]) =>
            {
                return;
            }
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
        self.cdp.send_no_reply(attached, "Runtime.runIfWaitingForDebugger", json!({}));
        self.cdp.send_no_reply(parent, "Target.detachFromTarget", json!({"sessionId": attached}));
    }
}

impl Ownership for ChannelState {
    fn context(&self) -> &str {
        &self.context
    }

    fn owns_session(&self, session: &str) -> bool {
        self.lock().sessions.contains_key(session)
    }

    fn owns_stream(&self, handle: &str) -> bool {
        self.lock().streams.contains(handle)
    }
}

/// Adds the session to a message, unless it is that of the browser.
fn add_session(message: &mut Value, session: &str) {
    if !session.is_empty() {
        message["sessionId"] = session.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_is_removed_with_those_inside_its_target() {
        let mut objects = Objects::default();
        let sessions =
            [("page", "root"), ("frame", "page"), ("worker", "frame"), ("other", "root"), ("last", "other")];
        objects.sessions = sessions.map(|(session, parent)| (session.to_owned(), parent.to_owned())).into();
        assert_eq!(objects.remove_session("page"), ["page", "frame", "worker"]);
        assert!(objects.remove_session("page").is_empty());
        assert!(objects.remove_session("root").is_empty(), "it is not one of the client");
        assert_eq!(objects.remove_session("last"), ["last"]);
        assert_eq!(objects.sessions.into_keys().collect::<Vec<_>>(), ["other"]);
    }
}
