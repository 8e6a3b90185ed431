//! The hits of the requests of one search: each page and each text once, with their scores.

use std::collections::HashSet;

use websvc_index::folded_words;
use websvc_site::PageIdentity;
use websvc_validate::SourceKind;

use super::diversity::{self, DiverseHits, ScoredHit};
use super::response::HitPage;
use crate::search::canonical;
use crate::source::{Hit, SourceRequest};

/// The hits, the warnings, and the reason why results may be missing.
#[derive(Debug, Default)]
pub(super) struct FoundHits {
    /// The hits are images.
    are_images: bool,
    /// Pages with nearly equal texts are one hit. A search without words lists all URLs.
    collapses_texts: bool,
    hits: Vec<ScoredHit>,
    seen: HashSet<String>,
    warnings: Vec<String>,
    /// The reason why results may be missing, if the server could not search everything.
    pub(super) incomplete: Option<String>,
    /// The server has no further hits.
    pub(super) has_all: bool,
}

impl FoundHits {
    /// Creates an empty list for a request.
    pub(super) fn from_request(request: &SourceRequest<'_>) -> Self {
        let are_images = request.kind == SourceKind::Images;
        let collapses_texts = !are_images && diversity::has_words(request.query);
        Self { are_images, collapses_texts, ..Self::default() }
    }

    /// Adds the hits of a response that are new.
    pub(super) fn add(&mut self, page: HitPage) {
        let HitPage { documents: _, hits, incomplete } = page;
        if self.incomplete.is_none() {
            self.incomplete = incomplete;
        }
        for scored in hits {
            let image = scored.hit.image.as_ref().filter(|_| self.are_images);
            if self.seen.insert(canonical(image.map_or(&scored.hit.url, |image| &image.url))) {
                self.add_new(scored);
            }
        }
    }

    /// Adds a hit, unless its page is a copy of another one. Of copies whose URLs differ only in the query string, the one
    /// with the shortest query string is shown, at the rank of the best.
    fn add_new(&mut self, scored: ScoredHit) {
        let copied = self.hits.iter_mut().find(|known| self.collapses_texts && is_copy(known, &scored));
        match copied {
            Some(known) if has_shorter_query(&scored.hit.url, &known.hit.url) => {
                known.hit = scored.hit;
            }
            Some(_) => {}
            None => self.hits.push(scored),
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

/// Returns whether two pages have the same title and nearly the same text.
fn is_copy(a: &ScoredHit, b: &ScoredHit) -> bool {
    let (Some(sketch), Some(other)) = (&a.sketch, &b.sketch) else { return false };
    sketch.resembles(other) && folded_words(&a.hit.title) == folded_words(&b.hit.title)
}

/// Returns whether two URLs differ only in the query string, and the first has the shorter one.
fn has_shorter_query(url: &str, other: &str) -> bool {
    let split = |url: &str| {
        let url = url.split('#').next().unwrap_or_default();
        let (page, query) = url.split_once('?').unwrap_or((url, ""));
        (String::from(PageIdentity::from_address(page)), query.len())
    };
    let ((page, query), (other_page, other_query)) = (split(url), split(other));
    page == other_page && query < other_query
}
