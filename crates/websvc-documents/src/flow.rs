//! Writes paragraphs as HTML blocks in reading order: headings, lists, quotes, code, tables and notes.

use crate::html::{Html, code_start, escape};
use crate::inline::Inline;

/// The maximum nesting depth of lists.
const MAX_LISTS: usize = 9;
/// The highest number of a list item that is written as a number.
const MAX_NUMBER: u64 = 999_999_999;

/// The marker of a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Marker {
    Bullet,
    /// A plain number.
    Number(u64),
    /// Another number, as it is displayed, such as `(a)` or `1.2`.
    Text(String),
}

impl Marker {
    /// Returns the marker as text in front of an item that is not in a list.
    pub(crate) fn prefix(&self) -> String {
        match self {
            Marker::Bullet => "• ".to_owned(),
            Marker::Number(number) => format!("{number}. "),
            Marker::Text(text) => format!("{text} "),
        }
    }
}

/// The role of a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    Body,
    /// A heading. The level is 1-based.
    Heading(u32),
    /// An item of a list. The depth is 0-based.
    Item {
        depth: usize,
        marker: Marker,
    },
    /// A further paragraph of the last item.
    ItemText,
    Quote,
    /// A line of code.
    Code,
}

/// A block of a document.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Paragraph(Role, Inline),
    /// A table or another block, as markup.
    Markup(String),
}

impl Block {
    /// Returns the content of a paragraph.
    pub(crate) fn into_inline(self) -> Option<Inline> {
        match self {
            Block::Paragraph(_, inline) => Some(inline),
            Block::Markup(_) => None,
        }
    }
}

/// An open list.
#[derive(Debug)]
struct List {
    /// The depth that the document states. Levels without an item have no list.
    depth: usize,
    ordered: bool,
    /// The number of the next item.
    next: u64,
}

/// The blocks of a document, written in reading order.
#[derive(Debug)]
pub(crate) struct HtmlFlow {
    html: Html,
    /// The open lists, outermost first.
    lists: Vec<List>,
    /// The lines of the code that is being read.
    code: String,
    in_quote: bool,
    notes: Vec<String>,
}

impl HtmlFlow {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            html: Html::new(max_bytes),
            lists: Vec::new(),
            code: String::new(),
            in_quote: false,
            notes: Vec::new(),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.html.is_full()
    }

    /// Returns the number of bytes that still fit.
    pub(crate) fn remaining(&self) -> usize {
        self.html.remaining()
    }

    pub(crate) fn write(&mut self, block: Block) {
        match block {
            Block::Paragraph(role, inline) => self.paragraph(role, inline),
            Block::Markup(markup) => self.block(&markup),
        }
    }

    pub(crate) fn paragraph(&mut self, role: Role, inline: Inline) {
        if inline.is_empty() {
            if !self.code.is_empty() {
                self.code.push('\n');
            }
            return;
        }
        match role {
            Role::ItemText if !self.lists.is_empty() => {
                self.end_paragraphs();
                self.html.push(&format!("<p>{}</p>\n", inline.finish()));
            }
            Role::Body | Role::ItemText => self.block(&format!("<p>{}</p>\n", inline.finish())),
            Role::Heading(level) => {
                let level = level.clamp(1, 6);
                let mut markup = inline.finish();
                // Bold text does not stand out in a heading that is bold as a whole.
                if markup.starts_with("<strong>") && markup.ends_with("</strong>") {
                    markup = markup.replace("<strong>", "").replace("</strong>", "");
                }
                self.block(&format!("<h{level}>{markup}</h{level}>\n"));
            }
            Role::Item { depth, marker } => self.item(depth, &marker, &inline.finish()),
            Role::Quote => {
                if !self.in_quote {
                    self.block("<blockquote>");
                    self.in_quote = true;
                }
                self.html.push(&format!("<p>{}</p>\n", inline.finish()));
            }
            Role::Code => {
                if self.code.is_empty() {
                    self.end_blocks();
                }
                self.code.push_str(&inline.into_source());
                self.code.push('\n');
            }
        }
    }

    /// Appends markup outside of lists.
    pub(crate) fn block(&mut self, markup: &str) {
        if !markup.is_empty() {
            self.end_blocks();
            self.html.push(markup);
        }
    }

    /// Appends a block of code.
    pub(crate) fn code(&mut self, code: &str, language: &str) {
        let code = code.trim_end();
        if !code.trim().is_empty() {
            self.block(&code_block(code, language));
        }
    }

    fn item(&mut self, depth: usize, marker: &Marker, markup: &str) {
        self.end_paragraphs();
        while self.lists.last().is_some_and(|list| list.depth > depth) || self.lists.len() > MAX_LISTS {
            self.close_list();
        }
        let (ordered, number, prefix) = match marker {
            Marker::Bullet => (false, 1, String::new()),
            Marker::Number(number) => (true, (*number).min(MAX_NUMBER), String::new()),
            Marker::Text(text) => (false, 1, format!("{} ", escape(text))),
        };
        if self.lists.last().is_some_and(|list| list.depth == depth && list.ordered != ordered) {
            self.close_list();
        }
        if let Some(list) = self.lists.last_mut().filter(|list| list.depth == depth) {
            let is_next = list.next == number || !ordered;
            list.next = number + 1;
            self.html.push("</li>\n");
            self.html.push(&if is_next { "<li>".to_owned() } else { format!("<li value=\"{number}\">") });
        } else {
            self.html.push(&match (ordered, number) {
                (false, _) => "<ul><li>".to_owned(),
                (true, 1) => "<ol><li>".to_owned(),
                (true, start) => format!("<ol start=\"{start}\"><li>"),
            });
            self.lists.push(List { depth, ordered, next: number + 1 });
        }
        self.html.push(&prefix);
        self.html.push(markup);
    }

    fn close_list(&mut self) {
        if let Some(list) = self.lists.pop() {
            self.html.push(if list.ordered { "</li></ol>\n" } else { "</li></ul>\n" });
        }
    }

    /// Ends the quote and the code that are open.
    fn end_paragraphs(&mut self) {
        if !self.code.is_empty() {
            let code = std::mem::take(&mut self.code);
            self.html.push(&code_block(code.trim_end(), ""));
        }
        if std::mem::take(&mut self.in_quote) {
            self.html.push("</blockquote>\n");
        }
    }

    /// Ends all open blocks.
    fn end_blocks(&mut self) {
        self.end_paragraphs();
        while !self.lists.is_empty() {
            self.close_list();
        }
    }

    /// Stores a note, which is written at the end of the document, and returns its number.
    pub(crate) fn add_note(&mut self, markup: String) -> usize {
        self.notes.push(markup);
        self.notes.len()
    }

    /// Writes the notes of a slide as a quote.
    pub(crate) fn slide_notes(&mut self, notes: Vec<Inline>) {
        for (index, mut inline) in notes.into_iter().enumerate() {
            if index == 0 {
                inline.prefix("Notes: ");
            }
            self.paragraph(Role::Quote, inline);
        }
    }

    /// Returns the HTML, and whether content was dropped because of the size limit.
    pub(crate) fn finish(mut self) -> (String, bool) {
        self.end_blocks();
        let notes = std::mem::take(&mut self.notes);
        if !notes.is_empty() {
            self.html.push("<ol>");
            for (index, note) in notes.into_iter().enumerate() {
                self.html.push(&format!("<li id=\"fn{}\">{note}</li>\n", index + 1));
            }
            self.html.push("</ol>\n");
        }
        let is_full = self.html.is_full();
        (self.html.into_string(), is_full)
    }
}

fn code_block(code: &str, language: &str) -> String {
    format!("{}{}</code></pre>\n", code_start(language), escape(code))
}

/// Returns the markup of a note: a paragraph without an element around it, or several paragraphs.
pub(crate) fn note_markup(paragraphs: &[String]) -> String {
    match paragraphs {
        [only] => only.clone(),
        several => several.iter().map(|paragraph| format!("<p>{paragraph}</p>")).collect(),
    }
}
