//! The task of an interactive session: it owns the page, and answers one request after another.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use websvc_transport::Client;

use super::channel::{CdpChannel, ChannelHandle, ClientCount, PageTarget, SessionBrowser};
use super::downloads::Downloads;
use super::unblock::unblock;
use super::{
    CAPTURE_TIMEOUT, CONNECT_TIMEOUT, ClientRole, InteractiveRequest, MAX_TABS, REOPEN_TIMEOUT, StartPage,
};
use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::page::{BrowserContext, Page, WarmPage};
use crate::process::{BrowserProcess, PageSlotGuard};
use crate::state::{Changes, Session, State};

/// A request to the task of a session.
pub(crate) enum Request {
    Connect(oneshot::Sender<Result<CdpChannel, BrowserError>>),
    ConnectToPage {
        role: ClientRole,
        /// The target to connect to while its tab is open.
        chosen: Option<String>,
        reply: oneshot::Sender<Result<(CdpChannel, PageTarget), BrowserError>>,
    },
    /// Ends the scripts of tabs that do not answer.
    UnblockTabs,
}

/// A request to end the session, with the sender of its state.
pub(super) type EndRequest = oneshot::Sender<Option<State>>;

/// The requests that arrive at the task of a session.
pub(super) struct Inbox {
    pub(super) requests: mpsc::Receiver<Request>,
    /// Served first, also while a client is connected. Closed if the session was dropped.
    pub(super) end: mpsc::Receiver<EndRequest>,
}

/// The parameters of the task.
pub(crate) struct Driver {
    pub(crate) client: Client,
    pub(crate) config: BrowserConfig,
    pub(crate) request: InteractiveRequest,
}

/// The reason why a page is no longer served.
enum PageEnd {
    /// Its tab was closed, and this request needs another one.
    NeedsTab(Request),
    Close(EndRequest),
    /// The session was dropped, or Chromium has ended.
    Over,
}

impl Driver {
    /// Opens the page, reports whether that succeeded, and serves requests until the end of the session.
    pub(super) async fn run(
        self,
        process: Arc<BrowserProcess>,
        mut inbox: Inbox,
        opened: oneshot::Sender<Result<(), BrowserError>>,
    ) {
        // Makes the watchdog measure the processes.
        let slot = PageSlotGuard::new(Arc::clone(&process), u64::MAX);
        let page = tokio::select! {
            page = self.open(&process) => page,
            // The session was dropped.
            _ = inbox.end.recv() => Err(BrowserError::Crashed),
        };
        match page {
            Ok((page, downloads)) => {
                // Fails if the session was dropped; then there are no requests either.
                let _ = opened.send(Ok(()));
                self.serve(&process, page, &mut inbox, Channels { open: Vec::new(), downloads }).await;
            }
            Err(error) => drop(opened.send(Err(error))),
        }
        drop(slot);
        process.stop().await;
    }

    async fn open<'a>(
        &'a self,
        process: &'a Arc<BrowserProcess>,
    ) -> Result<(Page<'a>, Downloads), BrowserError> {
        let Self { client, config, request: InteractiveRequest { page: request, start } } = self;
        let creation = WarmPage::create(process, client, config, request.proxy.clone());
        let warm_page = tokio::time::timeout_at(request.deadline, creation);
        let warm_page = warm_page.await.unwrap_or(Err(BrowserError::Deadline))?;
        let mut page = Page::new(process, warm_page, config, request);
        page.set_max_tabs(MAX_TABS);
        page.open(request, *start == StartPage::Url).await?;
        process.watch_urls().await?;
        let downloads = Downloads::start(process, page.context_id()).await?;
        Ok((page, downloads))
    }

    /// Serves requests, with a new tab whenever the last one was closed.
    async fn serve(
        &self,
        process: &Arc<BrowserProcess>,
        mut page: Page<'_>,
        inbox: &mut Inbox,
        mut channels: Channels,
    ) {
        let mut next = None;
        loop {
            match self.serve_page(process, &page, inbox, &mut channels, next.take()).await {
                PageEnd::NeedsTab(request) => match self.reopen(page).await {
                    Ok(reopened) => (page, next) = (reopened, Some(request)),
                    Err(error) => {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "a browser session has no tab"
                        );
                        return;
                    }
                },
                PageEnd::Close(reply) => {
                    channels.close();
                    let (context, state) = self.capture(page).await;
                    // The caller may be gone.
                    let _ = reply.send(state);
                    if let Some(context) = context {
                        context.close().await;
                    }
                    return;
                }
                PageEnd::Over => return channels.close(),
            }
        }
    }

    async fn serve_page(
        &self,
        process: &BrowserProcess,
        page: &Page<'_>,
        inbox: &mut Inbox,
        channels: &mut Channels,
        mut next: Option<Request>,
    ) -> PageEnd {
        let Inbox { requests, end } = inbox;
        let mut checking = std::pin::pin!(page.check_navigations(self.request.page.navigation_rule.as_ref()));
        let mut attempts = 0;
        let mut forbidden = std::pin::pin!(page.shows_forbidden_scheme());
        loop {
            let serving = async {
                let request = match next.take() {
                    Some(request) => request,
                    None => match requests.recv().await {
                        Some(request) => request,
                        None => return Served::Over,
                    },
                };
                channels.serve(page, request, &mut attempts).await
            };
            let served = tokio::select! {
                biased;
                () = process.cdp().disconnected() => return PageEnd::Over,
                // Before the requests: the end of the session waits for none of them.
                ended = end.recv() => return ended.map_or(PageEnd::Over, PageEnd::Close),
                // The filter does not let a client get there. If it does, the session ends.
                () = &mut forbidden => return PageEnd::Over,
                never = &mut checking => match never {},
                served = serving => served,
            };
            match served {
                Served::Done => {}
                Served::Retry(request) => next = Some(request),
                Served::NeedsTab(request) => return PageEnd::NeedsTab(request),
                Served::Over => return PageEnd::Over,
            }
        }
    }

    /// Replaces a page by a new tab. If this fails, the session has none.
    async fn reopen<'a>(&'a self, page: Page<'a>) -> Result<Page<'a>, BrowserError> {
        let reopening = timeout(REOPEN_TIMEOUT, page.reopen(&self.request.page));
        reopening.await.unwrap_or(Err(BrowserError::Deadline))
    }

    /// Captures the state if the session wants it, and returns the context of the page.
    async fn capture(&self, page: Page<'_>) -> (Option<BrowserContext>, Option<State>) {
        let Some(Session { state, changes: Changes::Captured }) = &self.request.page.session else {
            return (Some(page.into_context()), None);
        };
        let mut page = page;
        let mut captured = page.capture_while_open(state, Instant::now() + CAPTURE_TIMEOUT).await;
        if captured.is_err() {
            // Its tab was closed or has crashed.
            page = match self.reopen(page).await {
                Ok(page) => page,
                Err(error) => {
                    log_lost_state(&error);
                    return (None, None);
                }
            };
            captured = page.capture_while_open(state, Instant::now() + CAPTURE_TIMEOUT).await;
        }
        if let Err(error) = &captured {
            log_lost_state(error);
        }
        for warning in page.collect_warnings() {
            tracing::info!(warning, "the state of a browser session was captured with a warning");
        }
        (Some(page.into_context()), captured.ok().flatten())
    }
}

fn log_lost_state(error: &BrowserError) {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "the state of a browser session could not be captured"
    );
}

/// The open channels of a session, and the downloads that they see.
struct Channels {
    open: Vec<ChannelHandle>,
    downloads: Downloads,
}

/// The outcome of a request.
enum Served {
    Done,
    /// The tab was closed, and its event has not arrived yet.
    Retry(Request),
    /// No tab is open.
    NeedsTab(Request),
    /// There are no requests any more.
    Over,
}

impl Channels {
    /// Serves a request. `attempts` counts how often a tab was gone in a row.
    async fn serve(&mut self, page: &Page<'_>, request: Request, attempts: &mut usize) -> Served {
        match request {
            Request::UnblockTabs => unblock(page.cdp(), page.tab_sessions()).await,
            Request::Connect(_) if page.current_tab().is_none() => return Served::NeedsTab(request),
            Request::Connect(reply) => {
                let connecting = timeout(CONNECT_TIMEOUT, self.connect(page, ClientRole::Controls));
                // The caller may be gone.
                drop(reply.send(connecting.await.unwrap_or(Err(BrowserError::Deadline))));
            }
            Request::ConnectToPage { role, chosen, reply } => {
                let open = chosen.clone().filter(|chosen| page.has_tab(chosen));
                let Some(target) = open.or_else(|| page.current_tab()) else {
                    return Served::NeedsTab(Request::ConnectToPage { role, chosen, reply });
                };
                if matches!(role, ClientRole::Runs(_)) {
                    // A program cannot do it: it attaches to tabs that may be in an endless loop already.
                    unblock(page.cdp(), page.tab_sessions()).await;
                }
                let connecting = timeout(CONNECT_TIMEOUT, self.connect_to(page, &target, role));
                match connecting.await.unwrap_or(Err(BrowserError::Deadline)) {
                    Err(BrowserError::Protocol { detail }) if *attempts < MAX_TABS => {
                        tracing::debug!(detail, "the tab of a browser session is gone");
                        *attempts += 1;
                        page.forget_tab(&target);
                        return Served::Retry(Request::ConnectToPage { role, chosen, reply });
                    }
                    connected => {
                        *attempts = 0;
                        // The caller may be gone.
                        drop(reply.send(connected));
                    }
                }
            }
        }
        Served::Done
    }

    async fn connect(&mut self, page: &Page<'_>, role: ClientRole) -> Result<CdpChannel, BrowserError> {
        let clients: ClientCount = match role {
            ClientRole::Controls | ClientRole::Runs(_) => Box::new(page.client_counter()),
            ClientRole::Watches => Box::new(|_| {}),
        };
        let browser = SessionBrowser {
            cdp: page.cdp().clone(),
            targets: page.shared_targets(),
            context: page.context_id().to_owned(),
            is_forbidden: page.forbidden_flag(),
        };
        let mut channel = CdpChannel::open(browser, clients).await?;
        channel.follow(&self.downloads);
        if let ClientRole::Runs(limits) = role {
            channel.accept(self.downloads.accept(limits).await?);
        }
        self.open.retain(|channel| !channel.is_closed());
        self.open.push(channel.handle());
        Ok(channel)
    }

    async fn connect_to(
        &mut self,
        page: &Page<'_>,
        target: &str,
        role: ClientRole,
    ) -> Result<(CdpChannel, PageTarget), BrowserError> {
        let channel = self.connect(page, role).await?;
        let target = channel.attach(target).await?;
        Ok((channel, target))
    }

    fn close(&mut self) {
        for channel in self.open.drain(..) {
            channel.close();
        }
    }
}
