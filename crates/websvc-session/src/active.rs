//! A session with a browser in this process: its clients, its use, and the wait for its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};
use websvc_browser::{BrowserError, ClientRole, Connector, DownloadError, DownloadedFile};
use websvc_store::{BrowserSessionRecord, UsageRetention};
use websvc_types::limits::INTERACT_WAITING_MAX;

use crate::code::{ChannelClosed, PageTarget};
use crate::error::SessionError;
use crate::model::SessionEnd;
use crate::program::DOWNLOAD_LIMITS;
use crate::token::Token;

/// The interval between two checks whether a session that is in use still is.
const IN_USE_CHECK: Duration = Duration::from_secs(1);
/// The maximum number of connected clients of a session.
const MAX_CLIENTS: usize = 8;

/// The tokens of the URLs of a session.
#[derive(Debug, Clone)]
pub struct SessionUrls {
    control: Token,
    view: Token,
}

impl SessionUrls {
    /// Creates new tokens.
    pub(crate) fn random() -> Result<Self, SessionError> {
        Ok(Self { control: Token::random()?, view: Token::random()? })
    }

    /// Returns the token that gives control of the browser.
    #[must_use]
    pub fn control_token(&self) -> &str {
        self.control.as_str()
    }

    /// Returns the token that shows the session.
    #[must_use]
    pub fn view_token(&self) -> &str {
        self.view.as_str()
    }
}

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
    /// The target that the last program had as its page, if that was not the first tab.
    chosen_page: Mutex<Option<String>>,
    end_requested: watch::Sender<bool>,
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
    /// True for a client of the CDP endpoint, whose number is limited.
    is_counted: bool,
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
            chosen_page: Mutex::default(),
            end_requested: watch::Sender::new(false),
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
        self.count_client()?;
        let connected = self.connector.connect().await;
        let channel = connected.map_err(|error| {
            self.clients.fetch_sub(1, Ordering::AcqRel);
            ended(error)
        })?;
        self.touch();
        Ok(ClientConnection { channel, session: Arc::clone(self), is_counted: true })
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
        Ok((ClientConnection { channel, session: Arc::clone(self), is_counted: false }, page_target(page)))
    }

    /// Connects a viewer to the current page.
    ///
    /// # Errors
    /// [`SessionError::TooManyClients`], and [`SessionError::Ended`] if the browser has ended.
    pub(crate) async fn watch(self: &Arc<Self>) -> Result<(ClientConnection, PageTarget), SessionError> {
        self.count_client()?;
        let chosen = self.chosen_page.lock().clone();
        match self.connector.connect_to_page(ClientRole::Watches, chosen).await {
            Ok((channel, page)) => {
                let connection = ClientConnection { channel, session: Arc::clone(self), is_counted: true };
                Ok((connection, page_target(page)))
            }
            Err(error) => {
                self.clients.fetch_sub(1, Ordering::AcqRel);
                Err(ended(error))
            }
        }
    }

    fn count_client(&self) -> Result<(), SessionError> {
        if self.clients.fetch_add(1, Ordering::AcqRel) >= MAX_CLIENTS {
            self.clients.fetch_sub(1, Ordering::AcqRel);
            return Err(SessionError::TooManyClients { max: MAX_CLIENTS });
        }
        Ok(())
    }

    /// Requests the end of the session, and waits for it.
    pub(crate) async fn end(&self) -> SessionEnd {
        self.end_requested.send_replace(true);
        let mut ended = self.ended.subscribe();
        // Cannot fail: `self` owns the sender.
        let ended = ended.wait_for(Option::is_some).await;
        ended.ok().and_then(|ended| ended.clone()).unwrap_or_default()
    }

    pub(crate) fn record_end(&self, end: SessionEnd) {
        self.ended.send_replace(Some(end));
    }

    /// Waits until the session has to end, unless its browser ends before.
    pub(crate) async fn wait_for_end(&self) -> &'static str {
        let mut end_requested = self.end_requested.subscribe();
        tokio::select! {
            _ = end_requested.wait_for(|is_requested| *is_requested) => "deleted",
            () = sleep_until(self.created + self.ttl) => "expired",
            () = self.wait_until_unused() => "unused",
        }
    }

    async fn wait_until_unused(&self) {
        loop {
            let unused_at = *self.used.lock() + self.activity_ttl;
            let now = Instant::now();
            if self.running.load(Ordering::Acquire) > 0 {
                sleep_until(now + IN_USE_CHECK).await;
            } else if unused_at <= now {
                return;
            } else {
                sleep_until(unused_at).await;
            }
        }
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

impl ClientConnection {
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
        if self.is_counted {
            self.session.clients.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
