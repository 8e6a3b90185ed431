//! Tables with aligned columns, and lists of objects that are printed as one.

use anyhow::Result;
use serde_json::Value;

use super::{json, lines, printable};

/// A column of a table of objects.
pub(crate) struct Column {
    header: &'static str,
    cell: Cell,
}

enum Cell {
    /// The value of a key, and the text in place of null.
    Field(&'static str, &'static str),
    Text(fn(&Value) -> String),
}

/// Returns a column with the value of a key.
pub(crate) const fn column(header: &'static str, key: &'static str) -> Column {
    column_or(header, key, "")
}

/// Returns a column with the value of a key, or a text if the value is null or missing.
pub(crate) const fn column_or(header: &'static str, key: &'static str, missing: &'static str) -> Column {
    Column { header, cell: Cell::Field(key, missing) }
}

/// Returns a column with a text about an object.
pub(crate) const fn column_of(header: &'static str, text: fn(&Value) -> String) -> Column {
    Column { header, cell: Cell::Text(text) }
}

impl Column {
    /// Returns the text of an object in this column, which cannot control a terminal.
    pub(crate) fn text(&self, object: &Value) -> String {
        match self.cell {
            Cell::Field(key, missing) => match &object[key] {
                Value::Null => missing.to_owned(),
                Value::String(text) => printable(text),
                other => other.to_string(),
            },
            Cell::Text(text) => text(object),
        }
    }

    pub(crate) fn header(&self) -> &'static str {
        self.header
    }
}

/// Prints objects as JSON, or as a table with these columns.
pub(crate) fn objects(as_json: bool, objects: &[Value], columns: &[Column]) -> Result<()> {
    if as_json { json(&objects) } else { Table::of_objects(objects, columns).print() }
}

/// A table with aligned columns.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|name| (*name).to_owned()).collect()] }
    }

    /// Returns a table with a row for each object.
    pub(crate) fn of_objects(objects: &[Value], columns: &[Column]) -> Self {
        let header = columns.iter().map(|column| column.header.to_owned()).collect();
        let row = |object| columns.iter().map(|column| column.text(object)).collect();
        Self { rows: std::iter::once(header).chain(objects.iter().map(row)).collect() }
    }

    pub(crate) fn row(&mut self, cells: &[&str]) {
        self.rows.push(cells.iter().map(|cell| (*cell).to_owned()).collect());
    }

    pub(crate) fn print(&self) -> Result<()> {
        lines(&self.lines())
    }

    /// Returns the lines of the table.
    pub(crate) fn lines(&self) -> Vec<String> {
        let count = self.rows.first().map_or(0, Vec::len);
        let width =
            |at: usize| self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..count).map(|at| width(at).unwrap_or_default()).collect();
        let aligned = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(aligned).collect()
    }
}
