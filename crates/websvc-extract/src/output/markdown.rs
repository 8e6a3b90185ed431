//! The markdown writer: CommonMark with GFM tables, in one walk over the view.

use super::footnotes::Footnotes;
use super::inline::{EscapeContext, Inline, InlineMark, escape_line_start};
use super::lines::{BlockSeparator, Lines};
use super::math::{self, Formula};
use super::{FormattedText, OutputContext, callout, code};
use crate::dom::{NodeId, NodeKind, Tag};
use crate::text::collapsed;

/// Writes the view as markdown.
pub(crate) fn write(context: OutputContext<'_>) -> FormattedText {
    let mut writer = Writer {
        context,
        lines: Lines::default(),
        inline: Inline::new(EscapeContext::Paragraph),
        flat: 0,
        in_item: false,
        written_title: None,
        in_note: false,
        in_heading: false,
        footnotes: Footnotes::find(context),
    };
    for &root in &context.view.roots {
        writer.node(root);
        writer.flush();
    }
    writer.lines.finish()
}

/// The state of the walk. It recurses into nested elements, whose depth the DOM limits.
pub(super) struct Writer<'a> {
    pub(super) context: OutputContext<'a>,
    pub(super) lines: Lines,
    pub(super) inline: Inline,
    /// Nesting depth of headings and table cells, in which blocks cannot be. 0 outside of them.
    pub(super) flat: usize,
    in_item: bool,
    /// The title of a callout, which is written before the rest of it.
    written_title: Option<NodeId>,
    pub(super) in_note: bool,
    /// True while a heading is written. Links of a heading to itself are dropped.
    pub(super) in_heading: bool,
    pub(super) footnotes: Footnotes,
}

impl Writer<'_> {
    pub(super) fn node(&mut self, id: NodeId) {
        if self.inline.is_full() {
            return;
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

    fn element(&mut self, id: NodeId, tag: Tag) {
        use Tag::*;
        if self.flat == 0 && !self.in_note && self.footnotes.note(id).is_some() {
            return self.note(id);
        }
        match tag {
            H1 | H2 | H3 | H4 | H5 | H6 => self.heading(id, tag),
            Ul | Ol | Menu | Dir => self.list(id, tag),
            Li => self.item(id, "- "),
            Blockquote => self.nested(id, "> ", "> "),
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
            Div | Aside | Section | Details | Span | P => self.container(id, tag),
            _ if tag.is_block() => self.block(id),
            _ => self.children(id),
        }
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

    /// Writes a footnote outside the list that it is an item of.
    fn note(&mut self, id: NodeId) {
        self.flush();
        let Some(label) = self.footnotes.note(id) else { return };
        let marker = format!("[^{label}]: ");
        self.lines.open(&marker, "    ");
        let outer = std::mem::replace(&mut self.in_item, false);
        self.in_note = true;
        self.children(id);
        self.flush();
        self.in_note = false;
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
        let text = self.inline.take();
        if text.is_empty() {
            return;
        }
        self.separate_block();
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

    fn block(&mut self, id: NodeId) {
        self.flush();
        self.children(id);
        self.flush();
    }

    fn heading(&mut self, id: NodeId, tag: Tag) {
        self.flush();
        if self.flat > 0 {
            self.marked(id, InlineMark::Strong);
            self.flush();
            return;
        }
        self.flat += 1;
        let outer = std::mem::replace(&mut self.in_heading, true);
        self.children(id);
        self.in_heading = outer;
        self.flat -= 1;
        let text = self.inline.take().replace('\n', " ");
        if text.is_empty() {
            return;
        }
        self.separate_block();
        let level = tag.heading_level().unwrap_or(6);
        let text = match text.strip_suffix('#') {
            Some(start) => format!("{start}\\#"),
            None => text,
        };
        self.lines.line(&format!("{} {text}", "######".get(..level).unwrap_or("######")));
        self.lines.separate(BlockSeparator::Blank);
    }

    fn list(&mut self, id: NodeId, tag: Tag) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            return;
        }
        let nested = self.in_item;
        let OutputContext { dom, view, .. } = self.context;
        let mut number: u64 =
            dom.attribute(id, "start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        // An ordered list with another number cannot follow a paragraph without a blank line.
        if nested && !self.lines.at_marker() && (tag != Tag::Ol || number == 1) {
            self.lines.cancel_blank();
        } else if !self.lines.at_marker() {
            self.separate_block();
        }
        let mut first = true;
        for child in view.children(dom, id) {
            let is_item = dom.is(child, Tag::Li);
            if !first && is_item {
                self.lines.cancel_blank();
            }
            if !is_item {
                // Lists directly inside lists, and text between items, belong to the previous item.
                let is_blank = dom.text(child).trim().is_empty() && dom.kind(child) == NodeKind::Text;
                if !is_blank {
                    if !first && dom.tag(child).is_some_and(|tag| matches!(tag, Tag::Ul | Tag::Ol)) {
                        self.lines.cancel_blank();
                    }
                    self.nested_in_item(child);
                }
                continue;
            }
            if let Some(value) = dom.attribute(child, "value").and_then(|value| value.trim().parse().ok()) {
                number = value;
            }
            let marker =
                if tag == Tag::Ol { format!("{}. ", number.min(999_999_999)) } else { "- ".to_owned() };
            if self.footnotes.note(child).is_some() && !self.in_note {
                self.note(child);
            } else {
                self.item(child, &marker);
            }
            number = number.saturating_add(1);
            first = false;
        }
        if nested { self.lines.cancel_blank() } else { self.lines.separate(BlockSeparator::Blank) }
    }

    fn nested_in_item(&mut self, child: NodeId) {
        self.lines.open("  ", "  ");
        let outer = std::mem::replace(&mut self.in_item, true);
        self.node(child);
        self.flush();
        self.in_item = outer;
        self.lines.close();
    }

    fn item(&mut self, id: NodeId, marker: &str) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            self.flush();
            return;
        }
        let indent = " ".repeat(marker.len());
        match self.checkbox(id) {
            Some(checked) => {
                self.lines.open(&format!("{marker}{}", if checked { "[x] " } else { "[ ] " }), &indent);
            }
            None => self.lines.open(marker, &indent),
        }
        let outer = std::mem::replace(&mut self.in_item, true);
        self.children(id);
        self.flush();
        self.in_item = outer;
        self.lines.close();
    }

    /// Returns the state of the checkbox at the start of an item.
    fn checkbox(&self, item: NodeId) -> Option<bool> {
        let dom = self.context.dom;
        let first = dom.descendants(item).skip(1).take(6).find(|&id| dom.is(id, Tag::Input))?;
        (dom.attribute(first, "type") == Some("checkbox")).then(|| dom.attribute(first, "checked").is_some())
    }

    fn nested(&mut self, id: NodeId, marker: &str, indent: &str) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            self.flush();
            return;
        }
        self.separate_block();
        self.lines.open(marker, indent);
        let outer = std::mem::replace(&mut self.in_item, false);
        self.children(id);
        self.flush();
        self.in_item = outer;
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

    fn inline_code(&mut self, id: NodeId) {
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
        let text = if self.flat > 0 { text.replace('|', "\\|") } else { text };
        let (first, last) = ends_of_text(dom, id);
        if first.starts_with([' ', '\n']) {
            self.inline.push_space();
        }
        self.inline.push_raw(&code::span(&text));
        if last.ends_with([' ', '\n']) {
            self.inline.push_space();
        }
    }

    pub(super) fn code_block(&mut self, id: NodeId) {
        self.flush();
        let block = code::block(self.context, id);
        if self.flat > 0 {
            self.inline.push_raw(&code::span(&collapsed(&block.text).replace('|', "\\|")));
            return;
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
        self.lines.line(&format!("{fence}{}", block.language));
        for line in block.text.split('\n') {
            self.lines.line(line);
        }
        self.lines.line(&fence);
        self.lines.separate(BlockSeparator::Blank);
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
            let latex = if self.flat > 0 { latex.replace('|', "\\|") } else { latex.clone() };
            self.inline.push_raw(&format!("${latex}$"));
        }
    }
}

/// Returns the first and the last text of an element.
fn ends_of_text(dom: &crate::dom::Dom, id: NodeId) -> (&str, &str) {
    let mut texts = dom.descendants(id).map(|inner| dom.text(inner)).filter(|text| !text.is_empty());
    let first = texts.next().unwrap_or_default();
    (first, texts.last().unwrap_or(first))
}
