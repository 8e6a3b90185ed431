//! Threat protection between find and gather: removes the results whose URLs are blocked (specification, section 2.3),
//! and makes the scraper check the redirects of pages.

use std::time::Instant;

use futures_util::future::join_all;
use url::Url;
use websvc_scrape::Scraper;
use websvc_scrape::threat::{CheckSummary, Classifier, UrlChecker};
use websvc_types::counted;
use websvc_validate::{ScrapePlan, SearchPlan, SourceKind};

use super::find::SearchHits;
use crate::error::EngineError;
use crate::source::Hit;

/// The URL checkers of a search. Its results and its pages may have different rules.
pub(crate) struct UrlCheckers {
    results: Option<UrlChecker>,
    pages: Option<UrlChecker>,
}

impl UrlCheckers {
    /// Returns the checkers of a search; none if threat protection is off.
    pub(crate) fn from_plan(plan: &SearchPlan, classifier: &Classifier) -> Self {
        let results = plan.protection.as_ref().map(|rules| UrlChecker::new(rules, classifier));
        let pages =
            plan.scrape.as_ref().and_then(|plan| plan.protection.as_ref()).map(|rules| match &results {
                Some(results) => results.with_rules(rules),
                None => UrlChecker::new(rules, classifier),
            });
        Self { results, pages }
    }

    /// Returns the checkers of a single page.
    pub(crate) fn of_page(plan: &ScrapePlan, classifier: &Classifier) -> Self {
        let pages = plan.protection.as_ref().map(|rules| UrlChecker::new(rules, classifier));
        Self { results: None, pages }
    }

    /// Removes the blocked results, and adds a warning with their number.
    ///
    /// # Errors
    /// [`EngineError::Timeout`] if the checks did not finish in time. Unchecked results are not returned.
    pub(crate) async fn filter_results(
        &self,
        found: &mut SearchHits,
        plan: &SearchPlan,
        deadline: Instant,
        warnings: &mut Vec<String>,
    ) -> Result<(), EngineError> {
        let Some(checker) = &self.results else { return Ok(()) };
        let mut removed = 0;
        for vertical in &mut found.verticals {
            let checks = join_all(vertical.hits.iter().map(|hit| is_allowed(checker, vertical.kind, hit)));
            let checked = Box::pin(tokio::time::timeout_at(deadline.into(), checks)).await;
            let mut allowed = checked.map_err(|_elapsed| EngineError::late(plan))?.into_iter();
            let before = vertical.hits.len();
            vertical.hits.retain(|_| allowed.next().unwrap_or_default());
            removed += before - vertical.hits.len();
            vertical.hits.iter_mut().for_each(|hit| drop_thumbnail(checker, vertical.kind, hit));
        }
        if removed > 0 {
            warnings.push(format!("threat protection removed {}", counted(removed, "result", "results")));
        }
        Ok(())
    }

    /// Returns the checker of pages and their redirects.
    pub(crate) fn pages(&self) -> Option<&UrlChecker> {
        self.pages.as_ref()
    }

    /// Returns the scraper with the checker of pages.
    pub(crate) fn scraper(&self, scraper: &Scraper) -> Scraper {
        match &self.pages {
            Some(checker) => scraper.with_url_checker(checker.clone()),
            None => scraper.clone(),
        }
    }

    /// Adds a warning about unchecked URLs, and returns the number of unique URLs that were scanned.
    pub(crate) fn finish(self, warnings: &mut Vec<String>) -> u64 {
        let Some(checker) = self.results.or(self.pages) else { return 0 };
        let CheckSummary { scanned, unchecked } = checker.summary();
        if unchecked > 0 && checker.has_scanner() {
            let urls = if unchecked == 1 { "URL" } else { "URLs" };
            warnings.push(format!(
                "the threat scanner gave no verdict on {unchecked} {urls}; failurePolicy decided"
            ));
        } else if unchecked > 0 {
            warnings.push("threat protection used only its lists: no URL scanner is configured".to_owned());
        }
        scanned
    }
}

/// Returns whether a result is allowed. Text that is not a URL cannot be followed, so it is.
async fn is_allowed(checker: &UrlChecker, kind: SourceKind, hit: &Hit) -> bool {
    // An image may be on another host than its page, and both are loaded.
    let image_url = match kind {
        SourceKind::Images => hit.image.as_ref().map(|image| image.url.as_str()),
        SourceKind::Web | SourceKind::News => None,
    };
    for url in [Some(hit.url.as_str()), image_url].into_iter().flatten() {
        if let Ok(url) = Url::parse(url)
            && checker.check(&url).await.is_err()
        {
            return false;
        }
    }
    true
}

/// Removes the thumbnail of a result if the lists block it. The result itself stays.
fn drop_thumbnail(checker: &UrlChecker, kind: SourceKind, hit: &mut Hit) {
    let has_thumbnail = matches!(kind, SourceKind::Web | SourceKind::News);
    let is_blocked = hit.image.as_ref().and_then(|image| Url::parse(&image.url).ok());
    if has_thumbnail && is_blocked.is_some_and(|url| checker.check_lists(&url).is_err()) {
        hit.image = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use websvc_types::SearchRequest;
    use websvc_validate::{Policy, ThreatPolicy, read_request};

    use super::*;
    use crate::search::find::VerticalHits;
    use crate::source::HitImage;

    fn hit(url: &str, image_url: Option<&str>) -> Hit {
        let image = image_url.map(|url| HitImage { url: url.to_owned(), ..HitImage::default() });
        Hit { url: url.to_owned(), image, ..Hit::default() }
    }

    /// Returns the hits that are not removed, each with its image URL, and the warnings.
    async fn filtered(kind: SourceKind, hits: Vec<Hit>) -> (Vec<(String, Option<String>)>, Vec<String>) {
        let body = json!({ "query": "q", "threatProtection": { "blacklist": ["bad.test"] } });
        let policy = Policy { threat: ThreatPolicy::On, ..Policy::default() };
        let plan = read_request::<SearchRequest>(body.to_string().as_bytes(), &policy)
            .expect("the body is right")
            .plan;
        let checkers = UrlCheckers::from_plan(&plan, &Classifier::none());
        let mut found = SearchHits { verticals: vec![VerticalHits { kind, hits }], ..SearchHits::default() };
        let (deadline, mut warnings) = (Instant::now() + Duration::from_secs(60), Vec::new());
        checkers.filter_results(&mut found, &plan, deadline, &mut warnings).await.expect("there is time");
        let remaining = found.verticals.remove(0).hits.into_iter();
        (remaining.map(|hit| (hit.url, hit.image.map(|image| image.url))).collect(), warnings)
    }

    const BAD: &str = "http://bad.test/a.png";
    const FINE: &str = "http://fine.test/a.png";

    #[tokio::test]
    async fn image_results_are_checked_by_page_and_image() {
        let hits = vec![hit(FINE, Some(FINE)), hit(BAD, Some(FINE)), hit(FINE, Some(BAD)), hit(FINE, None)];
        let (remaining, warnings) = filtered(SourceKind::Images, hits).await;
        assert_eq!(remaining, [(FINE.to_owned(), Some(FINE.to_owned())), (FINE.to_owned(), None)]);
        assert_eq!(warnings, ["threat protection removed 2 results"]);
    }

    #[tokio::test]
    async fn blocked_thumbnail_is_removed_and_its_result_stays() {
        let hits = vec![hit(FINE, Some(BAD)), hit(FINE, Some(FINE)), hit(BAD, Some(FINE))];
        let (remaining, warnings) = filtered(SourceKind::News, hits).await;
        assert_eq!(remaining, [(FINE.to_owned(), None), (FINE.to_owned(), Some(FINE.to_owned()))]);
        assert_eq!(warnings, ["threat protection removed 1 result"]);
    }

    #[tokio::test]
    async fn result_without_a_valid_url_stays() {
        let (remaining, warnings) = filtered(SourceKind::Web, vec![hit("notes/tea.txt", None)]).await;
        assert_eq!((remaining.len(), warnings.len()), (1, 0));
    }
}
