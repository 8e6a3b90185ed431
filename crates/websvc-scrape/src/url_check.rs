//! Checks of URLs before they are fetched or served from the cache: threat protection, and redirect rules of the
//! caller.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::threat::UrlChecker;
use url::Url;
use websvc_stage::Stage;
use websvc_store::PageKey;
use websvc_transport::{FetchError, TlsPolicy, UrlPolicy};
use websvc_validate::{ScrapePlan, ThreatRules};

use crate::error::ScrapeError;
use crate::fetcher::{ProxyRoute, ProxyTiers};
use crate::request::tls_policy;
use crate::scraper::Scraper;
use crate::url_boundary::UrlBoundary;

/// A rule of the caller for redirect targets.
#[derive(Debug, Clone)]
pub(crate) struct RedirectRule {
    /// The name, which is the same for rules that decide alike.
    pub(crate) name: Cow<'static, str>,
    pub(crate) rule: UrlPolicy,
    /// The boundary that the rule belongs to, for pages in the browser.
    pub(crate) boundary: Option<UrlBoundary>,
}

/// The key of a coalesced fetch: the page and the policy that it is fetched under. One policy may forbid what another
/// allows, and a request of an HTTP caller must not wait for the limits of background work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlightKey {
    page: PageKey,
    /// An unverified page is only for requests that skip TLS verification.
    tls: TlsPolicy,
    /// A page through an enhanced proxy costs more.
    tiers: ProxyTiers,
    protection: Option<Arc<ThreatRules>>,
    redirect_rule: Option<Cow<'static, str>>,
    is_background: bool,
}

impl Hash for FlightKey {
    /// Hashes the page only: few policies fetch one page at the same time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.page.hash(state);
    }
}

impl Scraper {
    /// Returns a scraper for one request that checks pages, their redirects and cached pages.
    #[must_use]
    pub fn with_url_checker(&self, url_checker: UrlChecker) -> Self {
        Self { url_checker: Some(url_checker), ..self.clone() }
    }

    /// Returns a scraper for one request that applies a rule to redirect targets. Rules with the same name have to
    /// decide alike, because concurrent requests for one page share a fetch then.
    #[must_use]
    pub fn with_redirect_rule(&self, name: impl Into<Cow<'static, str>>, rule: UrlPolicy) -> Self {
        let name = name.into();
        Self { redirect_rule: Some(RedirectRule { name, rule, boundary: None }), ..self.clone() }
    }

    /// Returns the key by which fetches of this request and of others are coalesced.
    pub(crate) fn flight_key(&self, page: &PageKey, plan: &ScrapePlan) -> FlightKey {
        FlightKey {
            page: page.clone(),
            tls: tls_policy(plan),
            tiers: self.inner.fetcher.tiers(ProxyRoute::from_plan(plan)),
            protection: self.url_checker.as_ref().map(|checker| Arc::clone(checker.rules())),
            redirect_rule: self.redirect_rule.as_ref().map(|rule| rule.name.clone()),
            is_background: self.background.is_some(),
        }
    }

    /// Checks a URL by threat protection before it is fetched or looked up.
    pub(crate) async fn check_url(&self, url: &Url) -> Result<(), ScrapeError> {
        let Some(checker) = &self.url_checker else { return Ok(()) };
        // Boxed, because it is awaited in several places, and most requests have no checker.
        let checked = self.stages().run(Stage::UrlCheck, Box::pin(checker.check(url))).await;
        checked.map_err(|blocked| ScrapeError::Unsafe { reason: blocked.to_string() })
    }

    /// Checks the final URL of a cached or shared page: the rules may have changed since, and the request that fetched
    /// it may have had none.
    pub(crate) async fn check_final_url(&self, source_url: &Url, final_url: &Url) -> Result<(), ScrapeError> {
        self.check_url(final_url).await?;
        match &self.redirect_rule {
            Some(RedirectRule { rule, name: _, boundary: _ }) if final_url != source_url => {
                let to_error = |reason| ScrapeError::Fetch(FetchError::RefusedByRule { reason });
                rule.check(final_url).await.map_err(to_error)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the boundary of the request.
    pub(crate) fn boundary(&self) -> Option<UrlBoundary> {
        self.redirect_rule.as_ref().and_then(|redirect| redirect.boundary.clone())
    }

    /// Returns the rule for redirect targets: threat protection, the rule of the caller, or both.
    pub(crate) fn rule(&self) -> Option<UrlPolicy> {
        let threat_rule = self.url_checker.as_ref().map(UrlChecker::url_policy);
        let redirect_rule = self.redirect_rule.as_ref().map(|redirect| redirect.rule.clone());
        match (threat_rule, redirect_rule) {
            (Some(first), Some(second)) => Some(chain(first, second)),
            (first, second) => first.or(second),
        }
    }
}

/// Returns a rule that applies two rules, one after the other.
fn chain(first: UrlPolicy, second: UrlPolicy) -> UrlPolicy {
    UrlPolicy::new(move |url| {
        let (first, second) = (first.clone(), second.clone());
        async move {
            first.check(&url).await?;
            second.check(&url).await
        }
    })
}
