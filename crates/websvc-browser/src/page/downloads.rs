//! Files that a page wants to save: the browser refuses them, and whoever asked is told of them.

use serde_json::{Value, json};

use super::Page;
use super::events::State;
use crate::error::BrowserError;
use crate::rendered_page::{Download, DownloadCause};
use crate::request::Cookie;

/// Downloads that are told of; a hostile page starts more.
const MAX_DOWNLOADS: usize = 20;

impl State {
    /// Takes note of a download that was refused.
    pub(super) fn note_download(&mut self, params: &Value) {
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

impl Page<'_> {
    /// Returns the downloads, those that an action led to with the cookies to ask for them.
    pub(super) async fn downloads(&self) -> Result<Vec<Download>, BrowserError> {
        let mut downloads = std::mem::take(&mut self.watch.lock().downloads);
        for download in downloads.iter_mut().filter(|download| download.cause == DownloadCause::Action) {
            let answer = self.call("Network.getCookies", json!({"urls": [download.url]})).await?;
            let cookies = answer["cookies"].as_array().into_iter().flatten();
            download.cookies = cookies
                .filter_map(|cookie| {
                    let (name, value) = (cookie["name"].as_str()?, cookie["value"].as_str()?);
                    Some(Cookie { name: name.to_owned(), value: value.to_owned() })
                })
                .collect();
        }
        Ok(downloads)
    }
}
