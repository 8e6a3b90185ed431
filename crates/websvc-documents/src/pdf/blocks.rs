//! Groups the lines of a column into blocks: paragraphs, list items, code and tables of contents.

use super::font::Style;
use super::geometry::{Rect, median};
use super::glyphs::Glyph;
use super::list_marker::{ListMarker, begins_note, label, leading_marker};
use super::listing;
use super::segment::Segment;
use super::text::{Span, join, spans};

/// The minimum number of lines that show the distance of the lines of paragraphs, or the right edge of a column.
const MIN_RUNNING: usize = 4;
/// The maximum distance of the right edges of justified lines, in points.
const SAME_EDGE: f32 = 1.0;
/// The minimum share of the widest line that the usual right edge of a column has.
const MIN_COLUMN_SHARE: f32 = 0.6;
/// The share of the width of a column above which a line is long.
const LONG_LINE: f32 = 0.7;
/// The minimum distance of the lines of different paragraphs, relative to the usual one.
const PARAGRAPH_DISTANCE: f32 = 1.2;

/// A block and its place.
#[derive(Debug, Clone)]
pub(super) struct PlacedBlock {
    pub(super) block: Block,
    /// The area on the page; `None` for text that is not upright.
    pub(super) area: Option<Rect>,
    /// The element of the structure of the file that it is a part of.
    pub(super) element: Option<u32>,
}

impl PlacedBlock {
    /// Creates a block that covers these lines.
    pub(super) fn of_lines(block: Block, lines: &[Line]) -> Self {
        Self { block, area: Some(Rect::around(lines.iter().map(|line| &line.area))), element: None }
    }

    /// Creates a block without a place.
    pub(super) fn unplaced(block: Block) -> Self {
        Self { block, area: None, element: None }
    }
}

/// The cells of the rows of a table.
pub(super) type Table = Vec<Vec<Vec<Span>>>;

/// A block of a column.
#[derive(Debug, Clone)]
pub(super) enum Block {
    /// A paragraph, a heading or a list item. Headings are detected after all pages are read.
    Text(Text),
    /// Monospace lines, with their indentation.
    Code(Vec<String>),
    /// Rows of cells.
    Table(Table),
    /// Lines of a table of contents.
    Contents(Vec<Vec<Span>>),
    /// The start of a page.
    PageStart(PageSize),
    /// The placeholder of the page with this number, which has no text.
    PageMark(u32),
}

/// The number and the size of a page, in points.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageSize {
    pub(super) page: u32,
    pub(super) width: f32,
    pub(super) height: f32,
}

/// The purpose of a block of text that the structure of the file states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRole {
    Unknown,
    Heading(u32),
    Body,
}

/// A block of running text.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) spans: Vec<Span>,
    pub(super) size: f32,
    /// All letters are bold.
    pub(super) bold: bool,
    pub(super) lines: usize,
    /// The left edge of the first line.
    pub(super) x0: f32,
    /// The marker of a list item.
    pub(super) marker: Option<ListMarker>,
    /// The text of the marker.
    pub(super) label: String,
    pub(super) role: TextRole,
    /// The block is the first of its column, so it can continue the block before it.
    pub(super) starts_column: bool,
    /// The last line reaches the right edge of the column and does not end a sentence, so the next column can continue
    /// the block.
    pub(super) may_continue: bool,
}

impl Text {
    /// Makes the marker a part of the text, because the block is not an item of a list.
    pub(super) fn marker_to_text(&mut self) {
        if self.marker.take().is_some() {
            let label = format!("{} ", std::mem::take(&mut self.label));
            match self.spans.first_mut() {
                Some(first) if first.style == Style::default() && first.link == 0 => {
                    first.text.insert_str(0, &label);
                }
                _ => self.spans.insert(0, Span { text: label, style: Style::default(), link: 0 }),
            }
        }
    }
}

/// A line of a column.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) area: Rect,
    pub(super) y: f32,
    pub(super) size: f32,
    pub(super) mono: bool,
    pub(super) bold: bool,
}

impl Line {
    /// Creates a line from its segments.
    pub(super) fn new(segments: &[Segment]) -> Self {
        let mut glyphs: Vec<Glyph> = Vec::new();
        let mut area = Rect::EMPTY;
        for segment in segments {
            if let (Some(last), Some(next)) = (glyphs.last().copied(), segment.glyphs.first()) {
                glyphs.push(Glyph { character: ' ', x0: last.x1, x1: next.x0, link: 0, ..last });
            }
            glyphs.extend_from_slice(&segment.glyphs);
            area.unite(&segment.area);
        }
        let largest = segments.iter().max_by_key(|segment| segment.glyphs.len());
        let letters = || glyphs.iter().filter(|glyph| glyph.character.is_alphanumeric());
        Self {
            area,
            y: largest.map_or(0.0, |segment| segment.y),
            size: largest.map_or(1.0, |segment| segment.size),
            mono: segments.iter().all(Segment::is_mono),
            bold: letters().count() > 0 && letters().all(|glyph| glyph.style.bold),
            glyphs,
        }
    }
}

/// The properties of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// The number of links on the pages before this one.
    pub(super) link_offset: u32,
    pub(super) area: Rect,
    /// The median font size.
    pub(super) size: f32,
    /// The median distance of baselines.
    pub(super) leading: f32,
    /// At least half of the lines end at the right edge.
    pub(super) justified: bool,
}

impl Column {
    pub(super) fn new(link_offset: u32, lines: &[Line]) -> Self {
        let mut area = Rect::around(lines.iter().map(|line| &line.area));
        let distance = |pair: &[Line]| {
            let distance = pair[1].y - pair[0].y;
            let size = pair[0].size.max(pair[1].size);
            (distance > size * 0.5 && distance < size * 2.5).then_some(distance)
        };
        let size = median(lines.iter().map(|line| line.size)).unwrap_or(10.0);
        // A heading above several columns is wider than its column.
        let usual = usual_edge(lines.iter().map(|line| line.area.x1));
        if let Some(right) = usual.filter(|right| *right > area.x0 + area.width() * MIN_COLUMN_SHARE) {
            area.x1 = right;
        }
        // Items, rows and headings have other distances than the lines of a paragraph, which are long.
        let is_long = |pair: &&[Line]| {
            pair[0].area.x1 > area.x0 + area.width() * LONG_LINE && (pair[0].size - pair[1].size).abs() < 0.5
        };
        let running: Vec<f32> = lines.windows(2).filter(is_long).filter_map(distance).collect();
        let distances = if running.len() >= MIN_RUNNING {
            running
        } else {
            lines.windows(2).filter_map(distance).collect()
        };
        let leading = median(distances.into_iter()).unwrap_or(size * 1.2);
        let full = lines.iter().filter(|line| line.area.x1 > area.x1 - size * 0.5).count();
        Self { link_offset, area, size, leading, justified: full * 10 >= lines.len() * 5 && lines.len() > 4 }
    }
}

/// Returns the edge that at least a third of the lines share; `None` if there is none.
fn usual_edge(edges: impl Iterator<Item = f32>) -> Option<f32> {
    let mut edges: Vec<f32> = edges.collect();
    edges.sort_by(f32::total_cmp);
    let shared = edges.chunk_by(|a, b| b - a < SAME_EDGE).max_by_key(|shared| shared.len())?;
    (shared.len() * 3 >= edges.len() && shared.len() >= MIN_RUNNING).then(|| shared[shared.len() - 1])
}

/// Groups the lines of a column into blocks, and appends them.
pub(super) fn blocks(lines: &[Line], column: &Column, blocks: &mut Vec<PlacedBlock>) {
    let mut index = 0;
    while index < lines.len() {
        let code = code_lines(&lines[index..], column);
        if code > 0 {
            let lines = &lines[index..index + code];
            blocks.push(PlacedBlock::of_lines(Block::Code(code_text(lines, column)), lines));
            index += code;
            continue;
        }
        let contents = contents_lines(&lines[index..]);
        if contents >= 2 {
            let lines = &lines[index..index + contents];
            let entries = lines.iter().map(|line| contents_entry(line, column.link_offset));
            blocks.push(PlacedBlock::of_lines(Block::Contents(entries.collect()), lines));
            index += contents;
            continue;
        }
        let mut builder = TextBuilder::new(&lines[index], column);
        let start = index;
        index += 1;
        while let Some(line) = lines.get(index) {
            let is_code = line.mono && code_lines(&lines[index..], column) > 0;
            if is_code || contents_lines(&lines[index..]) >= 2 || builder.ends_before(line, column) {
                break;
            }
            builder.push(line, column);
            index += 1;
        }
        blocks.push(PlacedBlock::of_lines(Block::Text(builder.finish(column)), &lines[start..index]));
    }
}

/// Returns the text of lines that are a block, which cannot be empty.
pub(super) fn text_of_lines(lines: &[Line], column: &Column) -> Text {
    let mut builder = TextBuilder::new(&lines[0], column);
    lines[1..].iter().for_each(|line| builder.push(line, column));
    builder.finish(column)
}

/// Returns the number of lines of code at the start: monospace lines, at least two or one that is indented.
fn code_lines(lines: &[Line], column: &Column) -> usize {
    let mut count = 0;
    let mut last: Option<&Line> = None;
    for line in lines {
        let near = last.is_none_or(|last| line.y - last.y < column.leading.max(line.size * 1.2) * 2.6);
        if !line.mono || !near {
            break;
        }
        last = Some(line);
        count += 1;
    }
    let is_indented = lines.first().is_some_and(|line| line.area.x0 > column.area.x0 + line.size);
    if count >= 2 || (count == 1 && is_indented) { count } else { 0 }
}

/// Returns the lines of code, with the indentation and gaps that they have on the page.
pub(super) fn code_text(lines: &[Line], column: &Column) -> Vec<String> {
    let left = lines.iter().map(|line| line.area.x0).fold(f32::INFINITY, f32::min);
    let pitch = listing::pitch(lines.iter().map(|line| line.glyphs.as_slice()));
    let mut text: Vec<String> = Vec::new();
    let mut last: Option<f32> = None;
    for line in lines {
        if last.is_some_and(|last| line.y - last > column.leading.max(line.size * 1.1) * 1.6) {
            text.push(String::new());
        }
        last = Some(line.y);
        text.push(listing::code_line(&line.glyphs, left, pitch));
    }
    text
}

/// Returns the number of lines of a table of contents at the start. Its chapters have no dot leaders, but page numbers at
/// the place of those of the other lines.
fn contents_lines(lines: &[Line]) -> usize {
    let Some(leader) = lines.iter().take(2).find(|line| has_leader(line)) else { return 0 };
    let is_entry = |line: &&Line| {
        let gap = line.glyphs.windows(2).rev().find(|pair| pair[0].character == ' ');
        let is_wide = gap.is_some_and(|pair| pair[0].x1 - pair[0].x0 > line.size);
        let ends_with_number = line.glyphs.last().is_some_and(|glyph| glyph.character.is_ascii_digit());
        let is_same_edge = (line.area.x1 - leader.area.x1).abs() < line.size * 0.5;
        has_leader(line) || (is_wide && ends_with_number && is_same_edge)
    };
    lines.iter().take_while(is_entry).count()
}

/// Returns whether a line has a dot leader, as in a table of contents.
pub(super) fn has_leader(line: &Line) -> bool {
    leader(&line.glyphs).is_some()
}

/// Returns the range of the dot leader of a line; `None` if it has none.
fn leader(glyphs: &[Glyph]) -> Option<std::ops::Range<usize>> {
    let mut start = None;
    let mut dots = 0;
    for (index, glyph) in glyphs.iter().enumerate() {
        match glyph.character {
            '.' | '·' | '…' | '_' => {
                start.get_or_insert(index);
                dots += if glyph.character == '…' { 3 } else { 1 };
            }
            ' ' => {}
            _ if dots >= 4 => return start.map(|start| start..index),
            _ => {
                start = None;
                dots = 0;
            }
        }
    }
    None
}

/// Returns the text of a line of a table of contents, with a space in place of the dot leader.
pub(super) fn contents_entry(line: &Line, link_offset: u32) -> Vec<Span> {
    let Some(dots) = leader(&line.glyphs) else { return spans(&line.glyphs, link_offset) };
    let mut glyphs = line.glyphs[..dots.start].to_vec();
    while glyphs.last().is_some_and(|glyph| glyph.character == ' ') {
        glyphs.pop();
    }
    if let Some(last) = glyphs.last().copied() {
        glyphs.push(Glyph { character: ' ', ..last });
    }
    glyphs.extend_from_slice(&line.glyphs[dots.end..]);
    spans(&glyphs, link_offset)
}

/// A block of text that is built line by line.
struct TextBuilder {
    spans: Vec<Span>,
    marker: Option<ListMarker>,
    label: String,
    /// The left edge of the text of the first line, after a list marker.
    text_x0: f32,
    first: Line,
    last: Line,
    lines: usize,
    bold: bool,
}

impl TextBuilder {
    fn new(line: &Line, column: &Column) -> Self {
        let (marker, skipped) = leading_marker(&line.glyphs);
        let content = &line.glyphs[skipped..];
        let text_x0 = content.first().map_or(line.area.x0, |glyph| glyph.x0);
        Self {
            spans: spans(content, column.link_offset),
            marker,
            label: label(&line.glyphs[..skipped]),
            text_x0,
            first: line.clone(),
            last: line.clone(),
            lines: 1,
            bold: line.bold,
        }
    }

    fn push(&mut self, line: &Line, column: &Column) {
        join(&mut self.spans, spans(&line.glyphs, column.link_offset));
        self.last = line.clone();
        self.lines += 1;
        self.bold &= line.bold;
    }

    /// Returns whether the block ends before a line.
    fn ends_before(&self, line: &Line, column: &Column) -> bool {
        let em = line.size;
        let distance = line.y - self.last.y;
        // The lines of a heading have a larger distance than those of the text.
        let least = if em > column.size * 1.08 { em * 1.2 } else { em * 0.9 };
        let usual_leading = column.leading.max(least).min(em * 1.9);
        if distance > usual_leading * PARAGRAPH_DISTANCE + 0.5 || distance < -em {
            return true;
        }
        if (line.size - self.last.size).abs() > 0.08 * self.last.size {
            return true;
        }
        if line.bold != self.last.bold && line.bold != self.bold && self.is_short(&self.last, column, 0.15) {
            return true;
        }
        if leading_marker(&line.glyphs).0.is_some() && self.marker_begins_item(line, column) {
            return true;
        }
        begins_note(&line.glyphs)
            || self.indent_begins_block(line, column)
            || self.sentence_ends_block(column)
    }

    /// Returns whether a marker at the start of a line begins a list item and is not a number in running text.
    fn marker_begins_item(&self, line: &Line, column: &Column) -> bool {
        let is_bullet = matches!(leading_marker(&line.glyphs).0, Some(ListMarker::Bullet));
        if !is_bullet && self.has_open_parenthesis() {
            return false;
        }
        is_bullet
            || self.marker.is_some()
            || self.is_short(&self.last, column, 0.1)
            || self.ends_with(&[':', '.', ';'])
    }

    /// Returns whether the text has a parenthesis that is not closed, so that a number before a parenthesis closes it.
    fn has_open_parenthesis(&self) -> bool {
        let text = self.spans.last().map_or("", |span| span.text.as_str());
        text.rfind('(').is_some_and(|open| !text[open..].contains(')'))
    }

    /// Returns whether the indentation of a line shows that the line begins a new block.
    fn indent_begins_block(&self, line: &Line, column: &Column) -> bool {
        let em = line.size;
        let base = if self.lines == 1 { self.text_x0 } else { self.last.area.x0 };
        let shift = line.area.x0 - base;
        if shift > em * 0.9 {
            // Deeper than the line before: the first line of a paragraph, or the continuation of a hanging indent.
            return self.lines > 1 || self.is_short(&self.last, column, 0.12) && shift < em * 6.0;
        }
        if shift < -em * 0.9 {
            // A list item continues below its text or below its marker. A paragraph continues left of its first line.
            let below_marker = self.marker.is_some() && (line.area.x0 - self.first.area.x0).abs() < em * 0.5;
            if self.lines == 1 && (below_marker || self.marker.is_none()) {
                return self.is_short(&self.last, column, 0.12);
            }
            return true;
        }
        false
    }

    /// Returns whether the last line is short and ends a sentence, in a column whose lines reach the right edge.
    fn sentence_ends_block(&self, column: &Column) -> bool {
        column.justified && self.is_short(&self.last, column, 0.2) && self.ends_with(&['.', '!', '?', ':'])
    }

    /// Returns whether a line ends before the right edge, by at least this share of the width of the column.
    fn is_short(&self, line: &Line, column: &Column, share: f32) -> bool {
        line.area.x1 < column.area.x1 - column.area.width() * share
    }

    fn ends_with(&self, characters: &[char]) -> bool {
        self.spans.last().is_some_and(|span| span.text.trim_end().ends_with(characters))
    }

    fn finish(self, column: &Column) -> Text {
        let may_continue =
            !self.ends_with(&['.', '!', '?', ':', ';']) && !self.is_short(&self.last, column, 0.15);
        Text {
            may_continue,
            size: self.first.size,
            bold: self.bold,
            lines: self.lines,
            x0: self.first.area.x0,
            marker: self.marker,
            label: self.label,
            role: TextRole::Unknown,
            starts_column: false,
            spans: self.spans,
        }
    }
}

/// Returns whether a style needs no markup.
pub(super) fn is_plain(style: Style) -> bool {
    style == Style::default()
}
