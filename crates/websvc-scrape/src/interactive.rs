//! Interactive sessions: a browser of its own that opens a page with the options of a scrape, and stays open.

use std::time::Instant;

use url::Url;
use websvc_browser::{InteractiveBrowser, InteractiveRequest, StartPage, Step};
use websvc_validate::ScrapePlan;

use crate::error::ScrapeError;
use crate::fetcher::ProxyRoute;
use crate::profile::OpenProfile;
use crate::scraper::Scraper;

/// The open page of a session, and its profile.
#[derive(Debug)]
pub struct InteractivePage {
    browser: InteractiveBrowser,
    profile: Option<OpenProfile>,
}

impl Scraper {
    /// Starts a browser and opens a page as a scrape with this plan would, until `deadline`: its URL, `waitFor` and actions,
    /// of which those that return something do nothing. Without a URL, the page is empty.
    ///
    /// # Errors
    /// [`ScrapeError::Browser`], and the errors of threat protection.
    pub async fn open_interactive(
        &self,
        url: Option<&Url>,
        plan: &ScrapePlan,
        profile: Option<OpenProfile>,
        deadline: Instant,
    ) -> Result<InteractivePage, ScrapeError> {
        if let Some(url) = url {
            self.check_url(url).await?;
        }
        let fetcher = &self.inner.fetcher;
        let tier = fetcher.tiers(ProxyRoute::from_plan(plan)).first;
        let blank = Url::parse("about:blank").expect("it is a URL");
        let address = url.unwrap_or(&blank);
        let proxy = fetcher.pick_proxy(tier, plan.location.country, address);
        let renderer = &self.inner.renderer;
        let mut page = renderer.interactive_request(address, plan, proxy, deadline).await?;
        page.navigation_rule = self.rule();
        if let Some(boundary) = self.boundary() {
            boundary.apply(&mut page);
        }
        page.session = profile.as_ref().map(OpenProfile::session);
        page.screenshot = None;
        page.steps.retain(|step| !matches!(step, Step::Screenshot(_) | Step::Print(_) | Step::Scrape));
        let start = if url.is_some() { StartPage::Url } else { StartPage::Blank };
        let browser =
            renderer.required_browser()?.start_interactive(InteractiveRequest { page, start }).await;
        let browser = browser.map_err(ScrapeError::Browser)?;
        Ok(InteractivePage { browser, profile })
    }
}

impl InteractivePage {
    /// Returns the browser.
    #[must_use]
    pub fn browser(&self) -> &InteractiveBrowser {
        &self.browser
    }

    /// Stops the browser. Saves the profile if it may be saved and the browser has not crashed. Returns a warning if saving
    /// failed.
    pub async fn close(self) -> Option<String> {
        let Self { browser, profile } = self;
        let state = browser.close().await;
        let profile = profile?;
        if let Some(state) = state {
            profile.set_state(state);
        }
        profile.close().await
    }
}
