//! A part of a line.

use super::geometry::Rect;
use super::glyphs::Glyph;

/// A part of a line without a wide gap.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    /// The glyphs in reading order, with spaces between the words.
    pub(super) glyphs: Vec<Glyph>,
    pub(super) area: Rect,
    /// The baseline.
    pub(super) y: f32,
    /// The most frequent font size.
    pub(super) size: f32,
    /// The index of the grid that the segment represents; `None` for text.
    pub(super) grid: Option<usize>,
    /// The place of the first glyph in the order of the file.
    pub(super) order: usize,
}

impl Segment {
    pub(super) fn new(glyphs: Vec<Glyph>) -> Self {
        let (y, size) = dominant_line(&glyphs);
        let mut area = Rect::EMPTY;
        for glyph in glyphs.iter().filter(|glyph| glyph.character != ' ') {
            area.include(glyph.x0, y - size * 0.75);
            area.include(glyph.x1, y + size * 0.22);
        }
        Self { glyphs, area, y, size, grid: None, order: 0 }
    }

    /// Returns a segment that represents a grid in the reading order.
    pub(super) fn for_grid(grid: usize, area: Rect) -> Self {
        Self { glyphs: Vec::new(), area, y: area.y0, size: 10.0, grid: Some(grid), order: 0 }
    }

    pub(super) fn text(&self) -> String {
        self.glyphs.iter().map(|glyph| glyph.character).collect()
    }

    /// Returns whether all characters except spaces are monospace.
    pub(super) fn is_mono(&self) -> bool {
        self.glyphs.iter().all(|glyph| glyph.style.mono || glyph.character == ' ')
    }
}

/// Returns the most frequent baseline and font size of the glyphs.
fn dominant_line(glyphs: &[Glyph]) -> (f32, f32) {
    let mut counts: Vec<(f32, f32, usize)> = Vec::new();
    for glyph in glyphs.iter().filter(|glyph| glyph.character != ' ') {
        let is_same_line =
            |(y, size, _): &(f32, f32, usize)| (y - glyph.y).abs() < 0.5 && (size - glyph.size).abs() < 0.3;
        match counts.iter().position(is_same_line) {
            Some(index) => counts[index].2 += 1,
            None if counts.len() < 16 => counts.push((glyph.y, glyph.size, 1)),
            None => {}
        }
    }
    // If two are equally frequent, the larger size wins, so that a symbol wins against its subscript.
    counts.sort_by(|a, b| b.2.cmp(&a.2).then(b.1.total_cmp(&a.1)));
    counts.first().map_or_else(
        || glyphs.first().map_or((0.0, 1.0), |g| (g.y, g.size)),
        |most_frequent| (most_frequent.0, most_frequent.1),
    )
}
