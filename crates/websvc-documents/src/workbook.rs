//! Excel files that are no XML: those of before 2007 (`.xls`) and the binary ones of later (`.xlsb`).

use std::io::Cursor;

use calamine::{Data, ExcelDateTime, Reader, SheetType, SheetVisible, Xls, XlsError, Xlsb};

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Table};
use crate::html::escaped;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::number_format::plain;
use crate::parsed_document::{DocumentMetadata, PageCounts, ParsedDocument};

/// All sheets together are read to so many cells, those that are left empty between others counted.
const MAX_CELLS: usize = 1_000_000;
/// The columns of a sheet are read to this one.
const MAX_COLUMNS: usize = 1024;

/// Reads a workbook of before 2007.
pub(crate) fn xls(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let kind = DocumentKind::Xls;
    let failed = |error: XlsError| match error {
        XlsError::Password => DocumentError::Encrypted { kind },
        other => DocumentError::damaged(kind, other.to_string()),
    };
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(failed)?;
    let mut writer = Writer::new(&book, limits);
    while let Some(name) = writer.next_sheet() {
        let range = book.worksheet_range(&name).map_err(failed)?;
        let (first_row, first_column) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            let at = (row + first_row as usize, column + first_column as usize);
            if !writer.cell(at, &shown(value)) {
                break;
            }
        }
        writer.end_sheet();
    }
    Ok(writer.finish())
}

/// Reads a binary workbook.
pub(crate) fn xlsb(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let kind = DocumentKind::Xlsb;
    let failed = |error: calamine::XlsbError| DocumentError::damaged(kind, error.to_string());
    let mut book: Xlsb<_> = Xlsb::new(Cursor::new(bytes)).map_err(failed)?;
    let mut writer = Writer::new(&book, limits);
    while let Some(name) = writer.next_sheet() {
        // Cell by cell: a table of all would be as large as its furthest cell says.
        let mut cells = book.worksheet_cells_reader(&name).map_err(failed)?;
        while let Some(cell) = cells.next_cell().map_err(failed)? {
            let (row, column) = cell.get_position();
            let value = Data::from(cell.get_value().clone());
            if !writer.cell((row as usize, column as usize), &shown(&value)) {
                break;
            }
        }
        writer.end_sheet();
    }
    Ok(writer.finish())
}

/// Writes sheets as tables, within the limits.
struct Writer<'l> {
    limits: &'l Limits<'l>,
    /// The sheets that are shown, the last first.
    waiting: Vec<String>,
    flow: HtmlFlow,
    table: Table,
    row: Option<usize>,
    column: usize,
    /// How many cells may be read yet.
    left: usize,
    pages: PageCounts,
}

impl<'l> Writer<'l> {
    fn new<R>(book: &R, limits: &'l Limits<'l>) -> Self
    where
        R: Reader<Cursor<Vec<u8>>>,
    {
        let is_shown = |sheet: &&calamine::Sheet| {
            sheet.visible == SheetVisible::Visible && sheet.typ == SheetType::WorkSheet
        };
        let shown = book.sheets_metadata().iter().filter(is_shown);
        let waiting: Vec<String> = shown.rev().map(|sheet| sheet.name.clone()).collect();
        let total = u32::try_from(waiting.len()).unwrap_or(u32::MAX);
        Self {
            limits,
            waiting,
            flow: HtmlFlow::new(limits.max_output_bytes),
            table: Table::default(),
            row: None,
            column: 0,
            left: MAX_CELLS,
            pages: PageCounts { total, ..PageCounts::default() },
        }
    }

    fn next_sheet(&mut self) -> Option<String> {
        if self.pages.read >= self.limits.max_pages || !self.goes_on() {
            return None;
        }
        let name = self.waiting.pop()?;
        self.flow.block(&format!("<h2>{}</h2>\n", escaped(&name)));
        Some(name)
    }

    fn goes_on(&self) -> bool {
        !self.flow.is_full() && self.left > 0 && !(self.limits.stop)()
    }

    /// Adds a cell; they come by rows. Returns whether more may come.
    fn cell(&mut self, (row, column): (usize, usize), text: &str) -> bool {
        if self.row != Some(row) {
            self.row = Some(row);
            self.column = 0;
            self.table.row();
            if !self.goes_on() {
                return false;
            }
        }
        if text.is_empty() || column >= MAX_COLUMNS || column < self.column {
            return true;
        }
        let needed = column + 1 - self.column;
        let Some(left) = self.left.checked_sub(needed) else {
            self.left = 0;
            return false;
        };
        self.left = left;
        for _ in self.column..column {
            self.table.cell(String::new(), 1);
        }
        self.table.cell(escaped(text), 1);
        self.column = column + 1;
        true
    }

    fn end_sheet(&mut self) {
        self.flow.block(&std::mem::take(&mut self.table).finish());
        self.row = None;
        self.pages.read += 1;
    }

    fn finish(self) -> ParsedDocument {
        let Self { flow, left, pages, .. } = self;
        let (html, is_full) = flow.finish();
        let mut warnings = Vec::new();
        if pages.read < pages.total {
            warnings.push(format!("{} of {} sheets were read", pages.read, pages.total));
        }
        if is_full || left == 0 {
            warnings.push("the tables were cut off at the largest size of an answer".to_owned());
        }
        ParsedDocument { html, about: DocumentMetadata::default(), pages: Some(pages), warnings }
    }
}

/// Returns what a cell shows.
fn shown(value: &Data) -> String {
    match value {
        Data::Int(number) => number.to_string(),
        Data::Float(number) => plain(*number, &number.to_string()),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(is_true) => if *is_true { "TRUE" } else { "FALSE" }.to_owned(),
        Data::DateTime(at) => date(at),
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
    }
}

/// Returns a day, a time of day, or both, whichever the number is.
fn date(at: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = at.to_ymd_hms_milli();
    let days = at.as_f64();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    let day = format!("{year:04}-{month:02}-{day:02}");
    if (0.0..1.0).contains(&days) || at.is_duration() {
        time
    } else if days.fract() == 0.0 {
        day
    } else {
        format!("{day} {time}")
    }
}
