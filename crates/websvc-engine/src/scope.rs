//! Page scopes in the index: where the pages of a team go, and which indexes its requests read.
//!
//! The setting of a team is looked up once for each request, and for each page of a job.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use websvc_index::{Index, IndexError};
use websvc_scrape::ScrapeError;
use websvc_stage::{Stage, StageTimes, in_current_span};
use websvc_store::{PageOwner, PageScope, Store, StoreError};
use websvc_types::index::IndexDocument;

use crate::engine::{Engine, EngineConfig};
use crate::error::EngineError;
use crate::ingest::{IngestError, ingest};
use crate::mirror;
use crate::source::{IndexSource, SearchSource};
use crate::team_indexes::TeamIndexes;

/// How often the pages of deleted teams are looked for. A look costs one read of a directory and one of the database.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// How long the index of a team stays open after it was used last.
const OPEN_FOR: Duration = Duration::from_secs(600);

/// The name of a team's own index among the sources.
const TEAM_SOURCE: &str = "team-index";

impl Engine {
    /// Returns what the requests of a team read and store, as its setting is now.
    ///
    /// # Errors
    /// [`EngineError::Page`] when the database cannot be read. Nothing may be got then: it could be stored where others see it.
    pub fn scope(&self, team: &str) -> Result<PageScope, EngineError> {
        let scope = self.scraper().store().page_scope(team);
        scope.map_err(|error| EngineError::Page(ScrapeError::Store(error)))
    }

    /// Returns the indexes of the teams that have one of their own.
    #[must_use]
    pub fn team_indexes(&self) -> Option<&Arc<TeamIndexes>> {
        self.config().team_indexes.as_ref()
    }

    /// Returns the index of a team, which is made when there is none; `None` when this process may not write.
    ///
    /// # Errors
    /// [`IngestError`]
    pub async fn team_index(&self, owner: PageOwner) -> Result<Option<Arc<Index>>, IngestError> {
        self.config().team_index(owner).await
    }

    /// Returns the index of a team when it has one.
    ///
    /// # Errors
    /// [`IngestError`]
    pub async fn existing_team_index(&self, scope: PageScope) -> Result<Option<Arc<Index>>, IngestError> {
        self.config().existing_team_index(scope).await
    }

    /// Returns the indexes whose pages a request of a team may be told of, its own first.
    ///
    /// # Errors
    /// [`EngineError::NoSource`] when its own cannot be opened.
    pub(crate) async fn indexes_in(&self, scope: PageScope) -> Result<Vec<Arc<Index>>, EngineError> {
        let own = self.existing_team_index(scope).await.map_err(|error| not_opened(&error))?;
        Ok(own.into_iter().chain(self.index().cloned()).collect())
    }

    /// Removes the pages of deleted teams from cache and index for as long as it is polled: another process may delete teams.
    pub async fn sweep_deleted_teams(&self) -> Infallible {
        let mut interval = tokio::time::interval(SWEEP_INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            if let Err(error) = self.sweep_teams().await {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the pages of deleted teams could not be removed");
            }
        }
    }

    async fn sweep_teams(&self) -> Result<(), SweepError> {
        let Some(indexes) = self.team_indexes().map(Arc::clone) else { return Ok(()) };
        let store = self.scraper().store().clone();
        let sweeping = tokio::task::spawn_blocking(move || {
            let purged = store.purge_ownerless()?;
            let removed = remove_ownerless(&indexes, &store)?;
            indexes.close_idle(OPEN_FOR);
            if purged > 0 || removed > 0 {
                tracing::info!(pages = purged, indexes = removed, "removed the pages of deleted teams");
            }
            Ok(())
        });
        sweeping.await.unwrap_or(Ok(()))
    }
}

/// A failure to remove the pages of deleted teams.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// The files of an index could not be found or removed.
    #[error("the index of a deleted team could not be removed")]
    Index(#[from] IndexError),
}

/// Removes the indexes whose team was deleted, and returns how many there were.
///
/// # Errors
/// [`SweepError`]
pub fn remove_ownerless(indexes: &TeamIndexes, store: &Store) -> Result<usize, SweepError> {
    // The directories first: a team that gets its number after this has none among them.
    let found = indexes.owners()?;
    if found.is_empty() {
        return Ok(0);
    }
    let kept = store.page_owners()?;
    let mut removed = 0;
    for owner in found.difference(&kept) {
        removed += usize::from(indexes.remove(*owner)?);
    }
    Ok(removed)
}

impl EngineConfig {
    async fn team_index(&self, owner: PageOwner) -> Result<Option<Arc<Index>>, IngestError> {
        let Some(indexes) = self.team_indexes.as_ref().filter(|_| self.index.is_some()) else {
            return Ok(None);
        };
        let indexes = Arc::clone(indexes);
        blocking(move || indexes.open(owner)).await.map(Some)
    }

    async fn existing_team_index(&self, scope: PageScope) -> Result<Option<Arc<Index>>, IngestError> {
        let (Some(indexes), Some(owner)) = (&self.team_indexes, scope.owner()) else { return Ok(None) };
        let indexes = Arc::clone(indexes);
        blocking(move || indexes.find(owner)).await
    }

    /// Returns the sources that a request asks: the team's own index before those of all teams.
    ///
    /// # Errors
    /// [`EngineError::NoSource`] when the team's own index cannot be opened: an answer without it would look complete.
    pub(crate) async fn sources_in(
        &self,
        scope: PageScope,
    ) -> Result<Vec<Arc<dyn SearchSource>>, EngineError> {
        let own = self.existing_team_index(scope).await.map_err(|error| not_opened(&error))?;
        let own = own.map(|index| Arc::new(IndexSource::named(TEAM_SOURCE, index)) as Arc<dyn SearchSource>);
        Ok(own.into_iter().chain(self.sources.iter().cloned()).collect())
    }

    /// Hands fresh pages to the index and its mirrors, or to the index of the team alone, and returns what the caller should
    /// be told. A failure is the operator's concern: it is told in the log, and `failed` is the warning.
    pub(crate) async fn keep(
        &self,
        scope: PageScope,
        copies: Vec<IndexDocument>,
        stages: &StageTimes,
        failed: &str,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        if copies.is_empty() {
            return warnings;
        }
        let index = match scope {
            PageScope::Off => return warnings,
            PageScope::Shared => {
                warnings.extend(mirror::enqueue(&self.mirrors, &copies));
                Ok(self.writable_index().cloned())
            }
            // Mirrors are searched by all teams.
            PageScope::Team(owner) => self.team_index(owner).await,
        };
        let ingested = match index {
            Ok(Some(index)) => stages.run(Stage::Ingest, ingest(&index, copies)).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = ingested {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "scraped pages did not reach the index"
            );
            warnings.push(failed.to_owned());
        }
        warnings
    }
}

fn not_opened(error: &IngestError) -> EngineError {
    tracing::error!(error = error as &dyn std::error::Error, "the index of a team could not be opened");
    EngineError::NoSource { reasons: vec![format!("source {TEAM_SOURCE}: the index failed")] }
}

/// Opens an index off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
) -> Result<T, IngestError> {
    let working = tokio::task::spawn_blocking(in_current_span(work));
    working.await.map_err(|_stopping| IngestError::Stopping)?.map_err(IngestError::Index)
}
