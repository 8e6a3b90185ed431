//! Reads Word documents: headings by their styles, lists by their numbering, tables, links and notes.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Inline, Role, Table, TextStyle};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::{Relations, read_metadata};
use crate::parsed_document::ParsedDocument;
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::Package;

const KIND: DocumentKind = DocumentKind::Docx;
const DOCUMENT: &str = "word/document.xml";

/// Reads a Word document.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    let metadata = read_metadata(&mut package, KIND, "docProps/core.xml")?;
    let mut reader = Reader {
        headings: heading_levels(&mut package)?,
        ordered: ordered_lists(&mut package)?,
        relations: Relations::read(&mut package, KIND, DOCUMENT)?,
        notes: notes(&mut package)?,
        flow: HtmlFlow::new(limits.max_output_bytes),
        stop: limits.stop,
    };
    let text = package.required(DOCUMENT)?;
    let mut xml = Xml::new(KIND, &text);
    let error = reader.body(&mut xml).err();
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
    Ok(ParsedDocument { html, page_html: None, layout_html: None, metadata, pages: None, warnings })
}

/// Returns the heading levels of the heading styles, by style ID.
fn heading_levels(package: &mut Package) -> Result<HashMap<String, u32>, DocumentError> {
    let mut levels = HashMap::new();
    let Some(text) = package.part("word/styles.xml")? else { return Ok(levels) };
    let mut xml = Xml::new(KIND, &text);
    let mut style = None;
    while let Some(token) = xml.next()? {
        let Token::Start(tag) = token else { continue };
        match tag.name.as_str() {
            "style" => style = tag.get("styleId").map(str::to_owned),
            "name" => {
                let name = tag.get("val").unwrap_or_default().to_ascii_lowercase();
                let level = match name.strip_prefix("heading ") {
                    Some(number) => number.parse().ok(),
                    None => (name == "title").then_some(1),
                };
                if let (Some(style), Some(level)) = (&style, level) {
                    levels.insert(style.clone(), level);
                }
            }
            "outlineLvl" => {
                if let (Some(style), Some(level)) =
                    (&style, tag.get("val").and_then(|level| level.parse::<u32>().ok()))
                    && level < 9
                {
                    levels.entry(style.clone()).or_insert(level + 1);
                }
            }
            _ => {}
        }
    }
    Ok(levels)
}

/// Returns whether lists are numbered, by list ID and level.
fn ordered_lists(package: &mut Package) -> Result<HashMap<(String, String), bool>, DocumentError> {
    let mut lists = HashMap::new();
    let Some(text) = package.part("word/numbering.xml")? else { return Ok(lists) };
    let mut xml = Xml::new(KIND, &text);
    let mut formats: HashMap<String, Vec<(String, bool)>> = HashMap::new();
    let (mut definition, mut level, mut list) = (String::new(), String::new(), String::new());
    while let Some(token) = xml.next()? {
        let Token::Start(tag) = token else { continue };
        let value = |name| tag.get(name).unwrap_or_default().to_owned();
        match tag.name.as_str() {
            "abstractNum" => definition = value("abstractNumId"),
            "lvl" => level = value("ilvl"),
            "numFmt" => {
                let ordered = !matches!(tag.get("val"), Some("bullet" | "none"));
                formats.entry(definition.clone()).or_default().push((level.clone(), ordered));
            }
            "num" => list = value("numId"),
            "abstractNumId" => {
                for (level, ordered) in formats.get(&value("val")).into_iter().flatten() {
                    lists.insert((list.clone(), level.clone()), *ordered);
                }
            }
            _ => {}
        }
    }
    Ok(lists)
}

/// Returns the texts of the notes by ID. The IDs of endnotes have the prefix `e`.
fn notes(package: &mut Package) -> Result<HashMap<String, String>, DocumentError> {
    let mut notes = HashMap::new();
    for (part, prefix) in [("word/footnotes.xml", ""), ("word/endnotes.xml", "e")] {
        let Some(text) = package.part(part)? else { continue };
        let mut xml = Xml::new(KIND, &text);
        let mut note: Option<(String, String)> = None;
        while let Some(token) = xml.next()? {
            match token {
                Token::Start(tag) if matches!(tag.name.as_str(), "footnote" | "endnote") => {
                    note = tag.get("id").map(|id| (format!("{prefix}{id}"), String::new()));
                }
                Token::Start(tag) if tag.name == "t" => {
                    let piece = xml.text()?;
                    if let Some((_, text)) = &mut note {
                        text.push_str(&piece);
                    }
                }
                Token::End(name) if matches!(name.as_str(), "footnote" | "endnote") => {
                    notes.extend(note.take());
                }
                _ => {}
            }
        }
    }
    Ok(notes)
}

struct Reader<'l> {
    headings: HashMap<String, u32>,
    ordered: HashMap<(String, String), bool>,
    relations: Relations,
    notes: HashMap<String, String>,
    flow: HtmlFlow,
    stop: &'l dyn Fn() -> bool,
}

/// The paragraph that is being read.
#[derive(Default)]
struct Paragraph {
    inline: Inline,
    heading: Option<u32>,
    list: Option<String>,
    level: String,
}

impl Reader<'_> {
    fn body(&mut self, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        while let Some(token) = xml.next()? {
            if self.flow.is_full() || (self.stop)() {
                break;
            }
            if let Token::Start(tag) = token {
                match tag.name.as_str() {
                    "p" => {
                        let paragraph = self.paragraph(xml)?;
                        let role = self.role(&paragraph);
                        self.flow.paragraph(role, paragraph.inline);
                    }
                    "tbl" => {
                        let table = self.table(xml)?;
                        self.flow.block(&table);
                    }
                    // A duplicate of the content for programs that do not support the preferred form.
                    "Fallback" | "sectPr" => xml.skip()?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn role(&self, paragraph: &Paragraph) -> Role {
        match (&paragraph.list, paragraph.heading) {
            (_, Some(level)) => Role::Heading(level),
            (Some(list), None) if list != "0" => Role::Item {
                depth: paragraph.level.parse().unwrap_or(0),
                ordered: self.ordered.get(&(list.clone(), paragraph.level.clone())).copied().unwrap_or(false),
            },
            _ => Role::Body,
        }
    }

    fn paragraph(&mut self, xml: &mut Xml<'_>) -> Result<Paragraph, DocumentError> {
        let mut paragraph = Paragraph { level: "0".to_owned(), ..Paragraph::default() };
        let mut style = TextStyle::default();
        let mut hidden = false;
        let mut depth = 1;
        while depth > 0 {
            match xml.next()? {
                None => break,
                Some(Token::Text(_)) => {}
                Some(Token::End(name)) => match name.as_str() {
                    "p" => depth -= 1,
                    "hyperlink" => paragraph.inline.end_link(),
                    "r" => (style, hidden) = (TextStyle::default(), false),
                    _ => {}
                },
                Some(Token::Start(tag)) => match tag.name.as_str() {
                    // A text box within a paragraph contains further paragraphs.
                    "p" => depth += 1,
                    "b" => style.bold = is_on(&tag),
                    "i" => style.italic = is_on(&tag),
                    "strike" | "dstrike" => style.strike = is_on(&tag),
                    "vanish" => hidden = is_on(&tag),
                    "t" => {
                        let text = xml.text()?;
                        if !hidden {
                            paragraph.inline.text(&text, style);
                        }
                    }
                    "Fallback" | "rPrChange" | "pPrChange" => xml.skip()?,
                    _ => self.paragraph_element(&tag, &mut paragraph),
                },
            }
        }
        Ok(paragraph)
    }

    fn paragraph_element(&mut self, tag: &Tag, paragraph: &mut Paragraph) {
        let value = tag.get("val");
        match tag.name.as_str() {
            "pStyle" => {
                paragraph.heading =
                    value.and_then(|style| self.headings.get(style)).copied().or(paragraph.heading);
            }
            "outlineLvl" => {
                let level = value.and_then(|level| level.parse::<u32>().ok()).filter(|level| *level < 9);
                paragraph.heading = level.map(|level| level + 1).or(paragraph.heading);
            }
            "numId" => paragraph.list = value.map(str::to_owned),
            "ilvl" => paragraph.level = value.unwrap_or("0").to_owned(),
            "tab" => paragraph.inline.text(" ", TextStyle::default()),
            "br" | "cr" => paragraph.inline.line_break(),
            "noBreakHyphen" => paragraph.inline.text("-", TextStyle::default()),
            "hyperlink" => {
                if let Some(url) = tag.get_exact("r:id").and_then(|id| self.relations.get(id)) {
                    paragraph.inline.begin_link(url);
                }
            }
            "footnoteReference" | "endnoteReference" => {
                let prefix = if tag.name.starts_with('e') { "e" } else { "" };
                let id = format!("{prefix}{}", tag.get("id").unwrap_or_default());
                if let Some(text) = self.notes.get(&id) {
                    let mut note = Inline::default();
                    note.text(text.trim(), TextStyle::default());
                    let number = self.flow.add_note(note.finish());
                    paragraph.inline.note_reference(number);
                }
            }
            _ => {}
        }
    }

    /// Reads a table. Nested tables become text of the cell that contains them.
    fn table(&mut self, xml: &mut Xml<'_>) -> Result<String, DocumentError> {
        let mut table = Table::default();
        let (mut cell, mut span, mut depth) = (Vec::new(), 1, 1);
        while depth > 0 {
            match xml.next()? {
                None => break,
                Some(Token::Start(tag)) => match tag.name.as_str() {
                    "tbl" => depth += 1,
                    "tr" if depth == 1 => table.row(),
                    "tc" if depth == 1 => (cell, span) = (Vec::new(), 1),
                    "gridSpan" if depth == 1 => {
                        span = tag.get("val").and_then(|span| span.parse().ok()).unwrap_or(1);
                    }
                    "p" => {
                        let inline = self.paragraph(xml)?.inline;
                        if !inline.is_empty() {
                            cell.push(inline.finish());
                        }
                    }
                    "Fallback" => xml.skip()?,
                    _ => {}
                },
                Some(Token::End(name)) => match name.as_str() {
                    "tbl" => depth -= 1,
                    "tc" if depth == 1 => table.cell(std::mem::take(&mut cell).join("<br>"), span),
                    _ => {}
                },
                Some(Token::Text(_)) => {}
            }
        }
        Ok(table.finish())
    }
}

/// Returns whether an on/off property is on. Its presence without a value means on.
fn is_on(tag: &Tag) -> bool {
    !matches!(tag.get("val"), Some("0" | "false" | "off" | "none"))
}
