//! Finds narrow gutters: strips of white space that consecutive rows have in common.
//!
//! The distance between columns or cells can be hardly wider than a space. A single row then does not show that its parts
//! belong to different columns, but the rows above and below it do: words of running text end at different places in
//! each row.

use super::segment::Segment;

/// The minimum width of a strip whose right edge is the left edge of text in nearly all rows, in ems.
const MIN_STRIP: f32 = 0.18;
/// The minimum difference of the right edges of the texts before such a strip, in ems.
const MIN_VARIATION: f32 = 0.8;
/// The maximum distance of left edges that are the same, in points.
const ALIGNED: f32 = 0.4;
/// The minimum width of other gutters, in ems.
const MIN_GUTTER: f32 = 0.38;
/// The maximum width of a space in a justified line, in ems.
const MAX_SPACE: f32 = 0.45;
/// The minimum width of a gutter relative to the spaces in the same row.
const MIN_SPACES: f32 = 1.4;
/// The minimum number of rows with text on both sides and a gap that is wider than the spaces of the row.
const MIN_ROWS: usize = 4;
/// The number of these rows that is sufficient for a wide gutter.
const MIN_WIDE_ROWS: usize = 3;
/// The minimum width of a wide gutter, in ems.
const WIDE_GUTTER: f32 = 0.75;
/// The number of rows with text on both sides that is sufficient, whatever their spaces are: words do not end at the same
/// place in so many rows.
const MIN_LONG_ROWS: usize = 8;
/// The maximum number of strips that are followed at the same time, and of strips of a page.
const MAX_STRIPS: usize = 64;

/// A strip of white space between the baselines `y0` and `y1`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strip {
    x0: f32,
    x1: f32,
    y0: f32,
    y1: f32,
}

impl Strip {
    /// Returns whether the strip lies in the gap from `x0` to `x1` of a row with this baseline.
    pub(super) fn separates(&self, y: f32, x0: f32, x1: f32) -> bool {
        // A difference of the positions of glyphs that are rounded to the next point.
        let rounding = 0.15 * (self.x1 - self.x0);
        (self.y0 - 1.0..=self.y1 + 1.0).contains(&y) && x0 <= self.x0 + rounding && x1 >= self.x1 - rounding
    }
}

/// A strip that is followed from row to row.
struct OpenStrip {
    strip: Strip,
    /// The number of rows with text on both sides.
    both: usize,
    /// The number of these rows whose gap is wider than their spaces.
    wide: usize,
    /// The left edge of the text after the strip in its first row, and the number of rows with this edge.
    edge: f32,
    aligned: usize,
    /// The smallest and the largest right edge of the text before the strip.
    ends: (f32, f32),
    /// The largest font size.
    size: f32,
}

impl OpenStrip {
    /// Returns whether the text after the strip begins at the same place in nearly all rows.
    fn is_aligned(&self) -> bool {
        self.aligned * 10 >= self.both * 9
    }

    /// Returns whether the strip is a gutter because of its width.
    fn is_gutter(&self) -> bool {
        let ems = (self.strip.x1 - self.strip.x0) / self.size;
        let min_rows = if ems >= WIDE_GUTTER { MIN_WIDE_ROWS } else { MIN_ROWS };
        ems >= MIN_GUTTER
            && ((self.wide >= min_rows && self.wide * 2 >= self.both) || self.both >= MIN_LONG_ROWS)
    }
}

/// The parts of a row without a gap that can be a gutter.
struct Row {
    parts: Vec<(f32, f32)>,
    y: f32,
    size: f32,
    /// The usual width of a space; 0 if the row has none.
    space: f32,
}

/// Returns the gutters of a page. The runs are sorted by their baselines.
pub(super) fn strips(runs: &[Segment]) -> Vec<Strip> {
    let mut found = Vec::new();
    let mut open: Vec<OpenStrip> = Vec::new();
    let mut start = 0;
    while start < runs.len() && found.len() < MAX_STRIPS {
        let is_same_row =
            |pair: &[Segment]| (pair[1].y - pair[0].y).abs() < 0.35 * pair[1].size.min(pair[0].size);
        let length = runs[start..].windows(2).take_while(|pair| is_same_row(pair)).count() + 1;
        follow(&Row::new(&runs[start..start + length]), &mut open, &mut found);
        start += length;
    }
    open.iter().for_each(|strip| finish(strip, &mut found));
    found.truncate(MAX_STRIPS);
    found
}

impl Row {
    fn new(runs: &[Segment]) -> Self {
        let size = runs.iter().map(|run| run.size).fold(f32::INFINITY, f32::min);
        let mut ink: Vec<(f32, f32)> = runs
            .iter()
            .flat_map(|run| &run.glyphs)
            .filter(|glyph| glyph.character != ' ')
            .map(|glyph| (glyph.x0, glyph.x1))
            .collect();
        ink.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut parts: Vec<(f32, f32)> = Vec::new();
        let mut spaces = Vec::new();
        for (x0, x1) in ink {
            match parts.last_mut() {
                Some(last) if x0 - last.1 < MIN_STRIP * size => last.1 = last.1.max(x1),
                last => {
                    if let Some(last) = last {
                        spaces.push(x0 - last.1);
                    }
                    parts.push((x0, x1));
                }
            }
        }
        // The smaller gaps of a row are its spaces. A row of few words has nothing but gutters, which are wider than the
        // spaces of a justified line.
        spaces.sort_by(f32::total_cmp);
        let space = if spaces.len() < 3 { 0.0 } else { spaces[spaces.len() / 4].min(MAX_SPACE * size) };
        Self { parts, y: runs[0].y, size, space }
    }

    /// Returns the white space around the middle of a strip, from the text before it to the text after it.
    fn gap_at(&self, strip: &Strip) -> (f32, f32) {
        let middle = (strip.x0 + strip.x1) / 2.0;
        let next = self.parts.partition_point(|(x0, _)| *x0 < middle);
        let before = next.checked_sub(1).map_or(f32::NEG_INFINITY, |index| self.parts[index].1);
        (before, self.parts.get(next).map_or(f32::INFINITY, |part| part.0))
    }
}

/// Narrows the open strips to the white space of a row, and opens strips at its other gaps.
fn follow(row: &Row, open: &mut Vec<OpenStrip>, found: &mut Vec<Strip>) {
    let mut taken = Vec::new();
    open.retain_mut(|open| {
        let (before, after) = row.gap_at(&open.strip);
        let (x0, x1) = (open.strip.x0.max(before), open.strip.x1.min(after));
        // A line that is longer than its column does not narrow the gutter that the rows above it show.
        let ends = x1 - x0 < MIN_GUTTER * row.size && open.is_gutter();
        if ends || x1 - x0 < MIN_STRIP * row.size {
            finish(open, found);
            return false;
        }
        if before.is_finite() && after.is_finite() {
            open.both += 1;
            open.wide += usize::from(after - before >= (MIN_SPACES * row.space).max(MIN_GUTTER * row.size));
            open.aligned += usize::from((after - open.edge).abs() < ALIGNED);
            open.ends = (open.ends.0.min(before), open.ends.1.max(before));
            open.strip.y1 = row.y;
            open.size = open.size.max(row.size);
            // A strip between the words of one line above does not hide a gutter that begins here.
            if open.wide >= 3 || open.aligned >= 3 || x1 - x0 >= 0.8 * (after - before) {
                taken.push(before);
            }
        }
        (open.strip.x0, open.strip.x1) = (x0, x1);
        // The spaces of running text end here, so that the number of strips stays small.
        x1 - x0 >= MIN_GUTTER * row.size || open.is_aligned()
    });
    for pair in row.parts.windows(2) {
        let (x0, x1) = (pair[0].1, pair[1].0);
        if open.len() < MAX_STRIPS && !taken.contains(&x0) {
            let strip = Strip { x0, x1, y0: row.y, y1: row.y };
            let is_wide = x1 - x0 >= (MIN_SPACES * row.space).max(MIN_GUTTER * row.size);
            let (wide, size) = (usize::from(is_wide), row.size);
            open.push(OpenStrip { strip, both: 1, wide, edge: x1, aligned: 1, ends: (x0, x0), size });
        }
    }
}

/// Adds a strip to the gutters if enough rows show it.
fn finish(open: &OpenStrip, found: &mut Vec<Strip>) {
    // The words of equal lines are at the same places, too.
    let varies = open.ends.1 - open.ends.0 > MIN_VARIATION * open.size;
    if open.is_gutter() || (open.aligned >= MIN_ROWS && open.is_aligned() && varies) {
        found.push(open.strip);
    }
}
