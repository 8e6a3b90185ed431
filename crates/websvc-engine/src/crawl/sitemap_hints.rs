//! What feeds and sitemaps say of pages, beside that there are such.

use jiff::Timestamp;
use url::Url;
use websvc_scrape::date;
use websvc_types::index::{IndexDocument, IndexImage, IndexNews};

/// What a feed or a sitemap says of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageHints {
    /// When it was published, else last changed.
    date: Option<Timestamp>,
    /// Its picture.
    image: Option<Url>,
    /// Images on it, by the site's own list of them.
    images: Vec<IndexImage>,
}

impl PageHints {
    /// Takes over what was read; `None` when it says no more than that there is a page.
    pub(super) fn of(entry: websvc_sitemap::Entry) -> Option<Self> {
        let websvc_sitemap::Entry { url: _, title: _, description: _, date, image, images } = entry;
        let date = date.and_then(|text| date::read(&text));
        let images: Vec<IndexImage> = images.into_iter().map(index_image).collect();
        (date.is_some() || !images.is_empty()).then_some(Self { date, image, images })
    }

    /// Returns how many things it is to remember.
    pub(super) fn weight(&self) -> usize {
        1 + self.images.len()
    }

    /// Takes over what another list says and this one does not.
    pub(super) fn merge(&mut self, other: Self) {
        let Self { date, image, images } = other;
        self.date = self.date.or(date);
        self.image = self.image.take().or(image);
        if self.images.is_empty() {
            self.images = images;
        }
    }

    /// Adds to a page what is said of it: to be in a feed or a news sitemap with a date makes it news.
    pub(super) fn apply_to(&self, copy: &mut IndexDocument) {
        if let Some(date) = self.date {
            copy.published.get_or_insert_with(|| date.to_string());
            let news = copy.news.get_or_insert_with(IndexNews::default);
            if let (None, Some(image)) = (&news.image_url, &self.image) {
                news.image_url = Some(image.to_string());
            }
        }
        for image in &self.images {
            if !copy.images.iter().any(|known| known.url == image.url) {
                copy.images.push(image.clone());
            }
        }
    }
}

fn index_image(image: websvc_sitemap::Image) -> IndexImage {
    let websvc_sitemap::Image { url, title, caption } = image;
    IndexImage { url: url.into(), alt: title, caption, ..IndexImage::default() }
}
