//! Browsers of interactive sessions: a Chromium of its own for each, whose pages clients control over the DevTools
//! protocol.
//!
//! One task owns the page of the session, from its opening to the capture of its state. A session may have several tabs;
//! all of them are in one browser context, with one guarded proxy.

mod channel;
mod downloads;
mod driver;
mod filter;
#[cfg(test)]
mod tests;
mod unblock;
mod visibility;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::BrowserError;
use crate::process::BrowserProcess;
use crate::request::RenderRequest;
use crate::state::State;

pub(crate) use driver::Driver;

pub use channel::{CdpChannel, ChannelClosed, PageTarget};
pub use downloads::{DownloadError, DownloadLimits, DownloadedFile};

/// The maximum number of tabs of a session. Further windows are closed.
const MAX_TABS: usize = 16;
/// The maximum number of requests to the task of a session that wait.
const MAX_QUEUED: usize = 16;
/// The time in which the state of a session is captured at its end.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time in which a client is connected. A client that waits for longer gets an error.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time in which the last tab of a session is replaced. A session without a tab ends.
const REOPEN_TIMEOUT: Duration = Duration::from_secs(15);
/// The time in which a session ends: a new tab, two captures, and the stop of Chromium. After that, Chromium is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(75);

/// The first page of an interactive session.
#[derive(Debug, Clone)]
pub struct InteractiveRequest {
    /// The settings of the page, its URL and its steps. The deadline is that of the opening.
    pub page: RenderRequest,
    /// The document to open.
    pub start: StartPage,
}

/// The document that a session starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPage {
    /// An empty page.
    Blank,
    /// The URL of the request, after which its steps run.
    Url,
}

/// The role of a client in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientRole {
    /// It controls the browser, and answers the dialogs of its pages.
    Controls,
    /// It is a program, which controls the browser and gets the downloads of its pages. There is one at a time.
    Runs(DownloadLimits),
    /// It shows the page to people. Dialogs are answered as if it was not there.
    Watches,
}

/// The Chromium of one interactive session. Dropping it stops it in the background.
pub struct InteractiveBrowser {
    requests: mpsc::Sender<driver::Request>,
    /// Not a request, so that it waits for none of them.
    end: mpsc::Sender<driver::EndRequest>,
    process: Arc<BrowserProcess>,
    task: JoinHandle<()>,
}

/// Connects clients to the browser of a session. Cheap to clone.
#[derive(Clone)]
pub struct Connector(mpsc::WeakSender<driver::Request>);

impl InteractiveBrowser {
    /// Opens the first page in a started Chromium.
    pub(crate) async fn open(process: BrowserProcess, driver: Driver) -> Result<Self, BrowserError> {
        let process = Arc::new(process);
        let (requests, received) = mpsc::channel(MAX_QUEUED);
        let (end, end_received) = mpsc::channel(1);
        let (opened, opening) = oneshot::channel();
        let inbox = driver::Inbox { requests: received, end: end_received };
        let task = tokio::spawn(driver.run(Arc::clone(&process), inbox, opened));
        let browser = Self { requests, end, process, task };
        match opening.await {
            Ok(Ok(())) => Ok(browser),
            Ok(Err(error)) => {
                browser.close_without_state().await;
                Err(error)
            }
            Err(_) => Err(BrowserError::Crashed),
        }
    }

    /// Returns the connector of clients, which does not keep the browser alive.
    #[must_use]
    pub fn connector(&self) -> Connector {
        Connector(self.requests.downgrade())
    }

    /// Returns whether Chromium has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.process.cdp().is_lost()
    }

    /// Waits until Chromium has ended.
    pub async fn ended(&self) {
        self.process.cdp().disconnected().await;
    }

    /// Returns the PID of its root process, which is also the ID of its process group.
    #[must_use]
    pub fn root_pid(&self) -> Option<i32> {
        self.process.root_pid()
    }

    /// Returns the memory of all its processes at the last sample, in bytes; 0 if it is not known.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.process.last_memory_bytes()
    }

    /// Disconnects the clients, captures the state if the request of the session wants it, and stops Chromium. Returns
    /// `None` for the state if it was not wanted, or could not be captured.
    ///
    /// Waits no longer than is needed for that: a Chromium that does not respond is killed.
    pub async fn close(self) -> Option<State> {
        let Self { requests, end, process, task } = self;
        let mut state = None;
        let asking = async {
            let (reply, response) = oneshot::channel();
            if end.send(reply).await.is_ok() {
                state = response.await.unwrap_or(None);
            }
        };
        stop(&process, task, asking, CLOSE_TIMEOUT).await;
        drop(requests);
        state
    }

    async fn close_without_state(self) {
        let Self { requests, end, process, task } = self;
        stop(&process, task, async { drop((requests, end)) }, CLOSE_TIMEOUT).await;
    }
}

/// Asks the task of a session to end, and waits for that. When the time is over, ends the task and kills the browser.
async fn stop(
    process: &BrowserProcess,
    mut task: JoinHandle<()>,
    asking: impl Future<Output = ()>,
    time: Duration,
) {
    let ending = async {
        asking.await;
        // A panic of the task has dropped the processes, which kills them.
        let _ = (&mut task).await;
    };
    if timeout(time, ending).await.is_err() {
        tracing::warn!("a browser session did not end in time; killing its browser");
        task.abort();
        process.kill();
        process.stop().await;
    }
}

impl Connector {
    /// Connects a client, which sees the whole browser of the session.
    ///
    /// # Errors
    /// [`BrowserError::Crashed`] if the browser has ended.
    pub async fn connect(&self) -> Result<CdpChannel, BrowserError> {
        let (reply, response) = oneshot::channel();
        self.send(driver::Request::Connect(reply)).await?;
        response.await.unwrap_or(Err(BrowserError::Crashed))
    }

    /// Connects a client to the chosen page, or to the current one if none is chosen or its tab is closed.
    ///
    /// # Errors
    /// [`BrowserError::Crashed`] if the browser has ended.
    pub async fn connect_to_page(
        &self,
        role: ClientRole,
        chosen: Option<String>,
    ) -> Result<(CdpChannel, PageTarget), BrowserError> {
        let (reply, response) = oneshot::channel();
        self.send(driver::Request::ConnectToPage { role, chosen, reply }).await?;
        response.await.unwrap_or(Err(BrowserError::Crashed))
    }

    /// Ends the scripts of tabs that do not answer, in the background: those of a program that was stopped. Tabs that answer
    /// are left alone. The next client is connected afterwards.
    pub fn unblock_tabs(&self) {
        // The next program does the same if the session has too many requests now.
        if let Some(requests) = self.0.upgrade() {
            drop(requests.try_send(driver::Request::UnblockTabs));
        }
    }

    async fn send(&self, request: driver::Request) -> Result<(), BrowserError> {
        let requests = self.0.upgrade().ok_or(BrowserError::Crashed)?;
        requests.send(request).await.map_err(|_| BrowserError::Crashed)
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl fmt::Debug for InteractiveBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InteractiveBrowser").field("root_pid", &self.root_pid()).finish_non_exhaustive()
    }
}
