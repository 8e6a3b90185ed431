//! Writes footnotes: the notes without their own labels and back links.

use super::OutputContext;
use super::footnotes::without_brackets;
use super::lines::BlockSeparator;
use super::markdown::{OwnLabel, SharedBlock, Writer};
use crate::dom::NodeId;

impl Writer<'_> {
    /// Writes a footnote outside the list that it is an item of.
    pub(super) fn note(&mut self, id: NodeId) {
        let Some(label) = self.footnotes.note(id).map(str::to_owned) else { return };
        self.flush();
        self.note_with_label(id, label);
    }

    fn note_with_label(&mut self, id: NodeId, label: String) {
        self.lines.open(&format!("[^{label}]: "), "    ");
        let outer = (std::mem::replace(&mut self.in_item, false), std::mem::replace(&mut self.in_note, true));
        self.own_label = Some(OwnLabel { is_apart: self.begins_with(id, &label), label });
        self.children(id);
        self.flush();
        self.own_label = None;
        (self.in_item, self.in_note) = outer;
        self.lines.close();
        self.lines.separate(BlockSeparator::Blank);
    }

    /// Returns whether the first text of an element is the label of a note.
    fn begins_with(&self, id: NodeId, label: &str) -> bool {
        let OutputContext { dom, view, .. } = self.context;
        let mut texts = view.below(dom, id).take(50).map(|inner| dom.text(inner).trim());
        texts.find(|text| !text.is_empty()).is_some_and(|text| without_brackets(text) == label)
    }

    /// Writes a block with several notes.
    pub(super) fn shared_block(&mut self, id: NodeId) {
        self.flush();
        let block = SharedBlock { depth: self.lines.depth(), is_in_note: false };
        let outer = self.shared_block.replace(block);
        let outer_state = (self.in_item, self.in_note);
        self.children(id);
        self.flush();
        self.end_shared_note();
        self.shared_block = outer;
        (self.in_item, self.in_note) = outer_state;
    }

    /// Begins a note of a block with several notes, unless something inside the block is open.
    pub(super) fn begin_shared_note(&mut self, id: NodeId) {
        let Some(label) = self.footnotes.start(id).map(str::to_owned) else { return };
        let Some(block) = self.shared_block else { return };
        if self.flat > 0 || self.lines.depth() != block.depth + usize::from(block.is_in_note) {
            return;
        }
        self.flush();
        self.end_shared_note();
        self.lines.open(&format!("[^{label}]: "), "    ");
        (self.in_item, self.in_note) = (false, true);
        self.shared_block = Some(SharedBlock { is_in_note: true, ..block });
        self.own_label = Some(OwnLabel { is_apart: self.begins_with(id, &label), label });
    }

    fn end_shared_note(&mut self) {
        if let Some(block) = &mut self.shared_block
            && std::mem::take(&mut block.is_in_note)
        {
            self.own_label = None;
            self.lines.close();
            self.lines.separate(BlockSeparator::Blank);
        }
    }

    /// Writes the reference to a note inside the text. The note follows after the block.
    pub(super) fn inline_note(&mut self, id: NodeId) {
        let Some(note) = self.footnotes.inline_note(id).filter(|note| !note.is_copy) else { return };
        if !note.has_reference {
            let reference = format!("[^{}]", note.label);
            self.inline.push_raw(&reference);
        }
        self.pending_notes.push(id);
    }

    /// Writes the notes that were inside the text, where blocks of the page can be.
    pub(super) fn write_pending_notes(&mut self) {
        if self.pending_notes.is_empty() || self.flat > 0 || self.lines.depth() > 0 || self.open_lists > 0 {
            return;
        }
        let mut next = 0;
        while let Some(&id) = self.pending_notes.get(next) {
            next += 1;
            if let Some(label) = self.footnotes.inline_note(id).map(|note| note.label.clone()) {
                self.flush();
                self.separate_block();
                self.note_with_label(id, label);
            }
        }
        self.pending_notes.clear();
    }

    /// Removes the label of a note from the start of its text.
    pub(super) fn without_own_label(&mut self, text: String) -> String {
        let Some(OwnLabel { label, is_apart }) = self.own_label.take() else { return text };
        match after_label(&text, &label, is_apart) {
            Some(rest) => rest.trim_start().to_owned(),
            None => text,
        }
    }
}

/// Returns the text of a note after its label: `1. text`, `[1] text`, `<sup>1</sup> text`.
fn after_label<'a>(text: &'a str, label: &str, is_apart: bool) -> Option<&'a str> {
    // The label was a link back to the text, of which only the punctuation is left.
    let without_link = [". ", ") ", ": ", "] ", "\\] "].iter().find_map(|rest| text.strip_prefix(rest));
    if without_link.is_some() {
        return without_link;
    }
    let superscript = ["<sup>", "**", "*"].iter().find_map(|open| text.strip_prefix(open));
    let start = superscript.unwrap_or(text);
    let bracket = ["\\[", "[", "(", "^"].iter().find_map(|open| start.strip_prefix(open));
    let mut rest = bracket.unwrap_or(start).strip_prefix(label)?;
    let mut is_marked = is_apart || bracket.is_some();
    let ends = ["\\]", "]", ")", "</sup>", "**", "*", ".", ":"];
    while let Some(after) = ends.iter().find_map(|end| rest.strip_prefix(end)) {
        (rest, is_marked) = (after, true);
    }
    let is_end = rest.chars().next().is_none_or(|c| c.is_whitespace() || is_apart || superscript.is_some());
    (is_marked && is_end).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::after_label;

    #[test]
    fn label_of_a_note_is_removed_and_a_number_in_its_text_is_not() {
        for (text, is_apart, rest) in [
            ("1. Once for rain.", false, Some(" Once for rain.")),
            ("[1\\] Once.", false, Some(" Once.")),
            ("<sup>1</sup> Once.", false, Some(" Once.")),
            ("1 Once.", true, Some(" Once.")),
            ("**1.** Once.", false, Some(" Once.")),
            ("**1 January** was dry.", false, None),
            ("1 January was dry.", false, None),
            ("10 boats.", false, None),
            ("1.5 metres.", false, None),
            (". Once.", false, Some("Once.")),
        ] {
            assert_eq!(after_label(text, "1", is_apart), rest, "{text}");
        }
    }
}
