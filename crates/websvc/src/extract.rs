//! Extractions of a running service: start and status.

use std::time::Duration;

use websvc_types::extract::{ExtractRequest, ExtractStarted, ExtractStatus, ExtractStatusResponse};

use crate::call::{ApiCall, Idempotency, segment};
use crate::client::Client;
use crate::error::ClientError;

const PATH: &str = "v2/extract";

impl Client {
    /// Starts an extraction, which reads pages and returns one object of their data: `POST /v2/extract`.
    ///
    /// The request is sent as it is. It is repeated only if the service certainly did not process it, because every
    /// request starts an extraction.
    ///
    /// # Errors
    /// Any [`ClientError`]. Without a language model, it is a [`ClientError::Api`] with status 501.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: websvc::Client) -> Result<(), websvc::ClientError> {
    /// use std::time::Duration;
    ///
    /// use websvc::types::extract::ExtractRequest;
    ///
    /// let request = ExtractRequest {
    ///     urls: Some(vec!["https://shop.example/*".to_owned()]),
    ///     prompt: Some("Which teas are there, and what do they cost?".to_owned()),
    ///     ..ExtractRequest::default()
    /// };
    /// let started = client.start_extract(&request).await?;
    /// let ended = client.wait_for_extract(&started.id, Duration::from_secs(2)).await?;
    /// println!("{:?}", ended.data);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_extract(&self, request: &ExtractRequest) -> Result<ExtractStarted, ClientError> {
        let mut call = ApiCall::post(PATH, request, self.timeout())?;
        call.idempotency = Idempotency::NotIdempotent;
        self.transport.call(&call).await
    }

    /// Returns the status of an extraction, and its data once it is completed: `GET /v2/extract/{id}`.
    ///
    /// # Errors
    /// Any [`ClientError`]. An unknown extraction is a [`ClientError::Api`] with status 404.
    pub async fn extract_status(&self, id: &str) -> Result<ExtractStatusResponse, ClientError> {
        self.transport.call(&ApiCall::get(format!("{PATH}/{}", segment(id)), self.timeout())).await
    }

    /// Reads the status of an extraction every `interval` until it has ended, and returns it. A failed or cancelled extraction is
    /// no error: see its `status`.
    ///
    /// # Errors
    /// As [`extract_status`](Self::extract_status). The extraction continues.
    pub async fn wait_for_extract(
        &self,
        id: &str,
        interval: Duration,
    ) -> Result<ExtractStatusResponse, ClientError> {
        loop {
            let extraction = self.extract_status(id).await?;
            match extraction.status {
                ExtractStatus::Completed | ExtractStatus::Failed | ExtractStatus::Cancelled => {
                    return Ok(extraction);
                }
                ExtractStatus::Processing => tokio::time::sleep(interval).await,
            }
        }
    }
}
