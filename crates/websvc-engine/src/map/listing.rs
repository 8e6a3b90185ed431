//! The files that list pages: in which order they are fetched, and what is read of them.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::time::Instant;

use bytes::Bytes;
use url::Url;
use websvc_sitemap::{Item, ReadSummary};

use super::site::MapScope;
use super::url_collector::UrlCollector;

/// Most files of one map that are fetched.
pub(super) const MAX_FILES: usize = 500;

/// So many indexes may stand between robots.txt and a sitemap.
const MAX_DEPTH: u8 = 3;

/// Most files that wait: what an index has more is told.
const MAX_WAITING: usize = 2_000;

/// Where sitemaps are, when robots.txt names none or the one at the usual place is none.
const USUAL: &[&str] = &[
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/wp-sitemap.xml",
    "/sitemap.xml.gz",
    "/sitemap.txt",
    "/sitemap/sitemap.xml",
    "/sitemap/index.xml",
];

/// A file that lists pages, or may.
#[derive(Debug, Clone)]
pub(super) struct SitemapFile {
    pub(super) url: Url,
    /// Indexes between robots.txt and it.
    depth: u8,
    /// Somebody has named it; nobody needs to know that a usual place is empty.
    pub(super) is_named: bool,
}

/// The files that are still to be fetched, each once.
#[derive(Debug, Default)]
pub(super) struct SitemapQueue {
    waiting: VecDeque<SitemapFile>,
    seen: HashSet<String>,
    started: usize,
    /// Files that there was no room for.
    pub(super) beyond: usize,
}

impl SitemapQueue {
    /// Adds a file that somebody has named.
    pub(super) fn name(&mut self, url: Url, depth: u8) {
        self.push(SitemapFile { url, depth, is_named: true });
    }

    /// Adds the first place that is looked at.
    pub(super) fn add_default_sitemap(&mut self, start: &Url) {
        self.guess(start, "/sitemap.xml");
    }

    /// Adds the usual places, those beside the start page first.
    pub(super) fn guess_others(&mut self, start: &Url, path: &str) {
        if !path.is_empty() {
            self.guess(start, &format!("{path}/sitemap.xml"));
            self.guess(start, &format!("{path}/sitemap_index.xml"));
        }
        for place in USUAL {
            self.guess(start, place);
        }
    }

    fn guess(&mut self, start: &Url, path: &str) {
        let mut url = start.clone();
        url.set_path(path);
        url.set_query(None);
        url.set_fragment(None);
        self.push(SitemapFile { url, depth: 0, is_named: false });
    }

    fn push(&mut self, mut listing: SitemapFile) {
        listing.url.set_fragment(None);
        if self.waiting.len() >= MAX_WAITING {
            self.beyond += 1;
        } else if self.seen.insert(listing.url.to_string()) {
            self.waiting.push_back(listing);
        }
    }

    /// Returns the next file to be fetched.
    pub(super) fn start(&mut self) -> Option<SitemapFile> {
        if self.started >= MAX_FILES {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.started += 1;
        Some(next)
    }

    /// Returns how many files wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

/// What was read of a file.
#[derive(Debug)]
pub(super) struct SitemapContents {
    pub(super) found: UrlCollector,
    pub(super) reading: ReadSummary,
    /// Further files, which may be fetched.
    pub(super) sitemaps: Vec<Url>,
    /// Further files of other hosts, or too deep.
    pub(super) elsewhere: usize,
    pub(super) too_deep: usize,
    /// The time was over before the end.
    pub(super) is_late: bool,
}

/// Reads a file that was found at `base`; its pages go to `found`. Blocks as long as that takes, or until `deadline`.
pub(super) fn read(
    mut found: UrlCollector,
    site: &MapScope,
    listing: &SitemapFile,
    base: &Url,
    body: &Bytes,
    deadline: Instant,
) -> SitemapContents {
    let (mut sitemaps, mut elsewhere, mut too_deep, mut is_late) = (Vec::new(), 0, 0, false);
    let reading = websvc_sitemap::read(body, base, &mut |item| {
        if Instant::now() >= deadline {
            is_late = true;
            return ControlFlow::Break(());
        }
        match item {
            Item::Page(page) => match site.normalize(page.url) {
                Some(url) => found.add(url, page.title.as_deref(), page.description.as_deref()),
                None => ControlFlow::Continue(()),
            },
            Item::Sitemap(url) => {
                // An index speaks for its own host, and for those of the site.
                if !site.is_of_host(&url) && url.host_str() != base.host_str() {
                    elsewhere += 1;
                } else if listing.depth >= MAX_DEPTH {
                    too_deep += 1;
                } else if sitemaps.len() < MAX_WAITING {
                    sitemaps.push(url);
                } else {
                    too_deep += 1;
                }
                ControlFlow::Continue(())
            }
        }
    });
    SitemapContents { found, reading, sitemaps, elsewhere, too_deep, is_late }
}

impl SitemapFile {
    /// Returns how deep the files are that it names.
    pub(super) fn depth_below(&self) -> u8 {
        self.depth.saturating_add(1)
    }
}
