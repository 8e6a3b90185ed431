//! Stage 10, charge: what a search costs (specification, section 8, and the operator's contract).

use websvc_types::ProxyUsed;
use websvc_validate::{Retention, SearchPlan};

use super::find::Found;
use super::gather::{Gathered, Pages};
use crate::pricing::Pricing;

/// Returns the credits of a search: by started tens of results, and by page.
pub(crate) fn charge(pricing: &Pricing, plan: &SearchPlan, found: &Found, pages: &Pages) -> u64 {
    let per_ten = match plan.retention() {
        Retention::Normal => pricing.search_per_ten,
        Retention::Anonymous => pricing.search_anon_per_ten,
        Retention::Zero => pricing.search_zdr_per_ten,
    };
    let tens = u64::try_from(found.total().div_ceil(10)).unwrap_or(u64::MAX);
    let lockdown = plan.scrape().is_some_and(websvc_validate::ScrapePlan::lockdown);
    let redacts = plan.scrape().is_some_and(|scrape| scrape.redact_pii().is_some());
    let redaction = if redacts { pricing.redact_pii } else { 0 };
    let price = |gathered| page_price(pricing, lockdown, gathered) + extras(redaction, gathered);
    let pages: u64 = pages.iter().flatten().map(price).sum();
    tens * per_ten + pages
}

/// Returns what a page costs beside its price: only a page that was got was redacted.
fn extras(redaction: u64, gathered: &Gathered) -> u64 {
    match gathered {
        Gathered::Page(_) => redaction,
        Gathered::NotAsked | Gathered::Failed(_) => 0,
    }
}

/// Returns the credits of one page. A page that could not be got costs nothing, but for a miss under lockdown.
fn page_price(pricing: &Pricing, lockdown: bool, gathered: &Gathered) -> u64 {
    match (gathered, lockdown) {
        (Gathered::NotAsked, _) | (Gathered::Failed(_), false) => 0,
        (Gathered::Page(page), false) => {
            let first = match page.metadata.proxy_used {
                Some(ProxyUsed::Stealth) => pricing.scrape_enhanced,
                Some(ProxyUsed::Basic) | None => pricing.scrape,
            };
            // A document costs as much per page of it (specification, section 8).
            first + pricing.scrape * u64::from(page.metadata.num_pages.unwrap_or(1).saturating_sub(1))
        }
        (Gathered::Page(_), true) => pricing.lockdown_hit,
        (Gathered::Failed(_), true) => pricing.lockdown_miss,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_scrape::{Page, ScrapeError};
    use websvc_types::Metadata;
    use websvc_validate::{Allowance, Policy, SourceKind, read_search};

    use super::*;
    use crate::search::find::Vertical;
    use crate::source::Hit;

    /// Checks the price of a search with this body that found so many results, and these pages.
    #[track_caller]
    fn check(mut body: Value, hits: usize, pages: Vec<Gathered>, expected: u64) {
        body["query"] = json!("q");
        let policy = Policy { zdr: Allowance::Allowed, anon: Allowance::Allowed, ..Policy::default() };
        let plan = read_search(body.to_string().as_bytes(), &policy).unwrap().plan;
        let verticals = vec![Vertical { kind: SourceKind::Web, hits: vec![Hit::default(); hits] }];
        let found = Found { verticals, ..Found::default() };
        assert_eq!(charge(&Pricing::default(), &plan, &found, &vec![pages]), expected, "{body}, {hits} hits");
    }

    fn page() -> Gathered {
        Gathered::Page(Box::default())
    }

    fn failure() -> Gathered {
        Gathered::Failed(ScrapeError::Timeout)
    }

    #[test]
    fn started_tens_of_results_are_charged_by_retention() {
        for (enterprise, prices) in
            [(json!([]), [0, 2, 2, 4]), (json!(["anon"]), [0, 2, 2, 4]), (json!(["zdr"]), [0, 10, 10, 20])]
        {
            for (hits, price) in [0, 1, 10, 11].into_iter().zip(prices) {
                check(json!({ "enterprise": enterprise }), hits, Vec::new(), price);
            }
        }
    }

    #[test]
    fn what_came_through_an_enhanced_proxy_has_its_own_price() {
        let metadata = Metadata { proxy_used: Some(ProxyUsed::Stealth), ..Metadata::default() };
        let enhanced = Gathered::Page(Box::new(Page { metadata, ..Page::default() }));
        for proxy in ["auto", "enhanced"] {
            let body = json!({ "scrapeOptions": { "formats": ["markdown"], "proxy": proxy } });
            check(body.clone(), 2, vec![page(), failure()], 2 + 1);
        }
        let body = json!({ "scrapeOptions": { "formats": ["markdown"] } });
        check(body, 2, vec![enhanced, page()], 2 + 5 + 1);
    }

    #[test]
    fn pages_are_charged_when_they_were_got_and_misses_of_lockdown_too() {
        let scraping =
            |lockdown: bool| json!({ "scrapeOptions": { "formats": ["markdown"], "lockdown": lockdown } });
        check(scraping(false), 3, vec![page(), page(), failure()], 2 + 2);
        check(scraping(true), 3, vec![page(), failure(), failure()], 2 + 5 + 2);
        check(json!({}), 2, vec![Gathered::NotAsked, Gathered::NotAsked], 2);
    }
    #[test]
    fn redaction_is_charged_for_pages_that_were_got() {
        let redacting =
            |redact: Value| json!({ "scrapeOptions": { "formats": ["markdown"], "redactPII": redact } });
        check(redacting(json!(true)), 3, vec![page(), page(), failure()], 2 + 2 * (1 + 4));
        check(redacting(json!(false)), 3, vec![page(), page(), failure()], 2 + 2);
    }
}
