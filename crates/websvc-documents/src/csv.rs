//! Comma-separated values: one table.

use csv::ReaderBuilder;

use crate::error::DocumentError;
use crate::flow::Table;
use crate::html::{Html, escaped};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::parsed_document::ParsedDocument;
use crate::text_encoding::decoded;

/// So many cells are read.
const MAX_CELLS: usize = 1_000_000;
/// The separator is looked for in so many lines.
const SAMPLE_LINES: usize = 20;

/// Reads a table of separated values.
pub(crate) fn parse(bytes: &[u8], limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let text = decoded(bytes);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator(&text))
        .from_reader(text.as_bytes());
    let mut table = Table::default();
    // The markup of a cell is at least its text: what passes the bound is not collected first.
    let (mut cells, mut size, mut cut_off) = (0, 0, false);
    for record in reader.records() {
        let record = record.map_err(|error| DocumentError::damaged(DocumentKind::Csv, error.to_string()))?;
        cells += record.len();
        size += record.as_slice().len() + record.len() * "<td></td>".len() + "<tr></tr>\n".len();
        if cells > MAX_CELLS || size + 256 > limits.max_output_bytes || (limits.stop)() {
            cut_off = true;
            break;
        }
        table.row();
        record.iter().for_each(|cell| table.cell(escaped(cell.trim()), 1));
    }
    let mut html = Html::new(limits.max_output_bytes);
    html.push(&table.finish());
    let mut warnings = Vec::new();
    if cut_off || html.is_full() {
        warnings.push("the table was cut off at the largest size of an answer".to_owned());
    }
    Ok(ParsedDocument { html: html.into_string(), warnings, ..ParsedDocument::default() })
}

/// Returns the sign that parts most lines into the same number of cells.
fn separator(text: &str) -> u8 {
    let lines: Vec<&str> = text.lines().take(SAMPLE_LINES).filter(|line| !line.is_empty()).collect();
    let score = |sign: u8| {
        let counts: Vec<usize> =
            lines.iter().map(|line| line.bytes().filter(|byte| *byte == sign).count()).collect();
        let first = counts.first().copied().unwrap_or(0);
        let same = counts.iter().filter(|count| **count == first).count();
        if first == 0 { (0, 0) } else { (same, first) }
    };
    // The last of equals wins, so the comma comes last.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(|sign| score(*sign)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_the_sign_that_parts_all_lines_alike() {
        assert_eq!(separator("a,b\n1,2\n"), b',');
        assert_eq!(separator("a;b\n1,5;2,5\n3,5;4\n"), b';');
        assert_eq!(separator("a\tb\n1\t2\n"), b'\t');
        assert_eq!(separator("one column\nof text\n"), b',');
    }
}
