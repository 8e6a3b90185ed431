//! Reads the slides of a presentation: the title once, the content, the notes.

use super::Reader;
use super::lists::Lists;
use crate::error::DocumentError;
use crate::flow::{Block, Role};
use crate::html::escape;
use crate::inline::Inline;
use crate::reading_order::{Area, Shape, in_reading_order};
use crate::xml::{Tag, Token};

/// The number of EMU of each unit of length.
const UNITS: [(&str, f64); 5] =
    [("cm", 360_000.0), ("mm", 36_000.0), ("in", 914_400.0), ("pt", 12_700.0), ("px", 9_525.0)];

impl Reader<'_, '_> {
    /// Reads a slide, or skips it if it is hidden or beyond the page limit.
    pub(super) fn slide(&mut self, tag: &Tag) -> Result<(), DocumentError> {
        if !self.begin_page(tag.get_exact("draw:style-name")) {
            return self.xml.skip();
        }
        let name = tag.get_exact("draw:name").unwrap_or_default().to_owned();
        let (mut title, mut shapes, mut notes) = (None, Vec::new(), Vec::new());
        let mut lists = Lists::default();
        while let Some(token) = self.xml.next()? {
            match token {
                Token::End(element) if element == "page" => break,
                Token::End(element) => lists.end(&element),
                Token::Text(_) => {}
                Token::Start(inner) => {
                    let class = inner.get_exact("presentation:class").unwrap_or_default();
                    match (inner.name.as_str(), class) {
                        ("frame", "title") if title.is_none() => {
                            title = Inline::joined(texts(self.text_box("frame")?));
                        }
                        // They repeat on every slide.
                        ("frame", "date-time" | "footer" | "header" | "page-number") => self.xml.skip()?,
                        ("notes", _) => notes = self.slide_notes()?,
                        ("frame" | "custom-shape" | "g", _) => {
                            let area = area(&inner);
                            let blocks = self.shape(&inner.name)?;
                            shapes.push(Shape { area, blocks });
                        }
                        _ => {
                            let blocks = self.blocks(&inner, &mut lists)?;
                            shapes.push(Shape { area: None, blocks });
                        }
                    }
                }
            }
        }
        match title {
            Some(title) => self.flow.paragraph(Role::Heading(2), title),
            None => {
                let is_given = !name.is_empty() && !is_generated(&name);
                let name = if is_given { name } else { format!("Slide {}", self.pages.total) };
                self.flow.block(&format!("<h2>{}</h2>\n", escape(&name)));
            }
        }
        let shapes = in_reading_order(shapes);
        shapes.into_iter().flat_map(|shape| shape.blocks).for_each(|block| self.flow.write(block));
        self.flow.slide_notes(notes);
        Ok(())
    }

    /// Reads a shape: a frame with an image or an object, or the texts in it.
    fn shape(&mut self, element: &str) -> Result<Vec<Block>, DocumentError> {
        if element != "frame" {
            return self.text_box(element);
        }
        let mut inline = Inline::default();
        self.frame(&mut inline)?;
        let mut blocks = vec![Block::Paragraph(Role::Body, inline)];
        blocks.append(&mut self.boxes);
        Ok(blocks)
    }

    /// Reads the notes of a slide.
    fn slide_notes(&mut self) -> Result<Vec<Inline>, DocumentError> {
        let mut notes = Vec::new();
        while let Some(tag) = self.xml.start_in("notes")? {
            match tag.get_exact("presentation:class") {
                _ if tag.name != "frame" => {}
                Some("notes") => notes.extend(texts(self.text_box("frame")?)),
                _ => self.xml.skip()?,
            }
        }
        Ok(notes)
    }
}

/// Returns the area of a shape.
fn area(tag: &Tag) -> Option<Area> {
    let length = |name: &str| {
        let text = tag.get_exact(name)?;
        let (unit, scale) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
        let number = text.strip_suffix(unit)?.parse::<f64>().ok()?;
        number.is_finite().then_some(number * scale)
    };
    let (left, top) = (length("svg:x")?, length("svg:y")?);
    let (width, height) = (length("svg:width")?, length("svg:height").unwrap_or_default());
    Some(Area::new((left, top), (width, height)))
}

/// Returns the paragraphs with content.
fn texts(blocks: Vec<Block>) -> impl Iterator<Item = Inline> {
    blocks.into_iter().filter_map(Block::into_inline).filter(|inline| !inline.is_empty())
}

/// Returns whether a program gave the name of a slide, such as `page1`.
fn is_generated(name: &str) -> bool {
    name.trim_end_matches(|digit: char| digit.is_ascii_digit()).eq_ignore_ascii_case("page")
        && !name.ends_with('e')
}
