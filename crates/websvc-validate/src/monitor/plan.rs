//! Plan of a check of a monitor.

use std::sync::Arc;

use websvc_types::format::Markdown;
use websvc_types::job::CrawlRequest;
use websvc_types::limits::{
    MONITOR_DOMAINS_MAX, MONITOR_QUERIES_MAX, MONITOR_QUERIES_MIN, MONITOR_QUERY_MAX_CHARS,
    MONITOR_QUERY_MIN_CHARS, MONITOR_RESULTS_DEFAULT, MONITOR_URLS_MAX, MONITOR_URLS_MIN,
};
use websvc_types::monitor::{
    CrawlTarget, MonitorCrawlOptions, MonitorTarget, ScrapeTarget, SearchTarget, UpdateMonitorRequest,
};
use websvc_types::{Format, ScrapeOptions, SearchRequest, ViolationCode};

use super::definition::MonitorDefinition;
use super::page_rules::{self, PageRules};
use super::webhook::{self, MonitorWebhookPlan};
use crate::checked::Checked;
use crate::crawl::{self, CrawlPlan};
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::request::check_shape;
use crate::retention::RetentionMode;
use crate::scrape::{self, PYTHON_CLIENT_MAX_AGE_MS, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::target::Target;
use crate::{bounds, domain, job, search, target};

/// Plan of a check: all values are valid, all defaults are filled in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MonitorPlan {
    /// The plans of the targets, in the order of the definition.
    pub targets: Vec<MonitorTargetPlan>,
    /// The webhook for the events of the monitor.
    pub webhook: Option<MonitorWebhookPlan>,
}

/// Plan of a target.
#[derive(Debug, Clone)]
pub enum MonitorTargetPlan {
    /// Single pages.
    Scrape(Box<ScrapeTargetPlan>),
    /// Pages of a site.
    Crawl(Box<CrawlTargetPlan>),
    /// Results of searches.
    Search(SearchTargetPlan),
}

/// Plan of a scrape target.
#[derive(Debug, Clone)]
pub struct ScrapeTargetPlan {
    /// ID of the target.
    pub id: String,
    /// The pages.
    pub pages: Vec<Target>,
    /// Options of each page, with the defaults of monitors.
    pub options: ScrapeOptions,
    /// Plan of scraping each page.
    pub scrape: ScrapePlan,
    /// Rules for the changes of the pages.
    pub rules: Arc<PageRules>,
}

/// Plan of a crawl target.
#[derive(Debug, Clone)]
pub struct CrawlTargetPlan {
    /// ID of the target.
    pub id: String,
    /// Request of the crawl, with the defaults of monitors.
    pub request: CrawlRequest,
    /// Plan of the crawl.
    pub crawl: CrawlPlan,
    /// Rules for the changes of the pages.
    pub rules: Arc<PageRules>,
}

/// Plan of a search target.
#[derive(Debug, Clone)]
pub struct SearchTargetPlan {
    /// ID of the target.
    pub id: String,
    /// A search for each query, with time filter and domains.
    pub searches: Vec<SearchRequest>,
    /// Maximum number of results of all searches together.
    pub max_results: u32,
}

impl MonitorDefinition {
    /// Returns the plan of a check.
    ///
    /// # Errors
    /// [`Rejection`] if the permissions of the team no longer allow the monitor, or the rules have changed.
    pub fn plan(&self, policy: &Policy) -> Result<Checked<MonitorPlan>, Rejection> {
        super::check_monitor_retention(policy)?;
        let mut report = Report::default();
        let stored =
            UpdateMonitorRequest { targets: Some(self.targets.clone()), ..UpdateMonitorRequest::default() };
        check_shape(&mut report, &stored)?;
        let path = Path::Root.key("targets");
        let targets = self.targets.iter().enumerate();
        let plan = MonitorPlan {
            targets: targets
                .filter_map(|(index, target)| plan_target(&mut report, &path.index(index), target, policy))
                .collect(),
            webhook: self.webhook.as_ref().and_then(|webhook| webhook::plan(&mut report, webhook)),
        };
        report.finish(Some(plan))
    }
}

/// Checks a target. `None` means that the report has a violation.
pub(super) fn plan_target(
    report: &mut Report,
    path: &Path<'_>,
    target: &MonitorTarget,
    policy: &Policy,
) -> Option<MonitorTargetPlan> {
    match target {
        MonitorTarget::Scrape(target) => {
            Some(MonitorTargetPlan::Scrape(Box::new(plan_scrape(report, path, target, policy))))
        }
        MonitorTarget::Crawl(target) => {
            plan_crawl(report, path, target, policy).map(MonitorTargetPlan::Crawl)
        }
        MonitorTarget::Search(target) => {
            Some(MonitorTargetPlan::Search(plan_search(report, path, target, policy)))
        }
    }
}

fn plan_scrape(
    report: &mut Report,
    path: &Path<'_>,
    target: &ScrapeTarget,
    policy: &Policy,
) -> ScrapeTargetPlan {
    let ScrapeTarget { id, urls, scrape_options, ignore_lines, conditions } = target;
    let rules = page_rules::check(report, path, ignore_lines.as_deref(), conditions.as_deref());
    let urls_path = path.key("urls");
    check_count(report, &urls_path, urls.len(), MONITOR_URLS_MIN, MONITOR_URLS_MAX);
    let urls = urls.iter().take(MONITOR_URLS_MAX).enumerate();
    let pages = urls.filter_map(|(index, url)| target::check(report, &urls_path.index(index), url)).collect();
    let options = with_defaults(scrape_options.clone().unwrap_or_default());
    let options_path = path.key("scrapeOptions");
    job::check_retention(report, None, &options_path.key("lockdown"), &options, policy);
    let context =
        ScrapeContext { policy, retention: RetentionMode::requested_retention(policy), threat: None };
    let scrape = scrape::check(report, &options_path, options.clone(), context);
    ScrapeTargetPlan { id: id.clone().unwrap_or_default(), pages, options, scrape, rules: Arc::new(rules) }
}

/// Returns scrape options with the defaults of monitors: markdown is always compared, and pages are always fetched.
///
/// The official Python client sends a `maxAge` of four hours with all options. A monitor that runs every five minutes
/// would compare the same copy for hours, so exactly this value counts as absent.
fn with_defaults(mut options: ScrapeOptions) -> ScrapeOptions {
    let formats = options.formats.get_or_insert_default();
    if !formats.iter().any(|format| matches!(format, Format::Markdown(_))) {
        // At the end, so that the indexes of the others are those of the request.
        formats.push(Format::Markdown(Markdown {}));
    }
    if matches!(options.max_age, None | Some(PYTHON_CLIENT_MAX_AGE_MS)) {
        options.max_age = Some(0);
    }
    options
}

fn plan_crawl(
    report: &mut Report,
    path: &Path<'_>,
    target: &CrawlTarget,
    policy: &Policy,
) -> Option<Box<CrawlTargetPlan>> {
    let request = crawl_request(target);
    // A crawl has its URL, its options and those of its pages in one object; a target has them in three.
    let mut nested = Report::default();
    let crawl = crawl::check(&mut nested, request.clone(), policy);
    report.absorb(nested, path, |pointer| match pointer.split('/').nth(1) {
        Some("url" | "scrapeOptions") => pointer.to_owned(),
        Some(_) | None => format!("/crawlOptions{pointer}"),
    });
    let rules = page_rules::check(report, path, target.ignore_lines.as_deref(), target.conditions.as_deref());
    let (id, rules) = (target.id.clone().unwrap_or_default(), Arc::new(rules));
    Some(Box::new(CrawlTargetPlan { id, request, crawl: crawl?, rules }))
}

fn crawl_request(target: &CrawlTarget) -> CrawlRequest {
    let CrawlTarget { id: _, url, crawl_options, scrape_options, ignore_lines: _, conditions: _ } = target;
    let MonitorCrawlOptions {
        include_paths,
        exclude_paths,
        max_discovery_depth,
        limit,
        crawl_entire_domain,
        allow_external_links,
        allow_subdomains,
        ignore_robots_txt,
        robots_user_agent,
        sitemap,
        deduplicate_similar_urls,
        ignore_query_parameters,
        regex_on_full_url,
        delay,
        max_concurrency,
    } = crawl_options.clone().unwrap_or_default();
    CrawlRequest {
        url: url.clone(),
        prompt: None,
        include_paths,
        exclude_paths,
        max_discovery_depth,
        limit,
        crawl_entire_domain,
        allow_external_links,
        allow_subdomains,
        ignore_robots_txt,
        robots_user_agent,
        sitemap,
        deduplicate_similar_urls,
        ignore_query_parameters,
        regex_on_full_url,
        delay,
        max_concurrency,
        webhook: None,
        scrape_options: Some(with_defaults(scrape_options.clone().unwrap_or_default())),
        zero_data_retention: None,
        origin: None,
        integration: None,
    }
}

fn plan_search(
    report: &mut Report,
    path: &Path<'_>,
    target: &SearchTarget,
    policy: &Policy,
) -> SearchTargetPlan {
    let SearchTarget { id, queries, search_window, include_domains, exclude_domains, max_results } = target;
    let max_results = max_results.unwrap_or(MONITOR_RESULTS_DEFAULT);
    let queries_path = path.key("queries");
    check_count(report, &queries_path, queries.len(), MONITOR_QUERIES_MIN, MONITOR_QUERIES_MAX);
    let mut domains_fit = true;
    for (key, domains) in [("includeDomains", include_domains), ("excludeDomains", exclude_domains)] {
        let count = domains.as_ref().map_or(0, Vec::len);
        domains_fit &= bounds::items(report, &path.key(key), count, MONITOR_DOMAINS_MAX);
    }
    if domains_fit {
        domain::filter(report, path, include_domains.clone(), exclude_domains.clone());
    }
    let mut searches = Vec::new();
    for (index, query) in queries.iter().take(MONITOR_QUERIES_MAX).enumerate() {
        let path = queries_path.index(index);
        check_query(report, &path, query, policy);
        searches.push(SearchRequest {
            limit: Some(max_results),
            tbs: Some(search_window.unwrap_or_default().tbs().to_owned()),
            include_domains: include_domains.clone(),
            exclude_domains: exclude_domains.clone(),
            ..SearchRequest::new(query.as_str())
        });
    }
    SearchTargetPlan { id: id.clone().unwrap_or_default(), searches, max_results }
}

fn check_query(report: &mut Report, path: &Path<'_>, query: &str, policy: &Policy) {
    let is_valid = bounds::not_blank(report, path, query)
        && bounds::chars(report, path, query, MONITOR_QUERY_MIN_CHARS, MONITOR_QUERY_MAX_CHARS);
    if is_valid {
        let mut nested = Report::default();
        search::check(&mut nested, SearchRequest::new(query), policy);
        report.absorb(nested, path, |_| String::new());
    }
}

/// Checks the number of items of a list.
fn check_count(report: &mut Report, path: &Path<'_>, count: usize, min: usize, max: usize) {
    if bounds::items(report, path, count, max) && count < min && !report.has_within(path) {
        report
            .violation(path, ViolationCode::TooShort, |name| format!("{name} must have at least {min} item"));
    }
}
