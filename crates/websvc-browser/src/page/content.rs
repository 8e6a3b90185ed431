//! The URL and the document of a page.

use serde_json::Value;

use super::open_page::Page;
use crate::error::{BrowserError, NavigationErrorKind};
use crate::rendered_page::PageSnapshot;

const SERIALIZE_DOCUMENT: &str = include_str!("serialize_document.js");

impl Page<'_> {
    /// Returns the current URL and document.
    pub(crate) async fn scrape(&self) -> Result<PageSnapshot, BrowserError> {
        let limit = self.config.max_html_chars;
        let document = self.call_function(SERIALIZE_DOCUMENT, &[limit.into()]).await?;
        let mut document = document.map_err(|thrown| BrowserError::Protocol { detail: thrown })?;
        if document["chars"].as_u64().is_some_and(|chars| chars > limit as u64) {
            self.warn(format!("the page is longer than {limit} characters and was cut"));
        }
        match (document["url"].take(), document["html"].take()) {
            (Value::String(url), Value::String(_)) if url.starts_with("chrome-error:") => {
                self.scrape_error_page()
            }
            (Value::String(url), Value::String(html)) => Ok(PageSnapshot { url, html }),
            _ => Err(BrowserError::missing_field("Runtime.evaluate", "document")),
        }
    }

    /// Returns the result for a document that Chromium replaced with an error page of its own.
    fn scrape_error_page(&self) -> Result<PageSnapshot, BrowserError> {
        let (url, has_response) = {
            let state = self.events.lock();
            (state.document_url.clone().unwrap_or_default(), state.document.is_some())
        };
        match self.connect_error(&url) {
            Some(error) => Err(error),
            // A response without a body.
            None if has_response => Ok(PageSnapshot { url, html: String::new() }),
            None => Err(BrowserError::Navigation {
                kind: NavigationErrorKind::Other,
                reason: "the page navigated to a URL that could not be loaded".to_owned(),
            }),
        }
    }
}
