//! Runs one request in one page: navigation, actions, content, screenshot and state.

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
use crate::watchdog::MemoryLimitExceeded;
use crate::{action, screenshot};

/// The result of a request in a page.
pub(crate) struct PageVisit {
    pub(crate) outcome: Result<RenderedPage, BrowserError>,
    /// The context of the page, which the caller must close.
    pub(crate) context: Option<BrowserContext>,
    /// True if a response for the page was received, including redirects.
    pub(crate) has_response: bool,
}

/// Runs a request before its deadline, in the warm page or in a new one.
pub(crate) async fn visit(
    process: &Arc<BrowserProcess>,
    warm_page: Option<WarmPage>,
    client: &Client,
    config: &BrowserConfig,
    request: &RenderRequest,
) -> PageVisit {
    let warm_page = match warm_page {
        Some(warm_page) => Ok(warm_page),
        None => {
            let creation = WarmPage::create(process, client, config, request.proxy.clone());
            timeout_at(request.deadline, creation).await.unwrap_or(Err(BrowserError::Deadline))
        }
    };
    match warm_page {
        Ok(warm_page) => {
            let page = Page::new(process, warm_page, config, request);
            let outcome = page.run_until_deadline(request).await;
            let has_response = page.events.lock().has_response;
            PageVisit { outcome, context: Some(page.into_context()), has_response }
        }
        Err(error) => PageVisit { outcome: Err(error), context: None, has_response: false },
    }
}

impl Page<'_> {
    async fn run_until_deadline(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        timeout_at(request.deadline, self.run(request)).await.unwrap_or(Err(BrowserError::Deadline))
    }

    /// Runs the request until it is done or the page has ended.
    async fn run(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        self.run_until_ended(request, self.run_request(request)).await
    }

    /// Awaits the work on a page until it is done or the page has ended, and checks the navigations meanwhile.
    pub(super) async fn run_until_ended<T>(
        &self,
        request: &RenderRequest,
        work: impl Future<Output = Result<T, BrowserError>>,
    ) -> Result<T, BrowserError> {
        let ended = self.events.wait_until(|state| {
            state.is_crashed
                || state.excess.is_some()
                || state.forbidden_scheme.is_some()
                || state.refusal.is_some()
        });
        let outcome = tokio::select! {
            biased;
            () = ended => None,
            never = self.check_navigations(request.navigation_rule.as_ref()) => match never {},
            outcome = work => Some(outcome),
        };
        let state = self.events.lock();
        if let Some(reason) = &state.refusal {
            return Err(BrowserError::RefusedByRule { reason: reason.clone() });
        }
        if let Some(MemoryLimitExceeded { limit_bytes, is_shared }) = state.excess {
            return Err(BrowserError::MemoryExceeded { limit_bytes, is_shared });
        }
        match (&state.forbidden_scheme, outcome) {
            (Some(scheme), _) => Err(BrowserError::ForbiddenScheme { scheme: scheme.clone() }),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(BrowserError::Crashed),
        }
    }

    async fn run_request(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        let mut rendered = RenderedPage::default();
        if let Some(session) = &request.session {
            self.restore(&session.state).await?;
            self.events.reset_navigation();
        }
        self.set_up(request).await?;
        self.navigate(&request.url).await?;
        self.correct_charset(request).await?;
        self.wait_until(request).await?;
        if !request.wait_for.is_zero() {
            self.wait(request.wait_for).await;
        }
        self.inject_css(request).await?;
        if !request.steps.is_empty() {
            self.events.lock().is_running_actions = true;
            action::run_actions(self, &request.steps, &mut rendered).await?;
            self.inject_css(request).await?;
        }
        let snapshot = self.scrape().await?;
        (rendered.url, rendered.html) = (snapshot.url, snapshot.html);
        if request.reads_styles {
            rendered.styles = self.read_styles().await?;
        }
        if let Some(screenshot) = &request.screenshot {
            rendered.screenshot = Some(screenshot::take(self, screenshot).await?);
        }
        rendered.cookies = self.cookies().await?;
        if let Some(document) = self.events.lock().document.clone() {
            rendered.status = Some(document.status);
            rendered.headers = document.headers;
            rendered.unverified = document.is_unverified;
        }
        rendered.downloads = self.downloads().await?;
        if let Some(Session { state, changes: Changes::Captured }) = &request.session {
            rendered.state = self.capture(state, self.capture_deadline).await?;
        }
        rendered.refused = self.egress.refused();
        rendered.warnings = self.collect_warnings();
        Ok(rendered)
    }
}
