//! Writes code: blocks with a fence, and code inside a line.

use super::lines::BlockSeparator;
use super::markdown::Writer;
use super::{OutputContext, code};
use crate::dom::{Dom, NodeId, Tag};
use crate::text::collapsed;

impl Writer<'_> {
    pub(super) fn inline_code(&mut self, id: NodeId) {
        let OutputContext { dom, view, .. } = self.context;
        if view.below(dom, id).any(|child| matches!(dom.tag(child), Some(Tag::Pre | Tag::Table | Tag::P))) {
            return self.children(id);
        }
        // A code block without `<pre>`.
        let style = dom.attribute(id, "style").unwrap_or_default();
        let keeps_lines = style.contains("white-space") && style.contains("pre");
        if keeps_lines
            && self.flat == 0
            && view.below(dom, id).any(|inner| dom.text(inner).trim().contains('\n'))
        {
            return self.code_block(id);
        }
        let text = view.text(dom, id);
        if text.is_empty() {
            return self.children(id);
        }
        if view.below(dom, id).any(|inner| dom.is(inner, Tag::Br)) || keeps_lines && self.inline.is_cell() {
            return self.code_lines(&code::block(self.context, id).text);
        }
        let text = if self.inline.is_cell() { text.replace('|', "\\|") } else { text };
        let (first, last) = ends_of_text(dom, id);
        if first.starts_with([' ', '\n']) {
            self.inline.push_space();
        }
        self.inline.push_code(&text);
        if last.ends_with([' ', '\n']) {
            self.inline.push_space();
        }
    }

    pub(super) fn code_block(&mut self, id: NodeId) {
        self.flush();
        let block = code::block(self.context, id);
        if self.flat > 0 {
            self.inline.end_block();
            self.code_lines(&block.text);
            return self.inline.end_block();
        }
        if block.text.trim().is_empty() {
            // A `<pre>` around images, or around line numbers only.
            if self.context.view.below(self.context.dom, id).any(|inner| self.context.dom.is(inner, Tag::Img))
            {
                self.children(id);
            }
            return;
        }
        self.separate_block();
        let fence = code::fence(&block.text);
        let label = self.toolbars.language(id).unwrap_or_default();
        let language = if block.language.is_empty() { label } else { &block.language };
        self.lines.line(&format!("{fence}{language}"));
        for line in block.text.split('\n') {
            self.lines.line(line);
        }
        self.lines.line(&fence);
        self.lines.separate(BlockSeparator::Blank);
    }

    /// Writes code where its block cannot be: in a heading on one line, otherwise line by line.
    fn code_lines(&mut self, code: &str) {
        if self.flat > 0 && !self.inline.is_cell() {
            let code = collapsed(code);
            if !code.is_empty() {
                self.inline.push_code(&code);
            }
            return;
        }
        for (index, line) in code.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            if index > 0 {
                self.inline.push_break();
            }
            let line = line.trim_end().replace('\t', "    ");
            self.inline.push_code(&if self.inline.is_cell() { line.replace('|', "\\|") } else { line });
        }
    }
}

/// Returns the first and the last text of an element.
fn ends_of_text(dom: &Dom, id: NodeId) -> (&str, &str) {
    let mut texts = dom.descendants(id).map(|inner| dom.text(inner)).filter(|text| !text.is_empty());
    let first = texts.next().unwrap_or_default();
    (first, texts.last().unwrap_or(first))
}
