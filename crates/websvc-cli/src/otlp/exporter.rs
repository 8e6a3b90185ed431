//! Sends spans to the collector in batches.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;
use websvc_stage::TraceMetrics;
use websvc_transport::{Client, FetchRequest, RedirectPolicy};

use crate::otlp::encode;
use crate::otlp::span::FinishedSpan;

/// Maximum number of times that a batch is sent.
const MAX_ATTEMPTS: u32 = 3;
/// Delay before a batch is sent again, doubled for each further attempt.
const INITIAL_BACKOFF: Duration = Duration::from_secs(1);
/// Maximum delay before a batch is sent again, whatever `Retry-After` of the collector says.
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// Time limit for the export of the remaining spans at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a response of the collector.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;

/// Limits of the queue and of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchConfig {
    /// Maximum number of queued spans, at least 1.
    pub(crate) queue: usize,
    /// Maximum number of spans in a batch, at least 1.
    pub(crate) batch: usize,
    /// Maximum time that a batch waits for further spans.
    pub(crate) delay: Duration,
}

impl Default for BatchConfig {
    fn default() -> Self {
        Self { queue: 2048, batch: 512, delay: Duration::from_secs(5) }
    }
}

/// The collector and how to send to it. `client` must be allowed to connect to `url`.
pub(crate) struct ExporterConfig {
    /// HTTP client of the exporter.
    pub(crate) client: Client,
    /// URL of the collector's endpoint for traces, such as `http://127.0.0.1:4318/v1/traces`.
    pub(crate) url: Url,
    /// Headers of every request. They may contain secrets.
    pub(crate) headers: HeaderMap,
    /// Timeout for sending a batch once.
    pub(crate) timeout: Duration,
    /// Resource attributes of the service: `service.name` and others.
    pub(crate) resource: Vec<(String, String)>,
}

impl ExporterConfig {
    /// Sends a batch without spans to check whether the collector accepts it.
    ///
    /// # Errors
    /// Returns an [`ExportError`], which contains neither the URL nor a header.
    pub(crate) async fn probe(&self) -> Result<(), ExportError> {
        self.send(&[]).await
    }

    async fn send(&self, batch: &[FinishedSpan]) -> Result<(), ExportError> {
        let mut request = FetchRequest::post(self.url.clone(), encode::request_body(&self.resource, batch));
        request.headers.clone_from(&self.headers);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.timeout = self.timeout;
        request.max_body_bytes = MAX_RESPONSE_BYTES;
        request.max_decoded_bytes = MAX_RESPONSE_BYTES;
        // A redirect would send headers with secrets to another address.
        request.redirects = RedirectPolicy::None;
        let response = self.client.fetch(request).await.map_err(|_not_shown| ExportError::Unreachable)?;
        if response.status.is_success() {
            return Ok(());
        }
        let retry_after = response.headers.get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Err(ExportError::Status {
            status: response.status,
            retry_after: retry_after.map(Duration::from_secs),
        })
    }
}

impl fmt::Debug for ExporterConfig {
    /// Omits the headers and the URL, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExporterConfig").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// The receiving end of the queue, which sends the spans to the collector.
#[derive(Debug)]
pub(crate) struct Exporter {
    queue: Receiver<FinishedSpan>,
    batch_config: BatchConfig,
    metrics: Arc<TraceMetrics>,
    batch: Vec<FinishedSpan>,
    /// True if the last batch was not exported.
    is_failing: bool,
}

/// A failure to export a batch.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    /// No connection, or no response within the timeout.
    #[error("could not be reached")]
    Unreachable,
    /// A response with a status other than success.
    #[error("responded with status {status}")]
    Status {
        /// The status.
        status: StatusCode,
        /// Delay that the collector requested by `Retry-After`.
        retry_after: Option<Duration>,
    },
}

impl ExportError {
    /// Returns the minimum delay before the batch is sent again; `None` if it would fail again.
    fn retry_delay(&self) -> Option<Duration> {
        match self {
            Self::Unreachable => Some(Duration::ZERO),
            Self::Status { status, retry_after } => {
                matches!(status.as_u16(), 429 | 502 | 503 | 504).then(|| retry_after.unwrap_or_default())
            }
        }
    }
}

impl Exporter {
    pub(crate) fn new(
        queue: Receiver<FinishedSpan>,
        batch_config: BatchConfig,
        metrics: Arc<TraceMetrics>,
    ) -> Self {
        Self { queue, batch_config, metrics, batch: Vec::new(), is_failing: false }
    }

    /// Returns the counters of exported, dropped and failed spans.
    #[must_use]
    pub(crate) fn metrics(&self) -> Arc<TraceMetrics> {
        Arc::clone(&self.metrics)
    }

    /// Sends spans until `stop` is ready, then the remaining ones for at most 5 seconds.
    pub(crate) async fn run(mut self, config: ExporterConfig, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = self.fill() => {}
            }
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = self.send(&config) => {}
            }
        }
        self.queue.close();
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        loop {
            self.take_queued();
            if self.batch.is_empty() {
                return;
            }
            let result = timeout_at(deadline, config.send(&self.batch)).await;
            let timed_out = result.is_err();
            self.record_result(result.unwrap_or(Err(ExportError::Unreachable)));
            if timed_out {
                while self.queue.try_recv().is_ok() {
                    self.metrics.failed.add(1);
                }
                return;
            }
        }
    }

    /// Waits for a span, then until the batch is full or its delay has passed.
    async fn fill(&mut self) {
        let max = self.batch_config.batch.max(1);
        if self.batch.is_empty() {
            match self.queue.recv().await {
                Some(span) => self.batch.push(span),
                // The layer is gone, so that no span can follow. `run` ends when `stop` is ready.
                None => return std::future::pending().await,
            }
        }
        let due = Instant::now() + self.batch_config.delay;
        while self.batch.len() < max {
            match timeout_at(due, self.queue.recv()).await {
                Ok(Some(span)) => self.batch.push(span),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Fills the batch with spans that are already in the queue.
    fn take_queued(&mut self) {
        while self.batch.len() < self.batch_config.batch.max(1) {
            match self.queue.try_recv() {
                Ok(span) => self.batch.push(span),
                Err(_empty) => return,
            }
        }
    }

    /// Sends the batch, and again after a temporary failure. Meanwhile the queue fills up to its capacity.
    async fn send(&mut self, config: &ExporterConfig) {
        let mut backoff = INITIAL_BACKOFF;
        for _ in 1..MAX_ATTEMPTS {
            match config.send(&self.batch).await {
                Err(error) => match error.retry_delay() {
                    Some(delay) => sleep(delay.max(backoff).min(MAX_BACKOFF)).await,
                    None => return self.record_result(Err(error)),
                },
                Ok(()) => return self.record_result(Ok(())),
            }
            backoff *= 2;
        }
        let result = config.send(&self.batch).await;
        self.record_result(result);
    }

    /// Counts the spans of the batch and clears it. Logs the first failure and the first success after a failure.
    fn record_result(&mut self, result: Result<(), ExportError>) {
        let spans = u64::try_from(self.batch.len()).unwrap_or(u64::MAX);
        self.batch.clear();
        match result {
            Ok(()) => {
                self.metrics.exported.add(spans);
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("OTLP export recovered");
                }
            }
            Err(error) => {
                self.metrics.failed.add(spans);
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(reason = %error, "OTLP export failed");
                }
            }
        }
    }
}
