//! Reads tables and sheets.

use std::collections::HashMap;

use super::Reader;
use crate::error::DocumentError;
use crate::flow::{Block, Role};
use crate::grid::Grid;
use crate::html::escape;
use crate::table::{self, Table};
use crate::xml::{Tag, Token, Xml};

/// The maximum repetition of a cell or row. Larger numbers fill the rest of an empty sheet and count as 1.
const MAX_REPEATED: usize = 64;
/// The maximum number of cells of a row.
const MAX_COLUMNS: usize = 4096;
/// The maximum number of cells of the values of a chart.
const MAX_CHART_CELLS: usize = 20_000;

/// A cell that was read.
#[derive(Clone)]
struct Cell {
    markup: String,
    columns: usize,
    rows: usize,
    /// A cell that another one covers.
    is_covered: bool,
    is_text: bool,
    /// The number of columns with this cell.
    times: usize,
}

/// A row that was read.
struct Row {
    cells: Vec<Cell>,
    times: usize,
    /// The number of the rows that the file states.
    stated: usize,
    is_hidden: bool,
}

impl Reader<'_, '_> {
    /// Reads a sheet, or skips it if it is hidden or beyond the page limit.
    pub(super) fn sheet(&mut self, tag: &Tag) -> Result<(), DocumentError> {
        if !self.begin_page(tag.get_exact("table:style-name")) {
            return self.xml.skip();
        }
        let name = tag.get_exact("table:name").unwrap_or_default();
        self.flow.block(&format!("<h2>{}</h2>\n", escape(name)));
        let mut grid = Grid::default();
        let (mut row_number, mut column_number, mut depth) = (0_usize, 0_usize, 1);
        while depth > 0 && self.remaining_cells > 0 {
            match self.xml.next()? {
                None => break,
                Some(Token::Start(tag)) => match tag.name.as_str() {
                    "table" => depth += 1,
                    "table-column" if depth == 1 => {
                        let count = stated(&tag, "number-columns-repeated");
                        if is_hidden(&tag) {
                            grid.hide_columns(column_number, column_number.saturating_add(count - 1));
                        }
                        column_number = column_number.saturating_add(count);
                    }
                    "table-row" if depth == 1 => {
                        let row = self.row(&tag)?;
                        add_row(&row, &mut row_number, &mut grid);
                    }
                    "shapes" | "forms" => self.xml.skip()?,
                    _ => {}
                },
                Some(Token::End(name)) if name == "table" => depth -= 1,
                Some(Token::End(_) | Token::Text(_)) => {}
            }
        }
        grid.write(&mut self.flow, &mut self.remaining_cells);
        Ok(())
    }

    /// Reads the table whose start tag was read.
    pub(super) fn table(&mut self) -> Result<String, DocumentError> {
        let mut table = Table::default();
        // The cells above that reach into the next rows, by column: the number of rows and of columns.
        let mut above: HashMap<usize, (usize, usize)> = HashMap::new();
        while let Some(tag) = self.xml.start_in("table")? {
            if tag.name == "table-row" {
                let row = self.row(&tag)?;
                let filled = row.cells.iter().rposition(|cell| !cell.markup.is_empty() || cell.is_covered);
                let cells = &row.cells[..filled.map_or(0, |last| last + 1)];
                for _ in 0..if cells.is_empty() { 1 } else { row.times } {
                    write_row(cells, &mut above, &mut table);
                }
            }
        }
        Ok(table.finish())
    }

    /// Reads the row whose start tag was read. The cells count against the budget.
    fn row(&mut self, start: &Tag) -> Result<Row, DocumentError> {
        let mut row = Row {
            cells: Vec::new(),
            times: repetitions(start, "number-rows-repeated"),
            stated: stated(start, "number-rows-repeated"),
            is_hidden: is_hidden(start),
        };
        while let Some(tag) = self.xml.start_in("table-row")? {
            if matches!(tag.name.as_str(), "table-cell" | "covered-table-cell") {
                let cell = self.cell(&tag)?;
                if row.cells.len() < MAX_COLUMNS {
                    row.cells.push(cell);
                }
            }
        }
        let filled: usize =
            row.cells.iter().filter(|cell| !cell.markup.is_empty()).map(|cell| cell.times).sum();
        self.remaining_cells = self.remaining_cells.saturating_sub(filled.saturating_mul(row.times));
        if self.remaining_cells == 0 {
            row.times = 1;
        }
        Ok(row)
    }

    fn cell(&mut self, tag: &Tag) -> Result<Cell, DocumentError> {
        let blocks = self.text_box(&tag.name)?;
        let lines: Vec<String> = blocks.into_iter().filter_map(line).collect();
        let number = |name| tag.parsed(name).unwrap_or(1_usize).max(1);
        let is_covered = tag.name == "covered-table-cell";
        let kind = tag.get_exact("office:value-type").or_else(|| tag.get_exact("calcext:value-type"));
        let markup = if is_covered { String::new() } else { lines.join("<br>") };
        let stated = stated(tag, "number-columns-repeated");
        Ok(Cell {
            columns: number("number-columns-spanned").min(MAX_COLUMNS),
            rows: number("number-rows-spanned").min(MAX_COLUMNS),
            is_covered,
            is_text: matches!(kind, None | Some("string")),
            times: if markup.is_empty() { stated } else { repetitions(tag, "number-columns-repeated") },
            markup,
        })
    }
}

/// Reads the values of a chart, which are a table in it.
pub(super) fn chart(xml: &mut Xml<'_>) -> Result<String, DocumentError> {
    let mut table = Table::default();
    let mut cells = 0_usize;
    while let Some(tag) = xml.start()? {
        match tag.name.as_str() {
            "title" | "legend" | "automatic-styles" => xml.skip()?,
            "table-row" => table.row(),
            "table-cell" if cells < MAX_CHART_CELLS => {
                cells += 1;
                table.cell(escape(xml.text()?.trim()), 1);
            }
            _ => {}
        }
    }
    Ok(table.finish())
}

/// Returns the markup of a block in a cell.
fn line(block: Block) -> Option<String> {
    match block {
        Block::Paragraph(_, inline) if inline.is_empty() => None,
        Block::Paragraph(Role::Item { .. }, inline) => Some(format!("• {}", inline.finish())),
        Block::Paragraph(_, inline) => Some(inline.finish()),
        // A table in a table.
        Block::Markup(markup) => Some(table::lines(&markup)).filter(|lines| !lines.is_empty()),
    }
}

/// Adds a row to the grid of a sheet.
fn add_row(row: &Row, row_number: &mut usize, grid: &mut Grid) {
    let is_blank = row.cells.iter().all(|cell| cell.markup.is_empty());
    for index in 0..if is_blank { 0 } else { row.times } {
        let number = row_number.saturating_add(index);
        let mut column = 0_usize;
        for cell in &row.cells {
            if cell.columns > 1 || cell.rows > 1 {
                grid.merge((
                    (number, column),
                    (number.saturating_add(cell.rows - 1), column.saturating_add(cell.columns - 1)),
                ));
            }
            if !cell.markup.is_empty() {
                (0..cell.times)
                    .for_each(|offset| grid.add(number, column + offset, cell.markup.clone(), cell.is_text));
            }
            column = column.saturating_add(cell.times).min(MAX_COLUMNS * 4);
        }
        if row.is_hidden {
            grid.hidden_rows.insert(number);
        }
    }
    if is_blank && row.is_hidden && row.stated <= MAX_REPEATED {
        (0..row.stated).for_each(|index| {
            grid.hidden_rows.insert(row_number.saturating_add(index));
        });
    }
    *row_number = row_number.saturating_add(row.stated);
}

/// Writes a row of a table, with the cells that reach into it from above.
fn write_row(cells: &[Cell], above: &mut HashMap<usize, (usize, usize)>, table: &mut Table) {
    table.row();
    let (mut column, mut covered) = (0, 0);
    for cell in cells {
        for _ in 0..cell.times.min(MAX_COLUMNS) {
            let at = column;
            column += 1;
            if !cell.is_covered {
                covered = cell.columns - 1;
                above.remove(&at);
                if cell.rows > 1 {
                    above.insert(at, (cell.rows - 1, cell.columns));
                }
                table.cell(cell.markup.clone(), cell.columns);
            } else if covered > 0 {
                covered -= 1;
            } else if let Some((rows, columns)) = above.get_mut(&at).filter(|(rows, _)| *rows > 0) {
                *rows -= 1;
                covered = *columns - 1;
                table.continued_cell(*columns);
            } else {
                table.cell(String::new(), 1);
            }
        }
    }
}

fn is_hidden(tag: &Tag) -> bool {
    matches!(tag.get_exact("table:visibility"), Some("collapse" | "filter"))
}

/// Returns the value of a repetition attribute: at least 1.
fn stated(tag: &Tag, name: &str) -> usize {
    tag.parsed(name).unwrap_or(1_usize).max(1)
}

/// Returns the value of a repetition attribute: at least 1, and 1 if it is more than [`MAX_REPEATED`].
fn repetitions(tag: &Tag, name: &str) -> usize {
    match stated(tag, name) {
        times if times > MAX_REPEATED => 1,
        times => times,
    }
}
