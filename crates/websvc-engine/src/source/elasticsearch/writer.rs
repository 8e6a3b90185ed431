//! Writes pages to a server with `_bulk`: in batches, with retries, and counting rejected documents.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::OnceCell;
use websvc_index::Document;
use websvc_transport::{Client, FetchRequest};

use super::bulk::{BulkItem, BulkItemOutcome, batches, item, lines, outcomes};
use super::mapping;
use super::server::{Dialect, ElasticsearchConfig, Server};
use crate::error::SourceError;
use crate::source::endpoint::{read_json, set_limits, to_source_error};

/// The number of retries without progress after which a batch is abandoned.
const RETRIES: u32 = 6;

/// The maximum backoff before a retry.
const MAX_BACKOFF: Duration = Duration::from_secs(10);

/// The timeout of a request. Creating an index or accepting a batch takes longer than a search.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Writes pages to a server that speaks the API of Elasticsearch.
#[derive(Debug)]
pub struct ElasticsearchWriter {
    name: String,
    pub(super) server: Server,
    client: Client,
    initial_backoff: Duration,
    /// Set when the index is known to exist.
    index: OnceCell<()>,
}

/// The state of the server after a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerState {
    Available,
    /// It was unreachable or had no capacity for as long as a batch is retried.
    Unavailable,
}

impl ServerState {
    fn after(error: &SourceError) -> Self {
        if is_temporary(error) { Self::Unavailable } else { Self::Available }
    }
}

/// The number of pages by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkReport {
    /// Pages that are in the index.
    pub written: u64,
    /// Pages that the server rejected, or that cannot be sent.
    pub refused: u64,
    /// Pages that were abandoned, because the server was unreachable or had no capacity.
    pub lost: u64,
    /// The first failure.
    pub first_failure: Option<String>,
}

impl BulkReport {
    /// Adds the numbers of another report.
    pub fn add(&mut self, other: BulkReport) {
        let BulkReport { written, refused, lost, first_failure } = other;
        self.written += written;
        self.refused += refused;
        self.lost += lost;
        if self.first_failure.is_none() {
            self.first_failure = first_failure;
        }
    }

    fn reject(&mut self, url: &str, reason: &str) {
        tracing::warn!(url, reason, "document rejected");
        self.refused += 1;
        self.first_failure.get_or_insert_with(|| format!("{url}: {reason}"));
    }

    fn add_lost(&mut self, count: usize, reason: String) {
        self.lost += count as u64;
        self.first_failure.get_or_insert(reason);
    }
}

impl ElasticsearchWriter {
    /// Creates a writer. `client` must be allowed to connect to [`ElasticsearchConfig::origin`].
    pub fn new(config: ElasticsearchConfig, client: Client) -> Self {
        let ElasticsearchConfig { name, server, endpoint: _ } = config;
        let initial_backoff = Duration::from_millis(250);
        Self { name, server, client, initial_backoff, index: OnceCell::new() }
    }

    /// Sets the backoff before the first retry. It doubles with each further retry.
    #[must_use]
    pub fn with_initial_backoff(mut self, backoff: Duration) -> Self {
        self.initial_backoff = backoff;
        self
    }

    /// Returns the name of the source that it writes to.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes pages, each replacing its older version, and creates the index if there is none. Returns when the outcome
    /// of every page is known.
    pub async fn write(&self, documents: Vec<Document>) -> BulkReport {
        let mut report = BulkReport::default();
        if documents.is_empty() {
            return report;
        }
        if let Err(error) = self.index.get_or_try_init(|| self.ensure_index()).await {
            report.add_lost(documents.len(), error.to_string());
            return report;
        }
        let mut items = Vec::with_capacity(documents.len());
        for document in documents {
            let url = document.url.clone();
            match item(self.server.dialect, document) {
                Ok(item) => items.push(item),
                Err(reason) => report.reject(&url, &reason),
            }
        }
        let mut batches = batches(items).into_iter();
        while let Some(batch) = batches.next() {
            if self.send(batch, &mut report).await == ServerState::Unavailable {
                // Each further batch would wait for the server as long as this one.
                let rest = batches.map(|batch| batch.len()).sum();
                report.add_lost(rest, "the server is not available".to_owned());
                break;
            }
        }
        report
    }

    /// Sends a batch until the outcome of every document is known. A batch that is too large for the server is halved.
    async fn send(&self, batch: Vec<BulkItem>, report: &mut BulkReport) -> ServerState {
        let mut batches = VecDeque::from([batch]);
        let mut attempts = 0;
        while let Some(mut batch) = batches.pop_front() {
            let response = self.exchange(self.server.bulk(lines(&batch))).await;
            let error = match response.and_then(|response| outcomes(&response, batch.len())) {
                Ok(outcomes) => {
                    let before = batch.len();
                    batch = apply_results(batch, outcomes, report);
                    if batch.len() < before {
                        attempts = 0;
                    }
                    SourceError::Limited { retry_after: None }
                }
                Err(SourceError::Status { status: 413, .. }) if batch.len() > 1 => {
                    let rest = batch.split_off(batch.len() / 2);
                    batches.push_front(rest);
                    batches.push_front(batch);
                    continue;
                }
                Err(error) => error,
            };
            if batch.is_empty() {
                continue;
            }
            if attempts >= RETRIES || !is_temporary(&error) {
                let all = batch.len() + batches.iter().map(Vec::len).sum::<usize>();
                let state = ServerState::after(&error);
                report.add_lost(all, self.server.with_operator_message(error).to_string());
                return state;
            }
            tokio::time::sleep(self.backoff(attempts, &error)).await;
            attempts += 1;
            batches.push_front(batch);
        }
        ServerState::Available
    }

    fn backoff(&self, attempts: u32, error: &SourceError) -> Duration {
        let retry_after = match error {
            SourceError::Limited { retry_after } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        self.initial_backoff.saturating_mul(1 << attempts).max(retry_after).min(MAX_BACKOFF)
    }

    /// Ensures that the index exists and has our fields.
    async fn ensure_index(&self) -> Result<(), SourceError> {
        let existing = match self.exchange_patiently(|| self.server.index_exists_request()).await {
            Ok(existing) => Ok(Some(existing)),
            Err(SourceError::Status { status: 404, .. }) => self.create_index().await,
            Err(error) => Err(error),
        };
        let checked = match existing {
            Ok(Some(existing)) => self.check_mapping(&existing).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        checked.map_err(|error| self.server.with_operator_message(error))
    }

    /// Creates the index. Returns the existing one if another process has created it in the meantime.
    async fn create_index(&self) -> Result<Option<Value>, SourceError> {
        tracing::info!(source = self.name, index = self.server.index(), "creating the index");
        match self.exchange_patiently(|| self.server.create_index_request()).await {
            Ok(_created) => Ok(None),
            Err(SourceError::Status { status: 400 | 409, message }) => {
                let existing = self.exchange(self.server.index_exists_request()).await;
                existing.map(Some).map_err(|_| SourceError::Status { status: 400, message })
            }
            Err(error) => Err(error),
        }
    }

    /// Checks that an existing index has our fields, and adds those that earlier versions did not create.
    async fn check_mapping(&self, existing: &Value) -> Result<(), SourceError> {
        if self.server.dialect == Dialect::Quickwit {
            return Ok(());
        }
        let properties = existing.as_object().and_then(|existing| existing.values().next());
        let properties = properties.and_then(|index| index.pointer("/mappings/properties"));
        let type_of = |field: &Value| field.get("type").and_then(Value::as_str).map(str::to_owned);
        let mut missing = serde_json::Map::new();
        for (name, field) in mapping::elasticsearch_fields() {
            let existing = properties.and_then(|properties| properties.get(&name));
            if existing.is_none() && mapping::ADDED_FIELDS.contains(&name.as_str()) {
                missing.insert(name, field);
            } else if existing.and_then(type_of) != type_of(&field) {
                let what = format!(
                    "the index {:?} was not created by websvc: its field {name:?} is missing or has another type",
                    self.server.index()
                );
                return Err(SourceError::Unreadable { what });
            }
        }
        if !missing.is_empty() {
            tracing::info!(source = self.name, index = self.server.index(), "adding fields to the index");
            self.exchange_patiently(|| self.server.add_fields(&missing.clone().into())).await?;
        }
        Ok(())
    }

    /// Sends a request, and sends it again while the server is unreachable or has no capacity.
    pub(super) async fn exchange_patiently(
        &self,
        request: impl Fn() -> FetchRequest,
    ) -> Result<Value, SourceError> {
        let mut attempts = 0;
        loop {
            let error = match self.exchange(request()).await {
                Err(error) if is_temporary(&error) && attempts < RETRIES => error,
                outcome => return outcome,
            };
            tokio::time::sleep(self.backoff(attempts, &error)).await;
            attempts += 1;
        }
    }

    /// Returns the timeout of a request.
    pub(super) fn timeout(&self) -> Duration {
        TIMEOUT
    }

    pub(super) async fn exchange(&self, mut request: FetchRequest) -> Result<Value, SourceError> {
        set_limits(&mut request);
        request.timeout = TIMEOUT;
        match self.client.fetch(request).await {
            // The server has restarted, or a proxy has given up. The request can be sent again.
            Ok(response) if response.truncated => {
                Err(SourceError::Unreachable { text: "the connection broke during the response".to_owned() })
            }
            Ok(response) => read_json(&response),
            Err(error) => Err(to_source_error(&error, TIMEOUT)),
        }
    }
}

/// Counts the documents with a final outcome, and returns those to send again.
fn apply_results(
    batch: Vec<BulkItem>,
    outcomes: Vec<BulkItemOutcome>,
    report: &mut BulkReport,
) -> Vec<BulkItem> {
    let mut retries = Vec::new();
    for (item, outcome) in batch.into_iter().zip(outcomes) {
        match outcome {
            BulkItemOutcome::Written => report.written += 1,
            BulkItemOutcome::Retry => retries.push(item),
            BulkItemOutcome::Rejected(reason) => report.reject(&item.url, &reason),
        }
    }
    retries
}

/// Returns whether an error may be temporary.
fn is_temporary(error: &SourceError) -> bool {
    match error {
        SourceError::Limited { .. }
        | SourceError::Timeout { .. }
        | SourceError::Unreachable { .. }
        | SourceError::Busy { .. }
        | SourceError::Paused { .. } => true,
        SourceError::Status { status, .. } => matches!(status, 502..=504),
        SourceError::JsonDisabled
        | SourceError::Redirect { .. }
        | SourceError::NotJson { .. }
        | SourceError::Unreadable { .. } => false,
    }
}
