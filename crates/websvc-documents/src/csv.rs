//! Reads comma-separated and tab-separated values as one table.

use crate::error::DocumentError;
use crate::grid::cell_markup;
use crate::html::Html;
use crate::limits::Limits;
use crate::parsed_document::ParsedDocument;
use crate::table::Table;
use crate::text_encoding::decode_text;

/// The maximum number of cells that are read.
const MAX_CELLS: usize = 1_000_000;
/// The number of lines from which the separator is detected.
const SAMPLE_LINES: usize = 20;
/// The separator of units, which no text has.
const NO_SEPARATOR: u8 = 0x1f;

/// Reads a CSV file.
pub(crate) fn parse(bytes: &[u8], limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let text = decode_text(bytes);
    let (stated, text) = stated_separator(&text);
    let separator = stated.unwrap_or_else(|| detect_separator(text)).into();
    let mut table = Table::default();
    // The markup is at least as long as the text, so the size limit is checked before the rows are collected.
    let (mut cell_count, mut min_bytes, mut cut_off) = (0, 0, false);
    for record in (Records { rest: text, separator }) {
        cell_count += record.len();
        let text_bytes: usize = record.iter().map(String::len).sum();
        min_bytes += text_bytes + record.len() * "<td></td>".len() + "<tr></tr>\n".len();
        if cell_count > MAX_CELLS || min_bytes + 256 > limits.max_output_bytes || (limits.stop)() {
            cut_off = true;
            break;
        }
        table.row();
        record.iter().for_each(|cell| table.cell(cell_markup(cell), 1));
    }
    let mut html = Html::new(limits.max_output_bytes);
    html.push(&table.finish());
    let mut warnings = Vec::new();
    if cut_off || html.is_full() {
        warnings.push("the table was cut off at the maximum size".to_owned());
    }
    Ok(ParsedDocument { html: html.into_string(), warnings, ..ParsedDocument::default() })
}

/// The records of a text (RFC 4180). Empty lines are none, and a quotation mark within an unquoted field has no meaning.
struct Records<'a> {
    rest: &'a str,
    separator: char,
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        self.rest = self.rest.trim_start_matches(['\r', '\n']);
        if self.rest.is_empty() {
            return None;
        }
        let mut fields = Vec::new();
        loop {
            let (field, end) = self.field();
            fields.push(field);
            // A line of separators has as many fields as bytes.
            if end != Some(self.separator) || fields.len() > MAX_CELLS {
                return Some(fields);
            }
        }
    }
}

impl Records<'_> {
    /// Reads a field and what ends it: the separator, a line break, or the end of the text.
    fn field(&mut self) -> (String, Option<char>) {
        let mut field = String::new();
        let mut quoted = self.rest.strip_prefix('"');
        while let Some(rest) = quoted {
            let (text, after) = rest.split_once('"').unwrap_or((rest, ""));
            field.push_str(text);
            self.rest = after;
            quoted = after.strip_prefix('"');
            field.extend(quoted.map(|_| '"'));
        }
        let is_end = |character: char| character == self.separator || matches!(character, '\r' | '\n');
        let at = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(at);
        field.push_str(text);
        let end = rest.chars().next();
        self.rest = &rest[end.map_or(0, char::len_utf8)..];
        (field, end)
    }
}

/// Returns the separator that a first line such as `sep=;` states, as Excel reads and writes it, and the text after the
/// line.
fn stated_separator(text: &str) -> (Option<u8>, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let line = line.strip_suffix('\r').unwrap_or(line).trim_matches('"');
    let is_statement = line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("sep="));
    match (is_statement, line.as_bytes().get(4..)) {
        (true, Some([separator])) if separator.is_ascii() => (Some(*separator), rest),
        _ => (None, text),
    }
}

/// Returns the separator that splits the largest number of lines into the same number of cells. Text without a separator
/// in its first line is one column.
fn detect_separator(text: &str) -> u8 {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES).collect();
    let score = |separator: u8| {
        let counts: Vec<usize> = lines.iter().map(|line| separators(line, separator)).collect();
        let first = counts.first().copied().unwrap_or(0);
        let equal = counts.iter().filter(|count| **count == first).count();
        if first == 0 { (0, 0) } else { (equal, first) }
    };
    // `max_by_key` returns the last of equal maxima, so the comma is last.
    let best = [b'|', b'\t', b';', b','].into_iter().max_by_key(|separator| score(*separator));
    best.filter(|separator| score(*separator) != (0, 0)).unwrap_or(NO_SEPARATOR)
}

/// Returns the number of separators outside of quotes.
fn separators(line: &str, separator: u8) -> usize {
    let mut in_quotes = false;
    line.bytes()
        .filter(|byte| {
            in_quotes ^= *byte == b'"';
            *byte == separator && !in_quotes
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_quoted_fields_and_no_empty_lines() {
        let check = |text: &str, expected: &[&[&str]]| {
            let records: Vec<Vec<String>> = Records { rest: text, separator: ',' }.collect();
            assert_eq!(records, expected, "{text:?}");
        };
        check("", &[]);
        check("a,b\r\n\r\n\nc\n", &[&["a", "b"], &["c"]]);
        check("a,,\n,", &[&["a", "", ""], &["", ""]]);
        check("\"a,\"\"b\"\"\r\nc\",d\re", &[&["a,\"b\"\r\nc", "d"], &["e"]]);
        check("a\"b\"c,\"d\"e\"f", &[&["a\"b\"c", "de\"f"]]);
        check("\"\"\n\"open,x", &[&[""], &["open,x"]]);
        check("\"a\"\"\"", &[&["a\""]]);
    }

    #[test]
    fn line_of_separators_has_a_limited_number_of_fields() {
        let text = ",".repeat(MAX_CELLS + 10);
        let mut records = Records { rest: &text, separator: ',' };
        assert_eq!(records.next().map(|fields| fields.len()), Some(MAX_CELLS + 1));
        let parsed = parse(text.as_bytes(), &Limits::default()).unwrap();
        assert_eq!(parsed.warnings, ["the table was cut off at the maximum size"]);
    }

    #[test]
    fn separator_splits_all_lines_into_equal_cell_counts() {
        assert_eq!(detect_separator("a,b\n1,2\n"), b',');
        assert_eq!(detect_separator("a;b\n1,5;2,5\n3,5;4\n"), b';');
        assert_eq!(detect_separator("a\tb\n1\t2\n"), b'\t');
        assert_eq!(detect_separator("\"a;b\",c\n\"1;2\",3\n"), b',');
        assert_eq!(detect_separator("name\nDoe, Jane\nRoe, Max\n"), NO_SEPARATOR);
    }

    #[test]
    fn first_line_may_state_the_separator() {
        assert_eq!(stated_separator("sep=;\r\na,b;c"), (Some(b';'), "a,b;c"));
        assert_eq!(stated_separator("\"sep=|\"\nx"), (Some(b'|'), "x"));
        assert_eq!(stated_separator("sep=ab\nx"), (None, "sep=ab\nx"));
        assert_eq!(stated_separator(""), (None, ""));
    }
}
