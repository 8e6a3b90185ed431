//! Selection of the hits among ranked candidates: no page twice, and no host that fills the first page of results.
//!
//! Copies are told by what the cards hold, so nothing more is stored: the same address up to its spelling, or the same
//! title over nearly the same text. Of copies whose URLs differ in the query alone, the one with the shortest query stands
//! for all of them at the place of the best. Only pages with equal titles and lengths have their texts compared.

use std::cell::OnceCell;

use tantivy::Term;
use tantivy::directory::OwnedBytes;
use websvc_address::PageIdentity;
use websvc_query::{Node, Operator, Query};

use crate::analysis::{each_word, folded};
use crate::display_doc::{DecodedBlock, DisplayDoc};
use crate::rank::Candidate;
use crate::search::{DomainFilter, SearchOptions};
use crate::sub_index::SubIndexSearcher;

/// Among the first this many hits ...
const FIRST: usize = 10;
/// ... a host has at most so many, if there are others as good.
const MAX_PER_HOST: usize = 2;

/// Shorter texts, in words, are never called copies: two notes of a line are easily the same.
const MIN_WORDS: u32 = 16;

/// Copies differ in length by at most one word in this many.
const LENGTH_TOLERANCE: u32 = 20;

/// How many blocks of a long text are compared.
const COMPARED_BLOCKS: u32 = 6;

/// Texts are compared by their runs of this many words.
const SHINGLE: usize = 4;

/// The least share of common runs that makes texts copies.
const RESEMBLANCE: f64 = 0.85;

/// Which rules apply to the hits of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SelectionRules {
    /// Hosts share the first page of results.
    pub(crate) diverse: bool,
    /// Nearly equal texts are one hit. A listing by filters alone shows every address.
    pub(crate) collapse_texts: bool,
}

impl SelectionRules {
    pub(crate) fn of(query: &Query, options: &SearchOptions) -> Self {
        let names_hosts =
            query.root().is_some_and(names_hosts) || matches!(options.domains, DomainFilter::Include(_));
        let has_words = query.words().next().is_some();
        let by_relevance = matches!(options.sort, websvc_query::Sort::Relevance);
        Self { diverse: by_relevance && has_words && !names_hosts, collapse_texts: has_words }
    }
}

/// Tells whether a query wants certain hosts.
fn names_hosts(node: &Node) -> bool {
    match node {
        Node::And(children) | Node::Or(children) => children.iter().any(names_hosts),
        Node::Operator(Operator::Site(_)) => true,
        Node::Not(_) | Node::Word(_) | Node::Phrase(_) | Node::Operator(_) => false,
    }
}

/// The hits, best first.
pub(crate) struct Selection {
    pub(crate) chosen: Vec<Candidate>,
    /// The hosts that would have had more than their share of the first hits, although there were too few others.
    pub(crate) crowding: Vec<String>,
}

/// Chooses at most `limit` hits from candidates that are sorted best first.
pub(crate) fn select(
    candidates: &mut [Candidate],
    view: &SubIndexSearcher,
    rules: SelectionRules,
    limit: usize,
) -> tantivy::Result<Selection> {
    let mut pages: Vec<PageFingerprint> = Vec::with_capacity(candidates.len().min(2 * limit));
    // The candidates of `pages`, and their places in the order of the hits.
    let mut picked: Vec<Candidate> = Vec::with_capacity(pages.capacity());
    let (mut first, mut rest, mut crowding) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rivals, mut rules) = (true, rules);
    for candidate in candidates {
        let is_full =
            first.len() + rest.len() >= limit && (first.len() >= limit.min(FIRST) || !rules.diverse);
        if is_full && pages.iter().all(|page| page.query_bytes == 0) {
            break;
        }
        let Some(page) = PageFingerprint::of(candidate.card(view)?) else {
            continue;
        };
        if pages.is_empty() && rules.diverse && !leaves_others(view, std::slice::from_ref(&page.host))? {
            // All documents are of one host, and the first hits are enough.
            rules.diverse = false;
        }
        if let Some(copy) = pages.iter().position(|known| known.is_copy(&page, rules)) {
            if page.is_cleaner_than(&pages[copy]) {
                picked[copy] = candidate.clone();
                pages[copy] = PageFingerprint { first: pages[copy].first, ..page };
            }
            continue;
        }
        if is_full {
            continue;
        }
        if rivals && !candidate.rival {
            // A worse answer does not pass a good one for the sake of diversity.
            rivals = false;
            first.append(&mut rest);
        }
        let of_host = pages.iter().filter(|known| known.first && known.host == page.host).count();
        let is_first = first.len() < FIRST && !(rules.diverse && of_host >= MAX_PER_HOST);
        if is_first {
            first.push(pages.len());
        } else {
            if first.len() < FIRST && !crowding.contains(&page.host) {
                crowding.push(page.host.clone());
            }
            rest.push(pages.len());
        }
        picked.push(candidate.clone());
        pages.push(PageFingerprint { first: is_first, ..page });
    }
    if first.len() >= limit.min(FIRST) {
        crowding.clear();
    }
    first.append(&mut rest);
    first.truncate(limit);
    Ok(Selection { chosen: first.into_iter().map(|place: usize| picked[place].clone()).collect(), crowding })
}

/// Fingerprint of a page, which finds duplicates.
struct PageFingerprint {
    bytes: OwnedBytes,
    host: String,
    address: String,
    /// The path and the length of the query of the URL.
    path: String,
    query_bytes: usize,
    words: u32,
    title: OnceCell<String>,
    shingles: OnceCell<Vec<u64>>,
    /// True if it is among the first hits.
    first: bool,
}

impl PageFingerprint {
    fn of(bytes: OwnedBytes) -> Option<Self> {
        let card = DisplayDoc::decode(&bytes)?;
        let identity = PageIdentity::of(card.head.url);
        let words = card.body_words();
        let (title, shingles) = (OnceCell::new(), OnceCell::new());
        let host = identity.host().to_owned();
        let url = card.head.url.split('#').next().unwrap_or_default();
        let (before, query) = url.split_once('?').unwrap_or((url, ""));
        let (_, path) =
            before.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap_or_default();
        let (path, query_bytes) = (path.trim_end_matches('/').to_owned(), query.len());
        let address = identity.into();
        Some(Self { bytes, host, address, path, query_bytes, words, title, shingles, first: false })
    }

    /// Returns whether the URL is that of a copy with less of a query, which then stands for both.
    fn is_cleaner_than(&self, copy: &Self) -> bool {
        self.query_bytes < copy.query_bytes && self.host == copy.host && self.path == copy.path
    }

    fn has_title_of(&self, other: &Self) -> bool {
        let title = self.title();
        !title.is_empty() && title == other.title()
    }

    /// Returns the words of the title.
    fn title(&self) -> &str {
        self.title.get_or_init(|| {
            let mut title = String::new();
            if let Some(card) = DisplayDoc::decode(&self.bytes) {
                each_word(card.head.title, |word| {
                    title.push_str(word.lower);
                    title.push(' ');
                });
            }
            folded(&title)
        })
    }

    fn is_copy(&self, other: &Self, rules: SelectionRules) -> bool {
        if self.address == other.address {
            return true;
        }
        let shorter = self.words.min(other.words);
        rules.collapse_texts
            && shorter >= MIN_WORDS
            && self.words.abs_diff(other.words) <= shorter / LENGTH_TOLERANCE
            && self.has_title_of(other)
            && resemblance(self.shingles(), other.shingles()) >= RESEMBLANCE
    }

    /// Returns the hashes of the runs of words in a few blocks, evenly spread; sorted, each once.
    fn shingles(&self) -> &[u64] {
        self.shingles.get_or_init(|| {
            let mut shingles = Vec::new();
            let Some(card) = DisplayDoc::decode(&self.bytes) else {
                return shingles;
            };
            let mut last = None;
            for part in 0..COMPARED_BLOCKS {
                let at = u64::from(self.words) * u64::from(part) / u64::from(COMPARED_BLOCKS);
                let block = card.block_at(u32::try_from(at).unwrap_or(u32::MAX));
                if let Some(block) = block.filter(|block| last.as_ref() != Some(&block.text)) {
                    add_shingles(&block, &mut shingles);
                    last = Some(block.text);
                }
            }
            shingles.sort_unstable();
            shingles.dedup();
            shingles
        })
    }
}

fn add_shingles(block: &DecodedBlock, shingles: &mut Vec<u64>) {
    let mut words = Vec::new();
    for passage in block.passages() {
        each_word(passage, |word| {
            let hash = word.lower.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
            words.push(hash);
        });
    }
    let run = |run: &[u64]| run.iter().fold(0, |sum: u64, hash| sum.rotate_left(17) ^ hash);
    shingles.extend(words.windows(SHINGLE.min(words.len().max(1))).map(run));
}

/// Returns the share of common members among all, of two sorted lists without repetition.
fn resemblance(one: &[u64], other: &[u64]) -> f64 {
    let common = one.iter().filter(|shingle| other.binary_search(shingle).is_ok()).count();
    let all = one.len() + other.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// Tells whether the index has documents of other hosts.
pub(crate) fn leaves_others(view: &SubIndexSearcher, hosts: &[String]) -> tantivy::Result<bool> {
    let mut documents = 0;
    for host in hosts {
        documents += view.searcher.doc_freq(&Term::from_field_text(view.fields.site, host))?;
    }
    Ok(!hosts.is_empty() && documents < view.searcher.num_docs())
}
