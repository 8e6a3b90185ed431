//! Writes the text that character recognition found on a page as HTML: paragraphs as Tesseract groups them, and tables by
//! the positions of the words.

use std::collections::HashSet;

use super::blocks::{Block, PlacedBlock, Table};
use super::columns::in_reading_order;
use super::document::demote_lone_numbers;
use super::font::Style;
use super::geometry::{Rect, median};
use super::glyphs::{Glyph, spread};
use super::lines::segments;
use super::outline::Outline;
use super::recognized_text::{Word, body_size, push_blocks, unite_sizes};
use super::tables::column_blocks;
use super::text::{Span, plain_text};
use super::to_html::{self, Marks};

/// The maximum number of words of a page.
const MAX_WORDS: usize = 10_000;
/// The level of words in the output of Tesseract, below pages, blocks, paragraphs and lines.
const WORD_LEVEL: usize = 5;
/// The height of a page in points: the layout is read with distances of printed pages.
const PAGE_POINTS: f32 = 842.0;
/// The minimum number of rows of a table.
const MIN_ROWS: usize = 3;
/// The maximum width of a space in running text, in heights of words.
const MAX_SPACE: f32 = 2.0;
/// The maximum mean number of words of a cell. Longer cells are the lines of columns of text.
const MAX_CELL_WORDS: usize = 5;

/// A table, and the area of its words on the page.
struct PlacedTable {
    area: Rect,
    rows: Table,
}

/// Writes the text of a page as HTML. `tsv` is the output of Tesseract with the position of each word: a table with tabs
/// between its columns.
pub fn recognized_html(tsv: &str) -> String {
    let words: Vec<Word<'_>> = tsv.lines().filter_map(word).take(MAX_WORDS).collect();
    let tables = tables(&words);
    let body = body_size(&words).unwrap_or(1.0);
    let table_at = |word: &Word<'_>| {
        let (x, y) = middle(&word.area);
        tables.iter().position(|table| table.area.contains(x, y))
    };
    let mut blocks = Vec::new();
    let mut written = HashSet::new();
    for part in words.chunk_by(|a, b| a.paragraph == b.paragraph && table_at(a) == table_at(b)) {
        match table_at(&part[0]) {
            Some(index) if written.insert(index) => {
                blocks.push(PlacedBlock::unplaced(Block::Table(trimmed(&tables[index].rows))));
            }
            Some(_) => {}
            None => push_blocks(part, body, &mut blocks),
        }
    }
    demote_lone_numbers(&mut blocks);
    unite_sizes(&mut blocks);
    to_html::html(&blocks, &[], &Outline::default(), usize::MAX, Marks::None).0
}

/// Reads the line of a word: level, page, block, paragraph, line, word, left, top, width, height, confidence, text. `None`
/// for other lines and for words that are blank.
fn word(line: &str) -> Option<Word<'_>> {
    let mut fields = line.splitn(12, '\t');
    let mut numbers = [0_u32; 10];
    for number in &mut numbers {
        *number = fields.next()?.parse().ok()?;
    }
    let [level, _, block, paragraph, line, _, left, top, width, height] = numbers;
    let text = fields.nth(1)?.trim();
    let (x0, y0) = (left as f32, top as f32);
    let area = Rect { x0, y0, x1: x0 + width as f32, y1: y0 + height as f32 };
    let is_word = usize::try_from(level) == Ok(WORD_LEVEL) && !text.is_empty();
    is_word.then_some(Word { paragraph: (block, paragraph), line, area, text })
}

fn middle(area: &Rect) -> (f32, f32) {
    ((area.x0 + area.x1) / 2.0, (area.y0 + area.y1) / 2.0)
}

/// Finds the tables of a page as those of a page with text, and returns them in the units of the words.
fn tables(words: &[Word<'_>]) -> Vec<PlacedTable> {
    let page = Rect::around(words.iter().map(|word| &word.area));
    let Some(height) = median(words.iter().map(|word| word.area.height())).filter(|height| *height >= 1.0)
    else {
        return Vec::new();
    };
    let scale = PAGE_POINTS / page.y1.max(page.x1).max(1.0);
    let paragraphs = words.chunk_by(|a, b| a.paragraph == b.paragraph);
    let cells: Vec<&Word<'_>> =
        paragraphs.filter(|paragraph| !is_running_text(paragraph, height)).flatten().collect();
    let glyphs = glyphs(cells, height, scale);
    let mut blocks = Vec::new();
    for column in in_reading_order(segments(&glyphs), &[]) {
        column_blocks(column, &[], &[], 0, &mut blocks);
    }
    let tables = blocks.into_iter().filter_map(|placed| match (placed.block, placed.area) {
        (Block::Table(rows), Some(area)) if is_table(&rows) => Some((rows, area)),
        _ => None,
    });
    let in_pixels = |area: Rect| Rect {
        x0: area.x0 / scale,
        y0: area.y0 / scale,
        x1: area.x1 / scale,
        y1: area.y1 / scale,
    };
    tables.map(|(rows, area)| PlacedTable { area: in_pixels(area), rows }).collect()
}

/// Returns whether the lines of a paragraph are those of running text: longer than cells, and without gaps of columns. The boxes
/// of words are too inexact to tell the spaces of such a line from the narrow gutters of a table next to it.
fn is_running_text(paragraph: &[Word<'_>], height: f32) -> bool {
    let lines: Vec<&[Word<'_>]> = paragraph.chunk_by(|a, b| a.line == b.line).collect();
    let has_gap = |line: &&[Word<'_>]| {
        line.windows(2).any(|pair| pair[1].area.x0 - pair[0].area.x1 > MAX_SPACE * height)
    };
    paragraph.len() > MAX_CELL_WORDS * lines.len() && !lines.iter().any(has_gap)
}

/// Returns the letters of the words, evenly spaced, on common baselines: the boxes of the words of a line differ by their
/// letters. `height` is that of most words.
fn glyphs(mut words: Vec<&Word<'_>>, height: f32, scale: f32) -> Vec<Glyph> {
    words.sort_by(|a, b| middle(&a.area).1.total_cmp(&middle(&b.area).1));
    let mut glyphs = Vec::new();
    let mut line: Vec<&Word<'_>> = Vec::new();
    for word in words.into_iter().map(Some).chain([None]) {
        let is_next = |word: &&Word<'_>| {
            line.first().is_none_or(|first| middle(&word.area).1 - middle(&first.area).1 < height * 0.5)
        };
        if let Some(word) = word.filter(is_next) {
            line.push(word);
            continue;
        }
        push_line(&mut glyphs, &mut line, height, scale);
        line.extend(word);
    }
    glyphs
}

/// Appends the letters of the words of a line, from left to right.
fn push_line(glyphs: &mut Vec<Glyph>, line: &mut Vec<&Word<'_>>, height: f32, scale: f32) {
    line.sort_by(|a, b| a.area.x0.total_cmp(&b.area.x0));
    let Some(center) = median(line.iter().map(|word| middle(&word.area).1)) else { return };
    for word in line.drain(..) {
        let area = Glyph {
            character: ' ',
            x0: word.area.x0 * scale,
            x1: word.area.x1 * scale,
            y: (center + height * 0.3) * scale,
            // Most words have no letters that reach both above and below the others.
            size: height * 1.2 * scale,
            style: Style::default(),
            rotation: 0,
            artifact: false,
            link: 0,
            font: 0,
            mcid: None,
        };
        spread(glyphs, word.text, area);
    }
}

/// Returns whether rows are those of a table, and not the lines of columns of text.
fn is_table(rows: &Table) -> bool {
    let cells: Vec<String> = rows.iter().flatten().map(|cell| plain_text(cell)).collect();
    let filled = cells.iter().filter(|cell| !cell.trim().is_empty()).count();
    let words: usize = cells.iter().map(|cell| cell.split_whitespace().count()).sum();
    rows.len() >= MIN_ROWS && words <= MAX_CELL_WORDS * filled
}

/// Returns the rows with cells without style and without spaces around them.
fn trimmed(rows: &Table) -> Table {
    let cell = |cell: &Vec<Span>| {
        vec![Span { text: plain_text(cell).trim().to_owned(), style: Style::default(), link: 0 }]
    };
    rows.iter().map(|row| row.iter().map(cell).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the output of Tesseract for lines of words at these places; each line is a block of its own.
    fn tsv(lines: &[(u32, &[(u32, &str)])]) -> String {
        let header =
            "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n";
        let mut text = format!("{header}1\t1\t0\t0\t0\t0\t0\t0\t1654\t2339\t-1\t\n");
        for (block, (top, words)) in lines.iter().enumerate() {
            text.push_str(&format!("4\t1\t{block}\t1\t1\t0\t0\t{top}\t900\t30\t-1\t\n"));
            for (left, word) in *words {
                // The boxes of digits begin lower than those of letters with ascenders.
                let top = top + u32::from(word.starts_with(|first: char| first.is_ascii_digit())) * 3;
                let width = 16 * word.len();
                text.push_str(&format!("5\t1\t{block}\t1\t1\t1\t{left}\t{top}\t{width}\t27\t91.5\t{word}\n"));
            }
        }
        text
    }

    #[test]
    fn words_in_columns_are_a_table_between_paragraphs() {
        let text = tsv(&[
            (100, &[(100, "Prices"), (210, "of"), (260, "the"), (330, "harbour")]),
            (300, &[(100, "Boat"), (600, "Hours"), (1000, "Crowns")]),
            (350, &[(100, "Anna"), (180, "Maria"), (600, "2"), (1000, "24.50")]),
            (400, &[(100, "Berta"), (600, "3"), (1000, "<36>")]),
            (450, &[(100, "Clara"), (600, "14"), (1000, "160")]),
            (700, &[(100, "Valid"), (200, "in"), (250, "2026.")]),
        ]);
        assert_eq!(
            recognized_html(&text),
            "<p>Prices of the harbour</p>\n<table>\n<tr><th>Boat</th><th>Hours</th><th>Crowns</th></tr>\n\
             <tr><td>Anna Maria</td><td>2</td><td>24.50</td></tr>\n<tr><td>Berta</td><td>3</td><td>&lt;36&gt;</td></tr>\n\
             <tr><td>Clara</td><td>14</td><td>160</td></tr>\n</table>\n<p>Valid in 2026.</p>\n"
        );
    }

    /// The boxes are those of a scan: "a" is narrower than its letter, so that all lines have a gap behind it.
    #[test]
    fn line_of_text_above_a_table_is_not_a_row_of_it() {
        /// The left edge, the width and the text of a word.
        type Boxed = (u32, u32, &'static str);
        let lines: [(u32, u32, &[Boxed]); 6] = [
            (
                1,
                323,
                &[
                    (165, 117, "includes"),
                    (293, 44, "the"),
                    (348, 51, "fuel"),
                    (411, 52, "and"),
                    (466, 14, "a"),
                    (503, 39, "life"),
                    (551, 87, "jacket"),
                    (648, 37, "for"),
                    (696, 68, "each"),
                    (777, 85, "guest."),
                ],
            ),
            (2, 395, &[(167, 71, "Boat"), (739, 92, "Hours"), (1067, 119, "Crowns")]),
            (2, 436, &[(165, 77, "Anna"), (253, 80, "Maria"), (738, 16, "2"), (1068, 80, "24.50")]),
            (2, 477, &[(167, 76, "Berta"), (738, 16, "3"), (1068, 80, "36.00")]),
            (2, 518, &[(166, 77, "Clara"), (739, 34, "14"), (1069, 97, "160.00")]),
            (2, 559, &[(167, 69, "Dora"), (738, 16, "5"), (1068, 80, "58.25")]),
        ];
        let mut text = String::new();
        for (line, (block, top, words)) in lines.iter().enumerate() {
            for (left, width, word) in *words {
                text.push_str(&format!(
                    "5\t1\t{block}\t1\t{line}\t1\t{left}\t{top}\t{width}\t25\t90\t{word}\n"
                ));
            }
        }
        let html = recognized_html(&text);
        assert!(
            html.starts_with(
                "<p>includes the fuel and a life jacket for each guest.</p>\n<table>\n<tr><th>Boat</th>"
            ),
            "{html}"
        );
        assert!(html.contains("<tr><td>Anna Maria</td><td>2</td><td>24.50</td></tr>"), "{html}");
    }

    #[test]
    fn columns_of_a_table_that_are_blocks_of_their_own_are_one_table() {
        let column = |block: u32, left: u32, words: [&str; 4]| -> String {
            let line = |(row, word): (usize, &&str)| {
                let top = 300 + 50 * row;
                format!("5\t1\t{block}\t1\t{row}\t1\t{left}\t{top}\t{}\t27\t90\t{word}\n", 16 * word.len())
            };
            words.iter().enumerate().map(line).collect()
        };
        let text =
            column(1, 100, ["Boat", "Anna", "Berta", "Clara"]) + &column(2, 600, ["Hours", "2", "3", "14"]);
        let html = recognized_html(&text);
        assert!(html.contains("<tr><td>Berta</td><td>3</td></tr>"), "{html}");
        assert_eq!((html.matches("<table>").count(), html.matches("<p>").count()), (1, 0), "{html}");
    }

    #[test]
    fn columns_of_text_are_paragraphs() {
        let prose = ["every", "kettle", "of", "this", "house", "whistles", "in", "another", "key"];
        let mut text = String::new();
        for (block, left) in [(1, 80), (2, 900)] {
            for row in 0..12 {
                let (top, mut x) = (200 + 40 * row, left);
                for word in prose.iter().cycle().skip(row * 4 + block).take(7) {
                    let width = 15 * word.len();
                    text.push_str(&format!(
                        "5\t1\t{block}\t1\t{row}\t1\t{x}\t{top}\t{width}\t27\t90\t{word}\n"
                    ));
                    x += width + 12;
                }
            }
        }
        let html = recognized_html(&text);
        assert_eq!((html.matches("<p>").count(), html.contains("<table>")), (2, false), "{html}");
    }

    #[test]
    fn damaged_lines_are_skipped() {
        for text in [
            "",
            "5\t1",
            "a\tb\tc",
            "5\t1\t1\t1\t1\t1\t-3\t1\t1\t1\t90\tx",
            "5\t1\t1\t1\t1\t1\t0\t0\t0\t0\t90\t \n",
        ] {
            assert_eq!(recognized_html(text), "", "{text:?}");
        }
        let huge = format!("5\t1\t1\t1\t1\t1\t{0}\t{0}\t{0}\t{0}\t90\tx\n", u32::MAX);
        assert_eq!(recognized_html(&huge), "<p>x</p>\n");
    }
}
