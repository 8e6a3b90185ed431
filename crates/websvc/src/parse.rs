//! Files that a running service converts.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use websvc_types::limits::SCRAPE_TIMEOUT_DEFAULT_MS;
use websvc_types::{ParseOptions, ScrapeResponse};

use crate::call::ApiCall;
use crate::client::{Client, TIMEOUT_MARGIN};
use crate::error::ClientError;

impl Client {
    /// Converts a file, such as a PDF or an office document: `POST /v2/parse`. The extension of its name says what it is.
    ///
    /// A conversion has no effect in the service, so it is repeated as a search is. It may then be charged twice.
    ///
    /// # Errors
    /// Any [`ClientError`]. A file of a type that the service does not convert is a [`ClientError::Api`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use websvc::types::ParseOptions;
    ///
    /// let file = std::fs::read("report.pdf")?;
    /// let page = client.parse("report.pdf", &file, &ParseOptions::default()).await?.data;
    /// println!("{}", page.markdown.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn parse(
        &self,
        name: &str,
        file: &[u8],
        options: &ParseOptions,
    ) -> Result<ScrapeResponse, ClientError> {
        let page_timeout =
            Duration::from_millis(options.options.timeout.unwrap_or(SCRAPE_TIMEOUT_DEFAULT_MS));
        let timeout = self.timeout.unwrap_or(page_timeout.saturating_add(TIMEOUT_MARGIN));
        let options = serde_json::to_vec(options).map_err(ClientError::Encode)?;
        let (content_type, body) = form(name, file, &options);
        self.transport.call(&ApiCall::post_bytes("v2/parse", content_type, body, timeout)).await
    }
}

/// Returns a form with a file and its options (RFC 7578), and its media type.
fn form(name: &str, file: &[u8], options: &[u8]) -> (HeaderValue, Bytes) {
    // Random, so that no file contains it.
    let boundary = format!("{:016x}{:016x}", random(), random());
    // Percent-encoded as browsers do it: a name must not end its parameter.
    let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let parts =
        [(format!("name=\"file\"; filename=\"{name}\""), file), ("name=\"options\"".to_owned(), options)];
    let mut body = Vec::with_capacity(file.len() + options.len() + 512);
    for (disposition, content) in parts {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let content_type = HeaderValue::from_str(&format!("multipart/form-data; boundary={boundary}"));
    (content_type.expect("a boundary is hexadecimal digits"), body.into())
}

/// Returns a random number, from the seed that the standard library takes from the system for each hash map.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
