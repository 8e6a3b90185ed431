//! The texts of links as words of the pages they lead to: the anchors.
//!
//! No table of them is kept. A page has the addresses that its links lead to as terms, and its links in its record, so
//! the anchors of a page are read from the pages that link to it. They come and go with those pages, and there is nothing
//! that a crash could leave behind. What a page was encoded with is told by a hash, see [`crate::backlog`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, TERMINATED, Term};
use url::Url;

use crate::analysis::head;
use crate::display_doc::DisplayDoc;
use crate::document::fingerprint_of_text;
use crate::stored_record::{self, Links};
use crate::sub_index::SubIndexSearcher;

/// A page has at most this many anchors, those of most hosts first, ...
const MAX_ANCHORS: usize = 12;
/// ... of one host at most so many, ...
const MAX_PER_HOST: usize = 3;
/// ... from at most so many linking pages, the first ones.
const MAX_SOURCES: usize = 64;

/// Of one page at most this many links count for other pages.
const MAX_LINKS: usize = 500;

/// Longer texts are cut: they are no names of pages but pieces of one.
const MAX_TEXT_BYTES: usize = 120;

/// How often the words of an anchor count (those of the body count once) when another host says them, ...
const FOREIGN_WEIGHT: usize = 2;
/// ... and when only the page's own host does.
const OWN_WEIGHT: usize = 1;

/// Texts that say where a link stands, and nothing of where it leads.
const SAYS_NOTHING: [&str; 62] = [
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

/// A text that links to a page have, once for all of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Anchor {
    pub(crate) text: String,
    /// How often its words count.
    pub(crate) weight: usize,
}

impl Anchors {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Anchor> {
        self.0.iter()
    }

    /// Returns a hash of everything that counts in the index; zero for none.
    pub(crate) fn fingerprint(&self) -> u64 {
        if self.0.is_empty() {
            return 0;
        }
        let all = self.0.iter().map(|Anchor { text, weight }| format!("{weight}{text}\n"));
        fingerprint_of_text(&all.collect::<String>())
    }
}

/// Returns the term of [`crate::schema::Fields::targets`] for a URL. Half a hash keeps the lists of terms small; pages that
/// share it are told apart by their links.
pub(crate) fn target_key(url: &str) -> u64 {
    fingerprint_of_text(without_fragment(url)) >> 32
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(address, _)| address)
}

/// Returns the links of a page that count for other pages, each once: address without fragment, and text.
pub(crate) fn counted_links<'a>(
    own: &str,
    links: impl Iterator<Item = (&'a str, &'a str)>,
) -> BTreeSet<(String, String)> {
    let own = without_fragment(own);
    let mut telling = BTreeSet::new();
    for (url, text) in links {
        let url = without_fragment(url);
        if telling.len() < MAX_LINKS && url != own {
            telling.extend(name(text).map(|text| (url.to_owned(), text)));
        }
    }
    telling
}

/// Returns what the links of a page that count call `target`, an address without fragment; each text once.
fn link_texts_to(target: &str, own: &str, links: &Links) -> BTreeSet<String> {
    // What follows comes first, as most addresses of a site begin alike.
    let leads_there =
        |url: &str| matches!(url.as_bytes().get(target.len()), None | Some(b'#')) && url.starts_with(target);
    if leads_there(own) {
        return BTreeSet::new();
    }
    // The first links count whatever they say; only beyond them it matters how many of those before say something.
    if links.iter().skip(MAX_LINKS).any(|(url, _)| leads_there(url)) {
        let all = counted_links(own, links.iter()).into_iter();
        return all.filter(|(url, _)| url == target).map(|(_, text)| text).collect();
    }
    links.iter().filter(|(url, _)| leads_there(url)).filter_map(|(_, text)| name(text)).collect()
}

/// Returns the text of a link in the form in which texts are compared; `None` when it says nothing of its target.
fn name(text: &str) -> Option<String> {
    let mut lower = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !lower.is_empty() {
            lower.push(' ');
        }
        lower.push_str(&word.to_lowercase());
    }
    let text = lower;
    let text = head(text.trim_matches(|c: char| !c.is_alphanumeric()), MAX_TEXT_BYTES);
    let is_address = text.contains("://") || text.starts_with("www.");
    let says_something = text.chars().any(char::is_alphabetic) && !SAYS_NOTHING.contains(&text);
    (says_something && !is_address).then(|| text.to_owned())
}

/// Reads the anchors of the page `url` from the pages that link to it.
pub(crate) fn gather(view: &SubIndexSearcher, url: &str) -> tantivy::Result<Anchors> {
    let term = Term::from_field_u64(view.fields.targets, target_key(url));
    let mut gathering = AnchorCollector::new(url);
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
                if let Some(card) = DisplayDoc::decode(&bytes) {
                    gathering.add(card.head.url, &stored_record::links(&card));
                }
            }
            postings.advance();
        }
    }
    Ok(gathering.finish())
}

/// The texts that were found so far.
struct AnchorCollector<'a> {
    target: &'a str,
    own_host: String,
    /// For each text the hosts that say it.
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
        // Stable: equal ones stay in the order of their texts.
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
        Links::of(&links.iter().map(link).collect::<Vec<_>>())
    }

    #[test]
    fn texts_that_say_nothing_do_not_count() {
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
            assert_eq!(name(text), None, "{text}");
        }
        assert_eq!(
            name("  \u{201c}The Book\u{201d}\n of Tea \u{bb}").as_deref(),
            Some("the book\u{201d} of tea")
        );
        assert!(name(&"long ".repeat(100)).is_some_and(|text| text.len() <= MAX_TEXT_BYTES));
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
    fn a_link_counts_for_a_page_when_it_is_among_those_that_count() {
        let others: Vec<String> = (0..MAX_LINKS).map(|number| format!("https://b.test/{number}")).collect();
        for (texts_of_others, counts) in [("other", false), ("", true)] {
            let mut all: Vec<_> = others.iter().map(|url| (url.as_str(), texts_of_others)).collect();
            all.push(("https://c.test/#x", "Late"));
            let links = links(&all);
            let expected = BTreeSet::from_iter(counts.then(|| "late".to_owned()));
            assert_eq!(link_texts_to("https://c.test/", "https://a.test/", &links), expected);
            let told = counted_links("https://a.test/", links.iter());
            assert_eq!(told.contains(&("https://c.test/".to_owned(), "late".to_owned())), counts);
        }
    }

    #[test]
    fn one_host_has_few_anchors_however_many_pages_it_has() {
        let mut gathering = AnchorCollector::new("https://a.test/");
        for page in 0..30 {
            let text = format!("name {page}");
            let links = links(&[("https://a.test/", &text), ("https://a.test/", "same")]);
            gathering.add(&format!("https://loud.test/{page}"), &links);
        }
        gathering.add("https://www.a.test/own", &links(&[("https://a.test/", "own")]));
        let others = links(&[("https://a.test/#x", "Same"), ("https://c.test/", "else")]);
        gathering.add("https://b.test/", &others);
        let anchors = gathering.finish();
        let found: Vec<_> = anchors.iter().map(|anchor| (anchor.text.as_str(), anchor.weight)).collect();
        assert_eq!(found, [("name 0", 2), ("name 1", 2), ("own", 1), ("same", 2)]);
    }
}
