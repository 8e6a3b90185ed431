//! Writes pages to a server by `_bulk`: in batches, again when it has no room, and counting what it refuses.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::OnceCell;
use websvc_index::Document;
use websvc_transport::{Client, FetchRequest};

use super::bulk::{BulkItem, BulkItemOutcome, batches, fates, item, lines};
use super::mapping;
use super::server::{Dialect, ElasticsearchConfig, Server};
use crate::error::SourceError;
use crate::source::endpoint::{bound, read_json, unreachable};

/// A batch is tried again so often without progress before it is given up.
const RETRIES: u32 = 6;

/// The pause before a batch is tried again doubles up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The time for one request: making an index and taking a batch take longer than a search.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Writes pages to a server that speaks the API of Elasticsearch.
#[derive(Debug)]
pub struct ElasticsearchWriter {
    name: String,
    server: Server,
    client: Client,
    first_pause: Duration,
    /// Set when the index is known to be there.
    index: OnceCell<()>,
}

/// What became of pages that were to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkReport {
    /// They are in the index.
    pub written: u64,
    /// The server will not take them, or they cannot be sent.
    pub refused: u64,
    /// They were given up, because the server was not to be reached or had no room.
    pub lost: u64,
    /// The first failure, in words.
    pub first_failure: Option<String>,
}

impl BulkReport {
    /// Adds what became of others.
    pub fn add(&mut self, other: BulkReport) {
        let BulkReport { written, refused, lost, first_failure } = other;
        self.written += written;
        self.refused += refused;
        self.lost += lost;
        if self.first_failure.is_none() {
            self.first_failure = first_failure;
        }
    }

    fn refuse(&mut self, url: &str, why: &str) {
        tracing::warn!(url, why, "a document was refused");
        self.refused += 1;
        self.first_failure.get_or_insert_with(|| format!("{url}: {why}"));
    }

    fn lose(&mut self, count: usize, why: String) {
        self.lost += count as u64;
        self.first_failure.get_or_insert(why);
    }
}

impl ElasticsearchWriter {
    /// Makes a writer; `client` has to be allowed to reach [`ElasticsearchConfig::origin`].
    pub fn new(config: ElasticsearchConfig, client: Client) -> Self {
        let ElasticsearchConfig { name, server, endpoint: _ } = config;
        let first_pause = Duration::from_millis(250);
        Self { name, server, client, first_pause, index: OnceCell::new() }
    }

    /// Sets the pause before the first repetition; the following ones double.
    #[must_use]
    pub fn with_first_pause(mut self, pause: Duration) -> Self {
        self.first_pause = pause;
        self
    }

    /// Returns the name of the source that is written to.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes pages, each replacing its older state, and makes the index when there is none. It returns when the fate
    /// of every page is known.
    pub async fn write(&self, documents: Vec<Document>) -> BulkReport {
        let mut sum = BulkReport::default();
        if documents.is_empty() {
            return sum;
        }
        if let Err(error) = self.index.get_or_try_init(|| self.ensure_index()).await {
            sum.lose(documents.len(), error.to_string());
            return sum;
        }
        let mut items = Vec::with_capacity(documents.len());
        for document in documents {
            let url = document.url.clone();
            match item(self.server.dialect, document) {
                Ok(item) => items.push(item),
                Err(why) => sum.refuse(&url, &why),
            }
        }
        for batch in batches(items) {
            self.send(batch, &mut sum).await;
        }
        sum
    }

    /// Sends a batch until every document has its fate; one that is too large for the server is halved.
    async fn send(&self, batch: Vec<BulkItem>, sum: &mut BulkReport) {
        let mut batches = VecDeque::from([batch]);
        let mut attempts = 0;
        while let Some(mut batch) = batches.pop_front() {
            let reply = self.exchange(self.server.bulk(lines(&batch))).await;
            let error = match reply.and_then(|reply| fates(&reply, batch.len())) {
                Ok(fates) => {
                    let before = batch.len();
                    batch = apply_results(batch, fates, sum);
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
            if attempts >= RETRIES || !passes(&error) {
                let all = batch.len() + batches.iter().map(Vec::len).sum::<usize>();
                sum.lose(all, self.server.explain(error).to_string());
                return;
            }
            tokio::time::sleep(self.pause(attempts, &error)).await;
            attempts += 1;
            batches.push_front(batch);
        }
    }

    fn pause(&self, attempts: u32, error: &SourceError) -> Duration {
        let wanted = match error {
            SourceError::Limited { retry_after } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        self.first_pause.saturating_mul(1 << attempts).max(wanted).min(LONGEST_PAUSE)
    }

    /// Makes sure that there is an index with our fields.
    async fn ensure_index(&self) -> Result<(), SourceError> {
        let mut attempts = 0;
        loop {
            let error = match self.find_or_make_index().await {
                Err(error) if passes(&error) && attempts < RETRIES => error,
                outcome => return outcome.map_err(|error| self.server.explain(error)),
            };
            tokio::time::sleep(self.pause(attempts, &error)).await;
            attempts += 1;
        }
    }

    async fn find_or_make_index(&self) -> Result<(), SourceError> {
        match self.exchange(self.server.index_exists_request()).await {
            Ok(found) => return self.check(&found),
            Err(SourceError::Status { status: 404, .. }) => {}
            Err(error) => return Err(error),
        }
        tracing::info!(source = self.name, index = self.server.index(), "making the index");
        match self.exchange(self.server.create_index_request()).await {
            Ok(_made) => Ok(()),
            // Somebody else may have made it in the meantime.
            Err(SourceError::Status { status: 400 | 409, message }) => {
                let found = self.exchange(self.server.index_exists_request()).await;
                self.check(&found.map_err(|_| SourceError::Status { status: 400, message })?)
            }
            Err(error) => Err(error),
        }
    }

    /// Checks that an index that is there has our fields.
    fn check(&self, found: &Value) -> Result<(), SourceError> {
        if self.server.dialect == Dialect::Quickwit {
            return Ok(());
        }
        let properties = found.as_object().and_then(|found| found.values().next());
        let properties = properties.and_then(|index| index.pointer("/mappings/properties"));
        let kind_of = |properties: &Value, name: &str| {
            properties.pointer(&format!("/{name}/type")).and_then(Value::as_str).map(str::to_owned)
        };
        let ours = mapping::elasticsearch_index();
        let ours = &ours["mappings"]["properties"];
        for name in ours.as_object().into_iter().flat_map(|ours| ours.keys()) {
            let there = properties.and_then(|properties| kind_of(properties, name));
            if there != kind_of(ours, name) {
                let what =
                    format!("the index {:?} has not the field {name:?} of websvc", self.server.index());
                return Err(SourceError::Unreadable { what });
            }
        }
        Ok(())
    }

    async fn exchange(&self, mut request: FetchRequest) -> Result<Value, SourceError> {
        bound(&mut request);
        request.timeout = TIMEOUT;
        match self.client.fetch(request).await {
            Ok(fetched) => read_json(&fetched),
            Err(error) => Err(unreachable(&error, TIMEOUT)),
        }
    }
}

/// Counts what has its fate, and returns what is to be sent again.
fn apply_results(batch: Vec<BulkItem>, fates: Vec<BulkItemOutcome>, sum: &mut BulkReport) -> Vec<BulkItem> {
    let mut again = Vec::new();
    for (item, fate) in batch.into_iter().zip(fates) {
        match fate {
            BulkItemOutcome::Written => sum.written += 1,
            BulkItemOutcome::Again => again.push(item),
            BulkItemOutcome::Refused(why) => sum.refuse(&item.url, &why),
        }
    }
    again
}

/// Tells whether an error may be over in a moment.
fn passes(error: &SourceError) -> bool {
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
