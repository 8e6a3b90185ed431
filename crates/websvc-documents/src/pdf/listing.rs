//! Reads listings: the spaces and the indentation of monospace text, and proportional letters that are placed in the
//! cells of a monospace grid.

use super::geometry::{Rect, median};
use super::glyphs::Glyph;
use super::segment::Segment;

/// The minimum number of letters that show a grid.
const MIN_GLYPHS: usize = 8;
/// The maximum number of letters of a line that gets its grid from the lines around it.
const MAX_SHORT: usize = 40;
/// The maximum distance of a letter from the middle of its cell, relative to the width of a cell.
const TOLERANCE: f32 = 0.22;
/// The same for a line whose grid is that of the lines around it.
const SHORT_TOLERANCE: f32 = 0.3;
/// The maximum number of grids of a page that are examined.
const MAX_GRIDS: usize = 1000;
/// The maximum number of spaces before a word.
const MAX_SPACES: usize = 400;

/// A grid of cells of equal width, one for each letter.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellGrid {
    /// The distance of the middles of cells.
    pitch: f32,
    /// The middle of one of the cells.
    middle: f32,
    size: f32,
}

fn middle(glyph: &Glyph) -> f32 {
    (glyph.x0 + glyph.x1) / 2.0
}

impl CellGrid {
    /// Returns the grid of a line whose letters have different widths and the same distance; `None` if there is none.
    pub(super) fn of_line(glyphs: &[Glyph]) -> Option<Self> {
        let first = glyphs.first()?;
        // Most lines are rejected here: letters in running text touch each other.
        let is_loose = |pair: &&[Glyph]| (pair[1].x0 - pair[0].x1).abs() > 0.03 * first.size;
        if glyphs.len() < MIN_GLYPHS || glyphs.windows(2).filter(is_loose).count() * 2 < glyphs.len() {
            return None;
        }
        let letters: Vec<&Glyph> = glyphs.iter().filter(|glyph| glyph.character != ' ').collect();
        let distances: Vec<f32> = letters.windows(2).map(|pair| middle(pair[1]) - middle(pair[0])).collect();
        let pitch = median(distances.iter().copied())?;
        let cells = distances.iter().map(|distance| distance / pitch);
        let fitting = cells.filter(|cells| *cells > 0.8 && (cells - cells.round()).abs() < TOLERANCE).count();
        let is_grid = letters.len() >= MIN_GLYPHS
            && (0.45..0.75).contains(&(pitch / first.size))
            && fitting * 10 >= distances.len() * 9;
        is_grid.then(|| Self { pitch, middle: middle(first), size: first.size })
    }

    /// Returns whether there is an empty cell between two letters of a line.
    pub(super) fn has_space(&self, last: &Glyph, next: &Glyph) -> bool {
        middle(next) - middle(last) > self.pitch * 1.5
    }

    fn contains(&self, glyph: &Glyph) -> bool {
        let cells = (middle(glyph) - self.middle) / self.pitch;
        (glyph.size - self.size).abs() < 0.1 && (cells - cells.round()).abs() < SHORT_TOLERANCE
    }
}

/// Marks short lines as monospace if their letters are in the cells of a grid that lines around them show.
pub(super) fn mark_listings(segments: &mut [Segment], grids: &[(Rect, CellGrid)]) {
    if grids.is_empty() {
        return;
    }
    for segment in segments {
        let is_near = |area: &Rect| (area.y0 - segment.area.y0).abs() < segment.size * 3.0;
        let mut near = grids.iter().take(MAX_GRIDS).filter(|(area, _)| is_near(area)).map(|(_, grid)| grid);
        let is_in_grid = |grid: &CellGrid| {
            let mut letters = segment.glyphs.iter().filter(|glyph| glyph.character != ' ');
            letters.all(|glyph| grid.contains(glyph))
        };
        if segment.glyphs.len() <= MAX_SHORT && near.any(is_in_grid) {
            segment.glyphs.iter_mut().for_each(|glyph| glyph.style.mono = true);
        }
    }
}

/// Returns the distance of the letters in lines of code.
pub(super) fn pitch<'a>(lines: impl Iterator<Item = &'a [Glyph]>) -> f32 {
    let mut distances = Vec::new();
    let mut widths = Vec::new();
    for line in lines {
        for pair in line.windows(2) {
            if pair.iter().all(|glyph| glyph.character != ' ') {
                distances.push(middle(&pair[1]) - middle(&pair[0]));
            }
        }
        widths.extend(line.iter().map(|glyph| glyph.x1 - glyph.x0).filter(|width| *width > 0.0));
    }
    let pitch = median(distances.into_iter().filter(|distance| *distance > 0.0));
    pitch.or_else(|| median(widths.into_iter())).unwrap_or(5.0).max(0.5)
}

/// Returns a line of code. Its indentation and the gaps between its words are as wide as on the page; the letters of a
/// word stay together.
pub(super) fn code_line(glyphs: &[Glyph], left: f32, pitch: f32) -> String {
    let mut row = String::new();
    let mut last: Option<&Glyph> = None;
    let mut after_space = true;
    for glyph in glyphs {
        if glyph.character == ' ' {
            after_space = true;
            continue;
        }
        if after_space {
            let cells = match last {
                Some(last) => ((middle(glyph) - middle(last)) / pitch - 1.0).max(1.0),
                None => (middle(glyph) - left) / pitch - 0.5,
            };
            row.extend(std::iter::repeat_n(' ', (cells.round().max(0.0) as usize).min(MAX_SPACES)));
        }
        row.push(glyph.character);
        (last, after_space) = (Some(glyph), false);
    }
    row
}
