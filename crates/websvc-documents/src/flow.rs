//! The flow of a text document: runs of text with styles to paragraphs, headings, lists and tables.

use crate::html::{Html, push_escaped};

/// Lists nest at most so deep.
const MAX_LISTS: usize = 9;

/// How a run of text looks.
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
    look: TextStyle,
    link: bool,
    /// White space that belongs to neither of the runs between which it stands.
    space: String,
}

impl Inline {
    pub(crate) fn text(&mut self, text: &str, look: TextStyle) {
        let bare = text.trim();
        if bare.is_empty() {
            self.space.push_str(text);
            return;
        }
        self.space.push_str(&text[..text.len() - text.trim_start().len()]);
        if look == self.look {
            self.end_space();
        } else {
            self.close_style();
            self.end_space();
            for (has, tag) in tags(look) {
                if has {
                    self.markup.push_str(&format!("<{tag}>"));
                }
            }
            self.look = look;
        }
        push_escaped(&mut self.markup, bare);
        self.space.push_str(&text[text.trim_end().len()..]);
    }

    fn end_space(&mut self) {
        if !self.markup.is_empty() {
            push_escaped(&mut self.markup, &self.space);
        }
        self.space.clear();
    }

    fn close_style(&mut self) {
        for (has, tag) in tags(self.look).into_iter().rev() {
            if has {
                self.markup.push_str(&format!("</{tag}>"));
            }
        }
        self.look = TextStyle::default();
    }

    pub(crate) fn line_break(&mut self) {
        self.markup.push_str("<br>");
    }

    /// Begins a link when the address is one that a page may have.
    pub(crate) fn begin_link(&mut self, address: &str) {
        self.end_link();
        if is_web_address(address) {
            self.close_style();
            self.end_space();
            self.markup.push_str("<a href=\"");
            push_escaped(&mut self.markup, address);
            self.markup.push_str("\">");
            self.link = true;
        }
    }

    pub(crate) fn end_link(&mut self) {
        if std::mem::take(&mut self.link) {
            self.close_style();
            self.markup.push_str("</a>");
        }
    }

    /// Appends the sign of a note.
    pub(crate) fn note(&mut self, number: usize) {
        self.close_style();
        self.end_space();
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

fn tags(look: TextStyle) -> [(bool, &'static str); 3] {
    [(look.bold, "strong"), (look.italic, "em"), (look.strike, "del")]
}

/// Returns whether an address leads to the web and not into the file or to a script.
pub(crate) fn is_web_address(address: &str) -> bool {
    ["http://", "https://", "mailto:", "ftp://"]
        .iter()
        .any(|scheme| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// Role of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Body,
    /// A heading of a level from 1.
    Heading(u32),
    /// An item of a list at a depth from 0.
    Item {
        depth: usize,
        ordered: bool,
    },
}

/// The blocks of a document, one after the other.
#[derive(Debug)]
pub(crate) struct HtmlFlow {
    html: Html,
    /// Ordered or not, for each open list, outermost first.
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

    fn close_lists(&mut self, keep: usize) {
        while self.lists.len() > keep {
            let ordered = self.lists.pop().unwrap_or_default();
            self.html.push(if ordered { "</li></ol>\n" } else { "</li></ul>\n" });
        }
    }

    /// Keeps a note for the end, and returns its number.
    pub(crate) fn add_note(&mut self, markup: String) -> usize {
        self.notes.push(markup);
        self.notes.len()
    }

    /// Returns the HTML, and whether something was left out.
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

    /// Appends a cell that goes over `span` columns.
    pub(crate) fn cell(&mut self, markup: String, span: usize) {
        if self.rows.is_empty() {
            self.row();
        }
        if let Some(row) = self.rows.last_mut() {
            row.push((markup, span.clamp(1, 100)));
        }
    }

    /// Returns the markup; the first row is the head. Rows and columns at the ends without text are left out.
    pub(crate) fn finish(mut self) -> String {
        let blank = |row: &Vec<(String, usize)>| row.iter().all(|(cell, _)| cell.trim().is_empty());
        while self.rows.last().is_some_and(blank) {
            self.rows.pop();
        }
        let first = self.rows.iter().position(|row| !blank(row)).unwrap_or(self.rows.len());
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
