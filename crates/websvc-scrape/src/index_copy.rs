//! Conversion of a parsed page to a document for the index, for scraped, crawled and imported pages.

use url::Url;
use websvc_extract::{Anchor, Article, Content, Document, ImageDetail, PageMetadata};
use websvc_types::index::{IndexDocument, IndexImage, IndexLink, IndexNews};

use crate::cache::without_fragment;
use crate::out_links::is_credible;
use crate::personal::remove_credentials;
use crate::raw::RawPage;
use crate::robots::RobotsRules;

/// The maximum number of bytes of text of one page that are indexed: about 170,000 words. Indexing takes forty times as
/// much memory.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Returns the document for the index; `None` if the page failed, is not public, must not be indexed or has no text.
pub(crate) fn index_copy(
    raw: &RawPage,
    document: &Document,
    content: &Content<'_>,
    metadata: PageMetadata,
) -> Option<Box<IndexDocument>> {
    if !raw.status.is_success()
        || !raw.is_public()
        || !RobotsRules::from_headers(&raw.headers, Some(&metadata)).index
    {
        return None;
    }
    let mut copy = index_document(known_url(&raw.url, document.canonical()), document, content, metadata);
    if copy.body.trim().is_empty() {
        return None;
    }
    copy.content_type = copy.content_type.or_else(|| raw.content_type().map(str::to_owned));
    if copy.title.is_empty() {
        copy.title.clone_from(&copy.url);
    }
    Some(Box::new(copy))
}

/// Returns the document for the index of a page under `url`: its main content and its metadata. The title is empty if
/// the page has none.
pub fn index_document(
    url: String,
    document: &Document,
    content: &Content<'_>,
    metadata: PageMetadata,
) -> IndexDocument {
    let PageMetadata {
        title,
        description,
        language,
        published_time,
        modified_time,
        content_type,
        article,
        country,
        explicit,
        ..
    } = metadata;
    let (published, modified, news) = match article {
        Some(Article { headline: _, published, modified, image_url }) => {
            (published, modified, Some(IndexNews { image_url }))
        }
        None => (None, None, None),
    };
    let mut document = IndexDocument {
        url,
        title: title.unwrap_or_default(),
        headings: content.headings(),
        body: truncate(content.text()),
        description,
        language,
        published: published.or(published_time),
        modified: modified.or(modified_time),
        content_type,
        country,
        explicit,
        images: document.image_details().into_iter().map(image).collect(),
        links: content.anchors().into_iter().filter_map(link).collect(),
        news,
    };
    remove_credentials(&mut document);
    document
}

/// Returns the part of a text that is indexed, so that the rest does not take memory.
fn truncate(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        text.shrink_to_fit();
    }
    text
}

fn image(image: ImageDetail) -> IndexImage {
    let ImageDetail { url, alt, caption, context, width, height } = image;
    IndexImage { url, alt, caption, context, width, height }
}

/// Converts a link; `None` for `nofollow`, because the page does not vouch for the target.
fn link(anchor: Anchor) -> Option<IndexLink> {
    let Anchor { url, text, nofollow } = anchor;
    (!nofollow).then(|| IndexLink { url: url.into(), text })
}

/// Returns the canonical URL of a page if it is credible, else the URL.
pub fn known_url(url: &Url, canonical: Option<Url>) -> String {
    match canonical {
        Some(canonical) if is_credible(&canonical, url) => without_fragment(&canonical).to_owned(),
        Some(_) | None => without_fragment(url).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, HeaderValue, StatusCode};
    use websvc_extract::ContentOptions;

    const PAGE: &str = r#"<html lang="de-AT"><head><title>Tee</title><link rel="canonical" href="/tee#top">
        <meta name="rating" content="adult"><meta property="og:type" content="article">
        <meta property="article:published_time" content="2026-01-02T10:00:00Z">
        <meta property="og:image" content="/og.jpg"></head><body><main><h1>Tee</h1><p>Der Tee zieht drei Minuten, wie
        <a href="/wasser">das Wasser</a> es will, sagt <a href="/werbung" rel="nofollow">die Werbung</a>.</p>
        <img src="/kanne.jpg" alt="Kanne" width="640" height="480"></main></body></html>"#;

    fn copy(html: &'static str, status: u16) -> Option<Box<IndexDocument>> {
        copy_with(html, status, None)
    }

    fn copy_with(
        html: &'static str,
        status: u16,
        robots: Option<&'static str>,
    ) -> Option<Box<IndexDocument>> {
        let url = Url::parse("http://tee.test/seite?x=1").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
        if let Some(robots) = robots {
            headers.insert("x-robots-tag", HeaderValue::from_static(robots));
        }
        let status = StatusCode::from_u16(status).unwrap();
        let raw = RawPage { headers, body: html.into(), ..RawPage::empty(url.as_str(), status) };
        let document = crate::format::parse(&raw, None).unwrap();
        let content = document.content(&ContentOptions::default());
        index_copy(&raw, &document, &content, document.metadata())
    }

    #[test]
    fn page_with_noindex_header_is_not_copied() {
        assert!(copy_with(PAGE, 200, Some("noindex")).is_none());
        assert!(copy_with(PAGE, 200, Some("otherbot: noindex")).is_some());
    }

    #[test]
    fn index_document_has_all_data_of_the_page() {
        let copy = copy(PAGE, 200).unwrap();
        assert_eq!((copy.url.as_str(), copy.title.as_str()), ("http://tee.test/tee", "Tee"));
        assert_eq!(copy.country.as_deref(), Some("AT"));
        assert!(copy.explicit);
        assert_eq!(copy.published.as_deref(), Some("2026-01-02T10:00:00Z"));
        assert_eq!(copy.news.unwrap().image_url.as_deref(), Some("http://tee.test/og.jpg"));
        let images: Vec<&str> = copy.images.iter().map(|image| image.url.as_str()).collect();
        assert_eq!(images, ["http://tee.test/og.jpg", "http://tee.test/kanne.jpg"]);
        assert_eq!((copy.images[1].alt.as_str(), copy.images[1].width), ("Kanne", Some(640)));
        let link = IndexLink { url: "http://tee.test/wasser".to_owned(), text: "das Wasser".to_owned() };
        assert_eq!(copy.links, [link]);
    }

    #[test]
    fn failed_noindex_or_empty_page_is_not_copied() {
        assert!(copy(PAGE, 404).is_none());
        assert!(copy("<meta name=robots content=noindex><p>Text of the page.", 200).is_none());
        assert!(copy("<p> </p>", 200).is_none());
    }
}
