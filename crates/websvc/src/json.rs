//! Requests to any endpoint, whose responses stay JSON.

use http::Method;
use serde_json::Value;

use crate::call::{ApiCall, Idempotency, segment};
use crate::client::Client;
use crate::error::ClientError;

impl Client {
    /// Sends a request to an endpoint and returns the response as it is, for programs that print it or pass it on.
    ///
    /// `path` has the segments of the path: an ID with a slash does not change it. A POST request is repeated only if the
    /// service certainly did not process it.
    ///
    /// # Errors
    /// Any [`ClientError`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client, id: &str) -> Result<(), websvc::ClientError> {
    /// let monitor = client.json(websvc::Method::GET, &["v2", "monitor", id], None, None).await?;
    /// println!("{}", monitor["data"]["name"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn json(
        &self,
        method: Method,
        path: &[&str],
        query: Option<String>,
        body: Option<Value>,
    ) -> Result<Value, ClientError> {
        let path = path.iter().map(|part| segment(part)).collect::<Vec<_>>().join("/");
        let mut call = match body {
            Some(body) => ApiCall::post(path, &body, self.timeout())?,
            None => ApiCall::get(path, self.timeout()),
        };
        if method == Method::POST {
            call.idempotency = Idempotency::NotIdempotent;
        }
        call.method = method;
        let call = query.into_iter().fold(call, ApiCall::query);
        self.transport.call(&call).await
    }
}
