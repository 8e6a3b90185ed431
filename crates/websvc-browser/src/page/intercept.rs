//! Requests that are changed or not made: the headers of the caller, and what is blocked.

use http::HeaderMap;
use http::header::{ACCEPT_LANGUAGE, COOKIE, HOST, USER_AGENT};
use serde_json::{Value, json};
use url::Url;
use websvc_transport::is_forbidden_header;

use crate::request::BlockRule;

/// What is done to the requests of one page.
pub(super) struct Interception {
    page: Url,
    headers: Vec<(String, String)>,
    block: Option<BlockRule>,
}

impl Interception {
    pub(super) fn new(page: &Url, headers: &HeaderMap, block: Option<BlockRule>) -> Self {
        // What the browser says of itself everywhere is set elsewhere.
        let elsewhere = [USER_AGENT, ACCEPT_LANGUAGE, COOKIE, HOST];
        let headers =
            headers.iter().filter(|(name, _)| !elsewhere.contains(name) && !is_forbidden_header(name));
        let headers = headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
            .collect();
        Self { page: page.clone(), headers, block }
    }

    /// Returns which requests must be asked about: each of these costs a way to this process and back.
    pub(super) fn patterns(&self) -> Option<Value> {
        if self.block.is_some() {
            return Some(json!([{"urlPattern": "*", "requestStage": "Request"}]));
        }
        if self.headers.is_empty() {
            return None;
        }
        let origin = self.page.origin().ascii_serialization();
        Some(json!([{"urlPattern": format!("{origin}/*"), "requestStage": "Request"}]))
    }

    /// Returns the command that answers a paused request, and its parameters.
    pub(super) fn decide(&self, paused: &Value) -> (&'static str, Value) {
        let id = &paused["requestId"];
        let url = paused["request"]["url"].as_str().unwrap_or_default();
        let kind = paused["resourceType"].as_str().unwrap_or_default();
        let is_page = kind == "Document" && Url::parse(url).is_ok_and(|url| url == self.page);
        if let Some(BlockRule(blocks)) = &self.block
            && !is_page
            && blocks(url, &self.page, kind)
        {
            return ("Fetch.failRequest", json!({"requestId": id, "errorReason": "BlockedByClient"}));
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::HeaderValue;

    use super::*;

    fn paused(url: &str, kind: &str) -> Value {
        json!({"requestId": "7", "resourceType": kind, "request": {"url": url, "headers": {"Accept": "*/*"}}})
    }

    fn interception(block: Option<BlockRule>) -> Interception {
        let mut headers = HeaderMap::new();
        headers.insert("x-key", HeaderValue::from_static("secret"));
        headers.insert(USER_AGENT, HeaderValue::from_static("elsewhere"));
        Interception::new(&Url::parse("https://a.test/x").unwrap(), &headers, block)
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
