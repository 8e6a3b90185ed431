//! The rules of a map: request in, plan out.

use std::time::Duration;

use url::Url;
use websvc_types::limits::{
    MAP_DELAY_MAX_S, MAP_LIMIT_DEFAULT, MAP_LIMIT_MAX, MAP_LIMIT_MIN, QUERY_MAX_CHARS,
    SEARCH_TIMEOUT_DEFAULT_MS, SEARCH_TIMEOUT_FLOOR_MS, SEARCH_TIMEOUT_MAX_MS, SEARCH_TIMEOUT_MIN_MS,
    URL_MAX_CHARS,
};
use websvc_types::{MapRequest, ScrapeOptions, ViolationCode};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::map_plan::MapPlan;
use crate::path::Path;
use crate::policy::Policy;
use crate::report::{Report, quoted};
use crate::retention::Retention;
use crate::scrape::{self, Setting};
use crate::{bounds, path_filter};

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
fn check(report: &mut Report, request: MapRequest, policy: &Policy) -> Option<MapPlan> {
    let MapRequest {
        url,
        search,
        sitemap,
        include_subdomains,
        ignore_query_parameters,
        limit,
        timeout,
        location,
        headers,
        include_paths,
        exclude_paths,
        regex_on_full_url,
        max_discovery_depth,
        crawl_entire_domain,
        allow_external_links,
        allow_subdomains,
        ignore_robots_txt,
        robots_user_agent,
        deduplicate_similar_urls,
        delay,
        filter_by_path,
        use_index,
        ignore_cache,
        threat_protection,
        audit_metadata,
        // Of interest to the log alone.
        origin: _,
        integration: _,
    } = request;
    let body = Path::Root;
    let url = start(report, &body.key("url"), &url);
    let search = search.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if let Some(search) = &search {
        bounds::chars(report, &body.key("search"), search, 0, QUERY_MAX_CHARS);
    }
    let limit = limit.unwrap_or(MAP_LIMIT_DEFAULT);
    bounds::number(report, &body.key("limit"), limit, MAP_LIMIT_MIN, MAP_LIMIT_MAX);
    let timeout_ms = timeout.unwrap_or(SEARCH_TIMEOUT_DEFAULT_MS);
    bounds::number(report, &body.key("timeout"), timeout_ms, SEARCH_TIMEOUT_MIN_MS, SEARCH_TIMEOUT_MAX_MS);
    let delay = delay.unwrap_or(0.0);
    let has_delay = bounds::number(report, &body.key("delay"), delay, 0.0, MAP_DELAY_MAX_S);
    let paths =
        path_filter::check(report, &body, include_paths, exclude_paths, regex_on_full_url.unwrap_or(false));
    if ignore_robots_txt == Some(true) {
        report.forbid("ignoreRobotsTxt is not enabled for this team");
    }
    if robots_user_agent.is_some_and(|name| !name.trim().is_empty()) {
        report.forbid("robotsUserAgent is not enabled for this team");
    }
    if max_discovery_depth.is_some_and(|depth| depth > 1) {
        report.warning(&body.key("maxDiscoveryDepth"), |name| {
            format!("{name} counts as 1: a map follows no links, a crawl does")
        });
    }
    let retention = Retention::demanded(policy);
    // What is fetched is fetched as pages are, by the same rules.
    let options = ScrapeOptions {
        headers,
        location,
        threat_protection,
        audit_metadata,
        max_age: ignore_cache.unwrap_or(false).then_some(0),
        ..ScrapeOptions::default()
    };
    let page = scrape::check(report, &body, options, Setting { policy, retention, threat: None });
    Some(MapPlan {
        url: url?,
        search,
        sitemap: sitemap.unwrap_or_default(),
        subdomains: include_subdomains.unwrap_or(true) || allow_subdomains.unwrap_or(false),
        other_sites: allow_external_links.unwrap_or(false),
        queries: !ignore_query_parameters.unwrap_or(true),
        every_spelling: !deduplicate_similar_urls.unwrap_or(true),
        by_path: filter_by_path.unwrap_or(true) && !crawl_entire_domain.unwrap_or(false),
        limit: limit as usize,
        timeout: Duration::from_millis(timeout_ms.max(SEARCH_TIMEOUT_FLOOR_MS)),
        delay: if has_delay { Duration::from_secs_f64(delay) } else { Duration::ZERO },
        paths,
        links: max_discovery_depth != Some(0),
        index: use_index.unwrap_or(true),
        retention,
        page,
    })
}

/// Reads the URL of a start page. Without a scheme it is http, as official clients send it.
fn start(report: &mut Report, path: &Path<'_>, text: &str) -> Option<Url> {
    let is_legal =
        bounds::not_blank(report, path, text) && bounds::chars(report, path, text, 1, URL_MAX_CHARS);
    if !is_legal {
        return None;
    }
    let trimmed = text.trim();
    let given = if trimmed.contains("://") { trimmed.to_owned() } else { format!("http://{trimmed}") };
    let url = Url::parse(&given).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if url.is_none() {
        report.violation(path, ViolationCode::InvalidFormat, |name| {
            format!("{name} must be an http or https URL, not {}", quoted(text))
        });
    }
    url
}
