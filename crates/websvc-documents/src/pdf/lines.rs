//! Groups glyphs into segments, which are parts of lines without a wide gap.

use super::drop_caps;
use super::geometry::Rect;
use super::glyphs::{Glyph, is_right_to_left};
use super::gutters::{self, Strip};
use super::listing::{self, CellGrid};
use super::right_to_left::reverse_to_reading_order;
use super::segment::Segment;

/// The maximum gap within a segment, in ems.
const SEGMENT_GAP: f32 = 1.15;
/// The minimum width of a gutter that the order of the file shows, in ems.
const MIN_GUTTER: f32 = 0.5;
/// The maximum number of runs, such as exponents, from a run to the next one of the same line.
const MAX_STEP: usize = 3;
/// The minimum number of rows that show the left edge of a column, and the maximum distance of their edges, in points.
const MIN_EDGE_ROWS: usize = 2;
const SAME_EDGE: f32 = 1.0;
/// The share of a space at its start in which a letter that is moved back hides the space.
const COVERED_SPACE: f32 = 0.3;
/// The minimum gap that is a space, in ems.
const WORD_GAP: f32 = 0.16;

/// Groups the glyphs of one text direction into segments.
pub(super) fn segments(glyphs: &[Glyph]) -> Vec<Segment> {
    let mut runs = runs(glyphs);
    runs.iter_mut().enumerate().for_each(|(order, run)| run.order = order);
    runs.sort_by(|a, b| a.y.total_cmp(&b.y));
    let edges = column_edges(&runs);
    let strips = gutters::strips(&runs);
    if !strips.is_empty() {
        runs = runs.into_iter().flat_map(|run| split_at(run, &strips)).collect();
    }
    let mut rows = Rows { strips, edges, segments: Vec::new(), grids: Vec::new() };
    let mut row: Vec<Segment> = Vec::new();
    for run in runs {
        if !row.last().is_some_and(|last| is_same_row(last, &run)) {
            rows.finish_row(&mut row);
        }
        row.push(run);
    }
    rows.finish_row(&mut row);
    listing::mark_listings(&mut rows.segments, &rows.grids);
    rows.segments
}

/// Returns whether runs that are next to each other in a row are far from each other in the file, and have a distance
/// that can be a gutter: a producer that writes column by column.
fn is_written_apart(left: &Segment, right: &Segment) -> bool {
    let is_next = (left.order..=left.order + MAX_STEP).contains(&right.order);
    !is_next && right.area.x0 - left.area.x1 > MIN_GUTTER * right.size
}

/// Returns the left edges of columns that are too short for a gutter: those of several runs that are written apart from
/// the runs on their left.
fn column_edges(runs: &[Segment]) -> Vec<f32> {
    let mut edges: Vec<f32> = Vec::new();
    for row in runs.chunk_by(is_same_row) {
        let mut row: Vec<&Segment> = row.iter().collect();
        row.sort_by(|a, b| a.area.x0.total_cmp(&b.area.x0));
        let apart = row.windows(2).filter(|pair| is_written_apart(pair[0], pair[1]));
        edges.extend(apart.map(|pair| pair[1].area.x0));
    }
    edges.sort_by(f32::total_cmp);
    let shared = edges.chunk_by(|a, b| b - a < SAME_EDGE).filter(|shared| shared.len() >= MIN_EDGE_ROWS);
    shared.map(|shared| shared[0]).collect()
}

fn is_same_row(a: &Segment, b: &Segment) -> bool {
    (b.y - a.y).abs() < 0.35 * b.size.min(a.size)
}

/// Splits a run where a gutter crosses it.
fn split_at(run: Segment, strips: &[Strip]) -> Vec<Segment> {
    let crossing: Vec<&Strip> =
        strips.iter().filter(|strip| strip.separates(run.y, run.area.x0, run.area.x1)).collect();
    if crossing.is_empty() {
        return vec![run];
    }
    let mut parts = Vec::new();
    let mut part: Vec<Glyph> = Vec::new();
    let mut end = f32::INFINITY;
    for glyph in run.glyphs {
        if glyph.character != ' ' {
            if crossing.iter().any(|strip| strip.separates(run.y, end, glyph.x0)) {
                finish_run(&mut part, &mut parts);
            }
            end = glyph.x1;
        }
        part.push(glyph);
    }
    finish_run(&mut part, &mut parts);
    parts
}

/// Groups glyphs that follow each other both in the file and on the page into runs.
fn runs(glyphs: &[Glyph]) -> Vec<Segment> {
    let mut runs = Vec::new();
    let mut run: Vec<Glyph> = Vec::new();
    let mut size = 0.0;
    for glyph in glyphs {
        if let Some(last) = run.last() {
            if is_repeated(last, glyph) {
                continue;
            }
            if !follows(last, glyph, size) || drop_caps::is_initial(&run, glyph.size) {
                finish_run(&mut run, &mut runs);
            }
        }
        size = if run.is_empty() { glyph.size } else { glyph.size.max(size) };
        run.push(*glyph);
    }
    finish_run(&mut run, &mut runs);
    runs
}

/// Returns whether a glyph repeats the last one at nearly the same position, which simulates bold text.
fn is_repeated(last: &Glyph, glyph: &Glyph) -> bool {
    last.character == glyph.character
        && (last.x0 - glyph.x0).abs() < 0.12 * glyph.size
        && (last.y - glyph.y).abs() < 0.12 * glyph.size
        && glyph.x1 - glyph.x0 > 0.2 * glyph.size
}

/// Returns whether a glyph continues the run of the last glyph.
fn follows(last: &Glyph, glyph: &Glyph, size: f32) -> bool {
    let gap = glyph.x0 - last.x1;
    let shift = (glyph.y - last.y).abs();
    if shift < 0.12 * size {
        return (-0.6 * size..=SEGMENT_GAP * size).contains(&gap);
    }
    // Superscripts and subscripts touch their base, and one of the two is smaller.
    let raised = shift < 0.6 * size && (glyph.size < 0.9 * size || last.size < 0.9 * size);
    // The mark of a footnote has a small gap to its text.
    let is_note_mark =
        last.size < 0.9 * glyph.size && (last.character.is_ascii_digit() || "*†‡§".contains(last.character));
    let max_gap = if is_note_mark { 1.3 } else { 0.3 };
    raised && (-0.6 * size..max_gap * glyph.size).contains(&gap)
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

/// The rows of a page that were read.
struct Rows {
    /// The gutters, which separate the segments of a row.
    strips: Vec<Strip>,
    /// The left edges of columns that are too short for a gutter.
    edges: Vec<f32>,
    segments: Vec<Segment>,
    /// The grids of lines whose letters have the same distance, and the areas of these lines.
    grids: Vec<(Rect, CellGrid)>,
}

impl Rows {
    /// Joins the adjacent runs of a row to segments.
    fn finish_row(&mut self, row: &mut Vec<Segment>) {
        let mut runs = std::mem::take(row);
        runs.sort_by(|a, b| a.area.x0.total_cmp(&b.area.x0));
        let mut joined: Vec<Glyph> = Vec::new();
        let mut order = 0;
        let mut end = Rect::EMPTY;
        let mut y = 0.0;
        for run in runs {
            let size = run.size.max(joined.last().map_or(0.0, |last| last.size));
            if !joined.is_empty() {
                let gap = run.area.x0 - end.x1;
                // The same text twice with a small offset is a shadow.
                if run.area.x1 <= end.x1 + 0.15 * size && is_shadow(&joined, &run) {
                    continue;
                }
                let is_edge =
                    || self.edges.iter().any(|edge| (0.0..SAME_EDGE).contains(&(run.area.x0 - edge)));
                let is_separated = || {
                    self.strips.iter().any(|strip| strip.separates(run.y, end.x1, run.area.x0))
                        || (gap > MIN_GUTTER * size && is_edge())
                };
                // Lines of neighboring columns are rarely at exactly the same height.
                let is_shifted = (run.y - y).abs() > 0.12 * size && gap > 0.3 * size;
                let is_initial = drop_caps::is_initial(&joined, run.size);
                if gap > SEGMENT_GAP * size || is_shifted || is_initial || is_separated() {
                    self.finish_segment(std::mem::take(&mut joined), order);
                    end = Rect::EMPTY;
                }
            }
            if joined.is_empty() {
                order = run.order;
            }
            end.unite(&run.area);
            y = run.y;
            joined.extend(run.glyphs);
        }
        if !joined.is_empty() {
            self.finish_segment(joined, order);
        }
    }

    /// Adds the segment of the glyphs, with spaces between the words.
    fn finish_segment(&mut self, mut glyphs: Vec<Glyph>, order: usize) {
        if glyphs.windows(2).any(|pair| pair[1].x0 < pair[0].x0 - 0.2 * pair[0].size) {
            glyphs.sort_by(|a, b| a.x0.total_cmp(&b.x0));
        }
        let grid = CellGrid::of_line(&glyphs);
        let mut segment = Segment::new(trim(spaced(glyphs, grid)));
        segment.order = order;
        if let Some(grid) = grid {
            segment.glyphs.iter_mut().for_each(|glyph| glyph.style.mono = true);
            self.grids.push((segment.area, grid));
        }
        mark_superscripts(&mut segment);
        if is_right_to_left(&segment.glyphs) {
            reverse_to_reading_order(&mut segment.glyphs);
        }
        self.segments.push(segment);
    }
}

/// Returns whether a run repeats text that was already added, with a small offset.
fn is_shadow(joined: &[Glyph], run: &Segment) -> bool {
    let Some(first) = run.glyphs.first() else { return true };
    let is_near =
        |glyph: &Glyph| (glyph.x0 - first.x0).abs() < 0.15 * run.size && glyph.character == first.character;
    let Some(start) = joined.iter().position(is_near) else { return false };
    let letters = |glyphs: &[Glyph]| -> String {
        glyphs.iter().map(|glyph| glyph.character).filter(|character| *character != ' ').collect()
    };
    letters(&joined[start..]).starts_with(&letters(&run.glyphs))
}

/// Returns the glyphs of a segment with spaces between the words.
fn spaced(glyphs: Vec<Glyph>, grid: Option<CellGrid>) -> Vec<Glyph> {
    let threshold = WORD_GAP + if grid.is_none() { letter_spacing(&glyphs) } else { 0.0 };
    let mut spaced: Vec<Glyph> = Vec::with_capacity(glyphs.len() + glyphs.len() / 4);
    for glyph in glyphs {
        if covers_space(&spaced, &glyph) {
            spaced.pop();
        }
        if let Some(last) = spaced.last().copied() {
            let gap = glyph.x0 - last.x1;
            let size = glyph.size.max(last.size);
            let is_blank = glyph.character == ' ' || last.character == ' ';
            let is_space = match &grid {
                Some(grid) => grid.has_space(&last, &glyph),
                None => gap > threshold * size,
            };
            if !is_blank && is_space && !is_combining(glyph.character) {
                spaced.push(Glyph { character: ' ', x0: last.x1, x1: glyph.x0, ..last });
            }
            if glyph.character == ' ' && last.character == ' ' {
                continue;
            }
        }
        spaced.push(glyph);
    }
    spaced
}

/// Returns whether a letter is moved back over the space before it, so that no space is visible.
fn covers_space(spaced: &[Glyph], glyph: &Glyph) -> bool {
    let [.., letter, space] = spaced else { return false };
    space.character == ' '
        && glyph.character != ' '
        && glyph.x0 < space.x0 + COVERED_SPACE * (space.x1 - space.x0)
        && glyph.x0 - letter.x1 < 0.5 * WORD_GAP * glyph.size
}

/// Marks the letters that are smaller and higher than the line, such as exponents and the marks of notes.
fn mark_superscripts(segment: &mut Segment) {
    let (y, size) = (segment.y, segment.size);
    let is_raised =
        |glyph: &Glyph| glyph.size < 0.85 * size && (0.15..0.75).contains(&((y - glyph.y) / size));
    let raised = segment.glyphs.iter().filter(|glyph| is_raised(glyph)).count();
    // Otherwise, these are two lines.
    if raised == 0 || raised * 3 > segment.glyphs.len() {
        return;
    }
    let mut before_letter = false;
    for index in (0..segment.glyphs.len()).rev() {
        let glyph = &mut segment.glyphs[index];
        if glyph.character != ' ' && is_raised(glyph) {
            // A raised letter within a word belongs to a logo.
            glyph.style.superscript = !before_letter;
        } else {
            before_letter = glyph.character.is_alphabetic();
        }
    }
}

/// Returns the letter spacing of the text, in ems; 0 if it is not letter-spaced.
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
