//! Lines to blocks: paragraphs, items of lists, code and tables.

use super::columns::median;
use super::content::Glyph;
use super::font::Style;
use super::geometry::Rect;
use super::lines::Segment;
use super::list_marker::{ListMarker, leading_marker};
use super::text::{Span, join, spans};

/// A block of a column.
#[derive(Debug, Clone)]
pub(super) enum Block {
    /// A paragraph, a heading or an item of a list; which of them is decided when the whole document is known.
    Text(Text),
    /// Lines of fixed width, kept as they are.
    Code(Vec<String>),
    /// Rows of cells.
    Table(Vec<Vec<Vec<Span>>>),
    /// Lines of a table of contents.
    Contents(Vec<Vec<Span>>),
    /// In the place of a page without text.
    PageMark(u32),
}

/// A block of running text.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) spans: Vec<Span>,
    pub(super) size: f32,
    /// All its letters are bold.
    pub(super) bold: bool,
    pub(super) lines: usize,
    /// Left edge of the first line.
    pub(super) x0: f32,
    /// The sign before it, of an item of a list.
    pub(super) marker: Option<ListMarker>,
    /// It is the first of its column, so that it may go on with what was before.
    pub(super) is_first: bool,
    /// Its last line goes to the end of the column, so that it may go on.
    pub(super) is_open: bool,
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
    /// Joins the segments of a line.
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

/// State of the column whose lines are being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// The number of the page's first link less 1.
    pub(super) links: u32,
    pub(super) area: Rect,
    /// The usual distance of baselines.
    pub(super) leading: f32,
    /// Most lines end at the right edge.
    pub(super) justified: bool,
}

impl Column {
    pub(super) fn new(links: u32, lines: &[Line]) -> Self {
        let mut area = Rect::EMPTY;
        lines.iter().for_each(|line| area.unite(&line.area));
        let distances = lines.windows(2).filter_map(|pair| {
            let distance = pair[1].y - pair[0].y;
            let size = pair[0].size.max(pair[1].size);
            (distance > size * 0.5 && distance < size * 2.5).then_some(distance)
        });
        let size = median(lines.iter().map(|line| line.size)).unwrap_or(10.0);
        let leading = median(distances).unwrap_or(size * 1.2);
        let full = lines.iter().filter(|line| line.area.x1 > area.x1 - size * 0.5).count();
        Self { links, area, leading, justified: full * 10 >= lines.len() * 5 && lines.len() > 4 }
    }
}

/// Makes blocks of the lines of a column.
pub(super) fn blocks(lines: &[Line], column: &Column, blocks: &mut Vec<Block>) {
    let mut at = 0;
    while at < lines.len() {
        let code = code_lines(&lines[at..], column);
        if code > 0 {
            blocks.push(Block::Code(code_text(&lines[at..at + code], column)));
            at += code;
            continue;
        }
        let contents = lines[at..].iter().take_while(|line| has_leader(line)).count();
        if contents >= 2 {
            let entries = lines[at..at + contents].iter().map(|line| contents_entry(line, column.links));
            blocks.push(Block::Contents(entries.collect()));
            at += contents;
            continue;
        }
        let mut builder = Builder::new(&lines[at], column);
        at += 1;
        while let Some(line) = lines.get(at) {
            let is_code = line.mono && code_lines(&lines[at..], column) > 0;
            if is_code || has_leader(line) || builder.ends_before(line, column) {
                break;
            }
            builder.push(line, column);
            at += 1;
        }
        blocks.push(Block::Text(builder.finish(column)));
    }
}

/// Returns how many lines from the first are code: of fixed width, and more than one or set in.
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
    let set_in = lines.first().is_some_and(|line| line.area.x0 > column.area.x0 + line.size);
    if count >= 2 || (count == 1 && set_in) { count } else { 0 }
}

/// Returns code with the indents and gaps that it has on the page.
fn code_text(lines: &[Line], column: &Column) -> Vec<String> {
    let left = lines.iter().map(|line| line.area.x0).fold(f32::INFINITY, f32::min);
    let widths = lines.iter().flat_map(|line| &line.glyphs).map(|glyph| glyph.x1 - glyph.x0);
    let width = median(widths.filter(|width| *width > 0.0)).unwrap_or(5.0).max(0.5);
    let mut text: Vec<String> = Vec::new();
    let mut last: Option<f32> = None;
    for line in lines {
        if last.is_some_and(|last| line.y - last > column.leading.max(line.size * 1.1) * 1.6) {
            text.push(String::new());
        }
        last = Some(line.y);
        let mut row = String::new();
        let mut length = 0_usize;
        for glyph in line.glyphs.iter().filter(|glyph| glyph.character != ' ') {
            let at = (((glyph.x0 - left) / width).round().max(0.0) as usize).min(400);
            while length < at {
                row.push(' ');
                length += 1;
            }
            row.push(glyph.character);
            length += 1;
        }
        text.push(row);
    }
    text
}

/// Returns whether a line leads with dots to a number, as in a table of contents.
pub(super) fn has_leader(line: &Line) -> bool {
    leader(&line.glyphs).is_some()
}

/// Returns where the dots of a leader are.
fn leader(glyphs: &[Glyph]) -> Option<std::ops::Range<usize>> {
    let mut start = None;
    let mut dots = 0;
    for (at, glyph) in glyphs.iter().enumerate() {
        match glyph.character {
            '.' | '·' | '…' | '_' => {
                start.get_or_insert(at);
                dots += if glyph.character == '…' { 3 } else { 1 };
            }
            ' ' => {}
            _ if dots >= 4 => return start.map(|start| start..at),
            _ => {
                start = None;
                dots = 0;
            }
        }
    }
    None
}

fn contents_entry(line: &Line, links: u32) -> Vec<Span> {
    let Some(dots) = leader(&line.glyphs) else { return spans(&line.glyphs, links) };
    let mut glyphs = line.glyphs[..dots.start].to_vec();
    while glyphs.last().is_some_and(|glyph| glyph.character == ' ') {
        glyphs.pop();
    }
    if let Some(last) = glyphs.last().copied() {
        glyphs.push(Glyph { character: ' ', ..last });
    }
    glyphs.extend_from_slice(&line.glyphs[dots.end..]);
    spans(&glyphs, links)
}

/// A block of running text that grows line by line.
struct Builder {
    spans: Vec<Span>,
    marker: Option<ListMarker>,
    /// Left edge of the first line's text, after a list marker.
    text_x0: f32,
    first: Line,
    last: Line,
    lines: usize,
    bold: bool,
}

impl Builder {
    fn new(line: &Line, column: &Column) -> Self {
        let (marker, skipped) = leading_marker(&line.glyphs);
        let content = &line.glyphs[skipped..];
        let text_x0 = content.first().map_or(line.area.x0, |glyph| glyph.x0);
        Self {
            spans: spans(content, column.links),
            marker,
            text_x0,
            first: line.clone(),
            last: line.clone(),
            lines: 1,
            bold: line.bold,
        }
    }

    fn push(&mut self, line: &Line, column: &Column) {
        join(&mut self.spans, spans(&line.glyphs, column.links));
        self.last = line.clone();
        self.lines += 1;
        self.bold &= line.bold;
    }

    fn ends_before(&self, line: &Line, column: &Column) -> bool {
        let em = line.size;
        let distance = line.y - self.last.y;
        let usual = column.leading.max(em * 0.9).min(em * 1.9);
        if distance > usual * 1.28 + 0.5 || distance < -em {
            return true;
        }
        if (line.size - self.last.size).abs() > 0.08 * self.last.size {
            return true;
        }
        if line.bold != self.last.bold && line.bold != self.bold && self.is_short(&self.last, column, 0.15) {
            return true;
        }
        if leading_marker(&line.glyphs).0.is_some() && self.marker_may_begin(line, column) {
            return true;
        }
        self.indent_ends(line, column) || self.sentence_ends(column)
    }

    /// Returns whether a sign at the start of a line begins an item and is not a number in running text.
    fn marker_may_begin(&self, line: &Line, column: &Column) -> bool {
        let bullet = matches!(leading_marker(&line.glyphs).0, Some(ListMarker::Bullet));
        bullet
            || self.marker.is_some()
            || self.is_short(&self.last, column, 0.1)
            || self.ends_with(&[':', '.', ';'])
    }

    fn indent_ends(&self, line: &Line, column: &Column) -> bool {
        let em = line.size;
        let base = if self.lines == 1 { self.text_x0 } else { self.last.area.x0 };
        let shift = line.area.x0 - base;
        if shift > em * 0.9 {
            // Deeper than the line before: a first line, or the rest of an entry that hangs.
            return self.lines > 1 || self.is_short(&self.last, column, 0.12) && shift < em * 6.0;
        }
        if shift < -em * 0.9 {
            // An item goes on below its text, or below its sign; a paragraph goes on left of its first line.
            let below_sign = self.marker.is_some() && (line.area.x0 - self.first.area.x0).abs() < em * 0.5;
            if self.lines == 1 && (below_sign || self.marker.is_none()) {
                return self.is_short(&self.last, column, 0.12);
            }
            return true;
        }
        false
    }

    /// Returns whether the last line ends a sentence early in a column whose lines go to its edge.
    fn sentence_ends(&self, column: &Column) -> bool {
        column.justified && self.is_short(&self.last, column, 0.2) && self.ends_with(&['.', '!', '?', ':'])
    }

    fn is_short(&self, line: &Line, column: &Column, share: f32) -> bool {
        line.area.x1 < column.area.x1 - column.area.width() * share
    }

    fn ends_with(&self, characters: &[char]) -> bool {
        self.spans.last().is_some_and(|span| span.text.trim_end().ends_with(characters))
    }

    fn finish(self, column: &Column) -> Text {
        let is_open = !self.ends_with(&['.', '!', '?', ':', ';']) && !self.is_short(&self.last, column, 0.15);
        Text {
            is_open,
            size: self.first.size,
            bold: self.bold,
            lines: self.lines,
            x0: self.first.area.x0,
            marker: self.marker,
            is_first: false,
            spans: self.spans,
        }
    }
}

/// Returns whether two styles are written the same.
pub(super) fn is_plain(style: Style) -> bool {
    style == Style::default()
}
