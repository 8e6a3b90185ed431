//! Word: paragraphs by their styles, lists by their numbering, tables, links and notes.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Inline, Role, Table, TextStyle};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::{Relations, about};
use crate::parsed_document::ParsedDocument;
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::Package;

const KIND: DocumentKind = DocumentKind::Docx;
const DOCUMENT: &str = "word/document.xml";

/// Reads a Word document.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    let about = about(&mut package, KIND, "docProps/core.xml")?;
    let mut reader = Reader {
        headings: headings(&mut package)?,
        ordered: ordered_lists(&mut package)?,
        relations: Relations::of(&mut package, KIND, DOCUMENT)?,
        notes: notes(&mut package)?,
        flow: HtmlFlow::new(limits.max_output_bytes),
        stop: limits.stop,
    };
    let text = package.required(DOCUMENT)?;
    let mut xml = Xml::new(KIND, &text);
    let broken = reader.body(&mut xml).err();
    let (html, is_full) = reader.flow.finish();
    let mut warnings = Vec::new();
    match broken {
        Some(DocumentError::Damaged { reason, .. }) if !html.is_empty() => {
            warnings.push(format!("the document is damaged and was read in part: {reason}"));
        }
        Some(error) => return Err(error),
        None => {}
    }
    if is_full {
        warnings.push("the text was cut off at the largest size of an answer".to_owned());
    }
    Ok(ParsedDocument { html, about, pages: None, warnings })
}

/// Returns the levels of the styles that are headings.
fn headings(package: &mut Package) -> Result<HashMap<String, u32>, DocumentError> {
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

/// Returns of each list and level whether it is numbered.
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

/// Returns the texts of the notes by their ids, those at the end of the document under `e` and their id.
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

/// State of the paragraph that is being read.
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
                    // The same content once more, for programs that know no better.
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
        let mut look = TextStyle::default();
        let mut hidden = false;
        let mut open = 1;
        while open > 0 {
            match xml.next()? {
                None => break,
                Some(Token::Text(_)) => {}
                Some(Token::End(name)) => match name.as_str() {
                    "p" => open -= 1,
                    "hyperlink" => paragraph.inline.end_link(),
                    "r" => (look, hidden) = (TextStyle::default(), false),
                    _ => {}
                },
                Some(Token::Start(tag)) => match tag.name.as_str() {
                    // A text box within a paragraph has paragraphs of its own.
                    "p" => open += 1,
                    "b" => look.bold = is_on(&tag),
                    "i" => look.italic = is_on(&tag),
                    "strike" | "dstrike" => look.strike = is_on(&tag),
                    "vanish" => hidden = is_on(&tag),
                    "t" => {
                        let text = xml.text()?;
                        if !hidden {
                            paragraph.inline.text(&text, look);
                        }
                    }
                    "Fallback" | "rPrChange" | "pPrChange" => xml.skip()?,
                    _ => self.within_paragraph(&tag, &mut paragraph),
                },
            }
        }
        Ok(paragraph)
    }

    fn within_paragraph(&mut self, tag: &Tag, paragraph: &mut Paragraph) {
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
                if let Some(address) = tag.get_exact("r:id").and_then(|id| self.relations.get(id)) {
                    paragraph.inline.begin_link(address);
                }
            }
            "footnoteReference" | "endnoteReference" => {
                let prefix = if tag.name.starts_with('e') { "e" } else { "" };
                let id = format!("{prefix}{}", tag.get("id").unwrap_or_default());
                if let Some(text) = self.notes.get(&id) {
                    let mut note = Inline::default();
                    note.text(text.trim(), TextStyle::default());
                    let number = self.flow.add_note(note.finish());
                    paragraph.inline.note(number);
                }
            }
            _ => {}
        }
    }

    /// Reads a table; tables within its cells become text of the cell.
    fn table(&mut self, xml: &mut Xml<'_>) -> Result<String, DocumentError> {
        let mut table = Table::default();
        let (mut cell, mut span, mut open) = (Vec::new(), 1, 1);
        while open > 0 {
            match xml.next()? {
                None => break,
                Some(Token::Start(tag)) => match tag.name.as_str() {
                    "tbl" => open += 1,
                    "tr" if open == 1 => table.row(),
                    "tc" if open == 1 => (cell, span) = (Vec::new(), 1),
                    "gridSpan" if open == 1 => {
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
                    "tbl" => open -= 1,
                    "tc" if open == 1 => table.cell(std::mem::take(&mut cell).join("<br>"), span),
                    _ => {}
                },
                Some(Token::Text(_)) => {}
            }
        }
        Ok(table.finish())
    }
}

/// Returns whether a property that is switched on by being there is on.
fn is_on(tag: &Tag) -> bool {
    !matches!(tag.get("val"), Some("0" | "false" | "off" | "none"))
}
