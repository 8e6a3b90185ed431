//! What is asked before a URL is gone to, and before what the cache has of it is given: threat protection of pages, and rules of
//! the caller.

use url::Url;
use websvc_stage::Stage;
use websvc_threat::Inspection;
use websvc_transport::{FetchError, UrlRule};

use crate::error::ScrapeError;
use crate::scraper::Scraper;

impl Scraper {
    /// Returns a scraper for one request: pages, where they lead, and what the cache has of them are checked.
    #[must_use]
    pub fn inspecting(&self, inspection: Inspection) -> Self {
        Self { inspection: Some(inspection), ..self.clone() }
    }

    /// Returns a scraper for one request that asks a rule before it goes to where a page leads on to.
    #[must_use]
    pub fn with_redirect_rule(&self, rule: UrlRule) -> Self {
        Self { redirect_rule: Some(rule), ..self.clone() }
    }

    /// Checks a URL before anything is done about it.
    pub(crate) async fn inspect(&self, url: &Url) -> Result<(), ScrapeError> {
        let Some(inspection) = &self.inspection else { return Ok(()) };
        // Boxed, because it is awaited in several places, and most requests have none.
        let checked = self.stages().run(Stage::Inspect, Box::pin(inspection.check(url))).await;
        checked.map_err(|blocked| ScrapeError::Unsafe { reason: blocked.to_string() })
    }

    /// Checks where a page that the cache has ended when it was fetched: the rules may be others now, and who fetched it
    /// may not have been asked by any.
    pub(crate) async fn admit_end(&self, from: &Url, end: &Url) -> Result<(), ScrapeError> {
        self.inspect(end).await?;
        match &self.redirect_rule {
            Some(rule) if end != from => {
                let refused = |reason| ScrapeError::Fetch(FetchError::RefusedByRule { reason });
                rule.admit(end).await.map_err(refused)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the rule for where a page leads on to.
    pub(crate) fn rule(&self) -> Option<UrlRule> {
        let inspection = self.inspection.as_ref().map(Inspection::rule);
        match (inspection, self.redirect_rule.clone()) {
            (Some(one), Some(other)) => Some(both(one, other)),
            (one, other) => one.or(other),
        }
    }
}

/// Returns the rule that asks one and then the other.
fn both(one: UrlRule, other: UrlRule) -> UrlRule {
    UrlRule::new(move |url| {
        let (one, other) = (one.clone(), other.clone());
        async move {
            one.admit(&url).await?;
            other.admit(&url).await
        }
    })
}
