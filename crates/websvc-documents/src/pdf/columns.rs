//! The order of reading: columns are found by the white between them, lines across all columns part them.

use super::geometry::Rect;
use super::graphics::StraightLine;
use super::lines::Segment;

/// Columns are parted by at least so much white, in ems.
const MIN_GUTTER: f32 = 0.9;
/// A column of text has at least so many lines.
const MIN_LINES: usize = 4;
/// Number of lines from which a column is certain.
const MIN_CERTAIN_LINES: usize = 7;
/// Columns of short lines, such as an index, have at least so many.
const MIN_SHORT_LINES: usize = 18;
/// How often columns are parted in columns.
const MAX_DEPTH: u32 = 4;

/// Returns the segments in groups, each one column, in the order of reading.
pub(super) fn in_order(segments: Vec<Segment>, rules: &[StraightLine]) -> Vec<Vec<Segment>> {
    let mut columns = Vec::new();
    split(segments, rules, 0, &mut columns);
    columns
}

fn split(segments: Vec<Segment>, rules: &[StraightLine], depth: u32, columns: &mut Vec<Vec<Segment>>) {
    if segments.is_empty() {
        return;
    }
    let Some(gutter) = (depth < MAX_DEPTH).then(|| gutter(&segments)).flatten() else {
        columns.push(segments);
        return;
    };
    let bands = bands(segments, &gutter);
    for band in merge_false_columns(bands, &gutter, rules) {
        match band {
            PageBand::Across(across) => columns.push(across),
            PageBand::Parted(left, right) => {
                split(left, rules, depth + 1, columns);
                split(right, rules, depth + 1, columns);
            }
        }
    }
}

/// A strip of white from `x0` to `x1`.
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

/// Finds the strip of white that parts most text on both sides.
fn gutter(segments: &[Segment]) -> Option<Gutter> {
    let mut area = Rect::EMPTY;
    segments.iter().for_each(|segment| area.unite(&segment.area));
    let size = median(segments.iter().map(|segment| segment.size))?;
    let bins = (area.width().ceil() as usize + 1).min(5000);
    // How much text lies over each point of the width: the differences first, then their sums.
    let mut covered = vec![0.0_f32; bins + 1];
    for segment in segments {
        let from = ((segment.area.x0 - area.x0).floor().max(0.0) as usize).min(bins);
        let to = ((segment.area.x1 - area.x0).ceil().max(0.0) as usize).min(bins);
        covered[from] += segment.size;
        covered[to] -= segment.size;
    }
    let mut sum = 0.0;
    for value in &mut covered {
        sum += *value;
        *value = sum;
    }
    let total: f32 = segments.iter().map(|segment| segment.size).sum();
    let mut best: Option<(f32, Gutter)> = None;
    let low = covered.iter().copied().fold(0.0, f32::max) * 0.25;
    let mut start = None;
    for (at, over) in covered.iter().enumerate().take(bins) {
        match (*over <= low, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                start = None;
                let gutter = Gutter { x0: area.x0 + from as f32, x1: area.x0 + at as f32 };
                if let Some(score) = score(segments, &gutter, size, total)
                    && best.is_none_or(|(known, _)| score > known)
                {
                    best = Some((score, gutter));
                }
            }
            _ => {}
        }
    }
    best.map(|(_, gutter)| gutter)
}

/// Returns how much text a strip parts, or `None` when it parts too little.
fn score(segments: &[Segment], gutter: &Gutter, size: f32, total: f32) -> Option<f32> {
    if gutter.x0 <= segments.iter().map(|s| s.area.x0).fold(f32::INFINITY, f32::min) {
        return None;
    }
    let (mut left, mut right, mut crossing) = (0.0, 0.0, 0.0);
    let (mut end, mut start) = (f32::NEG_INFINITY, f32::INFINITY);
    for segment in segments {
        if gutter.is_crossed_by(&segment.area) {
            crossing += segment.size;
        } else if gutter.is_left(&segment.area) {
            left += segment.size;
            end = end.max(segment.area.x1);
        } else {
            right += segment.size;
            start = start.min(segment.area.x0);
        }
    }
    let enough = left.min(right) >= size * MIN_LINES as f32 && crossing < total * 0.5;
    (enough && start - end >= size * MIN_GUTTER).then_some(left.min(right))
}

/// A part of a page from one line across the gutter to the next.
enum PageBand {
    Across(Vec<Segment>),
    Parted(Vec<Segment>, Vec<Segment>),
}

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
        if !matches!(bands.last(), Some(PageBand::Parted(..))) {
            bands.push(PageBand::Parted(Vec::new(), Vec::new()));
        }
        if let Some(PageBand::Parted(left, right)) = bands.last_mut() {
            if gutter.is_left(&segment.area) { left.push(segment) } else { right.push(segment) }
        }
    }
    bands
}

/// Turns bands that are no columns (tables, lines beside each other) into text across, joined with its neighbours.
fn merge_false_columns(bands: Vec<PageBand>, gutter: &Gutter, rules: &[StraightLine]) -> Vec<PageBand> {
    let mut joined: Vec<PageBand> = Vec::new();
    // A few lines beside each other are columns only where more are.
    let certain = bands.iter().any(|band| match band {
        PageBand::Parted(left, right) => {
            rows(left).min(rows(right)) >= MIN_CERTAIN_LINES && are_columns(left, right, gutter, rules)
        }
        PageBand::Across(_) => false,
    });
    for band in bands {
        let band = match band {
            PageBand::Parted(left, right) if !certain || !are_columns(&left, &right, gutter, rules) => {
                let mut across = left;
                across.extend(right);
                PageBand::Across(across)
            }
            other => other,
        };
        match (joined.last_mut(), band) {
            (Some(PageBand::Across(known)), PageBand::Across(more)) => known.extend(more),
            (_, band) => joined.push(band),
        }
    }
    joined
}

/// Returns whether two sides are columns of text and not the cells of a table.
fn are_columns(left: &[Segment], right: &[Segment], gutter: &Gutter, rules: &[StraightLine]) -> bool {
    let (lines_left, lines_right) = (rows(left), rows(right));
    if lines_left.min(lines_right) < 2 || lines_left.max(lines_right) < MIN_LINES {
        return false;
    }
    let mut area = Rect::EMPTY;
    left.iter().chain(right).for_each(|segment| area.unite(&segment.area));
    let crossing = rules.iter().filter(|rule| {
        let inside = rule.area.y0 > area.y0 && rule.area.y1 < area.y1;
        inside && !rule.upright && rule.area.x0 < gutter.x0 - 2.0 && rule.area.x1 > gutter.x1 + 2.0
    });
    if crossing.count() >= 2 {
        return false;
    }
    if lines_left.min(lines_right) >= MIN_SHORT_LINES {
        return true;
    }
    fills(left) && fills(right)
}

/// Returns whether most lines go from the left end of their column to near the right.
fn fills(segments: &[Segment]) -> bool {
    let mut area = Rect::EMPTY;
    segments.iter().for_each(|segment| area.unite(&segment.area));
    let size = median(segments.iter().map(|segment| segment.size)).unwrap_or(1.0);
    let full = segments.iter().filter(|segment| segment.area.width() > area.width() * 0.6).count();
    area.width() > size * 8.0 && full * 2 >= rows(segments)
}

fn rows(segments: &[Segment]) -> usize {
    let mut ys: Vec<f32> = segments.iter().map(|segment| segment.y).collect();
    ys.sort_by(f32::total_cmp);
    ys.dedup_by(|a, b| (*a - *b).abs() < 2.0);
    ys.len()
}

pub(super) fn median(values: impl Iterator<Item = f32>) -> Option<f32> {
    let mut values: Vec<f32> = values.collect();
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    Some(*values.select_nth_unstable_by(middle, f32::total_cmp).1)
}
