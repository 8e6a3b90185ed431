//! Reads the sitemaps of a site for a crawl job, which uses only the URLs in them.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use url::Url;
use websvc_scrape::Scraper;
use websvc_sitemap::Item;
use websvc_stage::in_current_span;
use websvc_transport::TlsPolicy;

use super::robots::RobotsTxt;

/// The maximum number of sitemaps that are read.
const MAX_FILES: usize = 50;

/// The maximum number of pages that are returned, whatever the caller requests.
const MAX_PAGES: usize = 100_000;

/// The longest delay between two files.
const MAX_DELAY: Duration = Duration::from_secs(10);

/// A predicate that selects URLs.
type UrlPredicate = Arc<dyn Fn(&Url) -> bool + Send + Sync>;

/// Reads the sitemaps of a host.
pub struct SitemapReader<'a> {
    /// The scraper that fetches the files.
    pub scraper: &'a Scraper,
    /// The robots.txt of the host.
    pub robots_txt: &'a RobotsTxt,
    /// The verification of the host's certificate.
    pub tls: TlsPolicy,
    /// The deadline. Files that are not fetched until then are skipped.
    pub deadline: Instant,
    /// The maximum number of pages to return.
    pub max_pages: usize,
}

impl SitemapReader<'_> {
    /// Returns the pages in the sitemaps of a host that `is_wanted` selects, in the order of the sitemaps.
    ///
    /// It reads the sitemaps that robots.txt names, or else `/sitemap.xml`. Files that `may_fetch` rejects are skipped.
    pub async fn pages(
        &self,
        start: &Url,
        may_fetch: impl Fn(&Url) -> bool,
        is_wanted: UrlPredicate,
    ) -> Vec<Url> {
        let Self { scraper, robots_txt, tls, deadline, max_pages } = *self;
        let max_pages = max_pages.min(MAX_PAGES);
        let mut files: VecDeque<Url> = robots_txt.sitemaps(start).into();
        if files.is_empty() {
            files.extend(start.join("/sitemap.xml"));
        }
        let (mut seen, mut pages, mut file_count) = (HashSet::new(), Vec::new(), 0);
        while let Some(file) = files.pop_front() {
            if file_count >= MAX_FILES || pages.len() >= max_pages || Instant::now() >= deadline {
                break;
            }
            if !seen.insert(file.clone()) || !may_fetch(&file) || !robots_txt.is_allowed(&file) {
                continue;
            }
            let started = Instant::now();
            file_count += 1;
            let response = scraper.file(&file, websvc_sitemap::MAX_BYTES, tls, deadline).await;
            if let Ok(response) = response
                && response.status.is_success()
            {
                let (remaining, is_wanted) = (max_pages - pages.len(), Arc::clone(&is_wanted));
                // Parsing megabytes would block an async thread. If the runtime shuts down, reading stops.
                let parsing = websvc_transport::spawn_blocking(in_current_span(move || {
                    read(&response.body, &file, remaining, &*is_wanted)
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
}

/// Returns the pages in a file that `is_wanted` selects, up to `max_pages`, and the sitemaps that it names.
fn read(
    body: &Bytes,
    base: &Url,
    max_pages: usize,
    is_wanted: &dyn Fn(&Url) -> bool,
) -> (Vec<Url>, Vec<Url>) {
    let (mut pages, mut sitemaps) = (Vec::new(), Vec::new());
    websvc_sitemap::read(body, base, &mut |item| {
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
