//! Writes pages to a server with `_bulk`: in batches, with retries, and counting rejected documents.
//!
//! Pages that are not written stay with the caller, who has them in an outbox.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::OnceCell;
use websvc_index::Document;
use websvc_store::{OutboxPage, PageOwner, Store, StoreError};
use websvc_transport::{Client, FetchRequest};

use super::bulk::{BulkItemOutcome, batches, lines, outcomes, read_id, to_outbox_page};
use super::selection::PageSelection;
use super::server::{ElasticsearchConfig, OutboxLimits, Server};
use super::{Elasticsearch, mapping};
use crate::error::SourceError;
use crate::source::endpoint::{Endpoint, read_json, set_limits, to_source_error};
use crate::source::{EndpointConfig, TEAM_SOURCE};

/// The number of retries without progress after which a caller who waits gets its pages back.
pub(crate) const RETRIES: u32 = 6;

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
    outbox_limits: OutboxLimits,
    /// Set when the index is known to exist.
    index: OnceCell<()>,
    endpoint: EndpointConfig,
    /// The indexes of single teams that were used.
    teams: Mutex<HashMap<PageOwner, TeamIndex>>,
}

/// The index of a team on the server.
#[derive(Debug, Clone)]
struct TeamIndex {
    writer: Arc<ElasticsearchWriter>,
    source: Arc<Elasticsearch>,
}

/// The result of sending pages once.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    /// The pages that were written or rejected.
    pub(crate) report: BulkReport,
    /// The pages that were neither written nor rejected.
    pub(crate) unsent: Vec<OutboxPage>,
    /// The reason why the rest was not sent: the server is unreachable, has no capacity or rejects all requests. Pages
    /// that failed alone do not interrupt a delivery.
    pub(crate) interruption: Option<SourceError>,
}

/// The number of pages by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkReport {
    /// Pages that are in the index.
    pub written: u64,
    /// Pages that the server rejected, or that cannot be sent.
    pub refused: u64,
    /// Pages that wait in the outbox, because the server is unreachable or has no capacity.
    pub waiting: u64,
    /// Pages that are neither in the index nor in the outbox.
    pub lost: u64,
    /// The first failure.
    pub first_failure: Option<String>,
}

impl BulkReport {
    /// Adds the numbers of another report.
    pub fn add(&mut self, other: BulkReport) {
        let BulkReport { written, refused, waiting, lost, first_failure } = other;
        self.written += written;
        self.refused += refused;
        self.waiting += waiting;
        self.lost += lost;
        if self.first_failure.is_none() {
            self.first_failure = first_failure;
        }
    }

    pub(crate) fn reject(&mut self, url: &str, reason: &str) {
        tracing::warn!(url, reason, "document rejected");
        self.refused += 1;
        self.first_failure.get_or_insert_with(|| format!("{url}: {reason}"));
    }

    pub(crate) fn add_waiting(&mut self, count: usize, reason: String) {
        self.waiting += count as u64;
        self.first_failure.get_or_insert(reason);
    }

    pub(crate) fn add_lost(&mut self, count: usize, reason: String) {
        self.lost += count as u64;
        self.first_failure.get_or_insert(reason);
    }
}

impl ElasticsearchWriter {
    /// Creates a writer. `client` must be allowed to connect to [`ElasticsearchConfig::origin`].
    pub fn new(config: ElasticsearchConfig, client: Client) -> Self {
        let ElasticsearchConfig { name, server, endpoint, outbox_limits } = config;
        let (initial_backoff, index, teams) = (Duration::from_millis(250), OnceCell::new(), Mutex::default());
        Self { name, server, client, initial_backoff, outbox_limits, index, endpoint, teams }
    }

    /// Lets each team of a database have an index of its own on the server, if that can delete such an index.
    /// `installation` is the [ID](Store::installation_id) of the database.
    #[must_use]
    pub fn with_team_indexes(mut self, installation: &str) -> Self {
        self.server = self.server.with_team_indexes(installation);
        self
    }

    /// Returns whether each team has an index of its own on the server.
    pub(crate) fn has_team_indexes(&self) -> bool {
        self.server.team_prefix().is_some()
    }

    /// Returns the writer to the index of a team, for its creation and administration.
    pub(crate) fn team(&self, owner: PageOwner) -> Arc<Self> {
        self.team_index(owner).writer
    }

    /// Returns the index of a team as a search source. It is empty as long as the index does not exist.
    pub(crate) fn team_source(&self, owner: PageOwner) -> Arc<Elasticsearch> {
        self.team_index(owner).source
    }

    fn team_index(&self, owner: PageOwner) -> TeamIndex {
        let create = || {
            let (server, client, endpoint) = (self.server.of_team(owner), self.client.clone(), self.endpoint);
            let source = Endpoint::new(TEAM_SOURCE.to_owned(), client.clone(), endpoint);
            let source = Arc::new(Elasticsearch { server: server.clone(), endpoint: source });
            let (name, outbox_limits) = (self.name.clone(), self.outbox_limits);
            let config = ElasticsearchConfig { name, server, endpoint, outbox_limits };
            let writer = Self::new(config, client).with_initial_backoff(self.initial_backoff);
            TeamIndex { writer: Arc::new(writer), source }
        };
        self.teams.lock().entry(owner).or_insert_with(create).clone()
    }

    /// Forgets what is known of the indexes of other teams than these.
    pub(crate) fn retain_teams(&self, owners: &BTreeSet<PageOwner>) {
        self.teams.lock().retain(|owner, _| owners.contains(owner));
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

    /// Returns the limits of the outbox.
    pub(crate) fn outbox_limits(&self) -> OutboxLimits {
        self.outbox_limits
    }

    /// Removes pages of a selection that wait in the outbox, and returns their number.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn remove_waiting(&self, store: &Store, pages: &PageSelection) -> Result<usize, StoreError> {
        let selector = pages.selector();
        store.remove_from_outbox(&self.name, |id, url| selector.selects(id, url))
    }

    /// Writes pages without an outbox, each replacing its older version, and creates the index if there is none. Returns
    /// when the outcome of every page is known.
    pub async fn write(&self, documents: Vec<Document>) -> BulkReport {
        let mut report = BulkReport::default();
        let version = now_ms();
        let mut pages = Vec::with_capacity(documents.len());
        for document in documents {
            let url = document.url.clone();
            match to_outbox_page(document, version, None) {
                Ok(page) => pages.push(page),
                Err(reason) => report.reject(&url, &reason),
            }
        }
        let Delivery { report: delivered, unsent, interruption } = self.deliver(pages, RETRIES).await;
        report.add(delivered);
        if !unsent.is_empty() {
            let reason = interruption.map_or_else(String::new, |error| error.to_string());
            report.add_lost(unsent.len(), reason);
        }
        report
    }

    /// Sends pages in batches, and those that the server has no capacity for up to `retries` times again without progress.
    pub(crate) async fn deliver(&self, pages: Vec<OutboxPage>, retries: u32) -> Delivery {
        let mut delivery = Delivery::default();
        if pages.is_empty() {
            return delivery;
        }
        let pages = match self.prepare_all(pages, retries, &mut delivery).await {
            Ok(pages) => pages,
            Err((error, unsent)) => return Delivery { unsent, interruption: Some(error), ..delivery },
        };
        let mut batches = batches(self.server.stems.as_ref(), pages).into_iter();
        while let Some(batch) = batches.next() {
            if let Err(error) = self.send(batch, retries, &mut delivery).await {
                // Each further batch would wait for the server as long as this one.
                delivery.unsent.extend(batches.flatten());
                delivery.interruption = Some(self.server.with_operator_message(error));
                break;
            }
        }
        delivery
    }

    /// Sends a batch until the outcome of every document is known. A batch that is too large for the server is halved.
    ///
    /// # Errors
    /// The reason why the server takes no more documents.
    async fn send(
        &self,
        batch: Vec<OutboxPage>,
        retries: u32,
        delivery: &mut Delivery,
    ) -> Result<(), SourceError> {
        let mut batches = VecDeque::from([batch]);
        let mut attempts = 0;
        while let Some(mut batch) = batches.pop_front() {
            let response = self.exchange(self.server.bulk(self.lines(&batch))).await;
            let error = match response.and_then(|response| outcomes(&response, batch.len())) {
                Ok(outcomes) => {
                    let before = batch.len();
                    batch = delivery.apply(batch, outcomes);
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
                Err(SourceError::Status { status: 413, .. }) => {
                    let reason = "status 413: it is too large for the server";
                    batch.drain(..).for_each(|page| delivery.report.reject(&page.url, reason));
                    continue;
                }
                Err(error) => error,
            };
            if batch.is_empty() {
                continue;
            }
            batches.push_front(batch);
            if attempts >= retries || !is_temporary(&error) {
                delivery.unsent.extend(batches.into_iter().flatten());
                return Err(error);
            }
            tokio::time::sleep(self.backoff(attempts, &error)).await;
            attempts += 1;
        }
        Ok(())
    }

    fn lines(&self, batch: &[OutboxPage]) -> bytes::Bytes {
        lines(self.server.stems.as_ref(), self.server.team_prefix().unwrap_or_default(), batch)
    }

    /// Ensures that the indexes of all pages exist, and returns the pages whose index does. Those of a team whose index
    /// the server refuses are not sent, and delay no others.
    ///
    /// # Errors
    /// The reason why no index can be prepared, and all pages.
    async fn prepare_all(
        &self,
        mut pages: Vec<OutboxPage>,
        retries: u32,
        delivery: &mut Delivery,
    ) -> Result<Vec<OutboxPage>, (SourceError, Vec<OutboxPage>)> {
        if let Err(error) = self.prepare(retries).await {
            return Err((error, pages));
        }
        let owners: BTreeSet<PageOwner> = pages.iter().filter_map(|page| read_id(&page.id).0).collect();
        for owner in owners {
            let error = match self.team(owner).prepare(retries).await {
                Ok(()) => continue,
                Err(error) if is_temporary(&error) => {
                    pages.append(&mut delivery.unsent);
                    return Err((error, pages));
                }
                Err(error) => error,
            };
            tracing::error!(
                source = self.name,
                owner = owner.number(),
                error = &error as &dyn std::error::Error,
                "the index of a team cannot be used: its pages are sent again later"
            );
            delivery.report.first_failure.get_or_insert_with(|| error.to_string());
            let (unsent, others) = pages.into_iter().partition(|page| read_id(&page.id).0 == Some(owner));
            delivery.unsent.extend::<Vec<_>>(unsent);
            pages = others;
        }
        Ok(pages)
    }

    /// Returns how long to wait before another attempt.
    pub(crate) fn backoff(&self, attempts: u32, error: &SourceError) -> Duration {
        let retry_after = match error {
            SourceError::Limited { retry_after } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        let factor = 1_u32.checked_shl(attempts).unwrap_or(u32::MAX);
        self.initial_backoff.saturating_mul(factor).max(retry_after).min(MAX_BACKOFF)
    }

    /// Ensures that the index exists and has our fields, unless that is known.
    pub(crate) async fn prepare(&self, retries: u32) -> Result<(), SourceError> {
        self.index.get_or_try_init(|| self.ensure_index(retries)).await.map(|_known| ())
    }

    /// Ensures that the index exists and has our fields.
    async fn ensure_index(&self, retries: u32) -> Result<(), SourceError> {
        let existing = match self.exchange_patiently(|| self.server.index_exists_request(), retries).await {
            Ok(existing) => Ok(Some(existing)),
            Err(SourceError::Status { status: 404, .. }) => self.create_index(retries).await,
            Err(error) => Err(error),
        };
        let checked = match existing {
            Ok(Some(existing)) => self.check_mapping(&existing, retries).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        checked.map_err(|error| self.server.with_operator_message(error))
    }

    /// Creates the index. Returns the existing one if another process has created it in the meantime.
    async fn create_index(&self, retries: u32) -> Result<Option<Value>, SourceError> {
        tracing::info!(source = self.name, index = self.server.index(), "creating the index");
        match self.exchange_patiently(|| self.server.create_index_request(), retries).await {
            Ok(_created) => Ok(None),
            Err(SourceError::Status { status: 400 | 409, message }) => {
                let existing = self.exchange(self.server.index_exists_request()).await;
                existing.map(Some).map_err(|_| SourceError::Status { status: 400, message })
            }
            Err(error) => Err(error),
        }
    }

    /// Checks that an existing index has our fields, and adds those that earlier versions did not create. If the name is
    /// an alias, it checks every index of the alias.
    async fn check_mapping(&self, existing: &Value, retries: u32) -> Result<(), SourceError> {
        let Some(stems) = &self.server.stems else { return Ok(()) };
        let fields = mapping::elasticsearch_fields(stems);
        for (index, existing) in existing.as_object().into_iter().flatten() {
            let existing = existing.pointer("/mappings/properties").and_then(Value::as_object);
            let missing = mapping::missing_fields(&fields, existing).map_err(|field| {
                let rule = "is missing or has another type or analyzer";
                let what =
                    format!("the index {index:?} was not created by websvc: its field {field:?} {rule}");
                SourceError::Unreadable { what }
            })?;
            if missing.is_empty() {
                continue;
            }
            let names = missing.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            tracing::warn!(
                source = self.name,
                index,
                fields = names,
                "adding fields to the index: pages have them when they are written again, and rank lower until then"
            );
            let add = || self.server.add_fields(index, &missing.clone().into());
            self.exchange_patiently(add, retries).await?;
        }
        Ok(())
    }

    /// Sends a request, and sends it up to `retries` times again while the server is unreachable or has no capacity.
    pub(super) async fn exchange_patiently(
        &self,
        request: impl Fn() -> FetchRequest,
        retries: u32,
    ) -> Result<Value, SourceError> {
        let mut attempts = 0;
        loop {
            let error = match self.exchange(request()).await {
                Err(error) if is_temporary(&error) && attempts < retries => error,
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

impl Delivery {
    /// Counts the documents with a final outcome, and returns those to send again.
    fn apply(&mut self, batch: Vec<OutboxPage>, outcomes: Vec<BulkItemOutcome>) -> Vec<OutboxPage> {
        let mut retries = Vec::new();
        for (page, outcome) in batch.into_iter().zip(outcomes) {
            match outcome {
                BulkItemOutcome::Written => self.report.written += 1,
                BulkItemOutcome::Retry => retries.push(page),
                BulkItemOutcome::Failed(reason) => {
                    tracing::warn!(url = page.url, reason, "document not written; it is sent again later");
                    self.report.first_failure.get_or_insert_with(|| format!("{}: {reason}", page.url));
                    self.unsent.push(page);
                }
                BulkItemOutcome::Rejected(reason) => self.report.reject(&page.url, &reason),
            }
        }
        retries
    }
}

/// Returns the time in milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default()
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
