//! Reads the link annotations of a page.

use hayro_syntax::object::{Array, Dict, Name, String as PdfString};
use hayro_syntax::page::Page;

use super::geometry::{Matrix, Rect};
use super::glyphs::PageContent;
use super::strings;
use crate::inline::is_web_url;

/// The maximum number of link annotations of a page that are read.
const MAX_LINKS: usize = 500;
/// The maximum length of a URL in bytes. Links with longer URLs are ignored.
const MAX_URL_BYTES: usize = 2000;

/// Assigns the glyphs of a page to its links, and returns the URLs of the links.
pub(super) fn mark_links(page: &Page<'_>, content: &mut PageContent) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return urls };
    let matrix = Matrix(page.initial_transform(true).as_coeffs());
    for annotation in annotations.iter::<Dict<'_>>().take(MAX_LINKS) {
        let Some((url, [x0, y0, x1, y1])) = link(&annotation) else { continue };
        let area = matrix.apply_to_rect(x0, y0, x1, y1);
        let existing = urls.iter().position(|other| *other == url);
        let number = existing.unwrap_or_else(|| {
            urls.push(url);
            urls.len() - 1
        }) + 1;
        mark_glyphs(content, &area, u16::try_from(number).unwrap_or(0));
    }
    urls
}

fn mark_glyphs(content: &mut PageContent, area: &Rect, number: u16) {
    for glyph in content.glyphs.iter_mut().filter(|glyph| glyph.rotation == 0) {
        if area.contains((glyph.x0 + glyph.x1) / 2.0, glyph.y - glyph.size * 0.25) {
            glyph.link = number;
        }
    }
}

/// Returns the URL and the rectangle of a link annotation; `None` for other annotations and unsafe URLs.
fn link(annotation: &Dict<'_>) -> Option<(String, [f64; 4])> {
    if annotation.get::<Name<'_>>(b"Subtype")?.as_str() != "Link" {
        return None;
    }
    let url = annotation.get::<Dict<'_>>(b"A")?.get::<PdfString<'_>>(b"URI")?;
    let url = strings::decode_text(url.as_bytes());
    let url = url.trim();
    (is_web_url(url) && url.len() <= MAX_URL_BYTES).then_some(())?;
    Some((url.to_owned(), annotation.get::<[f64; 4]>(b"Rect")?))
}
