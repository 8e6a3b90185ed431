//! Merges the ranked lists of several sources: reciprocal rank fusion over canonical URLs.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use websvc_query::Sort;
use websvc_site::PageIdentity;
use websvc_validate::SourceKind;

use super::post_filter;
use crate::source::{FilterSupport, Hit, SourceRequest};

/// The constant of the fusion (Cormack, Clarke and Büttcher, 2009). The larger it is, the less the top ranks dominate.
const K: f64 = 60.0;

/// The ranked hits of one source.
#[derive(Debug)]
pub(crate) struct RankedList {
    pub(crate) filters: FilterSupport,
    pub(crate) hits: Vec<Hit>,
}

/// The number of hits of each list that are fused at once. All hits of a block come before those of the next one, so that
/// longer lists do not change the order of the first hits.
pub(crate) const BLOCK: usize = 10;

/// A hit and its score while the lists are merged.
struct FusedHit {
    key: String,
    hit: Hit,
    score: f64,
}

/// The rest of a list while the lists are merged.
struct ListRest {
    filters: FilterSupport,
    hits: std::vec::IntoIter<Hit>,
    /// The keys of the hits so far that match the filters. Their number is the rank of the last one.
    seen: HashSet<String>,
}

/// Merges the lists, in the order of preference of their sources, and returns at most `limit` hits.
///
/// Filters that a source could not apply are applied here, unless a source that did apply them has the same hit. A hit
/// of several lists has the fields of the first list; missing fields come from the others.
pub(crate) fn merge(request: &SourceRequest<'_>, mut lists: Vec<RankedList>, limit: usize) -> Vec<Hit> {
    if let [RankedList { filters: FilterSupport::Complete, .. }] = &lists[..] {
        let mut hits = lists.pop().map(|list| list.hits).unwrap_or_default();
        hits.truncate(limit);
        return hits;
    }
    let rest =
        |RankedList { filters, hits }| ListRest { filters, hits: hits.into_iter(), seen: HashSet::new() };
    let mut lists: Vec<ListRest> = lists.into_iter().map(rest).collect();
    let (mut fused, mut confirmed) = (Vec::new(), HashSet::new());
    while lists.iter().any(|list| list.hits.len() > 0) {
        fuse_block(request, &mut lists, &mut confirmed, &mut fused);
    }
    let mut hits: Vec<Hit> = fused.into_iter().map(|fused| fused.hit).collect();
    if request.tbs.is_some_and(|tbs| tbs.sort == Sort::Date) {
        // `None` is the minimum, so hits without a date come last.
        hits.sort_by_key(|hit| Reverse(hit.date));
    }
    hits.truncate(limit);
    hits
}

/// Fuses the next block of every list. `confirmed` has the keys of the hits whose source has applied all filters.
fn fuse_block(
    request: &SourceRequest<'_>,
    lists: &mut [ListRest],
    confirmed: &mut HashSet<String>,
    fused: &mut Vec<FusedHit>,
) {
    let start = fused.len();
    let mut positions: HashMap<String, usize> =
        fused.iter().enumerate().map(|(position, fused)| (fused.key.clone(), position)).collect();
    for list in lists.iter().filter(|list| list.filters == FilterSupport::Complete) {
        confirmed.extend(list.hits.as_slice().iter().take(BLOCK).map(|hit| key(request.kind, hit)));
    }
    for ListRest { filters, hits, seen } in lists {
        for hit in hits.by_ref().take(BLOCK) {
            let key = key(request.kind, &hit);
            let matches = match filters {
                FilterSupport::Complete => true,
                FilterSupport::Partial => confirmed.contains(&key) || post_filter::matches(request, &hit),
            };
            if !matches || !seen.insert(key.clone()) {
                continue;
            }
            let score = 1.0 / (K + seen.len() as f64);
            match positions.entry(key) {
                Entry::Vacant(entry) => {
                    let key = entry.key().clone();
                    entry.insert(fused.len());
                    fused.push(FusedHit { key, hit, score });
                }
                Entry::Occupied(entry) => {
                    let existing = &mut fused[*entry.get()];
                    existing.score += score;
                    fill_missing_fields(&mut existing.hit, hit);
                }
            }
        }
    }
    fused[start..].sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// Fills missing fields of a hit with those of another source for the same page.
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
        (Some(existing), Some(image)) if existing.width.is_none() || existing.height.is_none() => {
            (existing.width, existing.height) = (image.width, image.height);
        }
        (existing @ None, image) => *existing = image,
        (Some(_), _) => {}
    }
}

/// Returns the identity of a result: the page, or for images the image.
fn key(kind: SourceKind, hit: &Hit) -> String {
    match (kind, &hit.image) {
        (SourceKind::Images, Some(image)) => canonical(&image.url),
        (SourceKind::Images | SourceKind::Web | SourceKind::News, _) => canonical(&hit.url),
    }
}

/// Returns the identity of a page, which is the same for all spellings of its URL.
pub(crate) fn canonical(url: &str) -> String {
    PageIdentity::from_address(url).into()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use jiff::Timestamp;
    use websvc_query::{Query, Tbs, parse, parse_tbs};

    use super::*;
    use crate::source::HitImage;

    fn request<'a>(kind: SourceKind, query: &'a Query, tbs: Option<&'a Tbs>) -> SourceRequest<'a> {
        let new = SourceRequest::new(kind, query, Timestamp::UNIX_EPOCH, Instant::now());
        SourceRequest { limit: 5, tbs, ..new }
    }

    fn list(filters: FilterSupport, urls: &[&str]) -> RankedList {
        let hits = urls.iter().map(|url| Hit { url: (*url).to_owned(), ..Hit::default() }).collect();
        RankedList { filters, hits }
    }

    fn urls(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.url.as_str()).collect()
    }

    #[test]
    fn hits_of_several_sources_come_first() {
        let query = Query::default();
        let merged = merge(
            &request(SourceKind::Web, &query, None),
            vec![
                list(FilterSupport::Partial, &["http://a.test/", "http://b.test/", "http://c.test/"]),
                list(FilterSupport::Partial, &["http://d.test/", "http://c.test/#part", "http://e.test/"]),
            ],
            5,
        );
        // c: 1/63 + 1/62; a and d: 1/61, by preference; b: 1/62; e: 1/63.
        assert_eq!(
            urls(&merged),
            ["http://c.test/", "http://a.test/", "http://d.test/", "http://b.test/", "http://e.test/"]
        );
    }

    #[test]
    fn longer_lists_do_not_change_the_order_of_the_first_hits() {
        let query = Query::default();
        let numbered = |prefix: &str, numbers: &[usize]| {
            numbers.iter().map(|number| format!("http://{prefix}{number}.test/")).collect::<Vec<_>>()
        };
        // The second half of the list of each source begins with the first hits of the other one.
        let own: Vec<usize> = (0..BLOCK).collect();
        let (a, b) = (numbered("a", &own), numbered("b", &own));
        let long = |first: &[String], second: &[String]| [first, second].concat();
        let merged = |lists: [Vec<String>; 2], limit| {
            let as_list = |urls: &Vec<String>| {
                list(FilterSupport::Partial, &urls.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let merged =
                merge(&request(SourceKind::Web, &query, None), lists.iter().map(as_list).collect(), limit);
            merged.into_iter().map(|hit| hit.url).collect::<Vec<_>>()
        };
        let short = merged([a.clone(), b.clone()], BLOCK);
        let all = merged([long(&a, &b), long(&b, &a)], 3 * BLOCK);
        assert_eq!((short.len(), all.len()), (BLOCK, 2 * BLOCK));
        assert_eq!(all[..BLOCK], short);
    }

    #[test]
    fn filters_are_applied_to_hits_of_partial_sources() {
        let query = parse("intitle:tea").query;
        let merged = merge(
            &request(SourceKind::Web, &query, None),
            vec![
                list(FilterSupport::Complete, &["http://a.test/"]),
                list(FilterSupport::Partial, &["http://a.test/", "http://b.test/"]),
            ],
            5,
        );
        assert_eq!(urls(&merged), ["http://a.test/"], "the index has seen the page");
    }

    #[test]
    fn merged_hit_has_the_fields_of_the_first_source_completed_by_the_others() {
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
        let merged =
            merge(&request(SourceKind::Web, &query, None), vec![with("One", ""), with("Two", "words")], 5);
        assert_eq!((merged[0].title.as_str(), merged[0].description.as_str()), ("One", "words"));
    }

    #[test]
    fn different_images_of_one_page_are_different_results() {
        let query = Query::default();
        let image = |url: &str| Hit {
            url: "http://a.test/".to_owned(),
            image: Some(HitImage { url: url.to_owned(), width: None, height: None }),
            ..Hit::default()
        };
        let hits =
            vec![image("http://i.test/1.png"), image("https://i.test/1.png"), image("http://i.test/2.png")];
        let lists = vec![RankedList { filters: FilterSupport::Partial, hits }];
        assert_eq!(merge(&request(SourceKind::Images, &query, None), lists, 5).len(), 2);
    }

    #[test]
    fn sort_by_date_puts_the_newest_first_and_the_undated_last() {
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
        let merged = merge(&request(SourceKind::Web, &query, tbs.as_ref()), lists, 5);
        assert_eq!(urls(&merged), ["http://c.test/", "http://b.test/", "http://a.test/"]);
    }
}
