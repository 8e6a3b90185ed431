//! The cells of a sheet: split into its tables and written as HTML.

use std::collections::{HashMap, HashSet};

use crate::flow::HtmlFlow;
use crate::html::{escape, push_escaped};
use crate::inline::is_web_url;
use crate::table::Table;

/// The maximum number of columns of a sheet that are read.
pub(crate) const MAX_COLUMNS: usize = 1024;
/// The size of the output that is kept free for the elements around the rows of a table.
const RESERVED_BYTES: usize = 1024;
/// The maximum number of cells that merged cells cover, and the maximum number of cells of a block that is split at
/// columns.
const MAX_COVERED: usize = 200_000;
/// The maximum number of merged cells, and of groups of hidden columns, of a sheet.
const MAX_MERGES: usize = 50_000;
const MAX_HIDDEN_COLUMNS: usize = 1024;
const MAX_COMPARED_CELLS: usize = 20_000;

/// A cell with content.
#[derive(Debug)]
struct Cell {
    column: usize,
    markup: String,
    is_text: bool,
}

/// A row with content.
#[derive(Debug)]
struct Row {
    number: usize,
    cells: Vec<Cell>,
}

/// A range of cells: the first row and column, the last row and column.
pub(crate) type Range = ((usize, usize), (usize, usize));

/// The cells of a sheet.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<Row>,
    /// Merged cells.
    merges: Vec<Range>,
    pub(crate) hidden_rows: HashSet<usize>,
    /// The first and the last column of each group of hidden columns.
    hidden_columns: Vec<(usize, usize)>,
}

/// A part of a merged cell.
#[derive(Debug, Clone, Copy)]
enum Merged {
    /// The first column of the cell in a row, with the number of visible columns.
    Start { columns: usize, is_first_row: bool },
    /// Another column.
    Covered,
}

impl Grid {
    /// Adds a cell with content. Cells outside of the supported columns are left out.
    pub(crate) fn add(&mut self, row: usize, column: usize, markup: String, is_text: bool) {
        if column >= MAX_COLUMNS || markup.is_empty() {
            return;
        }
        if self.rows.last().is_none_or(|last| last.number != row) {
            self.rows.push(Row { number: row, cells: Vec::new() });
        }
        if let Some(last) = self.rows.last_mut() {
            last.cells.push(Cell { column, markup, is_text });
        }
    }

    /// Merges the cells of a range.
    pub(crate) fn merge(&mut self, range: Range) {
        if self.merges.len() < MAX_MERGES {
            self.merges.push(range);
        }
    }

    /// Hides the columns from the first to the last one.
    pub(crate) fn hide_columns(&mut self, first: usize, last: usize) {
        if self.hidden_columns.len() < MAX_HIDDEN_COLUMNS {
            self.hidden_columns.push((first, last));
        }
    }

    /// Makes the text of a cell a link, unless it has one or the URL is not one of the web.
    pub(crate) fn link(&mut self, (row, column): (usize, usize), url: &str) {
        let Ok(index) = self.rows.binary_search_by_key(&row, |row| row.number) else { return };
        let cell = self.rows[index].cells.iter_mut().find(|cell| cell.column == column);
        if let Some(cell) = cell.filter(|cell| !cell.markup.starts_with("<a ") && is_web_url(url)) {
            cell.markup = link_markup(url, &cell.markup);
        }
    }

    fn is_hidden_column(&self, column: usize) -> bool {
        self.hidden_columns.iter().any(|(first, last)| (*first..=*last).contains(&column))
    }

    /// Writes the tables of the sheet. `budget` is the remaining number of cells, also empty ones between others.
    pub(crate) fn write(mut self, flow: &mut HtmlFlow, budget: &mut usize) {
        let hidden: Vec<bool> = (0..MAX_COLUMNS).map(|column| self.is_hidden_column(column)).collect();
        let is_hidden = |column: usize| hidden.get(column).copied().unwrap_or(false);
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| !self.hidden_rows.contains(&row.number));
        rows.sort_by_key(|row| row.number);
        for row in &mut rows {
            row.cells.retain(|cell| !is_hidden(cell.column));
            row.cells.sort_by_key(|cell| cell.column);
            row.cells.dedup_by_key(|cell| cell.column);
        }
        rows.retain(|row| !row.cells.is_empty());
        let merged = self.merged(rows.last().map_or(0, |row| row.number), &is_hidden);
        let writer = Writer { merged: &merged, is_hidden: &is_hidden };
        for block in self.blocks(rows) {
            for part in split_columns(block) {
                writer.block(part, flow, budget);
                if *budget == 0 || flow.is_full() {
                    return;
                }
            }
        }
    }

    /// Returns the cells that merged cells cover.
    fn merged(&self, last_row: usize, is_hidden: &dyn Fn(usize) -> bool) -> HashMap<(usize, usize), Merged> {
        let mut covered = HashMap::new();
        for ((row, column), (end_row, end_column)) in &self.merges {
            let end_column = (*end_column).min(MAX_COLUMNS - 1);
            for row_number in *row..=(*end_row).min(last_row) {
                let visible: Vec<usize> =
                    (*column..=end_column).filter(|column| !is_hidden(*column)).collect();
                if covered.len() + visible.len() > MAX_COVERED {
                    return covered;
                }
                for (index, position) in visible.iter().enumerate() {
                    let part = match index {
                        0 => Merged::Start { columns: visible.len(), is_first_row: row_number == *row },
                        _ => Merged::Covered,
                    };
                    covered.insert((row_number, *position), part);
                }
            }
        }
        covered
    }

    /// Splits rows at blank rows. Rows that continue the columns of a table with values stay with it.
    fn blocks(&self, rows: Vec<Row>) -> Vec<Vec<Row>> {
        let mut blocks: Vec<Vec<Row>> = Vec::new();
        let mut last: Option<usize> = None;
        for row in rows {
            let is_next = last.is_some_and(|last| {
                row.number - last <= self.hidden_rows.len() + 1
                    && (last + 1..row.number).all(|between| self.hidden_rows.contains(&between))
            });
            last = Some(row.number);
            match blocks.last_mut() {
                Some(block) if is_next || continues(block, &row) => block.push(row),
                _ => blocks.push(vec![row]),
            }
        }
        blocks
    }
}

/// Returns whether a row after a blank one belongs to the table above it: the table is only a header so far, or the row
/// has values, and it has no columns of its own.
fn continues(block: &[Row], row: &Row) -> bool {
    let columns = |row: &Row| Some((row.cells.first()?.column, row.cells.last()?.column));
    let Some((first, last)) = columns(row) else { return false };
    let holds = |other: &Row| columns(other).is_some_and(|(start, end)| start <= first && last <= end);
    if let [header] = block {
        return header.cells.len() > 1 && holds(header);
    }
    let has_value = row.cells.iter().any(|cell| !cell.is_text);
    has_value
        && row.cells.len() > 1
        && block.iter().rev().take(20).any(|row| row.cells.len() > 1 && holds(row))
}

/// Splits a block at blank columns into tables that are side by side: each has several columns and rows, and the right
/// one begins with a column of labels.
fn split_columns(rows: Vec<Row>) -> Vec<Vec<Row>> {
    if rows.len() < 2 || rows.iter().map(|row| row.cells.len()).sum::<usize>() > MAX_COMPARED_CELLS {
        return vec![rows];
    }
    let used: HashSet<usize> = rows.iter().flat_map(|row| row.cells.iter().map(|cell| cell.column)).collect();
    let (Some(first), Some(last)) = (used.iter().min(), used.iter().max()) else { return vec![rows] };
    let gap = (*first + 2..last.saturating_sub(1)).find(|gap| !used.contains(gap) && is_border(&rows, *gap));
    let Some(gap) = gap else { return vec![rows] };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for Row { number, mut cells } in rows {
        let at = cells.partition_point(|cell| cell.column < gap);
        let after = cells.split_off(at);
        left.push(Row { number, cells });
        right.push(Row { number, cells: after });
    }
    let mut parts = vec![left];
    parts.extend(split_columns(right));
    for part in &mut parts {
        part.retain(|row| !row.cells.is_empty());
    }
    parts
}

/// Returns whether a blank column is between two tables.
fn is_border(rows: &[Row], gap: usize) -> bool {
    let side = |is_left: bool| {
        let parts: Vec<Vec<&Cell>> = rows
            .iter()
            .map(|row| row.cells.iter().filter(|cell| (cell.column < gap) == is_left).collect::<Vec<_>>())
            .filter(|cells| !cells.is_empty())
            .collect();
        parts
    };
    let is_table = |rows: &[Vec<&Cell>]| rows.iter().filter(|row| row.len() > 1).count() >= 2;
    let (left, right) = (side(true), side(false));
    let Some(start) = right.iter().flatten().map(|cell| cell.column).min() else { return false };
    let labels = right
        .iter()
        .filter(|row| row.first().is_some_and(|cell| cell.column == start && cell.is_text))
        .count();
    is_table(&left) && is_table(&right) && labels * 2 > right.len()
}

struct Writer<'g> {
    merged: &'g HashMap<(usize, usize), Merged>,
    is_hidden: &'g dyn Fn(usize) -> bool,
}

impl Writer<'_> {
    /// Writes a block: lines of a single cell as paragraphs, if they are alone or above a header, and a table.
    fn block(&self, rows: Vec<Row>, flow: &mut HtmlFlow, budget: &mut usize) {
        let titles = titles(&rows);
        let first =
            rows.iter().skip(titles).filter_map(|row| row.cells.first()).map(|cell| cell.column).min();
        let mut rows = rows.into_iter();
        for cell in rows.by_ref().take(titles).flat_map(|row| row.cells) {
            flow.block(&format!("<p>{}</p>\n", cell.markup));
        }
        let Some(first) = first else { return };
        let mut table = Table::default();
        for row in rows {
            let needed = row.cells.last().map_or(0, |cell| cell.column + 1 - first);
            if needed > *budget {
                *budget = 0;
                break;
            }
            *budget -= needed;
            self.row(row, first, &mut table);
            // Of a table that does not fit, the first rows are written.
            if table.bytes() + RESERVED_BYTES > flow.remaining() {
                table.drop_row();
                *budget = 0;
                break;
            }
        }
        flow.block(&table.finish());
    }

    fn row(&self, row: Row, first: usize, table: &mut Table) {
        table.row();
        let last = row.cells.last().map_or(first, |cell| cell.column);
        let mut cells = row.cells.into_iter().peekable();
        for column in first..=last {
            let cell = cells.next_if(|cell| cell.column == column);
            if (self.is_hidden)(column) {
                continue;
            }
            let markup = cell.map_or_else(String::new, |cell| cell.markup);
            match self.merged.get(&(row.number, column)) {
                Some(Merged::Covered) => {}
                Some(Merged::Start { columns, is_first_row: false }) => table.continued_cell(*columns),
                Some(Merged::Start { columns, is_first_row: true }) => table.cell(markup, *columns),
                None => table.cell(markup, 1),
            }
        }
    }
}

/// Returns the number of rows at the start of a block that are titles: a single text that is alone or above a header.
fn titles(rows: &[Row]) -> usize {
    let is_title = |row: &Row| row.cells.len() == 1 && row.cells[0].is_text;
    let is_header = |row: &Row| row.cells.len() > 1 && row.cells.iter().all(|cell| cell.is_text);
    if let [row] = rows {
        return usize::from(row.cells.len() == 1);
    }
    let count = rows.iter().take_while(|row| is_title(row)).count();
    if count <= 2 && rows.len() > count + 1 && rows.get(count).is_some_and(is_header) { count } else { 0 }
}

/// Returns the markup of a link in a cell.
pub(crate) fn link_markup(url: &str, markup: &str) -> String {
    if markup.is_empty() { String::new() } else { format!("<a href=\"{}\">{markup}</a>", escape(url)) }
}

/// Returns the markup of a text in a cell, with its line breaks.
pub(crate) fn cell_markup(text: &str) -> String {
    let mut markup = String::with_capacity(text.len());
    for (index, line) in text.trim().lines().enumerate() {
        if index > 0 {
            markup.push_str("<br>");
        }
        push_escaped(&mut markup, line.trim_end());
    }
    markup
}
