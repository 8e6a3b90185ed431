//! Files that a page wants to save: the browser refuses them, and whoever asked is told of them.

use serde_json::json;

use super::open_page::Page;
use crate::error::BrowserError;
use crate::rendered_page::{Download, DownloadCause};
use crate::request::Cookie;

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
