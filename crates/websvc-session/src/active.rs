//! A session with a browser in this process: its clients, its use, and the wait for its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::Instant;
use websvc_browser::{BrowserError, ClientRole, Connector, DownloadError, DownloadedFile};
use websvc_engine::SessionUse;
use websvc_store::{BrowserSessionRecord, CreditHold, UsageRetention};
use websvc_types::limits::INTERACT_WAITING_MAX;

use crate::code::{ChannelClosed, PageTarget};
use crate::error::SessionError;
use crate::lifetime::Lifetime;
use crate::metrics::EndReason;
use crate::model::SessionEnd;
use crate::program::DOWNLOAD_LIMITS;
use crate::urls::SessionUrls;

/// The maximum number of connected clients of a session.
const MAX_CLIENTS: usize = 8;
/// The maximum number of connected viewers of a session. They have a limit of their own, because a link to the live view
/// must not keep clients out.
const MAX_VIEWERS: usize = 8;
/// The minimum time between two pictures of a session, for all viewers together.
const FRAME_INTERVAL: Duration = Duration::from_millis(67);

/// A session with a browser in this process.
#[derive(Debug)]
pub(crate) struct ActiveSession {
    pub(crate) record: BrowserSessionRecord,
    pub(crate) urls: SessionUrls,
    pub(crate) created: Instant,
    ttl: Duration,
    activity_ttl: Duration,
    connector: Connector,
    /// How much of the requests of the session may be stored.
    pub(crate) retention: UsageRetention,
    used: Mutex<Instant>,
    /// The number of runs of code in progress, of which there is one at most, and of those that wait.
    running: AtomicUsize,
    turn: Semaphore,
    clients: AtomicUsize,
    viewers: AtomicUsize,
    /// The time from which the next picture may be requested.
    next_frame: Mutex<Instant>,
    /// The target that the last program had as its page, if that was not the first tab.
    chosen_page: Mutex<Option<String>>,
    /// The credits that the price of prompts adds, as soon as a prompt was requested.
    prompt_hold: Mutex<Option<CreditHold>>,
    /// True as soon as a prompt has run.
    was_prompted: AtomicBool,
    end_requested: watch::Sender<bool>,
    /// True once the session begins to end, for any reason.
    is_ending: watch::Sender<bool>,
    ended: watch::Sender<Option<SessionEnd>>,
}

/// The turn of a request in a session.
pub(crate) struct Turn<'a> {
    _permit: SemaphorePermit<'a>,
    _running: RunningGuard<'a>,
}

/// A client that is connected to a session over the DevTools protocol. Its messages count as use of the session.
#[derive(Debug)]
pub struct ClientConnection {
    channel: websvc_browser::CdpChannel,
    session: Arc<ActiveSession>,
    counted: Option<CountedAs>,
}

/// The kind of connections whose number is limited. Those of programs are not: one program runs at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedAs {
    Client,
    Viewer,
}

impl ActiveSession {
    pub(crate) fn new(
        record: BrowserSessionRecord,
        urls: SessionUrls,
        connector: Connector,
        retention: UsageRetention,
        ttl: Duration,
        activity_ttl: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            record,
            urls,
            created: now,
            ttl,
            activity_ttl,
            connector,
            retention,
            used: Mutex::new(now),
            running: AtomicUsize::new(0),
            turn: Semaphore::new(1),
            clients: AtomicUsize::new(0),
            viewers: AtomicUsize::new(0),
            next_frame: Mutex::new(now),
            chosen_page: Mutex::default(),
            prompt_hold: Mutex::default(),
            was_prompted: AtomicBool::new(false),
            end_requested: watch::Sender::new(false),
            is_ending: watch::Sender::new(false),
            ended: watch::Sender::new(None),
        }
    }

    /// Records that the client uses the session.
    pub(crate) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// Returns the time since the last use.
    pub(crate) fn idle_for(&self) -> Duration {
        self.used.lock().elapsed()
    }

    /// Returns its time to live.
    pub(crate) fn ttl(&self) -> Duration {
        self.ttl
    }

    /// Returns whether it holds the credits that prompts add.
    pub(crate) fn has_prompt_hold(&self) -> bool {
        self.prompt_hold.lock().is_some()
    }

    /// Keeps the credits that prompts add, until the end of the session.
    pub(crate) fn set_prompt_hold(&self, hold: CreditHold) {
        *self.prompt_hold.lock() = Some(hold);
    }

    /// Returns the credits that prompts add. Those of a session without a prompt are released.
    pub(crate) fn take_prompt_hold(&self) -> Option<CreditHold> {
        self.prompt_hold.lock().take()
    }

    /// Records that a prompt runs, which decides the price of the whole session.
    pub(crate) fn record_prompt(&self) {
        self.was_prompted.store(true, Ordering::Release);
    }

    /// Returns the use that decides the price.
    pub(crate) fn usage(&self) -> SessionUse {
        if self.was_prompted.load(Ordering::Acquire) { SessionUse::Prompt } else { SessionUse::Code }
    }

    /// Returns whether a token is that of control.
    pub(crate) fn admits_control(&self, token: &str) -> bool {
        self.urls.control.matches(token)
    }

    /// Returns whether a token shows the session.
    pub(crate) fn admits_view(&self, token: &str) -> bool {
        self.urls.view.matches(token) || self.urls.control.matches(token)
    }

    /// Waits for the turn of a request: one after another uses the session.
    ///
    /// # Errors
    /// [`SessionError::Busy`] if too many requests wait.
    pub(crate) async fn take_turn(&self) -> Result<Turn<'_>, SessionError> {
        if self.running.fetch_add(1, Ordering::AcqRel) > INTERACT_WAITING_MAX {
            self.running.fetch_sub(1, Ordering::AcqRel);
            return Err(SessionError::Busy { max: INTERACT_WAITING_MAX });
        }
        let running = RunningGuard(self);
        self.touch();
        let permit = self.turn.acquire().await.map_err(|_| SessionError::Ended)?;
        Ok(Turn { _permit: permit, _running: running })
    }

    /// Connects a client to the whole browser.
    ///
    /// # Errors
    /// [`SessionError::TooManyClients`], and [`SessionError::Ended`] if the browser has ended.
    pub(crate) async fn connect(self: &Arc<Self>) -> Result<ClientConnection, SessionError> {
        let counted = self.count(CountedAs::Client)?;
        let channel = self.connector.connect().await.map_err(ended)?;
        self.touch();
        Ok(counted.into_connection(channel))
    }

    /// Makes a target the current page, as long as its tab is open.
    pub(crate) fn choose_page(&self, target: String) {
        *self.chosen_page.lock() = Some(target);
    }

    /// Connects a program to the current page.
    ///
    /// # Errors
    /// [`SessionError::Ended`] if the browser has ended.
    pub(crate) async fn connect_to_page(
        self: &Arc<Self>,
    ) -> Result<(ClientConnection, PageTarget), SessionError> {
        let chosen = self.chosen_page.lock().clone();
        let connecting = self.connector.connect_to_page(ClientRole::Runs(DOWNLOAD_LIMITS), chosen);
        let (channel, page) = connecting.await.map_err(ended)?;
        Ok((ClientConnection { channel, session: Arc::clone(self), counted: None }, page_target(page)))
    }

    /// Ends the scripts of tabs that do not answer, in the background.
    pub(crate) fn unblock_tabs(&self) {
        self.connector.unblock_tabs();
    }

    /// Connects a viewer to the current page.
    ///
    /// # Errors
    /// [`SessionError::TooManyClients`], and [`SessionError::Ended`] if the browser has ended.
    pub(crate) async fn watch(self: &Arc<Self>) -> Result<(ClientConnection, PageTarget), SessionError> {
        let counted = self.count(CountedAs::Viewer)?;
        let chosen = self.chosen_page.lock().clone();
        let connecting = self.connector.connect_to_page(ClientRole::Watches, chosen);
        let (channel, page) = connecting.await.map_err(ended)?;
        Ok((counted.into_connection(channel), page_target(page)))
    }

    /// Counts a connection before it exists, so that it is not counted if it fails or its client is gone.
    fn count(self: &Arc<Self>, kind: CountedAs) -> Result<CountGuard, SessionError> {
        let (counter, max) = self.counter(kind);
        if counter.fetch_add(1, Ordering::AcqRel) >= max {
            counter.fetch_sub(1, Ordering::AcqRel);
            return Err(SessionError::TooManyClients { max });
        }
        Ok(CountGuard { session: Arc::clone(self), kind, is_connected: false })
    }

    fn counter(&self, kind: CountedAs) -> (&AtomicUsize, usize) {
        match kind {
            CountedAs::Client => (&self.clients, MAX_CLIENTS),
            CountedAs::Viewer => (&self.viewers, MAX_VIEWERS),
        }
    }

    /// Returns the numbers of connected clients and of viewers.
    pub(crate) fn connections(&self) -> (usize, usize) {
        (self.clients.load(Ordering::Acquire), self.viewers.load(Ordering::Acquire))
    }

    /// Requests the end of the session, and waits for it.
    pub(crate) async fn end(&self) -> SessionEnd {
        self.end_requested.send_replace(true);
        let mut ended = self.ended.subscribe();
        // Cannot fail: `self` owns the sender.
        let ended = ended.wait_for(Option::is_some).await;
        ended.ok().and_then(|ended| ended.clone()).unwrap_or_default()
    }

    /// Stops the work of the session. It gets no more of it.
    pub(crate) fn stop_work(&self) {
        self.is_ending.send_replace(true);
    }

    /// Does work of the session, which is dropped when the session ends.
    ///
    /// # Errors
    /// [`SessionError::Ended`] if the session ends before, and the errors of the work.
    pub(crate) async fn work<T>(
        &self,
        work: impl Future<Output = Result<T, SessionError>>,
    ) -> Result<T, SessionError> {
        let mut is_ending = self.is_ending.subscribe();
        tokio::select! {
            biased;
            // Cannot fail: `self` owns the sender.
            _ = is_ending.wait_for(|is_ending| *is_ending) => Err(SessionError::Ended),
            done = work => done,
        }
    }

    pub(crate) fn record_end(&self, end: SessionEnd) {
        self.ended.send_replace(Some(end));
    }

    /// Waits until the session has to end, unless its browser ends before.
    pub(crate) async fn wait_for_end(&self) -> EndReason {
        let lifetime = Lifetime {
            ends_at: self.created + self.ttl,
            activity_ttl: self.activity_ttl,
            used: &self.used,
            running: &self.running,
            end_requested: self.end_requested.subscribe(),
        };
        lifetime.wait().await
    }
}

fn page_target(page: websvc_browser::PageTarget) -> PageTarget {
    let websvc_browser::PageTarget { target, session } = page;
    PageTarget { target_id: target, session_id: session }
}

/// Returns the error for a client that cannot connect.
fn ended(error: BrowserError) -> SessionError {
    match error {
        BrowserError::Crashed => SessionError::Ended,
        other => SessionError::Browser(other),
    }
}

/// Ends a run or a wait when it is dropped.
pub(crate) struct RunningGuard<'a>(&'a ActiveSession);

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A connection that is counted and does not exist yet. Dropping it means that it failed.
struct CountGuard {
    session: Arc<ActiveSession>,
    kind: CountedAs,
    is_connected: bool,
}

impl CountGuard {
    fn into_connection(mut self, channel: websvc_browser::CdpChannel) -> ClientConnection {
        self.is_connected = true;
        ClientConnection { channel, session: Arc::clone(&self.session), counted: Some(self.kind) }
    }
}

impl Drop for CountGuard {
    fn drop(&mut self) {
        if !self.is_connected {
            self.session.counter(self.kind).0.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl ClientConnection {
    /// Reserves the next picture of the session. Returns the time from which a viewer may request it, so that all viewers
    /// together get at most 15 pictures per second.
    #[must_use]
    pub fn reserve_frame(&self) -> Instant {
        let mut next = self.session.next_frame.lock();
        let at = Instant::now().max(*next);
        *next = at + FRAME_INTERVAL;
        at
    }

    /// Sends a message of the client.
    ///
    /// # Errors
    /// [`ChannelClosed`] if the connection has ended.
    pub fn send(&self, message: &str) -> Result<(), ChannelClosed> {
        self.session.touch();
        self.channel.send(message).map_err(|websvc_browser::ChannelClosed| ChannelClosed)
    }

    /// Sends a message that does not count as use of the session: a viewer requests the next picture.
    ///
    /// # Errors
    /// [`ChannelClosed`] if the connection has ended.
    pub fn send_unnoticed(&self, message: &str) -> Result<(), ChannelClosed> {
        self.channel.send(message).map_err(|websvc_browser::ChannelClosed| ChannelClosed)
    }

    /// Waits until a download of a program has ended, and returns its file, once.
    pub(crate) fn receive_download(
        &self,
        id: String,
    ) -> impl Future<Output = Result<DownloadedFile, DownloadError>> + Send + use<> {
        self.channel.receive_download(id)
    }

    pub(crate) fn cancel_download(&self, id: &str) {
        self.session.touch();
        self.channel.cancel_download(id);
    }

    /// Returns the next message for the client; `None` if the connection has ended.
    pub async fn receive(&mut self) -> Option<String> {
        self.channel.receive().await
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        if let Some(kind) = self.counted {
            self.session.counter(kind).0.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
