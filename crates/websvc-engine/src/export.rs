//! From the index to documents as they are sent to it: the way back of [`crate::ingest`].

use jiff::Timestamp;
use websvc_index::{Document, Image, Link, News};
use websvc_types::index::{IndexDocument, IndexImage, IndexLink, IndexNews};

/// Returns a document of the index as it is sent and imported, without the time it was seen. Blank texts are left out:
/// they say nothing, and an import reads them as absent.
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
    let told = |text: &String| !text.trim().is_empty();
    let time = |time: Timestamp| time.to_string();
    IndexDocument {
        url,
        title: Some(title).filter(told).unwrap_or_default(),
        headings,
        body: Some(body).filter(told).unwrap_or_default(),
        description: description.filter(told),
        language: language.filter(told),
        published: published.map(time),
        modified: modified.map(time),
        content_type: content_type.filter(told),
        country: country.filter(told),
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
