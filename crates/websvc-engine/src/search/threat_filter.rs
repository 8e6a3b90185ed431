//! Between find and gather: results whose URLs threat protection blocks are taken out (specification, section 2.3), and
//! pages are got by a scraper that checks where they lead.

use std::time::Instant;

use futures_util::future::join_all;
use url::Url;
use websvc_scrape::Scraper;
use websvc_threat::{CheckSummary, Classifier, UrlChecker};
use websvc_validate::{ScrapePlan, SearchPlan, SourceKind};

use super::find::SearchHits;
use crate::error::EngineError;
use crate::source::Hit;

/// What the URLs of a search are checked by: its results and its pages may have rules of their own.
pub(crate) struct UrlCheckers {
    results: Option<UrlChecker>,
    pages: Option<UrlChecker>,
}

impl UrlCheckers {
    /// Returns those of a search; none where threat protection is off.
    pub(crate) fn of(plan: &SearchPlan, classifier: &Classifier) -> Self {
        let results = plan.protection().map(|rules| UrlChecker::new(rules, classifier));
        let pages = plan.scrape().and_then(ScrapePlan::protection).map(|rules| match &results {
            Some(results) => results.with_rules(rules),
            None => UrlChecker::new(rules, classifier),
        });
        Self { results, pages }
    }

    /// Returns those of a page that is asked for alone.
    pub(crate) fn of_page(plan: &ScrapePlan, classifier: &Classifier) -> Self {
        let pages = plan.protection().map(|rules| UrlChecker::new(rules, classifier));
        Self { results: None, pages }
    }

    /// Takes the blocked results out, and says how many there were.
    ///
    /// # Errors
    /// [`EngineError::Timeout`] when the checks were not done in time: what is unchecked is not shown.
    pub(crate) async fn filter_results(
        &self,
        found: &mut SearchHits,
        plan: &SearchPlan,
        deadline: Instant,
        warnings: &mut Vec<String>,
    ) -> Result<(), EngineError> {
        let Some(inspection) = &self.results else { return Ok(()) };
        let mut removed = 0;
        for vertical in &mut found.verticals {
            let checking =
                join_all(vertical.hits.iter().map(|hit| is_allowed(inspection, vertical.kind, hit)));
            let checked = Box::pin(tokio::time::timeout_at(deadline.into(), checking)).await;
            let mut is_kept = checked.map_err(|_elapsed| EngineError::late(plan))?.into_iter();
            let before = vertical.hits.len();
            vertical.hits.retain(|_| is_kept.next().unwrap_or_default());
            removed += before - vertical.hits.len();
            vertical.hits.iter_mut().for_each(|hit| drop_thumbnail(inspection, vertical.kind, hit));
        }
        match removed {
            0 => {}
            1 => warnings.push("threat protection removed 1 result".to_owned()),
            _ => warnings.push(format!("threat protection removed {removed} results")),
        }
        Ok(())
    }

    /// Returns what pages are checked by, and what they lead to.
    pub(crate) fn pages(&self) -> Option<&UrlChecker> {
        self.pages.as_ref()
    }

    /// Returns what gets the pages.
    pub(crate) fn scraper(&self, scraper: &Scraper) -> Scraper {
        match &self.pages {
            Some(inspection) => scraper.with_url_checker(inspection.clone()),
            None => scraper.clone(),
        }
    }

    /// Says what was not checked, and returns how many unique URLs were scanned.
    pub(crate) fn finish(self, warnings: &mut Vec<String>) -> u64 {
        let Some(inspection) = self.results.or(self.pages) else { return 0 };
        let CheckSummary { scanned, unchecked } = inspection.summary();
        if unchecked > 0 && inspection.has_scanner() {
            let urls = if unchecked == 1 { "URL" } else { "URLs" };
            warnings.push(format!(
                "the scanner of threat protection gave no verdict on {unchecked} {urls}; failurePolicy decided"
            ));
        } else if unchecked > 0 {
            warnings.push(
                "threat protection went by its lists alone: no scanner of URLs is configured".to_owned(),
            );
        }
        scanned
    }
}

/// Returns whether a result is shown. What is no URL leads nowhere.
async fn is_allowed(inspection: &UrlChecker, kind: SourceKind, hit: &Hit) -> bool {
    // Of an image, the picture is what is loaded; it may be elsewhere than its page.
    let picture = match kind {
        SourceKind::Images => hit.image.as_ref().map(|image| image.url.as_str()),
        SourceKind::Web | SourceKind::News => None,
    };
    for url in [Some(hit.url.as_str()), picture].into_iter().flatten() {
        if let Ok(url) = Url::parse(url)
            && inspection.check(&url).await.is_err()
        {
            return false;
        }
    }
    true
}

/// Takes away the picture beside a result when the lists block it: the result itself may be shown.
fn drop_thumbnail(inspection: &UrlChecker, kind: SourceKind, hit: &mut Hit) {
    let is_beside = matches!(kind, SourceKind::Web | SourceKind::News);
    let is_blocked = hit.image.as_ref().and_then(|image| Url::parse(&image.url).ok());
    if is_beside && is_blocked.is_some_and(|url| inspection.check_lists(&url).is_err()) {
        hit.image = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use websvc_validate::{Policy, ThreatPolicy, read_search};

    use super::*;
    use crate::search::find::VerticalHits;
    use crate::source::HitImage;

    fn hit(url: &str, picture: Option<&str>) -> Hit {
        let image = picture.map(|url| HitImage { url: url.to_owned(), ..HitImage::default() });
        Hit { url: url.to_owned(), image, ..Hit::default() }
    }

    /// Returns which of the hits of a kind are left, each with its picture, and the warnings.
    async fn screened(kind: SourceKind, hits: Vec<Hit>) -> (Vec<(String, Option<String>)>, Vec<String>) {
        let body = json!({ "query": "q", "threatProtection": { "blacklist": ["bad.test"] } });
        let policy = Policy { threat: ThreatPolicy::On, ..Policy::default() };
        let plan = read_search(body.to_string().as_bytes(), &policy).expect("the body is right").plan;
        let inspections = UrlCheckers::of(&plan, &Classifier::none());
        let mut found = SearchHits { verticals: vec![VerticalHits { kind, hits }], ..SearchHits::default() };
        let (deadline, mut warnings) = (Instant::now() + Duration::from_secs(60), Vec::new());
        inspections.filter_results(&mut found, &plan, deadline, &mut warnings).await.expect("there is time");
        let left = found.verticals.remove(0).hits.into_iter();
        (left.map(|hit| (hit.url, hit.image.map(|image| image.url))).collect(), warnings)
    }

    const BAD: &str = "http://bad.test/a.png";
    const FINE: &str = "http://fine.test/a.png";

    #[tokio::test]
    async fn an_image_is_checked_by_its_page_and_by_its_picture() {
        let hits = vec![hit(FINE, Some(FINE)), hit(BAD, Some(FINE)), hit(FINE, Some(BAD)), hit(FINE, None)];
        let (left, warnings) = screened(SourceKind::Images, hits).await;
        assert_eq!(left, [(FINE.to_owned(), Some(FINE.to_owned())), (FINE.to_owned(), None)]);
        assert_eq!(warnings, ["threat protection removed 2 results"]);
    }

    #[tokio::test]
    async fn a_blocked_picture_beside_a_result_goes_and_the_result_stays() {
        let hits = vec![hit(FINE, Some(BAD)), hit(FINE, Some(FINE)), hit(BAD, Some(FINE))];
        let (left, warnings) = screened(SourceKind::News, hits).await;
        assert_eq!(left, [(FINE.to_owned(), None), (FINE.to_owned(), Some(FINE.to_owned()))]);
        assert_eq!(warnings, ["threat protection removed 1 result"]);
    }

    #[tokio::test]
    async fn what_is_no_url_leads_nowhere_and_stays() {
        let (left, warnings) = screened(SourceKind::Web, vec![hit("notes/tea.txt", None)]).await;
        assert_eq!((left.len(), warnings.len()), (1, 0));
    }
}
