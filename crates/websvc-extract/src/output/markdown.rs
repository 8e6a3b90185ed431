//! The markdown writer: CommonMark with GFM tables, in one walk over the view.

use super::boxes::{BoxKind, Boxes};
use super::escape::escape_line_start;
use super::footnotes::Footnotes;
use super::inline::{EscapeContext, Inline, InlineMark};
use super::lines::{BlockSeparator, Lines};
use super::math::{self, Formula};
use super::toolbar::Toolbars;
use super::{FormattedText, OutputContext, callout, card_title};
use crate::dom::{NodeId, NodeKind, Tag};
use std::collections::HashMap;

/// Writes the view as markdown.
pub(crate) fn write(context: OutputContext<'_>) -> FormattedText {
    let OutputContext { dom, view, .. } = context;
    let (mut anchors, mut spans, mut code_blocks, mut headings) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for id in view.nodes(dom) {
        match dom.tag(id) {
            Some(Tag::A) => anchors.push(id),
            Some(Tag::Span | Tag::Small) => spans.push(id),
            Some(Tag::Pre) => code_blocks.push(id),
            Some(tag) if tag.heading_level().is_some() => headings.push(id),
            _ => {}
        }
    }
    let mut writer = Writer {
        context,
        lines: Lines::default(),
        inline: Inline::new(EscapeContext::Paragraph),
        flat: 0,
        in_item: false,
        open_lists: 0,
        open_boxes: 0,
        written_list: None,
        written_title: None,
        in_note: false,
        shared_block: None,
        own_label: None,
        pending_notes: Vec::new(),
        in_heading: false,
        title_links: card_title::covered_titles(context, &headings),
        footnotes: Footnotes::find(context, &anchors, &spans),
        boxes: Boxes::from_dom(dom),
        toolbars: Toolbars::find(context, &code_blocks),
    };
    for &root in &view.roots {
        writer.node(root);
        writer.flush();
        writer.write_pending_notes();
    }
    writer.lines.finish()
}

/// An ordered list that was written last.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenList {
    /// Length of the output after it, and the depth of nesting.
    pub(super) end: (usize, usize),
    pub(super) next_number: u64,
    pub(super) delimiter: char,
}

/// The block with several notes that is being written.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedBlock {
    /// The depth of nesting around it.
    pub(super) depth: usize,
    /// True after the start of its first note.
    pub(super) is_in_note: bool,
}

/// The label of a note whose text has not begun.
#[derive(Debug)]
pub(super) struct OwnLabel {
    pub(super) label: String,
    /// True if a text of its own is the label.
    pub(super) is_apart: bool,
}

/// The state of the walk. It recurses into nested elements, whose depth the DOM limits.
pub(super) struct Writer<'a> {
    pub(super) context: OutputContext<'a>,
    pub(super) lines: Lines,
    pub(super) inline: Inline,
    /// Nesting depth of headings and table cells, in which blocks cannot be. 0 outside of them.
    pub(super) flat: usize,
    pub(super) in_item: bool,
    /// Number of lists around the current node.
    pub(super) open_lists: usize,
    /// Number of tables by role or style around the current node whose cells are written as blocks.
    pub(super) open_boxes: usize,
    pub(super) written_list: Option<WrittenList>,
    /// The title of a callout, which is written before the rest of it.
    written_title: Option<NodeId>,
    pub(super) in_note: bool,
    pub(super) shared_block: Option<SharedBlock>,
    pub(super) own_label: Option<OwnLabel>,
    /// Notes inside the text whose references were written.
    pub(super) pending_notes: Vec<NodeId>,
    /// True while a heading is written. Links of a heading to itself are dropped.
    pub(super) in_heading: bool,
    /// Headings that are the titles of cards, with the targets of the links around or over these.
    pub(super) title_links: HashMap<NodeId, String>,
    pub(super) footnotes: Footnotes,
    pub(super) boxes: Boxes<'a>,
    pub(super) toolbars: Toolbars,
}

impl Writer<'_> {
    pub(super) fn node(&mut self, id: NodeId) {
        if self.inline.is_full() || self.toolbars.is_control(id) {
            return;
        }
        if self.shared_block.is_some() && self.footnotes.start(id).is_some() {
            self.begin_shared_note(id);
        }
        match self.context.dom.kind(id) {
            NodeKind::Text => self.inline.push_text(self.context.dom.text(id)),
            NodeKind::Element(tag) => self.element(id, tag),
            NodeKind::Document => self.children(id),
            NodeKind::Nothing => {}
        }
    }

    pub(super) fn children(&mut self, id: NodeId) {
        let OutputContext { dom, view, .. } = self.context;
        for child in view.children(dom, id) {
            if self.written_title != Some(child) {
                self.node(child);
            }
        }
    }

    /// Writes the children as blocks of an item, or of something else.
    pub(super) fn children_in_item(&mut self, id: NodeId, in_item: bool) {
        let outer = std::mem::replace(&mut self.in_item, in_item);
        self.children(id);
        self.flush();
        self.in_item = outer;
    }

    fn element(&mut self, id: NodeId, tag: Tag) {
        if !self.in_note {
            if self.footnotes.inline_note(id).is_some() {
                return self.inline_note(id);
            }
            if self.flat == 0 && self.footnotes.note(id).is_some() {
                return self.note(id);
            }
            if self.flat == 0 && self.footnotes.is_shared(id) {
                return self.shared_block(id);
            }
        }
        match self.boxes.of(self.context.dom, id, tag) {
            BoxKind::OfTag | BoxKind::RowGroup | BoxKind::Row => self.element_of_tag(id, tag),
            BoxKind::Block => {
                self.flush();
                self.element_of_tag(id, tag);
                self.flush();
            }
            BoxKind::Inline => {
                // Two such elements are two things, even if no space is between them in the source.
                let before =
                    self.context.dom.previous_sibling(id).and_then(|before| self.context.dom.tag(before));
                if before.is_some_and(Tag::is_block) {
                    self.inline.push_space();
                }
                self.children(id);
            }
            BoxKind::InlineBlock => {
                self.inline.push_space();
                if tag.is_block() {
                    self.children(id);
                } else {
                    self.element_of_tag(id, tag);
                }
                self.inline.push_space();
            }
            BoxKind::Flex => self.flex(id, tag),
            BoxKind::Heading(level) => self.heading(id, level),
            BoxKind::Table => self.table(id),
            BoxKind::Cell | BoxKind::HeaderCell => {
                self.inline.push_space();
                self.element_of_tag(id, tag);
                self.inline.push_space();
            }
        }
    }

    pub(super) fn element_of_tag(&mut self, id: NodeId, tag: Tag) {
        use Tag::*;
        match tag {
            H1 | H2 | H3 | H4 | H5 | H6 => self.heading(id, tag.heading_level().unwrap_or(6)),
            Ul | Ol | Menu | Dir => self.list(id, tag),
            Li => self.item(id, "- "),
            Blockquote => self.quote(id),
            Pre => self.code_block(id),
            Table => self.table(id),
            Td | Th if self.flat > 0 => {
                self.children(id);
                self.inline.push_space();
            }
            Hr => self.rule(),
            Br => self.line_break(),
            Dt | Summary => self.term(id),
            B | Strong => self.marked(id, InlineMark::Strong),
            I | Em => self.marked(id, InlineMark::Emphasis),
            Del | S | Strike => self.marked(id, InlineMark::Strike),
            A => self.link(id),
            Img => self.image(id),
            Code | Samp | Tt | Kbd => self.inline_code(id),
            Sub | Sup => self.script(id, if tag == Sub { "sub" } else { "sup" }),
            Q => self.quoted(id, "\"", "\""),
            Rt => self.quoted(id, "(", ")"),
            Math => self.formula(&math::of_math(self.context.dom, id)),
            Script => math::of_script(self.context.dom, id).iter().for_each(|formula| self.formula(formula)),
            Iframe | Video | Audio => self.embedded(id, tag),
            Button => {
                self.inline.push_space();
                self.children(id);
                self.inline.push_space();
            }
            // The sign that opens a margin note.
            Label if self.context.dom.has_class(id, |class| class == "margin-toggle") => {}
            Div | Aside | Section | Details | Span | P => self.container(id, tag),
            _ if tag.is_block() => self.block(id),
            _ => self.children(id),
        }
    }

    /// Writes a flexible box: its children are apart, whatever their tags.
    fn flex(&mut self, id: NodeId, tag: Tag) {
        self.flush();
        if matches!(tag, Tag::A | Tag::B | Tag::Strong | Tag::Em | Tag::I) {
            self.element_of_tag(id, tag);
        } else {
            let OutputContext { dom, view, .. } = self.context;
            for child in view.children(dom, id) {
                self.node(child);
                self.inline.push_space();
            }
        }
        self.flush();
        self.write_pending_notes();
    }

    /// Writes an element that may be a formula or a callout instead of a block.
    fn container(&mut self, id: NodeId, tag: Tag) {
        if let Some(class) = self.context.dom.attribute(id, "class") {
            // The formula is in another attribute.
            let has_others = self.context.dom.attributes(id).nth(1).is_some();
            if let Some(formula) =
                has_others.then(|| math::of_attribute(self.context.dom, id, class)).flatten()
            {
                return self.formula(&formula);
            }
            let may_be_callout =
                matches!(tag, Tag::Div | Tag::Aside | Tag::Section | Tag::Details) && self.flat == 0;
            if let Some(callout) = may_be_callout.then(|| callout::read(self.context, id, class)).flatten() {
                return self.callout(id, &callout);
            }
        }
        if tag == Tag::Span { self.children(id) } else { self.block(id) }
    }

    fn callout(&mut self, id: NodeId, callout: &callout::Callout) {
        self.flush();
        self.separate_block();
        self.lines.open("> ", "> ");
        let outer = std::mem::replace(&mut self.in_item, false);
        if let Some(kind) = callout.kind {
            self.lines.line(&format!("[!{kind}]"));
        }
        if let Some(title) = callout.title.filter(|title| title.differs_from_kind || callout.kind.is_none()) {
            self.term(title.element);
        }
        let outer_title =
            std::mem::replace(&mut self.written_title, callout.title.map(|title| title.element));
        self.children(id);
        self.flush();
        self.written_title = outer_title;
        self.in_item = outer;
        self.lines.close();
        self.lines.separate(BlockSeparator::Blank);
    }

    /// Ends the current paragraph and writes it.
    pub(super) fn flush(&mut self) {
        if self.flat > 0 {
            self.inline.end_block();
            return;
        }
        let mut text = self.inline.take();
        if self.own_label.is_some() && !text.is_empty() {
            text = self.without_own_label(text);
        }
        if text.is_empty() {
            return;
        }
        self.separate_block();
        if self.in_item && self.lines.at_marker() && is_checkbox(&text) {
            text.insert(0, '\\');
        }
        let mut lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).peekable();
        while let Some(line) = lines.next() {
            let mut line = escape_line_start(line).unwrap_or_else(|| line.to_owned());
            if lines.peek().is_some() {
                line.push_str("  ");
            }
            self.lines.line(&line);
        }
        self.lines.separate(BlockSeparator::Blank);
    }

    /// Requests a blank line before the next block, unless the block begins a list item.
    pub(super) fn separate_block(&mut self) {
        if !self.lines.at_marker() {
            self.lines.separate(BlockSeparator::Blank);
        }
    }

    pub(super) fn block(&mut self, id: NodeId) {
        self.flush();
        self.children(id);
        self.flush();
        self.write_pending_notes();
    }

    fn quote(&mut self, id: NodeId) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            self.flush();
            return;
        }
        let class = self.context.dom.attribute(id, "class").unwrap_or_default();
        if let Some(callout) = callout::read(self.context, id, class) {
            return self.callout(id, &callout);
        }
        self.separate_block();
        self.lines.open("> ", "> ");
        self.children_in_item(id, false);
        self.lines.close();
        self.lines.separate(BlockSeparator::Blank);
    }

    fn rule(&mut self) {
        self.flush();
        if self.flat == 0 && !self.lines.at_marker() {
            self.separate_block();
            self.lines.line("---");
            self.lines.separate(BlockSeparator::Blank);
        }
    }

    fn line_break(&mut self) {
        if self.flat == 0 && self.inline.ends_in_break() {
            self.flush();
        } else {
            self.inline.push_break();
        }
    }

    fn term(&mut self, id: NodeId) {
        self.flush();
        self.marked(id, InlineMark::Strong);
        self.flush();
    }

    pub(super) fn marked(&mut self, id: NodeId, mark: InlineMark) {
        self.inline.open(mark);
        self.children(id);
        self.inline.close();
    }

    fn quoted(&mut self, id: NodeId, start: &str, end: &str) {
        self.inline.push_text(start);
        self.children(id);
        self.inline.push_text(end);
    }

    fn script(&mut self, id: NodeId, name: &str) {
        let dom = self.context.dom;
        let text = self.context.view.text(dom, id);
        let has_link = dom.descendants(id).any(|child| dom.is(child, Tag::A));
        if has_link || text.is_empty() || text.len() > 200 {
            return self.children(id);
        }
        self.inline.push_raw(&format!("<{name}>"));
        self.children(id);
        self.inline.push_raw(&format!("</{name}>"));
    }

    /// Writes a formula: on a line of its own, if it is a display formula and blocks are possible.
    pub(super) fn formula(&mut self, formula: &Formula) {
        let Formula { latex, display } = formula;
        if latex.is_empty() {
            return;
        }
        if *display && self.flat == 0 {
            self.flush();
            self.inline.push_raw(&format!("$${latex}$$"));
            self.flush();
        } else {
            // In a table a bar would end the cell. The table removes the backslash again.
            let latex = if self.inline.is_cell() { latex.replace('|', "\\|") } else { latex.clone() };
            self.inline.push_raw(&format!("${latex}$"));
        }
    }
}

/// Returns whether the text of an item would begin with the box of a task.
fn is_checkbox(text: &str) -> bool {
    let rest = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| text.strip_prefix(mark));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}
