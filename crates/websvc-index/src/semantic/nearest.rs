//! The pages with the most similar passages among those that match the filters of a query.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use tantivy::query::{AllQuery, BooleanQuery, EnableScoring, Occur, Query as IndexQuery};
use tantivy::{DocAddress, DocId};

use super::scores::Similarities;
use crate::compiled::Compiled;
use crate::sub_index::SubIndexSearcher;

/// A page with its cosine. The greatest is the least similar one, which leaves a full heap first.
#[derive(PartialEq)]
struct Near {
    cosine: f32,
    address: DocAddress,
}

impl Eq for Near {}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cosine.total_cmp(&self.cosine).then_with(|| self.address.cmp(&other.address))
    }
}

/// Returns the `limit` most similar pages with a cosine of at least `min`, best first.
pub(super) fn nearest(
    view: &SubIndexSearcher,
    compiled: &Compiled,
    similarities: &Similarities<'_>,
    (limit, min): (usize, f32),
) -> tantivy::Result<Vec<DocAddress>> {
    let query = filter(compiled);
    let weight = query.weight(EnableScoring::disabled_from_searcher(&view.searcher))?;
    let mut heap = BinaryHeap::with_capacity(limit + 1);
    for (segment_ord, segment) in (0..).zip(view.searcher.segment_readers()) {
        let keys = segment.fast_fields().u64("fingerprint")?;
        let mut visit = |doc_id: DocId| {
            let key = keys.first(doc_id).unwrap_or_default();
            let Some(cosine) = similarities.compared(key).filter(|cosine| *cosine >= min) else { return };
            let near = Near { cosine, address: DocAddress { segment_ord, doc_id } };
            if heap.len() < limit || heap.peek().is_some_and(|worst| near < *worst) {
                heap.push(near);
                if heap.len() > limit {
                    heap.pop();
                }
            }
        };
        weight.for_each_no_score(segment, &mut |docs| {
            docs.iter().filter(|doc| !segment.is_deleted(**doc)).for_each(|doc| visit(*doc));
        })?;
    }
    Ok(heap.into_sorted_vec().into_iter().map(|near| near.address).collect())
}

/// Returns the query for the pages that match all filters and phrases.
fn filter(compiled: &Compiled) -> Box<dyn IndexQuery> {
    let Compiled { filters, phrases, excluded, .. } = compiled;
    let required = filters.iter().chain(phrases).map(|filter| (Occur::Must, filter.box_clone()));
    let mut clauses: Vec<_> = required.collect();
    if clauses.is_empty() {
        clauses.push((Occur::Must, Box::new(AllQuery)));
    }
    clauses.extend(excluded.iter().map(|filter| (Occur::MustNot, filter.box_clone())));
    if clauses.len() == 1 { clauses.swap_remove(0).1 } else { Box::new(BooleanQuery::new(clauses)) }
}
