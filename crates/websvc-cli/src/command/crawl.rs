//! `websvc crawl`: scrapes the pages of a site.

use anyhow::Result;
use websvc::JobKind;
use websvc::types::job::CrawlRequest;

use super::job::{self, ErrorPagePolicy, JobRequestKind};
use crate::CommandContext;
use crate::args::{CrawlSite, Patterns};

/// Runs `websvc crawl`.
pub(crate) async fn run(context: CommandContext, arguments: CrawlSite) -> Result<()> {
    let request_kind = match &arguments.job.resume {
        Some(id) => JobRequestKind::Existing(JobKind::Crawl, id.clone()),
        None => JobRequestKind::Crawl(Box::new(request(&arguments)?)),
    };
    // A site has dead links.
    let policy = ErrorPagePolicy::Accept;
    Box::pin(job::run(&context, &arguments.job.remote, &arguments.job.output, policy, request_kind)).await
}

/// Returns the patterns of a request, or `None` if there are none.
pub(super) fn non_empty(patterns: &[String]) -> Option<Vec<String>> {
    (!patterns.is_empty()).then(|| patterns.to_vec())
}

fn request(arguments: &CrawlSite) -> Result<CrawlRequest> {
    let CrawlSite {
        url,
        limit,
        depth,
        patterns,
        entire_domain,
        subdomains,
        external,
        sitemap,
        ignore_query,
        keep_similar,
        delay,
        job,
    } = arguments;
    let Patterns { include, exclude, regex_on_full_url } = patterns;
    Ok(CrawlRequest {
        url: url.clone().unwrap_or_default(),
        limit: Some(*limit),
        max_discovery_depth: *depth,
        include_paths: non_empty(include),
        exclude_paths: non_empty(exclude),
        regex_on_full_url: regex_on_full_url.then_some(true),
        crawl_entire_domain: entire_domain.then_some(true),
        allow_subdomains: subdomains.then_some(true),
        allow_external_links: external.then_some(true),
        sitemap: *sitemap,
        ignore_query_parameters: ignore_query.then_some(true),
        deduplicate_similar_urls: keep_similar.then_some(false),
        delay: *delay,
        max_concurrency: job.concurrency,
        scrape_options: Some(job.scrape_options()?),
        ..CrawlRequest::default()
    })
}
