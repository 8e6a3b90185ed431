//! Excel: each sheet as a table of what its cells show.

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Table};
use crate::html::escaped;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::number_format::NumberFormats;
use crate::office::{Relations, about};
use crate::parsed_document::{PageCounts, ParsedDocument};
use crate::xml::{Tag, Token, Xml};
use crate::zip_package::Package;

const KIND: DocumentKind = DocumentKind::Xlsx;
const WORKBOOK: &str = "xl/workbook.xml";
/// All sheets together are read to so many cells, those that are left empty between others counted.
const MAX_CELLS: usize = 1_000_000;
/// The columns of a sheet are read to this one.
const MAX_COLUMNS: usize = 1024;

/// Reads a workbook.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    let about = about(&mut package, KIND, "docProps/core.xml")?;
    let sheets = sheets(&mut package)?;
    let strings = shared_strings(&mut package)?;
    let formats = match package.part("xl/styles.xml")? {
        Some(text) => NumberFormats::read(&text)?,
        None => NumberFormats::default(),
    };
    let mut reader = Reader { strings, formats, left: MAX_CELLS, limits };
    let mut flow = HtmlFlow::new(limits.max_output_bytes);
    let mut pages =
        PageCounts { total: u32::try_from(sheets.len()).unwrap_or(u32::MAX), ..PageCounts::default() };
    for (name, part) in sheets.iter().take(limits.max_pages as usize) {
        if flow.is_full() || reader.left == 0 || (limits.stop)() {
            break;
        }
        flow.block(&format!("<h2>{}</h2>\n", escaped(name)));
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
    if is_full || reader.left == 0 {
        warnings.push("the tables were cut off at the largest size of an answer".to_owned());
    }
    Ok(ParsedDocument { html, about, pages: Some(pages), warnings })
}

/// Returns the names and the parts of the sheets that are shown.
fn sheets(package: &mut Package) -> Result<Vec<(String, String)>, DocumentError> {
    let relations = Relations::of(package, KIND, WORKBOOK)?;
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

/// Returns the strings that cells refer to by number.
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
                // The reading of Chinese characters.
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
    /// How many cells may be read yet.
    left: usize,
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
                    let at = tag.get("r").and_then(column_of).unwrap_or(column);
                    let text = self.cell(&tag, &mut xml)?;
                    let needed = (at + 1).saturating_sub(column);
                    if text.is_empty() || at >= MAX_COLUMNS || at < column {
                        continue;
                    }
                    if needed > self.left {
                        self.left = 0;
                        break;
                    }
                    self.left -= needed;
                    while column < at {
                        table.cell(String::new(), 1);
                        column += 1;
                    }
                    table.cell(escaped(&text), 1);
                    column += 1;
                }
                _ => {}
            }
        }
        Ok(table.finish())
    }

    /// Returns what a cell shows.
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
            Some("s") => {
                value.parse().ok().and_then(|at: usize| self.strings.get(at)).cloned().unwrap_or_default()
            }
            Some("inlineStr") => inline,
            Some("b") => if value == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            Some("str" | "e" | "d") => value,
            _ => {
                let style = tag.get("s").and_then(|style| style.parse().ok()).unwrap_or(0);
                self.formats.shown(&value, style)
            }
        })
    }
}

/// Returns the column of a reference such as `BC12`, from 0.
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
    fn columns_are_read_from_references() {
        assert_eq!(column_of("A1"), Some(0));
        assert_eq!(column_of("Z9"), Some(25));
        assert_eq!(column_of("AB12"), Some(27));
        assert_eq!(column_of("7"), None);
    }
}
