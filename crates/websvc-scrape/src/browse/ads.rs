//! Blocking of advertising and hiding of cookie banners on pages in the browser.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use url::Url;
use websvc_blocklist::{Blocker, Blocklist, ResourceKind};
use websvc_browser::{BlockRule, RenderRequest, StyleRule};

/// The time for which loaded lists are used before they are read from their files again.
const RELOAD_INTERVAL: Duration = Duration::from_secs(3600);

/// The blocklists, loaded when a page is first rendered.
#[derive(Debug)]
pub(crate) struct Ads {
    lists: Arc<Blocklist>,
    loaded: Mutex<Option<(Arc<Blocker>, Instant)>>,
}

impl Ads {
    pub(crate) fn new(lists: Arc<Blocklist>) -> Self {
        Self { lists, loaded: Mutex::new(None) }
    }

    /// Adds the rules that block advertising to a request. Returns a warning if the lists cannot be read.
    pub(crate) async fn block_ads(&self, request: &mut RenderRequest) -> Option<String> {
        let blocker = match self.blocker().await {
            Ok(blocker) => blocker,
            Err(reason) => return Some(format!("blockAds: {reason}")),
        };
        request.style = Some(blocker.hide_css(request.url.as_str()));
        if blocker.has_lists() {
            let blocker = Arc::clone(&blocker);
            request.style_rule = Some(StyleRule(Arc::new(move |page: &Url, classes, ids| {
                blocker.generic_hide_css(page.as_str(), classes, ids)
            })));
        }
        request.block = Some(BlockRule(Arc::new(move |url: &str, page: &Url, kind: &str| {
            blocker.blocks(url, page.as_str(), resource_kind(kind))
        })));
        None
    }

    async fn blocker(&self) -> Result<Arc<Blocker>, String> {
        if let Some(blocker) = self.fresh() {
            return Ok(blocker);
        }
        let lists = Arc::clone(&self.lists);
        let loading = tokio::task::spawn_blocking(move || lists.load()).await;
        let blocker = loading.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        *self.lock() = Some((Arc::clone(&blocker), Instant::now()));
        Ok(blocker)
    }

    fn fresh(&self) -> Option<Arc<Blocker>> {
        let mut loaded = self.lock();
        // An old blocker is dropped, so that the newest files are read.
        loaded.take_if(|(_, at)| at.elapsed() > RELOAD_INTERVAL);
        loaded.as_ref().map(|(blocker, _)| Arc::clone(blocker))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Arc<Blocker>, Instant)>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts a resource type of CDP (`Network.ResourceType`) to that of the blocklists. The main document is never checked,
/// so `Document` is always a frame.
fn resource_kind(name: &str) -> ResourceKind {
    match name {
        "Document" => ResourceKind::Frame,
        "Script" => ResourceKind::Script,
        "Stylesheet" => ResourceKind::Stylesheet,
        "Image" => ResourceKind::Image,
        "Font" => ResourceKind::Font,
        "Media" => ResourceKind::Media,
        "XHR" | "Fetch" | "EventSource" => ResourceKind::Fetch,
        "WebSocket" => ResourceKind::WebSocket,
        "Ping" => ResourceKind::Ping,
        _ => ResourceKind::Other,
    }
}
