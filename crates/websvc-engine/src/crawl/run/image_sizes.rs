//! Sizes of images while the crawl goes on: asked for when nothing else is to be done at their hosts, and never waited for.

use std::time::{Duration, Instant};

use url::Url;
use websvc_scrape::{ImageProbe, ScrapeError};
use websvc_types::index::IndexDocument;

use super::{Crawl, TaskPurpose};
use crate::crawl::host::{Capacity, Task};

/// Of all requests at one time, so many may be for images and the rules of their hosts.
const AT_ONCE: usize = 8;

/// How long one image may take.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// When there are no more pages, sizes are asked for no longer than this.
const TAIL: Duration = Duration::from_secs(60);

impl Crawl<'_> {
    /// Returns what there is room for now.
    pub(super) fn room(&self) -> Option<Capacity> {
        let images = self.images_running < AT_ONCE;
        match (self.running.len() < super::AT_ONCE, self.full()) {
            (true, false) if images => Some(Capacity::All),
            (true, false) => Some(Capacity::Pages),
            (true, true) if images => Some(Capacity::Images),
            (true, true) | (false, _) => None,
        }
    }

    /// Returns for the sake of what a task is done: hosts out of the crawl are asked for images only.
    pub(super) fn work_of(&self, origin: &Url, task: &Task) -> TaskPurpose {
        match task {
            Task::Image(_) => TaskPurpose::Images,
            Task::Robots if !self.scope.takes_file(origin) => TaskPurpose::Images,
            Task::Robots | Task::Listing(_) | Task::Page(_) => TaskPurpose::Pages,
        }
    }

    /// Queues the images of a page that are to be asked for, and completes it by those that are known.
    pub(super) fn measure(&mut self, document: &mut IndexDocument, now: Instant) {
        for image in self.images.add_page(document) {
            if !self.frontier.add_image(image.clone(), now) {
                self.give_up_image(&image);
            }
        }
    }

    /// Takes in what was learned of an image.
    pub(super) fn record_image_size(
        &mut self,
        origin: &Url,
        url: &Url,
        answer: Result<ImageProbe, ScrapeError>,
        elapsed: Duration,
        now: Instant,
    ) {
        let is_cached = answer.as_ref().is_ok_and(|answer| answer.from_cache);
        let host = self.frontier.host(origin, now);
        host.finish(now, (!is_cached).then_some(elapsed));
        let given_up = match &answer {
            Ok(answer) if answer.is_overload() => {
                host.back_off(now, answer.retry_after);
                host.image_failed()
            }
            Ok(answer) if answer.status.is_server_error() => host.image_failed(),
            Ok(_) => {
                host.image_had();
                Vec::new()
            }
            Err(_) => host.image_failed(),
        };
        if is_cached {
            self.images.return_budget();
        }
        let size = answer.ok().and_then(|answer| answer.size);
        self.report.image_sizes += usize::from(size.is_some() && !is_cached);
        let complete = self.images.answer(url, size);
        self.queue_again(complete);
        given_up.iter().for_each(|image| self.give_up_image(image));
    }

    /// Notes that an image is not asked for after all.
    pub(super) fn give_up_image(&mut self, url: &Url) {
        let complete = self.images.answer(url, None);
        self.queue_again(complete);
    }

    /// Ends the asking when there have been no pages for a while.
    pub(super) fn end_images_in_time(&mut self, now: Instant) {
        let has_pages = self.pages_running > 0 || (!self.full() && self.frontier.has_pages());
        if has_pages {
            self.images_until = None;
        } else if now >= *self.images_until.get_or_insert(now + TAIL) {
            self.frontier.forget_images();
        }
    }

    /// Hands pages over once more; those that still wait to be handed over are replaced.
    pub(super) fn queue_again(&mut self, documents: Vec<IndexDocument>) {
        for document in documents {
            match self.batch.iter_mut().find(|waiting| waiting.url == document.url) {
                Some(waiting) => *waiting = document,
                None => self.batch.push(document),
            }
        }
    }
}
