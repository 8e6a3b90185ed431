//! The size of an image: from the first bytes of its file, and remembered in the page cache.

use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::RETRY_AFTER;
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

/// What tells these entries of the cache from pages.
const VARIANT: &str = "image size";

/// How long a size, or that there is none, is believed.
const BELIEVED: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Of one page, so many images are looked up.
const MAX_LOOKUPS: usize = 64;

/// What was learned of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageProbe {
    /// The status of the answer; 200 when it is remembered.
    pub status: StatusCode,
    /// How long an overloaded host asks to be left alone.
    pub retry_after: Option<Duration>,
    /// Width and height in pixels; `None` when the file does not tell, or is no image.
    pub size: Option<(u32, u32)>,
    /// Nobody was asked.
    pub from_cache: bool,
}

impl ImageProbe {
    /// Returns whether the host said that it has too much to do.
    pub fn is_overload(&self) -> bool {
        matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
    }
}

impl Scraper {
    /// Learns the size of an image: it was asked for in the last 30 days, else the first 32 KiB of the file are fetched.
    /// A host that does not know ranges is not listened to any further.
    ///
    /// # Errors
    /// [`ScrapeError`]
    pub async fn image_size(&self, url: &Url, deadline: Instant) -> Result<ImageProbe, ScrapeError> {
        let asked = key(url);
        let now_ms = self.clock().now_ms();
        let known = self.run_store_read(move |store| Ok(remembered(store, &asked, now_ms))).await?;
        if let Some(size) = known {
            return Ok(ImageProbe { status: StatusCode::OK, retry_after: None, size, from_cache: true });
        }
        let page = self.fetch_plain(request::for_image(url, remaining(deadline)?), deadline).await?;
        let retry_after =
            page.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let mut answer = ImageProbe {
            status: page.status,
            retry_after: retry_after.map(Duration::from_secs),
            size: None,
            from_cache: false,
        };
        if answer.is_overload() || page.status.is_server_error() {
            return Ok(answer);
        }
        let (asked, limits) = (key(url), self.cache_limits());
        answer.size = self
            .run_cpu_task(move |store| {
                let size = page.status.is_success().then(|| image_size(&page.body)).flatten();
                let size = size.filter(|(width, height)| *width.max(height) <= IMAGE_SIDE_MAX);
                remember(store, &limits, asked, size, now_ms);
                Ok(size)
            })
            .await?;
        Ok(answer)
    }
}

/// Completes the images of a page by what is remembered of their files.
pub(crate) fn fill_known_sizes(store: &Store, page: &mut IndexDocument, now_ms: u64) {
    let incomplete = page.images.iter_mut().filter(|image| image.width.is_none() || image.height.is_none());
    for image in incomplete.take(MAX_LOOKUPS) {
        let known = Url::parse(&image.url).ok().and_then(|url| remembered(store, &key(&url), now_ms));
        if let Some(Some((width, height))) = known {
            (image.width, image.height) = (Some(width), Some(height));
        }
    }
}

/// Returns what is remembered of an image: its size, or that it has none. What cannot be read is not remembered.
fn remembered(store: &Store, key: &PageKey, now_ms: u64) -> Option<Option<(u32, u32)>> {
    let entry = store.page(key).ok().flatten()?;
    if now_ms.saturating_sub(entry.fetched_at_ms) > BELIEVED.as_millis() as u64 {
        return None;
    }
    let text = std::str::from_utf8(&entry.body).ok()?;
    if text.is_empty() {
        return Some(None);
    }
    let (width, height) = text.split_once('x')?;
    Some(Some((width.parse().ok()?, height.parse().ok()?)))
}

/// That a size cannot be kept costs a request later, and nothing now.
fn remember(store: &Store, limits: &CacheLimits, key: PageKey, size: Option<(u32, u32)>, now_ms: u64) {
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
        tracing::debug!(error = &error as &dyn std::error::Error, "the size of an image could not be kept");
    }
}

fn key(url: &Url) -> PageKey {
    PageKey::new(cache::without_fragment(&without_credentials(url)), VARIANT)
}
