//! Requests that are changed or not made: the headers of the caller, and what is blocked.

use http::header::{ACCEPT_LANGUAGE, COOKIE, HOST, USER_AGENT};
use serde_json::{Value, json};
use url::Url;
use websvc_transport::is_forbidden_header;

use super::command::Command;
use crate::request::{BlockRule, RenderRequest};

/// The command that fails a paused request.
pub(super) const FAIL: &str = "Fetch.failRequest";

/// Returns the command that fails a paused request, and its parameters.
pub(super) fn failure(id: &Value) -> Command {
    (FAIL, json!({"requestId": id, "errorReason": "BlockedByClient"}))
}

/// What is done to the requests of one page.
pub(super) struct Interception {
    page: Url,
    headers: Vec<(String, String)>,
    block: Option<BlockRule>,
    /// Documents of the page itself are asked about elsewhere before they are decided on here.
    asks: bool,
}

impl Interception {
    pub(super) fn new(request: &RenderRequest) -> Self {
        let RenderRequest { url: page, headers, block, navigation_rule, .. } = request;
        // What the browser says of itself everywhere is set elsewhere.
        let elsewhere = [USER_AGENT, ACCEPT_LANGUAGE, COOKIE, HOST];
        let headers =
            headers.iter().filter(|(name, _)| !elsewhere.contains(name) && !is_forbidden_header(name));
        let headers = headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
            .collect();
        Self { page: page.clone(), headers, block: block.clone(), asks: navigation_rule.is_some() }
    }

    /// Returns which requests must be asked about: each of these costs a way to this process and back.
    pub(super) fn patterns(&self) -> Option<Value> {
        if self.block.is_some() {
            return Some(json!([{"urlPattern": "*", "requestStage": "Request"}]));
        }
        let mut patterns = Vec::new();
        if !self.headers.is_empty() {
            let origin = self.page.origin().ascii_serialization();
            patterns.push(json!({"urlPattern": format!("{origin}/*"), "requestStage": "Request"}));
        }
        if self.asks {
            patterns.push(json!({"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}));
        }
        (!patterns.is_empty()).then(|| Value::from(patterns))
    }

    /// Returns where a paused request leads when it is one of the page itself, in `frame`, that has to be asked about.
    pub(super) fn to_ask(&self, paused: &Value, frame: &str) -> Option<Url> {
        let is_of_page = paused["resourceType"] == "Document" && paused["frameId"] == frame;
        if !self.asks || !is_of_page {
            return None;
        }
        let url = Url::parse(paused["request"]["url"].as_str()?).ok()?;
        (without_fragment(&url) != without_fragment(&self.page)).then_some(url)
    }

    /// Returns the command that answers a paused request, and its parameters.
    pub(super) fn decide(&self, paused: &Value) -> Command {
        let id = &paused["requestId"];
        let url = paused["request"]["url"].as_str().unwrap_or_default();
        let kind = paused["resourceType"].as_str().unwrap_or_default();
        let is_page = kind == "Document" && Url::parse(url).is_ok_and(|url| url == self.page);
        if let Some(BlockRule(blocks)) = &self.block
            && !is_page
            && blocks(url, &self.page, kind)
        {
            return failure(id);
        }
        let is_own = Url::parse(url).is_ok_and(|url| url.origin() == self.page.origin());
        if self.headers.is_empty() || !is_own {
            return ("Fetch.continueRequest", json!({"requestId": id}));
        }
        let is_replaced = |name: &str| self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let sent = paused["request"]["headers"].as_object().into_iter().flatten();
        let mut headers: Vec<Value> = sent
            .filter(|(name, _)| !is_replaced(name))
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        headers.extend(self.headers.iter().map(|(name, value)| json!({"name": name, "value": value})));
        ("Fetch.continueRequest", json!({"requestId": id, "headers": headers}))
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
        request.headers.insert(USER_AGENT, HeaderValue::from_static("elsewhere"));
        request.block = block;
        Interception::new(&request)
    }

    #[test]
    fn only_documents_of_the_page_itself_are_asked_about_and_not_its_first() {
        let mut request = RenderRequest::new("https://a.test/x".parse().unwrap(), Instant::now());
        assert!(Interception::new(&request).patterns().is_none());
        request.navigation_rule = Some(UrlPolicy::new(|_| async { Ok(()) }));
        let interception = Interception::new(&request);
        assert_eq!(interception.patterns().unwrap()[0]["resourceType"], "Document");
        for (url, kind, frame, expected) in [
            ("https://b.test/", "Document", "main", true),
            ("https://a.test/x", "Document", "main", false),
            ("https://b.test/", "Document", "inner", false),
            ("https://b.test/", "Script", "main", false),
        ] {
            let mut paused = paused(url, kind);
            paused["frameId"] = frame.into();
            assert_eq!(interception.to_ask(&paused, "main").is_some(), expected, "{url} {kind} {frame}");
        }
    }

    #[test]
    fn headers_go_to_the_own_origin_only() {
        let interception = interception(None);
        let (_, own) = interception.decide(&paused("https://a.test/api", "Fetch"));
        let expected = json!([{"name": "Accept", "value": "*/*"}, {"name": "x-key", "value": "secret"}]);
        assert_eq!(own["headers"], expected);
        for other in ["https://b.test/", "http://a.test/", "https://a.test.b.test/", "https://a.test:8443/"] {
            let (method, answer) = interception.decide(&paused(other, "Image"));
            assert_eq!((method, &answer["headers"]), ("Fetch.continueRequest", &Value::Null), "{other}");
        }
    }

    #[test]
    fn what_is_blocked_fails_but_the_page_itself_never() {
        let interception = interception(Some(BlockRule(Arc::new(|_, _, _| true))));
        assert_eq!(interception.decide(&paused("https://ads.test/", "Script")).0, "Fetch.failRequest");
        assert_eq!(interception.decide(&paused("https://a.test/x", "Document")).0, "Fetch.continueRequest");
    }
}
