//! A table under construction.

use std::collections::HashMap;

/// The maximum number of columns or rows that a cell spans.
const MAX_SPAN: usize = 100;

/// A cell of a table.
#[derive(Debug, Default)]
struct Cell {
    markup: String,
    columns: usize,
    /// The cell continues the cell above it.
    continues: bool,
}

/// A table under construction.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
    /// The size of the markup of the cells and rows.
    bytes: usize,
}

impl Table {
    pub(crate) fn row(&mut self) {
        self.bytes += "<tr></tr>\n".len();
        self.rows.push(Vec::new());
    }

    /// Returns the size of the markup so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends a cell that spans `columns`.
    pub(crate) fn cell(&mut self, markup: String, columns: usize) {
        self.push(Cell { markup, columns: columns.clamp(1, MAX_SPAN), continues: false });
    }

    /// Appends a cell that is the continuation of the cell above it.
    pub(crate) fn continued_cell(&mut self, columns: usize) {
        self.push(Cell { markup: String::new(), columns: columns.clamp(1, MAX_SPAN), continues: true });
    }

    fn push(&mut self, cell: Cell) {
        if self.rows.is_empty() {
            self.row();
        }
        let has_span = cell.columns > 1 || cell.continues;
        let span = if has_span { " colspan=\"100\" rowspan=\"100\"".len() } else { 0 };
        self.bytes += cell.markup.len() + "<td></td>".len() + span;
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Drops the row that was begun last.
    pub(crate) fn drop_row(&mut self) {
        self.rows.pop();
    }

    /// Returns the number of cells of a table of one row; `None` if it has more rows.
    pub(crate) fn single_row_cells(&self) -> Option<usize> {
        if let [row] = self.rows.as_slice() { Some(row.len()) } else { None }
    }

    /// Returns the markup; the first row is the header. Empty rows at the beginning and the end are left out.
    pub(crate) fn finish(mut self) -> String {
        let is_blank =
            |row: &Vec<Cell>| row.iter().all(|cell| cell.markup.trim().is_empty() && !cell.continues);
        while self.rows.last().is_some_and(is_blank) {
            self.rows.pop();
        }
        let first = self.rows.iter().position(|row| !is_blank(row)).unwrap_or(self.rows.len());
        if first == self.rows.len() {
            return String::new();
        }
        let rows = &self.rows[first..];
        let spans = row_spans(rows);
        let width =
            rows.iter().map(|row| row.iter().map(|cell| cell.columns).sum::<usize>()).max().unwrap_or(0);
        // Web pages use tables of this size for layout.
        let is_small = width < 2 || rows.len() < 2 && width < 3;
        let mut markup = if is_small { "<table role=\"table\">\n" } else { "<table>\n" }.to_owned();
        for (index, (row, spans)) in rows.iter().zip(spans).enumerate() {
            let tag = if index == 0 { "th" } else { "td" };
            markup.push_str("<tr>");
            for (Cell { markup: cell, columns, .. }, span) in row.iter().zip(spans) {
                let Some(span) = span else { continue };
                markup.push('<');
                markup.push_str(tag);
                if *columns > 1 {
                    markup.push_str(&format!(" colspan=\"{columns}\""));
                }
                if span > 1 {
                    markup.push_str(&format!(" rowspan=\"{span}\""));
                }
                markup.push('>');
                markup.push_str(cell);
                markup.push_str("</");
                markup.push_str(tag);
                markup.push('>');
            }
            markup.push_str("</tr>\n");
        }
        markup.push_str("</table>\n");
        markup
    }
}

/// Returns the markup of a finished table as lines for the cell of another table: a line for each row.
pub(crate) fn lines(table: &str) -> String {
    let mut lines = Vec::new();
    for row in table.split("</tr>") {
        let mut line = String::with_capacity(row.len());
        let mut rest = row;
        while let Some(at) = rest.find('<') {
            let end = rest[at..].find('>').map_or(rest.len(), |end| at + end + 1);
            let tag = &rest[at..end];
            let name = tag.trim_start_matches(['<', '/']).split([' ', '>']).next().unwrap_or_default();
            line.push_str(&rest[..at]);
            match name {
                "table" | "tr" | "th" | "td" => line.push(' '),
                _ => line.push_str(tag),
            }
            rest = &rest[end..];
        }
        line.push_str(rest);
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() {
            lines.push(words.join(" "));
        }
    }
    lines.join("<br>")
}

/// Returns the number of rows that each cell spans; `None` for a cell that is the continuation of another one.
fn row_spans(rows: &[Vec<Cell>]) -> Vec<Vec<Option<usize>>> {
    let mut spans: Vec<Vec<Option<usize>>> = Vec::with_capacity(rows.len());
    // The number of continuations below, by column.
    let mut below: HashMap<usize, usize> = HashMap::new();
    for (index, row) in rows.iter().enumerate().rev() {
        let mut column = 0;
        let mut counts = HashMap::new();
        let mut row_spans = Vec::with_capacity(row.len());
        for cell in row {
            let count = below.get(&column).copied().unwrap_or(0) + 1;
            let is_covered = cell.continues && index > 0 && count < MAX_SPAN;
            if is_covered {
                counts.insert(column, count);
            }
            row_spans.push((!is_covered).then_some(count));
            column += cell.columns;
        }
        below = counts;
        spans.push(row_spans);
    }
    spans.reverse();
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_written_as_lines() {
        let table = "<table>\n<tr><th colspan=\"2\">a <em>b</em></th></tr>\n<tr><td>c</td><td>d</td></tr>\n</table>\n";
        assert_eq!(lines(table), "a <em>b</em><br>c d");
        assert_eq!(lines("<"), "<");
    }

    #[test]
    fn continued_cells_become_row_spans() {
        let mut table = Table::default();
        table.row();
        table.cell("a".to_owned(), 1);
        table.cell("b".to_owned(), 2);
        table.row();
        table.continued_cell(1);
        table.cell("c".to_owned(), 1);
        table.cell("d".to_owned(), 1);
        assert_eq!(
            table.finish(),
            "<table>\n<tr><th rowspan=\"2\">a</th><th colspan=\"2\">b</th></tr>\n<tr><td>c</td><td>d</td></tr>\n</table>\n"
        );
    }
}
