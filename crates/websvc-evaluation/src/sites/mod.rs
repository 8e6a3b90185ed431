//! The sites of the tasks: data files by class of tasks. All texts are invented; the pages are the same in every run.

mod article;
mod filler;
mod pdf;

use websvc_testkit::TestWebBuilder;

use article::Article;

/// Hosts that the embedded index must have crawled, by their first pages.
pub const SEARCHABLE: &[&str] =
    &["http://herbs.test/", "http://minerals.test/", "http://bridges.test/", "http://recipes-of-lenn.test/"];

/// The files with the pages.
const FILES: [(&str, &str); 12] = [
    ("fact", include_str!("../../sites/fact.json")),
    ("list", include_str!("../../sites/list.json")),
    ("table", include_str!("../../sites/table.json")),
    ("comparison", include_str!("../../sites/comparison.json")),
    ("hops", include_str!("../../sites/hops.json")),
    ("pdf", include_str!("../../sites/pdf.json")),
    ("javascript", include_str!("../../sites/javascript.json")),
    ("search", include_str!("../../sites/search.json")),
    ("strict", include_str!("../../sites/strict.json")),
    ("nested", include_str!("../../sites/nested.json")),
    ("language", include_str!("../../sites/language.json")),
    ("hostile", include_str!("../../sites/hostile.json")),
];

/// The sites of all tasks.
#[derive(Debug)]
pub struct Sites {
    articles: Vec<Article>,
}

impl Default for Sites {
    fn default() -> Self {
        Self::new()
    }
}

impl Sites {
    /// Reads all pages.
    ///
    /// # Panics
    /// If a file of pages is invalid, which a test of this crate excludes.
    #[must_use]
    pub fn new() -> Self {
        let read = |(name, text): (&str, &str)| -> Vec<Article> {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("sites/{name}.json: {error}"))
        };
        Self { articles: FILES.into_iter().flat_map(read).collect() }
    }

    /// Serves the pages.
    #[must_use]
    pub fn serve(&self, web: TestWebBuilder) -> TestWebBuilder {
        self.articles.iter().fold(web, |web, article| web.page(&article.url, article.page()))
    }

    /// Returns the sources of all pages with a function of the URL, as text.
    #[cfg(test)]
    pub(crate) fn sources(&self) -> impl Iterator<Item = Source> {
        self.articles.iter().map(|article| Source {
            url: article.url.clone(),
            text: article.source(),
            bytes: article.bytes(),
            is_shell: article.is_shell(),
            is_pdf: article.is_pdf(),
        })
    }
}

/// The source of a page, for tests.
#[cfg(test)]
pub(crate) struct Source {
    pub(crate) url: String,
    /// The text that a reader sees, with markup.
    pub(crate) text: String,
    /// The body of the response.
    pub(crate) bytes: Vec<u8>,
    /// True if a script writes the content.
    pub(crate) is_shell: bool,
    pub(crate) is_pdf: bool,
}
