//! The hits of the requests of one search: each page once, with their scores.

use std::collections::HashSet;

use websvc_validate::SourceKind;

use super::diversity::{self, DiverseHits, ScoredHit};
use super::response::HitPage;
use crate::search::canonical;
use crate::source::{Hit, SourceRequest};

/// The hits, the warnings, and the reason why results may be missing.
#[derive(Debug, Default)]
pub(super) struct FoundHits {
    hits: Vec<ScoredHit>,
    seen: HashSet<String>,
    warnings: Vec<String>,
    /// The reason why results may be missing, if the server could not search everything.
    pub(super) incomplete: Option<String>,
    /// The server has no further hits.
    pub(super) has_all: bool,
}

impl FoundHits {
    /// Adds the hits of a response that are new.
    pub(super) fn add(&mut self, kind: SourceKind, page: HitPage) {
        let HitPage { documents: _, hits, incomplete } = page;
        if self.incomplete.is_none() {
            self.incomplete = incomplete;
        }
        for scored in hits {
            let image = scored.hit.image.as_ref().filter(|_| kind == SourceKind::Images);
            if self.seen.insert(canonical(image.map_or(&scored.hit.url, |image| &image.url))) {
                self.hits.push(scored);
            }
        }
    }

    /// Puts hits of different hosts first, and returns the hosts that fill the list.
    pub(super) fn diversify(&mut self, request: &SourceRequest<'_>) -> Vec<String> {
        let mut hits = std::mem::take(&mut self.hits);
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        let DiverseHits { hits, crowding_hosts } = diversity::diversify(request, hits);
        self.hits = hits;
        crowding_hosts
    }

    pub(super) fn len(&self) -> usize {
        self.hits.len()
    }

    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Returns the hits up to the limit, and the warnings.
    pub(super) fn into_parts(self, limit: usize) -> (Vec<Hit>, Vec<String>) {
        (self.hits.into_iter().take(limit).map(|scored| scored.hit).collect(), self.warnings)
    }
}
