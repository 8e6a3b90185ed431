//! Stage 10, charge: what a search costs (specification, section 8, and the operator's contract).

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
    let pages: u64 = pages.iter().flatten().map(|gathered| page_price(pricing, lockdown, gathered)).sum();
    tens * per_ten + pages
}

/// Returns the credits of one page. A page that could not be got costs nothing, but for a miss under lockdown.
fn page_price(pricing: &Pricing, lockdown: bool, gathered: &Gathered) -> u64 {
    match (gathered, lockdown) {
        (Gathered::NotAsked, _) | (Gathered::Failed(_), false) => 0,
        (Gathered::Page(_), false) => pricing.scrape,
        (Gathered::Page(_), true) => pricing.lockdown_hit,
        (Gathered::Failed(_), true) => pricing.lockdown_miss,
    }
}
