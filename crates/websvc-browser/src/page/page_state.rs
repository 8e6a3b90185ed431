//! The state of a page as its events report it: navigations, requests in flight, downloads, and its end.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::charset::DetectedCharset;
use super::command::Command;
use crate::document_url::DocumentUrl;
use crate::rendered_page::{Download, DownloadCause};
use crate::watchdog::MemoryLimitExceeded;

/// The maximum number of requests in flight that are tracked. Hostile pages send more.
const MAX_IN_FLIGHT: usize = 1000;

/// The maximum number of visited origins that are recorded. Hostile pages visit more.
const MAX_VISITED: usize = 100;

/// The maximum number of downloads that are reported. Hostile pages start more.
const MAX_DOWNLOADS: usize = 20;

/// Resource types of requests that may never end or do not change the document.
const UNTRACKED_TYPES: &[&str] =
    &["WebSocket", "EventSource", "Ping", "Media", "CSPViolationReport", "Preflight"];

/// The event of a target whose process ended unexpectedly.
pub(super) const CRASHED_EVENT: &str = "Inspector.targetCrashed";
/// The events that end a page.
pub(super) const END_EVENTS: &[&str] = &[CRASHED_EVENT, "Inspector.detached"];

/// The state of a page, as its events report it.
pub(super) struct PageState {
    /// The ID of the main frame, which is also that of the page's target.
    frame: String,
    /// The requests in flight: their IDs, and the sessions that reported them.
    pub(super) in_flight: HashMap<String, String>,
    /// The time when the last request began or ended.
    pub(super) last_traffic: Instant,
    pub(super) document: Option<Document>,
    /// True if a response for the page was received, including redirects.
    pub(super) has_response: bool,
    /// The previous document, until the current one has replaced it.
    pub(super) previous_document: Option<Document>,
    /// The URL of the last request for a document.
    pub(super) document_url: Option<String>,
    /// The URL of the last request for a document, if its method was not `GET`.
    pub(super) posted_url: Option<String>,
    pub(super) is_parsed: bool,
    pub(super) is_loaded: bool,
    /// True between the start of a navigation and the new document.
    pub(super) is_navigating: bool,
    /// True if the page has workers, sockets or WebAssembly, whose work shows neither as timers nor as requests.
    pub(super) has_background_work: bool,
    /// True if virtual time has used up its budget.
    pub(super) is_clock_paused: bool,
    pub(super) is_crashed: bool,
    /// The memory limit for which a process of the page was killed.
    pub(super) excess: Option<MemoryLimitExceeded>,
    /// The execution context of the isolated world of our scripts, in the current document.
    pub(super) world: Option<i64>,
    /// The scheme of the current URL, if pages must not have it.
    pub(super) forbidden_scheme: Option<String>,
    /// True if a tab of the session has requested a document of the server, or has shown one. All pages of the session, and
    /// the channels of its clients, share it: from then on, no message is delivered to them.
    pub(super) has_forbidden_tab: Arc<AtomicBool>,
    /// The navigations that wait for the navigation rule.
    pub(super) pending_navigations: VecDeque<PendingNavigation>,
    /// The charset that the document of the page has and does not declare, once it was detected.
    pub(super) charset: Option<DetectedCharset>,
    /// The reason why the navigation rule refused a navigation.
    pub(super) refusal: Option<String>,
    /// The origins of the documents that were shown, including those in frames.
    pub(super) visited: BTreeSet<String>,
    /// True if there were more child targets than are run.
    pub(super) has_skipped_targets: bool,
    pub(super) is_running_actions: bool,
    pub(super) downloads: Vec<Download>,
    /// The number of clients that control the session, which all its pages share. They handle the dialogs themselves.
    pub(super) clients: Arc<AtomicUsize>,
}

/// A navigation that waits for the navigation rule.
pub(super) struct PendingNavigation {
    pub(super) url: Url,
    /// The session that reported it.
    pub(super) session: String,
    /// The ID of the paused request.
    pub(super) request_id: Value,
    /// The command that lets the request continue.
    pub(super) resume: Command,
}

/// The response of the current document.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// True if it came over HTTPS and its certificate was not verified.
    pub(super) is_unverified: bool,
}

impl PageState {
    pub(super) fn new(frame: &str) -> Self {
        Self {
            frame: frame.to_owned(),
            in_flight: HashMap::new(),
            last_traffic: Instant::now(),
            document: None,
            has_response: false,
            previous_document: None,
            document_url: None,
            posted_url: None,
            is_parsed: false,
            is_loaded: false,
            is_navigating: false,
            has_background_work: false,
            is_clock_paused: false,
            is_crashed: false,
            excess: None,
            world: None,
            forbidden_scheme: None,
            has_forbidden_tab: Arc::default(),
            pending_navigations: VecDeque::new(),
            charset: None,
            refusal: None,
            visited: BTreeSet::new(),
            has_skipped_targets: false,
            is_running_actions: false,
            downloads: Vec::new(),
            clients: Arc::default(),
        }
    }

    /// Returns the ID of the main frame.
    pub(super) fn frame(&self) -> &str {
        &self.frame
    }

    /// Handles an event of the `Network` domain.
    pub(super) fn on_network_event(&mut self, session: &str, method: &str, params: &Value) {
        let id = params["requestId"].as_str().unwrap_or_default();
        match method {
            "Network.requestWillBeSent" => {
                let resource_type = params["type"].as_str().unwrap_or_default();
                if resource_type == "Document" && params["frameId"] == self.frame.as_str() {
                    self.document_url = params["request"]["url"].as_str().map(str::to_owned);
                    self.has_response |= !params["redirectResponse"].is_null();
                    let is_posted = params["request"]["method"] != "GET";
                    self.posted_url = self.document_url.clone().filter(|_| is_posted);
                }
                self.has_background_work |= resource_type == "EventSource";
                if !UNTRACKED_TYPES.contains(&resource_type) && self.in_flight.len() < MAX_IN_FLIGHT {
                    self.in_flight.insert(id.to_owned(), session.to_owned());
                    self.last_traffic = Instant::now();
                }
            }
            "Network.responseReceived"
                if params["type"] == "Document" && params["frameId"] == self.frame.as_str() =>
            {
                self.previous_document = self.document.replace(Document::from_response(&params["response"]));
                self.has_response = true;
            }
            "Network.responseReceived" if params["response"]["mimeType"] == "application/wasm" => {
                self.has_background_work = true;
            }
            "Network.webSocketCreated" => self.has_background_work = true,
            // The session of a child frame may report the end of a request that the session of the page reported.
            "Network.loadingFinished" | "Network.loadingFailed" if self.in_flight.remove(id).is_some() => {
                self.last_traffic = Instant::now();
            }
            _ => {}
        }
    }

    /// Handles any other event.
    pub(super) fn on_page_event(&mut self, method: &str, params: &Value) {
        match method {
            "Page.domContentEventFired" => self.is_parsed = true,
            "Page.loadEventFired" => self.is_loaded = true,
            "Page.frameStartedNavigating" if params["frameId"] == self.frame.as_str() => {
                let is_same_document =
                    matches!(params["navigationType"].as_str(), Some("sameDocument" | "historySameDocument"));
                self.is_navigating = !is_same_document;
                self.record_tab_url(params["url"].as_str().unwrap_or_default());
            }
            "Page.frameStoppedLoading" if params["frameId"] == self.frame.as_str() => {
                self.is_navigating = false;
                // The only event for a document that is replaced by a download.
                let has_document = self.document.is_some();
                self.is_parsed |= has_document;
                self.is_loaded |= has_document;
            }
            "Page.frameNavigated" => {
                self.record_visit(params);
                if !params["frame"]["parentId"].is_null() {
                    return;
                }
                self.is_navigating = false;
                self.previous_document = None;
                self.is_parsed = false;
                self.is_loaded = false;
                self.world = None;
                self.has_background_work = false;
                self.forbidden_scheme = forbidden_scheme(params["frame"]["url"].as_str().unwrap_or_default());
            }
            "Page.downloadWillBegin" => self.record_download(params),
            "Emulation.virtualTimeBudgetExpired" => self.is_clock_paused = true,
            method if END_EVENTS.contains(&method) => self.is_crashed = true,
            _ => {}
        }
    }

    /// Records the origin of a document that was shown, by `Page.frameNavigated`.
    pub(super) fn record_visit(&mut self, params: &Value) {
        let origin = params["frame"]["url"].as_str().and_then(storage_origin);
        if self.visited.len() < MAX_VISITED {
            self.visited.extend(origin);
        }
    }

    /// Records the URL of a document that a tab of the session requests or shows.
    pub(super) fn record_tab_url(&mut self, url: &str) {
        if DocumentUrl::from_url(url) == DocumentUrl::Server {
            self.has_forbidden_tab.store(true, Ordering::Release);
        }
    }

    /// Records a download, which the browser refuses.
    fn record_download(&mut self, params: &Value) {
        let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        let url = text("url");
        // The response to a form needs its fields, and data from a script has no URL on the web.
        let is_web = url.starts_with("http:") || url.starts_with("https:");
        let is_refetchable = is_web && self.posted_url.as_deref() != Some(url.as_str());
        let is_main = params["frameId"] == self.frame();
        if is_main && let Some(previous) = self.previous_document.take() {
            // The response was not a document, so the page keeps the previous one.
            self.document = Some(previous);
        }
        let is_action = self.is_running_actions && is_main && is_refetchable;
        let cause = if is_action { DownloadCause::Action } else { DownloadCause::Page };
        if self.downloads.len() < MAX_DOWNLOADS {
            self.downloads.push(Download {
                url,
                name: text("suggestedFilename"),
                cause,
                cookies: Vec::new(),
            });
        }
    }
}

/// Returns the scheme of a URL that a page must not show.
fn forbidden_scheme(url: &str) -> Option<String> {
    match DocumentUrl::from_url(url) {
        DocumentUrl::Unknown | DocumentUrl::Web | DocumentUrl::Error => None,
        DocumentUrl::Server | DocumentUrl::Other => Some(Url::parse(url).ok()?.scheme().to_owned()),
    }
}

impl Document {
    fn from_response(response: &Value) -> Self {
        let mut headers = HeaderMap::new();
        for (name, value) in response["headers"].as_object().into_iter().flatten() {
            let Ok(name) = HeaderName::from_str(name) else { continue };
            // CDP joins headers of the same name with line breaks.
            for line in value.as_str().unwrap_or_default().split('\n') {
                if let Ok(value) = HeaderValue::from_str(line) {
                    headers.append(name.clone(), value);
                }
            }
        }
        let is_secure = response["securityState"] == "secure";
        let is_https = response["url"].as_str().is_some_and(|url| url.starts_with("https:"));
        Self {
            status: response["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(0),
            headers,
            is_unverified: is_https && !is_secure,
        }
    }
}

/// Returns the origin of a document, if documents of its scheme have storage.
fn storage_origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_is_forbidden_for_urls_of_the_server_only() {
        let is_forbidden = |url: &str| {
            let mut state = PageState::new("F");
            state.record_tab_url(url);
            state.record_tab_url("https://a.test/");
            state.has_forbidden_tab.load(Ordering::Acquire)
        };
        for url in ["file:///etc/passwd", "chrome://version/", "view-source:http://a.test/", "devtools://x/"]
        {
            assert!(is_forbidden(url), "{url}");
        }
        for url in ["", "about:blank", "http://a.test/", "mailto:a@b.test", "chrome-error://chromewebdata/"] {
            assert!(!is_forbidden(url), "{url}");
        }
    }

    #[test]
    fn forbidden_scheme_only_for_urls_outside_the_web() {
        for allowed in
            ["https://a.test/", "about:blank", "blob:https://a.test/1", "chrome-error://chromewebdata/"]
        {
            assert_eq!(forbidden_scheme(allowed), None, "{allowed}");
        }
        for (url, scheme) in
            [("file:///etc/passwd", "file"), ("chrome://version/", "chrome"), ("ftp://a/", "ftp")]
        {
            assert_eq!(forbidden_scheme(url).as_deref(), Some(scheme));
        }
    }
}
