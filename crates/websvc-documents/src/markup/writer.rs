//! Writes the elements of a vocabulary as HTML.

use super::{Action, ActionOf, citation};
use crate::error::DocumentError;
use crate::html::{self, escape};
use crate::inline::is_web_url;
use crate::mathml;
use crate::parsed_document::DocumentMetadata;
use crate::xml::{Tag, Xml};

/// The maximum numbers of notes and authors.
const MAX_NOTES: usize = 10_000;
const MAX_AUTHORS: usize = 200;

/// An element that is being read.
struct Open {
    name: String,
    action: Action,
    /// The markup that ends it.
    close: String,
}

pub(super) struct Writer {
    action_of: ActionOf,
    /// The markup of the text, and of the notes and titles that are being read.
    buffers: Vec<String>,
    open: Vec<Open>,
    /// The names of the open elements.
    names: Vec<String>,
    /// The number of open parts of the text.
    depth: usize,
    notes: Vec<String>,
    authors: Vec<String>,
    metadata: DocumentMetadata,
    /// The fixed title of the part of the text that has begun, until its own title or its content follows.
    pending_title: Option<(&'static str, usize)>,
    /// The authors are not written yet.
    has_pending_authors: bool,
    /// A formula was written in the element of alternative forms that is being read.
    has_alternative: bool,
    /// The number of bytes of all markup.
    total: usize,
    max_bytes: usize,
    is_full: bool,
}

impl Writer {
    pub(super) fn new(action_of: ActionOf, max_bytes: usize) -> Self {
        Self {
            action_of,
            buffers: vec![String::new()],
            open: Vec::new(),
            names: Vec::new(),
            depth: 0,
            notes: Vec::new(),
            authors: Vec::new(),
            metadata: DocumentMetadata::default(),
            pending_title: None,
            has_pending_authors: false,
            has_alternative: false,
            total: 0,
            max_bytes,
            is_full: false,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn has_content(&self) -> bool {
        self.buffers.iter().any(|buffer| !buffer.trim().is_empty())
    }

    fn push(&mut self, markup: &str) {
        // The elements around the notes have to fit, too.
        let reserved = 64 + self.notes.len() * 48;
        if self.total + markup.len() + reserved > self.max_bytes {
            self.is_full = true;
        } else if let Some(buffer) = self.buffers.last_mut() {
            self.total += markup.len();
            buffer.push_str(markup);
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        let is_structure = self.open.last().is_some_and(|open| {
            matches!(
                open.action,
                Action::Element("table" | "tr" | "dl") | Action::List | Action::OrderedList | Action::Section
            )
        });
        if is_structure && text.trim().is_empty() {
            return;
        }
        if !text.trim().is_empty() && self.buffers.len() == 1 {
            self.write_pending();
        }
        let mut escaped = escape(text);
        if self.open.iter().any(|open| open.action == Action::Lines) {
            escaped = escaped.trim_end_matches('\n').replace('\n', "<br>");
        }
        self.push(&escaped);
    }

    /// Writes what comes before the content that follows.
    fn write_pending(&mut self) {
        if std::mem::take(&mut self.has_pending_authors) {
            let authors = escape(&self.authors.join(", "));
            self.push(&format!("<p>{authors}</p>\n"));
        }
        if let Some((title, level)) = self.pending_title.take() {
            self.push(&format!("<h{level}>{title}</h{level}>\n"));
        }
    }

    pub(super) fn start(&mut self, tag: &Tag, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        let action = (self.action_of)(tag, &self.names);
        match action {
            Action::Title => self.pending_title = None,
            Action::Content
            | Action::Skip
            | Action::MainTitle
            | Action::Author
            | Action::Date
            | Action::Label => {}
            _ => self.write_pending(),
        }
        if tag.name == "alternatives" {
            self.has_alternative = false;
        }
        let close = match action {
            Action::Skip => return xml.skip(),
            Action::Math | Action::Latex if self.is_second_alternative() => return xml.skip(),
            Action::Citation => {
                let text = citation::read(xml, &tag.name)?;
                let markup =
                    if self.is_in_list() { format!("<li>{}</li>\n", escape(&text)) } else { escape(&text) };
                self.push(&markup);
                return Ok(());
            }
            Action::Math => {
                let markup = mathml::read(xml, tag)?;
                self.push(&markup);
                return Ok(());
            }
            Action::Latex => {
                let latex = xml.text()?;
                self.formula(&latex);
                return Ok(());
            }
            Action::Author => return self.author(xml, &tag.name),
            Action::Date => return self.date(tag, xml),
            _ => self.begin(tag, action),
        };
        self.names.push(tag.name.clone());
        self.open.push(Open { name: tag.name.clone(), action, close });
        Ok(())
    }

    /// Begins an element, and returns the markup that ends it.
    fn begin(&mut self, tag: &Tag, action: Action) -> String {
        let (open, close) = match action {
            Action::Element(name) => (format!("<{name}>"), format!("</{name}>")),
            Action::Section | Action::TitledSection(_) => {
                self.depth += 1;
                if let Action::TitledSection(title) = action {
                    self.pending_title = Some((title, self.level()));
                }
                (String::new(), String::new())
            }
            Action::Title => self.title(),
            Action::MainTitle => {
                self.buffers.push(String::new());
                (String::new(), String::new())
            }
            Action::Paragraph if self.is_inline() => (String::new(), " ".to_owned()),
            Action::Paragraph => ("<p>".to_owned(), "</p>\n".to_owned()),
            Action::Lines => ("<p>".to_owned(), "</p>\n".to_owned()),
            Action::Label => ("<strong>".to_owned(), "</strong> ".to_owned()),
            Action::Code => {
                let language = tag.get("language").or_else(|| tag.get("lang")).unwrap_or_default();
                (html::code_start(language), "</code></pre>\n".to_owned())
            }
            Action::Quote => ("<blockquote>".to_owned(), "</blockquote>\n".to_owned()),
            Action::Admonition(label) => {
                (format!("<blockquote><p><strong>{label}</strong></p>\n"), "</blockquote>\n".to_owned())
            }
            Action::OrderedList => {
                let start = ["startingnumber", "start"]
                    .iter()
                    .find_map(|name| tag.get(name)?.trim().parse::<u32>().ok());
                let start = start.map(|start| format!(" start=\"{start}\"")).unwrap_or_default();
                (format!("<ol{start}>"), "</ol>\n".to_owned())
            }
            Action::List => ("<ul>".to_owned(), "</ul>\n".to_owned()),
            Action::Item if self.is_in("dl") => ("<dd>".to_owned(), "</dd>\n".to_owned()),
            Action::Item if !self.is_in_list() => ("<p>".to_owned(), "</p>\n".to_owned()),
            Action::Item => ("<li>".to_owned(), "</li>\n".to_owned()),
            Action::Cell(name, columns, rows) => (cell(tag, name, columns, rows), format!("</{name}>")),
            Action::Note | Action::NamedNote => {
                self.buffers.push(String::new());
                (String::new(), tag.get("id").map(escape).unwrap_or_default())
            }
            Action::NoteReference(name) => {
                let id = tag.get(name).map(escape).unwrap_or_default();
                (format!("<sup><a href=\"#note-{id}\">"), "</a></sup>".to_owned())
            }
            Action::Link(name) => match tag.get(name).filter(|url| is_web_url(url)) {
                Some(url) => (format!("<a href=\"{}\">", escape(url)), "</a>".to_owned()),
                None => (String::new(), String::new()),
            },
            Action::Image(name) => {
                let url = tag.get(name).filter(|url| is_web_url(url));
                (
                    url.map(|url| format!("<img src=\"{}\" alt=\"\">", escape(url))).unwrap_or_default(),
                    String::new(),
                )
            }
            Action::Break => (String::new(), "<br>".to_owned()),
            Action::Space => (" ".to_owned(), String::new()),
            Action::Text(text) => (text.to_owned(), String::new()),
            _ => (String::new(), String::new()),
        };
        self.push(&open);
        close
    }

    pub(super) fn end(&mut self, name: &str) {
        // Also ends the inner elements that have no end tag.
        let Some(index) = self.open.iter().rposition(|open| open.name == name) else { return };
        while self.open.len() > index {
            self.names.pop();
            let Some(Open { action, close, .. }) = self.open.pop() else { break };
            match action {
                Action::Section | Action::TitledSection(_) => self.depth = self.depth.saturating_sub(1),
                Action::MainTitle => self.end_main_title(),
                Action::Note => self.end_note(),
                Action::NamedNote => {
                    let note = self.buffers.pop().unwrap_or_default();
                    self.push(&format!("<p id=\"note-{close}\">{}</p>\n", note.trim()));
                    continue;
                }
                _ => {}
            }
            if !matches!(action, Action::Note) {
                self.push(&close);
            }
        }
    }

    fn level(&self) -> usize {
        (self.depth + 1).clamp(1, 6)
    }

    /// Returns whether a block here would be inside a paragraph, an item, a cell or a note.
    fn is_inline(&self) -> bool {
        self.open.iter().rev().find(|open| !matches!(open.action, Action::Content)).is_some_and(|open| {
            matches!(
                open.action,
                Action::Paragraph
                    | Action::Cell(..)
                    | Action::Note
                    | Action::NamedNote
                    | Action::Item
                    | Action::Element("dd")
            )
        })
    }

    /// Returns whether the innermost element is an element of HTML.
    fn is_in(&self, name: &str) -> bool {
        self.open
            .last()
            .is_some_and(|open| matches!(open.action, Action::Element(element) if element == name))
    }

    /// Returns whether another form of the formula that begins was written.
    fn is_second_alternative(&mut self) -> bool {
        let is_alternative = self.names.last().is_some_and(|name| name == "alternatives");
        is_alternative && std::mem::replace(&mut self.has_alternative, true)
    }

    fn is_in_list(&self) -> bool {
        self.open.last().is_some_and(|open| matches!(open.action, Action::List | Action::OrderedList))
    }

    /// Returns the markup around a title: a heading of a part of the text, and strong text elsewhere.
    fn title(&self) -> (String, String) {
        let around = self.open.iter().rev().find(|open| !matches!(open.action, Action::Content));
        match around.map(|open| open.action) {
            Some(Action::Section | Action::TitledSection(_)) => {
                let level = self.level();
                (format!("<h{level}>"), format!("</h{level}>\n"))
            }
            Some(Action::Element("table")) => ("<caption>".to_owned(), "</caption>".to_owned()),
            Some(Action::List | Action::OrderedList) => {
                ("<li><strong>".to_owned(), "</strong></li>".to_owned())
            }
            None => {
                let level = self.level() + 1;
                (format!("<h{level}>"), format!("</h{level}>\n"))
            }
            Some(_) => ("<p><strong>".to_owned(), "</strong></p>\n".to_owned()),
        }
    }

    fn end_main_title(&mut self) {
        let title = self.buffers.pop().unwrap_or_default();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return;
        }
        if self.metadata.title.is_none() {
            self.metadata.title = Some(plain(&title));
            self.push(&format!("<h1>{title}</h1>\n"));
        } else if self.metadata.title.as_deref() != Some(plain(&title).as_str()) {
            self.push(&format!("<p><strong>{title}</strong></p>\n"));
        }
    }

    fn end_note(&mut self) {
        let note = self.buffers.pop().unwrap_or_default();
        if self.notes.len() < MAX_NOTES && !note.trim().is_empty() {
            self.notes.push(note.trim().to_owned());
            let number = self.notes.len();
            self.push(&format!("<sup><a href=\"#fn{number}\">{number}</a></sup>"));
        }
    }

    fn formula(&mut self, latex: &str) {
        // Some articles have whole documents of LaTeX around each formula.
        let inner = latex.split_once("\\begin{document}").map_or(latex, |(_, rest)| rest);
        let inner = inner.split_once("\\end{document}").map_or(inner, |(formula, _)| formula).trim();
        let display = self
            .names
            .iter()
            .any(|name| matches!(name.as_str(), "disp-formula" | "equation" | "informalequation"))
            || inner.starts_with("$$");
        let formula = html::formula(inner.trim_matches('$'), display);
        if !formula.is_empty() {
            self.push(&formula);
        }
    }

    /// Reads the name of an author.
    fn author(&mut self, xml: &mut Xml<'_>, element: &str) -> Result<(), DocumentError> {
        use crate::xml::Token;
        let (mut given, mut family, mut other) = (Vec::new(), Vec::new(), String::new());
        while let Some(token) = xml.next()? {
            match token {
                Token::End(name) if name == element => break,
                Token::End(_) => {}
                Token::Text(text) => other.push_str(&text),
                Token::Start(tag) => match tag.name.as_str() {
                    "given-names" | "forename" | "firstname" => given.push(xml.text()?),
                    "surname" => family.push(xml.text()?),
                    "collab" | "orgname" | "string-name" | "name" | "persName" | "personname"
                    | "name-alternatives" => {}
                    _ => xml.skip()?,
                },
            }
        }
        let name = if family.is_empty() {
            other
        } else {
            given.into_iter().chain(family).collect::<Vec<_>>().join(" ")
        };
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        if !name.is_empty() && self.authors.len() < MAX_AUTHORS && !self.authors.contains(&name) {
            self.authors.push(name);
            self.has_pending_authors = true;
        }
        Ok(())
    }

    /// Reads the date of publication: year, month and day, or a text.
    fn date(&mut self, tag: &Tag, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        use crate::xml::Token;
        let mut parts: [Option<u32>; 3] = [None; 3];
        let mut text = String::new();
        while let Some(token) = xml.next()? {
            match token {
                Token::End(name) if name == tag.name => break,
                Token::End(_) => {}
                Token::Text(piece) => text.push_str(&piece),
                Token::Start(inner) => {
                    let index = ["year", "month", "day"].iter().position(|name| *name == inner.name);
                    let value = xml.text()?.trim().parse().ok();
                    if let Some(index) = index {
                        parts[index] = value;
                    }
                }
            }
        }
        let date = match parts {
            [Some(year), Some(month), Some(day)] => Some(format!("{year:04}-{month:02}-{day:02}")),
            [Some(year), Some(month), None] => Some(format!("{year:04}-{month:02}")),
            [Some(year), ..] => Some(format!("{year:04}")),
            _ => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        };
        self.metadata.created = self.metadata.created.take().or(date);
        Ok(())
    }

    /// Returns the HTML, the metadata, and whether content was dropped because of the size limit.
    pub(super) fn finish(mut self) -> (String, DocumentMetadata, bool) {
        while let Some(open) = self.open.last() {
            let name = open.name.clone();
            self.end(&name);
        }
        let mut html = self.buffers.swap_remove(0);
        if !self.notes.is_empty() {
            html.push_str("<ol>");
            for (index, note) in self.notes.iter().enumerate() {
                html.push_str(&format!("<li id=\"fn{}\">{note}</li>\n", index + 1));
            }
            html.push_str("</ol>\n");
        }
        if !self.authors.is_empty() {
            self.metadata.author = Some(self.authors.join(", "));
        }
        (html, self.metadata, self.is_full)
    }
}

fn cell(tag: &Tag, name: &str, columns: &str, rows: &str) -> String {
    let mut markup = format!("<{name}");
    for (attribute, source) in [("colspan", columns), ("rowspan", rows)] {
        // `morerows` counts the further rows.
        let extra = usize::from(source == "morerows");
        let span = tag
            .get(source)
            .and_then(|span| span.trim().parse::<usize>().ok())
            .map(|span| span.min(100) + extra);
        let named = (columns.is_empty() && attribute == "colspan").then(|| named_span(tag)).flatten();
        if let Some(span) = span.or(named).filter(|span| *span > 1) {
            markup.push_str(&format!(" {attribute}=\"{span}\""));
        }
    }
    markup.push('>');
    markup
}

/// Returns the number of columns between two named columns, such as `c1` and `c3`.
fn named_span(tag: &Tag) -> Option<usize> {
    let number = |name| {
        tag.get(name)?.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse::<usize>().ok()
    };
    let (first, last) = (number("namest")?, number("nameend")?);
    (first < last).then(|| (last - first + 1).min(100))
}

/// Returns the text of markup without its tags and entities.
fn plain(markup: &str) -> String {
    let mut text = String::with_capacity(markup.len());
    let mut in_tag = false;
    for character in markup.chars() {
        match character {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if in_tag => {}
            other => text.push(other),
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
