//! Fetches the sizes of images during a crawl, when a host has nothing else to do, and without delaying pages.

use std::time::{Duration, Instant};

use url::Url;
use websvc_scrape::{ImageProbe, ScrapeError};
use websvc_types::index::IndexDocument;

use super::{Crawl, TaskPurpose};
use crate::crawl::host::{Capacity, Task};

/// The maximum number of concurrent requests for images and for the robots.txt of their hosts.
const MAX_IMAGE_CONCURRENCY: usize = 8;

/// The timeout of one image.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// The time after the last page during which images are still fetched.
const TAIL: Duration = Duration::from_secs(60);

impl Crawl<'_> {
    /// Returns the kinds of tasks that may start now.
    pub(super) fn capacity(&self) -> Option<Capacity> {
        let images = self.images_running < MAX_IMAGE_CONCURRENCY;
        match (self.running.len() < super::MAX_CONCURRENCY, self.is_full()) {
            (true, false) if images => Some(Capacity::All),
            (true, false) => Some(Capacity::Pages),
            (true, true) if images => Some(Capacity::Images),
            (true, true) | (false, _) => None,
        }
    }

    /// Returns the purpose of a task. Hosts outside the crawl are contacted for images only.
    pub(super) fn purpose_of(&self, origin: &Url, task: &Task) -> TaskPurpose {
        match task {
            Task::Image(_) => TaskPurpose::Images,
            Task::Robots if !self.scope.contains_file(origin) => TaskPurpose::Images,
            Task::Robots | Task::Listing(_) | Task::Page(_) => TaskPurpose::Pages,
        }
    }

    /// Sets the known image sizes in a page, and queues its other images to be fetched.
    pub(super) fn request_image_sizes(&mut self, document: &mut IndexDocument, now: Instant) {
        for image in self.images.add_page(document) {
            if !self.frontier.add_image(image.clone(), now) {
                self.give_up_image(&image);
            }
        }
    }

    /// Records the result of an image request.
    pub(super) fn record_image_size(
        &mut self,
        origin: &Url,
        url: &Url,
        response: Result<ImageProbe, ScrapeError>,
        elapsed: Duration,
        now: Instant,
    ) {
        let is_cached = response.as_ref().is_ok_and(|response| response.from_cache);
        let host = self.frontier.host(origin, now);
        host.finish(now, (!is_cached).then_some(elapsed));
        let dropped = match &response {
            Ok(response) if response.is_overload() => {
                host.back_off(now, response.retry_after);
                host.record_image_failure()
            }
            Ok(response) if response.status.is_server_error() => host.record_image_failure(),
            Ok(_) => {
                host.record_image_success();
                Vec::new()
            }
            Err(_) => host.record_image_failure(),
        };
        if is_cached {
            self.images.return_budget();
        }
        let size = response.ok().and_then(|response| response.size);
        self.report.image_sizes += usize::from(size.is_some() && !is_cached);
        let complete = self.images.record_size(url, size);
        self.requeue(complete);
        dropped.iter().for_each(|image| self.give_up_image(image));
    }

    /// Records that an image is not fetched.
    pub(super) fn give_up_image(&mut self, url: &Url) {
        let complete = self.images.record_size(url, None);
        self.requeue(complete);
    }

    /// Drops the queued images if there have been no pages for [`TAIL`].
    pub(super) fn stop_images_after_tail(&mut self, now: Instant) {
        let has_pages = self.pages_running > 0 || (!self.is_full() && self.frontier.has_pages());
        if has_pages {
            self.images_deadline = None;
        } else if now >= *self.images_deadline.get_or_insert(now + TAIL) {
            self.frontier.clear_images();
        }
    }

    /// Queues pages for the sink again. A page that is still in the batch is replaced.
    pub(super) fn requeue(&mut self, documents: Vec<IndexDocument>) {
        for document in documents {
            match self.batch.iter_mut().find(|queued| queued.url == document.url) {
                Some(queued) => *queued = document,
                None => self.batch.push(document),
            }
        }
    }
}
