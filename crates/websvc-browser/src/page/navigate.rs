//! Navigation to the URL of a request, and the errors of navigations.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use url::Url;
use websvc_transport::UrlPolicy;

use super::command::Command;
use super::intercept::{ForbiddenNavigation, cancel_command, fail_command};
use super::open_page::Page;
use super::page_state::PendingNavigation;
use crate::egress::ConnectFailure;
use crate::error::{BrowserError, NavigationErrorKind};

/// Chromium's error for a response with an error status and no body, in place of which it shows a page of its own.
const EMPTY_ERROR: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";
const ABORTED: &str = "net::ERR_ABORTED";
/// The time in which the end of Chromium is noticed.
const DISCONNECT_GRACE: Duration = Duration::from_millis(250);

impl Page<'_> {
    pub(super) async fn navigate(&self, url: &Url) -> Result<(), BrowserError> {
        let response = self.call("Page.navigate", json!({"url": url.as_str()})).await?;
        if response["isDownload"] == true {
            return Err(BrowserError::Download);
        }
        match response["errorText"].as_str().unwrap_or_default() {
            "" => Ok(()),
            ABORTED if self.events.lock().document.is_none() => {
                // A Chromium that is shutting down aborts its navigations first. The crash is the better error.
                sleep(DISCONNECT_GRACE).await;
                Err(self.navigation_error(url, ABORTED))
            }
            EMPTY_ERROR if self.events.lock().document.is_some() => Ok(()),
            error => Err(self.navigation_error(url, error)),
        }
    }

    /// Returns the effect of a navigation of the page to a forbidden address. In sessions, clients expect an error.
    pub(super) fn forbidden_navigation(&self) -> ForbiddenNavigation {
        match self.max_tabs {
            None => ForbiddenNavigation::KeepsPage,
            Some(_) => ForbiddenNavigation::Fails,
        }
    }

    /// Checks the navigations of the page with the navigation rule, and whether their addresses are forbidden. Runs until it
    /// is dropped.
    pub(crate) async fn check_navigations(&self, rule: Option<&UrlPolicy>) -> Infallible {
        loop {
            self.events.wait_until(|state| !state.pending_navigations.is_empty()).await;
            let next = self.events.lock().pending_navigations.pop_front();
            let Some(PendingNavigation { url, session, request_id, resume }) = next else { continue };
            let refused = match rule {
                Some(rule) => rule.check(&url).await.err(),
                None => None,
            };
            let Command { method, params } = match refused {
                Some(reason) => {
                    self.events.refuse(reason);
                    fail_command(&request_id)
                }
                None if self.keeps_its_document(&url).await => cancel_command(&request_id),
                None => resume,
            };
            self.process.cdp().send_no_reply(&session, method, params);
        }
    }

    /// Returns whether the page keeps its document, as far as Chromium has parsed it, because the address of a navigation is
    /// forbidden. A page that has no document yet, as while its own URL redirects, fails instead.
    async fn keeps_its_document(&self, url: &Url) -> bool {
        let has_document = self.events.lock().document.is_some();
        has_document
            && self.forbidden_navigation() == ForbiddenNavigation::KeepsPage
            && self.egress.refuses(url).await
    }

    /// Returns the error of a navigation. What the page's proxy recorded takes precedence over Chromium's error.
    fn navigation_error(&self, url: &Url, error: &str) -> BrowserError {
        let (url, status) = {
            let state = self.events.lock();
            // The URL after redirects.
            let url = state.document_url.clone().unwrap_or_else(|| url.to_string());
            (url, state.document.as_ref().map(|document| document.status))
        };
        if let Some(error) = self.connect_error(&url) {
            return error;
        }
        let reason = match status {
            _ if error.starts_with("net::ERR_CERT") => "its certificate cannot be verified".to_owned(),
            Some(status) if error == ABORTED => {
                format!("the response with status {status} has no content to show")
            }
            None if error == ABORTED => "the navigation was aborted".to_owned(),
            _ => error.trim_start_matches("net::ERR_").replace('_', " ").to_lowercase(),
        };
        BrowserError::Navigation { kind: NavigationErrorKind::from_chromium(error), reason }
    }

    /// Returns the error if the page's proxy could not connect to the host of a URL.
    pub(super) fn connect_error(&self, url: &str) -> Option<BrowserError> {
        let url = Url::parse(url).ok()?;
        let failure = self.egress.failure(url.host_str()?, url.port_or_known_default()?)?;
        Some(match failure {
            ConnectFailure::Failed { kind, reason } => BrowserError::Navigation { kind, reason },
            ConnectFailure::Forbidden => BrowserError::Forbidden,
        })
    }
}
