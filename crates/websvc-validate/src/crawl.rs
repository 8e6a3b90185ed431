//! The rules of a crawl: request in, plan out.

use std::time::Duration;

use url::Url;
use websvc_types::job::{CrawlRequest, SitemapMode, WebhookJobType};
use websvc_types::limits::{
    CRAWL_DELAY_MAX_S, CRAWL_LIMIT_DEFAULT, CRAWL_LIMIT_MAX, CRAWL_LIMIT_MIN, CRAWL_PATTERN_MAX_BYTES,
    PROMPT_MAX_CHARS,
};
use websvc_types::{Format, ViolationCode};

use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::path_filter::{self, PathFilter, PathLists};
use crate::policy::Policy;
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::target::{self, Target};
use crate::webhook::{self, WebhookPlan};
use crate::{bounds, job};

/// A checked crawl.
#[derive(Debug, Clone)]
pub struct CrawlPlan {
    pub(crate) url: Url,
    pub(crate) paths: PathFilter,
    pub(crate) max_depth: Option<u32>,
    pub(crate) limit: u64,
    pub(crate) entire_domain: bool,
    pub(crate) external_links: bool,
    pub(crate) subdomains: bool,
    pub(crate) sitemap: SitemapMode,
    pub(crate) deduplicates: bool,
    pub(crate) ignores_query: bool,
    pub(crate) delay: Option<Duration>,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) webhook: Option<WebhookPlan>,
    pub(crate) scrape: ScrapePlan,
}

impl CrawlPlan {
    /// Returns where to begin.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns which URLs are wanted by their paths.
    #[must_use]
    pub fn paths(&self) -> &PathFilter {
        &self.paths
    }

    /// Returns the most links from the start.
    #[must_use]
    pub fn max_depth(&self) -> Option<u32> {
        self.max_depth
    }

    /// Returns the most documents.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns whether pages outside of the directory of the start are taken.
    #[must_use]
    pub fn entire_domain(&self) -> bool {
        self.entire_domain
    }

    /// Returns whether pages of other hosts are taken.
    #[must_use]
    pub fn external_links(&self) -> bool {
        self.external_links
    }

    /// Returns whether pages of subdomains are taken.
    #[must_use]
    pub fn subdomains(&self) -> bool {
        self.subdomains
    }

    /// Returns what becomes of sitemaps.
    #[must_use]
    pub fn sitemap(&self) -> SitemapMode {
        self.sitemap
    }

    /// Returns whether usual spellings of one address are one page.
    #[must_use]
    pub fn deduplicates(&self) -> bool {
        self.deduplicates
    }

    /// Returns whether the query of addresses is left out.
    #[must_use]
    pub fn ignores_query(&self) -> bool {
        self.ignores_query
    }

    /// Returns the pause between two pages.
    #[must_use]
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Returns how many pages are worked on at one time, when that is said.
    #[must_use]
    pub fn max_concurrency(&self) -> Option<usize> {
        self.max_concurrency
    }

    /// Returns where its events are sent.
    #[must_use]
    pub fn webhook(&self) -> Option<&WebhookPlan> {
        self.webhook.as_ref()
    }

    /// Returns how each page is scraped.
    #[must_use]
    pub fn scrape(&self) -> &ScrapePlan {
        &self.scrape
    }
}

/// Checks a crawl.
///
/// # Errors
/// Every rule that the request breaks, or what the team may not do.
pub fn check_crawl(request: CrawlRequest, policy: &Policy) -> Result<Checked<CrawlPlan>, Rejection> {
    let mut report = Report::default();
    let plan = check(&mut report, request, policy);
    finish(report, plan)
}

/// Returns the plan, if there is one.
///
/// # Errors
/// What speaks against it.
pub(crate) fn finish(report: Report, plan: Option<CrawlPlan>) -> Result<Checked<CrawlPlan>, Rejection> {
    let Checked { plan, warnings } = report.finish(plan)?;
    let plan = plan.expect("a crawl without a plan is a violation");
    Ok(Checked { plan, warnings })
}

/// Checks a crawl; no plan is a violation in the report.
pub(crate) fn check(report: &mut Report, request: CrawlRequest, policy: &Policy) -> Option<CrawlPlan> {
    let CrawlRequest {
        url,
        prompt,
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
        webhook,
        scrape_options,
        zero_data_retention,
        // Of interest to the log alone.
        origin: _,
        integration: _,
    } = request;
    let body = Path::Root;
    let options = scrape_options.unwrap_or_default();
    let place = body.key("scrapeOptions");
    job::check_retention(report, zero_data_retention, &place.key("lockdown"), &options, policy);
    check_robots(report, ignore_robots_txt, robots_user_agent.as_deref());
    // What it says is read elsewhere; a plan is of options.
    if let Some(prompt) = prompt {
        bounds::chars(report, &body.key("prompt"), &prompt, 0, PROMPT_MAX_CHARS);
    }
    let limit = limit.unwrap_or(CRAWL_LIMIT_DEFAULT);
    bounds::number(report, &body.key("limit"), limit, CRAWL_LIMIT_MIN, CRAWL_LIMIT_MAX);
    let setting =
        ScrapeContext { policy, retention: RetentionMode::requested_retention(policy), threat: None };
    let mut plan = scrape::check(report, &place, options, setting);
    if plan.formats.is_empty() {
        plan.formats.push(Format::Markdown(websvc_types::format::Markdown {}));
    }
    plan.leads = true;
    let start = target::check(report, &Path::Root.key("url"), &url).map(Target::into_whole_url);
    let lists = PathLists {
        include: include_paths,
        exclude: exclude_paths,
        on_whole_url: regex_on_full_url.unwrap_or(false),
    };
    Some(CrawlPlan {
        paths: path_filter::check(report, lists, &policy.path_patterns, is_short),
        max_depth: max_discovery_depth,
        limit,
        entire_domain: crawl_entire_domain.unwrap_or(false),
        external_links: allow_external_links.unwrap_or(false),
        subdomains: allow_subdomains.unwrap_or(false),
        sitemap: sitemap.unwrap_or_default(),
        deduplicates: deduplicate_similar_urls.unwrap_or(true),
        ignores_query: ignore_query_parameters.unwrap_or(false),
        delay: check_delay(report, delay),
        max_concurrency: job::check_concurrency(report, max_concurrency),
        webhook: webhook::check(report, webhook, WebhookJobType::Crawl),
        scrape: plan,
        url: start?,
    })
}

/// Refuses what would not ask robots.txt, or ask it for somebody else.
fn check_robots(report: &mut Report, ignores: Option<bool>, agent: Option<&str>) {
    if ignores == Some(true) {
        report.forbid("ignoreRobotsTxt is not enabled for this team: robots.txt is obeyed");
    }
    if agent.is_some() {
        report.forbid("robotsUserAgent is not enabled for this team: robots.txt is asked as websvc");
    }
}

fn check_delay(report: &mut Report, given: Option<f64>) -> Option<Duration> {
    let seconds = given?;
    let legal = seconds > 0.0 && seconds <= CRAWL_DELAY_MAX_S;
    if !legal {
        report.violation(&Path::Root.key("delay"), ViolationCode::TooBig, |name| {
            format!("{name} must be more than 0 and at most {CRAWL_DELAY_MAX_S} seconds, not {seconds}")
        });
        return None;
    }
    Some(Duration::from_secs_f64(seconds))
}

/// Checks the length of a pattern.
fn is_short(report: &mut Report, path: &Path<'_>, text: &str) -> bool {
    let is_short = text.len() <= CRAWL_PATTERN_MAX_BYTES;
    if !is_short {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {CRAWL_PATTERN_MAX_BYTES} bytes")
        });
    }
    is_short
}
