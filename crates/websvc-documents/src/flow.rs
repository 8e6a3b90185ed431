//! Writes styled runs of text as HTML paragraphs, headings, lists and tables.

use crate::html::{Html, push_escaped};

/// The maximum nesting depth of lists.
const MAX_LISTS: usize = 9;

/// The style of a run of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextStyle {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) strike: bool,
}

/// The markup of one paragraph.
#[derive(Debug, Default, Clone)]
pub(crate) struct Inline {
    markup: String,
    style: TextStyle,
    in_link: bool,
    /// White space after the last run. It is written without the style of either neighbor.
    space: String,
}

impl Inline {
    pub(crate) fn text(&mut self, text: &str, style: TextStyle) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            self.space.push_str(text);
            return;
        }
        self.space.push_str(&text[..text.len() - text.trim_start().len()]);
        if style == self.style {
            self.flush_space();
        } else {
            self.close_style();
            self.flush_space();
            for (enabled, tag) in tags(style) {
                if enabled {
                    self.markup.push_str(&format!("<{tag}>"));
                }
            }
            self.style = style;
        }
        push_escaped(&mut self.markup, trimmed);
        self.space.push_str(&text[text.trim_end().len()..]);
    }

    fn flush_space(&mut self) {
        if !self.markup.is_empty() {
            push_escaped(&mut self.markup, &self.space);
        }
        self.space.clear();
    }

    fn close_style(&mut self) {
        for (enabled, tag) in tags(self.style).into_iter().rev() {
            if enabled {
                self.markup.push_str(&format!("</{tag}>"));
            }
        }
        self.style = TextStyle::default();
    }

    pub(crate) fn line_break(&mut self) {
        self.markup.push_str("<br>");
    }

    /// Begins a link if its URL has a scheme that is safe on a web page.
    pub(crate) fn begin_link(&mut self, url: &str) {
        self.end_link();
        if is_web_url(url) {
            self.close_style();
            self.flush_space();
            self.markup.push_str("<a href=\"");
            push_escaped(&mut self.markup, url);
            self.markup.push_str("\">");
            self.in_link = true;
        }
    }

    pub(crate) fn end_link(&mut self) {
        if std::mem::take(&mut self.in_link) {
            self.close_style();
            self.markup.push_str("</a>");
        }
    }

    /// Appends the reference to a note.
    pub(crate) fn note_reference(&mut self, number: usize) {
        self.close_style();
        self.flush_space();
        self.markup.push_str(&format!("<sup>[{number}]</sup>"));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.markup.trim().is_empty()
    }

    /// Returns the markup with all elements closed.
    pub(crate) fn finish(mut self) -> String {
        self.end_link();
        self.close_style();
        self.markup
    }
}

fn tags(style: TextStyle) -> [(bool, &'static str); 3] {
    [(style.bold, "strong"), (style.italic, "em"), (style.strike, "del")]
}

/// Returns whether a URL has a web scheme, and not for example `javascript:` or a path within the file.
pub(crate) fn is_web_url(url: &str) -> bool {
    ["http://", "https://", "mailto:", "ftp://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// The role of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Body,
    /// A heading. The level is 1-based.
    Heading(u32),
    /// An item of a list. The depth is 0-based.
    Item {
        depth: usize,
        ordered: bool,
    },
}

/// The blocks of a document, written in reading order.
#[derive(Debug)]
pub(crate) struct HtmlFlow {
    html: Html,
    /// For each open list, outermost first: `true` for an ordered list.
    lists: Vec<bool>,
    notes: Vec<String>,
}

impl HtmlFlow {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { html: Html::new(max_bytes), lists: Vec::new(), notes: Vec::new() }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.html.is_full()
    }

    pub(crate) fn paragraph(&mut self, role: Role, inline: Inline) {
        if inline.is_empty() {
            return;
        }
        let markup = inline.finish();
        match role {
            Role::Body => self.block(&format!("<p>{markup}</p>\n")),
            Role::Heading(level) => {
                let level = level.clamp(1, 6);
                self.block(&format!("<h{level}>{markup}</h{level}>\n"));
            }
            Role::Item { depth, ordered } => self.item(depth.min(MAX_LISTS - 1), ordered, &markup),
        }
    }

    /// Appends markup outside of lists.
    pub(crate) fn block(&mut self, markup: &str) {
        self.close_lists(0);
        self.html.push(markup);
    }

    fn item(&mut self, depth: usize, ordered: bool, markup: &str) {
        self.close_lists(depth + 1);
        if self.lists.len() == depth + 1 && self.lists[depth] != ordered {
            self.close_lists(depth);
        }
        if self.lists.len() == depth + 1 {
            self.html.push("</li>\n<li>");
        }
        while self.lists.len() < depth + 1 {
            self.html.push(if ordered { "<ol><li>" } else { "<ul><li>" });
            self.lists.push(ordered);
        }
        self.html.push(markup);
    }

    /// Closes the lists deeper than `depth`.
    fn close_lists(&mut self, depth: usize) {
        while self.lists.len() > depth {
            let ordered = self.lists.pop().unwrap_or_default();
            self.html.push(if ordered { "</li></ol>\n" } else { "</li></ul>\n" });
        }
    }

    /// Stores a note, which is written at the end of the document, and returns its number.
    pub(crate) fn add_note(&mut self, markup: String) -> usize {
        self.notes.push(markup);
        self.notes.len()
    }

    /// Returns the HTML, and whether content was dropped because of the size limit.
    pub(crate) fn finish(mut self) -> (String, bool) {
        self.close_lists(0);
        for (index, note) in std::mem::take(&mut self.notes).into_iter().enumerate() {
            self.html.push(&format!("<p>[{}] {note}</p>\n", index + 1));
        }
        let is_full = self.html.is_full();
        (self.html.into_string(), is_full)
    }
}

/// A table under construction.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<(String, usize)>>,
}

impl Table {
    pub(crate) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Appends a cell that spans `span` columns.
    pub(crate) fn cell(&mut self, markup: String, span: usize) {
        if self.rows.is_empty() {
            self.row();
        }
        if let Some(row) = self.rows.last_mut() {
            row.push((markup, span.clamp(1, 100)));
        }
    }

    /// Returns the markup; the first row is the header. Empty rows at the beginning and the end are left out.
    pub(crate) fn finish(mut self) -> String {
        let is_blank = |row: &Vec<(String, usize)>| row.iter().all(|(cell, _)| cell.trim().is_empty());
        while self.rows.last().is_some_and(is_blank) {
            self.rows.pop();
        }
        let first = self.rows.iter().position(|row| !is_blank(row)).unwrap_or(self.rows.len());
        let mut markup = "<table>\n".to_owned();
        for (index, row) in self.rows.iter().skip(first).enumerate() {
            let tag = if index == 0 { "th" } else { "td" };
            markup.push_str("<tr>");
            for (cell, span) in row {
                match span {
                    1 => markup.push_str(&format!("<{tag}>{cell}</{tag}>")),
                    span => markup.push_str(&format!("<{tag} colspan=\"{span}\">{cell}</{tag}>")),
                }
            }
            markup.push_str("</tr>\n");
        }
        markup.push_str("</table>\n");
        if first == self.rows.len() { String::new() } else { markup }
    }
}
