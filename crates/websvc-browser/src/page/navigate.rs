//! Going to the URL of a request, and saying why that failed.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use url::Url;
use websvc_transport::UrlPolicy;

use super::intercept::failure;
use super::open_page::Page;
use super::page_state::PendingNavigation;
use crate::egress::Forbidden;
use crate::error::{BrowserError, NavigationErrorKind};

/// Chromium's word for an answer without a body whose status is an error's: it shows a page of its own then.
const EMPTY_ERROR: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";
const ABORTED: &str = "net::ERR_ABORTED";
/// How long it may take until the end of Chromium is heard of.
const FAREWELL: Duration = Duration::from_millis(250);

impl Page<'_> {
    pub(super) async fn navigate(&self, url: &Url) -> Result<(), BrowserError> {
        let answer = self.call("Page.navigate", json!({"url": url.as_str()})).await?;
        if answer["isDownload"] == true {
            return Err(BrowserError::Download);
        }
        match answer["errorText"].as_str().unwrap_or_default() {
            "" => Ok(()),
            ABORTED if self.watch.lock().document.is_none() => {
                // A Chromium that is asked to end breaks everything off first, and is gone then.
                sleep(FAREWELL).await;
                Err(self.reason(url, ABORTED))
            }
            EMPTY_ERROR if self.watch.lock().document.is_some() => Ok(()),
            error => Err(self.reason(url, error)),
        }
    }

    /// Asks the rule of the request about every document that the page goes to, for as long as it is open.
    pub(super) async fn check_navigations(&self, rule: Option<&UrlPolicy>) -> Infallible {
        let Some(rule) = rule else { return std::future::pending().await };
        loop {
            self.watch.wait_until(|state| !state.to_ask.is_empty()).await;
            let next = self.watch.lock().to_ask.pop_front();
            let Some(PendingNavigation { url, id, go_on }) = next else { continue };
            let (method, answer) = match rule.check(&url).await {
                Ok(()) => go_on,
                Err(reason) => {
                    self.watch.refuse(reason);
                    failure(&id)
                }
            };
            self.post(method, answer);
        }
    }

    /// Says what stood in the way: what our own proxy knows is better than what Chromium makes of it.
    fn reason(&self, url: &Url, error: &str) -> BrowserError {
        let (asked, status) = {
            let state = self.watch.lock();
            // A redirect may have led elsewhere.
            let asked = state.document_url.clone().unwrap_or_else(|| url.to_string());
            (asked, state.document.as_ref().map(|document| document.status))
        };
        if let Some(failure) = self.failure(&asked) {
            return failure;
        }
        let reason = match status {
            _ if error.starts_with("net::ERR_CERT") => "its certificate cannot be verified".to_owned(),
            Some(status) if error == ABORTED => {
                format!("the answer with status {status} has no content to show")
            }
            None if error == ABORTED => "it was broken off".to_owned(),
            _ => error.trim_start_matches("net::ERR_").replace('_', " ").to_lowercase(),
        };
        BrowserError::Navigation { kind: NavigationErrorKind::of_chromium(error), reason }
    }

    /// Returns why our proxy could not connect the host of a URL, if it could not.
    pub(super) fn failure(&self, url: &str) -> Option<BrowserError> {
        let url = Url::parse(url).ok()?;
        let failure = self.egress.failure(url.host_str()?, url.port_or_known_default()?)?;
        Some(match failure {
            Ok((kind, reason)) => BrowserError::Navigation { kind, reason },
            Err(Forbidden) => BrowserError::Forbidden,
        })
    }
}
