//! What a page's events say: what is loading, what was answered, what ended.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;
use url::Url;

use super::intercept::Interception;
use crate::connection::{Cdp, Notice};

/// Requests that are followed; a hostile page makes more.
const MAX_IN_FLIGHT: usize = 1000;

/// Kinds of requests that may never end, or that change nothing.
const ENDLESS: &[&str] = &["WebSocket", "EventSource", "Ping", "Media", "CSPViolationReport", "Preflight"];

/// What is known of a page. Cheap to clone.
#[derive(Clone)]
pub(super) struct Watch {
    state: Arc<Mutex<State>>,
    changes: watch::Sender<u64>,
}

pub(super) struct State {
    /// The main frame, which has the name of its target.
    frame: String,
    pub(super) in_flight: HashSet<String>,
    pub(super) last_traffic: Instant,
    pub(super) document: Option<Document>,
    /// Where the last document was asked for.
    pub(super) document_url: Option<String>,
    pub(super) is_parsed: bool,
    pub(super) is_loaded: bool,
    /// A new document was asked for and has not come yet.
    pub(super) is_navigating: bool,
    pub(super) is_crashed: bool,
    /// The world of our own scripts in the current document.
    pub(super) world: Option<i64>,
    /// The page went where no page may go.
    pub(super) forbidden_scheme: Option<String>,
    pub(super) dialogs: u32,
    pub(super) blocked: u64,
}

/// The answer that the current document came with.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) is_unverified: bool,
}

impl Watch {
    pub(super) fn new(frame: &str) -> Self {
        let state = State {
            frame: frame.to_owned(),
            in_flight: HashSet::new(),
            last_traffic: Instant::now(),
            document: None,
            document_url: None,
            is_parsed: false,
            is_loaded: false,
            is_navigating: false,
            is_crashed: false,
            world: None,
            forbidden_scheme: None,
            dialogs: 0,
            blocked: 0,
        };
        Self { state: Arc::new(Mutex::new(state)), changes: watch::Sender::new(0) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is true, as the events tell it.
    pub(super) async fn until(&self, is_true: impl Fn(&State) -> bool) {
        let mut changes = self.changes.subscribe();
        while !is_true(&self.lock()) {
            // The sender lives in this very value.
            let _ = changes.changed().await;
        }
    }

    /// Listens to a session, answering what must be answered at once.
    pub(super) fn follow(&self, cdp: &Cdp, session: &str, interception: Interception) {
        let watch = self.clone();
        let (answers, name) = (cdp.clone(), session.to_owned());
        cdp.listen(session, move |notice| {
            match notice {
                Notice::Lost => watch.lock().is_crashed = true,
                Notice::Event { method, params } => match method.as_str() {
                    "Page.javascriptDialogOpening" => {
                        watch.lock().dialogs += 1;
                        // A page that asks whether it may be left may be left; all other questions are denied.
                        let accept = matches!(params["type"].as_str(), Some("alert" | "beforeunload"));
                        answers.post(&name, "Page.handleJavaScriptDialog", json!({"accept": accept}));
                    }
                    "Fetch.requestPaused" => {
                        let (method, answer) = interception.decide(&params);
                        if method == "Fetch.failRequest" {
                            watch.lock().blocked += 1;
                        }
                        answers.post(&name, method, answer);
                    }
                    _ => watch.lock().apply(&method, &params),
                },
            }
            watch.changes.send_modify(|count| *count += 1);
        });
    }
}

impl State {
    fn apply(&mut self, method: &str, params: &Value) {
        let id = params["requestId"].as_str().unwrap_or_default();
        match method {
            "Network.requestWillBeSent" => {
                let kind = params["type"].as_str().unwrap_or_default();
                if kind == "Document" && params["frameId"] == self.frame.as_str() {
                    self.document_url = params["request"]["url"].as_str().map(str::to_owned);
                }
                if !ENDLESS.contains(&kind) && self.in_flight.len() < MAX_IN_FLIGHT {
                    self.in_flight.insert(id.to_owned());
                    self.last_traffic = Instant::now();
                }
            }
            "Network.responseReceived"
                if params["type"] == "Document" && params["frameId"] == self.frame.as_str() =>
            {
                self.document = Some(Document::read(&params["response"]));
            }
            "Network.loadingFinished" | "Network.loadingFailed" if self.in_flight.remove(id) => {
                self.last_traffic = Instant::now();
            }
            "Page.domContentEventFired" => self.is_parsed = true,
            "Page.loadEventFired" => self.is_loaded = true,
            "Page.frameStartedNavigating" if params["frameId"] == self.frame.as_str() => {
                let stays =
                    matches!(params["navigationType"].as_str(), Some("sameDocument" | "historySameDocument"));
                self.is_navigating = !stays;
            }
            "Page.frameStoppedLoading" if params["frameId"] == self.frame.as_str() => {
                self.is_navigating = false;
            }
            "Page.frameNavigated" if params["frame"]["parentId"].is_null() => {
                self.is_navigating = false;
                self.is_parsed = false;
                self.is_loaded = false;
                self.world = None;
                self.forbidden_scheme = forbidden_scheme(params["frame"]["url"].as_str().unwrap_or_default());
            }
            "Inspector.targetCrashed" | "Inspector.detached" => self.is_crashed = true,
            _ => {}
        }
    }
}

/// Returns the scheme of an address that a page may not show. What has no address of its own came from a page.
fn forbidden_scheme(url: &str) -> Option<String> {
    let scheme = Url::parse(url).ok()?.scheme().to_owned();
    let is_fine = matches!(scheme.as_str(), "http" | "https" | "about" | "blob" | "data" | "chrome-error");
    (!is_fine).then_some(scheme)
}

impl Document {
    fn read(response: &Value) -> Self {
        let mut headers = HeaderMap::new();
        for (name, value) in response["headers"].as_object().into_iter().flatten() {
            let Ok(name) = HeaderName::from_str(name) else { continue };
            // Several headers of one name are lines of one text.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_only_show_what_came_from_the_web() {
        for fine in
            ["https://a.test/", "about:blank", "blob:https://a.test/1", "chrome-error://chromewebdata/"]
        {
            assert_eq!(forbidden_scheme(fine), None, "{fine}");
        }
        for (url, scheme) in
            [("file:///etc/passwd", "file"), ("chrome://version/", "chrome"), ("ftp://a/", "ftp")]
        {
            assert_eq!(forbidden_scheme(url).as_deref(), Some(scheme));
        }
    }
}
