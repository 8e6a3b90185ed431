//! Who draws pages: the browser, when there is one, and what was learned of hosts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;
use websvc_blocklist::Blocklist;
use websvc_browser::{Browser, BrowserError};
use websvc_transport::Proxy;
use websvc_types::ProxyUsed;
use websvc_validate::ScrapePlan;

use super::ads::Ads;
use super::answer::{Drawn, drawn};
use super::ask::page_request;
use super::hosts::{Habit, Hosts};
use super::need::Need;
use crate::error::ScrapeError;
use crate::fetcher::{Fetcher, Route, is_turned_away};
use crate::proxies::Tier;
use crate::raw::RawPage;
use crate::shell::is_shell;

/// What is left of the time of a page for reading it, once it is drawn.
const READING: Duration = Duration::from_millis(300);

/// The browser, when there is one.
#[derive(Debug)]
pub(crate) struct Drawer {
    browser: Option<Browser>,
    hosts: Hosts,
    ads: Ads,
}

impl Drawer {
    pub(crate) fn new(browser: Option<Browser>, lists: Arc<Blocklist>) -> Self {
        Self { browser, hosts: Hosts::new(), ads: Ads::new(lists) }
    }

    /// Returns the browser, if its program is there.
    pub(crate) fn browser(&self) -> Option<&Browser> {
        self.browser.as_ref().filter(|browser| browser.executable().is_ok())
    }

    /// Returns what a plan asks of the browser that there is: of none, nothing.
    pub(crate) fn need(&self, plan: &ScrapePlan) -> Need {
        let need = Need::of(plan);
        if need == Need::IfShell || self.browser().is_some() { need } else { Need::IfShell }
    }

    /// Returns whether a page that was served should be drawn instead.
    pub(crate) fn would_fill(&self, page: &RawPage) -> bool {
        is_shell(page)
            && !page.is_drawn()
            && self.habit(&page.url) != Some(Habit::Serves)
            && self.browser().is_some()
    }

    /// Returns whether the pages of a host are known to be shells.
    pub(crate) fn draws(&self, url: &Url) -> bool {
        self.habit(url) == Some(Habit::Draws) && self.browser().is_some()
    }

    /// Draws a page by the ways to its host that the plan allows.
    ///
    /// # Errors
    /// [`ScrapeError::Browser`], or [`ScrapeError::Blocked`] when there is a wall in place of the page.
    pub(crate) async fn draw(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        fetcher: &Fetcher,
        deadline: Instant,
    ) -> Result<Drawn, ScrapeError> {
        let route = Route::of(plan);
        let (first, second) = fetcher.tiers(route);
        let drawn = self.draw_by(url, plan, fetcher, first, deadline).await;
        let turned_away = match &drawn {
            Ok(Drawn { page, .. }) => is_turned_away(&Ok(page)),
            Err(error) => is_turned_away(&Err(error)),
        };
        let Some(second) = second.filter(|_| turned_away) else { return drawn };
        match self.draw_by(url, plan, fetcher, second, deadline).await {
            // What the first way brought is better than nothing, if it brought anything.
            Err(error) => drawn.map_err(|_| error),
            Ok(again) => Ok(again),
        }
    }

    /// Draws a page that is an empty shell as served. A page that cannot be drawn stays as it is, with a warning.
    pub(crate) async fn fill(
        &self,
        page: RawPage,
        plan: &ScrapePlan,
        fetcher: &Fetcher,
        deadline: Instant,
    ) -> RawPage {
        let host = page.url.host_str().unwrap_or_default().to_owned();
        match self.draw(&page.source_url, plan, fetcher, deadline).await {
            Ok(Drawn { page: drawn, is_markup: true }) => {
                self.hosts.learn(&host, if is_shell(&drawn) { Habit::Serves } else { Habit::Draws });
                drawn
            }
            Ok(Drawn { is_markup: false, .. }) => page,
            Err(error) => undrawn(page, &error),
        }
    }

    async fn draw_by(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        fetcher: &Fetcher,
        tier: Tier,
        deadline: Instant,
    ) -> Result<Drawn, ScrapeError> {
        let browser =
            self.browser.as_ref().ok_or(ScrapeError::Browser(BrowserError::Missing { path: None }))?;
        let proxy: Option<Proxy> = fetcher.way(tier, plan.location().country(), url);
        let mut request = page_request(url, plan, proxy, deadline.checked_sub(READING).unwrap_or(deadline))?;
        let warning = if plan.block_ads() { self.ads.leave_out(&mut request).await } else { None };
        let mut rendered = Box::pin(browser.open(&request)).await.map_err(ScrapeError::Browser)?;
        rendered.warnings.extend(warning);
        let proxy_used = match tier {
            Tier::Basic => ProxyUsed::Basic,
            Tier::Enhanced => ProxyUsed::Stealth,
        };
        let drawn = drawn(url, rendered, proxy_used);
        match drawn.page.wall() {
            Some(by) => Err(ScrapeError::Blocked { by, status: drawn.page.status }),
            None => Ok(drawn),
        }
    }

    fn habit(&self, url: &Url) -> Option<Habit> {
        self.hosts.habit(url.host_str().unwrap_or_default())
    }
}

/// Returns a page as it was served, with why it is no more than that.
pub(crate) fn undrawn(mut page: RawPage, error: &ScrapeError) -> RawPage {
    page.warnings.push(format!("the page could not be drawn: {error}"));
    page
}
