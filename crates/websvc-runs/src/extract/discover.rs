//! The pages of an extraction: given ones, those of sites, and results of a search.

use std::collections::HashSet;
use std::time::Instant;

use url::Url;
use websvc_agent::Stop;
use websvc_engine::MapOutcome;
use websvc_scrape::FilePublisher;
use websvc_transport::text_without_credentials;
use websvc_types::limits::{
    EXTRACT_PAGES_MAX, QUERY_MAX_CHARS, SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_MIN_MS,
};
use websvc_types::{Location, MapRequest, ScrapeOptions, SearchRequest, SitemapMode};
use websvc_validate::{
    Checked, ExtractPlan, ExtractTarget, MapPlan, Policy, Rejection, SearchPlan, Target, check_request,
};

use super::Extraction;
use crate::budget::Price;

/// The pages of an extraction in their order, each once.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    pub(super) urls: Vec<Url>,
    /// Problems, such as a site whose pages could not be found.
    pub(super) warnings: Vec<String>,
    /// The reason why a map or a search could not be paid.
    pub(super) stop: Option<Stop>,
}

impl Discovered {
    fn add(&mut self, seen: &mut HashSet<Url>, url: Url) {
        let mut key = url.clone();
        key.set_fragment(None);
        if self.urls.len() < EXTRACT_PAGES_MAX && seen.insert(key) {
            self.urls.push(url);
        }
    }
}

impl Extraction<'_> {
    /// Finds the pages.
    pub(super) async fn discover(&self) -> Discovered {
        let (mut discovered, mut seen) = (Discovered::default(), HashSet::new());
        for target in &self.plan.targets {
            match target {
                ExtractTarget::Page(page) => discovered.add(&mut seen, page.url_with_credentials()),
                ExtractTarget::Site(site) => self.map(site, &mut discovered, &mut seen).await,
            }
        }
        if self.plan.searches {
            self.search(&mut discovered, &mut seen).await;
        }
        discovered
    }

    /// Adds pages of a site.
    async fn map(&self, site: &Target, discovered: &mut Discovered, seen: &mut HashSet<Url>) {
        let engine = &self.runs.inner.engine;
        let mut failed = |reason: String| {
            discovered.warnings.push(format!("the pages of {} could not be found: {reason}", site.url));
        };
        let plan = match map_plan(self.plan, site, self.policy) {
            Ok(plan) => plan,
            Err(rejection) => return failed(rejection.to_string()),
        };
        let reservation = match self.budget.reserve(Price::from_credits(engine.max_map_credits(&plan))).await
        {
            Ok(reservation) => reservation,
            Err(stop) => {
                discovered.stop = Some(stop);
                return;
            }
        };
        let mapping = engine.map(&plan, self.team, Instant::now());
        let Ok(outcome) = tokio::time::timeout_at(self.deadline.into(), mapping).await else {
            return failed("the time is over".to_owned());
        };
        let MapOutcome { result, bill } = outcome;
        reservation.settle(&bill);
        match result {
            Ok(found) => {
                let urls = found.links.iter().filter_map(|link| Url::parse(&link.url).ok());
                urls.for_each(|url| discovered.add(seen, url));
            }
            Err(error) => failed(error.to_string()),
        }
    }

    /// Adds results of a search with the prompt.
    async fn search(&self, discovered: &mut Discovered, seen: &mut HashSet<Url>) {
        let engine = &self.runs.inner.engine;
        let mut failed = |reason: String| {
            discovered.warnings.push(format!("the search for pages failed: {reason}"));
        };
        let plan = match search_plan(self.plan, self.policy) {
            Some(Ok(plan)) => plan,
            Some(Err(rejection)) => return failed(rejection.to_string()),
            None => return failed("there is no prompt".to_owned()),
        };
        let reservation =
            match self.budget.reserve(Price::from_credits(engine.max_search_credits(&plan))).await {
                Ok(reservation) => reservation,
                Err(stop) => {
                    discovered.stop = Some(stop);
                    return;
                }
            };
        let files = FilePublisher::inline();
        let searching = engine.search(&plan, self.team, &files, Instant::now());
        let Ok(outcome) = tokio::time::timeout_at(self.deadline.into(), searching).await else {
            return failed("the time is over".to_owned());
        };
        match outcome {
            Ok(outcome) => {
                reservation.settle(&outcome.bill);
                let results = outcome.data.web.unwrap_or_default();
                let urls = results.iter().filter_map(|result| Url::parse(&result.url).ok());
                urls.for_each(|url| discovered.add(seen, url));
            }
            Err(mut error) => {
                reservation.settle(&error.take_bill());
                failed(error.to_string());
            }
        }
    }
}

/// Returns the plan of a map of a site. The URLs are ranked by the prompt.
pub(super) fn map_plan(plan: &ExtractPlan, site: &Target, policy: &Policy) -> Result<MapPlan, Rejection> {
    let ScrapeOptions { location, headers, .. } = &plan.options;
    let request = MapRequest {
        search: query(plan),
        limit: Some(plan.limit),
        sitemap: Some(if plan.ignore_sitemap { SitemapMode::Skip } else { SitemapMode::Include }),
        include_subdomains: Some(plan.include_subdomains),
        allow_external_links: Some(plan.allow_external_links),
        timeout: Some(timeout_ms(plan)),
        location: location.clone(),
        headers: headers.clone(),
        threat_protection: plan.threat_protection.clone(),
        ..MapRequest::new(site.url_with_credentials())
    };
    check_request(&request, policy).map(|Checked { plan, warnings: _ }| plan)
}

/// Returns the plan of the search; `None` without a prompt.
pub(super) fn search_plan(plan: &ExtractPlan, policy: &Policy) -> Option<Result<SearchPlan, Rejection>> {
    let country = plan.options.location.as_ref().and_then(|Location { country, .. }| country.clone());
    let request = SearchRequest {
        limit: Some(plan.limit),
        country,
        timeout: Some(timeout_ms(plan)),
        ignore_invalid_urls: Some(true),
        threat_protection: plan.threat_protection.clone(),
        ..SearchRequest::new(query(plan)?)
    };
    Some(check_request(&request, policy).map(|Checked { plan, warnings: _ }| plan))
}

/// Returns the prompt as a query, without passwords of URLs in it. Quotes are operators of a query, and a prompt may have only
/// one of them.
fn query(plan: &ExtractPlan) -> Option<String> {
    let words = text_without_credentials(plan.prompt.as_deref()?).replace('"', " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let query: String = words.chars().take(QUERY_MAX_CHARS as usize).collect();
    (!query.is_empty()).then_some(query)
}

fn timeout_ms(plan: &ExtractPlan) -> u64 {
    let timeout = plan
        .timeout
        .map_or(SEARCH_TIMEOUT_DEFAULT_MS, |timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    timeout.clamp(SEARCH_TIMEOUT_MIN_MS, SEARCH_TIMEOUT_DEFAULT_MS)
}
