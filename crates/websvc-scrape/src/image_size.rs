//! The size of an image, read from the first bytes of its file and stored in the page cache.

use std::time::{Duration, Instant};

use http::StatusCode;
use url::Url;
use websvc_extract::image_size;
use websvc_store::{CacheLimits, CachedPage, PageKey, Store};
use websvc_transport::without_credentials;
use websvc_types::index::IndexDocument;
use websvc_types::limits::IMAGE_SIDE_MAX;

use crate::cache;
use crate::error::ScrapeError;
use crate::fetcher::remaining;
use crate::request;
use crate::scraper::Scraper;

/// The variant in the cache key that separates these entries from pages.
const VARIANT: &str = "image size";

/// The lifetime of a stored size, also of an image without one.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3_600);

/// The maximum number of images of one page that are looked up.
const MAX_LOOKUPS: usize = 64;

/// The result of probing an image for its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageProbe {
    /// The status of the response; 200 if the size came from the cache.
    pub status: StatusCode,
    /// The delay that an overloaded host requests by `Retry-After`.
    pub retry_after: Option<Duration>,
    /// Width and height in pixels; `None` if the file does not state them or is not an image.
    pub size: Option<(u32, u32)>,
    /// True if the size came from the cache.
    pub from_cache: bool,
}

impl ImageProbe {
    /// Returns whether the host responded that it is overloaded (429 or 503).
    pub fn is_overload(&self) -> bool {
        matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
    }
}

impl Scraper {
    /// Returns the size of an image: from the cache if it was probed in the last 30 days, else from the first 32 KiB of
    /// the file. The body of a host without support for ranges is cut there.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn image_size(&self, url: &Url, deadline: Instant) -> Result<ImageProbe, ScrapeError> {
        let cache_key = key(url);
        let now_ms = self.now_ms();
        let cached = self.run_store_read(move |store| Ok(load_size(store, &cache_key, now_ms))).await?;
        if let Some(size) = cached {
            return Ok(ImageProbe { status: StatusCode::OK, retry_after: None, size, from_cache: true });
        }
        let page = self.fetch_plain(request::for_image(url, remaining(deadline)?), deadline).await?;
        let mut probe = ImageProbe {
            status: page.status,
            retry_after: page.retry_after(),
            size: None,
            from_cache: false,
        };
        if probe.is_overload() || page.status.is_server_error() {
            return Ok(probe);
        }
        let (cache_key, limits) = (key(url), self.cache_limits());
        probe.size = self
            .run_cpu_task(move |store| {
                let size = page.status.is_success().then(|| image_size(&page.body)).flatten();
                let size = size.filter(|(width, height)| *width.max(height) <= IMAGE_SIDE_MAX);
                store_size(store, &limits, cache_key, size, now_ms);
                Ok(size)
            })
            .await?;
        Ok(probe)
    }
}

/// Fills in the missing sizes of the images of a page from the cache.
pub(crate) fn fill_known_sizes(store: &Store, page: &mut IndexDocument, now_ms: u64) {
    let incomplete = page.images.iter_mut().filter(|image| image.width.is_none() || image.height.is_none());
    for image in incomplete.take(MAX_LOOKUPS) {
        let cached = Url::parse(&image.url).ok().and_then(|url| load_size(store, &key(&url), now_ms));
        if let Some(Some((width, height))) = cached {
            (image.width, image.height) = (Some(width), Some(height));
        }
    }
}

/// Returns the stored size of an image, or `Some(None)` for an image without one; `None` on a miss or an unreadable
/// entry.
fn load_size(store: &Store, key: &PageKey, now_ms: u64) -> Option<Option<(u32, u32)>> {
    let entry = store.page(key).ok().flatten()?;
    if now_ms.saturating_sub(entry.fetched_at_ms) > MAX_AGE.as_millis() as u64 {
        return None;
    }
    let text = std::str::from_utf8(&entry.body).ok()?;
    if text.is_empty() {
        return Some(None);
    }
    let (width, height) = text.split_once('x')?;
    Some(Some((width.parse().ok()?, height.parse().ok()?)))
}

/// Stores the size of an image. A failure only costs another request later.
fn store_size(store: &Store, limits: &CacheLimits, key: PageKey, size: Option<(u32, u32)>, now_ms: u64) {
    let text = size.map_or_else(String::new, |(width, height)| format!("{width}x{height}"));
    let entry = CachedPage {
        final_url: key.url().to_owned(),
        key,
        status: StatusCode::OK.as_u16(),
        headers: Vec::new(),
        body: text.into(),
        fetched_at_ms: now_ms,
        truncated: false,
    };
    if let Err(error) = store.put_page(&entry, limits) {
        tracing::debug!(error = &error as &dyn std::error::Error, "image size could not be cached");
    }
}

fn key(url: &Url) -> PageKey {
    PageKey::new(cache::without_fragment(&without_credentials(url)), VARIANT)
}
