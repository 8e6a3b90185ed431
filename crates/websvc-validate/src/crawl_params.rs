//! Options of a crawl that a prompt sets: checks them by the rules of requests, and merges them into a request.

use url::Url;
use websvc_types::job::{CrawlParams, CrawlParamsRequest, CrawlRequest};
use websvc_types::limits::{PROMPT_MAX_CHARS, PROMPT_MIN_CHARS};

use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::{bounds, crawl, target};

/// Checks a request for the options of a prompt, and returns it with its start URL. `None` means that the report has a
/// violation.
pub(crate) fn check_request(
    report: &mut Report,
    request: CrawlParamsRequest,
) -> Option<(CrawlParamsRequest, Url)> {
    // origin and integration are accepted for compatibility and not used.
    let CrawlParamsRequest { url, prompt, origin: _, integration: _ } = &request;
    let start = target::check(report, &Path::Root.key("url"), url).map(|target| target.url);
    let path = Path::Root.key("prompt");
    if bounds::not_blank(report, &path, prompt) {
        bounds::chars(report, &path, prompt, PROMPT_MIN_CHARS, PROMPT_MAX_CHARS);
    }
    start.map(|start| (request, start))
}

/// Checks options that a prompt sets by the rules of crawl requests, and returns them.
pub(crate) fn check(report: &mut Report, params: CrawlParams) -> CrawlParams {
    let request = CrawlRequest::new("http://any.test/");
    crawl::check(report, with_crawl_params(request, &params), &Policy::default());
    params
}

/// Returns the request with these options, where it does not set them itself.
#[must_use]
pub fn with_crawl_params(request: CrawlRequest, params: &CrawlParams) -> CrawlRequest {
    let CrawlParams {
        include_paths,
        exclude_paths,
        max_discovery_depth,
        limit,
        crawl_entire_domain,
        allow_external_links,
        allow_subdomains,
        sitemap,
        ignore_query_parameters,
        delay,
    } = params;
    CrawlRequest {
        include_paths: request.include_paths.or_else(|| include_paths.clone()),
        exclude_paths: request.exclude_paths.or_else(|| exclude_paths.clone()),
        max_discovery_depth: request.max_discovery_depth.or(*max_discovery_depth),
        limit: request.limit.or(*limit),
        crawl_entire_domain: request.crawl_entire_domain.or(*crawl_entire_domain),
        allow_external_links: request.allow_external_links.or(*allow_external_links),
        allow_subdomains: request.allow_subdomains.or(*allow_subdomains),
        sitemap: request.sitemap.or(*sitemap),
        ignore_query_parameters: request.ignore_query_parameters.or(*ignore_query_parameters),
        delay: request.delay.or(*delay),
        ..request
    }
}

/// Returns the options of the request that a prompt can set.
#[must_use]
pub fn crawl_params_of(request: &CrawlRequest) -> CrawlParams {
    CrawlParams {
        include_paths: request.include_paths.clone(),
        exclude_paths: request.exclude_paths.clone(),
        max_discovery_depth: request.max_discovery_depth,
        limit: request.limit,
        crawl_entire_domain: request.crawl_entire_domain,
        allow_external_links: request.allow_external_links,
        allow_subdomains: request.allow_subdomains,
        sitemap: request.sitemap,
        ignore_query_parameters: request.ignore_query_parameters,
        delay: request.delay,
    }
}
