//! Reads Excel workbooks: each sheet as a table of the displayed cell texts.

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Table};
use crate::html::escape;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::number_format::NumberFormats;
use crate::office::{Relations, read_metadata};
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::Package;

const KIND: DocumentKind = DocumentKind::Xlsx;
const WORKBOOK: &str = "xl/workbook.xml";
/// The maximum number of cells of all sheets that are read, including empty cells between others.
const MAX_CELLS: usize = 1_000_000;
/// The maximum number of columns of a sheet that are read.
const MAX_COLUMNS: usize = 1024;

/// Reads a workbook.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    let metadata = read_metadata(&mut package, KIND, "docProps/core.xml")?;
    let sheets = sheets(&mut package)?;
    let strings = shared_strings(&mut package)?;
    let formats = match package.part("xl/styles.xml")? {
        Some(text) => NumberFormats::read(&text)?,
        None => NumberFormats::default(),
    };
    let mut reader = Reader { strings, formats, remaining_cells: MAX_CELLS, limits };
    let mut flow = HtmlFlow::new(limits.max_output_bytes);
    let mut pages =
        PageCounts { total: u32::try_from(sheets.len()).unwrap_or(u32::MAX), ..PageCounts::default() };
    for (name, part) in sheets.iter().take(limits.max_pages as usize) {
        if flow.is_full() || reader.remaining_cells == 0 || (limits.stop)() {
            break;
        }
        flow.block(&format!("<h2>{}</h2>\n", escape(name)));
        if let Some(text) = package.part(part)? {
            let table = reader.sheet(&text)?;
            flow.block(&table);
        }
        pages.read += 1;
    }
    let (html, is_full) = flow.finish();
    let mut warnings = Vec::new();
    if pages.read < pages.total {
        warnings.push(format!("{} of {} sheets were read", pages.read, pages.total));
    }
    if is_full || reader.remaining_cells == 0 {
        warnings.push("the tables were cut off at the maximum size".to_owned());
    }
    Ok(ParsedDocument { html, page_html: None, layout_html: None, metadata, pages: Some(pages), warnings })
}

/// Returns the names and the paths of the visible sheets.
fn sheets(package: &mut Package) -> Result<Vec<(String, String)>, DocumentError> {
    let relations = Relations::read(package, KIND, WORKBOOK)?;
    let text = package.required(WORKBOOK)?;
    let mut xml = Xml::new(KIND, &text);
    let mut sheets = Vec::new();
    while let Some(token) = xml.next()? {
        let Token::Start(tag) = token else { continue };
        let is_hidden = matches!(tag.get("state"), Some("hidden" | "veryHidden"));
        if tag.name == "sheet"
            && !is_hidden
            && let Some(part) = tag.get_exact("r:id").and_then(|id| relations.get(id))
        {
            sheets.push((tag.get("name").unwrap_or_default().to_owned(), part.to_owned()));
        }
    }
    Ok(sheets)
}

/// Returns the shared strings, to which cells refer by index.
fn shared_strings(package: &mut Package) -> Result<Vec<String>, DocumentError> {
    let mut strings = Vec::new();
    let Some(text) = package.part("xl/sharedStrings.xml")? else { return Ok(strings) };
    let mut xml = Xml::new(KIND, &text);
    let mut string = String::new();
    while let Some(token) = xml.next()? {
        match token {
            Token::Start(tag) => match tag.name.as_str() {
                "si" => string.clear(),
                "t" => string.push_str(&xml.text()?),
                // A phonetic hint for East Asian characters.
                "rPh" => xml.skip()?,
                _ => {}
            },
            Token::End(name) if name == "si" => strings.push(std::mem::take(&mut string)),
            Token::End(_) | Token::Text(_) => {}
        }
    }
    Ok(strings)
}

struct Reader<'l> {
    strings: Vec<String>,
    formats: NumberFormats,
    /// The remaining budget of cells.
    remaining_cells: usize,
    limits: &'l Limits<'l>,
}

impl Reader<'_> {
    fn sheet(&mut self, text: &str) -> Result<String, DocumentError> {
        let mut xml = Xml::new(KIND, text);
        let mut table = Table::default();
        let mut column = 0;
        while let Some(token) = xml.next()? {
            let Token::Start(tag) = token else { continue };
            match tag.name.as_str() {
                "row" => {
                    if (self.limits.stop)() {
                        break;
                    }
                    table.row();
                    column = 0;
                }
                "c" => {
                    let target = tag.get("r").and_then(column_of).unwrap_or(column);
                    let text = self.cell(&tag, &mut xml)?;
                    let needed = (target + 1).saturating_sub(column);
                    if text.is_empty() || target >= MAX_COLUMNS || target < column {
                        continue;
                    }
                    if needed > self.remaining_cells {
                        self.remaining_cells = 0;
                        break;
                    }
                    self.remaining_cells -= needed;
                    while column < target {
                        table.cell(String::new(), 1);
                        column += 1;
                    }
                    table.cell(escape(&text), 1);
                    column += 1;
                }
                _ => {}
            }
        }
        Ok(table.finish())
    }

    /// Returns the text that Excel displays for a cell.
    fn cell(&self, tag: &Tag, xml: &mut Xml<'_>) -> Result<String, DocumentError> {
        let (mut value, mut inline) = (String::new(), String::new());
        while let Some(token) = xml.next()? {
            match token {
                Token::End(name) if name == "c" => break,
                Token::Start(inner) => match inner.name.as_str() {
                    "v" => value = xml.text()?,
                    "t" => inline.push_str(&xml.text()?),
                    "f" => xml.skip()?,
                    _ => {}
                },
                Token::End(_) | Token::Text(_) => {}
            }
        }
        Ok(match tag.get("t") {
            Some("s") => value
                .parse()
                .ok()
                .and_then(|index: usize| self.strings.get(index))
                .cloned()
                .unwrap_or_default(),
            Some("inlineStr") => inline,
            Some("b") => if value == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            Some("str" | "e" | "d") => value,
            _ => {
                let style = tag.get("s").and_then(|style| style.parse().ok()).unwrap_or(0);
                self.formats.format(&value, style)
            }
        })
    }
}

/// Returns the 0-based column of a cell reference such as `BC12`.
fn column_of(reference: &str) -> Option<usize> {
    let letters: Vec<usize> = reference
        .bytes()
        .take_while(u8::is_ascii_alphabetic)
        .take(4)
        .map(|letter| usize::from(letter.to_ascii_uppercase() - b'A') + 1)
        .collect();
    letters.into_iter().reduce(|column, letter| column * 26 + letter)?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_of_parses_the_letters_of_a_reference() {
        assert_eq!(column_of("A1"), Some(0));
        assert_eq!(column_of("Z9"), Some(25));
        assert_eq!(column_of("AB12"), Some(27));
        assert_eq!(column_of("7"), None);
    }
}
