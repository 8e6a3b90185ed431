//! A handle that sends commands of the DevTools protocol and dispatches its responses and events.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};

use super::json::Json;
use crate::members::Members;

/// The maximum length of a received message. A longer one fails its command over pipes, and ends the connection over a
/// WebSocket.
pub(super) const MAX_MESSAGE: usize = 96 * 1024 * 1024;
/// The capacity of the queue of commands. Commands with a response wait for capacity. A command without one ends the
/// connection if the queue is full, because a browser that reads nothing is stuck.
const MAX_QUEUED: usize = 16 * 1024;

/// The error of a command.
#[derive(Debug, Clone, Error)]
pub(crate) enum CdpError {
    /// The connection to Chromium was lost.
    #[error("the connection to the browser is lost")]
    Lost,
    #[error("{method} was refused: {message}")]
    Refused { method: &'static str, message: String },
    #[error("the response to {method} is too large")]
    TooLarge { method: &'static str },
}

/// An event for a listener.
pub(crate) enum CdpEvent<'a> {
    Event { method: &'a str, params: Json<'a> },
    Lost,
}

/// The response to a forwarded command.
pub(crate) struct Response<'a> {
    pub(crate) result: Option<Json<'a>>,
    pub(crate) error: Option<Json<'a>>,
}

/// Called on the task that reads messages: it must not block, and must not use the handle while it holds a lock.
type Listener = Arc<dyn Fn(CdpEvent<'_>) + Send + Sync>;

type CdpResult = Result<Value, CdpError>;

/// A handle to a connection. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Cdp(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    outgoing: mpsc::Sender<Outgoing>,
    lost: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    pending: HashMap<u64, PendingCall>,
    /// By session ID, which is empty for the browser itself.
    listeners: HashMap<String, Listener>,
}

/// A message that waits for the browser to read it.
pub(super) struct Outgoing {
    pub(super) text: String,
    /// The share of its client in the memory of waiting messages, until it is written.
    pub(super) _memory: Option<OwnedSemaphorePermit>,
}

enum PendingCall {
    Call { method: &'static str, response: oneshot::Sender<CdpResult> },
    Forwarded(ForwardedReply),
}

/// Called with the response to a forwarded command, or with `None` if the response is too long; never called if the
/// connection is lost. It runs on the task that reads messages, as listeners do.
pub(crate) type ForwardedReply = Box<dyn FnOnce(Option<Response<'_>>) + Send>;

impl Cdp {
    /// Creates a handle, and the queue of the messages that it sends.
    pub(super) fn new() -> (Self, mpsc::Receiver<Outgoing>) {
        let (outgoing, queue) = mpsc::channel(MAX_QUEUED);
        let shared = Shared { state: Mutex::default(), outgoing, lost: watch::Sender::new(false) };
        (Self(Arc::new(shared)), queue)
    }

    /// Sends a command to a session and returns its result. The empty session is the browser itself.
    pub(crate) async fn call(&self, session: &str, method: &'static str, params: Value) -> CdpResult {
        let (response, received) = oneshot::channel();
        let id = self.next_id(Some(PendingCall::Call { method, response })).ok_or(CdpError::Lost)?;
        // Removes the pending call if the caller is cancelled.
        let _guard = PendingCallGuard { cdp: self, id };
        let message = Outgoing { text: message(id, session, method, &params.to_string()), _memory: None };
        tokio::select! {
            sent = self.0.outgoing.send(message) => sent.map_err(|_| CdpError::Lost)?,
            () = self.disconnected() => return Err(CdpError::Lost),
        }
        received.await.unwrap_or(Err(CdpError::Lost))
    }

    /// Sends a command without waiting for its result. Closes the connection if the queue is full.
    #[expect(clippy::needless_pass_by_value, reason = "callers make the parameters for this call")]
    pub(crate) fn send_no_reply(&self, session: &str, method: &'static str, params: Value) {
        let Some(id) = self.next_id(None) else { return };
        let text = message(id, session, method, &params.to_string());
        let sent = self.0.outgoing.try_send(Outgoing { text, _memory: None });
        if let Err(TrySendError::Full(_)) = sent {
            tracing::warn!(MAX_QUEUED, "the browser reads no commands; closing the connection");
            self.disconnect();
        }
    }

    /// Sends a command to a session, with the JSON text of its parameters. `reply` gets the whole response, in the order of
    /// the messages of the browser. Returns false if the connection is lost or the queue is full. `memory` is released when
    /// the command is written.
    pub(crate) fn forward(
        &self,
        session: &str,
        method: &str,
        params: &str,
        memory: Option<OwnedSemaphorePermit>,
        reply: ForwardedReply,
    ) -> bool {
        let Some(id) = self.next_id(Some(PendingCall::Forwarded(reply))) else { return false };
        let text = message(id, session, method, params);
        let is_sent = self.0.outgoing.try_send(Outgoing { text, _memory: memory }).is_ok();
        if !is_sent {
            let unsent = self.lock().pending.remove(&id);
            drop(unsent);
        }
        is_sent
    }

    /// Sets the listener of a session. It receives all events of the session, and the loss of the connection.
    pub(crate) fn subscribe(&self, session: &str, listener: impl Fn(CdpEvent<'_>) + Send + Sync + 'static) {
        let old = self.lock().listeners.insert(session.to_owned(), Arc::new(listener));
        // After the lock is released: dropping a listener may use this handle.
        drop(old);
    }

    pub(crate) fn unsubscribe(&self, session: &str) {
        let old = self.lock().listeners.remove(session);
        drop(old);
    }

    pub(crate) fn is_lost(&self) -> bool {
        *self.0.lost.borrow()
    }

    /// Waits until the connection is lost.
    pub(crate) async fn disconnected(&self) {
        // Cannot fail: this handle owns the sender.
        let _ = self.0.lost.subscribe().wait_for(|lost| *lost).await;
    }

    /// Returns the ID of the next command and stores its pending call; returns `None` if the connection is lost.
    fn next_id(&self, pending: Option<PendingCall>) -> Option<u64> {
        let mut state = self.lock();
        if self.is_lost() {
            return None;
        }
        state.last_id += 1;
        let id = state.last_id;
        if let Some(pending) = pending {
            state.pending.insert(id, pending);
        }
        Some(id)
    }

    /// Marks the connection as lost: fails all pending calls and notifies all listeners.
    pub(crate) fn disconnect(&self) {
        let (pending, listeners) = {
            let mut state = self.lock();
            self.0.lost.send_replace(true);
            let listeners: Vec<Listener> = state.listeners.drain().map(|(_, listener)| listener).collect();
            (std::mem::take(&mut state.pending), listeners)
        };
        // Dropping the senders fails the calls. After the lock is released: replies may use this handle.
        drop(pending);
        for listener in listeners {
            listener(CdpEvent::Lost);
        }
    }

    /// Handles a message that was longer than [`MAX_MESSAGE`], of which only the beginning was read.
    pub(super) fn receive_truncated(&self, head: &[u8]) {
        let Some(id) = leading_id(head) else {
            // An event; or a response whose ID is not its first field, which Chromium does not write.
            tracing::warn!(MAX_MESSAGE, "dropped a CDP message that is too long");
            return;
        };
        let pending = self.lock().pending.remove(&id);
        match pending {
            Some(PendingCall::Call { method, response }) => {
                let _ = response.send(Err(CdpError::TooLarge { method }));
            }
            Some(PendingCall::Forwarded(reply)) => reply(None),
            None => {}
        }
    }

    /// Handles a message: dispatches a response to its call and an event to the listener of its session.
    pub(super) fn receive(&self, message: &[u8]) {
        let parsed = std::str::from_utf8(message).ok().and_then(|text| Members::parse(text).ok());
        let Some(message) = parsed else {
            tracing::warn!("invalid JSON in CDP message");
            return;
        };
        let part = |name| message.get(name).map(Json::new);
        if let Some(id) = message.read::<u64>("id") {
            let pending = self.lock().pending.remove(&id);
            let (method, response) = match pending {
                Some(PendingCall::Call { method, response }) => (method, response),
                Some(PendingCall::Forwarded(reply)) => {
                    return reply(Some(Response { result: part("result"), error: part("error") }));
                }
                None => return,
            };
            let error = part("error").map(Json::parse).unwrap_or_default();
            let outcome = match error["message"].as_str() {
                Some(text) => Err(CdpError::Refused { method, message: text.to_owned() }),
                None => Ok(part("result").map(Json::parse).unwrap_or_default()),
            };
            // The caller may have been cancelled.
            let _ = response.send(outcome);
            return;
        }
        let session = message.read::<String>("sessionId").unwrap_or_default();
        let listener = self.lock().listeners.get(&session).cloned();
        if let (Some(listener), Some(method)) = (listener, message.read::<String>("method")) {
            let params = part("params").unwrap_or(Json::new("null"));
            listener(CdpEvent::Event { method: &method, params });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }
}

/// Removes a pending call when it is dropped.
struct PendingCallGuard<'a> {
    cdp: &'a Cdp,
    id: u64,
}

impl Drop for PendingCallGuard<'_> {
    fn drop(&mut self) {
        let pending = self.cdp.lock().pending.remove(&self.id);
        drop(pending);
    }
}

/// Serializes a command, given the JSON text of its parameters. The empty session is the browser itself.
fn message(id: u64, session: &str, method: &str, params: &str) -> String {
    let mut head = json!({"id": id, "method": method});
    if !session.is_empty() {
        head["sessionId"] = session.into();
    }
    let head = head.to_string();
    // One more byte, which ends a message in a pipe.
    let mut text = String::with_capacity(head.len() + params.len() + 12);
    // Without its closing brace.
    text.push_str(&head[..head.len() - 1]);
    for part in [",\"params\":", params, "}"] {
        text.push_str(part);
    }
    text
}

/// Returns the ID of a truncated response. Chromium writes it as the first field.
fn leading_id(head: &[u8]) -> Option<u64> {
    let digits = head.strip_prefix(br#"{"id":"#)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn send_no_reply_with_full_queue_closes_the_connection() {
        let (cdp, queue) = Cdp::new();
        for _ in 0..MAX_QUEUED {
            cdp.send_no_reply("", "A.b", json!({}));
        }
        assert!(!cdp.is_lost());
        let call = tokio::spawn({
            let cdp = cdp.clone();
            async move { cdp.call("", "A.b", json!({})).await }
        });
        // The call waits for capacity in the queue.
        while cdp.lock().pending.is_empty() {
            tokio::task::yield_now().await;
        }
        cdp.send_no_reply("", "A.b", json!({}));
        assert!(cdp.is_lost());
        assert!(matches!(call.await.unwrap(), Err(CdpError::Lost)));
        assert_eq!(queue.len(), MAX_QUEUED);
    }

    #[tokio::test]
    async fn call_with_full_queue_waits_for_capacity() {
        let (cdp, mut queue) = Cdp::new();
        for _ in 0..MAX_QUEUED {
            cdp.send_no_reply("", "A.b", json!({}));
        }
        let call = tokio::spawn({
            let cdp = cdp.clone();
            async move { cdp.call("s", "C.d", json!({})).await }
        });
        let mut last = String::new();
        for _ in 0..=MAX_QUEUED {
            last = queue.recv().await.unwrap().text;
        }
        assert!(last.contains("C.d"), "{last}");
        cdp.receive(format!("{{\"id\":{},\"result\":{{\"e\":1}}}}", MAX_QUEUED + 1).as_bytes());
        assert_eq!(call.await.unwrap().unwrap(), json!({"e": 1}));
    }

    #[test]
    fn leading_id_of_truncated_response() {
        assert_eq!(leading_id(br#"{"id":42,"result":{"data":"AAA"#), Some(42));
        assert_eq!(leading_id(br#"{"method":"Page.x","params":{"#), None);
    }
}
