//! The pages that a site lists of itself, for a crawl that goes on without their dates and images.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use url::Url;
use websvc_scrape::Scraper;

use super::robots::Rules;
use super::sitemap;

/// Most sitemaps that are read.
const MAX_FILES: usize = 50;

/// Most pages that are taken from them.
const MAX_PAGES: usize = 100_000;

/// The longest pause between two files.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Returns the pages that the sitemaps of a host name, those that its robots.txt names or else `/sitemap.xml`, in their
/// order; what cannot be had until `deadline` is left out. Only files that `takes` lets through are read.
pub async fn listed_pages(
    scraper: &Scraper,
    rules: &Rules,
    start: &Url,
    takes: impl Fn(&Url) -> bool,
    deadline: Instant,
) -> Vec<Url> {
    let mut files: VecDeque<Url> = rules.sitemaps().iter().filter_map(|text| Url::parse(text).ok()).collect();
    if files.is_empty() {
        files.extend(start.join("/sitemap.xml"));
    }
    let (mut seen, mut pages, mut asked) = (HashSet::new(), Vec::new(), 0);
    while let Some(file) = files.pop_front() {
        if asked >= MAX_FILES || pages.len() >= MAX_PAGES || Instant::now() >= deadline {
            break;
        }
        if !seen.insert(file.clone()) || !takes(&file) || !rules.allow(&file) {
            continue;
        }
        let begun = Instant::now();
        asked += 1;
        let answer = scraper.file(&file, sitemap::MAX_BYTES, deadline).await;
        if let Ok(answer) = answer
            && answer.status.is_success()
        {
            let found = sitemap::parse(&sitemap::text(&answer.body));
            files.extend(found.sitemaps);
            pages.extend(found.pages);
        }
        if !files.is_empty() {
            let pause = begun.elapsed().max(rules.delay().unwrap_or_default()).min(MAX_PAUSE);
            tokio::time::sleep(pause).await;
        }
    }
    pages.truncate(MAX_PAGES);
    pages
}
