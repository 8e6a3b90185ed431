//! The URLs that were found, each once.

use std::collections::HashMap;
use std::ops::ControlFlow;

use url::Url;
use websvc_address::PageIdentity;
use websvc_types::MapLink;

/// Longer titles and descriptions are cut, in characters.
const TITLE_CHARS: usize = 300;
const DESCRIPTION_CHARS: usize = 500;

/// The URLs that were found.
#[derive(Debug, Default)]
pub(super) struct UrlCollector {
    links: Vec<MapLink>,
    /// Where the links are, by what is the same for all spellings of an address.
    places: HashMap<String, usize>,
    most: usize,
    every_spelling: bool,
}

impl UrlCollector {
    /// Begins with nothing; at most so many URLs are taken.
    pub(super) fn new(most: usize, every_spelling: bool) -> Self {
        Self { most, every_spelling, ..Self::default() }
    }

    /// Adds a URL, or what is said of one that is known. Breaks when there is no room for more.
    pub(super) fn add(
        &mut self,
        url: Url,
        title: Option<&str>,
        description: Option<&str>,
    ) -> ControlFlow<()> {
        let key = if self.every_spelling { url.to_string() } else { PageIdentity::of_url(&url).into() };
        match self.places.get(&key).copied() {
            Some(place) => {
                let known = &mut self.links[place];
                if known.url.starts_with("http:") && url.scheme() == "https" {
                    known.url = url.into();
                }
                add_description(known, title, description);
            }
            None if self.is_full() => return ControlFlow::Break(()),
            None => {
                self.places.insert(key, self.links.len());
                let mut link = MapLink { url: url.into(), ..MapLink::default() };
                add_description(&mut link, title, description);
                self.links.push(link);
            }
        }
        ControlFlow::Continue(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.links.len() >= self.most
    }

    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    pub(super) fn into_links(self) -> Vec<MapLink> {
        self.links
    }
}

/// The first title and the first description that say something count.
fn add_description(link: &mut MapLink, title: Option<&str>, description: Option<&str>) {
    if link.title.is_none() {
        link.title = title.and_then(|text| plain(text, TITLE_CHARS));
    }
    if link.description.is_none() {
        link.description = description.and_then(|text| plain(text, DESCRIPTION_CHARS));
    }
}

/// Returns a text without the tags that feeds put into it, its white space collapsed; `None` when nothing is left.
fn plain(text: &str, most: usize) -> Option<String> {
    let (mut out, mut left) = (String::new(), most);
    let mut in_tag = false;
    for (place, c) in text.char_indices() {
        let opens =
            c == '<' && text[place + 1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/');
        let is_space = in_tag || opens || c.is_whitespace();
        in_tag = (in_tag || opens) && c != '>';
        if left == 0 {
            out.push('…');
            break;
        }
        if !is_space {
            out.push(c);
            left -= 1;
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
            left -= 1;
        }
    }
    let length = out.trim_end().len();
    out.truncate(length);
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(found: &mut UrlCollector, url: &str, title: Option<&str>) -> bool {
        found.add(url.parse().unwrap(), title, None).is_continue()
    }

    fn listed(found: UrlCollector) -> Vec<(String, Option<String>)> {
        found.into_links().into_iter().map(|link| (link.url, link.title)).collect()
    }

    #[test]
    fn an_address_is_listed_once_with_what_is_said_of_any_spelling() {
        let mut found = UrlCollector::new(2, false);
        assert!(add(&mut found, "http://a.test/x", None));
        assert!(add(&mut found, "https://www.a.test/x/", Some(" A \n title ")));
        assert!(add(&mut found, "http://a.test/x/index.html", Some("Another")));
        assert!(add(&mut found, "http://a.test/y", Some(" ")));
        assert!(!add(&mut found, "http://a.test/z", None));
        assert!(add(&mut found, "http://a.test/y", Some("Y")));
        let expected = [("https://www.a.test/x/", "A title"), ("http://a.test/y", "Y")];
        assert_eq!(listed(found), expected.map(|(url, title)| (url.to_owned(), Some(title.to_owned()))));
        let mut every = UrlCollector::new(9, true);
        assert!(add(&mut every, "http://a.test/x", None) && add(&mut every, "http://a.test/x/", None));
        assert_eq!(every.len(), 2);
    }

    #[test]
    fn texts_are_plain_and_short() {
        assert_eq!(plain("<p>Tea &amp; 1 < 2<br/>cups</p>", 100).as_deref(), Some("Tea &amp; 1 < 2 cups"));
        assert_eq!(plain("<img src='x'>", 100), None);
        assert_eq!(plain("abcdef", 3).as_deref(), Some("abc…"));
        assert_eq!(plain("abc", 3).as_deref(), Some("abc"));
    }
}
