//! Reads the parts of a workbook from before 2007 ([MS-XLS], Excel 5 and later) that say how it is displayed: the number
//! formats and the links of the cells, hidden rows and columns, and merged cells. The values of the cells come from calamine.

use std::collections::HashMap;

use encoding_rs::WINDOWS_1252;

use crate::compound_file::CompoundFile;
use crate::grid::Grid;
use crate::kind::DocumentKind;
use crate::number_format::NumberFormats;
use crate::text_encoding::utf16;

/// The maximum number of cells of a sheet whose styles are kept.
const MAX_CELLS: usize = 1_000_000;
/// The maximum number of cell styles: their indexes have 16 bits.
const MAX_STYLES: usize = 65_536;
/// The maximum number of links of a sheet that are read.
const MAX_LINKS: usize = 50_000;
/// The identifier of URLs in the object of a link.
const URL: [u8; 16] = *b"\xe0\xc9\xea\x79\xf9\xba\xce\x11\x8c\x82\x00\xaa\x00\x4b\xa9\x0b";
/// The version of a workbook of Excel 97 and later.
const BIFF_8: u16 = 0x0600;

// The types of records.
const BOF: u16 = 0x0809;
const EOF: u16 = 0x000a;
const DATE_1904: u16 = 0x0022;
const FORMAT: u16 = 0x041e;
const XF: u16 = 0x00e0;
const BOUND_SHEET: u16 = 0x0085;
const ROW: u16 = 0x0208;
const COLUMNS: u16 = 0x007d;
const MERGED_CELLS: u16 = 0x00e5;
const MULTIPLE_RK: u16 = 0x00bd;
const LINK: u16 = 0x01b8;
/// The records of one cell: number, compressed number, formula, and three kinds of text.
const CELLS: [u16; 6] = [0x0203, 0x027e, 0x0006, 0x00fd, 0x0204, 0x00d6];

/// The layout of a workbook.
#[derive(Debug, Default)]
pub(crate) struct BookLayout {
    stream: Vec<u8>,
    pub(crate) formats: NumberFormats,
    /// The positions of the sheets, in their order.
    sheets: Vec<usize>,
    /// The number of bytes that may still be read: a hostile file may name a sheet many times.
    remaining_bytes: usize,
}

/// The styles and the links of the cells of a sheet.
#[derive(Debug, Default)]
pub(crate) struct SheetLayout {
    styles: HashMap<(u16, u16), u16>,
    /// The cells with links, and their URLs.
    pub(crate) links: Vec<((usize, usize), String)>,
}

impl SheetLayout {
    /// Returns the style of a cell.
    pub(crate) fn style(&self, (row, column): (usize, usize)) -> Option<usize> {
        let place = (u16::try_from(row).ok()?, u16::try_from(column).ok()?);
        self.styles.get(&place).map(|style| usize::from(*style))
    }

    fn set(&mut self, row: u16, column: u16, style: u16) {
        if self.styles.len() < MAX_CELLS {
            self.styles.insert((row, column), style);
        }
    }
}

impl BookLayout {
    /// Reads the layout of a workbook; an empty one if the file is damaged, which its reader reports.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let Ok(file) = CompoundFile::open(DocumentKind::Xls, bytes) else { return Self::default() };
        let book = ["Workbook", "Book"].iter().find_map(|name| file.child(file.root(), name));
        book.map(|book| Self::of_stream(file.read(book))).unwrap_or_default()
    }

    fn of_stream(stream: Vec<u8>) -> Self {
        let (mut version, mut is_1904) = (BIFF_8, false);
        let (mut codes, mut styles, mut sheets) = (HashMap::new(), Vec::new(), Vec::new());
        for Record { kind, data } in records(&stream, 0) {
            match kind {
                BOF => version = number(data, 0).unwrap_or(BIFF_8),
                EOF => break,
                DATE_1904 => is_1904 = number(data, 0) == Some(1),
                FORMAT => codes.extend(format_code(data, version)),
                XF if styles.len() < MAX_STYLES => styles.push(number(data, 2).unwrap_or(0)),
                BOUND_SHEET => sheets.push(length(data).unwrap_or(usize::MAX)),
                _ => {}
            }
        }
        let mut formats = NumberFormats::new(is_1904);
        styles.into_iter().for_each(|format| formats.add_style(u32::from(format), &codes));
        let remaining_bytes = 2 * stream.len();
        Self { stream, formats, sheets, remaining_bytes }
    }

    /// Reads the layout of a sheet: adds what is hidden and merged to its grid, and returns the rest.
    pub(crate) fn sheet(&mut self, index: usize, grid: &mut Grid) -> SheetLayout {
        let mut layout = SheetLayout::default();
        let start = self.sheets.get(index).copied().unwrap_or(usize::MAX);
        // A chart on the sheet has records of its own.
        let mut depth = 0;
        for record in records(&self.stream, start) {
            let Some(remaining) = self.remaining_bytes.checked_sub(record.data.len() + 4) else { break };
            self.remaining_bytes = remaining;
            match record.kind {
                BOF => depth += 1,
                EOF if depth <= 1 => break,
                EOF => depth -= 1,
                _ if depth == 1 => {
                    let _incomplete = record.add_to(grid, &mut layout);
                }
                _ => {}
            }
        }
        layout
    }
}

/// A record: its type and its content.
struct Record<'b> {
    kind: u16,
    data: &'b [u8],
}

impl Record<'_> {
    /// Adds what the record says about a sheet; `None` if it is incomplete.
    fn add_to(&self, grid: &mut Grid, layout: &mut SheetLayout) -> Option<()> {
        let number = |at| number(self.data, at);
        match self.kind {
            ROW if number(12)? & 0x20 != 0 => {
                grid.hidden_rows.insert(usize::from(number(0)?));
            }
            COLUMNS if number(8)? & 1 != 0 => grid.hide_columns(number(0)?.into(), number(2)?.into()),
            MERGED_CELLS => {
                for range in self.data.get(2..)?.chunks_exact(8) {
                    let at = |at| self::number(range, at).map(usize::from);
                    grid.merge(((at(0)?, at(4)?), (at(2)?, at(6)?)));
                }
            }
            MULTIPLE_RK => {
                let (row, first) = (number(0)?, number(2)?);
                let cells = self.data.get(4..self.data.len().checked_sub(2)?)?.chunks_exact(6);
                for (column, cell) in (first..=u16::MAX).zip(cells) {
                    layout.set(row, column, self::number(cell, 0)?);
                }
            }
            LINK if layout.links.len() < MAX_LINKS => {
                let cell = (number(0)?.into(), number(4)?.into());
                layout.links.push((cell, url(self.data.get(24..)?)?));
            }
            kind if CELLS.contains(&kind) => layout.set(number(0)?, number(2)?, number(4)?),
            _ => {}
        }
        Some(())
    }
}

/// Returns the records from a position.
fn records(stream: &[u8], start: usize) -> impl Iterator<Item = Record<'_>> {
    let mut rest = stream.get(start..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (kind, length) = (number(rest, 0)?, number(rest, 2)?);
        let (data, next) = rest[4..].split_at_checked(usize::from(length))?;
        rest = next;
        Some(Record { kind, data })
    })
}

/// Returns the number and the code of a number format.
fn format_code(data: &[u8], version: u16) -> Option<(u32, String)> {
    let (id, text) = (u32::from(number(data, 0)?), data.get(2..)?);
    if version < BIFF_8 {
        let (length, text) = text.split_first()?;
        let text = text.get(..usize::from(*length))?;
        return Some((id, WINDOWS_1252.decode(text).0.into_owned()));
    }
    let (length, is_wide) = (usize::from(number(text, 0)?), text.get(2)? & 1 != 0);
    let text = text.get(3..)?;
    let code = if is_wide {
        utf16(text.get(..2 * length)?, u16::from_le_bytes)
    } else {
        text.get(..length)?.iter().map(|byte| char::from(*byte)).collect()
    };
    Some((id, code))
}

/// Returns the URL of the object of a link ([MS-OSHARED], 2.3.7.1); `None` for a link to a file or a cell.
fn url(object: &[u8]) -> Option<String> {
    let flags = length(object.get(4..)?)?;
    let mut rest = object.get(8..)?;
    // The displayed name, and the name of the frame.
    for flag in [0x10, 0x80] {
        if flags & flag != 0 {
            rest = rest.get(4..)?.get(length(rest)?.checked_mul(2)?..)?;
        }
    }
    let (has_url, is_text) = (flags & 1 != 0, flags & 0x100 != 0);
    let bytes = if is_text { length(rest)?.checked_mul(2)? } else { length(rest.strip_prefix(&URL)?)? };
    let text = rest.get(if is_text { 4 } else { 20 }..)?.get(..bytes)?;
    let text = utf16(text, u16::from_le_bytes);
    // The length may include data after the end of the text.
    has_url.then(|| text.split('\0').next().unwrap_or_default().to_owned())
}

/// Returns a length or a position of 32 bits.
fn length(data: &[u8]) -> Option<usize> {
    let bytes = data.get(..4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

fn number(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, numbers: &[u16]) -> Vec<u8> {
        let length = u16::try_from(2 * numbers.len()).unwrap();
        [kind, length].iter().chain(numbers).flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Returns the link of a cell with a displayed name.
    fn link() -> Vec<u8> {
        let text = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let url = text("https://tea.test/\0rest");
        let content = [
            [6, 6, 1, 1].map(u16::to_le_bytes).concat(),
            vec![0; 16],
            [2_u32, 0x17, 2].map(u32::to_le_bytes).concat(),
            text("a\0"),
            URL.to_vec(),
            u32::try_from(url.len()).unwrap().to_le_bytes().to_vec(),
            url,
        ];
        let content = content.concat();
        let length = u16::try_from(content.len()).unwrap();
        [&LINK.to_le_bytes()[..], &length.to_le_bytes(), &content].concat()
    }

    /// Returns a workbook of this version whose only sheet, which begins at 0, is the workbook itself.
    fn book(version: u16) -> Vec<u8> {
        // The format 164 is `0.0%`.
        let format = if version < BIFF_8 { "\u{a4}\0\u{4}" } else { "\u{a4}\0\u{4}\0\0" };
        let format: Vec<u8> = format.chars().chain("0.0%".chars()).map(|byte| byte as u8).collect();
        let format = [&FORMAT.to_le_bytes()[..], &[format.len() as u8, 0], &format].concat();
        [
            record(BOF, &[version, 5]),
            format,
            record(XF, &[0, 164]),
            record(BOUND_SHEET, &[0, 0, 0, 0]),
            record(ROW, &[4, 0, 0, 0, 0, 0, 0x20, 0]),
            record(COLUMNS, &[3, 5, 0, 0, 1]),
            record(MERGED_CELLS, &[1, 0, 1, 2, 3]),
            record(MULTIPLE_RK, &[1, 2, 7, 0, 0, 8, 0, 0, 3]),
            record(CELLS[0], &[6, 1, 9]),
            link(),
            record(EOF, &[]),
        ]
        .concat()
    }

    #[test]
    fn layout_of_both_versions_is_read() {
        for version in [0x0500, BIFF_8] {
            let mut layout = BookLayout::of_stream(book(version));
            let mut grid = Grid::default();
            let sheet = layout.sheet(0, &mut grid);
            assert_eq!(layout.formats.format("0.5", 0), "50.0%");
            assert_eq!(
                [(1, 2), (1, 3), (6, 1), (6, 2)].map(|place| sheet.style(place)),
                [Some(7), Some(8), Some(9), None]
            );
            assert!(grid.hidden_rows.contains(&4));
            assert_eq!(sheet.links, [((6, 1), "https://tea.test/".to_owned())]);
        }
    }

    #[test]
    fn incomplete_and_damaged_records_are_skipped() {
        let whole = book(BIFF_8);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            for stream in [whole[..at].to_vec(), damaged] {
                let mut layout = BookLayout::of_stream(stream);
                let sheet = layout.sheet(0, &mut Grid::default());
                assert!(sheet.style((7, 7)).is_none());
            }
        }
        assert_eq!(BookLayout::read(b"no compound file").sheets, [] as [usize; 0]);
    }

    #[test]
    fn sheets_that_begin_at_the_same_place_are_read_within_a_budget() {
        let mut layout = BookLayout::of_stream(book(BIFF_8));
        layout.sheets = vec![0; 10];
        let read: Vec<usize> =
            (0..10).map(|index| layout.sheet(index, &mut Grid::default()).styles.len()).collect();
        assert_eq!(read[..4], [3, 3, 0, 0]);
    }
}
