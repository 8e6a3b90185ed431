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
    let (mut named, mut numbered) = (Vec::new(), Vec::new());
    for &id in order.iter().filter(|&&id| dom.is(id, Tag::A)) {
        let href = dom.attribute(id, "href").unwrap_or_default();
        if !has_page_number(href) {
            continue;
        }
        let Some(label) = label(dom, view, id) else { continue };
        let step = links::resolve(&document.base, href).and_then(|url| step(&document.url, &url));
        match (label, step) {
            (_, None) => {}
            (Label::Next, Some(_)) => named.push(id),
            (Label::Number(label), Some(Step { from, to })) => {
                if label == to && to == from.unwrap_or(1) + 1 {
                    numbered.push(id);
                }
            }
        }
    }
    if named.is_empty() { numbered } else { named }
}

/// Returns whether a relative or absolute URL may have a page number. Resolving all links would be expensive.
fn has_page_number(href: &str) -> bool {
    let href = href.trim().split('#').next().unwrap_or_default();
    let (path, query) = href.split_once('?').unwrap_or((href, ""));
    let numbers_a_page =
        |pair: &str| pair.split_once('=').is_some_and(|(name, value)| is_page(name) && is_number(value));
    split_path(path).1.is_some() || query.split('&').any(numbers_a_page)
}

/// Returns whether a parameter numbers the pages of a list.
fn is_page(parameter: &str) -> bool {
    PAGE_PARAMETERS.iter().any(|name| name.eq_ignore_ascii_case(parameter))
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
    let is_next = |rel: &str| rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("next"));
    if dom.attribute(link, "rel").is_some_and(is_next) {
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

/// The page numbers in the URLs of the page and of a link. Most first pages have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    from: Option<u32>,
    to: u32,
}

/// Returns the page numbers if a URL is that of the page with a larger page number.
fn step(page: &Url, target: &Url) -> Option<Step> {
    if page.host_str() != target.host_str() {
        return None;
    }
    let step = if page.path().trim_end_matches('/') == target.path().trim_end_matches('/') {
        step_of_query(page, target)?
    } else {
        step_of_path(page, target)?
    };
    (step.to > step.from.unwrap_or(0)).then_some(step)
}

/// Compares the queries of two URLs with the same path: a parameter with a number changes or is added, the others stay.
fn step_of_query(page: &Url, target: &Url) -> Option<Step> {
    let number = |url: &Url, name: &str| {
        let value = url.query_pairs().find(|(other, _)| other == name)?.1;
        is_number(&value).then(|| value.parse().ok())?
    };
    let mut changed = target.query_pairs().filter(|pair| !page.query_pairs().any(|other| other == *pair));
    let (name, _) = changed.find(|(name, _)| is_page(name))?;
    Some(Step { from: number(page, &name), to: number(target, &name)? })
}

/// Compares two paths that differ in the number at their end: `/list/2`, `/list/page/2`, `/list_2.html`.
fn step_of_path(page: &Url, target: &Url) -> Option<Step> {
    let (stem, to) = split_path(target.path());
    let to = to?;
    let own = page.path().trim_end_matches('/');
    let (own_stem, from) = split_path(own);
    let extension = |path: &str| path.rsplit('/').next().and_then(|name| name.rfind('.')).is_some();
    // `/list.html` and `/list_2.html`, or a folder and `/folder/index_2.html`.
    let is_same = if own_stem == stem {
        true
    } else {
        own == stem || extension(target.path()) && stem.strip_suffix("/index") == Some(own)
    };
    let from = if own == stem { None } else { from };
    is_same.then_some(Step { from, to })
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
        assert_eq!(step(&url(page), &url(target)), expected, "{page} to {target}");
    }

    #[test]
    fn larger_number_in_the_same_url_is_a_later_page() {
        check("/shop", "/shop?page=2", Some((None, 2)));
        check("/shop?page=2&sort=price", "/shop?sort=price&page=3", Some((Some(2), 3)));
        check("/list?start=25", "/list?start=50", Some((Some(25), 50)));
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
