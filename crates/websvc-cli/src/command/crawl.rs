//! `websvc crawl`: the pages of a site, from the shell.

use anyhow::Result;
use websvc::JobKind;
use websvc::types::job::{CrawlRequest, SitemapMode};

use super::job::{self, JobRequestKind};
use crate::CommandContext;
use crate::args::{CrawlSite, Patterns, Sitemap};

/// Runs `websvc crawl`.
pub(crate) async fn crawl(setting: CommandContext, arguments: CrawlSite) -> Result<()> {
    let asked = match &arguments.job.resume {
        Some(id) => JobRequestKind::Known(JobKind::Crawl, id.clone()),
        None => JobRequestKind::Crawl(Box::new(request(&arguments)?)),
    };
    Box::pin(job::run(&setting, &arguments.job.remote, &arguments.job.handing, asked)).await
}

/// Returns the patterns of a request; none are not an empty list.
pub(super) fn given(patterns: &[String]) -> Option<Vec<String>> {
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
    let sitemap = sitemap.map(|sitemap| match sitemap {
        Sitemap::Include => SitemapMode::Include,
        Sitemap::Only => SitemapMode::Only,
        Sitemap::Skip => SitemapMode::Skip,
    });
    Ok(CrawlRequest {
        url: url.clone().unwrap_or_default(),
        limit: Some(*limit),
        max_discovery_depth: *depth,
        include_paths: given(include),
        exclude_paths: given(exclude),
        regex_on_full_url: regex_on_full_url.then_some(true),
        crawl_entire_domain: entire_domain.then_some(true),
        allow_subdomains: subdomains.then_some(true),
        allow_external_links: external.then_some(true),
        sitemap,
        ignore_query_parameters: ignore_query.then_some(true),
        deduplicate_similar_urls: keep_similar.then_some(false),
        delay: *delay,
        max_concurrency: job.concurrency,
        scrape_options: Some(job.scrape_options()?),
        ..CrawlRequest::default()
    })
}
