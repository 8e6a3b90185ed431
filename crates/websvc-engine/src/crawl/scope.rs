//! Which URLs belong to a crawl.

use std::collections::HashSet;

use url::Url;
use websvc_validate::PathFilter;

use super::trap;

/// Endings of files that hold no text to be searched.
const NOT_PAGES: &[&str] = &[
    "7z", "aac", "avi", "avif", "bin", "bmp", "bz2", "class", "css", "deb", "dmg", "doc", "eot", "exe",
    "flac", "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "map", "mjs", "mkv", "mov",
    "mp3", "mp4", "mpeg", "msi", "ogg", "otf", "png", "ppt", "rar", "rpm", "svg", "tar", "tgz", "tif",
    "tiff", "ttf", "wasm", "wav", "webm", "webp", "whl", "wmv", "woff", "woff2", "xls", "xz", "zip", "zst",
];

/// The sites of a crawl, by host and port.
#[derive(Debug, Default)]
pub(super) struct SeedScope {
    hosts: HashSet<String>,
    paths: PathFilter,
}

impl SeedScope {
    /// Makes a scope without sites; of its pages those are chosen that `paths` takes.
    pub(super) fn new(paths: PathFilter) -> Self {
        Self { hosts: HashSet::new(), paths }
    }

    /// Returns whether the patterns choose `url`.
    pub(super) fn chooses(&self, url: &Url) -> bool {
        self.paths.matches(url)
    }

    /// Adds the site of `url`.
    pub(super) fn add(&mut self, url: &Url) {
        self.hosts.insert(host_key(url));
    }

    /// Returns whether `url` may be fetched as a page of the crawl.
    pub(super) fn contains(&self, url: &Url) -> bool {
        self.takes_file(url) && !trap::is_trap(url) && is_page(url) && self.chooses(url)
    }

    /// Returns whether `url` may be fetched as a file of the site, such as a sitemap.
    pub(super) fn takes_file(&self, url: &Url) -> bool {
        matches!(url.scheme(), "http" | "https") && self.hosts.contains(&host_key(url))
    }
}

/// Returns the key by which a host is known: two ports are two sites, two schemes are one.
#[must_use]
pub fn host_key(url: &Url) -> String {
    match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}

/// Returns whether a URL may be one of a page, as far as its ending tells.
pub(super) fn is_page(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.')
        .is_none_or(|(_, ending)| NOT_PAGES.binary_search(&ending.to_ascii_lowercase().as_str()).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: bool) {
        let mut scope = SeedScope::default();
        scope.add(&Url::parse("http://site.test/start").unwrap());
        assert_eq!(scope.contains(&Url::parse(url).unwrap()), expected, "{url}");
    }

    #[test]
    fn the_endings_are_sorted() {
        assert!(NOT_PAGES.is_sorted());
    }

    #[test]
    fn pages_of_the_site_are_taken() {
        check("http://site.test/a.html", true);
        check("https://site.test/", true);
        check("http://site.test/v1.2/notes", true);
    }

    #[test]
    fn other_hosts_ports_and_files_are_not() {
        check("http://other.test/", false);
        check("http://site.test:8080/", false);
        check("http://site.test/logo.PNG", false);
        check("mailto:a@site.test", false);
    }

    #[test]
    fn patterns_choose_among_the_pages_of_the_site() {
        let pattern = |text: &str| vec![text.to_owned()];
        let mut scope = SeedScope::new(PathFilter::new(pattern("^/docs/"), pattern("/old/"), false).unwrap());
        scope.add(&Url::parse("http://site.test/").unwrap());
        let takes = |url: &str| scope.contains(&Url::parse(url).unwrap());
        assert!(takes("http://site.test/docs/new/x"));
        assert!(!takes("http://site.test/docs/old/x"));
        assert!(!takes("http://site.test/blog"));
    }
}
