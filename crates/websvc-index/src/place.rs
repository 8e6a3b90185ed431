//! The ranking bonus for pages that name the city or the region of the searcher.

use tantivy::query::EnableScoring;
use tantivy::schema::Field;
use tantivy::{DocSet, Searcher};

use crate::candidate::Candidate;
use crate::compiled::{Boxed, phrase};
use crate::schema::Fields;
use crate::search_options::Place;

/// Bonus of a page that names a place in its text, as a share of the maximum BM25 score.
const TEXT_SHARE: f32 = 0.15;
/// Bonus of a page that names a place in its title, in addition to that of its text.
const TITLE_SHARE: f32 = 0.15;
/// The bonus of a region, relative to that of a city.
const REGION_WEIGHT: f32 = 0.4;

/// Returns the queries for the pages that have a place in one of its names in a field.
pub(crate) fn named_in(field: Field, place: &Place) -> Vec<Boxed> {
    place.names.iter().filter_map(|name| phrase(field, name)).collect()
}

/// Adds bonuses to the scores of the candidates that name the places, of which the first one is the nearest.
pub(crate) fn boost_places(
    searcher: &Searcher,
    fields: &Fields,
    places: &[Place],
    max_score: f32,
    candidates: &mut [Candidate],
) -> tantivy::Result<()> {
    for place in places {
        let weight = if place.is_region { REGION_WEIGHT } else { 1.0 };
        for (field, share) in [(fields.exact, TEXT_SHARE), (fields.title, TITLE_SHARE)] {
            boost(searcher, &named_in(field, place), weight * share * max_score, candidates)?;
        }
    }
    Ok(())
}

/// Adds `bonus` once to each candidate that one of the queries matches.
fn boost(
    searcher: &Searcher,
    queries: &[Boxed],
    bonus: f32,
    candidates: &mut [Candidate],
) -> tantivy::Result<()> {
    let mut is_boosted = vec![false; candidates.len()];
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by_key(|&candidate| candidates[candidate].address);
    for query in queries {
        let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
        let same_segment =
            |a: &usize, b: &usize| candidates[*a].address.segment_ord == candidates[*b].address.segment_ord;
        for group in order.chunk_by(same_segment) {
            let segment = searcher.segment_reader(candidates[group[0]].address.segment_ord);
            let mut documents = weight.scorer(segment, 1.0)?;
            for &candidate in group {
                let document = candidates[candidate].address.doc_id;
                if documents.doc() < document {
                    documents.seek(document);
                }
                is_boosted[candidate] |= documents.doc() == document;
            }
        }
    }
    for (candidate, is_boosted) in candidates.iter_mut().zip(is_boosted) {
        candidate.score += if is_boosted { bonus } else { 0.0 };
    }
    Ok(())
}
