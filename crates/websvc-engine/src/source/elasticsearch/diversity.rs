//! Diverse hosts among the first hits, as in the embedded index.

use websvc_query::{Node, Operator, Query, Sort};
use websvc_site::PageIdentity;
use websvc_validate::DomainFilter;

use super::sketch::Sketch;
use crate::source::{Hit, SourceRequest};

/// The number of first hits that have diverse hosts.
const DIVERSE_HITS: usize = 10;

/// The maximum number of the diverse hits from one host, if other hosts have pages that match about as well.
const MAX_PER_HOST: usize = 2;

/// A hit, its score and the sketch of its text.
#[derive(Debug, Clone)]
pub(super) struct ScoredHit {
    pub(super) hit: Hit,
    pub(super) score: f64,
    /// `None` for a text that is too short to have copies.
    pub(super) sketch: Option<Sketch>,
}

/// The hits of a search by rank, with diverse hosts first.
pub(super) struct DiverseHits {
    pub(super) hits: Vec<ScoredHit>,
    /// The hosts that fill the list although other hosts may have pages that match about as well.
    pub(super) crowding_hosts: Vec<String>,
}

/// Returns whether the first hits of a request have diverse hosts: in searches for words by relevance, unless the
/// request names hosts.
pub(super) fn applies_to(request: &SourceRequest<'_>) -> bool {
    let by_relevance = matches!(request.tbs.map(|tbs| tbs.sort).unwrap_or_default(), Sort::Relevance);
    let names_hosts =
        request.query.root().is_some_and(names_hosts) || matches!(request.domains, DomainFilter::Include(_));
    by_relevance && !names_hosts && has_words(request.query)
}

fn names_hosts(node: &Node) -> bool {
    match node {
        Node::And(children) | Node::Or(children) => children.iter().any(names_hosts),
        Node::Operator(Operator::Site(_)) => true,
        Node::Not(_) | Node::Word(_) | Node::Phrase(_) | Node::Operator(_) => false,
    }
}

pub(super) fn has_words(query: &Query) -> bool {
    query.words().next().is_some()
}

/// Moves hits of hosts that have enough hits already after those of other hosts. `hits` are sorted by score. No hit is
/// lost.
pub(super) fn diversify(request: &SourceRequest<'_>, hits: Vec<ScoredHit>) -> DiverseHits {
    // All pages with a single word match equally well. With several words, a page without all of them has a much lower
    // score; in a question, half of the best score is close.
    let is_single_word = request.query.words().nth(1).is_none();
    let min_score = hits.first().map_or(0.0, |best| if is_single_word { f64::MIN } else { best.score / 2.0 });
    let (mut first, mut rest, mut crowding_hosts) = (Vec::new(), Vec::new(), Vec::new());
    let mut first_hosts: Vec<String> = Vec::new();
    let mut all_close = true;
    for hit in hits {
        if all_close && hit.score < min_score {
            // Diversity must not move a clearly worse page before a better one.
            all_close = false;
            first.append(&mut rest);
        }
        let host = host_of(&hit.hit);
        let has_enough = first_hosts.iter().filter(|first| **first == host).count() >= MAX_PER_HOST;
        if first.len() < DIVERSE_HITS && (!all_close || !has_enough) {
            first_hosts.push(host);
            first.push(hit);
        } else {
            if first.len() < DIVERSE_HITS && !crowding_hosts.contains(&host) {
                crowding_hosts.push(host);
            }
            rest.push(hit);
        }
    }
    if first.len() >= DIVERSE_HITS || !all_close {
        crowding_hosts.clear();
    }
    first.append(&mut rest);
    DiverseHits { hits: first, crowding_hosts }
}

/// Returns the host of a page, without `www.`.
fn host_of(hit: &Hit) -> String {
    PageIdentity::from_address(&hit.url).host().to_owned()
}
