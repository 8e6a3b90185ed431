//! What is asked before a URL is gone to, and before what the cache has of it is given: threat protection of pages, and rules of
//! the caller.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use url::Url;
use websvc_stage::Stage;
use websvc_store::PageKey;
use websvc_threat::UrlChecker;
use websvc_transport::{FetchError, UrlPolicy};
use websvc_validate::ThreatRules;

use crate::error::ScrapeError;
use crate::scraper::Scraper;

/// A rule of the caller for where a page leads on to.
#[derive(Debug, Clone)]
pub(crate) struct RedirectRule {
    /// Says what it decides by.
    name: &'static str,
    rule: UrlPolicy,
}

/// The page that is fetched and the policy it is fetched under. What one policy lets through another may forbid, and a
/// request that somebody waits for does not wait for the pools of jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlightKey {
    page: PageKey,
    protection: Option<Arc<ThreatRules>>,
    redirect_rule: Option<&'static str>,
    is_background: bool,
}

impl Hash for FlightKey {
    /// By the page alone: few policies ask for one at one time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.page.hash(state);
    }
}

impl Scraper {
    /// Returns a scraper for one request: pages, where they lead, and what the cache has of them are checked.
    #[must_use]
    pub fn with_url_checker(&self, inspection: UrlChecker) -> Self {
        Self { inspection: Some(inspection), ..self.clone() }
    }

    /// Returns a scraper for one request that asks a rule before it goes to where a page leads on to. Rules of one name decide
    /// alike: requests for one page at one time share a fetch then.
    #[must_use]
    pub fn with_redirect_rule(&self, name: &'static str, rule: UrlPolicy) -> Self {
        Self { redirect_rule: Some(RedirectRule { name, rule }), ..self.clone() }
    }

    /// Returns what a fetch has to have in common with one of this request so that both can share it.
    pub(crate) fn flight_key(&self, page: &PageKey) -> FlightKey {
        FlightKey {
            page: page.clone(),
            protection: self.inspection.as_ref().map(|inspection| Arc::clone(inspection.protection())),
            redirect_rule: self.redirect_rule.as_ref().map(|rule| rule.name),
            is_background: self.share.is_some(),
        }
    }

    /// Checks a URL before anything is done about it.
    pub(crate) async fn check_url(&self, url: &Url) -> Result<(), ScrapeError> {
        let Some(inspection) = &self.inspection else { return Ok(()) };
        // Boxed, because it is awaited in several places, and most requests have none.
        let checked = self.stages().run(Stage::Inspect, Box::pin(inspection.check(url))).await;
        checked.map_err(|blocked| ScrapeError::Unsafe { reason: blocked.to_string() })
    }

    /// Checks where a page that the cache has ended when it was fetched: the rules may be others now, and who fetched it
    /// may not have been asked by any.
    pub(crate) async fn check_final_url(&self, from: &Url, end: &Url) -> Result<(), ScrapeError> {
        self.check_url(end).await?;
        match &self.redirect_rule {
            Some(RedirectRule { rule, .. }) if end != from => {
                let refused = |reason| ScrapeError::Fetch(FetchError::RefusedByRule { reason });
                rule.check(end).await.map_err(refused)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the rule for where a page leads on to.
    pub(crate) fn rule(&self) -> Option<UrlPolicy> {
        let inspection = self.inspection.as_ref().map(UrlChecker::rule);
        let redirect_rule = self.redirect_rule.as_ref().map(|redirect| redirect.rule.clone());
        match (inspection, redirect_rule) {
            (Some(one), Some(other)) => Some(all_of(one, other)),
            (one, other) => one.or(other),
        }
    }
}

/// Returns the rule that asks one and then the other.
fn all_of(one: UrlPolicy, other: UrlPolicy) -> UrlPolicy {
    UrlPolicy::new(move |url| {
        let (one, other) = (one.clone(), other.clone());
        async move {
            one.check(&url).await?;
            other.check(&url).await
        }
    })
}
