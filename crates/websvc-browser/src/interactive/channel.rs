//! A channel of the DevTools protocol for one client of a session: it sees only the targets of the session, and its
//! commands pass the filter.
//!
//! Each client is attached to the browser by a protocol session of its own (`Target.attachToBrowserTarget`), which stands
//! for the browser in its messages. So the clients of a session, and websvc itself, do not affect each other.

mod commands;
mod events;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::{Semaphore, mpsc};

use super::downloads::{AcceptedDownloads, DownloadError, DownloadedFile, Downloads};
use super::filter::Ownership;
use super::visibility::{Reporter, Visibility, judge};
use crate::connection::{Cdp, Json};
use crate::error::BrowserError;
use crate::page::ClientChange;
use crate::targets::TargetRegistry;

/// The maximum number of messages that wait for a client to receive them.
const MAX_QUEUED: usize = 8 * 1024;
/// The maximum size of these messages. A client that does not read them is disconnected.
const MAX_QUEUED_BYTES: usize = 128 * 1024 * 1024;
/// The maximum number of commands of a client that are not yet answered.
const MAX_IN_FLIGHT: usize = 1024;
/// The maximum size of the commands of a client that Chromium has not yet read.
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;
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

/// The browser of a session, as a channel needs it.
pub(super) struct SessionBrowser {
    pub(super) cdp: Cdp,
    pub(super) targets: Arc<TargetRegistry>,
    /// The browser context of the session.
    pub(super) context: String,
    /// True as soon as a tab of the session requests a document of the server. Then no client gets a message any more.
    pub(super) is_forbidden: Arc<AtomicBool>,
}

/// The state that a channel shares with the listeners of its protocol sessions.
pub(super) struct ChannelState {
    browser: SessionBrowser,
    /// The protocol session that stands for the browser.
    root: String,
    objects: Mutex<Objects>,
    /// The sender of messages to the client; `None` once the channel has ended.
    outgoing: Mutex<Option<mpsc::Sender<String>>>,
    queued_bytes: AtomicUsize,
    /// The memory for commands that Chromium has not yet read, in bytes.
    waiting: Arc<Semaphore>,
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
    /// The targets whose creation was reported to the client.
    announced: HashSet<String>,
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
        f.debug_struct("ChannelState").field("context", &self.browser.context).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for CdpChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CdpChannel").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl CdpChannel {
    /// Attaches a client to the browser.
    pub(super) async fn open(browser: SessionBrowser, clients: ClientCount) -> Result<Self, BrowserError> {
        let attached = browser.cdp.call("", "Target.attachToBrowserTarget", json!({})).await?;
        let root = attached["sessionId"].as_str();
        let root =
            root.ok_or_else(|| BrowserError::missing_field("Target.attachToBrowserTarget", "sessionId"))?;
        let (outgoing, messages) = mpsc::channel(MAX_QUEUED);
        let shared = Arc::new(ChannelState {
            browser,
            root: root.to_owned(),
            objects: Mutex::default(),
            outgoing: Mutex::new(Some(outgoing)),
            queued_bytes: AtomicUsize::new(0),
            waiting: Arc::new(Semaphore::new(MAX_WAITING_BYTES)),
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
        let attached =
            self.shared.browser.cdp.call(&self.shared.root, "Target.attachToTarget", params).await?;
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
        if self.shared.is_closed() || self.shared.is_forbidden() {
            return Err(ChannelClosed);
        }
        self.shared.send(message);
        Ok(())
    }

    /// Returns the next message for the client; `None` if the channel has ended.
    pub async fn receive(&mut self) -> Option<String> {
        let message = self.messages.recv().await?;
        if self.shared.is_forbidden() {
            // It may show the document.
            self.shared.close();
            return None;
        }
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
            self.browser.cdp.unsubscribe(session);
        }
        self.browser.cdp.unsubscribe(&self.root);
        // Detaches from all targets, too.
        self.browser.cdp.send_no_reply("", "Target.detachFromTarget", json!({"sessionId": self.root}));
        drop(self.outgoing.lock().take());
        (self.clients)(ClientChange::Detached);
    }

    fn lock(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock()
    }

    fn is_forbidden(&self) -> bool {
        self.browser.is_forbidden.load(Ordering::Acquire)
    }

    /// Ends the channel because a tab of the session shows a document of the server, and drops the messages that wait. The
    /// task of the session ends it for the same reason.
    fn forbid(&self) {
        self.browser.is_forbidden.store(true, Ordering::Release);
        self.close();
    }

    /// Decides whether the client sees a target.
    fn judge(&self, target: &Value, reporter: Reporter) -> Visibility {
        let SessionBrowser { targets, context, .. } = &self.browser;
        judge(target, context, reporter, |page| targets.is_web_page(context, page))
    }

    /// Queues a message for the client. Ends the channel of a client that does not read.
    fn deliver(&self, message: &Value) {
        self.deliver_text(message.to_string());
    }

    /// Queues a message for the client: its members, the session that it is for, and a part of a message of the browser.
    fn deliver_parts(&self, mut head: Value, session: &str, part: Option<(&str, Json<'_>)>) {
        add_session(&mut head, session);
        let head = head.to_string();
        let Some((name, part)) = part else { return self.deliver_text(head) };
        let part = part.text();
        let mut text = String::with_capacity(head.len() + name.len() + part.len() + 4);
        // Without its closing brace.
        text.push_str(&head[..head.len() - 1]);
        for piece in [",\"", name, "\":", &part, "}"] {
            text.push_str(piece);
        }
        self.deliver_text(text);
    }

    fn deliver_text(&self, text: String) {
        if self.is_forbidden() {
            return self.close();
        }
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
}

impl Ownership for ChannelState {
    fn context(&self) -> &str {
        &self.browser.context
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
