//! Advertising and questions about cookies: what a page in the browser does not load and does not show.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use url::Url;
use websvc_blocklist::{Blocker, Blocklist, ResourceKind};
use websvc_browser::{BlockRule, RenderRequest, StyleRule};

/// How long loaded lists are used before they are looked for anew.
const FRESH: Duration = Duration::from_secs(3600);

/// The lists, loaded when a page is first drawn.
#[derive(Debug)]
pub(crate) struct Ads {
    lists: Arc<Blocklist>,
    loaded: Mutex<Option<(Arc<Blocker>, Instant)>>,
}

impl Ads {
    pub(crate) fn new(lists: Arc<Blocklist>) -> Self {
        Self { lists, loaded: Mutex::new(None) }
    }

    /// Makes a request leave advertising out. Returns a warning when the lists cannot be read.
    pub(crate) async fn block_ads(&self, request: &mut RenderRequest) -> Option<String> {
        let blocker = match self.blocker().await {
            Ok(blocker) => blocker,
            Err(why) => return Some(format!("blockAds: {why}")),
        };
        request.style = Some(blocker.hide_css(request.url.as_str()));
        if blocker.has_lists() {
            let blocker = Arc::clone(&blocker);
            request.late_style = Some(StyleRule(Arc::new(move |page: &Url, classes, ids| {
                blocker.hide_more_css(page.as_str(), classes, ids)
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
        *self.held() = Some((Arc::clone(&blocker), Instant::now()));
        Ok(blocker)
    }

    fn fresh(&self) -> Option<Arc<Blocker>> {
        let mut held = self.held();
        // Nobody holds what is old, so that the newest files are read.
        held.take_if(|(_, at)| at.elapsed() > FRESH);
        held.as_ref().map(|(blocker, _)| Arc::clone(blocker))
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<(Arc<Blocker>, Instant)>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what the lists call what Chromium calls so. The page itself is not asked about, so that a document is one
/// inside of it.
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
