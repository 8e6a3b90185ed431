//! Short crawls: a page and pages of its host that it leads to.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use futures_util::future::join_all;
use url::Url;
use websvc_agent::{ReadPage, ToolFailure, ToolOutput};
use websvc_engine::crawl::fetch_robots_txt;
use websvc_site::{RobotsTxt, host_key};
use websvc_transport::TlsPolicy;

use super::RunEnvironment;

/// The maximum number of pages.
const MAX_PAGES: usize = 10;

/// The number of pages that are read concurrently.
const CONCURRENCY: usize = 2;

/// The maximum number of URLs that wait to be read.
const MAX_QUEUE: usize = 500;

/// The state of a crawl.
struct Crawl {
    host: String,
    robots: RobotsTxt,
    queue: VecDeque<Url>,
    seen: HashSet<String>,
}

impl RunEnvironment {
    /// Reads a page and, in the order of their links, pages of the same host that robots.txt allows. At the end of the
    /// budget, the crawl ends with the pages that it has.
    pub(super) async fn crawl(&self, url: &str, max_pages: u32) -> Result<ToolOutput, ToolFailure> {
        let url = self.destination(url)?;
        let max_pages = usize::try_from(max_pages).unwrap_or(MAX_PAGES).clamp(1, MAX_PAGES);
        let first = self.read(&url, self.budget.remaining()).await?;
        let start = Url::parse(&first.url).unwrap_or_else(|_| url.clone());
        let scraper = self.tools.engine.scraper();
        let (agent, tls) = (scraper.robots_user_agent(), TlsPolicy::SkipVerification);
        let robots = fetch_robots_txt(scraper, &start, agent, tls, self.call_deadline()).await;
        let seen = HashSet::from([page_text(&url), page_text(&start)]);
        let mut crawl = Crawl { host: host_key(&start), robots, queue: VecDeque::new(), seen };
        crawl.add_links(&first);
        let (mut pages, mut failures) = (vec![(*first).clone()], Vec::new());
        while pages.len() < max_pages && pages.len() + failures.len() < 2 * MAX_PAGES {
            let count = CONCURRENCY.min(max_pages - pages.len()).min(crawl.queue.len());
            let batch: Vec<Url> = crawl.queue.drain(..count).collect();
            if batch.is_empty() {
                break;
            }
            let share = self.budget.remaining() / batch.len() as u64;
            let reads = join_all(batch.iter().map(|url| Box::pin(self.read(url, share)))).await;
            let mut is_over = false;
            for (url, read) in batch.iter().zip(reads) {
                match read {
                    Ok(page) => {
                        crawl.add_links(&page);
                        pages.push((*page).clone());
                    }
                    Err(ToolFailure::Refused(reason) | ToolFailure::Failed(reason)) => {
                        failures.push((url.to_string(), reason));
                    }
                    Err(ToolFailure::Stopped(_)) => is_over = true,
                }
            }
            if is_over {
                break;
            }
        }
        Ok(ToolOutput::Read { pages, failures, answer: String::new() })
    }
}

impl Crawl {
    /// Adds the links of a page to pages of the host that robots.txt allows.
    fn add_links(&mut self, page: &Arc<ReadPage>) {
        for link in &page.links {
            let Ok(mut url) = Url::parse(&link.url) else { continue };
            url.set_fragment(None);
            let is_open = url.username().is_empty() && url.password().is_none();
            if is_open
                && self.queue.len() < MAX_QUEUE
                && host_key(&url) == self.host
                && self.robots.is_allowed(&url)
                && self.seen.insert(page_text(&url))
            {
                self.queue.push_back(url);
            }
        }
    }
}

/// Returns the text by which the pages of a crawl are compared: one page may be linked with and without a slash.
fn page_text(url: &Url) -> String {
    let text = url.as_str().split('#').next().unwrap_or_default();
    text.strip_suffix('/').unwrap_or(text).to_owned()
}
