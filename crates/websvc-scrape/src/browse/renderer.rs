//! The browser, when there is one, and the ways on which it renders pages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;
use websvc_blocklist::Blocklist;
use websvc_browser::{Browser, BrowserError, Session};
use websvc_stage::{Stage, StageTimes};
use websvc_transport::{FetchRequest, Proxy, UrlPolicy};
use websvc_types::ProxyUsed;
use websvc_validate::ScrapePlan;

use super::ads::Ads;
use super::render_mode::{RenderMode, wants_screenshot};
use super::render_request::render_request;
use super::to_raw_page::{RawRenderedPage, to_raw_page};
use crate::error::ScrapeError;
use crate::fetcher::{Fetcher, ProxyRoute, is_rejected, remaining};
use crate::file_download::fetch_download;
use crate::profile::OpenProfile;
use crate::proxies::ProxyTier;
use crate::raw::RawPage;
use crate::request;
use crate::shell::is_shell;

/// What is left of the time of a page for reading it, once it is drawn.
const READING: Duration = Duration::from_millis(300);

/// The browser, when there is one.
#[derive(Debug)]
pub(crate) struct PageRenderer {
    browser: Option<Browser>,
    ads: Ads,
}

/// What gets the pages of one request, and the files that a browser does not draw.
pub(crate) struct FetchContext<'a> {
    pub(crate) fetcher: &'a Fetcher,
    /// How large a file may be.
    pub(crate) max_bytes: u64,
    /// Asked about wherever a page leads on to.
    pub(crate) rule: Option<UrlPolicy>,
    /// Where it is counted how long it takes.
    pub(crate) stages: &'a StageTimes,
}

impl FetchContext<'_> {
    /// Returns the request for a page as its host serves it.
    ///
    /// # Errors
    /// [`ScrapeError::Timeout`] when no time is left.
    pub(crate) fn request(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<FetchRequest, ScrapeError> {
        let mut request = request::page_request(url, plan, remaining(deadline)?, self.max_bytes)?;
        request.redirect_rule.clone_from(&self.rule);
        Ok(request)
    }
}

impl PageRenderer {
    pub(crate) fn new(browser: Option<Browser>, lists: Arc<Blocklist>) -> Self {
        Self { browser, ads: Ads::new(lists) }
    }

    /// Returns the browser, if its program is there.
    pub(crate) fn browser(&self) -> Option<&Browser> {
        self.browser.as_ref().filter(|browser| browser.is_available())
    }

    /// Returns the browser, whether or not its program is there.
    pub(crate) fn configured_browser(&self) -> Option<&Browser> {
        self.browser.as_ref()
    }

    /// Returns what a plan asks of the browser that there is: of none, nothing.
    pub(crate) fn render_mode(&self, plan: &ScrapePlan) -> RenderMode {
        let need = RenderMode::of(plan);
        if need == RenderMode::IfShell || self.browser().is_some() { need } else { RenderMode::IfShell }
    }

    /// Returns whether a page that was served should be rendered instead. The page alone decides: what other pages of
    /// its host are says nothing about it.
    pub(crate) fn needs_rendering(&self, page: &RawPage) -> bool {
        !page.is_rendered() && self.browser().is_some() && is_shell(page)
    }

    /// Draws a page, and leaves with the profile what the page has changed. What is no markup is better had as its host
    /// sends it: with what the browser gave beside it, and the cookies of the profile.
    ///
    /// # Errors
    /// As [`PageRenderer::render`], and as the fetcher has them.
    pub(crate) async fn page(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        profile: Option<&OpenProfile>,
        source: &FetchContext<'_>,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        let session = profile.map(OpenProfile::session);
        let takings = match Box::pin(self.render(url, plan, session.as_ref(), source, deadline)).await {
            Ok(RawRenderedPage { page, is_markup, state, file }) => {
                let keep = || {
                    if let Some((profile, state)) = profile.zip(state) {
                        profile.set_state(state);
                    }
                };
                if is_markup {
                    let page = match file {
                        None => page,
                        Some(file) => fetch_download(page, &file, plan, source, deadline).await?,
                    };
                    keep();
                    return Ok(page);
                }
                keep();
                page.takings
            }
            Err(ScrapeError::Browser(BrowserError::Download)) if plan.actions().is_empty() => None,
            Err(error) => return Err(error),
        };
        let mut request = source.request(url, plan, deadline)?;
        if let Some(profile) = profile {
            request::add_cookies(&mut request, &profile.cookies_for(url));
        }
        let fetching = source.fetcher.page(request, ProxyRoute::of(plan), deadline);
        let mut served = source.stages.run(Stage::Fetch, fetching).await?;
        if takings.is_none() && wants_screenshot(plan) {
            served.warnings.push("there is no screenshot: the URL is a file, not a page".to_owned());
        }
        Ok(RawPage { takings, ..served })
    }

    /// Draws a page by the ways to its host that the plan allows. Each of them begins with the session.
    ///
    /// # Errors
    /// [`ScrapeError::Browser`], or [`ScrapeError::Blocked`] when there is a wall in place of the page.
    pub(crate) async fn render(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        session: Option<&Session>,
        source: &FetchContext<'_>,
        deadline: Instant,
    ) -> Result<RawRenderedPage, ScrapeError> {
        let route = ProxyRoute::of(plan);
        let (first, second) = source.fetcher.tiers(route);
        let drawn = self.render_via_proxy(url, plan, session, (source, first), deadline).await;
        let turned_away = match &drawn {
            Ok(RawRenderedPage { page, .. }) => is_rejected(&Ok(page)),
            Err(error) => is_rejected(&Err(error)),
        };
        let Some(second) = second.filter(|_| turned_away) else { return drawn };
        match self.render_via_proxy(url, plan, session, (source, second), deadline).await {
            // What the first way brought is better than nothing, if it brought anything.
            Err(error) => drawn.map_err(|_| error),
            Ok(again) => Ok(again),
        }
    }

    /// Renders a shell page. A page that cannot be drawn stays as it is, with a warning.
    ///
    /// # Errors
    /// That threat protection blocks where its scripts lead.
    pub(crate) async fn render_shell(
        &self,
        page: RawPage,
        plan: &ScrapePlan,
        source: &FetchContext<'_>,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        Ok(match self.render(&page.source_url, plan, None, source, deadline).await {
            Ok(RawRenderedPage { page: drawn, is_markup: true, .. }) => drawn,
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
        (source, tier): (&FetchContext<'_>, ProxyTier),
        deadline: Instant,
    ) -> Result<RawRenderedPage, ScrapeError> {
        let browser =
            self.browser.as_ref().ok_or(ScrapeError::Browser(BrowserError::Missing { path: None }))?;
        let proxy: Option<Proxy> = source.fetcher.pick_proxy(tier, plan.location().country(), url);
        let mut request =
            render_request(url, plan, proxy, deadline.checked_sub(READING).unwrap_or(deadline))?;
        request.session = session.cloned();
        request.navigation_rule.clone_from(&source.rule);
        let warning = if plan.block_ads() { self.ads.block_ads(&mut request).await } else { None };
        let opening = source.stages.run(Stage::Browser, Box::pin(browser.render(&request)));
        let opened = opening.await;
        if matches!(opened, Err(BrowserError::Forbidden)) {
            source.fetcher.client().log_refusal(url).await;
        }
        let mut rendered = opened.map_err(ScrapeError::Browser)?;
        rendered.warnings.extend(warning);
        let proxy_used = match tier {
            ProxyTier::Basic => ProxyUsed::Basic,
            ProxyTier::Enhanced => ProxyUsed::Stealth,
        };
        let drawn = to_raw_page(url, rendered, proxy_used);
        match drawn.page.challenge_vendor() {
            Some(by) => Err(ScrapeError::Blocked { by, status: drawn.page.status }),
            None => Ok(drawn),
        }
    }
}

/// Returns a page as it was served, with why it is no more than that.
fn with_render_warning(mut page: RawPage, error: &ScrapeError) -> RawPage {
    page.warnings.push(format!("the page could not be drawn: {error}"));
    page
}
