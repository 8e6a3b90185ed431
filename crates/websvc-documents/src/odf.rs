//! OpenDocument: texts, spreadsheets and presentations, which are one format.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Inline, Role, Table, TextStyle};
use crate::html::escaped;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::about;
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::Package;

/// A cell or row that is repeated more often than this stands for the rest of an empty sheet.
const MAX_REPEATED: usize = 64;
/// A sheet is read to so many cells.
const MAX_CELLS: usize = 1_000_000;

/// Reads an OpenDocument file.
pub(crate) fn parse(
    kind: DocumentKind,
    bytes: Vec<u8>,
    limits: &Limits<'_>,
) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(kind, bytes, limits.max_inflated_bytes)?;
    if package.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(DocumentError::Encrypted { kind });
    }
    let about = about(&mut package, kind, "meta.xml")?;
    let text = package.required("content.xml")?;
    let mut reader = Reader {
        xml: Xml::new(kind, &text),
        kind,
        limits,
        looks: HashMap::new(),
        ordered: HashMap::new(),
        flow: HtmlFlow::new(limits.max_output_bytes),
        cells: 0,
        pages: PageCounts::default(),
    };
    reader.body()?;
    let pages = reader.pages;
    let (html, is_full) = reader.flow.finish();
    let mut warnings = Vec::new();
    if is_full || reader.cells > MAX_CELLS {
        warnings.push("the text was cut off at the largest size of an answer".to_owned());
    }
    if pages.read < pages.total {
        warnings.push(format!("{} of {} pages were read", pages.read, pages.total));
    }
    Ok(ParsedDocument { html, about, pages: (pages.total > 0).then_some(pages), warnings })
}

struct Reader<'t, 'l> {
    xml: Xml<'t>,
    kind: DocumentKind,
    limits: &'l Limits<'l>,
    looks: HashMap<String, TextStyle>,
    /// Of each style of lists, whether its levels are numbered.
    ordered: HashMap<String, bool>,
    flow: HtmlFlow,
    cells: usize,
    /// The slides or sheets.
    pages: PageCounts,
}

impl Reader<'_, '_> {
    fn body(&mut self) -> Result<(), DocumentError> {
        let mut lists: Vec<bool> = Vec::new();
        while let Some(token) = self.xml.next()? {
            if self.flow.is_full() || (self.limits.stop)() {
                break;
            }
            match token {
                Token::Start(tag) => match tag.name.as_str() {
                    "automatic-styles" => self.styles()?,
                    "list" => {
                        let named = tag.get("style-name").and_then(|name| self.ordered.get(name)).copied();
                        lists.push(named.or(lists.last().copied()).unwrap_or(false));
                    }
                    "h" => {
                        let level =
                            tag.get("outline-level").and_then(|level| level.parse().ok()).unwrap_or(1);
                        let inline = self.paragraph("h")?;
                        self.flow.paragraph(Role::Heading(level), inline);
                    }
                    "p" => {
                        let inline = self.paragraph("p")?;
                        let role = match lists.last() {
                            Some(ordered) => Role::Item { depth: lists.len() - 1, ordered: *ordered },
                            None => Role::Body,
                        };
                        self.flow.paragraph(role, inline);
                    }
                    "table" => self.sheet(&tag)?,
                    "page" => self.page(&tag)?,
                    // Deleted text, notes of the speaker, and what is drawn only.
                    "tracked-changes" | "notes" | "annotation" | "forms" => self.xml.skip()?,
                    _ => {}
                },
                Token::End(name) if name == "list" => {
                    lists.pop();
                }
                Token::End(_) | Token::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Reads the styles of the document itself: which are bold, italic or struck, which lists are numbered.
    fn styles(&mut self) -> Result<(), DocumentError> {
        let (mut style, mut list) = (String::new(), String::new());
        while let Some(token) = self.xml.next()? {
            match token {
                Token::End(name) if name == "automatic-styles" => break,
                Token::Start(tag) => match tag.name.as_str() {
                    "style" => style = tag.get_exact("style:name").unwrap_or_default().to_owned(),
                    "list-style" => list = tag.get_exact("style:name").unwrap_or_default().to_owned(),
                    "list-level-style-number" => {
                        self.ordered.entry(list.clone()).or_insert(true);
                    }
                    "list-level-style-bullet" => {
                        self.ordered.entry(list.clone()).or_insert(false);
                    }
                    "text-properties" => {
                        let look = TextStyle {
                            bold: tag.get("font-weight") == Some("bold"),
                            italic: matches!(tag.get("font-style"), Some("italic" | "oblique")),
                            strike: tag.get("text-line-through-style").is_some_and(|style| style != "none"),
                        };
                        self.looks.insert(style.clone(), look);
                    }
                    _ => {}
                },
                Token::End(_) | Token::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Reads the paragraph whose start was read.
    fn paragraph(&mut self, element: &str) -> Result<Inline, DocumentError> {
        let mut inline = Inline::default();
        let mut looks = vec![TextStyle::default()];
        let mut open = 1;
        while open > 0 {
            let Some(token) = self.xml.next()? else { break };
            let look = looks.last().copied().unwrap_or_default();
            match token {
                Token::Text(text) => inline.text(&text, look),
                Token::End(name) => match name.as_str() {
                    "span" if looks.len() > 1 => {
                        looks.pop();
                    }
                    "a" => inline.end_link(),
                    name if name == element => open -= 1,
                    _ => {}
                },
                Token::Start(tag) => match tag.name.as_str() {
                    "span" => {
                        let named = tag.get("style-name").and_then(|name| self.looks.get(name));
                        looks.push(named.copied().unwrap_or(look));
                    }
                    "a" => inline.begin_link(tag.get("href").unwrap_or_default()),
                    "s" | "tab" => inline.text(" ", look),
                    "line-break" => inline.line_break(),
                    "note" => {
                        let note = self.note()?;
                        let number = self.flow.add_note(note);
                        inline.note(number);
                    }
                    "annotation" => self.xml.skip()?,
                    // A frame within a paragraph has paragraphs of its own.
                    name if name == element => {
                        open += 1;
                        inline.text(" ", look);
                    }
                    _ => {}
                },
            }
        }
        Ok(inline)
    }

    /// Reads the text of a note.
    fn note(&mut self) -> Result<String, DocumentError> {
        let mut text = String::new();
        while let Some(token) = self.xml.next()? {
            match token {
                Token::End(name) if name == "note" => break,
                Token::Start(tag) if tag.name == "note-citation" => self.xml.skip()?,
                Token::Text(piece) => text.push_str(&piece),
                Token::Start(_) | Token::End(_) => {}
            }
        }
        Ok(escaped(text.trim()))
    }

    /// Begins a slide.
    fn page(&mut self, tag: &Tag) -> Result<(), DocumentError> {
        self.pages.total += 1;
        if self.pages.total > self.limits.max_pages {
            return self.xml.skip();
        }
        self.pages.read += 1;
        let name = tag.get_exact("draw:name").unwrap_or_default();
        let title = if name.is_empty() { format!("Slide {}", self.pages.total) } else { name.to_owned() };
        self.flow.block(&format!("<h2>{}</h2>\n", escaped(&title)));
        Ok(())
    }

    /// Reads a table; in a spreadsheet it is a sheet with a name.
    fn sheet(&mut self, tag: &Tag) -> Result<(), DocumentError> {
        if self.kind == DocumentKind::Ods {
            self.pages.total += 1;
            if self.pages.total > self.limits.max_pages {
                return self.xml.skip();
            }
            self.pages.read += 1;
            let name = tag.get_exact("table:name").unwrap_or_default();
            self.flow.block(&format!("<h2>{}</h2>\n", escaped(name)));
        }
        let table = self.table()?;
        self.flow.block(&table);
        Ok(())
    }

    fn table(&mut self) -> Result<String, DocumentError> {
        let mut table = Table::default();
        let mut row: Vec<(String, usize)> = Vec::new();
        let mut repeated = 1;
        let mut open = 1;
        while open > 0 {
            match self.xml.next()? {
                None => break,
                Some(Token::Start(tag)) => match tag.name.as_str() {
                    "table" => open += 1,
                    "table-row" if open == 1 => {
                        row.clear();
                        repeated = repeats(&tag, "number-rows-repeated");
                    }
                    "table-cell" | "covered-table-cell" if open == 1 => self.cell(&tag, &mut row)?,
                    _ => {}
                },
                Some(Token::End(name)) => match name.as_str() {
                    "table" => open -= 1,
                    "table-row" if open == 1 => self.end_row(&mut table, &row, repeated),
                    _ => {}
                },
                Some(Token::Text(_)) => {}
            }
        }
        Ok(table.finish())
    }

    fn end_row(&mut self, table: &mut Table, row: &[(String, usize)], repeated: usize) {
        let filled = row.iter().rposition(|(cell, _)| !cell.is_empty()).map_or(0, |last| last + 1);
        for _ in 0..if filled == 0 { 1 } else { repeated } {
            self.cells += filled;
            if self.cells > MAX_CELLS {
                return;
            }
            table.row();
            row[..filled].iter().for_each(|(cell, span)| table.cell(cell.clone(), *span));
        }
    }

    fn cell(&mut self, tag: &Tag, row: &mut Vec<(String, usize)>) -> Result<(), DocumentError> {
        let times = repeats(tag, "number-columns-repeated");
        let span = tag.get("number-columns-spanned").and_then(|span| span.parse().ok()).unwrap_or(1);
        let element = tag.name.clone();
        let mut paragraphs = Vec::new();
        while let Some(token) = self.xml.next()? {
            match token {
                Token::End(name) if name == element => break,
                Token::Start(tag) => match tag.name.as_str() {
                    "p" | "h" => {
                        let inline = self.paragraph(&tag.name)?;
                        if !inline.is_empty() {
                            paragraphs.push(inline.finish());
                        }
                    }
                    "annotation" => self.xml.skip()?,
                    _ => {}
                },
                Token::End(_) | Token::Text(_) => {}
            }
        }
        if element == "covered-table-cell" {
            return Ok(());
        }
        let markup = paragraphs.join("<br>");
        for _ in 0..times {
            row.push((markup.clone(), span));
        }
        Ok(())
    }
}

fn repeats(tag: &Tag, name: &str) -> usize {
    let times: usize = tag.get(name).and_then(|times| times.parse().ok()).unwrap_or(1);
    if times > MAX_REPEATED { 1 } else { times.max(1) }
}
