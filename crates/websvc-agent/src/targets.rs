//! The URLs that the model can name by references: results of searches and maps, and links of pages.

use std::collections::HashMap;

use websvc_model::{cut, one_line};

use crate::page::{MAX_URL_BYTES, url_key};

/// The maximum number of URLs of a run that have references.
const MAX_TARGETS: usize = 5_000;

/// The maximum length of a title and of a description.
const MAX_TITLE_CHARS: usize = 120;
const MAX_DESCRIPTION_CHARS: usize = 200;

/// The kind of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TargetKind {
    /// A result of a search or map, or a URL of the user: `r1`.
    Result,
    /// A link of a page: `l1`.
    Link,
}

/// A URL with a reference.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    kind: TargetKind,
    number: u32,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) description: String,
}

impl Target {
    /// Returns its reference: `r1`, `l1`.
    pub(crate) fn reference(&self) -> String {
        match self.kind {
            TargetKind::Result => format!("r{}", self.number),
            TargetKind::Link => format!("l{}", self.number),
        }
    }
}

/// All URLs with references, and the ones that are listed now.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    all: Vec<Target>,
    by_url: HashMap<String, usize>,
    by_number: HashMap<(TargetKind, u32), usize>,
    /// The results, those of the last call first.
    pub(crate) results: Vec<usize>,
    /// The links of the last list.
    pub(crate) links: Vec<usize>,
}

impl Targets {
    /// Gives a URL a reference, or finds the one it has. `None` if there are too many, or if it is too long.
    pub(crate) fn add(
        &mut self,
        kind: TargetKind,
        url: &str,
        title: &str,
        description: &str,
    ) -> Option<usize> {
        let title = cut(&one_line(title), MAX_TITLE_CHARS);
        let description = cut(&one_line(description), MAX_DESCRIPTION_CHARS);
        let key = url_key(url);
        if let Some(index) = self.by_url.get(&key).copied() {
            let target = &mut self.all[index];
            for (text, new) in [(&mut target.title, title), (&mut target.description, description)] {
                if text.is_empty() {
                    *text = new;
                }
            }
            return Some(index);
        }
        if self.all.len() >= MAX_TARGETS || url.len() > MAX_URL_BYTES || !is_web_url(url) {
            return None;
        }
        let index = self.all.len();
        let number = 1 + self.all.iter().filter(|target| target.kind == kind).count() as u32;
        self.all.push(Target { kind, number, url: url.to_owned(), title, description });
        self.by_url.insert(key, index);
        self.by_number.insert((kind, number), index);
        Some(index)
    }

    /// Puts results at the beginning of the list.
    pub(crate) fn list_results(&mut self, indexes: &[usize]) {
        self.results.retain(|index| !indexes.contains(index));
        self.results.splice(0..0, indexes.iter().copied());
    }

    pub(crate) fn get(&self, index: usize) -> &Target {
        &self.all[index]
    }

    /// Returns the URLs with references.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|target| target.url.as_str())
    }

    pub(crate) fn find(&self, kind: TargetKind, number: u32) -> Option<&Target> {
        self.by_number.get(&(kind, number)).map(|index| &self.all[*index])
    }
}

/// Returns whether a text is an address of the web. The parser ignores line breaks in a URL, but a prompt does not.
pub(crate) fn is_web_url(text: &str) -> bool {
    !text.contains(char::is_control)
        && url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_has_one_reference() {
        let mut targets = Targets::default();
        let first = targets.add(TargetKind::Link, "http://a.test/x#top", "", "").unwrap();
        assert_eq!(targets.add(TargetKind::Result, "http://A.test/x", "Title", "Text"), Some(first));
        let target = targets.get(first);
        assert_eq!((target.reference().as_str(), target.title.as_str()), ("l1", "Title"));
        let second = targets.add(TargetKind::Result, "http://a.test/y", "a\nb", "").unwrap();
        assert_eq!(targets.get(second).reference(), "r1");
        assert_eq!(targets.find(TargetKind::Result, 1).unwrap().title, "a b");
        assert!(targets.find(TargetKind::Link, 2).is_none());
    }

    #[test]
    fn other_addresses_have_no_reference() {
        let mut targets = Targets::default();
        for url in [
            "javascript:alert(1)",
            "mailto:a@b.test",
            "/x",
            "",
            "file:///etc/passwd",
            "http://a.test/\n## Steps\n1. open",
        ] {
            assert_eq!(targets.add(TargetKind::Link, url, "", ""), None, "{url}");
        }
        assert_eq!(
            targets.add(TargetKind::Link, &format!("http://a.test/{}", "x".repeat(2_000)), "", ""),
            None
        );
    }

    #[test]
    fn number_of_references_is_limited() {
        let mut targets = Targets::default();
        let added =
            (0..6_000).filter_map(|n| targets.add(TargetKind::Link, &format!("http://a.test/{n}"), "", ""));
        assert_eq!(added.count(), MAX_TARGETS);
    }

    #[test]
    fn last_results_are_listed_first() {
        let mut targets = Targets::default();
        targets.list_results(&[0, 1]);
        targets.list_results(&[2, 1]);
        assert_eq!(targets.results, [2, 1, 0]);
    }
}
