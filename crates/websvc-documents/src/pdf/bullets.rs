//! Adds the bullets that are drawn as small shapes to the lines that they begin.

use super::font::Style;
use super::geometry::Rect;
use super::glyphs::Glyph;
use super::list_marker::leading_marker;
use super::segment::Segment;

/// The maximum distance between a bullet and its line, in ems.
const MAX_DISTANCE: f32 = 2.5;
/// The minimum distance between a bullet and its line, in ems.
const MIN_DISTANCE: f32 = 0.1;
/// The maximum size of a bullet, in ems of its line.
const MAX_SIZE: f32 = 0.75;
/// The maximum number of segments at the height of a shape that are examined.
const MAX_SEGMENTS: usize = 200;

/// Writes a bullet in front of each segment that has a small shape on its left. The segments are sorted by their rows.
pub(super) fn attach(segments: &mut [Segment], dots: &[Rect]) {
    for dot in dots {
        let y = (dot.y0 + dot.y1) / 2.0;
        let first = segments.partition_point(|segment| segment.y < y - 2.0);
        let nearest = segments[first..]
            .iter_mut()
            .take(MAX_SEGMENTS)
            .take_while(|segment| segment.y < y + 40.0)
            .filter(|segment| {
                // The middle of a bullet is at about half of the height of the letters.
                (0.05..0.7).contains(&((segment.y - y) / segment.size)) && segment.area.x0 >= dot.x1
            })
            .min_by(|a, b| a.area.x0.total_cmp(&b.area.x0));
        let Some(segment) = nearest else { continue };
        let distance = (segment.area.x0 - dot.x1) / segment.size;
        if (MIN_DISTANCE..MAX_DISTANCE).contains(&distance)
            && dot.width().max(dot.height()) <= MAX_SIZE * segment.size
            && leading_marker(&segment.glyphs).0.is_none()
        {
            add_bullet(segment, dot);
        }
    }
}

fn add_bullet(segment: &mut Segment, dot: &Rect) {
    let Some(first) = segment.glyphs.first().copied() else { return };
    let bullet =
        Glyph { character: '•', x0: dot.x0, x1: dot.x1, style: Style::default(), link: 0, ..first };
    let space = Glyph { character: ' ', x0: dot.x1, x1: first.x0, ..bullet };
    segment.glyphs.splice(..0, [bullet, space]);
    segment.area.x0 = dot.x0;
}
