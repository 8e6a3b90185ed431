//! Loads a page again in the charset that its text has.

use std::convert::Infallible;

use http::header::CONTENT_TYPE;
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::charset::{DetectedCharset, has_charset};
use super::open_page::Page;
use super::page_state::Document;
use crate::error::BrowserError;
use crate::request::{CharsetRule, RenderRequest};

/// The maximum number of characters that the charset rule reads.
const MAX_CHARS: u32 = 256 << 10;

/// The maximum number of characters of a document that is loaded again, because its response passes through memory.
const MAX_DOCUMENT_CHARS: u32 = 4 << 20;

/// Returns the beginning of a document in windows-1252 with other characters than ASCII, else null.
const UNDECLARED_TEXT: &str = r"(limit, max) => {
    if (document.characterSet !== 'windows-1252') return null;
    const html = document.documentElement.outerHTML, text = html.slice(0, limit);
    return html.length <= max && /[^\x00-\x7f]/.test(text) ? { text, type: document.contentType } : null;
}";

impl Page<'_> {
    /// Loads the page again if the charset rule finds another charset than that in which Chromium decoded it.
    pub(super) async fn correct_charset(&self, request: &RenderRequest) -> Result<(), BrowserError> {
        let Some(CharsetRule(rule)) = &request.charset_rule else { return Ok(()) };
        self.wait_parsed().await;
        let Some(document) = self.events.lock().document.clone().filter(|found| !declares_charset(found))
        else {
            return Ok(());
        };
        let limits = [MAX_CHARS.into(), MAX_DOCUMENT_CHARS.into()];
        let text = timeout_at(self.soft_deadline, self.call_function(UNDECLARED_TEXT, &limits)).await;
        // A document that is late, or breaks the script, stays as it is.
        let Ok(Ok(Ok(found))) = text else { return Ok(()) };
        let Some(name) = found["text"].as_str().and_then(|text| rule(text)) else { return Ok(()) };
        if Instant::now() >= self.soft_deadline {
            return Ok(());
        }
        let media_type = found["type"].as_str().unwrap_or("text/html").to_owned();
        self.events.lock().charset = Some(DetectedCharset { name, media_type, paused: None });
        let usual = self.interception(request).patterns();
        let mut patterns = usual.clone().unwrap_or_else(|| json!([]));
        if let Some(patterns) = patterns.as_array_mut() {
            patterns.push(json!({"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}));
        }
        self.call("Fetch.enable", json!({"patterns": patterns})).await?;
        // From another document, because a URL with a fragment would only scroll the current one.
        self.call("Page.navigate", json!({"url": "about:blank"})).await?;
        self.events.reset_navigation();
        let navigated = tokio::select! {
            navigated = self.navigate(&request.url) => navigated,
            never = self.fulfill_document() => match never {},
        };
        {
            let mut state = self.events.lock();
            state.charset = None;
            // Chromium does not know how a response came that is given to it.
            state.document.iter_mut().for_each(|again| again.is_unverified = document.is_unverified);
        }
        match usual {
            Some(patterns) => self.call("Fetch.enable", json!({"patterns": patterns})).await?,
            None => self.call("Fetch.disable", json!({})).await?,
        };
        navigated
    }

    /// Answers the paused responses of the document with the charset. Runs until it is dropped.
    async fn fulfill_document(&self) -> Infallible {
        loop {
            self.events.wait_until(|state| has_paused(state.charset.as_ref())).await;
            let (charset, paused) = {
                let mut state = self.events.lock();
                let paused = state.charset.as_mut().and_then(|charset| charset.paused.take());
                let (Some(charset), Some(paused)) = (state.charset.clone(), paused) else { continue };
                (charset, paused)
            };
            let request_id = json!({"requestId": paused["requestId"]});
            let response = self.call("Fetch.getResponseBody", request_id.clone()).await;
            let body = response.ok().filter(|response| response["base64Encoded"] == true);
            match body {
                Some(mut response) => {
                    let params = charset.fulfillment(&paused, response["body"].take());
                    self.send_no_reply("Fetch.fulfillRequest", params);
                }
                None => self.send_no_reply("Fetch.continueRequest", request_id),
            }
        }
    }
}

fn has_paused(charset: Option<&DetectedCharset>) -> bool {
    charset.is_some_and(|charset| charset.paused.is_some())
}

fn declares_charset(document: &Document) -> bool {
    let kind = document.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    has_charset(kind)
}
