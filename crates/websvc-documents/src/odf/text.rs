//! Reads paragraphs, with the frames in them: images, formulas and text boxes.

use super::Reader;
use super::lists::Lists;
use super::table;
use crate::error::DocumentError;
use crate::flow::{Block, Role, note_markup};
use crate::inline::{Inline, TextStyle};
use crate::mathml;
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::resolve;

/// The maximum number of spaces that an element stands for.
const MAX_SPACES: usize = 200;

impl Reader<'_, '_> {
    /// Reads the paragraph whose start tag was read.
    pub(super) fn paragraph(&mut self, element: &str, start: &Tag) -> Result<Inline, DocumentError> {
        let mut inline = Inline::default();
        let mut outer = TextStyle::default();
        let mut is_hidden = false;
        // The paragraph style tells code and hidden text; its other properties are those of the whole block.
        if let Some(name) = start.get("style-name") {
            let (style, hidden) = self.styles.text_style(name, outer);
            (outer.code, is_hidden) = (style.code, hidden);
        }
        let mut styles = vec![(outer, is_hidden)];
        while let Some(token) = self.xml.next()? {
            let (style, is_hidden) = styles.last().copied().unwrap_or_default();
            match token {
                Token::Text(text) if !is_hidden => inline.text(&text, style),
                Token::Text(_) => {}
                Token::End(name) => match name.as_str() {
                    "span" if styles.len() > 1 => {
                        styles.pop();
                    }
                    "a" => inline.end_link(),
                    name if name == element => break,
                    _ => {}
                },
                Token::Start(tag) => match tag.name.as_str() {
                    "span" => {
                        let named = tag.get("style-name").map(|name| self.styles.text_style(name, style));
                        styles.push(
                            named.map_or((style, is_hidden), |(text, hidden)| (text, hidden || is_hidden)),
                        );
                    }
                    "a" => inline.begin_link(tag.get("href").unwrap_or_default()),
                    "s" => {
                        let count =
                            tag.get_exact("text:c").and_then(|count| count.parse().ok()).unwrap_or(1_usize);
                        inline.text(&" ".repeat(count.min(MAX_SPACES)), style);
                    }
                    "tab" => inline.tab(),
                    "line-break" => inline.line_break(),
                    "note" => {
                        let note = self.note()?;
                        let number = self.flow.add_note(note);
                        inline.note_reference(number);
                    }
                    "frame" => self.frame(&mut inline)?,
                    // The text of a shape.
                    "p" | "h" => {
                        let text = self.paragraph(&tag.name, &tag)?;
                        self.boxes.push(Block::Paragraph(Role::Body, text));
                    }
                    "annotation" | "hidden-text" | "ruby-text" => self.xml.skip()?,
                    _ => {}
                },
            }
        }
        Ok(inline)
    }

    /// Reads a footnote or endnote, and returns its markup.
    fn note(&mut self) -> Result<String, DocumentError> {
        let mut paragraphs = Vec::new();
        while let Some(tag) = self.xml.start_in("note")? {
            match tag.name.as_str() {
                "note-citation" => self.xml.skip()?,
                "p" | "h" => {
                    let inline = self.paragraph(&tag.name, &tag)?;
                    if !inline.is_empty() {
                        paragraphs.push(inline.finish());
                    }
                }
                _ => {}
            }
        }
        Ok(note_markup(&paragraphs))
    }

    /// Reads a frame: an image or a formula becomes a part of the paragraph, a text box follows it.
    pub(super) fn frame(&mut self, inline: &mut Inline) -> Result<(), DocumentError> {
        let (mut image, mut alternative, mut has_content) = (None, String::new(), false);
        while let Some(tag) = self.xml.start_in("frame")? {
            match tag.name.as_str() {
                "object" => {
                    let target = tag.get("href").unwrap_or_default().to_owned();
                    has_content = self.object(&target, inline)?;
                    self.xml.skip()?;
                }
                "image" if !has_content && image.is_none() => {
                    image = tag.get("href").map(|target| resolve("content.xml", target));
                }
                "desc" => alternative = self.xml.text()?,
                "title" if alternative.is_empty() => alternative = self.xml.text()?,
                "text-box" => {
                    let blocks = self.text_box("text-box")?;
                    self.boxes.extend(blocks);
                }
                "table" => {
                    let table = self.table()?;
                    self.boxes.push(Block::Markup(table));
                }
                "image" | "annotation" | "event-listeners" => self.xml.skip()?,
                _ => {}
            }
        }
        let Some(target) = image.filter(|_| !has_content) else { return Ok(()) };
        if let Some(url) = self.images.url(&mut self.package, &target)? {
            inline.image(&url, &alternative);
        } else {
            inline.text(&alternative, TextStyle::default());
        }
        Ok(())
    }

    /// Appends the formula of an embedded object, or the table of a chart. Returns `false` if the object is something
    /// else.
    fn object(&mut self, target: &str, inline: &mut Inline) -> Result<bool, DocumentError> {
        let part = format!("{}/content.xml", resolve("content.xml", target));
        let Some(text) = self.package.small_part(&part, mathml::MAX_BYTES)? else { return Ok(false) };
        let text = String::from_utf8_lossy(&text);
        let mut xml = Xml::new(self.kind, &text);
        while let Some(token) = xml.next()? {
            if let Token::Start(tag) = token {
                if tag.name == "math" {
                    inline.markup(&mathml::read(&mut xml, &tag)?);
                    return Ok(true);
                }
                if tag.name == "chart" {
                    let table = table::chart(&mut xml)?;
                    self.boxes.push(Block::Markup(table));
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Reads the blocks of an element up to its end.
    pub(super) fn text_box(&mut self, element: &str) -> Result<Vec<Block>, DocumentError> {
        let mut lists = Lists::default();
        let mut blocks = Vec::new();
        let outer = std::mem::take(&mut self.boxes);
        while let Some(token) = self.xml.next()? {
            match token {
                Token::End(name) if name == element => break,
                Token::End(name) => lists.end(&name),
                Token::Start(tag) => blocks.extend(self.blocks(&tag, &mut lists)?),
                Token::Text(_) => {}
            }
        }
        self.boxes = outer;
        Ok(blocks)
    }
}
