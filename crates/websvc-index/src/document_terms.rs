//! Terms of a document beside its text, for other engines that hold the same documents.

use jiff::Timestamp;
use websvc_query::Site;

use crate::address::{Address, extension_of_type, path_term, port_term, site_term};
use crate::analysis::head;
use crate::country::country_of;
use crate::document::Document;
use crate::explicit::is_explicit;
use crate::schema::{EXPLICIT, NEWS, country_label};
use crate::vocabulary::literal_words;

/// At most so many bytes of a text are looked at to tell whether a page is explicit.
const MAX_BYTES: usize = 1 << 20;

/// The label of news in [`DocumentTerms::labels`].
pub const NEWS_LABEL: &str = NEWS;

/// The label of explicit pages in [`DocumentTerms::labels`].
pub const EXPLICIT_LABEL: &str = EXPLICIT;

/// Returns the label in [`DocumentTerms::labels`] of the pages of a country, by its two letters in upper case.
#[must_use]
pub fn label_of_country(country: &str) -> String {
    country_label(country)
}

/// Terms of a document beside its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentTerms {
    /// The host, each parent domain, the port when it is no default one, and each directory of the path.
    pub sites: Vec<String>,
    /// The words of the URL, folded, with spaces between.
    pub url_words: String,
    /// The file extensions of the URL and the media type; those that mean the same are one.
    pub extensions: Vec<String>,
    /// Labels of the page's kind.
    pub labels: Vec<String>,
    /// When it was published, else modified, else seen.
    pub date: Option<Timestamp>,
}

impl DocumentTerms {
    /// Returns the outline of a document; `None` when its URL has no host.
    #[must_use]
    pub fn of(document: &Document) -> Option<Self> {
        let Address { sites, text, topic: _, extension } = Address::parse(&document.url)?;
        let by_type = document.content_type.as_deref().and_then(extension_of_type).map(str::to_owned);
        let mut extensions: Vec<String> =
            extension.into_iter().chain(by_type).map(|name| one_extension(&name).to_owned()).collect();
        extensions.dedup();
        let mut labels = Vec::new();
        if document.news.is_some() {
            labels.push(NEWS.to_owned());
        }
        let words = literal_words(&format!("{}\n{}", document.title, head(&document.body, MAX_BYTES)));
        let words = words.iter().map(|(_, word)| word.as_str());
        if document.explicit || is_explicit(&document.url, words) {
            labels.push(EXPLICIT.to_owned());
        }
        labels.extend(country_of(document).map(|country| country_label(&country)));
        let date = document.published.or(document.modified).or(document.seen);
        Some(Self { sites, url_words: folded_words(&text), extensions, labels, date })
    }
}

/// Returns the entries of [`DocumentTerms::sites`] that a page of the site has, all of them; `None` when nothing has.
#[must_use]
pub fn site_entries(site: &Site) -> Option<Vec<String>> {
    let mut entries = vec![site_term(&site.host)?];
    entries.extend(site.port.map(port_term));
    entries.extend(site.path.as_deref().map(path_term));
    Some(entries)
}

/// Returns the words of a text as [`DocumentTerms::url_words`] has them; empty for a text without words.
#[must_use]
pub fn folded_words(text: &str) -> String {
    let words: Vec<String> = literal_words(text).into_iter().map(|(_, word)| word).collect();
    words.join(" ")
}

/// Returns the one extension that stands for those that mean the same, as [`DocumentTerms::extensions`] has it.
#[must_use]
pub fn one_extension(extension: &str) -> &str {
    match extension {
        "htm" | "xhtml" => "html",
        "markdown" => "md",
        "jpeg" => "jpg",
        "text" => "txt",
        "yaml" => "yml",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::News;

    #[test]
    fn a_document_is_found_by_its_address_kind_and_country() {
        let document = Document {
            url: "https://docs.tea.de:8443/a/Gr%C3%BCner-Tee.htm".to_owned(),
            content_type: Some("text/html".to_owned()),
            news: Some(News::default()),
            explicit: true,
            modified: Timestamp::from_second(5).ok(),
            seen: Timestamp::from_second(9).ok(),
            ..Document::default()
        };
        let outline = DocumentTerms::of(&document).unwrap();
        assert_eq!(outline.sites[..4], ["docs.tea.de", "tea.de", "de", ":8443"]);
        assert_eq!(outline.url_words, "docs tea de a gruner tee htm");
        assert_eq!(outline.extensions, ["html"]);
        assert_eq!(outline.labels, ["news", "explicit", "country:DE"]);
        assert_eq!(outline.date, Timestamp::from_second(5).ok());
        assert_eq!(DocumentTerms::of(&Document { url: "mailto:a@b.c".to_owned(), ..document }), None);
    }

    #[test]
    fn a_site_is_all_its_entries() {
        let site = Site { host: "tea.de".to_owned(), port: Some(8443), path: Some("/a b".to_owned()) };
        assert_eq!(site_entries(&site).unwrap(), ["tea.de", ":8443", "/a%20b"]);
    }
}
