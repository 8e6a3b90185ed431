//! Callouts, or admonitions: boxes that note, warn or advise, as documentation generators write them.
//!
//! They become block quotes; those of a kind that GitHub knows begin with its mark, `[!NOTE]`.

use super::OutputContext;
use crate::dom::{Dom, NodeId, Tag};
use crate::text::collapsed;

/// A callout.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Callout {
    /// The kind in GitHub's words; `None` for one it does not know.
    pub(super) kind: Option<&'static str>,
    /// The element that holds the title, and whether it says more than the kind does.
    pub(super) title: Option<(NodeId, bool)>,
}

/// Reads an element as a callout, if its classes say that it is one: GitHub, Docusaurus, Sphinx, MkDocs, Obsidian,
/// Hugo, Microsoft Learn, MDN; quotes of forums that are no `<blockquote>`.
pub(super) fn read(page: OutputContext<'_>, id: NodeId, class: &str) -> Option<Callout> {
    let OutputContext { dom, view, .. } = page;
    let known = class.split_ascii_whitespace().any(|token| {
        matches!(
            token,
            "markdown-alert"
                | "admonition"
                | "theme-admonition"
                | "notecard"
                | "bbcode_quote"
                | "bbCodeBlock--quote"
        ) || matches!(token, "NOTE" | "TIP" | "WARNING" | "IMPORTANT" | "CAUTION")
    });
    let stated = class.contains("callout").then(|| dom.attribute(id, "data-callout")).flatten();
    if !known && stated.is_none() {
        return None;
    }
    let kind = stated.into_iter().chain(class.split_ascii_whitespace()).find_map(kind);
    let title = title_of(dom, id).filter(|&title| !view.is_left_out(title));
    let title = title.map(|title| {
        let text = collapsed(&view.text(dom, title)).to_ascii_lowercase();
        let text = text.trim_end_matches([':', '!', '.']).trim();
        (title, !text.is_empty() && self::kind(text) != kind)
    });
    Some(Callout { kind, title })
}

/// Finds the element that holds the title, near the start.
fn title_of(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let is_title = |inner: NodeId| {
        let class = dom.attribute(inner, "class").unwrap_or_default();
        dom.is(inner, Tag::Summary)
            || class.split_ascii_whitespace().any(|token| {
                let title = token.ends_with("title") || token.starts_with("admonitionHeading");
                title && !token.ends_with("-content-title")
            })
    };
    let marked = dom.descendants(id).skip(1).take(8).find(|&inner| is_title(inner));
    // Microsoft Learn has a first paragraph that repeats the class.
    marked.or_else(|| {
        let first = dom.children(id).find(|&child| dom.tag(child).is_some())?;
        let text: String = dom.descendants(first).take(4).map(|inner| dom.text(inner)).collect();
        (dom.is(first, Tag::P) && kind(text.trim()).is_some()).then_some(first)
    })
}

fn kind(word: &str) -> Option<&'static str> {
    let word = word.trim().to_ascii_lowercase();
    let prefixes = ["markdown-alert-", "theme-admonition-", "callout-", "admonition-", "alert--"];
    let word = prefixes.iter().find_map(|prefix| word.strip_prefix(prefix)).unwrap_or(&word);
    Some(match word {
        "note" | "info" | "information" => "NOTE",
        "tip" | "hint" | "success" => "TIP",
        "important" => "IMPORTANT",
        "warning" | "attention" => "WARNING",
        "caution" | "danger" | "error" | "bug" => "CAUTION",
        _ => return None,
    })
}
