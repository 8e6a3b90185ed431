//! The pages that a site lists of itself, for a crawl that goes on without their dates and images.

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

/// Most sitemaps that are read.
const MAX_FILES: usize = 50;

/// Most pages that are taken from them, however many are wanted.
const MAX_PAGES: usize = 100_000;

/// The longest pause between two files.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Whether a page that a sitemap names is wanted.
type UrlPredicate = Arc<dyn Fn(&Url) -> bool + Send + Sync>;

/// How the sitemaps of a host are read.
pub struct SitemapReader<'a> {
    /// What asks for them.
    pub scraper: &'a Scraper,
    /// The rules of the host.
    pub rules: &'a RobotsTxt,
    /// Whether its certificate is looked at.
    pub tls: TlsPolicy,
    /// What cannot be had until then is left out.
    pub deadline: Instant,
    /// The most pages, of those that are wanted.
    pub most: usize,
}

impl SitemapReader<'_> {
    /// Returns the pages that the sitemaps of a host name and `wants` lets through, in their order: those that its robots.txt
    /// names, or else `/sitemap.xml`. Only files that `takes` lets through are read.
    pub async fn pages(&self, start: &Url, takes: impl Fn(&Url) -> bool, wants: UrlPredicate) -> Vec<Url> {
        let Self { scraper, rules, tls, deadline, most } = *self;
        let most = most.min(MAX_PAGES);
        let mut files: VecDeque<Url> =
            rules.sitemaps().iter().filter_map(|text| Url::parse(text).ok()).collect();
        if files.is_empty() {
            files.extend(start.join("/sitemap.xml"));
        }
        let (mut seen, mut pages, mut asked) = (HashSet::new(), Vec::new(), 0);
        while let Some(file) = files.pop_front() {
            if asked >= MAX_FILES || pages.len() >= most || Instant::now() >= deadline {
                break;
            }
            if !seen.insert(file.clone()) || !takes(&file) || !rules.is_allowed(&file) {
                continue;
            }
            let begun = Instant::now();
            asked += 1;
            let answer = scraper.file(&file, websvc_sitemap::MAX_BYTES, tls, deadline).await;
            if let Ok(answer) = answer
                && answer.status.is_success()
            {
                let (room, wants) = (most - pages.len(), Arc::clone(&wants));
                // Megabytes hold nobody up there; a runtime that ends reads no more of it.
                let reading = tokio::task::spawn_blocking(in_current_span(move || {
                    read(&answer.body, &file, room, &*wants)
                }));
                let Ok((listed, sitemaps)) = reading.await else { break };
                pages.extend(listed);
                files.extend(sitemaps);
            }
            if !files.is_empty() {
                let pause = begun.elapsed().max(rules.delay().unwrap_or_default()).min(MAX_PAUSE);
                tokio::time::sleep(pause).await;
            }
        }
        pages
    }
}

/// Returns up to `room` pages that a file names and `wants` lets through, and further files.
fn read(body: &Bytes, base: &Url, room: usize, wants: &dyn Fn(&Url) -> bool) -> (Vec<Url>, Vec<Url>) {
    let (mut pages, mut sitemaps) = (Vec::new(), Vec::new());
    websvc_sitemap::read(body, base, &mut |item| {
        match item {
            Item::Page(entry) if wants(&entry.url) => pages.push(entry.url),
            // No more than these are read in all.
            Item::Sitemap(url) if sitemaps.len() < MAX_FILES => sitemaps.push(url),
            Item::Page(_) | Item::Sitemap(_) => {}
        }
        if pages.len() < room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (pages, sitemaps)
}
