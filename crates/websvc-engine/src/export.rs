//! Converts documents of the index to uploadable documents, the reverse of [`crate::ingest`].

use jiff::Timestamp;
use websvc_index::{Document, Image, Link, News};
use websvc_types::index::{IndexDocument, IndexImage, IndexLink, IndexNews};

/// Converts a document of the index to one that can be uploaded or imported. The time it was seen is left out. Blank
/// texts are left out too, because an import treats them as absent.
#[must_use]
pub fn to_index_document(document: Document) -> IndexDocument {
    let Document {
        url,
        title,
        headings,
        body,
        description,
        language,
        published,
        modified,
        seen: _,
        content_type,
        country,
        explicit,
        images,
        links,
        news,
    } = document;
    let is_not_blank = |text: &String| !text.trim().is_empty();
    let time = |time: Timestamp| time.to_string();
    IndexDocument {
        url,
        title: Some(title).filter(is_not_blank).unwrap_or_default(),
        headings,
        body: Some(body).filter(is_not_blank).unwrap_or_default(),
        description: description.filter(is_not_blank),
        language: language.filter(is_not_blank),
        published: published.map(time),
        modified: modified.map(time),
        content_type: content_type.filter(is_not_blank),
        country: country.filter(is_not_blank),
        explicit,
        images: images.into_iter().map(to_wire_image).collect(),
        links: links.into_iter().map(|Link { url, text }| IndexLink { url, text }).collect(),
        news: news.map(|News { image_url }| IndexNews { image_url }),
    }
}

fn to_wire_image(image: Image) -> IndexImage {
    let Image { url, alt, caption, context, width, height } = image;
    IndexImage { url, alt, caption, context, width, height }
}
