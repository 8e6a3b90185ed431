//! The images of a crawl whose pages do not say how large they are, and the pages that are completed by their sizes.
//!
//! A page does not wait: it goes to the index at once, and once more when the sizes of its images are known.

use std::collections::HashMap;

use url::Url;
use websvc_types::index::{IndexDocument, IndexImage};

/// Of one page, the sizes of so many images are asked for.
const MAX_PER_PAGE: usize = 10;

/// The pages that wait for sizes occupy at most about so many bytes; the images of others are not asked for.
const MAX_HELD_BYTES: usize = 64 * 1024 * 1024;

/// About what a document, an image and a link occupy beside their texts.
const OVERHEAD_BYTES: usize = 256;

/// What is asked for, what is known, and who waits for it.
#[derive(Debug)]
pub(super) struct ImageProbeQueue {
    /// How many may still be asked for.
    left: usize,
    known: HashMap<Url, Option<(u32, u32)>>,
    /// The numbers of the pages that wait for an image.
    waiting: HashMap<Url, Vec<usize>>,
    held: HashMap<usize, PendingPage>,
    held_bytes: usize,
    next_number: usize,
}

/// A page that is in the index without the sizes of some images.
#[derive(Debug)]
struct PendingPage {
    document: IndexDocument,
    bytes: usize,
    /// How many of its images are asked for.
    open: usize,
    is_changed: bool,
}

impl ImageProbeQueue {
    /// Begins with nothing known; at most `limit` images are asked for.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            left: limit,
            known: HashMap::new(),
            waiting: HashMap::new(),
            held: HashMap::new(),
            held_bytes: 0,
            next_number: 0,
        }
    }

    /// Completes a page by what is known, and returns the images that are to be asked for now.
    pub(super) fn add_page(&mut self, document: &mut IndexDocument) -> Vec<Url> {
        let (mut asked, mut open) = (Vec::new(), Vec::new());
        let bytes = size_of(document);
        let has_room = self.held_bytes + bytes <= MAX_HELD_BYTES;
        for image in document.images.iter_mut().filter(|image| lacks_size(image)).take(MAX_PER_PAGE) {
            let Some(url) = web_url(&image.url) else { continue };
            if let Some(known) = self.known.get(&url) {
                set(image, *known);
            } else if has_room && !open.contains(&url) {
                if !self.waiting.contains_key(&url) {
                    if self.left == 0 {
                        continue;
                    }
                    self.left -= 1;
                    asked.push(url.clone());
                }
                open.push(url);
            }
        }
        if !open.is_empty() {
            self.hold(document.clone(), bytes, open);
        }
        asked
    }

    fn hold(&mut self, document: IndexDocument, bytes: usize, images: Vec<Url>) {
        let number = self.next_number;
        self.next_number += 1;
        self.held_bytes += bytes;
        self.held.insert(number, PendingPage { document, bytes, open: images.len(), is_changed: false });
        for image in images {
            self.waiting.entry(image).or_default().push(number);
        }
    }

    /// Notes the size of an image, and returns the pages that are complete by it and not as they were.
    pub(super) fn answer(&mut self, url: &Url, size: Option<(u32, u32)>) -> Vec<IndexDocument> {
        let mut complete = Vec::new();
        for number in self.waiting.remove(url).unwrap_or_default() {
            let Some(held) = self.held.get_mut(&number) else { continue };
            held.open -= 1;
            for image in held.document.images.iter_mut().filter(|image| lacks_size(image)) {
                if web_url(&image.url).as_ref() == Some(url) {
                    held.is_changed |= set(image, size);
                }
            }
            if held.open == 0
                && let Some(held) = self.held.remove(&number)
            {
                self.held_bytes -= held.bytes;
                complete.extend(held.is_changed.then_some(held.document));
            }
        }
        self.known.insert(url.clone(), size);
        complete
    }

    /// Lets one more image be asked for: one was known to the cache.
    pub(super) fn return_budget(&mut self) {
        self.left += 1;
    }

    /// Gives up what is still open, and returns the pages that are not as they were.
    pub(super) fn give_up(&mut self) -> Vec<IndexDocument> {
        self.waiting.clear();
        self.held_bytes = 0;
        let mut held: Vec<(usize, PendingPage)> = self.held.drain().collect();
        held.sort_unstable_by_key(|(number, _)| *number);
        held.into_iter().filter(|(_, held)| held.is_changed).map(|(_, held)| held.document).collect()
    }
}

fn lacks_size(image: &IndexImage) -> bool {
    image.width.is_none() || image.height.is_none()
}

/// Gives an image a size. Returns whether there is one.
fn set(image: &mut IndexImage, size: Option<(u32, u32)>) -> bool {
    let Some((width, height)) = size else { return false };
    (image.width, image.height) = (Some(width), Some(height));
    true
}

fn web_url(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.set_fragment(None);
    Some(url)
}

fn size_of(document: &IndexDocument) -> usize {
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

    fn asked(images: &mut ImageProbeQueue, mut page: IndexDocument) -> Vec<String> {
        images.add_page(&mut page).iter().map(Url::to_string).collect()
    }

    #[test]
    fn an_image_is_asked_for_once_and_completes_every_page() {
        let mut images = ImageProbeQueue::new(10);
        assert_eq!(
            asked(&mut images, page("a", &["http://i.test/1", "http://i.test/1"])),
            ["http://i.test/1"]
        );
        assert_eq!(
            asked(&mut images, page("b", &["http://i.test/1", "http://i.test/2"])),
            ["http://i.test/2"]
        );
        let complete = images.answer(&"http://i.test/1".parse().unwrap(), Some((3, 4)));
        assert_eq!(complete.len(), 1);
        assert!(complete[0].images.iter().all(|image| image.width == Some(3) && image.height == Some(4)));
        let complete = images.answer(&"http://i.test/2".parse().unwrap(), None);
        let sizes: Vec<Option<u32>> = complete[0].images.iter().map(|image| image.width).collect();
        assert_eq!(sizes, [Some(3), None]);
        let mut later = page("c", &["http://i.test/1", "http://i.test/2"]);
        assert!(images.add_page(&mut later).is_empty());
        assert_eq!(later.images[0].height, Some(4));
        assert_eq!((images.held.len(), images.held_bytes), (0, 0));
    }

    #[test]
    fn bounds_hold_per_page_and_per_crawl() {
        let many: Vec<String> = (0..30).map(|number| format!("http://i.test/{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let mut images = ImageProbeQueue::new(12);
        assert_eq!(asked(&mut images, page("a", &many)).len(), MAX_PER_PAGE);
        assert_eq!(asked(&mut images, page("b", &many[10..])).len(), 2);
        images.return_budget();
        assert_eq!(asked(&mut images, page("c", &many[20..])).len(), 1);
        assert!(asked(&mut ImageProbeQueue::new(0), page("a", &many)).is_empty());
    }

    #[test]
    fn what_has_a_size_or_is_not_on_the_web_is_not_asked_for() {
        let mut images = ImageProbeQueue::new(10);
        let mut sized = page("a", &["http://i.test/1"]);
        (sized.images[0].width, sized.images[0].height) = (Some(1), Some(2));
        assert!(images.add_page(&mut sized).is_empty());
        assert!(asked(&mut images, page("b", &["data:image/png;base64,x", "file:///a.png", "x"])).is_empty());
        assert!(images.held.is_empty());
    }

    #[test]
    fn what_was_learned_of_an_unfinished_page_is_not_lost() {
        let mut images = ImageProbeQueue::new(10);
        asked(&mut images, page("a", &["http://i.test/1", "http://i.test/2"]));
        asked(&mut images, page("b", &["http://i.test/3"]));
        assert!(images.answer(&"http://i.test/1".parse().unwrap(), Some((3, 4))).is_empty());
        let changed = images.give_up();
        assert_eq!(changed.iter().map(|page| page.url.as_str()).collect::<Vec<_>>(), ["a"]);
    }
}
