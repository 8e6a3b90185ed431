//! Reads OpenDocument files: texts, spreadsheets and presentations, which share one format.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Inline, Role, Table, TextStyle};
use crate::html::escape;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::read_metadata;
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::Package;

/// The maximum repetition of a cell or row. Larger numbers fill the rest of an empty sheet and count as 1.
const MAX_REPEATED: usize = 64;
/// The maximum number of cells of all sheets that are read.
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
    let metadata = read_metadata(&mut package, kind, "meta.xml")?;
    let text = package.required("content.xml")?;
    let mut reader = Reader {
        xml: Xml::new(kind, &text),
        kind,
        limits,
        text_styles: HashMap::new(),
        ordered_lists: HashMap::new(),
        flow: HtmlFlow::new(limits.max_output_bytes),
        cell_count: 0,
        pages: PageCounts::default(),
    };
    reader.body()?;
    let pages = reader.pages;
    let (html, is_full) = reader.flow.finish();
    let mut warnings = Vec::new();
    if is_full || reader.cell_count > MAX_CELLS {
        warnings.push("the text was cut off at the maximum size".to_owned());
    }
    if pages.read < pages.total {
        warnings.push(format!("{} of {} pages were read", pages.read, pages.total));
    }
    Ok(ParsedDocument {
        html,
        page_html: None,
        layout_html: None,
        metadata,
        pages: (pages.total > 0).then_some(pages),
        warnings,
    })
}

struct Reader<'t, 'l> {
    xml: Xml<'t>,
    kind: DocumentKind,
    limits: &'l Limits<'l>,
    text_styles: HashMap<String, TextStyle>,
    /// For each list style: `true` if its lists are numbered.
    ordered_lists: HashMap<String, bool>,
    flow: HtmlFlow,
    cell_count: usize,
    /// The counts of slides or sheets.
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
                        let ordered =
                            tag.get("style-name").and_then(|name| self.ordered_lists.get(name)).copied();
                        lists.push(ordered.or(lists.last().copied()).unwrap_or(false));
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
                    // Deleted text, speaker notes, comments and form controls.
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

    /// Reads the automatic styles of the document: text styles, and the lists that are numbered.
    fn styles(&mut self) -> Result<(), DocumentError> {
        let (mut style, mut list) = (String::new(), String::new());
        while let Some(token) = self.xml.next()? {
            match token {
                Token::End(name) if name == "automatic-styles" => break,
                Token::Start(tag) => match tag.name.as_str() {
                    "style" => style = tag.get_exact("style:name").unwrap_or_default().to_owned(),
                    "list-style" => list = tag.get_exact("style:name").unwrap_or_default().to_owned(),
                    "list-level-style-number" => {
                        self.ordered_lists.entry(list.clone()).or_insert(true);
                    }
                    "list-level-style-bullet" => {
                        self.ordered_lists.entry(list.clone()).or_insert(false);
                    }
                    "text-properties" => {
                        let text_style = TextStyle {
                            bold: tag.get("font-weight") == Some("bold"),
                            italic: matches!(tag.get("font-style"), Some("italic" | "oblique")),
                            strike: tag.get("text-line-through-style").is_some_and(|style| style != "none"),
                        };
                        self.text_styles.insert(style.clone(), text_style);
                    }
                    _ => {}
                },
                Token::End(_) | Token::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Reads the paragraph whose start tag was read.
    fn paragraph(&mut self, element: &str) -> Result<Inline, DocumentError> {
        let mut inline = Inline::default();
        let mut style_stack = vec![TextStyle::default()];
        let mut depth = 1;
        while depth > 0 {
            let Some(token) = self.xml.next()? else { break };
            let style = style_stack.last().copied().unwrap_or_default();
            match token {
                Token::Text(text) => inline.text(&text, style),
                Token::End(name) => match name.as_str() {
                    "span" if style_stack.len() > 1 => {
                        style_stack.pop();
                    }
                    "a" => inline.end_link(),
                    name if name == element => depth -= 1,
                    _ => {}
                },
                Token::Start(tag) => match tag.name.as_str() {
                    "span" => {
                        let named = tag.get("style-name").and_then(|name| self.text_styles.get(name));
                        style_stack.push(named.copied().unwrap_or(style));
                    }
                    "a" => inline.begin_link(tag.get("href").unwrap_or_default()),
                    "s" | "tab" => inline.text(" ", style),
                    "line-break" => inline.line_break(),
                    "note" => {
                        let note = self.note()?;
                        let number = self.flow.add_note(note);
                        inline.note_reference(number);
                    }
                    "annotation" => self.xml.skip()?,
                    // A frame within a paragraph contains further paragraphs.
                    name if name == element => {
                        depth += 1;
                        inline.text(" ", style);
                    }
                    _ => {}
                },
            }
        }
        Ok(inline)
    }

    /// Reads a footnote or endnote.
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
        Ok(escape(text.trim()))
    }

    /// Begins a slide, or skips it if it is beyond the page limit.
    fn page(&mut self, tag: &Tag) -> Result<(), DocumentError> {
        self.pages.total += 1;
        if self.pages.total > self.limits.max_pages {
            return self.xml.skip();
        }
        self.pages.read += 1;
        let name = tag.get_exact("draw:name").unwrap_or_default();
        let title = if name.is_empty() { format!("Slide {}", self.pages.total) } else { name.to_owned() };
        self.flow.block(&format!("<h2>{}</h2>\n", escape(&title)));
        Ok(())
    }

    /// Reads a table. In a spreadsheet, each top-level table is a sheet with a name.
    fn sheet(&mut self, tag: &Tag) -> Result<(), DocumentError> {
        if self.kind == DocumentKind::Ods {
            self.pages.total += 1;
            if self.pages.total > self.limits.max_pages {
                return self.xml.skip();
            }
            self.pages.read += 1;
            let name = tag.get_exact("table:name").unwrap_or_default();
            self.flow.block(&format!("<h2>{}</h2>\n", escape(name)));
        }
        let table = self.table()?;
        self.flow.block(&table);
        Ok(())
    }

    fn table(&mut self) -> Result<String, DocumentError> {
        let mut table = Table::default();
        let mut row: Vec<(String, usize)> = Vec::new();
        let mut repeated = 1;
        let mut depth = 1;
        while depth > 0 {
            match self.xml.next()? {
                None => break,
                Some(Token::Start(tag)) => match tag.name.as_str() {
                    "table" => depth += 1,
                    "table-row" if depth == 1 => {
                        row.clear();
                        repeated = repetitions(&tag, "number-rows-repeated");
                    }
                    "table-cell" | "covered-table-cell" if depth == 1 => self.cell(&tag, &mut row)?,
                    _ => {}
                },
                Some(Token::End(name)) => match name.as_str() {
                    "table" => depth -= 1,
                    "table-row" if depth == 1 => self.end_row(&mut table, &row, repeated),
                    _ => {}
                },
                Some(Token::Text(_)) => {}
            }
        }
        Ok(table.finish())
    }

    fn end_row(&mut self, table: &mut Table, row: &[(String, usize)], repeated: usize) {
        let filled_cells = row.iter().rposition(|(cell, _)| !cell.is_empty()).map_or(0, |last| last + 1);
        for _ in 0..if filled_cells == 0 { 1 } else { repeated } {
            self.cell_count += filled_cells;
            if self.cell_count > MAX_CELLS {
                return;
            }
            table.row();
            row[..filled_cells].iter().for_each(|(cell, span)| table.cell(cell.clone(), *span));
        }
    }

    fn cell(&mut self, tag: &Tag, row: &mut Vec<(String, usize)>) -> Result<(), DocumentError> {
        let times = repetitions(tag, "number-columns-repeated");
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

/// Returns the value of a repetition attribute: at least 1, and 1 if it is more than [`MAX_REPEATED`].
fn repetitions(tag: &Tag, name: &str) -> usize {
    let times: usize = tag.get(name).and_then(|times| times.parse().ok()).unwrap_or(1);
    if times > MAX_REPEATED { 1 } else { times.max(1) }
}
