//! Rules of a crawl: converts a request to a plan.

use std::time::Duration;

use url::Url;
use websvc_types::job::{CrawlRequest, SitemapMode, WebhookJobType};
use websvc_types::limits::{
    CRAWL_DELAY_MAX_S, CRAWL_LIMIT_DEFAULT, CRAWL_PATTERN_MAX_BYTES, PROMPT_MAX_CHARS, ROBOTS_AGENT_MAX_CHARS,
};
use websvc_types::{Format, ViolationCode};

use crate::path::Path;
use crate::path_filter::{self, PathFilter, PathLists};
use crate::policy::{Policy, RobotsAgentPolicy};
use crate::report::Report;
use crate::retention::RetentionMode;
use crate::scrape::{self, ScrapeContext};
use crate::scrape_plan::ScrapePlan;
use crate::target::{self, Target};
use crate::webhook::{self, WebhookPlan};
use crate::{bounds, job};

/// Plan of a crawl: all values are valid, all defaults are filled in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CrawlPlan {
    /// The start URL, including user name and password.
    pub url: Url,
    /// The filter of URLs by path.
    pub paths: PathFilter,
    /// The maximum distance from the start, in links.
    pub max_depth: Option<u32>,
    /// The maximum number of documents.
    pub limit: u64,
    /// True if pages outside the directory of the start are crawled.
    pub entire_domain: bool,
    /// True if pages of other hosts are crawled.
    pub external_links: bool,
    /// True if pages of subdomains are crawled.
    pub subdomains: bool,
    /// The use of sitemaps.
    pub sitemap: SitemapMode,
    /// True if common spellings of a URL count as one page.
    pub deduplicates: bool,
    /// True if URLs are fetched without their query.
    pub ignores_query: bool,
    /// The delay between two pages.
    pub delay: Option<Duration>,
    /// The maximum number of concurrent pages, if the request sets one.
    pub max_concurrency: Option<usize>,
    /// The webhook for the events of the job.
    pub webhook: Option<WebhookPlan>,
    /// The user agent whose rules in robots.txt apply; `None` for that of websvc.
    pub robots_agent: Option<String>,
    /// The plan for scraping each page.
    pub scrape: ScrapePlan,
}

/// Checks a crawl. `None` means that the report has a violation.
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
        // Accepted for compatibility and not used.
        origin: _,
        integration: _,
    } = request;
    let body = Path::Root;
    let options = scrape_options.unwrap_or_default();
    let options_path = body.key("scrapeOptions");
    job::check_retention(report, zero_data_retention, &options_path.key("lockdown"), &options, policy);
    check_robots(report, ignore_robots_txt, robots_user_agent.as_deref(), policy);
    // The caller turns the prompt into options before this check.
    if let Some(prompt) = prompt {
        bounds::chars(report, &body.key("prompt"), &prompt, 0, PROMPT_MAX_CHARS);
    }
    let context =
        ScrapeContext { policy, retention: RetentionMode::requested_retention(policy), threat: None };
    let mut plan = scrape::check(report, &options_path, options, context);
    if plan.formats.is_empty() {
        plan.formats.push(Format::Markdown(websvc_types::format::Markdown {}));
    }
    plan.needs_out_links = true;
    let start = target::check(report, &Path::Root.key("url"), &url).map(Target::into_url_with_credentials);
    let lists = PathLists {
        include: include_paths,
        exclude: exclude_paths,
        on_full_url: regex_on_full_url.unwrap_or(false),
    };
    Some(CrawlPlan {
        paths: path_filter::check(report, lists, &policy.path_patterns, has_valid_length),
        max_depth: max_discovery_depth,
        limit: limit.unwrap_or(CRAWL_LIMIT_DEFAULT),
        entire_domain: crawl_entire_domain.unwrap_or(false),
        external_links: allow_external_links.unwrap_or(false),
        subdomains: allow_subdomains.unwrap_or(false),
        sitemap: sitemap.unwrap_or_default(),
        deduplicates: deduplicate_similar_urls.unwrap_or(true),
        ignores_query: ignore_query_parameters.unwrap_or(false),
        delay: check_delay(report, delay),
        max_concurrency: max_concurrency.map(|max| max as usize),
        webhook: webhook::check(report, webhook, WebhookJobType::Crawl),
        robots_agent: robots_user_agent,
        scrape: plan,
        url: start?,
    })
}

/// Checks the options about robots.txt. It is always obeyed; the team may need a permission to be another user agent there.
fn check_robots(report: &mut Report, ignores: Option<bool>, agent: Option<&str>, policy: &Policy) {
    if ignores == Some(true) {
        report.forbid("ignoreRobotsTxt is not enabled for this team: a crawl always obeys robots.txt");
    }
    let Some(agent) = agent else { return };
    match policy.robots_agent {
        RobotsAgentPolicy::Denied => report.forbid(
            "robotsUserAgent is not enabled for this team: robots.txt is read as websvc unless the operator permits \
             another name (websvc teams set NAME --robots-agent allowed)",
        ),
        RobotsAgentPolicy::Allowed => {
            let path = Path::Root.key("robotsUserAgent");
            if bounds::not_blank(report, &path, agent) {
                bounds::chars(report, &path, agent, 1, ROBOTS_AGENT_MAX_CHARS);
            }
        }
    }
}

fn check_delay(report: &mut Report, delay: Option<f64>) -> Option<Duration> {
    let seconds = delay?;
    let is_valid = seconds > 0.0 && seconds <= CRAWL_DELAY_MAX_S;
    if !is_valid {
        report.violation(&Path::Root.key("delay"), ViolationCode::TooBig, |name| {
            format!("{name} must be more than 0 and at most {CRAWL_DELAY_MAX_S} seconds, not {seconds}")
        });
        return None;
    }
    Some(Duration::from_secs_f64(seconds))
}

/// Checks the length of a pattern, and returns whether it is valid.
fn has_valid_length(report: &mut Report, path: &Path<'_>, text: &str) -> bool {
    let is_valid = text.len() <= CRAWL_PATTERN_MAX_BYTES;
    if !is_valid {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {CRAWL_PATTERN_MAX_BYTES} bytes")
        });
    }
    is_valid
}
