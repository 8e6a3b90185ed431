//! Facts about pages that feeds and sitemaps contain.

use jiff::Timestamp;
use url::Url;
use websvc_scrape::date;
use websvc_site::sitemap;
use websvc_types::index::{IndexDocument, IndexImage, IndexNews};

/// The facts that a feed or a sitemap contains about one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageHints {
    /// The publication date, or else the date of the last change.
    date: Option<Timestamp>,
    /// The image of the page in the feed.
    image: Option<Url>,
    /// The images on the page that the sitemap lists.
    images: Vec<IndexImage>,
}

impl PageHints {
    /// Creates the hints of an entry; `None` if the entry contains nothing but the URL.
    pub(super) fn from_entry(entry: sitemap::Entry) -> Option<Self> {
        let sitemap::Entry { url: _, title: _, description: _, date, image, images } = entry;
        let date = date.and_then(|text| date::read(&text));
        let images: Vec<IndexImage> = images.into_iter().map(index_image).collect();
        (date.is_some() || !images.is_empty()).then_some(Self { date, image, images })
    }

    /// Returns the number of stored items: the page and its images.
    pub(super) fn weight(&self) -> usize {
        1 + self.images.len()
    }

    /// Adds the facts of another entry for the same page that are missing here.
    pub(super) fn merge(&mut self, other: Self) {
        let Self { date, image, images } = other;
        self.date = self.date.or(date);
        self.image = self.image.take().or(image);
        if self.images.is_empty() {
            self.images = images;
        }
    }

    /// Adds the facts to a page. A page that is dated in a feed or a news sitemap counts as news.
    pub(super) fn apply_to(&self, copy: &mut IndexDocument) {
        if let Some(date) = self.date {
            copy.published.get_or_insert_with(|| date.to_string());
            let news = copy.news.get_or_insert_with(IndexNews::default);
            if let (None, Some(image)) = (&news.image_url, &self.image) {
                news.image_url = Some(image.to_string());
            }
        }
        for image in &self.images {
            if !copy.images.iter().any(|existing| existing.url == image.url) {
                copy.images.push(image.clone());
            }
        }
    }
}

fn index_image(image: sitemap::Image) -> IndexImage {
    let sitemap::Image { url, title, caption } = image;
    IndexImage { url: url.into(), alt: title, caption, ..IndexImage::default() }
}
