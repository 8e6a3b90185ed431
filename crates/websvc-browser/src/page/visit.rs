//! One request in one page, from its context of its own to the end of that.

use std::sync::Arc;

use tokio::time::timeout_at;
use websvc_transport::Client;

use super::open_page::Page;
use super::warm_page::{BrowserContext, WarmPage};
use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::process::BrowserProcess;
use crate::rendered_page::RenderedPage;
use crate::request::RenderRequest;
use crate::state::{Changes, Session};
use crate::watchdog::Excess;
use crate::{action, screenshot};

/// What became of a page.
pub(crate) struct PageVisit {
    pub(crate) outcome: Result<RenderedPage, BrowserError>,
    /// What is left for whoever puts it away.
    pub(crate) context: Option<BrowserContext>,
    /// Something of the page was answered, be it a redirect.
    pub(crate) has_begun: bool,
}

/// Does what the request says in a page that was made ahead of it, or is made for it, before the deadline.
pub(crate) async fn visit(
    process: &Arc<BrowserProcess>,
    ready: Option<WarmPage>,
    client: &Client,
    config: &BrowserConfig,
    request: &RenderRequest,
) -> PageVisit {
    let prepared = match ready {
        Some(prepared) => Ok(prepared),
        None => {
            let making = WarmPage::make(process, client, config, request.proxy.clone());
            timeout_at(request.deadline, making).await.unwrap_or(Err(BrowserError::Deadline))
        }
    };
    match prepared {
        Ok(prepared) => {
            let page = Page::new(process, prepared, config, request);
            let outcome = page.work_in_time(request).await;
            let has_begun = page.watch.lock().has_begun;
            PageVisit { outcome, context: Some(page.into_context()), has_begun }
        }
        Err(error) => PageVisit { outcome: Err(error), context: None, has_begun: false },
    }
}

impl Page<'_> {
    async fn work_in_time(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        timeout_at(request.deadline, self.run(request)).await.unwrap_or(Err(BrowserError::Deadline))
    }

    /// Does the work unless the page ends before.
    async fn run(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        let ended = self.watch.wait_until(|state| {
            state.is_crashed
                || state.excess.is_some()
                || state.forbidden_scheme.is_some()
                || state.refusal.is_some()
        });
        let outcome = tokio::select! {
            biased;
            () = ended => None,
            never = self.check_navigations(request.navigation_rule.as_ref()) => match never {},
            outcome = self.go_through(request) => Some(outcome),
        };
        let state = self.watch.lock();
        if let Some(reason) = &state.refusal {
            return Err(BrowserError::RefusedByRule { reason: reason.clone() });
        }
        if let Some(Excess { limit_bytes, is_shared }) = state.excess {
            return Err(BrowserError::MemoryExceeded { limit_bytes, is_shared });
        }
        match (&state.forbidden_scheme, outcome) {
            (Some(scheme), _) => Err(BrowserError::ForbiddenScheme { scheme: scheme.clone() }),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(BrowserError::Crashed),
        }
    }

    async fn go_through(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        let mut rendered = RenderedPage::default();
        if let Some(session) = &request.session {
            self.restore(&session.state).await?;
            self.watch.begin_anew();
        }
        self.set_up(request).await?;
        self.navigate(&request.url).await?;
        self.wait_until(request).await?;
        if !request.wait_for.is_zero() {
            self.wait(request.wait_for).await;
        }
        self.inject_css(request).await?;
        if !request.steps.is_empty() {
            self.watch.lock().is_acting = true;
            action::run_actions(self, &request.steps, &mut rendered).await?;
            self.inject_css(request).await?;
        }
        let scraped = self.scrape().await?;
        (rendered.url, rendered.html) = (scraped.url, scraped.html);
        if let Some(screenshot) = &request.screenshot {
            rendered.screenshot = Some(screenshot::take(self, screenshot).await?);
        }
        rendered.cookies = self.cookies().await?;
        if let Some(document) = self.watch.lock().document.clone() {
            rendered.status = Some(document.status);
            rendered.headers = document.headers;
            rendered.unverified = document.is_unverified;
        }
        rendered.downloads = self.downloads().await?;
        if let Some(Session { state, changes: Changes::Kept }) = &request.session {
            rendered.state = self.capture(state, self.keep_deadline).await?;
        }
        rendered.refused = self.egress.refused();
        rendered.warnings = self.all_warnings();
        Ok(rendered)
    }
}
