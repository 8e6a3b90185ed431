//! The downloads that a page started, which the browser refused.

use serde_json::json;

use super::open_page::Page;
use crate::error::BrowserError;
use crate::rendered_page::{Download, DownloadCause};
use crate::request::Cookie;

impl Page<'_> {
    /// Returns the downloads. Those that an action caused have the cookies that a request for the file would send.
    pub(super) async fn downloads(&self) -> Result<Vec<Download>, BrowserError> {
        let mut downloads = std::mem::take(&mut self.events.lock().downloads);
        for download in downloads.iter_mut().filter(|download| download.cause == DownloadCause::Action) {
            let response = self.call("Network.getCookies", json!({"urls": [download.url]})).await?;
            let cookies = response["cookies"].as_array().into_iter().flatten();
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
