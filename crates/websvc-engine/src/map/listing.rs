//! The sitemaps and feeds of a map: their order, and the reading of one file.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::time::Instant;

use bytes::Bytes;
use url::Url;
use websvc_site::sitemap::{self, Item, ReadSummary};

use super::site::MapScope;
use super::url_collector::UrlCollector;

/// The maximum number of files that one map fetches.
pub(super) const MAX_FILES: usize = 500;

/// The maximum number of sitemap indexes between robots.txt and a sitemap.
const MAX_DEPTH: u8 = 3;

/// The maximum number of queued files. Further files are counted, and reported in a warning.
const MAX_QUEUED: usize = 2_000;

/// The usual paths of sitemaps, tried if robots.txt names none and `/sitemap.xml` is not one.
const USUAL_PATHS: &[&str] = &[
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/wp-sitemap.xml",
    "/sitemap.xml.gz",
    "/sitemap.txt",
    "/sitemap/sitemap.xml",
    "/sitemap/index.xml",
];

/// A sitemap or feed, or a file that may be one.
#[derive(Debug, Clone)]
pub(super) struct SitemapFile {
    pub(super) url: Url,
    /// The number of sitemap indexes between robots.txt and this file.
    depth: u8,
    /// The site has named it. A problem with a usual path is not reported.
    pub(super) is_named: bool,
}

/// The files to fetch, each once.
#[derive(Debug, Default)]
pub(super) struct SitemapQueue {
    queued: VecDeque<SitemapFile>,
    seen: HashSet<String>,
    started: usize,
    /// The number of files that did not fit into the queue.
    pub(super) overflow: usize,
}

impl SitemapQueue {
    /// Adds a file that the site has named.
    pub(super) fn add_named(&mut self, url: Url, depth: u8) {
        self.push(SitemapFile { url, depth, is_named: true });
    }

    /// Adds `/sitemap.xml`.
    pub(super) fn add_default_sitemap(&mut self, start: &Url) {
        self.add_guess(start, "/sitemap.xml");
    }

    /// Adds the usual paths, those in the directory of the start page first.
    pub(super) fn add_usual_paths(&mut self, start: &Url, path: &str) {
        if !path.is_empty() {
            self.add_guess(start, &format!("{path}/sitemap.xml"));
            self.add_guess(start, &format!("{path}/sitemap_index.xml"));
        }
        for path in USUAL_PATHS {
            self.add_guess(start, path);
        }
    }

    fn add_guess(&mut self, start: &Url, path: &str) {
        let mut url = start.clone();
        url.set_path(path);
        url.set_query(None);
        url.set_fragment(None);
        self.push(SitemapFile { url, depth: 0, is_named: false });
    }

    fn push(&mut self, mut listing: SitemapFile) {
        listing.url.set_fragment(None);
        if self.queued.len() >= MAX_QUEUED {
            self.overflow += 1;
        } else if self.seen.insert(listing.url.to_string()) {
            self.queued.push_back(listing);
        }
    }

    /// Returns the next file to fetch.
    pub(super) fn start(&mut self) -> Option<SitemapFile> {
        if self.started >= MAX_FILES {
            return None;
        }
        let next = self.queued.pop_front()?;
        self.started += 1;
        Some(next)
    }

    /// Returns the number of queued files.
    pub(super) fn queued(&self) -> usize {
        self.queued.len()
    }
}

/// The contents of a file, and what was skipped.
#[derive(Debug)]
pub(super) struct SitemapContents {
    pub(super) found: UrlCollector,
    pub(super) reading: ReadSummary,
    /// Further files, which may be fetched.
    pub(super) sitemaps: Vec<Url>,
    /// The number of further files on other hosts.
    pub(super) other_hosts: usize,
    /// The number of further files that are too many or too deep.
    pub(super) too_deep: usize,
    /// The deadline passed before the end of the file.
    pub(super) is_late: bool,
}

/// Reads a file that was fetched from `base`, and adds its pages to `found`. Blocks until it is done or until
/// `deadline`.
pub(super) fn read(
    mut found: UrlCollector,
    scope: &MapScope,
    listing: &SitemapFile,
    base: &Url,
    body: &Bytes,
    deadline: Instant,
) -> SitemapContents {
    let (mut sitemaps, mut other_hosts, mut too_deep, mut is_late) = (Vec::new(), 0, 0, false);
    let reading = sitemap::read(body, base, &mut |item| {
        if Instant::now() >= deadline {
            is_late = true;
            return ControlFlow::Break(());
        }
        match item {
            Item::Page(page) => match scope.normalize(page.url) {
                Some(url) => found.add(url, page.title.as_deref(), page.description.as_deref()),
                None => ControlFlow::Continue(()),
            },
            Item::Sitemap(url) => {
                // A sitemap index may name files of its own host and of the site.
                if !scope.is_site_host(&url) && url.host_str() != base.host_str() {
                    other_hosts += 1;
                } else if listing.depth >= MAX_DEPTH {
                    too_deep += 1;
                } else if sitemaps.len() < MAX_QUEUED {
                    sitemaps.push(url);
                } else {
                    too_deep += 1;
                }
                ControlFlow::Continue(())
            }
        }
    });
    SitemapContents { found, reading, sitemaps, other_hosts, too_deep, is_late }
}

impl SitemapFile {
    /// Returns the depth of the files that this file names.
    pub(super) fn depth_below(&self) -> u8 {
        self.depth.saturating_add(1)
    }
}
