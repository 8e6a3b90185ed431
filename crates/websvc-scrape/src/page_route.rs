//! The network access of a page, for other programs that fetch its files: as its own fetch has it.

use crate::threat::UrlChecker;
use url::Url;
use websvc_transport::Proxy;
use websvc_types::ProxyUsed;
use websvc_validate::ScrapePlan;

use crate::fetcher::ProxyRoute;
use crate::proxies::ProxyTier;
use crate::scraper::Scraper;

impl Scraper {
    /// Returns the proxy through which other files of a page are fetched: one of the tier that it was fetched through.
    #[must_use]
    pub fn proxy_of_page(&self, url: &Url, plan: &ScrapePlan, used: Option<ProxyUsed>) -> Option<Proxy> {
        let tier = match used {
            Some(ProxyUsed::Stealth) => ProxyTier::Enhanced,
            Some(ProxyUsed::Basic) | None => self.inner.fetcher.tiers(ProxyRoute::from_plan(plan)).first,
        };
        self.inner.fetcher.pick_proxy(tier, plan.location.country, url)
    }

    /// Returns the checker of threat protection of this request.
    #[must_use]
    pub fn url_checker(&self) -> Option<&UrlChecker> {
        self.url_checker.as_ref()
    }
}
