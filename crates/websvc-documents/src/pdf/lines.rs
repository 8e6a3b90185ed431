//! Characters to segments: pieces of lines without a wide gap in them.

use super::content::Glyph;
use super::geometry::Rect;

/// A gap wider than this ends a segment, in ems.
const SEGMENT_GAP: f32 = 1.15;
/// A gap wider than this is a space, in ems.
const WORD_GAP: f32 = 0.16;

/// A piece of a line without a wide gap.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    /// The characters from left to right, spaces between words put in.
    pub(super) glyphs: Vec<Glyph>,
    pub(super) area: Rect,
    /// The baseline.
    pub(super) y: f32,
    /// The usual font size.
    pub(super) size: f32,
    /// It stands for a table between drawn lines: which of the page's.
    pub(super) grid: Option<usize>,
}

impl Segment {
    fn new(glyphs: Vec<Glyph>) -> Self {
        let (y, size) = usual_line(&glyphs);
        let mut area = Rect::EMPTY;
        for glyph in glyphs.iter().filter(|glyph| glyph.character != ' ') {
            area.include(glyph.x0, y - size * 0.75);
            area.include(glyph.x1, y + size * 0.22);
        }
        Self { glyphs, area, y, size, grid: None }
    }

    /// Makes what stands for a table in the order of reading.
    pub(super) fn of_grid(grid: usize, area: Rect) -> Self {
        Self { glyphs: Vec::new(), area, y: area.y0, size: 10.0, grid: Some(grid) }
    }

    pub(super) fn text(&self) -> String {
        self.glyphs.iter().map(|glyph| glyph.character).collect()
    }

    /// Returns whether all characters but spaces are of fixed width.
    pub(super) fn is_mono(&self) -> bool {
        self.glyphs.iter().all(|glyph| glyph.style.mono || glyph.character == ' ')
    }
}

/// Returns the baseline and the size of most characters.
fn usual_line(glyphs: &[Glyph]) -> (f32, f32) {
    let mut kinds: Vec<(f32, f32, usize)> = Vec::new();
    for glyph in glyphs.iter().filter(|glyph| glyph.character != ' ') {
        let same =
            |(y, size, _): &(f32, f32, usize)| (y - glyph.y).abs() < 0.5 && (size - glyph.size).abs() < 0.3;
        match kinds.iter().position(same) {
            Some(at) => kinds[at].2 += 1,
            None if kinds.len() < 16 => kinds.push((glyph.y, glyph.size, 1)),
            None => {}
        }
    }
    // Of as many, the larger: a sum with its index, not the index.
    kinds.sort_by(|a, b| b.2.cmp(&a.2).then(b.1.total_cmp(&a.1)));
    kinds
        .first()
        .map_or_else(|| glyphs.first().map_or((0.0, 1.0), |g| (g.y, g.size)), |kind| (kind.0, kind.1))
}

/// Makes segments of the characters of one direction of writing.
pub(super) fn segments(glyphs: &[Glyph]) -> Vec<Segment> {
    let mut runs = runs(glyphs);
    runs.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut segments = Vec::new();
    let mut row: Vec<Segment> = Vec::new();
    for run in runs {
        let same_row = row.last().is_some_and(|last| (run.y - last.y).abs() < 0.35 * run.size.min(last.size));
        if !same_row {
            finish_row(&mut row, &mut segments);
        }
        row.push(run);
    }
    finish_row(&mut row, &mut segments);
    segments
}

/// Makes runs of characters that follow each other in the file and on the page.
fn runs(glyphs: &[Glyph]) -> Vec<Segment> {
    let mut runs = Vec::new();
    let mut run: Vec<Glyph> = Vec::new();
    let mut size = 0.0;
    for glyph in glyphs {
        if let Some(last) = run.last() {
            if is_repeated(last, glyph) {
                continue;
            }
            if !follows(last, glyph, size) {
                finish_run(&mut run, &mut runs);
            }
        }
        size = if run.is_empty() { glyph.size } else { glyph.size.max(size) };
        run.push(*glyph);
    }
    finish_run(&mut run, &mut runs);
    runs
}

/// Returns whether a character is drawn again at nearly the same place, to make it look bold.
fn is_repeated(last: &Glyph, glyph: &Glyph) -> bool {
    last.character == glyph.character
        && (last.x0 - glyph.x0).abs() < 0.12 * glyph.size
        && (last.y - glyph.y).abs() < 0.12 * glyph.size
        && glyph.x1 - glyph.x0 > 0.2 * glyph.size
}

fn follows(last: &Glyph, glyph: &Glyph, size: f32) -> bool {
    let gap = glyph.x0 - last.x1;
    let shift = (glyph.y - last.y).abs();
    if shift < 0.12 * size {
        return (-0.6 * size..=SEGMENT_GAP * size).contains(&gap);
    }
    // Raised and lowered characters touch their base, and one of both is smaller.
    let raised = shift < 0.6 * size && (glyph.size < 0.9 * size || last.size < 0.9 * size);
    // The sign of a footnote stands somewhat before its text.
    let is_sign =
        last.size < 0.9 * glyph.size && (last.character.is_ascii_digit() || "*†‡§".contains(last.character));
    let widest = if is_sign { 1.3 } else { 0.3 };
    raised && (-0.6 * size..widest * glyph.size).contains(&gap)
}

fn finish_run(run: &mut Vec<Glyph>, runs: &mut Vec<Segment>) {
    let glyphs = std::mem::take(run);
    let trimmed = trim(glyphs);
    if !trimmed.is_empty() {
        runs.push(Segment::new(trimmed));
    }
}

fn trim(mut glyphs: Vec<Glyph>) -> Vec<Glyph> {
    while glyphs.last().is_some_and(|glyph| glyph.character == ' ') {
        glyphs.pop();
    }
    let leading = glyphs.iter().take_while(|glyph| glyph.character == ' ').count();
    glyphs.drain(..leading);
    glyphs
}

/// Joins the runs of a row that stand close to each other.
fn finish_row(row: &mut Vec<Segment>, segments: &mut Vec<Segment>) {
    let mut runs = std::mem::take(row);
    runs.sort_by(|a, b| a.area.x0.total_cmp(&b.area.x0));
    let mut joined: Vec<Glyph> = Vec::new();
    let mut end = Rect::EMPTY;
    for run in runs {
        let size = run.size.max(joined.last().map_or(0.0, |last| last.size));
        if !joined.is_empty() {
            let gap = run.area.x0 - end.x1;
            // The same line twice, a little apart, is a shadow.
            if run.area.x1 <= end.x1 + 0.15 * size && is_shadow(&joined, &run) {
                continue;
            }
            if gap > SEGMENT_GAP * size {
                segments.push(finished(std::mem::take(&mut joined)));
                end = Rect::EMPTY;
            }
        }
        end.unite(&run.area);
        joined.extend(run.glyphs);
    }
    if !joined.is_empty() {
        segments.push(finished(joined));
    }
}

fn is_shadow(joined: &[Glyph], run: &Segment) -> bool {
    let Some(first) = run.glyphs.first() else { return true };
    let near =
        |glyph: &Glyph| (glyph.x0 - first.x0).abs() < 0.15 * run.size && glyph.character == first.character;
    let Some(start) = joined.iter().position(near) else { return false };
    let letters = |glyphs: &[Glyph]| -> String {
        glyphs.iter().map(|glyph| glyph.character).filter(|character| *character != ' ').collect()
    };
    letters(&joined[start..]).starts_with(&letters(&run.glyphs))
}

/// Puts the spaces between words in.
fn finished(mut glyphs: Vec<Glyph>) -> Segment {
    if glyphs.windows(2).any(|pair| pair[1].x0 < pair[0].x0 - 0.2 * pair[0].size) {
        glyphs.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    }
    let threshold = WORD_GAP + letter_spacing(&glyphs);
    let mut spaced: Vec<Glyph> = Vec::with_capacity(glyphs.len() + glyphs.len() / 4);
    for glyph in glyphs {
        if let Some(last) = spaced.last().copied() {
            let gap = glyph.x0 - last.x1;
            let size = glyph.size.max(last.size);
            let blank = glyph.character == ' ' || last.character == ' ';
            if !blank && gap > threshold * size && !is_combining(glyph.character) {
                spaced.push(Glyph { character: ' ', x0: last.x1, x1: glyph.x0, ..last });
            }
            if glyph.character == ' ' && last.character == ' ' {
                continue;
            }
        }
        spaced.push(glyph);
    }
    let mut segment = Segment::new(trim(spaced));
    if is_right_to_left(&segment.glyphs) {
        in_reading_order(&mut segment.glyphs);
    }
    segment
}

/// Returns by how much letters are set apart, in ems, when most of them are.
fn letter_spacing(glyphs: &[Glyph]) -> f32 {
    let mut gaps: Vec<f32> = glyphs
        .windows(2)
        .filter(|pair| pair.iter().all(|glyph| glyph.character.is_alphanumeric()))
        .map(|pair| (pair[1].x0 - pair[0].x1) / pair[1].size.max(pair[0].size))
        .collect();
    if gaps.len() < 6 {
        return 0.0;
    }
    let middle = gaps.len() / 2;
    let (_, median, _) = gaps.select_nth_unstable_by(middle, f32::total_cmp);
    if *median > 0.1 { *median } else { 0.0 }
}

fn is_combining(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' | '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{65f}')
}

fn is_right_to_left(glyphs: &[Glyph]) -> bool {
    let (mut left, mut right) = (0, 0);
    for glyph in glyphs {
        match glyph.character {
            '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' => right += 1,
            character if character.is_alphabetic() => left += 1,
            _ => {}
        }
    }
    right > left
}

/// Turns a line of right-to-left writing from the order on the page to the order of reading; numbers and words of
/// other writings keep theirs.
fn in_reading_order(glyphs: &mut [Glyph]) {
    glyphs.reverse();
    let is_foreign = |glyph: &Glyph| glyph.character.is_ascii_alphanumeric();
    let mut start = 0;
    while start < glyphs.len() {
        if !is_foreign(&glyphs[start]) {
            start += 1;
            continue;
        }
        let mut end = start;
        for (at, glyph) in glyphs.iter().enumerate().skip(start) {
            if is_foreign(glyph) {
                end = at + 1;
            } else if !matches!(glyph.character, '.' | ',' | ':' | '/' | '-' | '%') {
                break;
            }
        }
        glyphs[start..end].reverse();
        start = end;
    }
}
