//! Reads Word documents: headings, lists and their numbers, tables, formulas, code, quotes, links, images and notes.

mod numbering;
mod paragraph;
mod styles;
mod table;

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::flow::{Block, HtmlFlow, Role, note_markup};
use crate::inline::Inline;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::{Images, Relations, read_metadata};
use crate::parsed_document::ParsedDocument;
use crate::xml::{Token, Xml};
use crate::zip_package::Package;
use numbering::Numbering;
use paragraph::Field;
use styles::Styles;

const KIND: DocumentKind = DocumentKind::Docx;
const DOCUMENT: &str = "word/document.xml";
/// The maximum nesting depth of fields.
const MAX_FIELDS: usize = 32;

/// Reads a Word document.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    let metadata = read_metadata(&mut package, KIND, "docProps/core.xml")?;
    let text = package.required(DOCUMENT)?;
    let mut reader = Reader::new(package, limits)?;
    let mut error = reader.read(&text).err();
    if reader.is_typewritten() {
        // The font of the whole text has a fixed width, so it does not mark code.
        let mut again = Reader::new(reader.package, limits)?;
        again.fonts_mark_code = false;
        error = again.read(&text).err();
        reader = again;
    }
    let (html, is_full) = reader.flow.finish();
    let mut warnings = Vec::new();
    match error {
        Some(DocumentError::Damaged { reason, .. }) if !html.is_empty() => {
            warnings.push(format!("the document is damaged and was read partially: {reason}"));
        }
        Some(error) => return Err(error),
        None => {}
    }
    if is_full {
        warnings.push("the text was cut off at the maximum output size".to_owned());
    }
    Ok(ParsedDocument { html, metadata, warnings, ..ParsedDocument::default() })
}

struct Reader<'l> {
    package: Package,
    styles: Styles,
    numbering: Numbering,
    relations: Relations,
    images: Images,
    /// The markup of the notes by ID. The IDs of endnotes have the prefix `e`.
    notes: HashMap<String, String>,
    flow: HtmlFlow,
    stop: &'l dyn Fn() -> bool,
    /// Text in a font of fixed width is code.
    fonts_mark_code: bool,
    /// The numbers of characters of all text and of text that counts as code.
    chars: usize,
    code_chars: usize,
    /// The fields that are open, outermost first. A table of contents is a field of many paragraphs.
    fields: Vec<Field>,
    /// The text of a paragraph whose end was deleted.
    carried: Option<Inline>,
    /// The blocks of text boxes and charts in the paragraph that is being read.
    boxes: Vec<Block>,
    /// The alternative text of the next image.
    alternative: String,
    /// The next formula is on a line of its own.
    display_formula: bool,
}

impl<'l> Reader<'l> {
    fn new(mut package: Package, limits: &Limits<'l>) -> Result<Self, DocumentError> {
        let styles = match package.part("word/styles.xml")? {
            Some(text) => Styles::read(&text)?,
            None => Styles::default(),
        };
        let numbering = match package.part("word/numbering.xml")? {
            Some(text) => Numbering::read(&text, &styles)?,
            None => Numbering::default(),
        };
        let relations = Relations::read(&mut package, KIND, DOCUMENT)?;
        Ok(Self {
            package,
            styles,
            numbering,
            relations,
            images: Images::default(),
            notes: HashMap::new(),
            flow: HtmlFlow::new(limits.max_output_bytes),
            stop: limits.stop,
            fonts_mark_code: true,
            chars: 0,
            code_chars: 0,
            fields: Vec::new(),
            carried: None,
            boxes: Vec::new(),
            alternative: String::new(),
            display_formula: false,
        })
    }

    fn read(&mut self, document: &str) -> Result<(), DocumentError> {
        for (part, prefix) in [("word/footnotes.xml", ""), ("word/endnotes.xml", "e")] {
            if let Some(text) = self.package.part(part)? {
                let relations = Relations::read(&mut self.package, KIND, part)?;
                let relations = std::mem::replace(&mut self.relations, relations);
                let notes = self.notes(&text, prefix);
                self.relations = relations;
                self.notes.extend(notes?);
            }
        }
        self.body(&mut Xml::new(KIND, document))
    }

    /// Returns whether the text is in a font of fixed width as a whole.
    fn is_typewritten(&self) -> bool {
        self.fonts_mark_code && self.chars > 400 && self.code_chars * 10 > self.chars * 7
    }

    /// Returns the markup of the notes of a part by ID.
    fn notes(&mut self, text: &str, prefix: &str) -> Result<HashMap<String, String>, DocumentError> {
        let mut xml = Xml::new(KIND, text);
        let mut notes = HashMap::new();
        let mut note: Option<(String, Vec<String>)> = None;
        while let Some(token) = xml.next()? {
            match token {
                Token::Start(tag) if matches!(tag.name.as_str(), "footnote" | "endnote") => {
                    note = tag.get("id").map(|id| (format!("{prefix}{id}"), Vec::new()));
                }
                Token::Start(tag) if tag.name == "p" => {
                    let inline = self.paragraph(&mut xml)?.inline;
                    self.boxes.clear();
                    if let Some((_, paragraphs)) = note.as_mut().filter(|_| !inline.is_empty()) {
                        paragraphs.push(inline.finish());
                    }
                }
                Token::End(name) if matches!(name.as_str(), "footnote" | "endnote") => {
                    if let Some((id, paragraphs)) =
                        note.take().filter(|(_, paragraphs)| !paragraphs.is_empty())
                    {
                        notes.insert(id, note_markup(&paragraphs));
                    }
                }
                _ => {}
            }
        }
        Ok(notes)
    }

    fn body(&mut self, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        while let Some(token) = xml.next()? {
            if self.flow.is_full() || (self.stop)() {
                break;
            }
            let Token::Start(tag) = token else { continue };
            match tag.name.as_str() {
                "p" => {
                    let mut paragraph = self.paragraph(xml)?;
                    if paragraph.properties.is_joined() {
                        self.carried = Some(std::mem::take(&mut paragraph.inline));
                    }
                    let block = self.block(paragraph);
                    self.flow.write(block);
                }
                "tbl" => {
                    let blocks = self.table(xml)?;
                    blocks.into_iter().for_each(|block| self.flow.write(block));
                }
                // A duplicate of the content for programs that do not support the preferred form, or settings.
                "Fallback" | "sectPr" | "sdtPr" => xml.skip()?,
                _ => {}
            }
            for block in std::mem::take(&mut self.boxes) {
                self.flow.write(block);
            }
        }
        if let Some(inline) = self.carried.take() {
            self.flow.paragraph(Role::Body, inline);
        }
        Ok(())
    }
}
