//! The images whose pages do not state their size, and the pages that are completed with the sizes.
//!
//! A page does not wait for its images: it is added to the index at once, and again when the sizes of its images are
//! known.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use url::Url;
use websvc_site::is_web;
use websvc_types::index::{IndexDocument, IndexImage};

/// The maximum number of images per page whose sizes are fetched.
const MAX_PER_PAGE: usize = 10;

/// The approximate maximum of bytes in pages that wait for sizes. Beyond it, images of further pages are not fetched.
const MAX_PENDING_BYTES: usize = 64 * 1024 * 1024;

/// The approximate number of bytes that a document, an image or a link needs in addition to its texts.
const OVERHEAD_BYTES: usize = 256;

/// Requested and known image sizes, and the pages that wait for them.
#[derive(Debug)]
pub(super) struct ImageProbeQueue {
    /// The number of images that may still be fetched.
    budget: usize,
    known_sizes: HashMap<Url, Option<(u32, u32)>>,
    /// The pages that wait for an image. A page is shared by all images that it waits for.
    waiting_pages: HashMap<Url, Vec<Arc<Mutex<PendingPage>>>>,
    pending_bytes: usize,
}

/// A page that is in the index without the sizes of some of its images.
#[derive(Debug)]
struct PendingPage {
    document: IndexDocument,
    bytes: usize,
    is_changed: bool,
}

impl ImageProbeQueue {
    /// Creates an empty queue that requests at most `limit` images.
    pub(super) fn new(limit: usize) -> Self {
        Self { budget: limit, known_sizes: HashMap::new(), waiting_pages: HashMap::new(), pending_bytes: 0 }
    }

    /// Sets the sizes that are already known in a page, and returns the images to fetch for it.
    pub(super) fn add_page(&mut self, document: &mut IndexDocument) -> Vec<Url> {
        let (mut requested, mut unknown) = (Vec::new(), Vec::new());
        let bytes = approximate_bytes(document);
        let has_capacity = self.pending_bytes + bytes <= MAX_PENDING_BYTES;
        for image in document.images.iter_mut().filter(|image| lacks_size(image)).take(MAX_PER_PAGE) {
            let Some(url) = web_url(&image.url) else { continue };
            if let Some(size) = self.known_sizes.get(&url) {
                set_size(image, *size);
            } else if has_capacity && !unknown.contains(&url) {
                if !self.waiting_pages.contains_key(&url) {
                    if self.budget == 0 {
                        continue;
                    }
                    self.budget -= 1;
                    requested.push(url.clone());
                }
                unknown.push(url);
            }
        }
        if !unknown.is_empty() {
            self.pending_bytes += bytes;
            let pending = PendingPage { document: document.clone(), bytes, is_changed: false };
            let pending = Arc::new(Mutex::new(pending));
            for image in unknown {
                self.waiting_pages.entry(image).or_default().push(Arc::clone(&pending));
            }
        }
        requested
    }

    /// Records the size of an image (`None`: unknown). Returns the pages that wait for no further image and have
    /// changed.
    pub(super) fn record_size(&mut self, url: &Url, size: Option<(u32, u32)>) -> Vec<IndexDocument> {
        let waiting = self.waiting_pages.remove(url).unwrap_or_default();
        for page in &waiting {
            let PendingPage { document, bytes: _, is_changed } = &mut *page.lock();
            for image in document.images.iter_mut().filter(|image| lacks_size(image)) {
                if web_url(&image.url).as_ref() == Some(url) {
                    *is_changed |= set_size(image, size);
                }
            }
        }
        self.known_sizes.insert(url.clone(), size);
        self.take_changed(waiting)
    }

    /// Allows one more image, because one was served from the cache.
    pub(super) fn return_budget(&mut self) {
        self.budget += 1;
    }

    /// Gives up all images that are still unknown, and returns the pages that have changed.
    pub(super) fn give_up(&mut self) -> Vec<IndexDocument> {
        let waiting = self.waiting_pages.drain().flat_map(|(_, pages)| pages).collect();
        self.take_changed(waiting)
    }

    /// Returns those pages that wait for no further image and have changed.
    fn take_changed(&mut self, pages: Vec<Arc<Mutex<PendingPage>>>) -> Vec<IndexDocument> {
        let complete: Vec<_> = pages.into_iter().filter_map(Arc::into_inner).map(Mutex::into_inner).collect();
        self.pending_bytes -= complete.iter().map(|page| page.bytes).sum::<usize>();
        complete.into_iter().filter(|page| page.is_changed).map(|page| page.document).collect()
    }
}

fn lacks_size(image: &IndexImage) -> bool {
    image.width.is_none() || image.height.is_none()
}

/// Sets the size of an image. Returns whether the size is known.
fn set_size(image: &mut IndexImage, size: Option<(u32, u32)>) -> bool {
    let Some((width, height)) = size else { return false };
    (image.width, image.height) = (Some(width), Some(height));
    true
}

fn web_url(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok().filter(is_web)?;
    url.set_fragment(None);
    Some(url)
}

fn approximate_bytes(document: &IndexDocument) -> usize {
    let texts = document.body.len() + document.headings.iter().map(String::len).sum::<usize>();
    let images =
        document.images.iter().map(|image| image.alt.len() + image.caption.len() + image.context.len());
    texts + images.sum::<usize>() + OVERHEAD_BYTES * (1 + document.images.len() + document.links.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, images: &[&str]) -> IndexDocument {
        let image = |url: &&str| IndexImage { url: (*url).to_owned(), ..IndexImage::default() };
        IndexDocument {
            url: url.to_owned(),
            images: images.iter().map(image).collect(),
            ..IndexDocument::default()
        }
    }

    fn requested(images: &mut ImageProbeQueue, mut page: IndexDocument) -> Vec<String> {
        images.add_page(&mut page).iter().map(Url::to_string).collect()
    }

    #[test]
    fn shared_image_is_requested_once_and_completes_every_page() {
        let mut images = ImageProbeQueue::new(10);
        assert_eq!(
            requested(&mut images, page("a", &["http://i.test/1", "http://i.test/1"])),
            ["http://i.test/1"]
        );
        assert_eq!(
            requested(&mut images, page("b", &["http://i.test/1", "http://i.test/2"])),
            ["http://i.test/2"]
        );
        let complete = images.record_size(&"http://i.test/1".parse().unwrap(), Some((3, 4)));
        assert_eq!(complete.len(), 1);
        assert!(complete[0].images.iter().all(|image| image.width == Some(3) && image.height == Some(4)));
        let complete = images.record_size(&"http://i.test/2".parse().unwrap(), None);
        let sizes: Vec<Option<u32>> = complete[0].images.iter().map(|image| image.width).collect();
        assert_eq!(sizes, [Some(3), None]);
        let mut last_page = page("c", &["http://i.test/1", "http://i.test/2"]);
        assert!(images.add_page(&mut last_page).is_empty());
        assert_eq!(last_page.images[0].height, Some(4));
        assert_eq!((images.waiting_pages.len(), images.pending_bytes), (0, 0));
    }

    #[test]
    fn images_are_limited_per_page_and_per_crawl() {
        let urls: Vec<String> = (0..30).map(|number| format!("http://i.test/{number}")).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let mut images = ImageProbeQueue::new(12);
        assert_eq!(requested(&mut images, page("a", &urls)).len(), MAX_PER_PAGE);
        assert_eq!(requested(&mut images, page("b", &urls[10..])).len(), 2);
        images.return_budget();
        assert_eq!(requested(&mut images, page("c", &urls[20..])).len(), 1);
        assert!(requested(&mut ImageProbeQueue::new(0), page("a", &urls)).is_empty());
    }

    #[test]
    fn images_with_a_size_or_without_a_web_url_are_not_requested() {
        let mut images = ImageProbeQueue::new(10);
        let mut sized = page("a", &["http://i.test/1"]);
        (sized.images[0].width, sized.images[0].height) = (Some(1), Some(2));
        assert!(images.add_page(&mut sized).is_empty());
        assert!(
            requested(&mut images, page("b", &["data:image/png;base64,x", "file:///a.png", "x"])).is_empty()
        );
        assert!(images.waiting_pages.is_empty());
    }

    #[test]
    fn give_up_returns_pages_with_partial_sizes() {
        let mut images = ImageProbeQueue::new(10);
        requested(&mut images, page("a", &["http://i.test/1", "http://i.test/2"]));
        requested(&mut images, page("b", &["http://i.test/3"]));
        assert!(images.record_size(&"http://i.test/1".parse().unwrap(), Some((3, 4))).is_empty());
        let changed = images.give_up();
        assert_eq!(changed.iter().map(|page| page.url.as_str()).collect::<Vec<_>>(), ["a"]);
    }
}
