//! Footnotes: which links of a page are references to notes, and which elements are those notes.
//!
//! A reference is a short link within the page (`1`, `[a]`, `*`) that is raised or says by its role, class or target
//! that it refers to a note; its note is the block the link leads to, which stands after it.

use super::OutputContext;
use crate::dom::{Dom, NodeId, Tag};
use crate::links;
use crate::text::starts_with_ignore_case;
use std::collections::{HashMap, HashSet};

/// Longest text of a reference, brackets aside.
const MAX_LABEL_CHARS: usize = 4;

/// The footnotes of a page.
#[derive(Debug, Default)]
pub(super) struct Footnotes {
    references: HashMap<NodeId, String>,
    notes: HashMap<NodeId, String>,
}

impl Footnotes {
    /// Finds the footnotes in the view.
    pub(super) fn find(page: OutputContext<'_>) -> Footnotes {
        let OutputContext { dom, view, .. } = page;
        let links: Vec<(NodeId, &str)> = view
            .nodes(dom)
            .filter(|&id| dom.is(id, Tag::A))
            .filter_map(|id| Some((id, links::fragment_of(dom, id, page.base)?)))
            .filter(|&(id, fragment)| is_reference(page, id, fragment))
            .collect();
        let mut found = Footnotes::default();
        if links.is_empty() {
            return found;
        }
        let wanted: HashSet<&str> = links.iter().map(|&(_, fragment)| fragment).collect();
        let mut targets: HashMap<&str, NodeId> = HashMap::new();
        // The whole page: what a link leads to may be an empty element, which the choice of main content leaves out.
        for id in dom.descendants(NodeId::ROOT) {
            for name in ["id", "name"] {
                if let Some(name) = dom.attribute(id, name).filter(|name| wanted.contains(name)) {
                    targets.entry(name).or_insert(id);
                }
            }
            // Word leaves the ids away, but not the links back: `#_ftnref1` leads back from `_ftn1`.
            let back = dom.attribute(id, "href").and_then(|href| href.split_once("#_ftnref"));
            if let Some((_, number)) = back
                && let Some(name) = wanted.get(format!("_ftn{number}").as_str())
            {
                targets.entry(name).or_insert(id);
            }
        }
        let mut used = HashSet::new();
        for (link, fragment) in links {
            let Some(note) = targets.get(fragment).and_then(|&target| note_of(dom, target)) else { continue };
            // Nodes are numbered in the order they are read: a link back to the text is no reference.
            if note < link || !view.shows(dom, note) || dom.ancestors(link).any(|above| above == note) {
                continue;
            }
            let label = found.notes.entry(note).or_insert_with(|| {
                let shown = bare(&view.text(dom, link)).to_owned();
                let plain = !shown.is_empty() && shown.chars().all(|c| c.is_ascii_alphanumeric());
                let mut label = if plain { shown } else { (used.len() + 1).to_string() };
                while !used.insert(label.clone()) {
                    label.push('a');
                }
                label
            });
            found.references.insert(link, label.clone());
        }
        found
    }

    /// Returns the label of the note a link refers to.
    pub(super) fn reference(&self, link: NodeId) -> Option<&str> {
        self.references.get(&link).map(String::as_str)
    }

    /// Returns the label of the note an element is.
    pub(super) fn note(&self, id: NodeId) -> Option<&str> {
        self.notes.get(&id).map(String::as_str)
    }
}

fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | '^' | '.' | '\u{fe0e}')
    })
}

fn is_reference(page: OutputContext<'_>, link: NodeId, fragment: &str) -> bool {
    let OutputContext { dom, view, .. } = page;
    let text = view.text(dom, link);
    let label = bare(&text);
    if label.is_empty()
        || label.chars().count() > MAX_LABEL_CHARS
        || !label
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '*' | '†' | '‡' | '§') || label.len() <= 2)
        || label.contains(['↩', '↑', '#', '¶'])
    {
        return false;
    }
    let raised = dom.ancestors(link).take(2).any(|above| dom.is(above, Tag::Sup))
        || dom.children(link).any(|child| dom.is(child, Tag::Sup));
    let class = dom.attribute(link, "class").unwrap_or_default();
    raised
        || matches!(dom.attribute(link, "role"), Some("doc-noteref"))
        || dom.attribute(link, "epub:type") == Some("noteref")
        || class.split_ascii_whitespace().any(|name| name.contains("footnote") || name.contains("noteref"))
        || dom.attribute(link, "data-type") == Some("noteref")
        || ["fn", "footnote", "_ftn", "cite_note", "_edn", "endnote", "easy-footnote", "note"]
            .iter()
            .any(|start| starts_with_ignore_case(fragment, start))
}

/// Returns the block that a target stands for: itself, or the one it stands at the start of.
fn note_of(dom: &Dom, target: NodeId) -> Option<NodeId> {
    let is_note = |id: NodeId| {
        matches!(dom.tag(id), Some(Tag::Li | Tag::P | Tag::Div | Tag::Aside | Tag::Dd | Tag::Section))
    };
    std::iter::once(target).chain(dom.ancestors(target).take(3)).find(|&id| is_note(id))
}
