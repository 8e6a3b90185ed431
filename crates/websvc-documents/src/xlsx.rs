//! Reads Excel workbooks: the tables of each sheet, with the displayed texts of the cells that are visible.

use crate::error::DocumentError;
use crate::flow::HtmlFlow;
use crate::grid::{Grid, Range, cell_markup, link_markup};
use crate::html::escape;
use crate::inline::is_web_url;
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

/// Reads a workbook.
pub(crate) fn parse(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut package = Package::open(KIND, bytes, limits.max_inflated_bytes)?;
    let metadata = read_metadata(&mut package, KIND, "docProps/core.xml")?;
    let Book { sheets, is_1904 } = book(&mut package)?;
    let strings = shared_strings(&mut package)?;
    let formats = match package.part("xl/styles.xml")? {
        Some(text) => NumberFormats::read(&text, is_1904)?,
        None => NumberFormats::default(),
    };
    let mut reader = Reader { strings, formats, remaining_cells: MAX_CELLS, limits };
    let mut remaining_cells = MAX_CELLS;
    let mut flow = HtmlFlow::new(limits.max_output_bytes);
    let mut pages = PageCounts::unread(sheets.len());
    for (name, part) in sheets.iter().take(limits.max_pages as usize) {
        if flow.is_full() || reader.remaining_cells == 0 || remaining_cells == 0 || (limits.stop)() {
            break;
        }
        flow.block(&format!("<h2>{}</h2>\n", escape(name)));
        let relations = Relations::read(&mut package, KIND, part)?;
        // The text of the sheet is dropped before its tables are written: both may be large.
        let grid = package.part(part)?.map(|text| reader.sheet(&text, &relations)).transpose()?;
        if let Some(grid) = grid {
            grid.write(&mut flow, &mut remaining_cells);
        }
        pages.read += 1;
    }
    let (html, is_full) = flow.finish();
    let mut warnings = pages.warnings("sheets");
    if is_full || reader.remaining_cells == 0 || remaining_cells == 0 {
        warnings.push("the tables were cut off at the maximum size".to_owned());
    }
    Ok(ParsedDocument { html, metadata, pages: Some(pages), warnings, ..ParsedDocument::default() })
}

/// The properties of a workbook.
struct Book {
    /// The names and the paths of the visible sheets.
    sheets: Vec<(String, String)>,
    /// Dates begin in 1904.
    is_1904: bool,
}

fn book(package: &mut Package) -> Result<Book, DocumentError> {
    let relations = Relations::read(package, KIND, WORKBOOK)?;
    let text = package.required(WORKBOOK)?;
    let mut xml = Xml::new(KIND, &text);
    let mut book = Book { sheets: Vec::new(), is_1904: false };
    while let Some(tag) = xml.start()? {
        let is_hidden = matches!(tag.get("state"), Some("hidden" | "veryHidden"));
        match tag.name.as_str() {
            "workbookPr" => book.is_1904 = tag.is_true("date1904"),
            "sheet" if !is_hidden => {
                if let Some(part) = relations.of_attribute(&tag, "r:id") {
                    book.sheets.push((tag.get("name").unwrap_or_default().to_owned(), part.to_owned()));
                }
            }
            _ => {}
        }
    }
    Ok(book)
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
            Token::End(name) if name == "si" => strings.push(unescape(std::mem::take(&mut string))),
            Token::End(_) | Token::Text(_) => {}
        }
    }
    Ok(strings)
}

/// Decodes characters that XML cannot contain, such as `_x000D_`.
fn unescape(text: String) -> String {
    if !text.contains("_x") {
        return text;
    }
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("_x") {
        let code = rest.get(at + 2..at + 6).filter(|_| rest.as_bytes().get(at + 6) == Some(&b'_'));
        let character = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        let (length, replacement) = match character {
            Some('\r') => (7, None),
            Some(character) => (7, Some(character)),
            None => (1, Some('_')),
        };
        decoded.push_str(&rest[..at]);
        decoded.extend(replacement);
        rest = &rest[at + length..];
    }
    decoded.push_str(rest);
    decoded
}

struct Reader<'l> {
    strings: Vec<String>,
    formats: NumberFormats,
    /// The remaining budget of cells with content.
    remaining_cells: usize,
    limits: &'l Limits<'l>,
}

/// The displayed text of a cell.
struct Text {
    text: String,
    /// The cell has text, not a number, a date or a truth value.
    is_text: bool,
    /// The URL of a formula `HYPERLINK`.
    url: Option<String>,
}

impl Reader<'_> {
    fn sheet(&mut self, text: &str, relations: &Relations) -> Result<Grid, DocumentError> {
        let mut xml = Xml::new(KIND, text);
        let mut grid = Grid::default();
        let (mut next_row, mut row, mut column) = (0, 0, 0);
        while let Some(tag) = xml.start()? {
            match tag.name.as_str() {
                "col" if tag.is_true("hidden") => {
                    let number = |name| tag.parsed::<usize>(name);
                    if let (Some(first @ 1..), Some(last @ 1..)) = (number("min"), number("max")) {
                        grid.hide_columns(first - 1, last - 1);
                    }
                }
                "row" => {
                    if (self.limits.stop)() {
                        break;
                    }
                    row = tag.parsed("r").and_then(|row: usize| row.checked_sub(1)).unwrap_or(next_row);
                    (next_row, column) = (row.saturating_add(1), 0);
                    if tag.is_true("hidden") {
                        grid.hidden_rows.insert(row);
                        xml.skip()?;
                    }
                }
                "c" => {
                    let target = tag.get("r").and_then(column_of).unwrap_or(column);
                    column = target + 1;
                    let cell = self.cell(&tag, &mut xml)?;
                    if cell.text.is_empty() {
                        continue;
                    }
                    let Some(remaining) = self.remaining_cells.checked_sub(1) else { break };
                    self.remaining_cells = remaining;
                    grid.add(row, target, markup(&cell), cell.is_text);
                }
                "mergeCell" => {
                    if let Some(range) = tag.get("ref").and_then(range_of) {
                        grid.merge(range);
                    }
                }
                "hyperlink" => add_link(&tag, relations, &mut grid),
                _ => {}
            }
        }
        Ok(grid)
    }

    /// Returns the text that Excel displays for a cell.
    fn cell(&self, tag: &Tag, xml: &mut Xml<'_>) -> Result<Text, DocumentError> {
        let (mut value, mut inline, mut url) = (String::new(), String::new(), None);
        while let Some(inner) = xml.start_in("c")? {
            match inner.name.as_str() {
                "v" => value = xml.text()?,
                "t" => inline.push_str(&xml.text()?),
                "f" => url = link_of_formula(&xml.text()?),
                "rPh" => xml.skip()?,
                _ => {}
            }
        }
        let style = tag.parsed("s").unwrap_or(0);
        let (text, is_text) = match tag.get("t") {
            Some("s") => {
                let index = value.parse::<usize>().ok();
                (index.and_then(|index| self.strings.get(index)).cloned().unwrap_or_default(), true)
            }
            Some("inlineStr") => (unescape(inline), true),
            Some("b") => (if value == "1" { "TRUE" } else { "FALSE" }.to_owned(), false),
            Some("str") => (unescape(value), true),
            Some("e" | "d") => (value, false),
            _ => (self.formats.format(&value, style), false),
        };
        let text = match self.formats.format_text(&text, style).filter(|_| is_text && !text.is_empty()) {
            Some(shown) => shown,
            None => text,
        };
        Ok(Text { text, is_text, url })
    }
}

fn markup(cell: &Text) -> String {
    let markup = cell_markup(&cell.text);
    match &cell.url {
        Some(url) => link_markup(url, &markup),
        None => markup,
    }
}

/// Adds the link of a cell. A link of a range belongs to its first cell.
fn add_link(tag: &Tag, relations: &Relations, grid: &mut Grid) {
    let place = tag.get("ref").and_then(range_of);
    if let (Some(url), Some((cell, _))) = (relations.of_attribute(tag, "r:id"), place) {
        grid.link(cell, url);
    }
}

/// Returns the URL of a formula such as `HYPERLINK("https://example.org", "text")`.
fn link_of_formula(formula: &str) -> Option<String> {
    let start = formula.trim_start_matches(['=', ' ']);
    let arguments =
        start.get(..10).filter(|name| name.eq_ignore_ascii_case("HYPERLINK(")).map(|_| &start[10..])?;
    let url = arguments.trim_start().strip_prefix('"')?.split('"').next()?;
    is_web_url(url).then(|| url.to_owned())
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

/// Returns the row and the column of a cell reference.
fn cell_of(reference: &str) -> Option<(usize, usize)> {
    let reference = reference.replace('$', "");
    let row: usize =
        reference.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).parse().ok()?;
    Some((row.checked_sub(1)?, column_of(&reference)?))
}

/// Returns the first and the last cell of a range such as `A1:B2`, or of a single cell.
fn range_of(reference: &str) -> Option<Range> {
    let (first, last) = reference.split_once(':').unwrap_or((reference, reference));
    let (first, last) = (cell_of(first)?, cell_of(last)?);
    (first.0 <= last.0 && first.1 <= last.1).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_parsed() {
        assert_eq!(column_of("A1"), Some(0));
        assert_eq!(column_of("Z9"), Some(25));
        assert_eq!(column_of("AB12"), Some(27));
        assert_eq!(column_of("7"), None);
        assert_eq!(range_of("A1:$B$2"), Some(((0, 0), (1, 1))));
        assert_eq!(range_of("C3"), Some(((2, 2), (2, 2))));
        assert_eq!(range_of("B2:A1"), None);
    }

    #[test]
    fn escaped_characters_are_decoded() {
        assert_eq!(unescape("a_x000D_\nb_x0041__xyz".to_owned()), "a\nbA_xyz");
    }

    #[test]
    fn formulas_with_links_have_a_url() {
        assert_eq!(
            link_of_formula("HYPERLINK(\"https://a.test/\",\"x\")").as_deref(),
            Some("https://a.test/")
        );
        assert_eq!(link_of_formula("HYPERLINK(A1)"), None);
        assert_eq!(link_of_formula("SUM(A1)"), None);
    }
}
