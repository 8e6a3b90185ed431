//! Sends spans in batches.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;
use websvc_stage::TraceCounters;
use websvc_transport::{Client, FetchRequest, RedirectPolicy};

use crate::encode;
use crate::queue::BatchConfig;
use crate::span::FinishedSpan;

/// How often a batch is sent at most.
const ATTEMPTS: u32 = 3;
/// The wait before a batch is sent again, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// However long a collector wants to be left alone.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Time limit for the export of the remaining spans at shutdown.
const LAST: Duration = Duration::from_secs(5);
/// The largest answer that is read.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// Collector of the spans. `client` must be allowed to connect to `url`.
pub struct ExporterConfig {
    /// HTTP client of the exporter.
    pub client: Client,
    /// The whole address, such as `http://127.0.0.1:4318/v1/traces`.
    pub url: Url,
    /// Sent with every batch; they may hold secrets.
    pub headers: HeaderMap,
    /// The time for one batch.
    pub timeout: Duration,
    /// Resource attributes of the service: `service.name` and others.
    pub resource: Vec<(String, String)>,
}

impl ExporterConfig {
    /// Sends a batch without spans, to see whether it is taken.
    ///
    /// # Errors
    /// [`ExportError`], which names neither the address nor a header.
    pub async fn probe(&self) -> Result<(), ExportError> {
        self.send(&[]).await
    }

    async fn send(&self, batch: &[FinishedSpan]) -> Result<(), ExportError> {
        let mut request = FetchRequest::post(self.url.clone(), encode::body(&self.resource, batch));
        request.headers.clone_from(&self.headers);
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.timeout = self.timeout;
        request.max_body_bytes = MAX_ANSWER_BYTES;
        request.max_decoded_bytes = MAX_ANSWER_BYTES;
        // Headers with secrets do not go elsewhere by themselves.
        request.redirects = RedirectPolicy::None;
        let answer = self.client.fetch(request).await.map_err(|_not_shown| ExportError::Unreachable)?;
        if answer.status.is_success() {
            return Ok(());
        }
        let come_back = answer.headers.get(RETRY_AFTER);
        let come_back = come_back.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Err(ExportError::Status { status: answer.status, come_back: come_back.map(Duration::from_secs) })
    }
}

impl fmt::Debug for ExporterConfig {
    /// Leaves out the headers, and the address, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// The end of the queue that sends.
#[derive(Debug)]
pub struct Exporter {
    queue: Receiver<FinishedSpan>,
    batching: BatchConfig,
    counters: TraceCounters,
    batch: Vec<FinishedSpan>,
    is_failing: bool,
}

/// Why a batch was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// No connection, or no answer in time.
    #[error("it cannot be reached")]
    Unreachable,
    /// Another status than success.
    #[error("it answered with status {status}")]
    Status {
        /// The status.
        status: StatusCode,
        /// How long it asks to be left alone.
        come_back: Option<Duration>,
    },
}

impl ExportError {
    /// Returns how long to wait before the same is sent again; `None` when it would be refused again.
    fn pause(&self) -> Option<Duration> {
        match self {
            Self::Unreachable => Some(Duration::ZERO),
            Self::Status { status, come_back } => {
                matches!(status.as_u16(), 429 | 502 | 503 | 504).then(|| come_back.unwrap_or_default())
            }
        }
    }
}

impl Exporter {
    pub(crate) fn new(queue: Receiver<FinishedSpan>, batching: BatchConfig, counters: TraceCounters) -> Self {
        Self { queue, batching, counters, batch: Vec::new(), is_failing: false }
    }

    /// Returns the counters of what becomes of the spans.
    #[must_use]
    pub fn counters(&self) -> TraceCounters {
        self.counters.clone()
    }

    /// Sends what comes until `stop` is ready, then what is left, for a few seconds at most.
    pub async fn run(mut self, to: ExporterConfig, stop: impl Future<Output = ()>) {
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
                () = self.send(&to) => {}
            }
        }
        self.queue.close();
        let end = Instant::now() + LAST;
        loop {
            self.take_waiting();
            if self.batch.is_empty() {
                return;
            }
            let sent = timeout_at(end, self.exchange(&to)).await;
            let is_late = sent.is_err();
            self.note(sent.unwrap_or(Err(ExportError::Unreachable)));
            if is_late {
                while self.queue.try_recv().is_ok() {
                    self.counters.failed(1);
                }
                return;
            }
        }
    }

    /// Waits for a span, then until a batch is full or the first has waited long enough.
    async fn fill(&mut self) {
        let most = self.batching.batch.max(1);
        if self.batch.is_empty() {
            match self.queue.recv().await {
                Some(span) => self.batch.push(span),
                // Nobody can send any more; what is left to do is to stop.
                None => return std::future::pending().await,
            }
        }
        let due = Instant::now() + self.batching.delay;
        while self.batch.len() < most {
            match timeout_at(due, self.queue.recv()).await {
                Ok(Some(span)) => self.batch.push(span),
                Ok(None) | Err(_) => return,
            }
        }
    }

    fn take_waiting(&mut self) {
        while self.batch.len() < self.batching.batch.max(1) {
            match self.queue.try_recv() {
                Ok(span) => self.batch.push(span),
                Err(_empty) => return,
            }
        }
    }

    /// Sends the batch, again when that may help; the queue fills meanwhile, within its bound.
    async fn send(&mut self, to: &ExporterConfig) {
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.exchange(to).await {
                Err(refused) => match refused.pause() {
                    Some(wanted) => sleep(wanted.max(pause).min(LONGEST_PAUSE)).await,
                    None => return self.note(Err(refused)),
                },
                Ok(()) => return self.note(Ok(())),
            }
            pause *= 2;
        }
        let sent = self.exchange(to).await;
        self.note(sent);
    }

    async fn exchange(&self, to: &ExporterConfig) -> Result<(), ExportError> {
        to.send(&self.batch).await
    }

    /// Counts the batch and puts it away; the log is told when the collector changes its mind.
    fn note(&mut self, sent: Result<(), ExportError>) {
        let spans = u64::try_from(self.batch.len()).unwrap_or(u64::MAX);
        self.batch.clear();
        match sent {
            Ok(()) => {
                self.counters.exported(spans);
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("the collector of traces answers again");
                }
            }
            Err(refused) => {
                self.counters.failed(spans);
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(reason = %refused, "the collector of traces does not take spans");
                }
            }
        }
    }
}
