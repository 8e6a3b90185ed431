//! What is taken from a page: its document and its cookies.

use serde_json::{Value, json};

use super::Page;
use crate::error::{BrowserError, NavigationErrorKind};
use crate::rendered_page::{Scraped, SetCookie};

const SERIALISE: &str = include_str!("serialise.js");

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

    pub(super) async fn cookies(&self) -> Result<Vec<SetCookie>, BrowserError> {
        let context = json!({"browserContextId": self.context.id});
        let mut answer = self.process.cdp().call("", "Storage.getCookies", context).await?;
        let text = |cookie: &mut Value, name: &str| match cookie[name].take() {
            Value::String(text) => text,
            _ => String::new(),
        };
        let cookies = answer["cookies"].as_array_mut().into_iter().flatten();
        Ok(cookies
            .map(|cookie| SetCookie {
                name: text(cookie, "name"),
                value: text(cookie, "value"),
                domain: text(cookie, "domain"),
                path: text(cookie, "path"),
            })
            .collect())
    }
}
