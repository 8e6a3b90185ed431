//! The page renderer: renders pages in the browser, if there is one, by the proxy tiers that a plan allows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::blocklist::Blocklist;
use url::Url;
use websvc_browser::{Browser, BrowserError, RenderRequest, Session};
use websvc_stage::{Stage, StageTimes};
use websvc_transport::{FetchRequest, Proxy, UrlPolicy};
use websvc_types::ProxyUsed;
use websvc_validate::ScrapePlan;

use super::RenderArtifacts;
use super::ads::Ads;
use super::render_mode::{RenderMode, wants_branding, wants_screenshot};
use super::render_request::render_request;
use super::to_raw_page::{RawRenderedPage, to_raw_page};
use crate::error::ScrapeError;
use crate::fetcher::{ProxyRoute, ProxyTiers, TeamFetcher, is_rejected, remaining};
use crate::file_download::fetch_download;
use crate::profile::OpenProfile;
use crate::proxies::ProxyTier;
use crate::raw::RawPage;
use crate::request;
use crate::shell::is_shell;
use crate::url_boundary::UrlBoundary;

/// The part of the timeout that is reserved for formatting a rendered page.
const FORMATTING_RESERVE: Duration = Duration::from_millis(300);

/// Renders pages in the browser, if there is one.
#[derive(Debug)]
pub(crate) struct PageRenderer {
    browser: Option<Browser>,
    ads: Ads,
}

/// The context of the fetches of one request, also of files that the browser does not render.
pub(crate) struct FetchContext<'a> {
    pub(crate) fetcher: TeamFetcher<'a>,
    /// The maximum size of a file.
    pub(crate) max_bytes: u64,
    /// The rule for redirect targets.
    pub(crate) rule: Option<UrlPolicy>,
    /// The URLs that a rendered page may load; all without it.
    pub(crate) boundary: Option<UrlBoundary>,
    /// The metrics of how long the stages take.
    pub(crate) stages: &'a StageTimes,
}

impl FetchContext<'_> {
    /// Returns the request for a page as its host serves it.
    ///
    /// # Errors
    /// [`ScrapeError::Timeout`] if no time is left.
    pub(crate) fn request(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<FetchRequest, ScrapeError> {
        let mut request = request::page_request(url, plan, remaining(deadline)?, self.max_bytes)?;
        request.url_policy.clone_from(&self.rule);
        Ok(request)
    }
}

impl PageRenderer {
    pub(crate) fn new(browser: Option<Browser>, lists: Arc<Blocklist>) -> Self {
        Self { browser, ads: Ads::new(lists) }
    }

    /// Returns the browser, if its program is installed.
    pub(crate) fn browser(&self) -> Option<&Browser> {
        self.browser.as_ref().filter(|browser| browser.is_available())
    }

    /// Returns the browser, whether or not its program is installed.
    pub(crate) fn configured_browser(&self) -> Option<&Browser> {
        self.browser.as_ref()
    }

    /// Returns the render mode of a plan; [`RenderMode::IfShell`] if there is no browser.
    pub(crate) fn render_mode(&self, plan: &ScrapePlan) -> RenderMode {
        let mode = RenderMode::from_plan(plan);
        if mode == RenderMode::IfShell || self.browser().is_some() { mode } else { RenderMode::IfShell }
    }

    /// Returns whether a fetched page is a shell page that should be rendered. Only the page itself is evidence, not
    /// the other pages of its host.
    pub(crate) fn needs_rendering(&self, page: &RawPage) -> bool {
        !page.is_rendered && self.browser().is_some() && is_shell(page)
    }

    /// Returns the browser.
    ///
    /// # Errors
    /// [`ScrapeError::Browser`] if none is configured.
    pub(crate) fn required_browser(&self) -> Result<&Browser, ScrapeError> {
        self.browser.as_ref().ok_or(ScrapeError::Browser(BrowserError::Missing { path: None }))
    }

    /// Returns the request for the page of an interactive session.
    ///
    /// # Errors
    /// [`ScrapeError`] for an invalid header.
    pub(crate) async fn interactive_request(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        proxy: Option<Proxy>,
        deadline: Instant,
    ) -> Result<RenderRequest, ScrapeError> {
        let mut request = render_request(url, plan, proxy, deadline)?;
        if plan.block_ads
            && let Some(warning) = self.ads.block_ads(&mut request).await
        {
            tracing::warn!(warning, "a browser session does not block advertising");
        }
        Ok(request)
    }

    /// Renders a page, and updates the profile with its changes. A file that is not markup is fetched directly, with
    /// the cookies of the profile, and returned with the artifacts of the browser.
    ///
    /// # Errors
    /// As [`PageRenderer::render`] and [`Fetcher::page`].
    pub(crate) async fn page(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        profile: Option<&OpenProfile>,
        context: &FetchContext<'_>,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        let session = profile.map(OpenProfile::session);
        let artifacts = match Box::pin(self.render(url, plan, session.as_ref(), context, deadline)).await {
            Ok(RawRenderedPage { page, is_markup, state, file }) => {
                let update_profile = || {
                    if let Some((profile, state)) = profile.zip(state) {
                        profile.set_state(state);
                    }
                };
                if is_markup {
                    let page = match file {
                        None => page,
                        Some(file) => fetch_download(page, &file, plan, context, deadline).await?,
                    };
                    update_profile();
                    return Ok(page);
                }
                update_profile();
                // The styles are those of the markup that the browser puts around the file.
                page.artifacts.map(|artifacts| Box::new(RenderArtifacts { styles: None, ..*artifacts }))
            }
            Err(ScrapeError::Browser(BrowserError::Download)) if plan.actions.is_empty() => None,
            Err(error) => return Err(error),
        };
        let mut request = context.request(url, plan, deadline)?;
        if let Some(profile) = profile {
            request::add_cookies(&mut request, &profile.cookies_for(url));
        }
        let fetching = context.fetcher.page(request, ProxyRoute::from_plan(plan), deadline);
        let mut served = context.stages.run(Stage::Fetch, fetching).await?;
        if artifacts.is_none() && wants_screenshot(plan) {
            served.warnings.push("no screenshot: the URL is a file, not a page".to_owned());
        }
        if wants_branding(plan) {
            served.warnings.push("no branding: the URL is a file, not a page".to_owned());
        }
        Ok(RawPage { artifacts, ..served })
    }

    /// Renders a page by the proxy tiers that the plan allows. Each attempt starts with the same session.
    ///
    /// # Errors
    /// [`ScrapeError::Browser`], or [`ScrapeError::Blocked`] if the host served a challenge instead of the page.
    pub(crate) async fn render(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        session: Option<&Session>,
        context: &FetchContext<'_>,
        deadline: Instant,
    ) -> Result<RawRenderedPage, ScrapeError> {
        let route = ProxyRoute::from_plan(plan);
        let ProxyTiers { first, fallback } = context.fetcher.tiers(route);
        let rendered = self.render_via_proxy(url, plan, session, context, first, deadline).await;
        let was_rejected = match &rendered {
            Ok(RawRenderedPage { page, .. }) => is_rejected(&Ok(page)),
            Err(error) => is_rejected(&Err(error)),
        };
        let Some(tier) = fallback.filter(|_| was_rejected) else { return rendered };
        match self.render_via_proxy(url, plan, session, context, tier, deadline).await {
            // The page of the first attempt, if there is one, is better than an error.
            Err(error) => rendered.map_err(|_| error),
            Ok(rendered) => Ok(rendered),
        }
    }

    /// Renders a shell page. Returns the page as served, with a warning, if it cannot be rendered.
    ///
    /// # Errors
    /// [`ScrapeError`] if threat protection blocks a URL that its scripts navigate to.
    pub(crate) async fn render_shell(
        &self,
        page: RawPage,
        plan: &ScrapePlan,
        context: &FetchContext<'_>,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        Ok(match self.render(&page.source_url, plan, None, context, deadline).await {
            Ok(RawRenderedPage { page: rendered, is_markup: true, .. }) => rendered,
            Ok(RawRenderedPage { is_markup: false, .. }) => page,
            Err(error) if error.is_unsafe() => return Err(error),
            Err(error) => with_render_warning(page, &error),
        })
    }

    async fn render_via_proxy(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        session: Option<&Session>,
        context: &FetchContext<'_>,
        tier: ProxyTier,
        deadline: Instant,
    ) -> Result<RawRenderedPage, ScrapeError> {
        let browser = self.required_browser()?;
        let proxy: Option<Proxy> = context.fetcher.pick_proxy(tier, plan.location.country, url);
        let mut request =
            render_request(url, plan, proxy, deadline.checked_sub(FORMATTING_RESERVE).unwrap_or(deadline))?;
        request.session = session.cloned();
        request.team = context.fetcher.team().into();
        request.navigation_rule.clone_from(&context.rule);
        let warning = if plan.block_ads { self.ads.block_ads(&mut request).await } else { None };
        if let Some(boundary) = &context.boundary {
            boundary.apply(&mut request);
        }
        let rendered = context.stages.run(Stage::Browser, Box::pin(browser.render(&request))).await;
        if matches!(rendered, Err(BrowserError::Forbidden)) {
            // The log line says why.
            context.fetcher.client().refuses_resolved(url).await;
        }
        let mut rendered = rendered.map_err(ScrapeError::Browser)?;
        rendered.warnings.extend(warning);
        let proxy_used = match tier {
            ProxyTier::Basic => ProxyUsed::Basic,
            ProxyTier::Enhanced => ProxyUsed::Stealth,
        };
        let converted = to_raw_page(url, plan, rendered, proxy_used);
        match converted.page.challenge_vendor() {
            Some(vendor) => Err(ScrapeError::Blocked { vendor, status: converted.page.status }),
            None => Ok(converted),
        }
    }
}

/// Returns a page as served, with the warning that it could not be rendered.
fn with_render_warning(mut page: RawPage, error: &ScrapeError) -> RawPage {
    page.warnings.push(format!("browser rendering failed: {error}"));
    page
}
