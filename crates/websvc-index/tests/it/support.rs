//! Fixtures and checks of the integration tests.

use jiff::Timestamp;
use websvc_index::{Document, DomainFilter, Hit, Index, IndexConfig, SearchOptions, SearchOutcome, Vertical};

/// Returns a page with the URL `https://` + `address`.
pub(crate) fn page(address: &str, title: &str, body: &str) -> Document {
    Document {
        url: format!("https://{address}"),
        title: title.to_owned(),
        body: body.to_owned(),
        ..Document::default()
    }
}

/// Returns the default options with the parameter `tbs`, at the end of 2024.
pub(crate) fn tbs(text: &str) -> SearchOptions {
    let tbs = websvc_query::parse_tbs(text).expect(text).expect(text);
    SearchOptions {
        time: tbs.range,
        sort: tbs.sort,
        now: time("2024-12-31T00:00:00Z"),
        ..SearchOptions::default()
    }
}

pub(crate) fn include(hosts: &[&str]) -> DomainFilter {
    DomainFilter::Include(hosts.iter().map(|&host| host.to_owned()).collect())
}

pub(crate) fn exclude(hosts: &[&str]) -> DomainFilter {
    DomainFilter::Exclude(hosts.iter().map(|&host| host.to_owned()).collect())
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().expect("a time in a test")
}

/// An index in a temporary directory, which is removed with it.
pub(crate) struct Fixture {
    pub(crate) index: Index,
    _dir: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new(documents: impl IntoIterator<Item = Document>) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let index = Index::open(dir.path(), IndexConfig::default()).expect("a new index");
        for document in documents {
            index.add(document).expect("a valid document");
        }
        index.flush().expect("a working disk");
        Self { index, _dir: dir }
    }

    pub(crate) fn search(&self, query: &str, options: &SearchOptions) -> SearchOutcome {
        self.index.search(&websvc_query::parse(query).query, options).expect("a readable index")
    }

    /// Asserts the pages that a query finds, best first.
    #[track_caller]
    pub(crate) fn check(&self, query: &str, expected: &[&str]) {
        self.check_with(query, &SearchOptions::default(), expected);
    }

    /// Asserts the pages that a query with options finds, best first.
    #[track_caller]
    pub(crate) fn check_with(&self, query: &str, options: &SearchOptions, expected: &[&str]) {
        let hits = self.search(query, options).hits;
        let found: Vec<_> = hits.iter().map(|hit| hit.url.trim_start_matches("https://")).collect();
        assert_eq!(found, expected, "{query}");
    }

    /// Asserts the pages that a query finds, in any order.
    #[track_caller]
    pub(crate) fn check_set(&self, query: &str, expected: &[&str]) {
        let hits = self.search(query, &SearchOptions::default()).hits;
        let mut found: Vec<_> = hits.iter().map(|hit| hit.url.trim_start_matches("https://")).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{query}");
    }

    /// Asserts the images that a query finds, in any order.
    #[track_caller]
    pub(crate) fn check_images(&self, query: &str, options: SearchOptions, expected: &[&str]) {
        let options = SearchOptions { vertical: Vertical::Images, ..options };
        let hits = self.search(query, &options).hits;
        let mut found: Vec<_> = hits.iter().map(image_address).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{query}");
    }
}

/// Returns the URL of the image of a hit without its scheme.
pub(crate) fn image_address(hit: &Hit) -> &str {
    hit.image.as_ref().expect("an image hit has its image").url.trim_start_matches("https://")
}
