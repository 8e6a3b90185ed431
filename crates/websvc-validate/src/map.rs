//! Rules of a map: converts a request to a plan.

use std::collections::BTreeMap;
use std::time::Duration;

use websvc_types::limits::{
    MAP_DELAY_MAX_S, MAP_LIMIT_DEFAULT, QUERY_MAX_CHARS, SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_FLOOR_MS,
};
use websvc_types::map::MapRequestV1;
use websvc_types::{MapRequest, ScrapeOptions, SitemapMode};

use crate::map_plan::MapPlan;
use crate::path::Path;
use crate::path_filter::PathLists;
use crate::policy::Policy;
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::{bounds, path_filter, target};

/// Checks a map of version 1.
pub(crate) fn check_v1(report: &mut Report, request: MapRequestV1, policy: &Policy) -> Option<MapPlan> {
    check(report, request.into(), policy)
}

/// Checks a map. The plan is valid only if the report has no violation. `None` means that the URL is invalid.
pub(crate) fn check(report: &mut Report, mut request: MapRequest, policy: &Policy) -> Option<MapPlan> {
    let body = Path::Root;
    let start = target::check(report, &body.key("url"), &request.url);
    let search = request.search.take().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if let Some(search) = &search {
        bounds::chars(report, &body.key("search"), search, 0, QUERY_MAX_CHARS);
    }
    let limit = request.limit.unwrap_or(MAP_LIMIT_DEFAULT);
    let timeout_ms = request.timeout.unwrap_or(SEARCH_TIMEOUT_DEFAULT_MS);
    let delay = request.delay.unwrap_or(0.0);
    let is_valid_delay = bounds::number(report, &body.key("delay"), delay, 0.0, MAP_DELAY_MAX_S);
    let on_full_url = request.regex_on_full_url.unwrap_or(false);
    let (include, exclude) = (request.include_paths.take(), request.exclude_paths.take());
    let lists = PathLists { include, exclude, on_full_url };
    let paths = path_filter::check(report, lists, &policy.path_patterns, path_filter::has_valid_length);
    check_robots(report, &request);
    if request.max_discovery_depth.is_some_and(|depth| depth > 1) {
        report.warning(&body.key("maxDiscoveryDepth"), |name| {
            format!("{name} counts as 1: a map does not follow links, unlike a crawl")
        });
    }
    let retention = RetentionMode::requested_retention(policy);
    let or = |value: Option<bool>, default: bool| value.unwrap_or(default);
    let sitemap = request.sitemap.unwrap_or_default();
    let subdomains = or(request.include_subdomains, true) || or(request.allow_subdomains, false);
    let by_path = or(request.filter_by_path, true) && !or(request.crawl_entire_domain, false);
    let other_sites = or(request.allow_external_links, false);
    let has_pages = sitemap != SitemapMode::Only;
    let links = has_pages && request.max_discovery_depth != Some(0);
    let includes_queries = !or(request.ignore_query_parameters, true);
    let url_variants = !or(request.deduplicate_similar_urls, true);
    let index = has_pages && or(request.use_index, true);
    let mut page = page(report, request, policy, retention);
    let start = start?;
    page.authorize(start.credentials());
    Some(MapPlan {
        search,
        sitemap,
        subdomains,
        other_sites,
        includes_queries,
        url_variants,
        by_path,
        limit: limit as usize,
        timeout: Duration::from_millis(timeout_ms.max(SEARCH_TIMEOUT_FLOOR_MS)),
        delay: if is_valid_delay { Duration::from_secs_f64(delay) } else { Duration::ZERO },
        paths,
        links,
        index,
        retention,
        page_without_headers: ScrapePlan { headers: BTreeMap::new(), ..page.clone() },
        page,
        url: start.url,
    })
}

/// Rejects options that would ignore robots.txt, or read it as another user agent.
fn check_robots(report: &mut Report, request: &MapRequest) {
    if request.ignore_robots_txt == Some(true) {
        report.forbid("ignoreRobotsTxt is not enabled for this team");
    }
    if request.robots_user_agent.as_ref().is_some_and(|name| !name.trim().is_empty()) {
        report.forbid("robotsUserAgent is not available for maps: robots.txt is always read as websvc");
    }
}

/// Returns the plan for fetching the start page and other files: the same rules as for scraping a page.
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
