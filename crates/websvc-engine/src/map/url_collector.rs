//! Collects the URLs of a map, each once.

use std::collections::HashMap;
use std::ops::ControlFlow;

use url::Url;
use websvc_site::PageIdentity;
use websvc_types::MapLink;

/// The maximum length of titles and descriptions in characters. Longer ones are truncated.
const TITLE_CHARS: usize = 300;
const DESCRIPTION_CHARS: usize = 500;

/// The URLs found so far.
#[derive(Debug, Default)]
pub(super) struct UrlCollector {
    links: Vec<MapLink>,
    /// The positions of the links, by identity of the page.
    positions: HashMap<String, usize>,
    max: usize,
    keep_variants: bool,
}

impl UrlCollector {
    /// Creates an empty collector for at most `max` URLs.
    pub(super) fn new(max: usize, keep_variants: bool) -> Self {
        Self { max, keep_variants, ..Self::default() }
    }

    /// Adds a URL, or completes the title and description of a known one. Breaks if the collector is full.
    pub(super) fn add(
        &mut self,
        url: Url,
        title: Option<&str>,
        description: Option<&str>,
    ) -> ControlFlow<()> {
        let key = if self.keep_variants { url.to_string() } else { PageIdentity::of_url(&url).into() };
        match self.positions.get(&key).copied() {
            Some(position) => {
                let existing = &mut self.links[position];
                if existing.url.starts_with("http:") && url.scheme() == "https" {
                    existing.url = url.into();
                }
                add_description(existing, title, description);
            }
            None if self.is_full() => return ControlFlow::Break(()),
            None => {
                self.positions.insert(key, self.links.len());
                let mut link = MapLink { url: url.into(), ..MapLink::default() };
                add_description(&mut link, title, description);
                self.links.push(link);
            }
        }
        ControlFlow::Continue(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.links.len() >= self.max
    }

    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    pub(super) fn into_links(self) -> Vec<MapLink> {
        self.links
    }
}

/// Sets the title and the description, unless they are set already.
fn add_description(link: &mut MapLink, title: Option<&str>, description: Option<&str>) {
    if link.title.is_none() {
        link.title = title.and_then(|text| plain_text(text, TITLE_CHARS));
    }
    if link.description.is_none() {
        link.description = description.and_then(|text| plain_text(text, DESCRIPTION_CHARS));
    }
}

/// Returns a text without the tags that feeds contain, with white space collapsed; `None` if nothing remains.
fn plain_text(text: &str, max: usize) -> Option<String> {
    let (mut out, mut remaining) = (String::new(), max);
    let mut in_tag = false;
    for (position, c) in text.char_indices() {
        let opens = c == '<'
            && text[position + 1..].starts_with(|next: char| next.is_ascii_alphabetic() || next == '/');
        let is_space = in_tag || opens || c.is_whitespace();
        in_tag = (in_tag || opens) && c != '>';
        if remaining == 0 {
            out.push('…');
            break;
        }
        if !is_space {
            out.push(c);
            remaining -= 1;
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
            remaining -= 1;
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
    fn url_spellings_are_listed_once_with_the_first_title() {
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
    fn texts_are_plain_and_truncated() {
        assert_eq!(
            plain_text("<p>Tea &amp; 1 < 2<br/>cups</p>", 100).as_deref(),
            Some("Tea &amp; 1 < 2 cups")
        );
        assert_eq!(plain_text("<img src='x'>", 100), None);
        assert_eq!(plain_text("abcdef", 3).as_deref(), Some("abc…"));
        assert_eq!(plain_text("abc", 3).as_deref(), Some("abc"));
    }
}
