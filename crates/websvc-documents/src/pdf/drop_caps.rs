//! Joins large initial letters, which are as high as several lines, with the words that they begin.

use super::geometry::median;
use super::glyphs::Glyph;
use super::segment::Segment;

/// The minimum size of an initial relative to the text.
const MIN_SCALE: f32 = 1.7;
/// The maximum number of characters of an initial: a letter with an apostrophe or a quotation mark.
const MAX_GLYPHS: usize = 2;
/// The maximum distance to the text, in ems of the text.
const MAX_DISTANCE: f32 = 1.2;
/// The maximum number of initials of a page that are examined.
const MAX_INITIALS: usize = 40;

/// Puts each initial at the start of the highest line on its right. The lines on its right begin where it begins.
pub(super) fn join(segments: &mut Vec<Segment>) {
    let usual = median(segments.iter().map(|segment| segment.size)).unwrap_or(0.0);
    let mut examined = 0;
    let mut index = 0;
    while index < segments.len() && examined < MAX_INITIALS {
        if !is_initial(&segments[index].glyphs, usual) {
            index += 1;
            continue;
        }
        examined += 1;
        match adjacent_line(&segments[index], segments) {
            Some(first) => prepend(index, first, segments),
            None => index += 1,
        }
    }
}

/// Returns whether these glyphs are an initial of text with this size.
pub(super) fn is_initial(glyphs: &[Glyph], size: f32) -> bool {
    glyphs.first().is_some_and(|glyph| glyph.size >= size * MIN_SCALE) && is_letter(glyphs)
}

fn is_letter(glyphs: &[Glyph]) -> bool {
    glyphs.len() <= MAX_GLYPHS
        && glyphs.iter().any(|glyph| glyph.character.is_uppercase())
        && glyphs.iter().all(|glyph| !glyph.character.is_ascii_digit() && glyph.character != ' ')
}

/// Returns the highest of the lines on the right of an initial, if there are at least two.
fn adjacent_line(initial: &Segment, segments: &[Segment]) -> Option<usize> {
    let is_adjacent = |segment: &Segment| {
        let distance = segment.area.x0 - initial.area.x1;
        initial.size >= segment.size * MIN_SCALE
            && segment.glyphs.len() > MAX_GLYPHS
            && (-0.3..MAX_DISTANCE).contains(&(distance / segment.size))
            && segment.y > initial.y - initial.size
            && segment.y < initial.y + 0.3 * segment.size
    };
    let adjacent = segments.iter().enumerate().filter(|(_, segment)| is_adjacent(segment));
    let adjacent: Vec<usize> = adjacent.map(|(index, _)| index).collect();
    let first = adjacent.iter().copied().min_by(|a, b| segments[*a].y.total_cmp(&segments[*b].y))?;
    let begins_word = segments[first].glyphs.first().is_some_and(|glyph| glyph.character.is_alphabetic());
    (adjacent.len() >= 2 && begins_word).then_some(first)
}

fn prepend(initial: usize, first: usize, segments: &mut Vec<Segment>) {
    let letter = segments[initial].clone();
    let (top, size) = (letter.y - letter.size, segments[first].size);
    for segment in segments.iter_mut() {
        let distance = (segment.area.x0 - letter.area.x1) / segment.size;
        if (top..letter.y + 0.3 * size).contains(&segment.y) && (-0.3..MAX_DISTANCE).contains(&distance) {
            segment.area.x0 = letter.area.x0;
        }
    }
    let line = &mut segments[first];
    let (y, style) = (line.y, line.glyphs.first().map(|glyph| glyph.style).unwrap_or_default());
    let glyphs = letter.glyphs.iter().map(|glyph| Glyph { y, size, style, ..*glyph });
    line.glyphs.splice(..0, glyphs);
    segments.remove(initial);
}
