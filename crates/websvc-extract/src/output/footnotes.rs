//! Footnotes: the links of a page that refer to notes, and the elements of these notes.
//!
//! A reference is a short link within the page (`1`, `[a]`, `*`) that is superscript, or whose role, class or target
//! marks it as a reference. Its note is the block that the link points to, which comes after it.

use super::OutputContext;
use crate::dom::{Dom, NodeId, Tag};
use crate::links;
use crate::text::starts_with_ignore_case;
use std::collections::{HashMap, HashSet};

/// Maximum length of the text of a reference, without brackets.
const MAX_LABEL_CHARS: usize = 4;

/// The footnotes of a page.
#[derive(Debug, Default)]
pub(super) struct Footnotes {
    references: HashMap<NodeId, String>,
    notes: HashMap<NodeId, String>,
}

impl Footnotes {
    /// Finds the footnotes in the view.
    pub(super) fn find(context: OutputContext<'_>) -> Footnotes {
        let OutputContext { dom, view, .. } = context;
        let links: Vec<(NodeId, &str)> = view
            .nodes(dom)
            .filter(|&id| dom.is(id, Tag::A))
            .filter_map(|id| Some((id, links::fragment_of(dom, id, context.base)?)))
            .filter(|&(id, fragment)| is_reference(context, id, fragment))
            .collect();
        let mut footnotes = Footnotes::default();
        if links.is_empty() {
            return footnotes;
        }
        let fragments: HashSet<&str> = links.iter().map(|&(_, fragment)| fragment).collect();
        let mut targets: HashMap<&str, NodeId> = HashMap::new();
        // The whole page is searched: the target may be an empty element, which is never selected as main content.
        for id in dom.descendants(NodeId::ROOT) {
            for name in ["id", "name"] {
                if let Some(name) = dom.attribute(id, name).filter(|name| fragments.contains(name)) {
                    targets.entry(name).or_insert(id);
                }
            }
            // Word omits the IDs of notes, but not their back links: `#_ftnref1` is the back link of `_ftn1`.
            let back_link = dom.attribute(id, "href").and_then(|href| href.split_once("#_ftnref"));
            if let Some((_, number)) = back_link
                && let Some(name) = fragments.get(format!("_ftn{number}").as_str())
            {
                targets.entry(name).or_insert(id);
            }
        }
        let mut used_labels = HashSet::new();
        for (link, fragment) in links {
            let Some(note) = targets.get(fragment).and_then(|&target| note_of(dom, target)) else { continue };
            // Nodes are numbered in document order: a back link to the text is not a reference.
            if note < link
                || !view.contains(dom, note)
                || dom.ancestors(link).any(|ancestor| ancestor == note)
            {
                continue;
            }
            let label = footnotes.notes.entry(note).or_insert_with(|| {
                let text = without_brackets(&view.text(dom, link)).to_owned();
                let is_plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
                let mut label = if is_plain { text } else { (used_labels.len() + 1).to_string() };
                while !used_labels.insert(label.clone()) {
                    label.push('a');
                }
                label
            });
            footnotes.references.insert(link, label.clone());
        }
        footnotes
    }

    /// Returns the label of the note that a link refers to.
    pub(super) fn reference(&self, link: NodeId) -> Option<&str> {
        self.references.get(&link).map(String::as_str)
    }

    /// Returns the label of a note, if the element is one.
    pub(super) fn note(&self, id: NodeId) -> Option<&str> {
        self.notes.get(&id).map(String::as_str)
    }
}

fn without_brackets(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | '^' | '.' | '\u{fe0e}')
    })
}

fn is_reference(context: OutputContext<'_>, link: NodeId, fragment: &str) -> bool {
    let OutputContext { dom, view, .. } = context;
    let text = view.text(dom, link);
    let label = without_brackets(&text);
    if label.is_empty()
        || label.chars().count() > MAX_LABEL_CHARS
        || !label
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '*' | '†' | '‡' | '§') || label.len() <= 2)
        || label.contains(['↩', '↑', '#', '¶'])
    {
        return false;
    }
    let is_superscript = dom.ancestors(link).take(2).any(|ancestor| dom.is(ancestor, Tag::Sup))
        || dom.children(link).any(|child| dom.is(child, Tag::Sup));
    let class = dom.attribute(link, "class").unwrap_or_default();
    is_superscript
        || matches!(dom.attribute(link, "role"), Some("doc-noteref"))
        || dom.attribute(link, "epub:type") == Some("noteref")
        || class.split_ascii_whitespace().any(|name| name.contains("footnote") || name.contains("noteref"))
        || dom.attribute(link, "data-type") == Some("noteref")
        || ["fn", "footnote", "_ftn", "cite_note", "_edn", "endnote", "easy-footnote", "note"]
            .iter()
            .any(|prefix| starts_with_ignore_case(fragment, prefix))
}

/// Returns the note of a link target: the block itself, or the block at whose start the target is.
fn note_of(dom: &Dom, target: NodeId) -> Option<NodeId> {
    let is_note = |id: NodeId| {
        matches!(dom.tag(id), Some(Tag::Li | Tag::P | Tag::Div | Tag::Aside | Tag::Dd | Tag::Section))
    };
    std::iter::once(target).chain(dom.ancestors(target).take(3)).find(|&id| is_note(id))
}
