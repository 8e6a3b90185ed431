//! Blocking of advertising and hiding of cookie banners on pages in the browser.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::blocklist::{Blocker, Blocklist, ResourceKind};
use parking_lot::Mutex;
use url::Url;
use websvc_browser::{BlockRule, RenderRequest, StyleRule};

/// The time for which loaded lists are used before they are read from their files again.
const RELOAD_INTERVAL: Duration = Duration::from_secs(3600);

/// The blocklists, loaded when a page is first rendered.
#[derive(Debug)]
pub(crate) struct Ads {
    lists: Arc<Blocklist>,
    loaded: Mutex<Option<LoadedLists>>,
}

/// The blocker of the lists, and the time at which they were read.
#[derive(Debug)]
struct LoadedLists {
    blocker: Arc<Blocker>,
    loaded_at: Instant,
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
        if let Some(blocker) = self.loaded_blocker() {
            return Ok(blocker);
        }
        let lists = Arc::clone(&self.lists);
        let loading = websvc_transport::spawn_blocking(move || lists.load()).await;
        let blocker = loading.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        *self.loaded.lock() = Some(LoadedLists { blocker: Arc::clone(&blocker), loaded_at: Instant::now() });
        Ok(blocker)
    }

    /// Returns the blocker, unless its lists have to be read again.
    fn loaded_blocker(&self) -> Option<Arc<Blocker>> {
        let mut loaded = self.loaded.lock();
        loaded.take_if(|lists| lists.loaded_at.elapsed() > RELOAD_INTERVAL);
        loaded.as_ref().map(|lists| Arc::clone(&lists.blocker))
    }
}

/// Converts a resource type of CDP (`Network.ResourceType`) to that of the blocklists. The main document is never
/// checked, so `Document` is always a frame.
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
