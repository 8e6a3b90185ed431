//! Callouts, or admonitions: boxes with a note, a tip or a warning, as documentation generators write them.
//!
//! They become block quotes. A kind that GitHub knows begins with its marker, `[!NOTE]`.

use super::OutputContext;
use crate::dom::{Dom, NodeId, Tag};
use crate::text::collapsed;

/// A callout.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Callout {
    /// The kind in GitHub's words, `None` for a kind that GitHub does not know.
    pub(super) kind: Option<&'static str>,
    /// The title, if there is one.
    pub(super) title: Option<CalloutTitle>,
}

/// The title of a callout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CalloutTitle {
    pub(super) element: NodeId,
    /// True if the title says more than the kind.
    pub(super) differs_from_kind: bool,
}

/// Reads an element as a callout, if its classes mark it as one: of GitHub, Docusaurus, Sphinx, MkDocs, Obsidian, Hugo,
/// Microsoft Learn, MDN, and quotes of forums that are not a `<blockquote>`.
pub(super) fn read(context: OutputContext<'_>, id: NodeId, class: &str) -> Option<Callout> {
    let OutputContext { dom, view, .. } = context;
    let has_callout_class = class.split_ascii_whitespace().any(|token| {
        matches!(
            token,
            "markdown-alert"
                | "admonition"
                | "theme-admonition"
                | "notecard"
                | "bbcode_quote"
                | "bbCodeBlock--quote"
        ) || matches!(token, "NOTE" | "TIP" | "WARNING" | "IMPORTANT" | "CAUTION")
            || token.starts_with("markdown-alert-")
    });
    let data_callout = class.contains("callout").then(|| dom.attribute(id, "data-callout")).flatten();
    if !has_callout_class && data_callout.is_none() {
        return None;
    }
    let kind = data_callout.into_iter().chain(class.split_ascii_whitespace()).find_map(kind);
    let title = title_of(dom, id).filter(|&title| !view.is_excluded(title));
    let title = title.map(|element| {
        let text = collapsed(&view.text(dom, element)).to_ascii_lowercase();
        let text = text.trim_end_matches([':', '!', '.']).trim();
        CalloutTitle { element, differs_from_kind: !text.is_empty() && self::kind(text) != kind }
    });
    Some(Callout { kind, title })
}

/// Finds the element of the title near the start.
fn title_of(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let is_title = |element: NodeId| {
        dom.is(element, Tag::Summary)
            || dom.has_class(element, |token| {
                let is_title = token.ends_with("title") || token.starts_with("admonitionHeading");
                is_title && !token.ends_with("-content-title")
            })
    };
    let with_class = dom.descendants(id).skip(1).take(8).find(|&element| is_title(element));
    // Microsoft Learn has a first paragraph that repeats the class.
    with_class.or_else(|| {
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
