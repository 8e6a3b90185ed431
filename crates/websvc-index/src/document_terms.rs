//! Terms of a document in addition to its text, for other search engines with the same documents.

use jiff::Timestamp;
use url::Url;
use websvc_query::Site;

use crate::address::{Address, extension_of_type, file_name, host_terms, path_term, port_term, site_term};
use crate::analysis::{detect, head};
use crate::country::country_of;
use crate::document::Document;
use crate::explicit::is_explicit;
use crate::schema::{EXPLICIT, NEWS, country_label};
use crate::vocabulary::literal_words;

/// Maximum bytes of a body that are checked for explicit words.
const MAX_BYTES: usize = 1 << 20;

/// Maximum linked hosts of a page; the first ones count.
const MAX_LINKED_HOSTS: usize = 50;

/// Groups of extensions with the same meaning; the first of each is the canonical one.
const SYNONYMOUS_EXTENSIONS: [&[&str]; 5] =
    [&["html", "htm", "xhtml"], &["md", "markdown"], &["jpg", "jpeg"], &["txt", "text"], &["yml", "yaml"]];

/// The label of news pages in [`DocumentTerms::labels`].
pub const NEWS_LABEL: &str = NEWS;

/// The label of explicit pages in [`DocumentTerms::labels`].
pub const EXPLICIT_LABEL: &str = EXPLICIT;

/// Returns the label of the pages of a country in [`DocumentTerms::labels`]. `country` is a two-letter code in upper
/// case.
#[must_use]
pub fn label_of_country(country: &str) -> String {
    country_label(country)
}

/// Terms of a document in addition to its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentTerms {
    /// The host, each parent domain, the port unless it is the default one, and each directory of the path.
    pub sites: Vec<String>,
    /// The folded words of the URL, separated by spaces.
    pub url_words: String,
    /// The canonical file extensions of the URL and of the media type.
    pub extensions: Vec<String>,
    /// Labels for news, explicit pages and countries.
    pub labels: Vec<String>,
    /// The first known of: time of publication, of modification, of the fetch.
    pub date: Option<Timestamp>,
    /// The hosts that the page links to, without its own host and parent domains.
    pub linked_hosts: Vec<String>,
    /// [`Self::linked_hosts`] and their parent domains.
    pub links: Vec<String>,
    /// The two-letter code of the language of the text, which may differ from the declared one; empty if unknown.
    pub language: String,
}

impl DocumentTerms {
    /// Returns the terms of a document; `None` if its URL has no host.
    #[must_use]
    pub fn from_document(document: &Document) -> Option<Self> {
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
        let linked_hosts = linked_hosts(document, &sites);
        let links = link_terms(&linked_hosts);
        let (url_words, language) = (folded_words(&text), language_of(document, &document.body));
        Some(Self { sites, url_words, extensions, labels, date, linked_hosts, links, language })
    }
}

/// Returns the entries of [`DocumentTerms::sites`] that every page of the site has; `None` if the host is not valid.
#[must_use]
pub fn site_entries(site: &Site) -> Option<Vec<String>> {
    let mut entries = vec![site_term(&site.host)?];
    entries.extend(site.port.map(port_term));
    entries.extend(site.path.as_deref().map(path_term));
    Some(entries)
}

/// Returns the two-letter code of the language of a document with this searchable body; empty if unknown.
pub(crate) fn language_of(document: &Document, body: &str) -> String {
    /// A shorter body says too little, so the title counts as well.
    const MIN_BYTES: usize = 100;
    let declared = document.language.as_deref();
    if body.len() < MIN_BYTES {
        return detect(declared, &format!("{} {body}", document.title));
    }
    detect(declared, body)
}

/// Terms of the URL of an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageUrlTerms {
    /// The folded words of the URL, separated by spaces.
    pub url_words: String,
    /// The folded words of the file name, without its extension.
    pub name_words: String,
}

impl ImageUrlTerms {
    /// Returns the terms of the URL of an image; empty if it has no host.
    #[must_use]
    pub fn from_url(url: &str) -> Self {
        Address::parse(url).map_or_else(Self::default, |address| Self {
            url_words: folded_words(&address.text),
            name_words: folded_words(file_name(&address.topic)),
        })
    }
}

/// Returns the words of a text in the form of [`DocumentTerms::url_words`]; empty for a text without words.
#[must_use]
pub fn folded_words(text: &str) -> String {
    let words: Vec<String> = literal_words(text).into_iter().map(|(_, word)| word).collect();
    words.join(" ")
}

/// Returns the canonical extension of those with the same meaning, as in [`DocumentTerms::extensions`].
#[must_use]
pub fn one_extension(extension: &str) -> &str {
    synonymous_extensions(extension).map_or(extension, |synonyms| synonyms[0])
}

/// Returns all extensions with the meaning of `extension`, if there are others.
pub(crate) fn synonymous_extensions(extension: &str) -> Option<&'static [&'static str]> {
    SYNONYMOUS_EXTENSIONS.into_iter().find(|synonyms| synonyms.contains(&extension))
}

/// Returns the hosts and their parent domains, sorted and each once.
pub(crate) fn link_terms(linked: &[String]) -> Vec<String> {
    let mut links: Vec<String> = linked.iter().flat_map(|host| host_terms(host)).collect();
    links.sort_unstable();
    links.dedup();
    links
}

/// Returns the distinct hosts that the page links to, without its own host and parent domains.
pub(crate) fn linked_hosts(document: &Document, own_sites: &[String]) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for link in &document.links {
        let url = Url::parse(&link.url).ok();
        let Some(host) = url.as_ref().and_then(Url::host_str) else { continue };
        if hosts.len() < MAX_LINKED_HOSTS
            && !own_sites.iter().any(|site| site == host)
            && !hosts.iter().any(|seen| seen == host)
        {
            hosts.push(host.to_owned());
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::News;

    #[test]
    fn document_terms_have_url_labels_and_country() {
        let document = Document {
            url: "https://docs.tea.de:8443/a/Gr%C3%BCner-Tee.htm".to_owned(),
            content_type: Some("text/html".to_owned()),
            news: Some(News::default()),
            explicit: true,
            modified: Timestamp::from_second(5).ok(),
            seen: Timestamp::from_second(9).ok(),
            ..Document::default()
        };
        let terms = DocumentTerms::from_document(&document).unwrap();
        assert_eq!(terms.sites[..4], ["docs.tea.de", "tea.de", "de", ":8443"]);
        assert_eq!(terms.url_words, "docs tea de a gruner tee htm");
        assert_eq!(terms.extensions, ["html"]);
        assert_eq!(terms.labels, ["news", "explicit", "country:DE"]);
        assert_eq!(terms.date, Timestamp::from_second(5).ok());
        let spanish =
            Document { body: "Las hojas del té verde se secan al sol.".to_owned(), ..document.clone() };
        let declared = Document { language: Some("es-MX".to_owned()), ..spanish };
        assert_eq!(DocumentTerms::from_document(&declared).unwrap().language, "es");
        assert_eq!(
            DocumentTerms::from_document(&Document { url: "mailto:a@b.c".to_owned(), ..document }),
            None
        );
    }

    #[test]
    fn image_url_terms_have_the_name_of_the_file() {
        let terms = ImageUrlTerms::from_url("http://img.test/assets/Green-Tea.jpg?v=2");
        assert_eq!(terms.url_words, "img test assets green tea jpg v 2");
        assert_eq!(terms.name_words, "green tea v 2");
        assert_eq!(ImageUrlTerms::from_url("data:image/png;base64,"), ImageUrlTerms::default());
    }

    #[test]
    fn site_with_port_and_path_has_an_entry_for_each() {
        let site = Site { host: "tea.de".to_owned(), port: Some(8443), path: Some("/a b".to_owned()) };
        assert_eq!(site_entries(&site).unwrap(), ["tea.de", ":8443", "/a%20b"]);
    }
}
