//! Footnotes: the links of a page that refer to notes, the elements of these notes, and notes inside the text.
//!
//! A reference is a short link within the page (`1`, `[a]`, `*`) that is superscript, or whose role, class or target
//! marks it as a reference. Its note is the block that the link points to, which comes after it, or a part of that
//! block, if it has several notes. A note inside the text is an element that its type, role or class marks as one.

use super::OutputContext;
use crate::dom::{Dom, NodeId, Tag};
use crate::links;
use crate::text::starts_with_ignore_case;
use html5ever::local_name;
use std::collections::{HashMap, HashSet};

/// Maximum length of the text of a reference, without brackets.
const MAX_LABEL_CHARS: usize = 4;

/// Maximum length of the label before the target of a note, in bytes.
const MAX_LEAD_BYTES: usize = 8;

/// Maximum number of nodes of all blocks with several notes.
const MAX_SHARED_NODES: usize = 200_000;

/// Number of children of an element in which the text around a note is searched.
const MAX_SIBLINGS: usize = 64;

/// Minimum length of a note inside the text that only the class `footnote` marks, in bytes. References have it, too.
const MIN_INLINE_BYTES: usize = 12;

/// The footnotes of a page.
#[derive(Debug, Default)]
pub(super) struct Footnotes {
    references: HashMap<NodeId, String>,
    /// Notes that are a block.
    notes: HashMap<NodeId, String>,
    /// Blocks with several notes, and the nodes that these begin with.
    shared_blocks: HashSet<NodeId>,
    starts: HashMap<NodeId, String>,
    inline_notes: HashMap<NodeId, InlineNote>,
}

/// A note inside the text.
#[derive(Debug)]
pub(super) struct InlineNote {
    pub(super) label: String,
    /// True if a link in the text refers to it.
    pub(super) has_reference: bool,
    /// True if it repeats the note of the reference before it.
    pub(super) is_copy: bool,
}

/// A reference and its target.
#[derive(Debug, Clone, Copy)]
struct Reference {
    link: NodeId,
    target: NodeId,
    /// The block of the note, or the note inside the text.
    note: NodeId,
}

impl Footnotes {
    /// Finds the footnotes of a page with these links and with these elements inside lines.
    pub(super) fn find(context: OutputContext<'_>, anchors: &[NodeId], spans: &[NodeId]) -> Footnotes {
        let OutputContext { dom, base, .. } = context;
        let reference = |&id: &NodeId| {
            let fragment = links::fragment_of(dom, id, base)?;
            is_reference(context, id, fragment).then_some((id, fragment))
        };
        let links: Vec<(NodeId, &str)> = anchors.iter().filter_map(reference).collect();
        let inline_notes: Vec<NodeId> =
            spans.iter().copied().filter(|&id| is_inline_note(context, id)).collect();
        let mut footnotes = Footnotes::default();
        if links.is_empty() && inline_notes.is_empty() {
            return footnotes;
        }
        let references = resolve(context, &links, &inline_notes);
        footnotes.label(context, &references, &inline_notes);
        footnotes
    }

    /// Gives each note a label.
    fn label(&mut self, context: OutputContext<'_>, references: &[Reference], inline_notes: &[NodeId]) {
        let OutputContext { dom, view, .. } = context;
        let parts = self.split_blocks(context, references);
        let mut labels: HashMap<NodeId, String> = HashMap::new();
        let mut used = HashSet::new();
        for &Reference { link, target, note } in references {
            let key = parts.get(&target).copied().unwrap_or(note);
            let label = labels.entry(key).or_insert_with(|| {
                let text = without_brackets(&view.text(dom, link)).to_owned();
                let is_plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
                let mut label = if is_plain { text } else { (used.len() + 1).to_string() };
                while !used.insert(label.clone()) {
                    label.push('a');
                }
                label
            });
            self.references.insert(link, label.clone());
        }
        let mut number = 0_usize;
        for &note in inline_notes {
            let label = labels.remove(&note);
            let has_reference = label.is_some();
            let label = label.unwrap_or_else(|| {
                loop {
                    number += 1;
                    if used.insert(number.to_string()) {
                        return number.to_string();
                    }
                }
            });
            let is_copy = !has_reference && self.follows_reference(dom, note);
            self.inline_notes.insert(note, InlineNote { label, has_reference, is_copy });
        }
        let starts: HashSet<NodeId> = parts.into_values().collect();
        for (key, label) in labels {
            let notes = if starts.contains(&key) { &mut self.starts } else { &mut self.notes };
            notes.insert(key, label);
        }
    }

    /// Returns whether the text before a note ends with a reference.
    fn follows_reference(&self, dom: &Dom, note: NodeId) -> bool {
        let mut before = dom.previous_sibling(note);
        while let Some(id) = before.filter(|&id| dom.text(id).trim().is_empty()) {
            let last = dom.descendants(id).take(4).find(|inner| self.references.contains_key(inner));
            if last.is_some() || dom.tag(id).is_some_and(|tag| !matches!(tag, Tag::Label | Tag::Input)) {
                return last.is_some();
            }
            before = dom.previous_sibling(id);
        }
        false
    }

    /// Finds the blocks with several notes, and returns the first node of the note of each target in them.
    fn split_blocks(
        &mut self,
        context: OutputContext<'_>,
        references: &[Reference],
    ) -> HashMap<NodeId, NodeId> {
        let mut targets: HashMap<NodeId, HashSet<NodeId>> = HashMap::new();
        for reference in references {
            targets.entry(reference.note).or_default().insert(reference.target);
        }
        let mut parts = HashMap::new();
        let mut remaining = MAX_SHARED_NODES;
        for (block, targets) in targets.into_iter().filter(|(_, targets)| targets.len() > 1) {
            let starts = starts_in(context, block, &targets, &mut remaining);
            let distinct: HashSet<NodeId> = starts.iter().map(|&(_, start)| start).collect();
            if distinct.len() > 1 {
                self.shared_blocks.insert(block);
                parts.extend(starts);
            }
        }
        parts
    }

    /// Returns the label of the note that a link refers to.
    pub(super) fn reference(&self, link: NodeId) -> Option<&str> {
        self.references.get(&link).map(String::as_str)
    }

    /// Returns the label of a note, if the element is one.
    pub(super) fn note(&self, id: NodeId) -> Option<&str> {
        self.notes.get(&id).map(String::as_str)
    }

    /// Returns whether an element has several notes.
    pub(super) fn is_shared(&self, id: NodeId) -> bool {
        self.shared_blocks.contains(&id)
    }

    /// Returns the label of the note that begins with a node of a block with several notes.
    pub(super) fn start(&self, id: NodeId) -> Option<&str> {
        if self.starts.is_empty() { None } else { self.starts.get(&id).map(String::as_str) }
    }

    /// Returns the note inside the text that an element is.
    pub(super) fn inline_note(&self, id: NodeId) -> Option<&InlineNote> {
        self.inline_notes.get(&id)
    }
}

/// Finds the notes of links. A link without a note is not a reference.
fn resolve(context: OutputContext<'_>, links: &[(NodeId, &str)], inline_notes: &[NodeId]) -> Vec<Reference> {
    let OutputContext { dom, view, .. } = context;
    if links.is_empty() {
        return Vec::new();
    }
    let targets = targets(dom, links);
    let inline_notes: HashSet<NodeId> = inline_notes.iter().copied().collect();
    let reference = |&(link, fragment): &(NodeId, &str)| {
        let &target = targets.get(fragment)?;
        let near = std::iter::once(target).chain(dom.ancestors(target).take(2));
        if let Some(note) = near.into_iter().find(|id| inline_notes.contains(id)) {
            return Some(Reference { link, target, note });
        }
        let note = note_of(dom, target)?;
        // Nodes are numbered in document order: a back link to the text is not a reference.
        let is_note =
            note > link && view.contains(dom, note) && dom.ancestors(link).all(|ancestor| ancestor != note);
        is_note.then_some(Reference { link, target, note })
    };
    links.iter().filter_map(reference).collect()
}

/// Finds the elements that links within the page point to.
fn targets<'a>(dom: &'a Dom, links: &[(NodeId, &'a str)]) -> HashMap<&'a str, NodeId> {
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
    targets
}

/// Returns for each target in a block the node that its note begins with: the target, or its label before it on the
/// same line. Targets without text between them have one note.
fn starts_in(
    context: OutputContext<'_>,
    block: NodeId,
    targets: &HashSet<NodeId>,
    remaining: &mut usize,
) -> Vec<(NodeId, NodeId)> {
    let OutputContext { dom, view, .. } = context;
    let mut starts: Vec<(NodeId, NodeId)> = Vec::new();
    let (mut bytes, mut line): (usize, Option<(NodeId, usize)>) = (0, None);
    // A target without content is not in the view: its note begins with the next text.
    let mut pending: Vec<NodeId> = Vec::new();
    for id in dom.descendants(block) {
        if *remaining == 0 {
            break;
        }
        *remaining -= 1;
        if dom.is(id, Tag::Br) {
            line = None;
        }
        if targets.contains(&id) {
            let lead = line.filter(|&(_, bytes)| bytes <= MAX_LEAD_BYTES);
            let lead_bytes = lead.map_or(0, |(_, bytes)| bytes);
            match (starts.last(), lead) {
                (Some(&(_, last)), _) if bytes <= lead_bytes => starts.push((id, last)),
                (_, Some((text, _))) => starts.push((id, around_label(context, block, text))),
                _ if view.contains(dom, id) => starts.push((id, id)),
                _ => pending.push(id),
            }
            bytes = 0;
        }
        let text = dom.text(id).trim();
        if !text.is_empty() && view.contains(dom, id) {
            starts.extend(pending.drain(..).map(|target| (target, id)));
            bytes += text.len();
            line = Some(line.map_or((id, text.len()), |(first, bytes)| (first, bytes + text.len())));
        }
    }
    starts
}

/// Returns the outermost element below a block that has only the label of a note.
fn around_label(context: OutputContext<'_>, block: NodeId, label: NodeId) -> NodeId {
    let OutputContext { dom, view, .. } = context;
    let is_label = |&id: &NodeId| {
        id != block
            && !dom.tag(id).is_some_and(Tag::is_block)
            && view.text_up_to(dom, id, MAX_LEAD_BYTES + 1).len() <= MAX_LEAD_BYTES
    };
    dom.ancestors(label).take_while(is_label).last().unwrap_or(label)
}

/// Removes the brackets and the punctuation around the label of a note.
pub(super) fn without_brackets(text: &str) -> &str {
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
    is_superscript
        || matches!(dom.attribute(link, "role"), Some("doc-noteref"))
        || dom.attribute(link, "epub:type") == Some("noteref")
        || dom.has_class(link, |name| name.contains("footnote") || name.contains("noteref"))
        || dom.attribute(link, "data-type") == Some("noteref")
        || ["fn", "footnote", "_ftn", "cite_note", "_edn", "endnote", "easy-footnote", "note"]
            .iter()
            .any(|prefix| starts_with_ignore_case(fragment, prefix))
}

/// Returns whether an element inside a line is a note, as in HTMLBook, EPUB and Tufte CSS.
fn is_inline_note(context: OutputContext<'_>, id: NodeId) -> bool {
    let OutputContext { dom, view, .. } = context;
    let (mut is_note, mut may_be_note) = (false, false);
    for (name, value) in dom.named_attributes(id) {
        if *name == local_name!("class") {
            for token in value.split_ascii_whitespace() {
                is_note |= matches!(
                    token,
                    "sidenote"
                        | "marginnote"
                        | "side-note"
                        | "margin-note"
                        | "inline-footnote"
                        | "footnote-inline"
                );
                may_be_note |= matches!(token, "footnote" | "footnote-text" | "footnote-content");
            }
        } else {
            is_note |= matches!(
                (&**name, value),
                ("data-type" | "epub:type", "footnote") | ("role", "doc-footnote")
            );
        }
    }
    if !is_note && !may_be_note {
        return false;
    }
    let text = view.text_up_to(dom, id, MIN_INLINE_BYTES * 2);
    let is_long = text.len() >= MIN_INLINE_BYTES && text.contains(' ');
    let is_only_link =
        dom.children(id).all(|child| dom.is(child, Tag::A) || dom.text(child).trim().is_empty());
    // A line of its own is a note at the end of the text, not inside of it.
    let mut inner = id;
    let mut is_inside_text = false;
    for above in dom.ancestors(id).take(4) {
        let mut others = dom.children(above).take(MAX_SIBLINGS).filter(|&child| child != inner);
        is_inside_text |= !dom.is(above, Tag::Body) && others.any(|child| view.has_text(dom, child));
        if dom.tag(above).is_none_or(Tag::is_block) {
            break;
        }
        inner = above;
    }
    !text.is_empty() && is_inside_text && (is_note || is_long && !is_only_link)
}

/// Returns the note of a link target: the block itself, or the block at whose start the target is.
fn note_of(dom: &Dom, target: NodeId) -> Option<NodeId> {
    let is_note = |id: NodeId| {
        matches!(dom.tag(id), Some(Tag::Li | Tag::P | Tag::Div | Tag::Aside | Tag::Dd | Tag::Section))
    };
    std::iter::once(target).chain(dom.ancestors(target).take(3)).find(|&id| is_note(id))
}
