//! The rules of a map: request in, plan out.

use std::collections::BTreeMap;
use std::time::Duration;

use websvc_types::limits::{
    MAP_DELAY_MAX_S, MAP_LIMIT_DEFAULT, MAP_LIMIT_MAX, MAP_LIMIT_MIN, QUERY_MAX_CHARS,
    SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_FLOOR_MS, SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS,
};
use websvc_types::{MapRequest, ScrapeOptions};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::map_plan::MapPlan;
use crate::path::Path;
use crate::path_filter::PathLists;
use crate::policy::Policy;
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::{bounds, path_filter, target};

/// Checks a map.
///
/// # Errors
/// Every rule that the request breaks, or what the team may not do.
pub fn check_map(request: MapRequest, policy: &Policy) -> Result<Checked<MapPlan>, Rejection> {
    plan(Report::default(), request, policy)
}

/// Checks a map, and ends the report of what was found before.
///
/// # Errors
/// As [`check_map`].
pub(crate) fn plan(
    mut report: Report,
    request: MapRequest,
    policy: &Policy,
) -> Result<Checked<MapPlan>, Rejection> {
    match check(&mut report, request, policy) {
        Some(plan) => report.finish(plan),
        None => Err(report.rejection().expect("a request without a URL is a violation")),
    }
}

/// Checks a map. The plan holds only if the report has no violation; without a URL there is none.
fn check(report: &mut Report, mut request: MapRequest, policy: &Policy) -> Option<MapPlan> {
    let body = Path::Root;
    let start = target::check(report, &body.key("url"), &request.url);
    let search = request.search.take().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if let Some(search) = &search {
        bounds::chars(report, &body.key("search"), search, 0, QUERY_MAX_CHARS);
    }
    let limit = request.limit.unwrap_or(MAP_LIMIT_DEFAULT);
    bounds::number(report, &body.key("limit"), limit, MAP_LIMIT_MIN, MAP_LIMIT_MAX);
    let timeout_ms = request.timeout.unwrap_or(SEARCH_TIMEOUT_DEFAULT_MS);
    bounds::number(report, &body.key("timeout"), timeout_ms, SEARCH_TIMEOUT_MIN_MS, SEARCH_TIMEOUT_MAX_MS);
    let delay = request.delay.unwrap_or(0.0);
    let has_delay = bounds::number(report, &body.key("delay"), delay, 0.0, MAP_DELAY_MAX_S);
    let on_whole_url = request.regex_on_full_url.unwrap_or(false);
    let (include, exclude) = (request.include_paths.take(), request.exclude_paths.take());
    let lists = PathLists { include, exclude, on_whole_url };
    let paths = path_filter::check(report, lists, &policy.path_patterns, path_filter::is_short);
    manners(report, &request);
    if request.max_discovery_depth.is_some_and(|depth| depth > 1) {
        report.warning(&body.key("maxDiscoveryDepth"), |name| {
            format!("{name} counts as 1: a map follows no links, a crawl does")
        });
    }
    let retention = RetentionMode::requested_retention(policy);
    let or = |given: Option<bool>, default: bool| given.unwrap_or(default);
    let sitemap = request.sitemap.unwrap_or_default();
    let subdomains = or(request.include_subdomains, true) || or(request.allow_subdomains, false);
    let by_path = or(request.filter_by_path, true) && !or(request.crawl_entire_domain, false);
    let (other_sites, links) =
        (or(request.allow_external_links, false), request.max_discovery_depth != Some(0));
    let queries = !or(request.ignore_query_parameters, true);
    let every_spelling = !or(request.deduplicate_similar_urls, true);
    let index = or(request.use_index, true);
    let mut page = page(report, request, policy, retention);
    let start = start?;
    page.authorize(start.credentials());
    Some(MapPlan {
        search,
        sitemap,
        subdomains,
        other_sites,
        queries,
        every_spelling,
        by_path,
        limit: limit as usize,
        timeout: Duration::from_millis(timeout_ms.max(SEARCH_TIMEOUT_FLOOR_MS)),
        delay: if has_delay { Duration::from_secs_f64(delay) } else { Duration::ZERO },
        paths,
        links,
        index,
        retention,
        elsewhere: ScrapePlan { headers: BTreeMap::new(), ..page.clone() },
        page,
        url: start.url,
    })
}

/// Nobody may have a site's robots.txt ignored, or read it as somebody else.
fn manners(report: &mut Report, request: &MapRequest) {
    if request.ignore_robots_txt == Some(true) {
        report.forbid("ignoreRobotsTxt is not enabled for this team");
    }
    if request.robots_user_agent.as_ref().is_some_and(|name| !name.trim().is_empty()) {
        report.forbid("robotsUserAgent is not enabled for this team");
    }
}

/// Returns how what is fetched is fetched: as pages are, by the same rules.
fn page(report: &mut Report, request: MapRequest, policy: &Policy, retention: RetentionMode) -> ScrapePlan {
    let MapRequest { headers, location, threat_protection, audit_metadata, ignore_cache, .. } = request;
    let options = ScrapeOptions {
        headers,
        location,
        threat_protection,
        audit_metadata,
        max_age: ignore_cache.unwrap_or(false).then_some(0),
        ..ScrapeOptions::default()
    };
    scrape::check(report, &Path::Root, options, ScrapeContext { policy, retention, threat: None })
}
