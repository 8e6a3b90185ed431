//! Finds the link to the next page of a list or of an article in parts.
//!
//! Readers who collect a list need it, and the model rejects it, because it is in a navigation. Only links whose URL is
//! that of the page with a larger page number count: a link to the next post or chapter leads to other content.

use crate::content_view::ContentView;
use crate::document::Document;
use crate::dom::{Dom, NodeId, Tag};
use crate::links;
use url::Url;

/// Maximum length of the text of such a link.
const MAX_TEXT_BYTES: usize = 48;

/// Maximum number of words of such a link.
const MAX_WORDS: usize = 4;

/// Page numbers in paths are below this value. Larger numbers are IDs, years above all.
const MAX_PATH_NUMBER: u32 = 1000;

/// Words with which the text of such a link begins: alone, or after "load", "show" or "page".
const NEXT_WORDS: [&str; 34] = [
    "next",
    "older",
    "more",
    "weiter",
    "weitere",
    "nächste",
    "ältere",
    "mehr",
    "suivant",
    "suivante",
    "suivants",
    "siguiente",
    "siguientes",
    "más",
    "próxima",
    "próximo",
    "seguinte",
    "avanti",
    "successiva",
    "successivo",
    "volgende",
    "nästa",
    "neste",
    "næste",
    "seuraava",
    "następna",
    "następne",
    "dalej",
    "další",
    "следующая",
    "далее",
    "sonraki",
    "下一页",
    "次へ",
];

/// Words before the number of a page, in a path and in the text of a link.
const PAGE_WORDS: [&str; 9] = ["page", "pages", "pg", "p", "seite", "pagina", "página", "sida", "strona"];

/// Parameters of a query that number the pages or the entries of a list.
const PAGE_PARAMETERS: [&str; 18] = [
    "page",
    "p",
    "pg",
    "pn",
    "paged",
    "pageno",
    "page_no",
    "pagenum",
    "pagenumber",
    "page_number",
    "currentpage",
    "start",
    "offset",
    "from",
    "skip",
    "seite",
    "pagina",
    "startindex",
];

/// Returns the links to the next page among the nodes of a view: those that say so, otherwise those with the next number.
/// Both the nodes and the links are in document order.
pub(super) fn links(document: &Document, view: &ContentView, order: &[NodeId]) -> Vec<NodeId> {
    let dom = &document.dom;
    let page = PageUrl::new(&document.url);
    let (mut named, mut numbered) = (Vec::new(), Vec::new());
    for &id in order.iter().filter(|&&id| dom.is(id, Tag::A)) {
        let href = dom.attribute(id, "href").unwrap_or_default();
        if !has_page_number(href) {
            continue;
        }
        let Some(label) = label(dom, view, id) else { continue };
        let step = links::resolve(&document.base, href).and_then(|url| page.step_to(&url));
        let Some(Step { from, to }) = step else { continue };
        match label {
            Label::Next => named.push((to, id)),
            Label::Number(label) => {
                if label == to && to == from.unwrap_or(1) + 1 {
                    numbered.push(id);
                }
            }
        }
    }
    // In a pager such as `› »`, the second link leads to the last page.
    let Some(nearest) = named.iter().map(|&(to, _)| to).min() else { return numbered };
    named.into_iter().filter(|&(to, _)| to == nearest).map(|(_, id)| id).collect()
}

/// Returns whether a relative or absolute URL may have a page number. Resolving all links would be expensive.
fn has_page_number(href: &str) -> bool {
    let href = href.trim().split('#').next().unwrap_or_default();
    let (path, query) = href.split_once('?').unwrap_or((href, ""));
    let numbers_a_page = |pair: &str| {
        pair.split_once('=').is_some_and(|(name, value)| page_parameter(name).is_some() && is_number(value))
    };
    split_path(path).1.is_some() || query.split('&').any(numbers_a_page)
}

/// Returns the listed name of a parameter that numbers the pages of a list.
fn page_parameter(name: &str) -> Option<&'static str> {
    PAGE_PARAMETERS.into_iter().find(|listed| listed.eq_ignore_ascii_case(name))
}

/// The meaning of the text of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Next,
    Number(u32),
}

/// Reads the label of a link. `None` if it has no text, or a text that means something else.
fn label(dom: &Dom, view: &ContentView, link: NodeId) -> Option<Label> {
    let text = view.text_up_to(dom, link, MAX_TEXT_BYTES);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if dom.has_word(link, "rel", "next") {
        return Some(Label::Next);
    }
    label_of(text)
}

fn label_of(text: &str) -> Option<Label> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS + 1)
        .collect();
    match words.as_slice() {
        [] => text.contains(['→', '›', '»', '>', '▶', '❯', '⟩']).then_some(Label::Next),
        [number] | [_, number] if is_number(number) => {
            let is_page = words.len() == 1 || PAGE_WORDS.contains(&words[0]);
            number.parse().ok().filter(|_| is_page).map(Label::Number)
        }
        [first, ..] if words.len() <= MAX_WORDS => {
            let is_prefix = matches!(*first, "load" | "show" | "view" | "see" | "page" | "página" | "pagina");
            let word = if is_prefix { words.get(1)? } else { first };
            NEXT_WORDS.contains(word).then_some(Label::Next)
        }
        _ => None,
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse_number(value: &str) -> Option<u32> {
    if is_number(value) { value.parse().ok() } else { None }
}

/// The page numbers in the URLs of the page and of a link. Most first pages have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    from: Option<u32>,
    to: u32,
}

/// The parts of the URL of the page that links are compared with. They are read once, because the URL may be long and the
/// page may have many links.
#[derive(Debug)]
struct PageUrl<'a> {
    host: Option<&'a str>,
    path: &'a str,
    /// The path without its page number.
    stem: &'a str,
    number: Option<u32>,
    /// The first value of each parameter in `PAGE_PARAMETERS`.
    parameters: Vec<(&'static str, Option<u32>)>,
}

impl<'a> PageUrl<'a> {
    fn new(url: &'a Url) -> PageUrl<'a> {
        let path = url.path().trim_end_matches('/');
        let (stem, number) = split_path(path);
        let mut parameters: Vec<(&'static str, Option<u32>)> = Vec::new();
        for (name, value) in url.query_pairs() {
            if let Some(name) = page_parameter(&name)
                && !parameters.iter().any(|&(known, _)| known == name)
            {
                parameters.push((name, parse_number(&value)));
            }
        }
        PageUrl { host: url.host_str(), path, stem, number, parameters }
    }

    /// Returns the page numbers if a URL is that of the page with a larger page number.
    fn step_to(&self, target: &Url) -> Option<Step> {
        if self.host != target.host_str() {
            return None;
        }
        let path = target.path().trim_end_matches('/');
        let step = if path == self.path { self.step_of_query(target) } else { self.step_of_path(path) };
        step.filter(|step| step.to > step.from.unwrap_or(0))
    }

    /// Finds the first page number that is added or changes in the query of a URL with the same path. Other parameters are
    /// not compared, because the links of a pager may add some, such as the default order.
    fn step_of_query(&self, target: &Url) -> Option<Step> {
        let step = |name: &str, value: &str| {
            let (name, to) = (page_parameter(name)?, parse_number(value)?);
            let from = self.parameters.iter().find(|(own, _)| *own == name).and_then(|&(_, from)| from);
            (from != Some(to)).then_some(Step { from, to })
        };
        target.query_pairs().find_map(|(name, value)| step(&name, &value))
    }

    /// Compares two paths that differ in the number at their end: `/list/2`, `/list/page/2`, `/list_2.html`.
    fn step_of_path(&self, path: &str) -> Option<Step> {
        let (stem, to) = split_path(path);
        let to = to?;
        // `/list.html` and `/list_2.html`, or a folder and `/folder/index_2.html`.
        let is_first =
            self.path == stem || has_extension(path) && stem.strip_suffix("/index") == Some(self.path);
        let is_same = is_first || self.stem == stem;
        let from = if self.path == stem { None } else { self.number };
        is_same.then_some(Step { from, to })
    }
}

fn has_extension(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

/// Splits the page number from the end of a path.
fn split_path(path: &str) -> (&str, Option<u32>) {
    let path = path.trim_end_matches('/');
    let name_start = path.rfind('/').map_or(0, |at| at + 1);
    let end = path[name_start..].find('.').map_or(path.len(), |at| name_start + at);
    let stem = &path[..end];
    let before = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let Some(number) = stem[before.len()..].parse().ok().filter(|&number| number < MAX_PATH_NUMBER) else {
        return (stem, None);
    };
    let before = before.trim_end_matches(['/', '-', '_']);
    let word_start = before.rfind(['/', '-', '_']).map_or(0, |at| at + 1);
    let is_page_word = PAGE_WORDS.contains(&before[word_start..].to_ascii_lowercase().as_str());
    let rest = if is_page_word { before[..word_start].trim_end_matches(['/', '-', '_']) } else { before };
    (rest, Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, target: &str, expected: Option<(Option<u32>, u32)>) {
        let url = |path: &str| Url::parse("https://example.com").unwrap().join(path).unwrap();
        let expected = expected.map(|(from, to)| Step { from, to });
        assert_eq!(PageUrl::new(&url(page)).step_to(&url(target)), expected, "{page} to {target}");
    }

    #[test]
    fn long_query_of_the_page_is_reduced_to_one_value_per_parameter() {
        let query = "page=1&PAGE=2&color=red&page=3&start=x&".repeat(1_000);
        let page = Url::parse(&format!("https://example.com/list?{query}")).unwrap();
        assert_eq!(PageUrl::new(&page).parameters, [("page", Some(1)), ("start", None)]);
    }

    #[test]
    fn larger_number_in_the_same_url_is_a_later_page() {
        check("/shop", "/shop?page=2", Some((None, 2)));
        check("/shop?page=2&sort=price", "/shop?sort=price&page=3", Some((Some(2), 3)));
        check("/list?start=25", "/list?start=50", Some((Some(25), 50)));
        check("/list?from=home&page=1", "/list?from=home&page=2", Some((Some(1), 2)));
        check("/blog/", "/blog/page/2/", Some((None, 2)));
        check("/blog/page/2/", "/blog/page/3/", Some((Some(2), 3)));
        check("/openings/1", "/openings/2", Some((Some(1), 2)));
        check("/threads/kettles.17/", "/threads/kettles.17/page-2", Some((None, 2)));
        check("/list.html", "/list_2.html", Some((None, 2)));
        check("/list_2.html", "/list_3.html", Some((Some(2), 3)));
        check("/news/", "/news/index_2.html", Some((None, 2)));
        check("/", "/page/2", Some((None, 2)));
        check("/", "/?p=2", Some((None, 2)));
    }

    #[test]
    fn other_content_is_not_a_later_page() {
        check("/shop?page=2", "/shop?page=1", None);
        check("/shop?page=2", "/shop?page=2", None);
        check("/shop", "/shop?color=12", None);
        check("/viewtopic?t=17", "/viewtopic?t=18", None);
        check("/post/4711", "/post/4712", None);
        check("/kettles", "/cups?page=2", None);
        check("/kettles", "https://other.example/kettles?page=2", None);
        check("/news/a-kettle", "/news/a-cup", None);
    }

    #[test]
    fn label_says_next_or_has_a_number() {
        for text in
            ["Next", "Next page »", "Older posts", "Load more", "›", "Nächste Seite", "Page suivante", "次へ"]
        {
            assert_eq!(label_of(text), Some(Label::Next), "{text}");
        }
        for (text, number) in [("2", 2), ("Page 3", 3), ("Seite 4", 4)] {
            assert_eq!(label_of(text), Some(Label::Number(number)), "{text}");
        }
        for text in ["Previous", "Chapter 2", "12 kettles", "Read the next one of our stories", "« Newer"] {
            assert_eq!(label_of(text), None, "{text}");
        }
    }
}
