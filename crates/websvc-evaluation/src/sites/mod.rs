//! The sites of the tasks. All texts are invented; the pages are the same in every run.

mod article;
mod chains;
mod facts;
mod hostile;
mod languages;
mod lists;
mod nested;
mod pairs;
mod papers;
mod pdf;
mod scripts;
mod search;
mod strict;
mod tables;
mod text;

use websvc_testkit::{Page, TestWebBuilder};

use article::Article;

/// Hosts that the embedded index must have crawled, by their first pages.
pub const SEARCHABLE: &[&str] =
    &["http://herbs.test/", "http://minerals.test/", "http://bridges.test/", "http://recipes-of-lenn.test/"];

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
    /// Writes all pages.
    #[must_use]
    pub fn new() -> Self {
        let parts = [
            facts::articles(),
            lists::articles(),
            tables::articles(),
            pairs::articles(),
            chains::articles(),
            papers::articles(),
            scripts::articles(),
            search::articles(),
            strict::articles(),
            nested::articles(),
            languages::articles(),
            hostile::articles(),
        ];
        Self { articles: parts.into_iter().flatten().collect() }
    }

    /// Serves the pages.
    #[must_use]
    pub fn serve(&self, web: TestWebBuilder) -> TestWebBuilder {
        let web = self.articles.iter().fold(web, |web, article| web.page(&article.url, article.page()));
        scripts::DATA.iter().fold(web, |web, (url, data)| web.page(url, Page::new("application/json", *data)))
    }

    /// Returns the sources of all pages with a function of the URL, as text.
    #[cfg(test)]
    pub(crate) fn sources(&self) -> impl Iterator<Item = Source> {
        let articles = self.articles.iter().map(|article| Source {
            url: article.url.clone(),
            text: article.source(),
            bytes: article.bytes(),
            is_shell: article.is_shell(),
            is_pdf: article.url.ends_with(".pdf"),
        });
        let data = scripts::DATA.iter().map(|(url, data)| Source {
            url: (*url).to_owned(),
            text: (*data).to_owned(),
            bytes: data.as_bytes().to_vec(),
            is_shell: true,
            is_pdf: false,
        });
        articles.chain(data)
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
