//! The credits of several searches that are charged as one, such as those of a search target of a monitor
//! (operations.md, section 3.9).

use websvc_scrape::ProxyConfig;
use websvc_types::SearchData;
use websvc_validate::{RetentionMode, SearchPlan};

use super::SearchOutcome;
use super::charge::{max_search_credits, per_ten};
use crate::bill::{Bill, ChargeKind};
use crate::pricing::Pricing;

/// Returns the maximum credits of searches whose results are charged together. They must have the same retention.
pub(crate) fn max_joint_search_credits(
    pricing: &Pricing,
    proxies: &ProxyConfig,
    plans: &[SearchPlan],
) -> u64 {
    // The tens are started once for all searches, so each search is priced without its own.
    let without_results =
        Pricing { search_per_ten: 0, search_zdr_per_ten: 0, search_anon_per_ten: 0, ..*pricing };
    let others = plans.iter().map(|plan| max_search_credits(&without_results, proxies, plan));
    let results: u64 = plans.iter().map(|plan| plan.limit as u64 * plan.sources.len() as u64).sum();
    let price = plans.first().map_or(0, |plan| per_ten(pricing, plan.retention).1);
    others.fold(results.div_ceil(10).saturating_mul(price), u64::saturating_add)
}

/// Returns the charges of searches whose results are charged together, by started tens of all of them.
pub(crate) fn charge_jointly(
    pricing: &Pricing,
    retention: RetentionMode,
    searches: &[SearchOutcome],
) -> Bill {
    let mut bill = Bill::default();
    let results: usize = searches.iter().map(|search| result_count(&search.data)).sum();
    let (kind, price) = per_ten(pricing, retention);
    bill.add_line(kind, u64::try_from(results.div_ceil(10)).unwrap_or(u64::MAX), price);
    for search in searches {
        bill.add_bill(&search.bill.without(&[
            ChargeKind::Results,
            ChargeKind::ResultsZdr,
            ChargeKind::ResultsAnon,
        ]));
    }
    bill
}

fn result_count(data: &SearchData) -> usize {
    let SearchData { web, images, news } = data;
    let len = |count: Option<usize>| count.unwrap_or(0);
    len(web.as_ref().map(Vec::len)) + len(images.as_ref().map(Vec::len)) + len(news.as_ref().map(Vec::len))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_types::SearchRequest;
    use websvc_validate::{Policy, check_request};

    use super::*;
    use crate::search::StageTimings;

    fn plan(limit: u64) -> SearchPlan {
        let request: SearchRequest =
            serde_json::from_value(json!({ "query": "tea", "limit": limit })).unwrap();
        check_request(&request, &Policy::default()).unwrap().plan
    }

    /// A search with this number of results, which was charged as one of its own.
    fn search(results: usize) -> SearchOutcome {
        let web: Vec<Value> = (0..results)
            .map(|number| json!({ "url": format!("http://tea.test/{number}"), "title": "t", "description": "d" }))
            .collect();
        let data = serde_json::from_value(json!({ "web": web })).unwrap();
        let mut bill = Bill::default();
        bill.add_line(ChargeKind::Results, results.div_ceil(10) as u64, 2);
        bill.add_line(ChargeKind::ThreatScan, 1, 2);
        SearchOutcome { data, warnings: Vec::new(), bill, stages: StageTimings::default() }
    }

    #[test]
    fn tens_are_started_once_for_all_searches() {
        let pricing = Pricing::default();
        let max = |limits: &[u64]| {
            let plans: Vec<SearchPlan> = limits.iter().map(|limit| plan(*limit)).collect();
            max_joint_search_credits(&pricing, &ProxyConfig::default(), &plans)
        };
        assert_eq!((max(&[1; 12]), max(&[12, 12]), max(&[])), (4, 6, 0));
        let charge = |counts: &[usize]| {
            let searches: Vec<SearchOutcome> = counts.iter().map(|count| search(*count)).collect();
            let bill = charge_jointly(&pricing, RetentionMode::Normal, &searches);
            let results = bill.lines().iter().find(|line| line.kind == ChargeKind::Results);
            (results.map_or(0, |line| line.credits), bill.total())
        };
        // Scans are charged for each search.
        assert_eq!(charge(&[1; 12]), (4, 28));
        assert_eq!(charge(&[0, 10]), (2, 6));
        assert_eq!(charge(&[0]), (0, 2));
    }
}
