//! Determines the reading order: white space separates columns, and text across all columns divides them.

use super::geometry::{Rect, median};
use super::graphics::StraightLine;
use super::segment::Segment;

/// The minimum width of the white space between columns, in ems.
const MIN_GUTTER: f32 = 0.35;
/// The shares of the largest amount of text over a point up to which a point is in a gutter: lines across all columns
/// cross it. A column with few lines has less text than the first share.
const GUTTER_COVERAGES: [f32; 2] = [0.25, 0.04];
/// The minimum number of lines of a column of text.
const MIN_LINES: usize = 4;
/// The minimum number of lines of a column whose text is in the file after that of the column on its left.
const MIN_LINES_IN_ORDER: usize = 2;
/// The minimum number of lines of the longest pair of columns. Without such a pair, a page has columns only if their
/// sentences continue from line to line.
const MIN_CERTAIN_LINES: usize = 7;
/// The minimum number of lines of columns with short lines, such as an index.
const MIN_SHORT_LINES: usize = 18;
/// The minimum mean width of the lines of columns whose lines are at the same height, in ems. Narrower ones are cells.
const MIN_COLUMN_EMS: f32 = 8.0;
/// The distance of baselines below which lines are in the same row, in points.
const ROW_DISTANCE: f32 = 2.0;
/// The maximum number of segments that are examined to find the line below another one.
const MAX_ROW_SEGMENTS: usize = 24;
/// The maximum nesting depth of columns in columns.
const MAX_DEPTH: u32 = 4;

/// Groups the segments into columns, in reading order.
pub(super) fn in_reading_order(segments: Vec<Segment>, rules: &[StraightLine]) -> Vec<Vec<Segment>> {
    let mut columns = Vec::new();
    split(segments, rules, 0, &mut columns);
    columns
}

/// Splits the segments at the best gutter, recursively, and appends the columns in reading order.
fn split(segments: Vec<Segment>, rules: &[StraightLine], depth: u32, columns: &mut Vec<Vec<Segment>>) {
    if segments.is_empty() {
        return;
    }
    let Some(gutter) = (depth < MAX_DEPTH).then(|| find_gutter(&segments)).flatten() else {
        columns.push(segments);
        return;
    };
    let bands = bands(segments, &gutter);
    for band in merge_false_columns(bands, &gutter, rules) {
        match band {
            PageBand::Across(across) => columns.push(across),
            PageBand::Split(left, right) => {
                split(left, rules, depth + 1, columns);
                split(right, rules, depth + 1, columns);
            }
        }
    }
}

/// A vertical strip of white space from `x0` to `x1`.
#[derive(Debug, Clone, Copy)]
struct Gutter {
    x0: f32,
    x1: f32,
}

impl Gutter {
    fn is_crossed_by(&self, area: &Rect) -> bool {
        let middle = (self.x0 + self.x1) / 2.0;
        area.x0 < middle && area.x1 > middle
    }

    fn is_left(&self, area: &Rect) -> bool {
        area.x1 <= (self.x0 + self.x1) / 2.0
    }
}

/// Returns the strip of white space that separates the largest amount of text on both sides; `None` if there is none.
fn find_gutter(segments: &[Segment]) -> Option<Gutter> {
    let area = Rect::around(segments.iter().map(|segment| &segment.area));
    let size = median(segments.iter().map(|segment| segment.size))?;
    let bins = (area.width().ceil() as usize + 1).min(5000);
    // The amount of text over each point of the width: first as differences, then as sums.
    let mut coverage = vec![0.0_f32; bins + 1];
    for segment in segments {
        let from = ((segment.area.x0 - area.x0).floor().max(0.0) as usize).min(bins);
        let to = ((segment.area.x1 - area.x0).ceil().max(0.0) as usize).min(bins);
        coverage[from] += segment.size;
        coverage[to] -= segment.size;
    }
    let mut sum = 0.0;
    for value in &mut coverage {
        sum += *value;
        *value = sum;
    }
    let total: f32 = segments.iter().map(|segment| segment.size).sum();
    let most = coverage.iter().copied().fold(0.0, f32::max);
    let strips = GUTTER_COVERAGES.iter().flat_map(|share| uncovered(&coverage[..bins], most * share));
    let gutters = strips.map(|(from, to)| Gutter { x0: area.x0 + from as f32, x1: area.x0 + to as f32 });
    let scored = gutters.filter_map(|gutter| Some((score(segments, &gutter, size, total)?, gutter)));
    let best = scored.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.map(|(_, gutter)| gutter)
}

/// Returns the ranges with at most this amount of text that end before the right edge.
fn uncovered(coverage: &[f32], most: f32) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut start = None;
    for (x, amount) in coverage.iter().enumerate() {
        match (*amount <= most, start) {
            (true, None) => start = Some(x),
            (false, Some(from)) => {
                start = None;
                ranges.push((from, x));
            }
            _ => {}
        }
    }
    ranges
}

/// Returns the amount of text on the smaller side of a strip; `None` if the strip does not separate columns.
fn score(segments: &[Segment], gutter: &Gutter, size: f32, total: f32) -> Option<f32> {
    if gutter.x0 <= segments.iter().map(|s| s.area.x0).fold(f32::INFINITY, f32::min) {
        return None;
    }
    let (mut left, mut right, mut crossing) = (0.0, 0.0, 0.0);
    let (mut left_x1, mut right_x0) = (f32::NEG_INFINITY, f32::INFINITY);
    let (mut last_left, mut first_right) = (0, usize::MAX);
    for segment in segments {
        if gutter.is_crossed_by(&segment.area) {
            crossing += segment.size;
        } else if gutter.is_left(&segment.area) {
            left += segment.size;
            left_x1 = left_x1.max(segment.area.x1);
            last_left = last_left.max(segment.order);
        } else {
            right += segment.size;
            right_x0 = right_x0.min(segment.area.x0);
            first_right = first_right.min(segment.order);
        }
    }
    // The file states the order of columns if it has the right side after the left one.
    let min_lines = if last_left < first_right { MIN_LINES_IN_ORDER } else { MIN_LINES };
    let has_enough_text = left.min(right) >= size * min_lines as f32 && crossing < total * 0.5;
    (has_enough_text && right_x0 - left_x1 >= size * MIN_GUTTER).then_some(left.min(right))
}

/// A horizontal part of a page.
enum PageBand {
    /// Text that crosses the gutter.
    Across(Vec<Segment>),
    /// Text on the left and on the right of the gutter.
    Split(Vec<Segment>, Vec<Segment>),
}

/// Divides segments into bands, from top to bottom.
fn bands(mut segments: Vec<Segment>, gutter: &Gutter) -> Vec<PageBand> {
    segments.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.area.x0.total_cmp(&b.area.x0)));
    let mut bands = Vec::new();
    for segment in segments {
        if gutter.is_crossed_by(&segment.area) {
            match bands.last_mut() {
                Some(PageBand::Across(across)) => across.push(segment),
                _ => bands.push(PageBand::Across(vec![segment])),
            }
            continue;
        }
        if !matches!(bands.last(), Some(PageBand::Split(..))) {
            bands.push(PageBand::Split(Vec::new(), Vec::new()));
        }
        if let Some(PageBand::Split(left, right)) = bands.last_mut() {
            if gutter.is_left(&segment.area) { left.push(segment) } else { right.push(segment) }
        }
    }
    bands
}

/// Converts split bands that are not columns (such as tables) to bands across, and joins them with their neighbors.
fn merge_false_columns(bands: Vec<PageBand>, gutter: &Gutter, rules: &[StraightLine]) -> Vec<PageBand> {
    let mut joined: Vec<PageBand> = Vec::new();
    // Short columns count as columns only if the page also has a longer pair of columns.
    let has_long_columns = bands.iter().any(|band| match band {
        PageBand::Split(left, right) => {
            let is_long = row_count(left).min(row_count(right)) >= MIN_CERTAIN_LINES;
            (is_long || (has_running_text(left) && has_running_text(right)))
                && are_columns(left, right, gutter, rules)
        }
        PageBand::Across(_) => false,
    });
    for band in bands {
        let band = match band {
            PageBand::Split(left, right)
                if !has_long_columns || !are_columns(&left, &right, gutter, rules) =>
            {
                let mut across = left;
                across.extend(right);
                PageBand::Across(across)
            }
            other => other,
        };
        match (joined.last_mut(), band) {
            (Some(PageBand::Across(last)), PageBand::Across(more)) => last.extend(more),
            (_, band) => joined.push(band),
        }
    }
    joined
}

/// Returns whether the two sides of a gutter are columns of text and not cells of a table.
fn are_columns(left: &[Segment], right: &[Segment], gutter: &Gutter, rules: &[StraightLine]) -> bool {
    let (lines_left, lines_right) = (row_count(left), row_count(right));
    if lines_left.min(lines_right) < 2 || lines_left.max(lines_right) < MIN_LINES {
        return false;
    }
    let area = Rect::around(left.iter().chain(right).map(|segment| &segment.area));
    let crossing = rules.iter().filter(|rule| {
        let inside = rule.area.y0 > area.y0 && rule.area.y1 < area.y1;
        inside && !rule.is_vertical && rule.area.x0 < gutter.x0 - 2.0 && rule.area.x1 > gutter.x1 + 2.0
    });
    if crossing.count() >= 2 {
        return false;
    }
    let paired = paired_rows(left, right) * 5 >= lines_left.min(lines_right) * 4;
    // A side of several columns of different lengths has no full rows, but its sentences continue from line to line.
    let is_text = |side| has_full_lines(side) || (has_running_text(side) && mean_ems(side) >= MIN_COLUMN_EMS);
    if is_text(left) && is_text(right) {
        return !paired || (mean_ems(left) >= MIN_COLUMN_EMS && mean_ems(right) >= MIN_COLUMN_EMS);
    }
    // Rows at the same height on both sides are those of a table, unless they are entries of an index.
    lines_left.min(lines_right) >= MIN_SHORT_LINES && (!paired || (is_index(left) && is_index(right)))
}

/// Returns whether at least half of the rows cover most of the width of their side.
fn has_full_lines(segments: &[Segment]) -> bool {
    let area = Rect::around(segments.iter().map(|segment| &segment.area));
    let size = median(segments.iter().map(|segment| segment.size)).unwrap_or(1.0);
    let mut parts: Vec<(f32, f32)> =
        segments.iter().map(|segment| (segment.y, segment.area.width())).collect();
    parts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rows = parts.chunk_by(|a, b| b.0 - a.0 < ROW_DISTANCE);
    let full = rows.filter(|row| row.iter().map(|(_, width)| width).sum::<f32>() > area.width() * 0.6);
    area.width() > size * 8.0 && full.count() * 2 >= row_count(segments)
}

/// Returns the number of rows of the right side at the height of a row of the left side.
fn paired_rows(left: &[Segment], right: &[Segment]) -> usize {
    let mut ys: Vec<(f32, bool)> = left.iter().map(|segment| (segment.y, true)).collect();
    ys.extend(right.iter().map(|segment| (segment.y, false)));
    ys.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rows = ys.chunk_by(|a, b| b.0 - a.0 < ROW_DISTANCE);
    rows.filter(|row| row.iter().any(|(_, left)| *left) && row.iter().any(|(_, left)| !*left)).count()
}

/// Returns the mean width of the segments, in ems.
fn mean_ems(segments: &[Segment]) -> f32 {
    let ems: f32 = segments.iter().map(|segment| segment.area.width() / segment.size.max(1.0)).sum();
    ems / segments.len().max(1) as f32
}

/// Returns whether most lines are entries of an index: words with the number of a page after them.
fn is_index(segments: &[Segment]) -> bool {
    let is_entry = |segment: &&Segment| {
        let first = segment.glyphs.first().is_some_and(|glyph| glyph.character.is_alphabetic());
        first && segment.glyphs.last().is_some_and(|glyph| glyph.character.is_ascii_digit())
    };
    segments.iter().filter(is_entry).count() * 5 >= segments.len() * 3
}

/// Returns whether most lines continue the sentence of the line above them.
fn has_running_text(segments: &[Segment]) -> bool {
    let mut sorted: Vec<&Segment> = segments.iter().filter(|segment| !segment.glyphs.is_empty()).collect();
    sorted.sort_by(|a, b| a.y.total_cmp(&b.y));
    let (mut pairs, mut continued) = (0, 0);
    for (index, line) in sorted.iter().enumerate() {
        let below = sorted[index + 1..].iter().take(MAX_ROW_SEGMENTS).find(|next| {
            next.y - line.y > line.size * 0.6 && (next.area.x0 - line.area.x0).abs() < line.size * 2.0
        });
        let Some(below) = below.filter(|below| below.y - line.y < line.size * 2.2) else { continue };
        let is_open = line.glyphs.last().is_some_and(|glyph| !".!?:;".contains(glyph.character));
        let begins_lowercase = below.glyphs.first().is_some_and(|glyph| glyph.character.is_lowercase());
        pairs += 1;
        continued += usize::from(is_open && begins_lowercase);
    }
    pairs >= 2 && continued * 2 >= pairs
}

/// Returns the number of rows, which are distinct baselines.
fn row_count(segments: &[Segment]) -> usize {
    let mut ys: Vec<f32> = segments.iter().map(|segment| segment.y).collect();
    ys.sort_by(f32::total_cmp);
    ys.dedup_by(|a, b| (*a - *b).abs() < ROW_DISTANCE);
    ys.len()
}
