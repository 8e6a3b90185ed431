//! Reduces the XHTML of a chapter to elements with a meaning, and joins notes with their references.

use std::collections::{HashMap, HashSet};

use super::{KIND, percent_decode};
use crate::error::DocumentError;
use crate::html::{escape, push_escaped};
use crate::inline::is_web_url;
use crate::mathml;
use crate::office::Images;
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::{Package, resolve};

/// The elements that are written to the output. Of other elements, only the content is written.
const ALLOWED_ELEMENTS: &[&str] = &[
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "b",
    "i",
    "sup",
    "sub",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "caption",
    "figure",
    "figcaption",
    "section",
    "div",
    "br",
    "hr",
    "del",
    "s",
    "q",
    "cite",
    "kbd",
    "samp",
    "var",
    "aside",
    "ins",
    "mark",
    "small",
    "u",
    "ruby",
    "rt",
    "rp",
];
/// The elements that are dropped with their content.
const DROPPED_ELEMENTS: &[&str] = &["script", "style", "head", "svg", "nav", "template", "object", "iframe"];

/// The maximum length of the text of a reference to a note, in bytes.
const MAX_REFERENCE_BYTES: usize = 24;

/// The numbers of the chapters by their paths, and the places that are referred to.
pub(super) struct Chapters {
    numbers: HashMap<String, usize>,
    places: std::cell::RefCell<Places>,
}

/// The IDs of a book, each with the number of its chapter.
#[derive(Default)]
struct Places {
    /// The notes.
    notes: HashSet<(usize, String)>,
    /// The references to notes.
    references: HashSet<(usize, String)>,
}

impl Chapters {
    pub(super) fn new(paths: &[String]) -> Self {
        let numbers = paths.iter().enumerate().map(|(number, path)| (path.clone(), number)).collect();
        Self { numbers, places: std::cell::RefCell::default() }
    }
}

/// The chapter that is being read.
pub(super) struct Sanitizer<'c> {
    chapters: &'c Chapters,
    path: &'c str,
    number: usize,
    package: &'c mut Package,
    images: &'c mut Images,
    markup: String,
    open: Vec<String>,
    /// The ID of the element around a link, if the link is its first element. A note may refer back to it.
    last_id: String,
    /// The number of open superscripts.
    superscripts: usize,
}

impl<'c> Sanitizer<'c> {
    pub(super) fn new(
        chapters: &'c Chapters,
        path: &'c str,
        package: &'c mut Package,
        images: &'c mut Images,
    ) -> Self {
        let number = chapters.numbers.get(path).copied().unwrap_or_default();
        Self {
            chapters,
            path,
            number,
            package,
            images,
            markup: String::new(),
            open: Vec::new(),
            last_id: String::new(),
            superscripts: 0,
        }
    }

    /// Reads the chapter. Returns `true` if it is damaged, so that the content is incomplete.
    pub(super) fn read(&mut self, text: &str) -> Result<bool, DocumentError> {
        let mut xml = Xml::new(KIND, text);
        loop {
            match xml.next() {
                Ok(None) => return Ok(false),
                Err(DocumentError::Damaged { .. }) => return Ok(true),
                Err(error) => return Err(error),
                Ok(Some(Token::Text(text))) => push_escaped(&mut self.markup, &text),
                Ok(Some(Token::Start(tag))) => self.start(&tag, &mut xml)?,
                Ok(Some(Token::End(name))) => self.end(&name),
            }
        }
    }

    /// Returns the markup, with all elements closed.
    pub(super) fn finish(mut self) -> String {
        while let Some(name) = self.open.pop() {
            self.markup.push_str(&format!("</{name}>"));
        }
        self.markup.push('\n');
        self.markup
    }

    fn start(&mut self, tag: &Tag, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        let name = tag.name.as_str();
        if DROPPED_ELEMENTS.contains(&name) || has_type(tag, "pagebreak", "doc-pagebreak") {
            return xml.skip();
        }
        match name {
            "math" => {
                let formula = mathml::read(xml, tag)?;
                self.markup.push_str(&formula);
            }
            "a" => self.link(tag, xml)?,
            "img" => self.image(tag)?,
            name if ALLOWED_ELEMENTS.contains(&name) => {
                self.markup.push_str(&format!("<{name}"));
                self.attributes(tag);
                self.markup.push('>');
                if !matches!(name, "br" | "hr") {
                    self.open.push(name.to_owned());
                }
                self.superscripts += usize::from(name == "sup");
            }
            _ => self.anchor(tag),
        }
        let id = tag.get("id").filter(|_| matches!(name, "sup" | "span")).unwrap_or_default();
        id.clone_into(&mut self.last_id);
        Ok(())
    }

    /// Writes the attributes that the output keeps: the IDs of notes, spans, numbers of lists, languages of code.
    fn attributes(&mut self, tag: &Tag) {
        if let Some(id) = tag.get("id").filter(|id| self.is_note(id)) {
            self.markup.push_str(&format!(" id=\"{}\"", place(self.number, id)));
        }
        for name in ["colspan", "rowspan", "start", "value"] {
            if let Some(number) = tag.get(name).and_then(|number| number.trim().parse::<u32>().ok()) {
                self.markup.push_str(&format!(" {name}=\"{number}\""));
            }
        }
        if let Some(class) = tag.get("class").filter(|class| class.starts_with("language-")) {
            self.markup.push_str(&format!(" class=\"{}\"", escape(class)));
        }
    }

    /// Writes the place of a note that another element than those in the output has.
    fn anchor(&mut self, tag: &Tag) {
        if let Some(id) = tag.get("id").filter(|id| self.is_note(id)) {
            self.markup.push_str(&format!("<span id=\"{}\"></span>", place(self.number, id)));
        }
    }

    fn is_note(&self, id: &str) -> bool {
        self.chapters.places.borrow().notes.contains(&(self.number, id.to_owned()))
    }

    fn link(&mut self, tag: &Tag, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        let href = tag.get("href").unwrap_or_default();
        if is_web_url(href) {
            self.markup.push_str(&format!("<a href=\"{}\">", escape(href)));
            self.open.push("a".to_owned());
            return Ok(());
        }
        self.anchor(tag);
        let Some(target) = self.target(href) else { return Ok(()) };
        let id = tag.get("id").unwrap_or(&self.last_id).to_owned();
        let mut places = self.chapters.places.borrow_mut();
        if has_type(tag, "backlink", "doc-backlink") || places.references.contains(&target) {
            drop(places);
            let text = xml.text()?;
            if text.trim().len() > MAX_REFERENCE_BYTES {
                push_escaped(&mut self.markup, &text);
            }
            return Ok(());
        }
        if !has_type(tag, "noteref", "doc-noteref") && self.superscripts == 0 {
            return Ok(());
        }
        let reference = format!("<a href=\"#{}\">", place(target.0, &target.1));
        places.notes.insert(target);
        if !id.is_empty() {
            places.references.insert((self.number, id));
        }
        drop(places);
        let text = xml.text()?;
        let text = text.trim();
        if text.len() > MAX_REFERENCE_BYTES {
            push_escaped(&mut self.markup, text);
            return Ok(());
        }
        let (open, close) = if self.superscripts == 0 { ("<sup>", "</sup>") } else { ("", "") };
        self.markup.push_str(&format!("{open}{reference}{}</a>{close}", escape(text)));
        Ok(())
    }

    /// Returns the chapter and the ID that a link refers to.
    fn target(&self, href: &str) -> Option<(usize, String)> {
        let (path, fragment) = href.split_once('#')?;
        let number = if path.is_empty() {
            self.number
        } else {
            *self.chapters.numbers.get(&resolve(self.path, &percent_decode(path)))?
        };
        (!fragment.is_empty()).then(|| (number, percent_decode(fragment)))
    }

    fn image(&mut self, tag: &Tag) -> Result<(), DocumentError> {
        let alternative = tag.get("alt").unwrap_or_default();
        let target = tag.get("src").unwrap_or_default();
        let target =
            if is_web_url(target) { target.to_owned() } else { resolve(self.path, &percent_decode(target)) };
        match self.images.url(self.package, &target)? {
            Some(url) => {
                let alternative = escape(alternative);
                self.markup.push_str(&format!("<img src=\"{}\" alt=\"{alternative}\">", escape(&url)));
            }
            None => push_escaped(&mut self.markup, alternative),
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        // Also closes the inner elements that have no end tag.
        if let Some(index) = self.open.iter().rposition(|open_name| open_name == name) {
            while self.open.len() > index {
                if let Some(inner) = self.open.pop() {
                    self.markup.push_str(&format!("</{inner}>"));
                    self.superscripts -= usize::from(inner == "sup").min(self.superscripts);
                }
            }
        }
    }
}

/// Returns whether an element has a type of EPUB or a role.
fn has_type(tag: &Tag, epub_type: &str, role: &str) -> bool {
    let has = |value: Option<&str>, name: &str| {
        value.is_some_and(|value| value.split_whitespace().any(|word| word == name))
    };
    has(tag.get_exact("epub:type"), epub_type) || has(tag.get_exact("role"), role)
}

/// Returns the ID of a place in the whole book.
fn place(chapter: usize, id: &str) -> String {
    format!("c{chapter}-{}", escape(id))
}
