//! Reads Excel files that are not XML: those from before 2007 (`.xls`), and newer binary ones (`.xlsb`).

use std::io::Cursor;

use calamine::{Data, ExcelDateTime, Reader, SheetType, SheetVisible, Xls, XlsError, Xlsb};

use crate::biff::{BookLayout, SheetLayout};
use crate::error::DocumentError;
use crate::flow::HtmlFlow;
use crate::grid::{Grid, cell_markup};
use crate::html::escape;
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::number_format::{NumberFormats, format_number};
use crate::parsed_document::{PageCounts, ParsedDocument};

/// The maximum number of cells of all sheets that are read, including empty cells between others.
const MAX_CELLS: usize = 1_000_000;

/// Reads a workbook from before 2007 (`.xls`).
pub(crate) fn xls(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let kind = DocumentKind::Xls;
    let to_error = |error: XlsError| match error {
        XlsError::Password => DocumentError::Encrypted { kind },
        other => DocumentError::damaged(kind, other.to_string()),
    };
    let mut layout = BookLayout::read(&bytes);
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(to_error)?;
    let mut writer = Writer::new(&book, limits);
    while let Some((index, name)) = writer.next_sheet() {
        let range = book.worksheet_range(&name).map_err(to_error)?;
        let sheet = layout.sheet(index, &mut writer.grid);
        let (first_row, first_column) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            let position = (row + first_row as usize, column + first_column as usize);
            let text = styled_text(value, position, &sheet, &layout.formats);
            if !writer.cell(position, &text, is_text(value)) {
                break;
            }
        }
        sheet.links.iter().for_each(|(cell, url)| writer.grid.link(*cell, url));
        writer.end_sheet();
    }
    Ok(writer.finish())
}

/// Reads a binary workbook (`.xlsb`).
pub(crate) fn xlsb(bytes: Vec<u8>, limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let kind = DocumentKind::Xlsb;
    let to_error = |error: calamine::XlsbError| DocumentError::damaged(kind, error.to_string());
    let mut book: Xlsb<_> = Xlsb::new(Cursor::new(bytes)).map_err(to_error)?;
    let mut writer = Writer::new(&book, limits);
    while let Some((_, name)) = writer.next_sheet() {
        // Reads cell by cell: the size of a range of all cells depends on the position of the farthest cell.
        let mut cells = book.worksheet_cells_reader(&name).map_err(to_error)?;
        while let Some(cell) = cells.next_cell().map_err(to_error)? {
            let (row, column) = cell.get_position();
            let value = Data::from(cell.get_value().clone());
            if !writer.cell((row as usize, column as usize), &display_text(&value), is_text(&value)) {
                break;
            }
        }
        writer.end_sheet();
    }
    Ok(writer.finish())
}

/// Writes sheets as HTML tables, within the limits.
struct Writer<'l> {
    limits: &'l Limits<'l>,
    /// The visible sheets that are not read yet, in reverse order: their index among all sheets, and their name.
    pending_sheets: Vec<(usize, String)>,
    flow: HtmlFlow,
    grid: Grid,
    /// The remaining budgets of cells with content, and of cells that are written.
    remaining_cells: usize,
    remaining_written: usize,
    pages: PageCounts,
}

impl<'l> Writer<'l> {
    fn new<R>(book: &R, limits: &'l Limits<'l>) -> Self
    where
        R: Reader<Cursor<Vec<u8>>>,
    {
        let sheets =
            book.sheets_metadata().iter().enumerate().filter(|(_, sheet)| {
                sheet.visible == SheetVisible::Visible && sheet.typ == SheetType::WorkSheet
            });
        let pending_sheets: Vec<(usize, String)> =
            sheets.rev().map(|(index, sheet)| (index, sheet.name.clone())).collect();
        let pages = PageCounts::unread(pending_sheets.len());
        Self {
            limits,
            pending_sheets,
            flow: HtmlFlow::new(limits.max_output_bytes),
            grid: Grid::default(),
            remaining_cells: MAX_CELLS,
            remaining_written: MAX_CELLS,
            pages,
        }
    }

    fn next_sheet(&mut self) -> Option<(usize, String)> {
        if self.pages.read >= self.limits.max_pages || !self.has_capacity() {
            return None;
        }
        let (index, name) = self.pending_sheets.pop()?;
        self.flow.block(&format!("<h2>{}</h2>\n", escape(&name)));
        Some((index, name))
    }

    fn has_capacity(&self) -> bool {
        !self.flow.is_full()
            && self.remaining_cells > 0
            && self.remaining_written > 0
            && !(self.limits.stop)()
    }

    /// Adds a cell. Cells must be added in row order. Returns `false` if a limit was reached.
    fn cell(&mut self, (row, column): (usize, usize), text: &str, is_text: bool) -> bool {
        if text.is_empty() {
            return true;
        }
        self.remaining_cells = self.remaining_cells.saturating_sub(1);
        self.grid.add(row, column, cell_markup(text), is_text);
        // The limits are checked once in a while, because the clock is read for that.
        self.remaining_cells > 0 && (!self.remaining_cells.is_multiple_of(1024) || self.has_capacity())
    }

    fn end_sheet(&mut self) {
        std::mem::take(&mut self.grid).write(&mut self.flow, &mut self.remaining_written);
        self.pages.read += 1;
    }

    fn finish(self) -> ParsedDocument {
        let Self { flow, remaining_cells, remaining_written, pages, .. } = self;
        let (html, is_full) = flow.finish();
        let mut warnings = pages.warnings("sheets");
        if is_full || remaining_cells == 0 || remaining_written == 0 {
            warnings.push("the tables were cut off at the maximum size".to_owned());
        }
        ParsedDocument { html, pages: Some(pages), warnings, ..ParsedDocument::default() }
    }
}

fn is_text(value: &Data) -> bool {
    matches!(value, Data::String(_))
}

/// Returns the text that Excel displays for a cell with the number format of its style.
fn styled_text(
    value: &Data,
    position: (usize, usize),
    sheet: &SheetLayout,
    formats: &NumberFormats,
) -> String {
    let style = sheet.style(position).filter(|style| formats.has_style(*style));
    let shown = style.and_then(|style| match value {
        Data::Int(number) => Some(formats.format(&number.to_string(), style)),
        Data::Float(number) => Some(formats.format(&number.to_string(), style)),
        Data::DateTime(serial_date) => Some(formats.format(&serial_date.as_f64().to_string(), style)),
        Data::String(text) => formats.format_text(text, style),
        Data::Bool(_) | Data::DateTimeIso(_) | Data::DurationIso(_) | Data::Error(_) | Data::Empty => None,
    });
    shown.unwrap_or_else(|| display_text(value))
}

/// Returns the text of a value without the format of its cell.
fn display_text(value: &Data) -> String {
    match value {
        Data::Int(number) => number.to_string(),
        Data::Float(number) => format_number(*number, &number.to_string()),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(is_true) => if *is_true { "TRUE" } else { "FALSE" }.to_owned(),
        Data::DateTime(serial_date) => format_date(serial_date),
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
    }
}

/// Formats a serial date as a date, a time, or both, depending on its value.
fn format_date(serial_date: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = serial_date.to_ymd_hms_milli();
    let days = serial_date.as_f64();
    if serial_date.is_duration() && (0.0..1e6).contains(&days) {
        let seconds = (days * 86_400.0).round() as i64;
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    let day = format!("{year:04}-{month:02}-{day:02}");
    if (0.0..1.0).contains(&days) {
        time
    } else if days.fract() == 0.0 {
        day
    } else {
        format!("{day} {time}")
    }
}
