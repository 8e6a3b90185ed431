//! Encoding of the images of a page as fields of the index.

use tantivy::TantivyDocument;

use crate::address::{Address, file_name};
use crate::analysis::{FormCache, Language, head};
use crate::display_doc::{self, DisplayDocHeader};
use crate::document::{Document, Image, fingerprint_of_text};
use crate::document_tokens::{DocumentTokenizer, list, url_words};
use crate::encode::PageFacts;
use crate::schema::{BODY_START, Fields};

/// Maximum images of a page; the first ones count.
const MAX_IMAGES: usize = 50;

/// Minimum width and height in pixels; smaller images are icons, spacers or trackers.
const MIN_PIXELS: u32 = 16;

/// Maximum bytes of the text around an image.
const MAX_CONTEXT_BYTES: usize = 2_000;

/// Returns the distinct images of a page that searches find: without icons, trackers and embedded data, at most 50.
#[must_use]
pub fn searchable_images(document: &Document) -> Vec<&Image> {
    let mut images: Vec<&Image> = Vec::new();
    for image in document.images.iter().filter(|image| is_searchable(image)) {
        if images.len() < MAX_IMAGES && !images.iter().any(|seen| seen.url == image.url) {
            images.push(image);
        }
    }
    images
}

/// Encodes the searchable images of `document`.
pub(crate) fn encode_images(
    fields: &Fields,
    document: &Document,
    facts: &PageFacts,
    forms: &mut FormCache,
) -> Vec<TantivyDocument> {
    let images = searchable_images(document).into_iter();
    images.filter_map(|image| encode_image(fields, document, facts, image, forms)).collect()
}

fn is_searchable(image: &Image) -> bool {
    let large_enough = |pixels: Option<u32>| pixels.is_none_or(|pixels| pixels >= MIN_PIXELS);
    let scheme = image.url.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| ["http", "https", "file"].contains(&scheme))
        && large_enough(image.width)
        && large_enough(image.height)
}

fn encode_image(
    fields: &Fields,
    document: &Document,
    facts: &PageFacts,
    image: &Image,
    forms: &mut FormCache,
) -> Option<TantivyDocument> {
    let Address { text: url_text, topic, extension, .. } = Address::parse(&image.url)?;
    let own_title = [&image.alt, &image.caption].into_iter().find(|text| !text.trim().is_empty());
    let title = own_title.unwrap_or(&document.title);
    let mut words = DocumentTokenizer::new(Language::from_code(&facts.language), forms);
    words.title(title, 1);
    let header = DisplayDocHeader {
        url: &document.url,
        title,
        description: &image.caption,
        language: &facts.language,
        date: facts.date,
        image: &image.url,
        width: image.width,
        height: image.height,
        ..DisplayDocHeader::default()
    };
    words.position = BODY_START;
    let context = head(&image.context, MAX_CONTEXT_BYTES);
    let display_doc = display_doc::encode(&header, context, |passage| words.section(passage, 1));
    let other_texts = [&image.caption, &document.title];
    for text in other_texts.into_iter().filter(|text| *text != title) {
        words.gap();
        words.section(text, 1);
    }
    words.gap();
    words.section(file_name(&topic), 1);

    let mut out = TantivyDocument::new();
    out.add_text(fields.url, &document.url);
    out.add_text(fields.url_words, url_words(&url_text));
    out.add_text(fields.extension, list(extension));
    out.add_text(fields.title, words.titles.finish());
    out.add_text(fields.terms, words.terms.finish());
    out.add_text(fields.exact, words.exact.finish());
    facts.add_to(fields, &mut out);
    for (field, pixels) in [(fields.width, image.width), (fields.height, image.height)] {
        if let Some(pixels) = pixels {
            out.add_u64(field, u64::from(pixels));
        }
    }
    out.add_u64(fields.fingerprint, fingerprint_of_text(&image.url));
    out.add_bytes(fields.stored, &display_doc);
    Some(out)
}
