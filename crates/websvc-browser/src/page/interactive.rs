//! The page of an interactive session: it stays open, opens windows, and is replaced when its tab was closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::events::PageEvents;
use super::open_page::Page;
use super::page_state::PageState;
use super::warm_page::{BrowserContext, WarmPage};
use crate::action;
use crate::connection::Cdp;
use crate::error::BrowserError;
use crate::rendered_page::RenderedPage;
use crate::request::RenderRequest;
use crate::state::State;
use crate::targets::TargetRegistry;

/// A change of the number of clients. Each client attaches and detaches once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientChange {
    Attached,
    Detached,
}

impl<'a> Page<'a> {
    /// Lets the page open windows, up to `max` pages in all. Call it before [`Page::open`].
    pub(crate) fn set_max_tabs(&mut self, max: usize) {
        self.max_tabs = Some(max);
    }

    /// Restores the state and applies the settings of the request. With `navigates`, opens its URL and runs its steps, after
    /// which all other tabs are closed. Fails at the deadline of the request.
    pub(crate) async fn open(&self, request: &RenderRequest, navigates: bool) -> Result<(), BrowserError> {
        let work = self.run_until_ended(request, async {
            if let Some(session) = &request.session {
                self.restore(&session.state).await?;
                self.events.reset_navigation();
            }
            self.set_up(request).await?;
            if navigates {
                self.open_url(request).await?;
            }
            Ok(())
        });
        tokio::time::timeout_at(request.deadline, work).await.unwrap_or(Err(BrowserError::Deadline))
    }

    async fn open_url(&self, request: &RenderRequest) -> Result<(), BrowserError> {
        self.navigate(&request.url).await?;
        self.correct_charset(request).await?;
        self.wait_until(request).await?;
        if !request.wait_for.is_zero() {
            self.wait(request.wait_for).await;
        }
        self.inject_css(request).await?;
        if !request.steps.is_empty() {
            // The results belong to the scrape that ran the steps first.
            let mut rendered = RenderedPage::default();
            action::run_actions(self, &request.steps, &mut rendered).await?;
        }
        for (target, _) in self.process.targets().pages(&self.context.id) {
            if target != self.target {
                self.call_browser("Target.closeTarget", json!({"targetId": target})).await?;
            }
        }
        self.call("Page.bringToFront", json!({})).await?;
        Ok(())
    }

    /// Replaces the page, whose tab was closed or has crashed, by a new one in the same context.
    pub(crate) async fn reopen(self, request: &RenderRequest) -> Result<Self, BrowserError> {
        let (process, config, max_tabs) = (self.process, self.config, self.max_tabs);
        let (visited, clients, forbidden) = {
            let state = self.events.lock();
            (state.visited.clone(), Arc::clone(&state.clients), Arc::clone(&state.has_forbidden_tab))
        };
        let (egress, context) = self.into_parts();
        let BrowserTab { target, session, events } = BrowserTab::create(process, &context).await?;
        {
            let mut state = events.lock();
            (state.visited, state.clients, state.has_forbidden_tab) = (visited, clients, forbidden);
        }
        let warm_page = WarmPage { egress, context, target, session, events };
        let mut page = Page::new(process, warm_page, config, request);
        page.max_tabs = max_tabs;
        page.set_up(request).await?;
        Ok(page)
    }

    /// Captures the state as [`Page::capture`] does. Fails at once if the tab is closed meanwhile: Chromium does not answer
    /// the commands that a tab got before it was closed.
    ///
    /// # Errors
    /// [`BrowserError::Crashed`] if the tab was closed or has crashed.
    pub(crate) async fn capture_while_open(
        &self,
        before: &State,
        deadline: Instant,
    ) -> Result<Option<State>, BrowserError> {
        tokio::select! {
            biased;
            () = self.events.wait_until(|state| state.is_crashed) => Err(BrowserError::Crashed),
            captured = self.capture(before, deadline) => captured,
        }
    }

    /// Returns the target of the current tab: the first one of the session that is open.
    pub(crate) fn current_tab(&self) -> Option<String> {
        let pages = self.process.targets().pages(&self.context.id);
        pages.into_iter().next().map(|(target, _)| target)
    }

    /// Returns whether a target is an open tab of the session.
    pub(crate) fn has_tab(&self, target: &str) -> bool {
        let pages = self.process.targets().pages(&self.context.id);
        pages.iter().any(|(open, _)| open == target)
    }

    /// Returns the protocol sessions of websvc with the open tabs of the session.
    pub(crate) fn tab_sessions(&self) -> impl Iterator<Item = String> + use<> {
        let pages = self.process.targets().pages(&self.context.id);
        pages.into_iter().map(|(_, session)| session)
    }

    /// Removes a tab that is gone.
    pub(crate) fn forget_tab(&self, target: &str) {
        self.process.targets().remove_page(&self.context.id, target);
    }

    /// Waits until any tab of the session shows a document that pages must not show, or requests one of the server.
    pub(crate) async fn shows_forbidden_scheme(&self) {
        let is_forbidden = |state: &PageState| {
            state.forbidden_scheme.is_some() || state.has_forbidden_tab.load(Ordering::Acquire)
        };
        self.events.wait_until(is_forbidden).await;
    }

    /// Returns the flag that is set, before any later message of the browser is handled, when a tab of the session requests
    /// a document of the server, or shows one.
    pub(crate) fn forbidden_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.events.lock().has_forbidden_tab)
    }

    /// Returns a function that counts the clients that control the session. When the last one leaves, the open dialogs of
    /// all its pages are answered.
    pub(crate) fn client_counter(&self) -> impl Fn(ClientChange) + Send + Sync + use<> {
        let clients = Arc::clone(&self.events.lock().clients);
        let (cdp, targets) = (self.cdp().clone(), self.process.shared_targets());
        let context = self.context.id.clone();
        move |change| match change {
            ClientChange::Attached => {
                clients.fetch_add(1, Ordering::AcqRel);
            }
            ClientChange::Detached => {
                if clients.fetch_sub(1, Ordering::AcqRel) > 1 {
                    return;
                }
                for (_, session) in targets.pages(&context) {
                    // Most pages have no open dialog, and refuse this.
                    cdp.send_no_reply(&session, "Page.handleJavaScriptDialog", json!({"accept": false}));
                }
            }
        }
    }

    /// Returns the targets of its browser.
    pub(crate) fn shared_targets(&self) -> Arc<TargetRegistry> {
        self.process.shared_targets()
    }

    pub(crate) fn cdp(&self) -> &Cdp {
        self.process.cdp()
    }
}

/// A new tab of a browser context.
struct BrowserTab {
    target: String,
    session: String,
    events: PageEvents,
}

impl BrowserTab {
    async fn create(
        process: &crate::process::BrowserProcess,
        context: &BrowserContext,
    ) -> Result<Self, BrowserError> {
        // The page sets up its tab itself.
        process.targets().disallow_tabs(&context.id);
        let params = json!({"url": "about:blank", "browserContextId": context.id});
        let mut created = process.cdp().call("", "Target.createTarget", params).await?;
        let Value::String(target) = created["targetId"].take() else {
            return Err(BrowserError::missing_field("Target.createTarget", "targetId"));
        };
        let session = process.targets().session(&context.id, &target);
        let session = session.ok_or_else(|| BrowserError::missing_field("Target.createTarget", "session"))?;
        let events = PageEvents::new(&target, process.monitor().cloned());
        events.subscribe_end(process.cdp(), &session);
        process.cdp().call(&session, "Page.enable", json!({})).await?;
        Ok(Self { target, session, events })
    }
}
