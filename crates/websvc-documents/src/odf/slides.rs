//! Reads the slides of a presentation: the title once, the content, the notes.

use super::Reader;
use super::lists::Lists;
use crate::error::DocumentError;
use crate::flow::{Block, Role};
use crate::html::escape;
use crate::inline::Inline;
use crate::xml::{Tag, Token};

impl Reader<'_, '_> {
    /// Reads a slide, or skips it if it is hidden or beyond the page limit.
    pub(super) fn slide(&mut self, tag: &Tag) -> Result<(), DocumentError> {
        if tag.get_exact("draw:style-name").is_some_and(|style| self.styles.is_hidden(style)) {
            return self.xml.skip();
        }
        self.pages.total += 1;
        if self.pages.total > self.limits.max_pages {
            return self.xml.skip();
        }
        self.pages.read += 1;
        let name = tag.get_exact("draw:name").unwrap_or_default().to_owned();
        let (mut title, mut blocks, mut notes) = (None, Vec::new(), Vec::new());
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
                            let texts = self.text_box("frame")?;
                            title = joined(texts);
                        }
                        // They repeat on every slide.
                        ("frame", "date-time" | "footer" | "header" | "page-number") => self.xml.skip()?,
                        ("notes", _) => notes = self.slide_notes()?,
                        _ => blocks.extend(self.blocks(&inner, &mut lists)?),
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
        blocks.into_iter().for_each(|block| self.flow.write(block));
        for (index, mut inline) in notes.into_iter().enumerate() {
            if index == 0 {
                inline.prefix("Notes: ");
            }
            self.flow.paragraph(Role::Quote, inline);
        }
        Ok(())
    }

    /// Reads the notes of a slide.
    fn slide_notes(&mut self) -> Result<Vec<Inline>, DocumentError> {
        let mut notes = Vec::new();
        while let Some(token) = self.xml.next()? {
            match token {
                Token::End(name) if name == "notes" => break,
                Token::Start(tag) if tag.name == "frame" => {
                    if tag.get_exact("presentation:class") == Some("notes") {
                        notes.extend(self.text_box("frame")?.into_iter().filter_map(text_of));
                    } else {
                        self.xml.skip()?;
                    }
                }
                _ => {}
            }
        }
        Ok(notes)
    }
}

fn text_of(block: Block) -> Option<Inline> {
    match block {
        Block::Paragraph(_, inline) if !inline.is_empty() => Some(inline),
        _ => None,
    }
}

/// Returns the paragraphs of a title on one line.
fn joined(blocks: Vec<Block>) -> Option<Inline> {
    blocks.into_iter().filter_map(text_of).reduce(|mut title, inline| {
        title.append(inline);
        title
    })
}

/// Returns whether a program gave the name of a slide, such as `page1`.
fn is_generated(name: &str) -> bool {
    name.trim_end_matches(|digit: char| digit.is_ascii_digit()).eq_ignore_ascii_case("page") && !name.ends_with('e')
}
