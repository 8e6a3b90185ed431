//! The lists of several sources as one: reciprocal rank fusion over canonical URLs.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use websvc_address::PageIdentity;
use websvc_query::Sort;
use websvc_validate::SourceKind;

use super::post_filter;
use crate::source::{FilterSupport, Hit, SourceRequest};

/// The constant of the fusion (Cormack, Clarke and Büttcher, 2009): how little the first places count more.
const K: f64 = 60.0;

/// The list of one source.
#[derive(Debug)]
pub(crate) struct RankedList {
    pub(crate) filters: FilterSupport,
    pub(crate) hits: Vec<Hit>,
}

/// A hit while the lists are joined.
struct FusedHit {
    hit: Hit,
    score: f64,
}

/// Joins the lists, in the order of preference of their sources, and keeps at most as many hits as were asked for.
///
/// What a source could not filter is filtered here, unless one that can has the same hit. A hit of several lists is
/// told in the words of the first, completed by the others.
pub(crate) fn merge(ask: &SourceRequest<'_>, mut lists: Vec<RankedList>) -> Vec<Hit> {
    if let [RankedList { filters: FilterSupport::Complete, .. }] = &lists[..] {
        let mut hits = lists.pop().map(|list| list.hits).unwrap_or_default();
        hits.truncate(ask.limit);
        return hits;
    }
    let mut fused: Vec<FusedHit> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let confirmed = hits_from_complete_sources(ask.kind, &lists);
    for RankedList { filters, hits } in lists {
        let mut rank = 0.0;
        let mut seen = HashSet::new();
        for hit in hits {
            let key = key(ask.kind, &hit);
            let is_kept = match filters {
                FilterSupport::Complete => true,
                FilterSupport::Partial => confirmed.contains(&key) || post_filter::matches(ask, &hit),
            };
            if !is_kept || !seen.insert(key.clone()) {
                continue;
            }
            rank += 1.0;
            let score = 1.0 / (K + rank);
            match places.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(fused.len());
                    fused.push(FusedHit { hit, score });
                }
                Entry::Occupied(place) => {
                    let known = &mut fused[*place.get()];
                    known.score += score;
                    fill_missing_fields(&mut known.hit, hit);
                }
            }
        }
    }
    fused.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut hits: Vec<Hit> = fused.into_iter().map(|fused| fused.hit).collect();
    if ask.tbs.is_some_and(|tbs| tbs.sort == Sort::Date) {
        // `None` is the least, so that hits without a date come last.
        hits.sort_by_key(|hit| Reverse(hit.date));
    }
    hits.truncate(ask.limit);
    hits
}

/// Returns the keys of the hits whose source has applied every filter.
fn hits_from_complete_sources(kind: SourceKind, lists: &[RankedList]) -> HashSet<String> {
    let complete = lists.iter().filter(|list| list.filters == FilterSupport::Complete);
    complete.flat_map(|list| &list.hits).map(|hit| key(kind, hit)).collect()
}

/// Fills what the hit does not tell with what another source tells of the same page.
fn fill_missing_fields(hit: &mut Hit, other: Hit) {
    let Hit { url: _, title, description, date, image } = other;
    if hit.title.is_empty() {
        hit.title = title;
    }
    if hit.description.is_empty() {
        hit.description = description;
    }
    hit.date = hit.date.or(date);
    match (&mut hit.image, image) {
        (Some(known), Some(image)) if known.width.is_none() || known.height.is_none() => {
            (known.width, known.height) = (image.width, image.height);
        }
        (known @ None, image) => *known = image,
        (Some(_), _) => {}
    }
}

/// Returns what is the same for the same result: the page, or for images the picture.
fn key(kind: SourceKind, hit: &Hit) -> String {
    match (kind, &hit.image) {
        (SourceKind::Images, Some(image)) => canonical(&image.url),
        (SourceKind::Images | SourceKind::Web | SourceKind::News, _) => canonical(&hit.url),
    }
}

/// Returns what is the same for all spellings of the address of one page.
pub(crate) fn canonical(url: &str) -> String {
    PageIdentity::of(url).into()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use jiff::Timestamp;
    use websvc_query::{Query, Tbs, parse, parse_tbs};
    use websvc_validate::DomainFilter;

    use super::*;
    use crate::source::HitImage;

    fn ask<'a>(kind: SourceKind, query: &'a Query, tbs: Option<&'a Tbs>) -> SourceRequest<'a> {
        SourceRequest {
            kind,
            query,
            limit: 5,
            domains: &DomainFilter::Any,
            tbs,
            country: None,
            location: None,
            safe: false,
            highlights: true,
            now: Timestamp::UNIX_EPOCH,
            deadline: Instant::now(),
        }
    }

    fn list(filters: FilterSupport, urls: &[&str]) -> RankedList {
        let hits = urls.iter().map(|url| Hit { url: (*url).to_owned(), ..Hit::default() }).collect();
        RankedList { filters, hits }
    }

    fn urls(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.url.as_str()).collect()
    }

    #[test]
    fn what_several_sources_have_comes_first() {
        let query = Query::default();
        let merged = merge(
            &ask(SourceKind::Web, &query, None),
            vec![
                list(FilterSupport::Partial, &["http://a.test/", "http://b.test/", "http://c.test/"]),
                list(FilterSupport::Partial, &["http://d.test/", "http://c.test/#part", "http://e.test/"]),
            ],
        );
        // c: 1/63 + 1/62; a and d: 1/61, by preference; b: 1/62; e: 1/63.
        assert_eq!(
            urls(&merged),
            ["http://c.test/", "http://a.test/", "http://d.test/", "http://b.test/", "http://e.test/"]
        );
    }

    #[test]
    fn filters_are_enforced_on_those_who_cannot_apply_them() {
        let query = parse("intitle:tea").query;
        let merged = merge(
            &ask(SourceKind::Web, &query, None),
            vec![
                list(FilterSupport::Complete, &["http://a.test/"]),
                list(FilterSupport::Partial, &["http://a.test/", "http://b.test/"]),
            ],
        );
        assert_eq!(urls(&merged), ["http://a.test/"], "the index has seen the page");
    }

    #[test]
    fn the_first_source_tells_and_the_others_complete() {
        let query = Query::default();
        let with = |title: &str, description: &str| RankedList {
            filters: FilterSupport::Partial,
            hits: vec![Hit {
                url: "https://www.a.test/x/?utm_source=feed".to_owned(),
                title: title.to_owned(),
                description: description.to_owned(),
                ..Hit::default()
            }],
        };
        let merged = merge(&ask(SourceKind::Web, &query, None), vec![with("One", ""), with("Two", "words")]);
        assert_eq!((merged[0].title.as_str(), merged[0].description.as_str()), ("One", "words"));
    }

    #[test]
    fn images_of_one_page_are_several_results() {
        let query = Query::default();
        let image = |url: &str| Hit {
            url: "http://a.test/".to_owned(),
            image: Some(HitImage { url: url.to_owned(), width: None, height: None }),
            ..Hit::default()
        };
        let hits =
            vec![image("http://i.test/1.png"), image("https://i.test/1.png"), image("http://i.test/2.png")];
        let lists = vec![RankedList { filters: FilterSupport::Partial, hits }];
        assert_eq!(merge(&ask(SourceKind::Images, &query, None), lists).len(), 2);
    }

    #[test]
    fn by_date_the_newest_comes_first_and_the_undated_last() {
        let query = Query::default();
        let tbs = parse_tbs("sbd:1").unwrap();
        let dated = |url: &str, second: Option<i64>| Hit {
            url: url.to_owned(),
            date: second.map(|second| Timestamp::from_second(second).unwrap()),
            ..Hit::default()
        };
        let hits = vec![
            dated("http://a.test/", None),
            dated("http://b.test/", Some(1)),
            dated("http://c.test/", Some(2)),
        ];
        let lists = vec![RankedList { filters: FilterSupport::Partial, hits }];
        let merged = merge(&ask(SourceKind::Web, &query, tbs.as_ref()), lists);
        assert_eq!(urls(&merged), ["http://c.test/", "http://b.test/", "http://a.test/"]);
    }
}
