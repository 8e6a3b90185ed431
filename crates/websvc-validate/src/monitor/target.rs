//! Rules of the targets of a monitor: checks them, and brings them to their normal form.

use std::collections::HashSet;

use websvc_types::ViolationCode;
use websvc_types::limits::{MONITOR_TARGETS_MAX, MONITOR_TARGETS_MIN, MONITOR_URLS_MAX};
use websvc_types::monitor::{CrawlTarget, MonitorTarget, ScrapeTarget, SearchTarget};

use super::{MonitorContext, plan};
use crate::path::Path;
use crate::report::{Report, quoted};
use crate::{bounds, domain, target, uuid};

/// Checks targets, and returns them in normal form, each with an ID.
pub(super) fn check_all(
    report: &mut Report,
    targets: Vec<MonitorTarget>,
    context: MonitorContext<'_>,
) -> Vec<MonitorTarget> {
    let MonitorContext { policy, now: _, min_interval: _, new_id } = context;
    let path = Path::Root.key("targets");
    if !bounds::items(report, &path, targets.len(), MONITOR_TARGETS_MAX) {
        return Vec::new();
    }
    if targets.len() < MONITOR_TARGETS_MIN && !report.has_within(&path) {
        report.violation(&path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least {MONITOR_TARGETS_MIN} item")
        });
    }
    check_url_count(report, &path, &targets);
    let mut seen = HashSet::new();
    let mut checked = Vec::with_capacity(targets.len());
    for (index, target) in targets.into_iter().enumerate() {
        let path = path.index(index);
        // The plan is made again for each check; here, only its violations count.
        let _plan = plan::plan_target(report, &path, &target, policy);
        let id = target.id().map(str::to_ascii_lowercase);
        if let Some(id) = &id {
            check_id(report, &path.key("id"), id, &mut seen);
        }
        checked.push(normalize(target, id.unwrap_or_else(&mut *new_id)));
    }
    checked
}

/// Checks that an ID is a UUID (RFC 9562, section 4) that no other target has.
fn check_id(report: &mut Report, path: &Path<'_>, id: &str, seen: &mut HashSet<String>) {
    if uuid::check(report, path, id) && !seen.insert(id.to_owned()) {
        report.violation(path, ViolationCode::Conflict, |name| {
            format!("{name}: another target has the ID {}", quoted(id))
        });
    }
}

/// Checks the number of URLs of all scrape targets: each of them has the same limit, see [`plan`].
fn check_url_count(report: &mut Report, path: &Path<'_>, targets: &[MonitorTarget]) {
    let count = |target: &MonitorTarget| match target {
        MonitorTarget::Scrape(ScrapeTarget { urls, .. }) => urls.len(),
        MonitorTarget::Crawl(_) | MonitorTarget::Search(_) => 0,
    };
    let total: usize = targets.iter().map(count).sum();
    if total > MONITOR_URLS_MAX && targets.iter().all(|target| count(target) <= MONITOR_URLS_MAX) {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {MONITOR_URLS_MAX} urls in total, not {total}")
        });
    }
}

/// Returns the normal form of a target.
fn normalize(target: MonitorTarget, id: String) -> MonitorTarget {
    let id = Some(id);
    match target {
        MonitorTarget::Scrape(ScrapeTarget { id: _, urls, scrape_options, ignore_lines, conditions }) => {
            let urls = domain::deduplicate(urls.into_iter().map(normalize_url).collect());
            MonitorTarget::Scrape(ScrapeTarget { id, urls, scrape_options, ignore_lines, conditions })
        }
        MonitorTarget::Crawl(crawl) => {
            MonitorTarget::Crawl(CrawlTarget { id, url: normalize_url(crawl.url), ..crawl })
        }
        MonitorTarget::Search(search) => {
            let SearchTarget { id: _, queries, search_window, include_domains, exclude_domains, max_results } =
                search;
            MonitorTarget::Search(SearchTarget {
                id,
                queries: domain::deduplicate(
                    queries.into_iter().map(|query| query.trim().to_owned()).collect(),
                ),
                search_window: Some(search_window.unwrap_or_default()),
                include_domains: include_domains.and_then(normalize_hosts),
                exclude_domains: exclude_domains.and_then(normalize_hosts),
                max_results: Some(max_results.unwrap_or(websvc_types::limits::MONITOR_RESULTS_DEFAULT)),
            })
        }
    }
}

/// Returns a URL with its scheme. An invalid one has a violation.
fn normalize_url(url: String) -> String {
    target::parse_if_valid(&url).map_or(url, |target| target.text)
}

/// Returns the distinct hostnames in lower case and ASCII form. An empty list is none.
fn normalize_hosts(texts: Vec<String>) -> Option<Vec<String>> {
    let hosts = texts.into_iter().map(|text| domain::canonical(&text).unwrap_or(text)).collect();
    Some(domain::deduplicate(hosts)).filter(|hosts| !hosts.is_empty())
}
