//! Anchors: the texts of links, indexed as words of the pages that the links lead to.
//!
//! There is no table of anchors. Each page has the URLs of its links as terms, and its links in its stored record, so
//! the anchors of a page are read from the pages that link to it. Thus they always match those pages, and a crash
//! cannot leave stale data. Each page has a hash of the anchors with which it was encoded, see [`crate::backlog`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, TERMINATED, Term};
use url::Url;

use crate::analysis::head;
use crate::display_doc::DisplayDoc;
use crate::document::fingerprint_of_text;
use crate::stored_record::{self, Links};
use crate::sub_index::SubIndexSearcher;

/// Maximum anchors of a page; those used by the most hosts come first.
const MAX_ANCHORS: usize = 12;
/// Maximum anchors of a page from one host.
const MAX_PER_HOST: usize = 3;
/// Maximum linking pages that are read for the anchors of a page.
const MAX_SOURCES: usize = 64;

/// Maximum links of one page that count as anchors of other pages.
const MAX_LINKS: usize = 500;

/// Maximum bytes of an anchor. Longer link texts are truncated, since they are not names of pages but parts of a text.
const MAX_TEXT_BYTES: usize = 120;

/// Weight of the words of an anchor that other hosts use; words of the body have weight one.
const FOREIGN_WEIGHT: usize = 2;
/// Weight of the words of an anchor that only the page's own host uses.
const OWN_WEIGHT: usize = 1;

/// Link texts that do not describe the target, such as navigation.
const GENERIC_TEXTS: [&str; 62] = [
    "home",
    "home page",
    "homepage",
    "start",
    "next",
    "next page",
    "next post",
    "next chapter",
    "previous",
    "previous page",
    "previous post",
    "previous chapter",
    "prev",
    "back",
    "go back",
    "back to top",
    "top",
    "up",
    "first",
    "last",
    "index",
    "contents",
    "table of contents",
    "menu",
    "skip to content",
    "more",
    "read more",
    "learn more",
    "see more",
    "show more",
    "view more",
    "more info",
    "more information",
    "details",
    "view",
    "view all",
    "see all",
    "see also",
    "click here",
    "click",
    "here",
    "this",
    "this page",
    "link",
    "permalink",
    "website",
    "continue",
    "continue reading",
    "full article",
    "source",
    "weiter",
    "zurück",
    "startseite",
    "mehr",
    "weiterlesen",
    "hier",
    "suivant",
    "accueil",
    "lire la suite",
    "ici",
    "siguiente",
    "leer más",
];

/// The anchors of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Anchors(Vec<Anchor>);

/// A link text, merged over all links to the page with that text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Anchor {
    pub(crate) text: String,
    /// Number of times that each of its words is indexed.
    pub(crate) weight: usize,
}

impl Anchors {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Anchor> {
        self.0.iter()
    }

    /// Returns a hash of texts and weights; zero if there are no anchors.
    pub(crate) fn fingerprint(&self) -> u64 {
        if self.0.is_empty() {
            return 0;
        }
        let all = self.0.iter().map(|Anchor { text, weight }| format!("{weight}{text}\n"));
        fingerprint_of_text(&all.collect::<String>())
    }
}

/// Returns the term of [`crate::schema::Fields::targets`] for a URL. Half of the hash keeps the term dictionary small;
/// collisions are resolved by comparing the stored links.
pub(crate) fn target_key(url: &str) -> u64 {
    fingerprint_of_text(without_fragment(url)) >> 32
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(address, _)| address)
}

/// Returns the distinct links of the page `source` that count as anchors: URL without fragment, and text.
pub(crate) fn counted_links<'a>(
    source: &str,
    links: impl Iterator<Item = (&'a str, &'a str)>,
) -> BTreeSet<(String, String)> {
    let source = without_fragment(source);
    let mut counted = BTreeSet::new();
    for (url, text) in links {
        let url = without_fragment(url);
        if counted.len() < MAX_LINKS && url != source {
            counted.extend(anchor_text(text).map(|text| (url.to_owned(), text)));
        }
    }
    counted
}

/// Returns the distinct texts of those links of the page `source` that count and lead to `target`, a URL without
/// fragment.
fn link_texts_to(target: &str, source: &str, links: &Links) -> BTreeSet<String> {
    // The end is compared first, because most URLs of a site have the same prefix.
    let is_target =
        |url: &str| matches!(url.as_bytes().get(target.len()), None | Some(b'#')) && url.starts_with(target);
    if is_target(source) {
        return BTreeSet::new();
    }
    // The first MAX_LINKS links always count. Only for later ones it matters how many links before them count.
    if links.iter().skip(MAX_LINKS).any(|(url, _)| is_target(url)) {
        let all = counted_links(source, links.iter()).into_iter();
        return all.filter(|(url, _)| url == target).map(|(_, text)| text).collect();
    }
    links.iter().filter(|(url, _)| is_target(url)).filter_map(|(_, text)| anchor_text(text)).collect()
}

/// Returns the normalized text of a link; `None` if it does not describe the target.
fn anchor_text(text: &str) -> Option<String> {
    let mut lower = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !lower.is_empty() {
            lower.push(' ');
        }
        lower.push_str(&word.to_lowercase());
    }
    let text = lower;
    let text = head(text.trim_matches(|c: char| !c.is_alphanumeric()), MAX_TEXT_BYTES);
    let is_url = text.contains("://") || text.starts_with("www.");
    let is_descriptive = text.chars().any(char::is_alphabetic) && !GENERIC_TEXTS.contains(&text);
    (is_descriptive && !is_url).then(|| text.to_owned())
}

/// Reads the anchors of the page `url` from the pages that link to it.
pub(crate) fn gather(view: &SubIndexSearcher, url: &str) -> tantivy::Result<Anchors> {
    let term = Term::from_field_u64(view.fields.targets, target_key(url));
    let mut collector = AnchorCollector::new(url);
    let mut sources = 0;
    for (segment_ord, segment) in (0..).zip(view.searcher.segment_readers()) {
        let index = segment.inverted_index(view.fields.targets)?;
        let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        while postings.doc() != TERMINATED && sources < MAX_SOURCES {
            let doc_id = postings.doc();
            if !segment.is_deleted(doc_id) {
                sources += 1;
                let bytes = view.stored(DocAddress { segment_ord, doc_id })?;
                if let Some(doc) = DisplayDoc::decode(&bytes) {
                    collector.add(doc.header.url, &stored_record::links(&doc));
                }
            }
            postings.advance();
        }
    }
    Ok(collector.finish())
}

/// The link texts that were found so far.
struct AnchorCollector<'a> {
    target: &'a str,
    own_host: String,
    /// The hosts that use each text.
    texts: BTreeMap<String, BTreeSet<String>>,
    per_host: HashMap<String, usize>,
}

impl<'a> AnchorCollector<'a> {
    fn new(url: &'a str) -> Self {
        let target = without_fragment(url);
        Self { target, own_host: host(target), texts: BTreeMap::new(), per_host: HashMap::new() }
    }

    fn add(&mut self, source: &str, links: &Links) {
        let host = host(source);
        for text in link_texts_to(self.target, source, links) {
            if self.texts.get(&text).is_some_and(|hosts| hosts.contains(&host)) {
                continue;
            }
            let count = self.per_host.entry(host.clone()).or_default();
            if *count < MAX_PER_HOST {
                *count += 1;
                self.texts.entry(text).or_default().insert(host.clone());
            }
        }
    }

    fn finish(self) -> Anchors {
        let mut texts: Vec<(usize, Anchor)> = Vec::with_capacity(self.texts.len());
        for (text, hosts) in self.texts {
            let foreign = hosts.iter().filter(|host| **host != self.own_host).count();
            let weight = if foreign > 0 { FOREIGN_WEIGHT } else { OWN_WEIGHT };
            texts.push((foreign, Anchor { text, weight }));
        }
        // The sort is stable: texts with equal numbers of hosts stay in alphabetical order.
        texts.sort_by_key(|(foreign, _)| std::cmp::Reverse(*foreign));
        texts.truncate(MAX_ANCHORS);
        let mut anchors: Vec<Anchor> = texts.into_iter().map(|(_, anchor)| anchor).collect();
        anchors.sort_unstable();
        Anchors(anchors)
    }
}

/// Returns the host of a URL without `www.`.
fn host(url: &str) -> String {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Link;

    fn links(links: &[(&str, &str)]) -> Links {
        let link = |&(url, text): &(&str, &str)| Link { url: url.to_owned(), text: text.to_owned() };
        Links::from_links(&links.iter().map(link).collect::<Vec<_>>())
    }

    #[test]
    fn generic_link_texts_do_not_count() {
        for text in [
            "Home",
            " next\n page ",
            "Read more \u{2026}",
            "\u{2192}",
            "42",
            "[1]",
            "https://a.test/x",
            "www.a.test",
            "",
        ] {
            assert_eq!(anchor_text(text), None, "{text}");
        }
        assert_eq!(
            anchor_text("  \u{201c}The Book\u{201d}\n of Tea \u{bb}").as_deref(),
            Some("the book\u{201d} of tea")
        );
        assert!(anchor_text(&"long ".repeat(100)).is_some_and(|text| text.len() <= MAX_TEXT_BYTES));
    }

    #[test]
    fn links_to_the_page_itself_do_not_count() {
        let links = links(&[
            ("https://a.test/#part", "part one"),
            ("https://b.test/#x", "Other"),
            ("https://b.test/", "other"),
        ]);
        let expected = BTreeSet::from([("https://b.test/".to_owned(), "other".to_owned())]);
        assert_eq!(counted_links("https://a.test/", links.iter()), expected);
        assert!(link_texts_to("https://a.test/", "https://a.test/#top", &links).is_empty());
    }

    #[test]
    fn late_link_counts_only_within_the_maximum_of_counted_links() {
        let others: Vec<String> = (0..MAX_LINKS).map(|number| format!("https://b.test/{number}")).collect();
        for (texts_of_others, counts) in [("other", false), ("", true)] {
            let mut all: Vec<_> = others.iter().map(|url| (url.as_str(), texts_of_others)).collect();
            all.push(("https://c.test/#x", "Late"));
            let links = links(&all);
            let expected = BTreeSet::from_iter(counts.then(|| "late".to_owned()));
            assert_eq!(link_texts_to("https://c.test/", "https://a.test/", &links), expected);
            let counted = counted_links("https://a.test/", links.iter());
            assert_eq!(counted.contains(&("https://c.test/".to_owned(), "late".to_owned())), counts);
        }
    }

    #[test]
    fn one_host_provides_a_limited_number_of_anchors() {
        let mut collector = AnchorCollector::new("https://a.test/");
        for page in 0..30 {
            let text = format!("name {page}");
            let links = links(&[("https://a.test/", &text), ("https://a.test/", "same")]);
            collector.add(&format!("https://loud.test/{page}"), &links);
        }
        collector.add("https://www.a.test/own", &links(&[("https://a.test/", "own")]));
        let others = links(&[("https://a.test/#x", "Same"), ("https://c.test/", "else")]);
        collector.add("https://b.test/", &others);
        let anchors = collector.finish();
        let found: Vec<_> = anchors.iter().map(|anchor| (anchor.text.as_str(), anchor.weight)).collect();
        assert_eq!(found, [("name 0", 2), ("name 1", 2), ("own", 1), ("same", 2)]);
    }
}
