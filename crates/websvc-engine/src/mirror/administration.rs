//! The indexes on the server of a mirror: their sizes and pages, and those of single teams.

use std::collections::BTreeSet;
use std::sync::Arc;

use websvc_store::PageOwner;

use super::Mirror;
use crate::scope::SweepError;
use crate::source::{IndexServerError, ListedPage, SearchSource, ServerIndexStats, owner_of};

impl Mirror {
    /// Returns whether each team has an index of its own on the server.
    pub fn has_team_indexes(&self) -> bool {
        self.writer.has_team_indexes()
    }

    /// Returns the index of a team as a search source.
    pub(crate) fn team_source(&self, owner: PageOwner) -> Arc<dyn SearchSource> {
        self.writer.team_source(owner)
    }

    /// Returns the size of the index of a team, or of all teams, on the server.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub async fn stats(&self, owner: Option<PageOwner>) -> Result<ServerIndexStats, IndexServerError> {
        match owner {
            Some(owner) => self.writer.team(owner).stats().await,
            None => self.writer.stats().await,
        }
    }

    /// Returns pages of a host and its subdomains in the index of a team, or of all teams, at most `max` of them.
    ///
    /// # Errors
    /// [`IndexServerError`]
    pub async fn pages_of_site(
        &self,
        host: &str,
        owner: Option<PageOwner>,
        max: usize,
    ) -> Result<Vec<ListedPage>, IndexServerError> {
        match owner {
            Some(owner) => self.writer.team(owner).pages_of_site(host, max).await,
            None => self.writer.pages_of_site(host, max).await,
        }
    }

    /// Deletes the indexes of deleted teams on the server, and their pages in the outbox. Returns the number of indexes.
    ///
    /// # Errors
    /// [`SweepError`]
    pub async fn remove_ownerless(&self) -> Result<usize, SweepError> {
        // Read first: a team that is created later is not among them.
        let owners = self.writer.owners().await?;
        let existing = self.with_store(|store, _source| store.page_owners()).await?;
        self.writer.retain_teams(&existing);
        let gone: BTreeSet<PageOwner> =
            owners.into_iter().filter(|owner| !existing.contains(owner)).collect();
        for owner in &gone {
            self.writer.delete_team_index(*owner).await?;
        }
        let count = gone.len();
        if count > 0 {
            let is_gone = move |id: &str, _url: &str| owner_of(id).is_some_and(|owner| gone.contains(&owner));
            self.with_store(move |store, source| store.remove_from_outbox(source, is_gone)).await?;
        }
        Ok(count)
    }
}
