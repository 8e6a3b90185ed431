//! A handle to send commands of the DevTools protocol with, and to listen to its events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot, watch};

use crate::surrogates;

/// The longest message that is read. Over pipes a longer one fails its command alone, over a WebSocket it ends the
/// connection.
pub(super) const MAX_MESSAGE: usize = 96 * 1024 * 1024;
/// Commands that wait to be written. Those with answers wait for a place; one without an answer that finds none ends
/// the connection: a browser that reads nothing is stuck.
const MAX_QUEUED: usize = 16 * 1024;

/// Why a command has no answer.
#[derive(Debug, Clone, Error)]
pub(crate) enum CdpError {
    /// Chromium, or the page, is gone.
    #[error("the connection to the browser is lost")]
    Lost,
    #[error("{method} was refused: {message}")]
    Refused { method: &'static str, message: String },
    #[error("the answer to {method} is too large")]
    TooLarge { method: &'static str },
}

/// What a listener is told.
pub(crate) enum CdpEvent {
    Event { method: String, params: Value },
    Lost,
}

/// Called on the reader's task: it must not wait, and must not call back while it holds a lock.
type Listener = Arc<dyn Fn(CdpEvent) + Send + Sync>;

type CdpResult = Result<Value, CdpError>;

/// A handle to send commands with.
#[derive(Clone)]
pub(crate) struct Cdp(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    outgoing: mpsc::Sender<String>,
    lost: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    waiting: HashMap<u64, PendingCall>,
    /// By session; the browser itself has the empty name.
    listeners: HashMap<String, Listener>,
}

struct PendingCall {
    method: &'static str,
    answer: oneshot::Sender<CdpResult>,
}

impl Cdp {
    /// Makes a handle, and the queue of what is to be sent.
    pub(super) fn new() -> (Self, mpsc::Receiver<String>) {
        let (outgoing, queue) = mpsc::channel(MAX_QUEUED);
        let shared = Shared { state: Mutex::default(), outgoing, lost: watch::Sender::new(false) };
        (Self(Arc::new(shared)), queue)
    }

    /// Sends a command and waits for its answer; the browser itself is the session without a name.
    pub(crate) async fn call(&self, session: &str, method: &'static str, params: Value) -> CdpResult {
        let (answer, answered) = oneshot::channel();
        let id = self.next_id(Some(PendingCall { method, answer })).ok_or(CdpError::Lost)?;
        // A caller that stops waiting leaves nothing behind.
        let _entry = PendingCallGuard { cdp: self, id };
        let message = message(id, session, method, params);
        tokio::select! {
            sent = self.0.outgoing.send(message) => sent.map_err(|_| CdpError::Lost)?,
            () = self.disconnected() => return Err(CdpError::Lost),
        }
        answered.await.unwrap_or(Err(CdpError::Lost))
    }

    /// Sends a command whose answer nobody needs. It does not wait: when the queue is full, the connection is given up.
    pub(crate) fn send_no_reply(&self, session: &str, method: &'static str, params: Value) {
        let Some(id) = self.next_id(None) else { return };
        let sent = self.0.outgoing.try_send(message(id, session, method, params));
        if let Err(TrySendError::Full(_)) = sent {
            tracing::warn!(MAX_QUEUED, "the browser takes no more commands and is given up");
            self.disconnect();
        }
    }

    /// Tells a listener all events of a session from now on, and when the connection is lost.
    pub(crate) fn subscribe(&self, session: &str, listener: impl Fn(CdpEvent) + Send + Sync + 'static) {
        let old = self.lock().listeners.insert(session.to_owned(), Arc::new(listener));
        // What a listener holds may call back when it goes.
        drop(old);
    }

    pub(crate) fn unsubscribe(&self, session: &str) {
        let old = self.lock().listeners.remove(session);
        drop(old);
    }

    pub(crate) fn is_lost(&self) -> bool {
        *self.0.lost.borrow()
    }

    /// Waits until the other end is gone.
    pub(crate) async fn disconnected(&self) {
        // The sender lives as long as this handle.
        let _ = self.0.lost.subscribe().wait_for(|lost| *lost).await;
    }

    /// Returns the id of the next command and takes note of who waits for its answer, unless the connection is lost.
    fn next_id(&self, waiting: Option<PendingCall>) -> Option<u64> {
        let mut state = self.lock();
        if self.is_lost() {
            return None;
        }
        state.last_id += 1;
        let id = state.last_id;
        if let Some(waiting) = waiting {
            state.waiting.insert(id, waiting);
        }
        Some(id)
    }

    /// Gives up on the other end: whoever waits for an answer is told.
    pub(crate) fn disconnect(&self) {
        let listeners: Vec<Listener> = {
            let mut state = self.lock();
            self.0.lost.send_replace(true);
            // Dropping the senders is the answer.
            state.waiting.clear();
            state.listeners.drain().map(|(_, listener)| listener).collect()
        };
        for listener in listeners {
            listener(CdpEvent::Lost);
        }
    }

    pub(super) fn receive(&self, message: &[u8], is_whole: bool) {
        if !is_whole {
            if let Some(waiting) = id_at_the_head(message).and_then(|id| self.lock().waiting.remove(&id)) {
                let _ = waiting.answer.send(Err(CdpError::TooLarge { method: waiting.method }));
            }
            return;
        }
        let read = serde_json::from_slice::<Value>(message).or_else(|_| {
            let mut repaired = message.to_vec();
            surrogates::replace_lone(&mut repaired);
            serde_json::from_slice(&repaired)
        });
        let Ok(mut message) = read else {
            tracing::warn!("a message of the browser is no JSON");
            return;
        };
        if let Some(id) = message["id"].as_u64() {
            let Some(PendingCall { method, answer }) = self.lock().waiting.remove(&id) else { return };
            let outcome = match message["error"]["message"].as_str() {
                Some(text) => Err(CdpError::Refused { method, message: text.to_owned() }),
                None => Ok(message["result"].take()),
            };
            // Whoever asked may have stopped waiting.
            let _ = answer.send(outcome);
            return;
        }
        let listener = self.lock().listeners.get(message["sessionId"].as_str().unwrap_or_default()).cloned();
        if let (Some(listener), Value::String(method)) = (listener, message["method"].take()) {
            listener(CdpEvent::Event { method, params: message["params"].take() });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct PendingCallGuard<'a> {
    cdp: &'a Cdp,
    id: u64,
}

impl Drop for PendingCallGuard<'_> {
    fn drop(&mut self) {
        self.cdp.lock().waiting.remove(&self.id);
    }
}

/// Writes a command; the session without a name is the browser itself.
fn message(id: u64, session: &str, method: &str, params: Value) -> String {
    let mut message = json!({"id": id, "method": method});
    message["params"] = params;
    if !session.is_empty() {
        message["sessionId"] = session.into();
    }
    message.to_string()
}

/// Reads the id of an answer that was cut: Chromium writes it first.
fn id_at_the_head(message: &[u8]) -> Option<u64> {
    let digits = message.strip_prefix(br#"{"id":"#)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_browser_that_reads_nothing_is_given_up_when_the_queue_is_full() {
        let (cdp, queue) = Cdp::new();
        for _ in 0..MAX_QUEUED {
            cdp.send_no_reply("", "A.b", json!({}));
        }
        assert!(!cdp.is_lost());
        let waiting = tokio::spawn({
            let cdp = cdp.clone();
            async move { cdp.call("", "A.b", json!({})).await }
        });
        // It waits for a place in the queue.
        while cdp.lock().waiting.is_empty() {
            tokio::task::yield_now().await;
        }
        cdp.send_no_reply("", "A.b", json!({}));
        assert!(cdp.is_lost());
        assert!(matches!(waiting.await.unwrap(), Err(CdpError::Lost)));
        assert_eq!(queue.len(), MAX_QUEUED);
    }

    #[tokio::test]
    async fn a_command_waits_for_its_place_in_the_queue() {
        let (cdp, mut queue) = Cdp::new();
        for _ in 0..MAX_QUEUED {
            cdp.send_no_reply("", "A.b", json!({}));
        }
        let calling = tokio::spawn({
            let cdp = cdp.clone();
            async move { cdp.call("s", "C.d", json!({})).await }
        });
        let mut last = String::new();
        for _ in 0..=MAX_QUEUED {
            last = queue.recv().await.unwrap();
        }
        assert!(last.contains("C.d"), "{last}");
        cdp.receive(format!("{{\"id\":{},\"result\":{{\"e\":1}}}}", MAX_QUEUED + 1).as_bytes(), true);
        assert_eq!(calling.await.unwrap().unwrap(), json!({"e": 1}));
    }

    #[test]
    fn the_id_of_a_cut_answer_is_found() {
        assert_eq!(id_at_the_head(br#"{"id":42,"result":{"data":"AAA"#), Some(42));
        assert_eq!(id_at_the_head(br#"{"method":"Page.x","params":{"#), None);
    }
}
