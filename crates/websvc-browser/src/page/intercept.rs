//! Interception of requests: adds the headers of the caller, and fails blocked requests.

use http::header::{ACCEPT_LANGUAGE, COOKIE, HOST, USER_AGENT};
use serde_json::{Value, json};
use url::Url;
use websvc_transport::is_forbidden_header;

use super::command::Command;
use crate::document_url::DocumentUrl;
use crate::request::{BlockRule, RenderRequest};

/// The command that fails a paused request.
pub(super) const FAIL_REQUEST: &str = "Fetch.failRequest";

/// Returns the command that fails a paused request.
pub(super) fn fail_command(request_id: &Value) -> Command {
    Command::new(FAIL_REQUEST, json!({"requestId": request_id, "errorReason": "BlockedByClient"}))
}

/// Returns the command that cancels a paused navigation: the frame keeps its document.
pub(super) fn cancel_command(request_id: &Value) -> Command {
    Command::new(FAIL_REQUEST, json!({"requestId": request_id, "errorReason": "Aborted"}))
}

/// The effect of a navigation to an address to which the page may not connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ForbiddenNavigation {
    /// It is canceled, and the page stays as it is.
    KeepsPage,
    /// It fails, and the page shows an error, as in any browser.
    Fails,
}

/// The rules for the requests of one page.
pub(super) struct Interception {
    page: Url,
    headers: Vec<(String, String)>,
    block: Option<BlockRule>,
    /// True if navigations of the page are checked before they are sent.
    checks_navigations: bool,
    files: Files,
}

/// The handling of files of this machine. A page cannot request them, unless a client makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    /// No client controls the page.
    Unreachable,
    /// Their requests are paused, and fail.
    Refused,
}

impl Interception {
    /// Returns the rules of a request. Navigations are checked if the request has a navigation rule, or if the page must
    /// stay as it is when it navigates to a forbidden address.
    pub(super) fn new(request: &RenderRequest, files: Files, forbidden: ForbiddenNavigation) -> Self {
        let RenderRequest { url: page, headers, block, navigation_rule, .. } = request;
        // Emulation settings and cookies set these for the whole page.
        let set_by_browser = [USER_AGENT, ACCEPT_LANGUAGE, COOKIE, HOST];
        let headers =
            headers.iter().filter(|(name, _)| !set_by_browser.contains(name) && !is_forbidden_header(name));
        let headers = headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
            .collect();
        Self {
            page: page.clone(),
            headers,
            block: block.clone(),
            checks_navigations: navigation_rule.is_some() || forbidden == ForbiddenNavigation::KeepsPage,
            files,
        }
    }

    /// Returns the patterns of the requests to intercept; `None` for none. Each intercepted request costs a round trip
    /// between Chromium and this process.
    pub(super) fn patterns(&self) -> Option<Value> {
        if self.block.is_some() {
            return Some(json!([{"urlPattern": "*", "requestStage": "Request"}]));
        }
        let mut patterns = Vec::new();
        if !self.headers.is_empty() {
            let origin = self.page.origin().ascii_serialization();
            patterns.push(json!({"urlPattern": format!("{origin}/*"), "requestStage": "Request"}));
        }
        if self.checks_navigations {
            patterns.push(json!({"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}));
        }
        if self.files == Files::Refused {
            patterns.push(json!({"urlPattern": "file:*", "requestStage": "Request"}));
        }
        (!patterns.is_empty()).then(|| Value::from(patterns))
    }

    /// Returns the URL of a paused request if it navigates the main frame, `frame`, and must be checked. The first document
    /// of the page is exempt.
    pub(super) fn navigation_to_check(&self, paused: &Value, frame: &str) -> Option<Url> {
        let is_navigation = paused["resourceType"] == "Document" && paused["frameId"] == frame;
        if !self.checks_navigations || !is_navigation {
            return None;
        }
        let url = Url::parse(paused["request"]["url"].as_str()?).ok()?;
        (without_fragment(&url) != without_fragment(&self.page)).then_some(url)
    }

    /// Returns the command for a paused request.
    pub(super) fn decide(&self, paused: &Value) -> Command {
        let request_id = &paused["requestId"];
        let url = paused["request"]["url"].as_str().unwrap_or_default();
        let resource_type = paused["resourceType"].as_str().unwrap_or_default();
        if DocumentUrl::from_url(url) == DocumentUrl::Server {
            return fail_command(request_id);
        }
        let is_page = resource_type == "Document" && Url::parse(url).is_ok_and(|url| url == self.page);
        if let Some(BlockRule(blocks)) = &self.block
            && !is_page
            && blocks(url, &self.page, resource_type)
        {
            return fail_command(request_id);
        }
        let is_same_origin = Url::parse(url).is_ok_and(|url| url.origin() == self.page.origin());
        if self.headers.is_empty() || !is_same_origin {
            return Command::new("Fetch.continueRequest", json!({"requestId": request_id}));
        }
        let is_replaced =
            |name: &str| self.headers.iter().any(|(replacement, _)| replacement.eq_ignore_ascii_case(name));
        let sent = paused["request"]["headers"].as_object().into_iter().flatten();
        let mut headers: Vec<Value> = sent
            .filter(|(name, _)| !is_replaced(name))
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        headers.extend(self.headers.iter().map(|(name, value)| json!({"name": name, "value": value})));
        Command::new("Fetch.continueRequest", json!({"requestId": request_id, "headers": headers}))
    }
}

fn without_fragment(url: &Url) -> &str {
    url.as_str().split('#').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::HeaderValue;
    use tokio::time::Instant;
    use websvc_transport::UrlPolicy;

    use super::*;

    fn paused(url: &str, kind: &str) -> Value {
        json!({"requestId": "7", "resourceType": kind, "request": {"url": url, "headers": {"Accept": "*/*"}}})
    }

    fn interception(block: Option<BlockRule>) -> Interception {
        let mut request = RenderRequest::new("https://a.test/x".parse().unwrap(), Instant::now());
        request.headers.insert("x-key", HeaderValue::from_static("secret"));
        request.headers.insert(USER_AGENT, HeaderValue::from_static("other"));
        request.block = block;
        Interception::new(&request, Files::Unreachable, ForbiddenNavigation::Fails)
    }

    #[test]
    fn navigation_rule_applies_to_later_documents_of_the_main_frame_only() {
        let mut request = RenderRequest::new("https://a.test/x".parse().unwrap(), Instant::now());
        let new =
            |request: &RenderRequest, forbidden| Interception::new(request, Files::Unreachable, forbidden);
        assert!(new(&request, ForbiddenNavigation::Fails).patterns().is_none());
        let keeps = new(&request, ForbiddenNavigation::KeepsPage);
        assert_eq!(keeps.patterns().unwrap()[0]["resourceType"], "Document");
        request.navigation_rule = Some(UrlPolicy::new(|_| async { Ok(()) }));
        let interception = new(&request, ForbiddenNavigation::Fails);
        assert_eq!(interception.patterns().unwrap()[0]["resourceType"], "Document");
        for (url, kind, frame, expected) in [
            ("https://b.test/", "Document", "main", true),
            ("https://a.test/x", "Document", "main", false),
            ("https://b.test/", "Document", "inner", false),
            ("https://b.test/", "Script", "main", false),
        ] {
            let mut paused = paused(url, kind);
            paused["frameId"] = frame.into();
            assert_eq!(
                interception.navigation_to_check(&paused, "main").is_some(),
                expected,
                "{url} {kind} {frame}"
            );
        }
    }

    #[test]
    fn headers_are_added_for_same_origin_only() {
        let interception = interception(None);
        let Command { params, .. } = interception.decide(&paused("https://a.test/api", "Fetch"));
        let expected = json!([{"name": "Accept", "value": "*/*"}, {"name": "x-key", "value": "secret"}]);
        assert_eq!(params["headers"], expected);
        for other in ["https://b.test/", "http://a.test/", "https://a.test.b.test/", "https://a.test:8443/"] {
            let Command { method, params } = interception.decide(&paused(other, "Image"));
            assert_eq!((method, &params["headers"]), ("Fetch.continueRequest", &Value::Null), "{other}");
        }
    }

    #[test]
    fn blocked_requests_fail_but_never_the_page_itself() {
        let interception = interception(Some(BlockRule(Arc::new(|_, _, _| true))));
        assert_eq!(interception.decide(&paused("https://ads.test/", "Script")).method, "Fetch.failRequest");
        assert_eq!(
            interception.decide(&paused("https://a.test/x", "Document")).method,
            "Fetch.continueRequest"
        );
    }
}
