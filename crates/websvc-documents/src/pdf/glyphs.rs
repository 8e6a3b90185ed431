//! The positioned characters of a page, and how the text of character codes is placed.

use super::font::Style;
use super::geometry::Matrix;
use super::graphics::Shapes;
use super::strings;

/// A positioned character of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Glyph {
    pub(super) character: char,
    /// The left edge.
    pub(super) x0: f32,
    /// The right edge.
    pub(super) x1: f32,
    /// The baseline.
    pub(super) y: f32,
    /// The font size in points.
    pub(super) size: f32,
    pub(super) style: Style,
    /// The rotation, in quarter turns clockwise.
    pub(super) rotation: u8,
    /// The file marks it as not part of the content, such as a page number.
    pub(super) artifact: bool,
    /// The 1-based number of its link on the page; 0 if it is not in a link.
    pub(super) link: u16,
    /// The number of its font in the document.
    pub(super) font: u16,
    /// The identifier of its marked content on the page.
    pub(super) mcid: Option<u32>,
}

/// The text, straight lines and image area of a page.
#[derive(Debug, Default)]
pub(super) struct PageContent {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) shapes: Shapes,
    /// The number of character codes without a mapping to text.
    pub(super) unmapped: usize,
    /// The share of the page area that images cover, from 0 to about 1.
    pub(super) image_share: f32,
    /// The number of curves.
    pub(super) curves: usize,
    pub(super) width: f32,
    pub(super) height: f32,
    /// The page was cut off because it has too many instructions.
    pub(super) cut_off: bool,
}

/// The text state and the text matrices (PDF 32000-1, 9.3 and 9.4).
#[derive(Debug, Clone)]
pub(super) struct TextState {
    pub(super) font: Option<usize>,
    pub(super) size: f64,
    pub(super) char_space: f64,
    pub(super) word_space: f64,
    pub(super) scale: f64,
    pub(super) leading: f64,
    pub(super) rise: f64,
    pub(super) matrix: Matrix,
    pub(super) line: Matrix,
}

/// A character code with its text and font properties, ready to be placed on the page.
pub(super) struct PlacedGlyph<'t> {
    pub(super) text: &'t str,
    pub(super) advance: f64,
    pub(super) horizontal: bool,
    pub(super) style: Style,
    pub(super) em: f64,
    pub(super) artifact: bool,
    pub(super) font: u16,
    pub(super) mcid: Option<u32>,
}

/// Adds the glyphs of a character code to the page, unless they are outside of the page or have an unusable size.
pub(super) fn place_glyph(
    content: &mut PageContent,
    placed: &PlacedGlyph<'_>,
    ctm: &Matrix,
    text: &TextState,
) {
    let matrix = ctm.after(&text.matrix);
    let (x, y) = matrix.apply(0.0, text.rise);
    let end =
        if placed.horizontal { (placed.advance * text.scale, text.rise) } else { (text.size, text.rise) };
    let (end_x, end_y) = matrix.apply(end.0, end.1);
    let [_, _, c, d, _, _] = matrix.0;
    let size = (text.size * placed.em).abs() * c.hypot(d);
    let (along, across) = (end_x - x, end_y - y);
    // The direction of a glyph without advance, such as an accent, comes from the matrix.
    let (along, across) =
        if along.hypot(across) < 1e-6 { (matrix.0[0], matrix.0[1]) } else { (along, across) };
    let rotation = match (along.abs() >= across.abs(), along >= 0.0, across >= 0.0) {
        (true, true, _) => 0,
        (true, false, _) => 2,
        (false, _, true) => 1,
        (false, _, false) => 3,
    };
    let inside = (-50.0..=f64::from(content.width) + 50.0).contains(&x)
        && (-50.0..=f64::from(content.height) + 50.0).contains(&y);
    if !inside || !(0.5..2000.0).contains(&size) {
        return;
    }
    // Rotated text gets coordinates in which it is horizontal.
    let ((x, y), (end_x, _)) =
        (rotate_point(x, y, rotation, content), rotate_point(end_x, end_y, rotation, content));
    let glyph = Glyph {
        character: ' ',
        x0: x as f32,
        x1: end_x.max(x) as f32,
        y: y as f32,
        size: size as f32,
        style: placed.style,
        rotation,
        artifact: placed.artifact,
        link: 0,
        font: placed.font,
        mcid: placed.mcid,
    };
    spread(&mut content.glyphs, placed.text, glyph);
}

/// Converts a point to the coordinates in which text with this rotation is horizontal.
fn rotate_point(x: f64, y: f64, rotation: u8, content: &PageContent) -> (f64, f64) {
    let (width, height) = (f64::from(content.width), f64::from(content.height));
    match rotation {
        0 => (x, y),
        1 => (y, width - x),
        2 => (width - x, height - y),
        _ => (height - y, x),
    }
}

/// Adds text in the area of one glyph, divided equally between its characters. The letters of a ligature share the area,
/// too, so that the second of two equal letters does not look like the shadow of the first. The first letter of
/// right-to-left text is on the right.
pub(super) fn spread(glyphs: &mut Vec<Glyph>, text: &str, area: Glyph) {
    let start = glyphs.len();
    for character in text.chars() {
        strings::normalize(character, |character| glyphs.push(Glyph { character, ..area }));
    }
    let added = &mut glyphs[start..];
    if added.len() > 1 && is_right_to_left(added) {
        added.reverse();
    }
    let step = (area.x1 - area.x0) / added.len().max(1) as f32;
    for (glyph, index) in added.iter_mut().zip(0_u16..) {
        glyph.x0 = area.x0 + step * f32::from(index);
        glyph.x1 = glyph.x0 + step;
    }
}

/// Returns whether most letters belong to a right-to-left script.
pub(super) fn is_right_to_left(glyphs: &[Glyph]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_letter_of_a_right_to_left_ligature_is_on_the_right() {
        let area = Glyph {
            character: ' ',
            x0: 0.0,
            x1: 2.0,
            y: 0.0,
            size: 10.0,
            style: Style::default(),
            rotation: 0,
            artifact: false,
            link: 0,
            font: 0,
            mcid: None,
        };
        let letters = |text: &str| -> String {
            let mut glyphs = Vec::new();
            spread(&mut glyphs, text, area);
            glyphs.sort_by(|a, b| a.x0.total_cmp(&b.x0));
            glyphs.iter().map(|glyph| glyph.character).collect()
        };
        assert_eq!(letters("\u{644}\u{627}"), "\u{627}\u{644}");
        assert_eq!(letters("fi"), "fi");
    }
}
