//! What is known of a page from its events: what is loading, what was answered, what ended.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::str::FromStr;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::command::Command;
use crate::rendered_page::{Download, DownloadCause};
use crate::watchdog::Excess;

/// Requests that are followed; a hostile page makes more.
const MAX_IN_FLIGHT: usize = 1000;

/// Origins that are remembered; a hostile page goes to more.
const MAX_VISITED: usize = 100;

/// Kinds of requests that may never end, or that change nothing.
const ENDLESS: &[&str] = &["WebSocket", "EventSource", "Ping", "Media", "CSPViolationReport", "Preflight"];

/// The event of a target whose process was ended.
pub(super) const CRASHED: &str = "Inspector.targetCrashed";
/// What is told of a page when it ends.
pub(super) const ENDS: &[&str] = &[CRASHED, "Inspector.detached"];

/// Downloads that are told of; a hostile page starts more.
const MAX_DOWNLOADS: usize = 20;

/// What the events of a page have told.
pub(super) struct State {
    /// The main frame, which has the name of its target.
    frame: String,
    /// Requests without an end yet, and the sessions that told of them.
    pub(super) in_flight: HashMap<String, String>,
    pub(super) last_traffic: Instant,
    pub(super) document: Option<Document>,
    /// Something of the page has been answered, be it a redirect.
    pub(super) has_begun: bool,
    /// The one before, as long as the current one has not taken its place.
    pub(super) left: Option<Document>,
    /// Where the last document was asked for.
    pub(super) document_url: Option<String>,
    pub(super) is_parsed: bool,
    pub(super) is_loaded: bool,
    /// A new document was asked for and has not come yet.
    pub(super) is_navigating: bool,
    /// The page has threads, sockets or programs to wait for, which are neither timers nor requests.
    pub(super) works_elsewhere: bool,
    /// The clock of a page that is hurried stands still.
    pub(super) is_clock_stopped: bool,
    pub(super) is_crashed: bool,
    /// A process of the page was ended for its memory.
    pub(super) excess: Option<Excess>,
    /// The world of our own scripts in the current document.
    pub(super) world: Option<i64>,
    /// The page went where no page may go.
    pub(super) forbidden_scheme: Option<String>,
    /// Documents that the rule of the request has to be asked about.
    pub(super) to_ask: VecDeque<PendingNavigation>,
    /// Why the rule refused one.
    pub(super) refusal: Option<String>,
    pub(super) dialogs: u32,
    pub(super) blocked: u64,
    /// The origins of the documents that were shown, in frames too.
    pub(super) visited: BTreeSet<String>,
    /// There were more parts than are run.
    pub(super) is_crowded: bool,
    /// Actions are being done.
    pub(super) is_acting: bool,
    /// Where the last document was asked for, if that was with a body.
    pub(super) posted_url: Option<String>,
    pub(super) downloads: Vec<Download>,
}

/// A document that was asked for and waits for a decision.
pub(super) struct PendingNavigation {
    pub(super) url: Url,
    /// The request's name in Chromium.
    pub(super) id: Value,
    /// The command that lets it go on, and its parameters.
    pub(super) go_on: Command,
}

/// The answer that the current document came with.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) is_unverified: bool,
}

impl State {
    pub(super) fn new(frame: &str) -> Self {
        Self {
            frame: frame.to_owned(),
            in_flight: HashMap::new(),
            last_traffic: Instant::now(),
            document: None,
            has_begun: false,
            left: None,
            document_url: None,
            is_parsed: false,
            is_loaded: false,
            is_navigating: false,
            works_elsewhere: false,
            is_clock_stopped: false,
            is_crashed: false,
            excess: None,
            world: None,
            forbidden_scheme: None,
            to_ask: VecDeque::new(),
            refusal: None,
            dialogs: 0,
            blocked: 0,
            visited: BTreeSet::new(),
            is_crowded: false,
            is_acting: false,
            posted_url: None,
            downloads: Vec::new(),
        }
    }

    /// Returns the name of the main frame.
    pub(super) fn frame(&self) -> &str {
        &self.frame
    }

    pub(super) fn traffic(&mut self, session: &str, method: &str, params: &Value) {
        let id = params["requestId"].as_str().unwrap_or_default();
        match method {
            "Network.requestWillBeSent" => {
                let kind = params["type"].as_str().unwrap_or_default();
                if kind == "Document" && params["frameId"] == self.frame.as_str() {
                    self.document_url = params["request"]["url"].as_str().map(str::to_owned);
                    self.has_begun |= !params["redirectResponse"].is_null();
                    let is_posted = params["request"]["method"] != "GET";
                    self.posted_url = self.document_url.clone().filter(|_| is_posted);
                }
                self.works_elsewhere |= kind == "EventSource";
                if !ENDLESS.contains(&kind) && self.in_flight.len() < MAX_IN_FLIGHT {
                    self.in_flight.insert(id.to_owned(), session.to_owned());
                    self.last_traffic = Instant::now();
                }
            }
            "Network.responseReceived"
                if params["type"] == "Document" && params["frameId"] == self.frame.as_str() =>
            {
                self.left = self.document.replace(Document::read(&params["response"]));
                self.has_begun = true;
            }
            "Network.responseReceived" if params["response"]["mimeType"] == "application/wasm" => {
                self.works_elsewhere = true;
            }
            "Network.webSocketCreated" => self.works_elsewhere = true,
            // A frame of another site ends what the page around it has begun.
            "Network.loadingFinished" | "Network.loadingFailed" if self.in_flight.remove(id).is_some() => {
                self.last_traffic = Instant::now();
            }
            _ => {}
        }
    }

    pub(super) fn apply(&mut self, method: &str, params: &Value) {
        match method {
            "Page.domContentEventFired" => self.is_parsed = true,
            "Page.loadEventFired" => self.is_loaded = true,
            "Page.frameStartedNavigating" if params["frameId"] == self.frame.as_str() => {
                let stays =
                    matches!(params["navigationType"].as_str(), Some("sameDocument" | "historySameDocument"));
                self.is_navigating = !stays;
            }
            "Page.frameStoppedLoading" if params["frameId"] == self.frame.as_str() => {
                self.is_navigating = false;
                // A document that is left for a download comes to no other end.
                let is_there = self.document.is_some();
                self.is_parsed |= is_there;
                self.is_loaded |= is_there;
            }
            "Page.frameNavigated" => {
                let origin = params["frame"]["url"].as_str().and_then(storage_origin);
                if self.visited.len() < MAX_VISITED {
                    self.visited.extend(origin);
                }
                if !params["frame"]["parentId"].is_null() {
                    return;
                }
                self.is_navigating = false;
                self.left = None;
                self.is_parsed = false;
                self.is_loaded = false;
                self.world = None;
                self.works_elsewhere = false;
                self.forbidden_scheme = forbidden_scheme(params["frame"]["url"].as_str().unwrap_or_default());
            }
            "Page.downloadWillBegin" => self.note_download(params),
            "Emulation.virtualTimeBudgetExpired" => self.is_clock_stopped = true,
            end if ENDS.contains(&end) => self.is_crashed = true,
            _ => {}
        }
    }

    /// Takes note of a download that was refused.
    fn note_download(&mut self, params: &Value) {
        let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
        let url = text("url");
        // A form's answer cannot be had again without its fields, and what a script has made is nowhere else.
        let is_web = url.starts_with("http:") || url.starts_with("https:");
        let can_be_asked_for = is_web && self.posted_url.as_deref() != Some(url.as_str());
        let is_main = params["frameId"] == self.frame();
        if is_main && let Some(left) = self.left.take() {
            // What was answered is no document: the page stays where it is.
            self.document = Some(left);
        }
        let is_action = self.is_acting && is_main && can_be_asked_for;
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

/// Returns the origin of a document that has storage of its own.
fn storage_origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
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
