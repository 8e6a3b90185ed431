//! The markdown writer: CommonMark with GFM tables, one walk over the view.

use super::footnotes::Footnotes;
use super::inline::{self, Inline, Mark, Place, escape_line_start};
use super::lines::{Gap, Lines};
use super::{BASE64_MARKER, Page, code, math};
use crate::dom::{NodeId, NodeKind, Tag};
use crate::links;
use crate::options::Base64Images;
use crate::text::{collapsed, starts_with_ignore_case};

/// Writes the view as markdown; the flag tells whether the output bound cut it.
pub(crate) fn write(page: Page<'_>) -> (String, bool) {
    let mut writer = Writer {
        page,
        lines: Lines::default(),
        inline: Inline::new(Place::Paragraph),
        flat: 0,
        in_item: false,
        in_note: false,
        footnotes: Footnotes::find(page),
    };
    for &root in &page.view.roots {
        writer.node(root);
        writer.flush();
    }
    writer.lines.finish()
}

/// The state of the walk. It recurses by nesting, which the DOM bounds.
pub(super) struct Writer<'a> {
    pub(super) page: Page<'a>,
    pub(super) lines: Lines,
    pub(super) inline: Inline,
    /// Above zero inside headings and table cells, where blocks cannot stand.
    pub(super) flat: usize,
    in_item: bool,
    in_note: bool,
    footnotes: Footnotes,
}

impl Writer<'_> {
    pub(super) fn node(&mut self, id: NodeId) {
        if self.inline.is_full() {
            return;
        }
        match self.page.dom.kind(id) {
            NodeKind::Text => self.inline.push_text(self.page.dom.text(id)),
            NodeKind::Element(tag) => self.element(id, tag),
            NodeKind::Document => self.children(id),
            NodeKind::Nothing => {}
        }
    }

    pub(super) fn children(&mut self, id: NodeId) {
        let Page { dom, view, .. } = self.page;
        for child in view.children(dom, id) {
            self.node(child);
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
            Hr => self.rule(),
            Br => self.line_break(),
            Dt | Summary => self.term(id),
            B | Strong => self.marked(id, inline::Mark::Strong),
            I | Em => self.marked(id, inline::Mark::Emphasis),
            Del | S | Strike => self.marked(id, inline::Mark::Strike),
            A => self.link(id),
            Img => self.image(id),
            Code | Samp | Tt | Kbd => self.inline_code(id),
            Sub | Sup => self.raised(id, if tag == Sub { "sub" } else { "sup" }),
            Q => self.quoted(id, "\"", "\""),
            Rt => self.quoted(id, "(", ")"),
            Math => self.math(id),
            Script => self.math_script(id),
            _ if tag.is_block() => self.block(id),
            _ => self.children(id),
        }
    }

    /// Writes a footnote, which stands outside of the list that it is an item of.
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
        self.lines.separate(Gap::Blank);
    }

    /// Ends the current paragraph and writes it.
    pub(super) fn flush(&mut self) {
        if self.flat > 0 {
            self.inline.push_space();
            return;
        }
        let text = self.inline.take();
        if text.is_empty() {
            return;
        }
        self.gap();
        let mut lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).peekable();
        while let Some(line) = lines.next() {
            let mut line = escape_line_start(line).unwrap_or_else(|| line.to_owned());
            if lines.peek().is_some() {
                line.push_str("  ");
            }
            self.lines.line(&line);
        }
        self.lines.separate(Gap::Blank);
    }

    /// Puts a blank line before the next block, unless it begins a list item.
    pub(super) fn gap(&mut self) {
        if !self.lines.at_marker() {
            self.lines.separate(Gap::Blank);
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
            self.marked(id, Mark::Strong);
            self.flush();
            return;
        }
        self.flat += 1;
        self.children(id);
        self.flat -= 1;
        let text = self.inline.take().replace('\n', " ");
        if text.is_empty() {
            return;
        }
        self.gap();
        let level = tag.heading_level().unwrap_or(6);
        let text = match text.strip_suffix('#') {
            Some(start) => format!("{start}\\#"),
            None => text,
        };
        self.lines.line(&format!("{} {text}", "######".get(..level).unwrap_or("######")));
        self.lines.separate(Gap::Blank);
    }

    fn list(&mut self, id: NodeId, tag: Tag) {
        self.flush();
        if self.flat > 0 {
            self.children(id);
            return;
        }
        let nested = self.in_item;
        if nested && !self.lines.at_marker() {
            self.lines.tighten();
        } else if !nested {
            self.gap();
        }
        let Page { dom, view, .. } = self.page;
        let mut number: u64 =
            dom.attribute(id, "start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        let mut first = true;
        for child in view.children(dom, id) {
            let is_item = dom.is(child, Tag::Li);
            if !first && is_item {
                self.lines.tighten();
            }
            if !is_item {
                // Lists directly inside lists, and text between items, belong to the item before.
                let text = dom.text(child).trim().is_empty() && dom.kind(child) == NodeKind::Text;
                if !text {
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
        if nested { self.lines.tighten() } else { self.lines.separate(Gap::Blank) }
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
        self.lines.open(marker, &" ".repeat(marker.len()));
        let outer = std::mem::replace(&mut self.in_item, true);
        if let Some(checked) = self.checkbox(id) {
            self.inline.push_raw(if checked { "[x]" } else { "[ ]" });
            self.inline.push_space();
        }
        self.children(id);
        self.flush();
        self.in_item = outer;
        self.lines.close();
    }

    /// Returns the state of the check box an item begins with.
    fn checkbox(&self, item: NodeId) -> Option<bool> {
        let dom = self.page.dom;
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
        self.gap();
        self.lines.open(marker, indent);
        let outer = std::mem::replace(&mut self.in_item, false);
        self.children(id);
        self.flush();
        self.in_item = outer;
        self.lines.close();
        self.lines.separate(Gap::Blank);
    }

    fn rule(&mut self) {
        self.flush();
        if self.flat == 0 && !self.lines.at_marker() {
            self.gap();
            self.lines.line("---");
            self.lines.separate(Gap::Blank);
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
        self.marked(id, Mark::Strong);
        self.flush();
    }

    fn marked(&mut self, id: NodeId, mark: Mark) {
        self.inline.open(mark);
        self.children(id);
        self.inline.close();
    }

    fn quoted(&mut self, id: NodeId, start: &str, end: &str) {
        self.inline.push_text(start);
        self.children(id);
        self.inline.push_text(end);
    }

    fn raised(&mut self, id: NodeId, name: &str) {
        let dom = self.page.dom;
        let text = self.page.view.text(dom, id);
        let linked = dom.descendants(id).any(|child| dom.is(child, Tag::A));
        if linked || text.is_empty() || text.len() > 200 {
            return self.children(id);
        }
        self.inline.push_raw(&format!("<{name}>"));
        self.children(id);
        self.inline.push_raw(&format!("</{name}>"));
    }

    fn link(&mut self, id: NodeId) {
        let Page { dom, view, base, .. } = self.page;
        let Some(href) = dom.attribute(id, "href") else { return self.children(id) };
        if href.contains('#') && is_permalink_sign(&view.text(dom, id)) && !has_image(dom, id) {
            return;
        }
        if let Some(label) = self.footnotes.reference(id) {
            let reference = format!("[^{label}]");
            return self.inline.push_raw(&reference);
        }
        // The way back from a footnote to the text.
        if self.in_note && links::fragment_of(dom, id).is_some() && view.text(dom, id).chars().count() <= 4 {
            return;
        }
        match links::resolve(base, href) {
            Some(url) => self.marked(id, Mark::Link(escape_target(url.as_str()))),
            None => self.children(id),
        }
    }

    fn image(&mut self, id: NodeId) {
        let Page { dom, base, base64_images, .. } = self.page;
        if is_tracking_pixel(dom, id) {
            return;
        }
        let alt = collapsed(dom.attribute(id, "alt").unwrap_or(""));
        let mut label = Inline::new(self.page_place());
        label.open(Mark::Link(String::new()));
        label.push_text(&alt);
        let label = label.take();
        let alt = label.strip_prefix('[').and_then(|label| label.strip_suffix("]()")).unwrap_or("");
        let Some(source) = links::image_source(dom, id, base) else { return };
        let embedded = starts_with_ignore_case(&source, "data:");
        let target = if embedded && base64_images == Base64Images::Replace {
            BASE64_MARKER.to_owned()
        } else {
            escape_target(&source)
        };
        self.inline.push_raw(&format!("![{alt}]({target})"));
    }

    fn page_place(&self) -> Place {
        if self.flat > 0 { Place::TableCell } else { Place::Paragraph }
    }

    fn inline_code(&mut self, id: NodeId) {
        let Page { dom, view, .. } = self.page;
        if view.below(dom, id).any(|child| matches!(dom.tag(child), Some(Tag::Pre | Tag::Table | Tag::P))) {
            return self.children(id);
        }
        let text = view.text(dom, id);
        if text.is_empty() {
            return self.children(id);
        }
        let text = if self.flat > 0 { text.replace('|', "\\|") } else { text };
        if dom.text(first_text(dom, id)).starts_with([' ', '\n']) {
            self.inline.push_space();
        }
        self.inline.push_raw(&code::span(&text));
    }

    fn code_block(&mut self, id: NodeId) {
        self.flush();
        let block = code::block(self.page, id);
        if self.flat > 0 {
            self.inline.push_raw(&code::span(&collapsed(&block.text).replace('|', "\\|")));
            return;
        }
        if block.text.trim().is_empty() {
            // A `<pre>` that only frames images or the like.
            return self.children(id);
        }
        self.gap();
        let fence = code::fence(&block.text);
        self.lines.line(&format!("{fence}{}", block.language));
        for line in block.text.split('\n') {
            self.lines.line(line);
        }
        self.lines.line(&fence);
        self.lines.separate(Gap::Blank);
    }

    fn math(&mut self, id: NodeId) {
        let formula = math::latex(self.page.dom, id);
        let display = self.page.dom.attribute(id, "display") == Some("block");
        self.formula(&formula, display);
    }

    fn math_script(&mut self, id: NodeId) {
        let dom = self.page.dom;
        let kind = dom.attribute(id, "type").unwrap_or("");
        let formula: String = dom.children(id).map(|text| dom.text(text)).collect();
        self.formula(formula.trim(), kind.contains("mode=display"));
    }

    fn formula(&mut self, formula: &str, display: bool) {
        if formula.is_empty() {
            return;
        }
        let formula = collapsed(formula);
        if display && self.flat == 0 {
            self.flush();
            self.inline.push_raw(&format!("$${formula}$$"));
            self.flush();
        } else {
            self.inline.push_raw(&format!("${formula}$"));
        }
    }
}

fn first_text(dom: &crate::dom::Dom, id: NodeId) -> NodeId {
    dom.descendants(id).find(|&child| dom.kind(child) == NodeKind::Text).unwrap_or(id)
}

fn has_image(dom: &crate::dom::Dom, id: NodeId) -> bool {
    dom.descendants(id).any(|child| dom.is(child, Tag::Img))
}

/// Tells whether a link's text is only a sign for "link to this place".
fn is_permalink_sign(text: &str) -> bool {
    matches!(
        text,
        "" | "#" | "¶" | "§" | "🔗" | "\u{f0c1}" | "↩" | "↩︎" | "link" | "Link" | "Permalink" | "permalink"
    )
}

fn is_tracking_pixel(dom: &crate::dom::Dom, img: NodeId) -> bool {
    let tiny =
        |name| dom.attribute(img, name).is_some_and(|size| matches!(size.trim(), "0" | "1" | "0px" | "1px"));
    tiny("width") && tiny("height")
}

/// Makes a URL safe inside `(...)`.
fn escape_target(url: &str) -> String {
    let mut depth = 0_i32;
    let balanced = url.chars().all(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth >= 0
    }) && depth == 0;
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            '(' if !balanced => out.push_str("%28"),
            ')' if !balanced => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            c if c.is_whitespace() => out.push_str("%20"),
            c => out.push(c),
        }
    }
    out
}
