//! Right-to-left text: the order of its letters, and pages whose lines begin at the right edge.

use super::blocks::PlacedBlock;
use super::geometry::Rect;
use super::glyphs::{Glyph, is_right_to_left};
use super::graphics::StraightLine;
use super::segment::Segment;

/// The mirror image of a page, in which right-to-left lines begin at the left edge. So the layout needs no rules of its own
/// for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mirror {
    width: f32,
}

impl Mirror {
    /// Mirrors the segments of a page if most of their letters belong to a right-to-left script; `None` otherwise.
    pub(super) fn apply(segments: &mut [Segment], width: f32) -> Option<Self> {
        let letters: Vec<Glyph> = segments.iter().flat_map(|segment| &segment.glyphs).copied().collect();
        let mirror = is_right_to_left(&letters).then_some(Self { width })?;
        for segment in segments {
            segment.area = mirror.area(segment.area);
            for glyph in &mut segment.glyphs {
                (glyph.x0, glyph.x1) = (width - glyph.x1, width - glyph.x0);
            }
        }
        Some(mirror)
    }

    fn area(self, area: Rect) -> Rect {
        Rect { x0: self.width - area.x1, x1: self.width - area.x0, ..area }
    }

    /// Returns the mirror images of lines.
    pub(super) fn rules(self, rules: &[StraightLine]) -> Vec<StraightLine> {
        rules.iter().map(|rule| StraightLine { area: self.area(rule.area), ..*rule }).collect()
    }

    /// Puts blocks back to their places on the page.
    pub(super) fn restore(self, blocks: &mut [PlacedBlock]) {
        for area in blocks.iter_mut().filter_map(|placed| placed.area.as_mut()) {
            *area = self.area(*area);
        }
    }
}

/// Returns whether a glyph is a space between two Latin words, which keep their order.
fn is_latin_space(glyphs: &[Glyph], index: usize) -> bool {
    let is_letter =
        |index: usize| glyphs.get(index).is_some_and(|glyph| glyph.character.is_ascii_alphabetic());
    glyphs[index].character == ' ' && index > 0 && is_letter(index - 1) && is_letter(index + 1)
}

/// Reverses a line of right-to-left text from the visual order to the reading order. Numbers and Latin words keep their
/// order.
pub(super) fn reverse_to_reading_order(glyphs: &mut [Glyph]) {
    glyphs.reverse();
    let is_left_to_right = |glyph: &Glyph| glyph.character.is_ascii_alphanumeric();
    let mut start = 0;
    while start < glyphs.len() {
        if !is_left_to_right(&glyphs[start]) {
            start += 1;
            continue;
        }
        let mut end = start;
        for (index, glyph) in glyphs.iter().enumerate().skip(start) {
            if is_left_to_right(glyph) {
                end = index + 1;
            } else if !matches!(glyph.character, '.' | ',' | ':' | '/' | '-' | '%')
                && !is_latin_space(glyphs, index)
            {
                break;
            }
        }
        glyphs[start..end].reverse();
        start = end;
    }
}
