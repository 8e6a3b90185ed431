//! What is taken from a page: its document.

use serde_json::Value;

use super::open_page::Page;
use crate::error::{BrowserError, NavigationErrorKind};
use crate::rendered_page::Scraped;

const SERIALISE: &str = include_str!("serialize_document.js");

impl Page<'_> {
    /// Takes the URL and the document as it is now.
    pub(crate) async fn scrape(&self) -> Result<Scraped, BrowserError> {
        let limit = self.config.html_chars;
        let taken = self.ask(SERIALISE, &[limit.into()]).await?;
        let mut taken = taken.map_err(|what| BrowserError::Protocol { detail: what })?;
        if taken["chars"].as_u64().is_some_and(|chars| chars > limit as u64) {
            self.warn(format!("the page is longer than {limit} characters and was cut"));
        }
        match (taken["url"].take(), taken["html"].take()) {
            (Value::String(url), Value::String(_)) if url.starts_with("chrome-error:") => self.missing_page(),
            (Value::String(url), Value::String(html)) => Ok(Scraped { url, html }),
            _ => Err(BrowserError::lacking("Runtime.evaluate", "document")),
        }
    }

    /// Returns what there is instead of the page that Chromium shows when it has none.
    fn missing_page(&self) -> Result<Scraped, BrowserError> {
        let (asked, has_answer) = {
            let state = self.watch.lock();
            (state.document_url.clone().unwrap_or_default(), state.document.is_some())
        };
        match self.failure(&asked) {
            Some(failure) => Err(failure),
            // An answer without a body.
            None if has_answer => Ok(Scraped { url: asked, html: String::new() }),
            None => Err(BrowserError::Navigation {
                kind: NavigationErrorKind::Other,
                reason: "the page went where there is none".to_owned(),
            }),
        }
    }
}
