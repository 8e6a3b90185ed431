//! The prices of an extraction.

use websvc_engine::Engine;
use websvc_validate::{ExtractPlan, ExtractTarget, Policy};

use super::discover::{map_plan, search_plan};

/// Returns the maximum credits of an extraction. Further pages of documents and scanned redirects are not included.
pub(crate) fn max_credits(engine: &Engine, plan: &ExtractPlan, policy: &Policy) -> u64 {
    let sites = plan.targets.iter().filter_map(|target| match target {
        ExtractTarget::Page(_) => None,
        ExtractTarget::Site(site) => map_plan(plan, site, policy).ok(),
    });
    let maps: u64 = sites.map(|site| engine.max_map_credits(&site)).sum();
    let search = search_plan(plan, policy).filter(|_| plan.searches).and_then(Result::ok);
    let search = search.map_or(0, |search| engine.max_search_credits(&search));
    let pages = u64::try_from(plan.max_pages()).unwrap_or(u64::MAX);
    pages.saturating_mul(page_credits(engine, plan)).saturating_add(maps).saturating_add(search)
}

/// Returns the credits without which an extraction cannot have data: those of a page.
pub(crate) fn least_extract_credits(engine: &Engine, plan: &ExtractPlan) -> u64 {
    page_credits(engine, plan).max(1)
}

/// Returns the maximum credits of a page with its data.
pub(super) fn page_credits(engine: &Engine, plan: &ExtractPlan) -> u64 {
    engine.max_page_credits(&plan.scrape).saturating_add(engine.json_price())
}
