//! The images of a page as the fields of the index.

use tantivy::TantivyDocument;

use crate::address::Address;
use crate::analysis::{FormCache, Language};
use crate::display_doc::{self, DisplayDocHeader};
use crate::document::{Document, Image, fingerprint_of_text};
use crate::document_tokens::{DocumentTokenizer, list, url_words};
use crate::encode::PageFacts;
use crate::schema::{BODY_AT, Fields};

/// A page has at most this many images, the first ones.
const MAX_IMAGES: usize = 50;

/// Images with a side shorter than this are icons, spacers or trackers.
const MIN_SIDE: u32 = 16;

/// Longer texts around an image are cut.
const MAX_CONTEXT_BYTES: usize = 2_000;

/// Turns the images of `document` into fields, without icons, trackers, embedded data and repetitions.
pub(crate) fn encode_images(
    fields: &Fields,
    document: &Document,
    facts: &PageFacts,
    forms: &mut FormCache,
) -> Vec<TantivyDocument> {
    let mut images: Vec<&Image> = Vec::new();
    for image in document.images.iter().filter(|image| is_shown(image)) {
        if images.len() < MAX_IMAGES && !images.iter().any(|known| known.url == image.url) {
            images.push(image);
        }
    }
    images.into_iter().filter_map(|image| encode_image(fields, document, facts, image, forms)).collect()
}

fn is_shown(image: &Image) -> bool {
    let large_enough = |side: Option<u32>| side.is_none_or(|side| side >= MIN_SIDE);
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
    let head = DisplayDocHeader {
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
    words.position = BODY_AT;
    let context = crate::analysis::head(&image.context, MAX_CONTEXT_BYTES);
    let card = display_doc::encode(&head, context, |passage| words.section(passage, 1));
    let others = [&image.caption, &document.title];
    for text in others.into_iter().filter(|text| *text != title) {
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
    for (field, side) in [(fields.width, image.width), (fields.height, image.height)] {
        if let Some(side) = side {
            out.add_u64(field, u64::from(side));
        }
    }
    out.add_u64(fields.fingerprint, fingerprint_of_text(&image.url));
    out.add_bytes(fields.card, &card);
    Some(out)
}

/// Returns the last segment of the path: the directories of images name what belongs to the site.
fn file_name(topic: &str) -> &str {
    let path = topic.trim_end();
    path.rsplit('/').next().unwrap_or(path)
}
