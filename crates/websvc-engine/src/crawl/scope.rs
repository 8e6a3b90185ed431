//! The scope of a crawl: the URLs that belong to it.

use std::collections::HashSet;

use url::Url;
use websvc_validate::PathFilter;

use super::trap;

/// The file name extensions of content that is not a page.
const NON_PAGE_EXTENSIONS: &[&str] = &[
    "7z", "aac", "avi", "avif", "bin", "bmp", "bz2", "class", "css", "deb", "dmg", "doc", "eot", "exe",
    "flac", "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "map", "mjs", "mkv", "mov",
    "mp3", "mp4", "mpeg", "msi", "ogg", "otf", "png", "ppt", "rar", "rpm", "svg", "tar", "tgz", "tif",
    "tiff", "ttf", "wasm", "wav", "webm", "webp", "whl", "wmv", "woff", "woff2", "xls", "xz", "zip", "zst",
];

/// The hosts and ports of the seeds, and the path patterns of a crawl.
#[derive(Debug, Default)]
pub(super) struct SeedScope {
    hosts: HashSet<String>,
    paths: PathFilter,
}

impl SeedScope {
    /// Creates a scope without hosts. `paths` selects the pages.
    pub(super) fn new(paths: PathFilter) -> Self {
        Self { hosts: HashSet::new(), paths }
    }

    /// Returns whether the path patterns select `url`.
    pub(super) fn matches_patterns(&self, url: &Url) -> bool {
        self.paths.matches(url)
    }

    /// Adds the host of `url`.
    pub(super) fn add(&mut self, url: &Url) {
        self.hosts.insert(host_key(url));
    }

    /// Returns whether `url` may be fetched as a page of the crawl.
    pub(super) fn contains(&self, url: &Url) -> bool {
        self.contains_file(url) && !trap::is_trap(url) && is_page(url) && self.matches_patterns(url)
    }

    /// Returns whether `url` may be fetched as a file of the site, such as a sitemap.
    pub(super) fn contains_file(&self, url: &Url) -> bool {
        matches!(url.scheme(), "http" | "https") && self.hosts.contains(&host_key(url))
    }
}

/// Returns the key of a host. Different ports are different sites, different schemes are not.
#[must_use]
pub fn host_key(url: &Url) -> String {
    match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}

/// Returns whether a URL may be that of a page, judging by its extension.
pub(super) fn is_page(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_none_or(|(_, extension)| {
        NON_PAGE_EXTENSIONS.binary_search(&extension.to_ascii_lowercase().as_str()).is_err()
    })
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
    fn non_page_extensions_are_sorted() {
        assert!(NON_PAGE_EXTENSIONS.is_sorted());
    }

    #[test]
    fn scope_contains_pages_of_the_seed_host() {
        check("http://site.test/a.html", true);
        check("https://site.test/", true);
        check("http://site.test/v1.2/notes", true);
    }

    #[test]
    fn scope_excludes_other_hosts_ports_and_file_types() {
        check("http://other.test/", false);
        check("http://site.test:8080/", false);
        check("http://site.test/logo.PNG", false);
        check("mailto:a@site.test", false);
    }

    #[test]
    fn path_patterns_select_pages_of_the_site() {
        let pattern = |text: &str| vec![text.to_owned()];
        let mut scope = SeedScope::new(PathFilter::new(pattern("^/docs/"), pattern("/old/"), false).unwrap());
        scope.add(&Url::parse("http://site.test/").unwrap());
        let contains = |url: &str| scope.contains(&Url::parse(url).unwrap());
        assert!(contains("http://site.test/docs/new/x"));
        assert!(!contains("http://site.test/docs/old/x"));
        assert!(!contains("http://site.test/blog"));
    }
}
