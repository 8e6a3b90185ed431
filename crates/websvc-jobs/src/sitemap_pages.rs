//! The pages in the sitemaps of a site, of which a crawl uses only the URLs.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use url::Url;
use websvc_scrape::{Scraper, tls_policy};
use websvc_site::RobotsTxt;
use websvc_site::sitemap::{self, Item};
use websvc_stage::in_current_span;

use crate::crawl_links::CrawlState;

/// The maximum number of sitemaps that are read.
const MAX_FILES: usize = 50;

/// The maximum number of pages that are returned, whatever the limit of the crawl.
const MAX_PAGES: usize = 100_000;

/// Maximum of pages per document of the page limit: some of the pages will fail.
const PAGES_PER_DOCUMENT: u64 = 4;

/// The longest delay between two files.
const MAX_DELAY: Duration = Duration::from_secs(10);

/// Time limit for the sitemaps of a site. Files that are not fetched until then are skipped.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the pages of a crawl in the sitemaps of the site of `start`, in the order of the sitemaps.
///
/// It reads the sitemaps that robots.txt names, or else `/sitemap.xml`.
pub(crate) async fn sitemap_pages(
    scraper: &Scraper,
    robots_txt: &RobotsTxt,
    crawl: &Arc<CrawlState>,
    start: &Url,
) -> Vec<Url> {
    let (plan, deadline) = (crawl.scope.plan(), Instant::now() + TIMEOUT);
    let wanted = usize::try_from(plan.limit.saturating_mul(PAGES_PER_DOCUMENT));
    let max_pages = wanted.map_or(MAX_PAGES, |wanted| wanted.min(MAX_PAGES));
    let mut files: VecDeque<Url> = robots_txt.sitemaps_or_default(start).into();
    let (mut seen, mut pages, mut file_count) = (HashSet::new(), Vec::new(), 0);
    while let Some(file) = files.pop_front() {
        if file_count >= MAX_FILES || pages.len() >= max_pages || Instant::now() >= deadline {
            break;
        }
        if !seen.insert(file.clone()) || !crawl.scope.is_start_host(&file) || !robots_txt.is_allowed(&file) {
            continue;
        }
        let started = Instant::now();
        file_count += 1;
        let tls = tls_policy(&plan.scrape);
        let response = scraper.file(&file, sitemap::MAX_BYTES, tls, deadline).await;
        if let Ok(response) = response
            && response.status.is_success()
        {
            let (remaining, crawl) = (max_pages - pages.len(), Arc::clone(crawl));
            // Parsing megabytes would block an async thread. If the runtime shuts down, reading stops.
            let parsing = websvc_transport::spawn_blocking(in_current_span(move || {
                read(&response.body, &file, remaining, &crawl)
            }));
            let Ok((listed_pages, sitemaps)) = parsing.await else { break };
            pages.extend(listed_pages);
            files.extend(sitemaps);
        }
        if !files.is_empty() {
            let delay = started.elapsed().max(robots_txt.delay().unwrap_or_default()).min(MAX_DELAY);
            tokio::time::sleep(delay).await;
        }
    }
    pages
}

/// Returns the pages of the crawl in a file, up to `max_pages`, and the sitemaps that the file names.
fn read(body: &Bytes, base: &Url, max_pages: usize, crawl: &CrawlState) -> (Vec<Url>, Vec<Url>) {
    let (mut pages, mut sitemaps) = (Vec::new(), Vec::new());
    let is_wanted = |page: &Url| crawl.scope.contains(&crawl.scope.normalize(page.clone()));
    sitemap::read(body, base, &mut |item| {
        match item {
            Item::Page(entry) if is_wanted(&entry.url) => pages.push(entry.url),
            // The caller reads no more files than this in total.
            Item::Sitemap(url) if sitemaps.len() < MAX_FILES => sitemaps.push(url),
            Item::Page(_) | Item::Sitemap(_) => {}
        }
        if pages.len() < max_pages { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (pages, sitemaps)
}
