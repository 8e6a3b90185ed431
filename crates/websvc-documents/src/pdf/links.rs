//! The links of a page: areas that lead to an address.

use hayro_syntax::object::{Array, Dict, Name, String as PdfString};
use hayro_syntax::page::Page;

use super::content::PageContent;
use super::geometry::{Matrix, Rect};
use super::strings;

/// At most so many links of a page are read.
const MAX_LINKS: usize = 500;
/// Longer addresses are not links that anybody follows.
const MAX_ADDRESS: usize = 2000;

/// Marks the characters that are links, and returns the addresses.
pub(super) fn mark(page: &Page<'_>, content: &mut PageContent) -> Vec<String> {
    let mut addresses: Vec<String> = Vec::new();
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return addresses };
    let matrix = Matrix(page.initial_transform(true).as_coeffs());
    for annotation in annotations.iter::<Dict<'_>>().take(MAX_LINKS) {
        let Some((address, [x0, y0, x1, y1])) = link(&annotation) else { continue };
        let area = matrix.apply_to_box(x0, y0, x1, y1);
        let known = addresses.iter().position(|known| *known == address);
        let number = known.unwrap_or_else(|| {
            addresses.push(address);
            addresses.len() - 1
        }) + 1;
        mark_glyphs(content, &area, u16::try_from(number).unwrap_or(0));
    }
    addresses
}

fn mark_glyphs(content: &mut PageContent, area: &Rect, number: u16) {
    for glyph in content.glyphs.iter_mut().filter(|glyph| glyph.turn == 0) {
        if area.contains((glyph.x0 + glyph.x1) / 2.0, glyph.y - glyph.size * 0.25) {
            glyph.link = number;
        }
    }
}

fn link(annotation: &Dict<'_>) -> Option<(String, [f64; 4])> {
    if annotation.get::<Name<'_>>(b"Subtype")?.as_str() != "Link" {
        return None;
    }
    let address = annotation.get::<Dict<'_>>(b"A")?.get::<PdfString<'_>>(b"URI")?;
    let address = strings::decoded(address.as_bytes());
    let address = address.trim();
    let is_safe = ["http://", "https://", "mailto:", "ftp://"]
        .iter()
        .any(|scheme| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    (is_safe && address.len() <= MAX_ADDRESS).then_some(())?;
    Some((address.to_owned(), annotation.get::<[f64; 4]>(b"Rect")?))
}
