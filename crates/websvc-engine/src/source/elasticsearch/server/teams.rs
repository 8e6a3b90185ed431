//! The indexes of single teams: each has the pages of a team that shares them with no other.
//!
//! An index of its own keeps the words of a team out of the statistics of others, and no search of another team can
//! find its pages, whatever the search is. Its name has the ID of the database that numbers the teams, because several
//! services with databases of their own may use the same server and the same index for the pages of all teams.

use http::Method;
use websvc_store::PageOwner;
use websvc_transport::FetchRequest;

use super::{Dialect, Server};

impl Server {
    /// Lets each team of a database have an index of its own. Quickwit has none: it deletes no pages at once, so that
    /// pages of deleted teams would stay.
    pub(in super::super) fn with_team_indexes(mut self, installation: &str) -> Self {
        let has_indexes = self.dialect == Dialect::Elasticsearch;
        self.team_prefix = has_indexes.then(|| format!("{}-team-{installation}-", self.index));
        self
    }

    /// Returns the beginning of the names of the indexes of single teams, before their numbers; `None` if teams have no
    /// index of their own.
    pub(in super::super) fn team_prefix(&self) -> Option<&str> {
        self.team_prefix.as_deref()
    }

    /// Returns the server for requests to the index of a team.
    pub(in super::super) fn of_team(&self, owner: PageOwner) -> Self {
        let index = format!("{}{}", self.team_prefix().unwrap_or_default(), owner.number());
        Self { index, is_optional: true, ..self.clone() }
    }

    /// Returns the server for requests to the index of all teams and those of single teams, which only delete.
    pub(in super::super) fn of_all_indexes(&self) -> Self {
        match self.team_prefix() {
            Some(prefix) => {
                let index = format!("{},{prefix}*", self.index);
                Self { index, is_optional: true, ..self.clone() }
            }
            None => self.clone(),
        }
    }

    /// Returns the request for the names of the indexes of single teams; `None` if teams have none.
    pub(in super::super) fn list_team_indexes(&self) -> Option<FetchRequest> {
        let mut request = FetchRequest::get(self.url_of(&[&format!("{}*", self.team_prefix()?), "_alias"]));
        request.headers.clone_from(&self.headers);
        Some(request)
    }

    /// Returns the owner of the pages in an index, if it is that of a single team.
    pub(in super::super) fn owner_of(&self, index: &str) -> Option<PageOwner> {
        PageOwner::new(index.strip_prefix(self.team_prefix()?)?.parse().ok()?)
    }

    /// Returns the request that deletes the index with all of its pages.
    pub(in super::super) fn delete_index(&self) -> FetchRequest {
        let mut request = FetchRequest::get(self.url_of(&[&self.index]));
        request.method = Method::DELETE;
        request.headers.clone_from(&self.headers);
        request
    }
}
