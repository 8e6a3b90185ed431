//! A page as a server stores it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;
use websvc_index::{Document, DocumentTerms, Image, ImageUrlTerms, one_extension, searchable_images};

use super::sketch::Sketch;

/// The label of pages with images, in addition to the labels of [`DocumentTerms::labels`].
pub(super) const WITH_IMAGES: &str = "images";

/// The length of the beginning of the text that is used for a missing description.
const DESCRIPTION_CHARS: usize = 300;

/// A page as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) headings: Vec<String>,
    pub(super) body: String,
    pub(super) description: String,
    pub(super) language: String,
    pub(super) url_words: String,
    pub(super) sites: Vec<String>,
    pub(super) extensions: Vec<String>,
    pub(super) labels: Vec<String>,
    /// RFC 3339, in whole seconds.
    pub(super) date: Option<String>,
    /// The date that the page declares, for the ranking. The time of the fetch says little about the age of a page.
    pub(super) published: Option<String>,
    /// See [`Sketch`].
    pub(super) sketch: String,
    /// The image of a news page.
    #[serde(rename = "picture")]
    pub(super) news_image: Option<String>,
    pub(super) image_words: Vec<String>,
    pub(super) image_sizes: Vec<String>,
    /// File extensions.
    pub(super) image_types: Vec<String>,
    /// Each is an [`ImageRecord`] as JSON.
    pub(super) images: Vec<String>,
    pub(super) image_url_words: Vec<String>,
    /// The hosts that the page links to, and their parent domains.
    pub(super) links: Vec<String>,
    /// The hosts that the page links to.
    pub(super) linked_hosts: Vec<String>,
}

/// An image in [`Record::images`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ImageRecord {
    pub(super) url: String,
    pub(super) alt: String,
    pub(super) caption: String,
    pub(super) context: String,
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
}

impl Record {
    /// Converts a page to a record; `None` if its URL has no host.
    pub(super) fn from_document(document: Document) -> Option<Self> {
        let DocumentTerms { sites, url_words, extensions, mut labels, date, linked_hosts, links, language } =
            DocumentTerms::from_document(&document)?;
        let images: Vec<ImageRecord> =
            searchable_images(&document).into_iter().cloned().map(ImageRecord::from_image).collect();
        let image_words = images.iter().map(|image| image.text(&document.title)).collect();
        let Document {
            url,
            title,
            headings,
            body,
            description,
            language: _,
            published,
            modified,
            seen: _,
            content_type: _,
            country: _,
            explicit: _,
            images: _,
            links: _,
            news,
        } = document;
        let description = description.filter(|text| !text.trim().is_empty());
        let description = description.unwrap_or_else(|| body.chars().take(DESCRIPTION_CHARS).collect());
        if !images.is_empty() {
            labels.push(WITH_IMAGES.to_owned());
        }
        let to_text =
            |time: Timestamp| Timestamp::from_second(time.as_second()).ok().map(|at| at.to_string());
        Some(Self {
            sketch: Sketch::from_text(&body).map(|sketch| sketch.to_string()).unwrap_or_default(),
            url,
            title,
            headings,
            body,
            description,
            language,
            url_words,
            sites,
            extensions,
            labels,
            date: date.and_then(to_text),
            published: published.or(modified).and_then(to_text),
            news_image: news.and_then(|news| news.image_url),
            image_words,
            image_url_words: images
                .iter()
                .map(|image| ImageUrlTerms::from_url(&image.url).url_words)
                .collect(),
            image_sizes: images.iter().filter_map(ImageRecord::size).collect(),
            image_types: images.iter().filter_map(ImageRecord::extension).collect(),
            images: images.iter().filter_map(|image| serde_json::to_string(image).ok()).collect(),
            links,
            linked_hosts,
        })
    }
}

impl ImageRecord {
    fn from_image(image: Image) -> Self {
        let Image { url, alt, caption, context, width, height } = image;
        Self { url, alt, caption, context, width, height }
    }

    /// Returns the searchable text. The title of the page and the name of the file describe the image, too.
    pub(super) fn text(&self, page_title: &str) -> String {
        let name = ImageUrlTerms::from_url(&self.url).name_words;
        [&self.alt, &self.caption, &self.context, page_title, &name].join("\n")
    }

    /// Returns the title: the alternative text or the caption, otherwise the title of the page.
    pub(super) fn title<'a>(&'a self, page_title: &'a str) -> &'a str {
        let own_title = [&self.alt, &self.caption].into_iter().find(|text| !text.trim().is_empty());
        own_title.map_or(page_title, String::as_str)
    }

    /// Returns the file extension in its canonical form, such as one for `jpg` and `jpeg`.
    pub(super) fn extension(&self) -> Option<String> {
        let url = Url::parse(&self.url).ok()?;
        let (_, extension) = url.path_segments()?.next_back()?.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        let is_valid =
            (1..=6).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_valid.then(|| one_extension(&extension).to_owned())
    }

    fn size(&self) -> Option<String> {
        Some(format!("{}x{}", self.width?, self.height?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_description_is_the_beginning_of_the_text() {
        let document =
            Document { url: "http://a.test/".to_owned(), body: "x".repeat(400), ..Document::default() };
        let record = Record::from_document(document).unwrap();
        assert_eq!(record.description, "x".repeat(300));
        assert_eq!(record.sites, ["a.test", "test"]);
    }
}
