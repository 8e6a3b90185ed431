//! Properties of the reader of structured data for any page: of the metadata, the brand and the videos that it declares.

use websvc_extract::{DeclaredBrand, Document, MetaValue, PageMetadata, Source};
use websvc_types::limits::{
    VIDEO_DESCRIPTION_MAX_CHARS, VIDEO_TITLE_MAX_CHARS, VIDEO_URL_MAX_BYTES, VIDEOS_MAX,
};
use websvc_types::video::PageVideo;

/// Maximum size of all texts that are read, per byte of the page, and the size that every page may reach.
const MAX_TEXT_PER_BYTE: usize = 40;
const TEXT_ALLOWANCE: usize = 10_000;

/// Checks that reading ends, that the result is the same each time, that URLs are absolute, and that no input makes the
/// texts many times longer than the page.
pub(crate) fn check(data: &[u8]) {
    let url = "http://a.test/dir/page".parse().expect("the URL is valid");
    let source = Source { bytes: data, content_type: Some("text/html; charset=utf-8"), url: &url };
    let Ok(page) = Document::parse(source) else { return };
    let (metadata, brand) = (page.metadata(), page.declared_brand());
    let limit = data.len() * MAX_TEXT_PER_BYTE + TEXT_ALLOWANCE;
    let size = metadata_size(&metadata) + brand_size(&brand);
    assert!(size <= limit, "{size} bytes of text from {} bytes", data.len());
    for url in [&metadata.canonical, &brand.logo, &brand.touch_icon, &brand.favicon, &brand.og_image] {
        assert!(url.as_ref().is_none_or(|url| url.contains(':')), "{url:?} is not absolute");
    }
    assert_eq!(format!("{metadata:?}"), format!("{:?}", page.metadata()));
    assert_eq!(format!("{brand:?}"), format!("{:?}", page.declared_brand()));
    check_videos(&page.videos());
    assert_eq!(format!("{:?}", page.videos()), format!("{:?}", page.videos()));
}

/// Checks that each video is listed once, with public web addresses and texts within their limits.
fn check_videos(videos: &[PageVideo]) {
    assert!(videos.len() <= VIDEOS_MAX, "{} videos", videos.len());
    for (index, video) in videos.iter().enumerate() {
        assert!(videos[..index].iter().all(|other| other.url != video.url), "{video:?} is listed twice");
        for url in [Some(&video.url), video.thumbnail.as_ref()].into_iter().flatten() {
            let is_web = url.starts_with("http://") || url.starts_with("https://");
            assert!(is_web && url.len() <= VIDEO_URL_MAX_BYTES, "{url:?}");
        }
        let texts =
            [(&video.title, VIDEO_TITLE_MAX_CHARS), (&video.description, VIDEO_DESCRIPTION_MAX_CHARS)];
        for (text, max_chars) in texts {
            assert!(text.as_ref().is_none_or(|text| text.chars().count() <= max_chars), "{text:?}");
        }
    }
}

fn metadata_size(metadata: &PageMetadata) -> usize {
    let PageMetadata { title, description, language, keywords, robots, favicon, author, meta, .. } = metadata;
    let texts = [title, description, language, keywords, robots, favicon, author].into_iter().flatten();
    let values = meta.iter().map(|(name, value)| {
        name.len()
            + match value {
                MetaValue::One(text) => text.len(),
                MetaValue::Many(texts) => texts.iter().map(String::len).sum(),
            }
    });
    texts.map(String::len).sum::<usize>() + values.sum::<usize>()
}

fn brand_size(brand: &DeclaredBrand) -> usize {
    let DeclaredBrand {
        logo,
        touch_icon,
        favicon,
        og_image,
        site_name,
        title,
        heading,
        generator,
        theme_color,
        resources,
    } = brand;
    let texts = [logo, touch_icon, favicon, og_image, site_name, title, heading, generator, theme_color];
    let resources = resources.iter().map(String::len).sum::<usize>();
    texts.into_iter().flatten().map(String::len).sum::<usize>() + resources
}
