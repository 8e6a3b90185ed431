//! Page scopes in the index: the index that the pages of a team are added to, and the indexes that its requests read.
//!
//! The setting of a team is looked up once per request, and once per page of a job.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use websvc_index::{Index, IndexError};
use websvc_scrape::{ScrapeError, Scraper};
use websvc_stage::{Stage, StageTimes, in_current_span};
use websvc_store::{PageOwner, PageScope, Store, StoreError};
use websvc_transport::spawn_blocking;

use crate::engine::Engine;
use crate::engine_config::{EngineConfig, IndexMode};
use crate::error::EngineError;
use crate::ingest::{IndexCopy, IndexingFailure, IndexingOutcome, IngestError, ingest};
use crate::mirror::{self, Mirror, OutboxError};
use crate::source::{IndexServerError, IndexSource, SearchSource, TEAM_SOURCE};
use crate::team_indexes::TeamIndexes;

/// The interval of looking for pages of deleted teams. It costs one read of a directory and one query of the database.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// That interval with a database on a server, where each replica looks for them.
const SHARED_SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// The interval of looking for indexes of deleted teams on a server. It costs a request to the server.
const SERVER_SWEEP_INTERVAL: Duration = Duration::from_secs(600);

/// The time after its last use at which the index of a team is closed.
const CLOSE_AFTER: Duration = Duration::from_secs(600);

impl Engine {
    /// Returns the page scope of a team, as it is set now.
    ///
    /// # Errors
    /// [`EngineError::Page`] when the database cannot be read. Then nothing may be fetched, because the page could be
    /// stored in a scope that other teams can read.
    pub fn scope(&self, team: &str) -> Result<PageScope, EngineError> {
        let scope = self.scraper().store().page_scope(team);
        scope.map_err(|error| EngineError::Page(ScrapeError::Store(error)))
    }

    /// Returns the indexes of the teams that keep their pages private.
    #[must_use]
    pub fn team_indexes(&self) -> Option<&Arc<TeamIndexes>> {
        self.config().team_indexes.as_ref()
    }

    /// Returns the index of a team, and creates it if there is none; `None` if this process may not write.
    ///
    /// # Errors
    /// [`IngestError`]
    pub async fn team_index(&self, owner: PageOwner) -> Result<Option<Arc<Index>>, IngestError> {
        self.config().team_index(owner).await
    }

    /// Returns the index of a team if it has one.
    ///
    /// # Errors
    /// [`IngestError`]
    pub async fn existing_team_index(&self, scope: PageScope) -> Result<Option<Arc<Index>>, IngestError> {
        self.config().existing_team_index(scope).await
    }

    /// Returns the indexes whose pages a request of a team may see, its own first.
    ///
    /// # Errors
    /// [`EngineError::NoSource`] if the team's own index cannot be opened.
    pub(crate) async fn indexes_in(&self, scope: PageScope) -> Result<Vec<Arc<Index>>, EngineError> {
        let own_index = self.existing_team_index(scope).await.map_err(|error| open_error(&error))?;
        Ok(own_index.into_iter().chain(self.index().cloned()).collect())
    }

    /// Removes the pages of deleted teams from cache and index periodically, because another process may delete teams.
    /// Never returns.
    pub async fn sweep_deleted_teams(&self) -> Infallible {
        let is_shared = self.scraper().store().is_shared();
        let mut interval =
            tokio::time::interval(if is_shared { SHARED_SWEEP_INTERVAL } else { SWEEP_INTERVAL });
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut server_sweep = ServerSweep::default();
        loop {
            interval.tick().await;
            let mut swept = self.sweep_teams().await;
            if swept.is_ok()
                && let Some(server) = self.config().team_server()
            {
                swept = server_sweep.run(server, self.scraper().store()).await;
            }
            if let Err(error) = swept {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the pages of deleted teams could not be removed");
            }
        }
    }

    /// Removes the pages of deleted teams from the cache and this machine.
    async fn sweep_teams(&self) -> Result<(), SweepError> {
        let Some(indexes) = self.team_indexes().map(Arc::clone) else { return Ok(()) };
        let store = self.scraper().store().clone();
        let sweep = spawn_blocking(move || {
            let purged = store.purge_ownerless()?;
            let removed = remove_ownerless(&indexes, &store)?;
            indexes.close_idle(CLOSE_AFTER);
            if purged > 0 || removed > 0 {
                tracing::info!(pages = purged, indexes = removed, "removed the pages of deleted teams");
            }
            Ok(())
        });
        sweep.await.unwrap_or(Ok(()))
    }
}

/// Removes the indexes of deleted teams from a server: at first, when a team was deleted, and now and then, because
/// another process may have written to one.
#[derive(Default)]
struct ServerSweep {
    last: Option<Instant>,
    /// The owners that existed at the last look.
    owners: BTreeSet<PageOwner>,
}

impl ServerSweep {
    async fn run(&mut self, server: &Mirror, store: &Store) -> Result<(), SweepError> {
        let store = store.clone();
        let reading = spawn_blocking(move || store.page_owners());
        let Ok(owners) = reading.await else { return Ok(()) };
        let owners = owners?;
        let is_deleted = self.owners.difference(&owners).next().is_some();
        self.owners = owners;
        if is_deleted || self.last.is_none_or(|at| at.elapsed() >= SERVER_SWEEP_INTERVAL) {
            self.last = Some(Instant::now());
            server.remove_ownerless().await?;
        }
        Ok(())
    }
}

/// An error while removing the pages of deleted teams.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The database failed.
    #[error("the database of the team's pages failed")]
    Store(#[from] StoreError),
    /// The files of an index could not be listed or removed.
    #[error("the index of a deleted team could not be removed")]
    Index(#[from] IndexError),
    /// The server with the indexes failed.
    #[error("the index of a deleted team could not be removed from its server")]
    Server(#[from] IndexServerError),
    /// The outbox of the server failed.
    #[error("the waiting pages of a deleted team could not be removed")]
    Outbox(#[from] OutboxError),
}

/// Removes the indexes of deleted teams, and returns their number.
///
/// # Errors
/// [`SweepError`]
pub fn remove_ownerless(indexes: &TeamIndexes, store: &Store) -> Result<usize, SweepError> {
    // Read the directories first: a team that is created later has no directory among them.
    let owners = indexes.owners()?;
    if owners.is_empty() {
        return Ok(0);
    }
    let existing = store.page_owners()?;
    let mut removed = 0;
    for owner in owners.difference(&existing) {
        removed += usize::from(indexes.remove(*owner)?);
    }
    Ok(removed)
}

impl EngineConfig {
    /// Returns the server that has the pages of all teams, if they are not added to the embedded index. Of several
    /// servers it is one that is searched.
    pub(crate) fn index_server(&self) -> Option<&Arc<Mirror>> {
        let is_searched =
            |mirror: &&Arc<Mirror>| self.sources.iter().any(|source| source.name() == mirror.name());
        match self.index_mode {
            IndexMode::Write => None,
            IndexMode::MirrorOnly => self.mirrors.iter().find(is_searched).or(self.mirrors.first()),
        }
    }

    /// Returns the server that has the indexes of single teams, which are embedded otherwise.
    pub(crate) fn team_server(&self) -> Option<&Arc<Mirror>> {
        self.index_server().filter(|server| server.has_team_indexes())
    }

    async fn team_index(&self, owner: PageOwner) -> Result<Option<Arc<Index>>, IngestError> {
        let Some(indexes) = self.team_indexes.as_ref().filter(|_| self.index.is_some()) else {
            return Ok(None);
        };
        let indexes = Arc::clone(indexes);
        open_blocking(move || indexes.open(owner)).await.map(Some)
    }

    async fn existing_team_index(&self, scope: PageScope) -> Result<Option<Arc<Index>>, IngestError> {
        let (Some(indexes), Some(owner), None) = (&self.team_indexes, scope.owner(), self.team_server())
        else {
            return Ok(None);
        };
        let indexes = Arc::clone(indexes);
        open_blocking(move || indexes.find(owner)).await
    }

    /// Returns the sources of a request: the team's own index before those of all teams.
    ///
    /// # Errors
    /// [`EngineError::NoSource`] if the team's own index cannot be opened, because a response without it would look
    /// complete.
    pub(crate) async fn sources_in(
        &self,
        scope: PageScope,
    ) -> Result<Vec<Arc<dyn SearchSource>>, EngineError> {
        let own_index = self.existing_team_index(scope).await.map_err(|error| open_error(&error))?;
        let own_index = match (self.team_server(), scope.owner()) {
            (Some(server), Some(owner)) => Some(server.team_source(owner)),
            _ => own_index.map(|index| Arc::new(IndexSource::named(TEAM_SOURCE, index)) as Arc<_>),
        };
        Ok(own_index.into_iter().chain(self.sources.iter().cloned()).collect())
    }

    /// Adds pages to the index and the outboxes of its mirrors, or to the team's own index only. A page is acknowledged
    /// afterwards, so that it is not lost if the process is killed then. A page that could not be added is tried again
    /// when it is read from the page cache.
    /// The cause of a failure goes to the log, and `failure_warning` is the warning.
    pub(crate) async fn index_pages(
        &self,
        scraper: &Scraper,
        scope: PageScope,
        copies: Vec<IndexCopy>,
        failure_warning: &str,
    ) -> IndexingOutcome {
        let fetch_times: Vec<u64> = copies.iter().map(|copy| copy.fetched_at_ms).collect();
        let outcome = self.add_to_indexes(scope, copies, scraper.stages(), failure_warning).await;
        if outcome.failure.is_some() {
            fetch_times.into_iter().for_each(|at_ms| scraper.mark_unindexed(at_ms));
        }
        outcome
    }

    async fn add_to_indexes(
        &self,
        scope: PageScope,
        mut copies: Vec<IndexCopy>,
        stages: &StageTimes,
        failure_warning: &str,
    ) -> IndexingOutcome {
        let mut outcome = IndexingOutcome::default();
        if copies.is_empty() {
            return outcome;
        }
        let index = match scope {
            PageScope::Off => return outcome,
            PageScope::Shared => {
                if !self.mirrors.is_empty() {
                    let enqueuing = mirror::enqueue(&self.mirrors, &copies);
                    outcome.add(stages.run(Stage::Ingest, enqueuing).await);
                }
                Ok(self.writable_index().cloned())
            }
            PageScope::Team(owner) => match self.team_server() {
                Some(server) => {
                    copies.iter_mut().for_each(|copy| copy.owner = Some(owner));
                    return stages.run(Stage::Ingest, server.enqueue(copies)).await;
                }
                None => self.team_index(owner).await,
            },
        };
        let documents = copies.into_iter().map(|copy| copy.document).collect();
        let ingested = match index {
            Ok(Some(index)) => stages.run(Stage::Ingest, ingest(&index, documents)).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = ingested {
            tracing::error!(error = &error as &dyn std::error::Error, "scraped pages could not be indexed");
            let warnings = vec![failure_warning.to_owned()];
            outcome.add(IndexingOutcome { warnings, failure: Some(IndexingFailure::Refused) });
        }
        outcome
    }
}

fn open_error(error: &IngestError) -> EngineError {
    tracing::error!(error = error as &dyn std::error::Error, "the index of a team could not be opened");
    EngineError::NoSource { reasons: vec![format!("source {TEAM_SOURCE}: the query of the index failed")] }
}

/// Opens an index on a blocking thread.
async fn open_blocking<T: Send + 'static>(
    open: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
) -> Result<T, IngestError> {
    spawn_blocking(in_current_span(open))
        .await
        .map_err(|_shutdown| IngestError::Stopping)?
        .map_err(IngestError::Index)
}
