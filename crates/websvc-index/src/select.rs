//! Selection of the hits from ranked candidates: without copies of pages, and with diverse hosts among the first hits.
//!
//! Copies have equivalent URLs, or the same title and nearly the same text. They are recognized by the display
//! documents, so nothing else is stored for this; texts are compared only if titles and lengths match. If the URLs of
//! copies differ only in the query string, the hit is the copy with the shortest query string, at the rank of the best
//! copy.

use std::cell::OnceCell;

use tantivy::Term;
use tantivy::directory::OwnedBytes;
use websvc_query::{Node, Operator, Query};
use websvc_site::PageIdentity;

use crate::analysis::{each_word, folded};
use crate::candidate::Candidate;
use crate::copies::{MIN_RESEMBLANCE, SHINGLE_WORDS, can_be_copies};
use crate::display_doc::{DecodedBlock, DisplayDoc};
use crate::document::fingerprint_of_bytes;
use crate::search_options::{DomainFilter, SearchOptions};
use crate::sub_index::SubIndexSearcher;

/// Number of first hits that have diverse hosts.
const DIVERSE_HITS: usize = 10;
/// Maximum of the diverse hits from one host, if other hosts have close candidates.
const MAX_PER_HOST: usize = 2;

/// Maximum blocks of a text that are compared.
const COMPARED_BLOCKS: u32 = 6;

/// Rules for the selection of the hits of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SelectionRules {
    /// True if the first hits have diverse hosts.
    pub(crate) diverse: bool,
    /// True if pages with nearly equal texts are one hit. A query with filters only lists all URLs.
    pub(crate) collapse_texts: bool,
}

impl SelectionRules {
    pub(crate) fn from_query(query: &Query, options: &SearchOptions) -> Self {
        let selects_hosts =
            query.root().is_some_and(selects_hosts) || matches!(options.domains, DomainFilter::Include(_));
        let has_words = query.words().next().is_some();
        let by_relevance = matches!(options.sort, websvc_query::Sort::Relevance);
        Self { diverse: by_relevance && has_words && !selects_hosts, collapse_texts: has_words }
    }
}

/// Returns true if a query selects hosts.
fn selects_hosts(node: &Node) -> bool {
    match node {
        Node::And(children) | Node::Or(children) => children.iter().any(selects_hosts),
        Node::Operator(Operator::Site(_)) => true,
        Node::Not(_) | Node::Word(_) | Node::Phrase(_) | Node::Operator(_) => false,
    }
}

/// The hits that were selected so far. Candidates are added in parts; those of a later part never come before hits of an
/// earlier one.
pub(crate) struct Selection<'a> {
    view: &'a SubIndexSearcher,
    rules: SelectionRules,
    /// The selected candidates, and their properties. `first` and `rest` are indexes into both, in the order of the hits.
    accepted: Vec<Candidate>,
    pages: Vec<PageFingerprint>,
    first: Vec<usize>,
    rest: Vec<usize>,
    /// Number of accepted candidates of earlier parts.
    settled: usize,
    /// True if all candidates so far are close to the best one.
    all_close: bool,
    /// The hosts with more candidates than [`MAX_PER_HOST`], if there were too few candidates of other hosts.
    crowding_hosts: Vec<String>,
}

impl<'a> Selection<'a> {
    pub(crate) fn new(view: &'a SubIndexSearcher, rules: SelectionRules) -> Self {
        Self {
            view,
            rules,
            accepted: Vec::new(),
            pages: Vec::new(),
            first: Vec::new(),
            rest: Vec::new(),
            settled: 0,
            all_close: true,
            crowding_hosts: Vec::new(),
        }
    }

    /// Returns the number of hits.
    pub(crate) fn len(&self) -> usize {
        self.accepted.len()
    }

    /// Returns the crowding hosts if the index has documents of other hosts.
    pub(crate) fn crowding_hosts(&self) -> tantivy::Result<&[String]> {
        let has_others = has_other_hosts(self.view, &self.crowding_hosts)?;
        Ok(if has_others { &self.crowding_hosts } else { &[] })
    }

    /// Returns the first `limit` hits, best first.
    pub(crate) fn into_hits(self, limit: usize) -> Vec<Candidate> {
        self.first.into_iter().take(limit).map(|index| self.accepted[index].clone()).collect()
    }

    /// Adds candidates that are sorted best first, until there are at least `limit` hits. The first hits are the same for
    /// every limit.
    pub(crate) fn add(&mut self, candidates: &mut [Candidate], limit: usize) -> tantivy::Result<()> {
        for candidate in candidates {
            let is_full = self.len() >= limit && (self.first.len() >= DIVERSE_HITS || !self.rules.diverse);
            if is_full && self.pages[self.settled..].iter().all(|page| page.query_bytes == 0) {
                break;
            }
            let is_known = self.accepted.iter().any(|accepted| accepted.address == candidate.address);
            if !is_known && let Some(page) = PageFingerprint::from_bytes(candidate.display_doc(self.view)?) {
                self.add_page(candidate, page, is_full)?;
            }
        }
        if self.first.len() >= DIVERSE_HITS {
            self.crowding_hosts.clear();
        }
        self.first.append(&mut self.rest);
        self.settled = self.accepted.len();
        Ok(())
    }

    fn add_page(
        &mut self,
        candidate: &Candidate,
        page: PageFingerprint,
        is_full: bool,
    ) -> tantivy::Result<()> {
        if self.pages.is_empty()
            && self.rules.diverse
            && !has_other_hosts(self.view, std::slice::from_ref(&page.host))?
        {
            // All documents are of one host, so that more candidates would not add hosts.
            self.rules.diverse = false;
        }
        if let Some(copy) = self.pages.iter().position(|accepted| accepted.is_copy(&page, self.rules)) {
            if copy >= self.settled && page.has_shorter_query_than(&self.pages[copy]) {
                self.accepted[copy] = candidate.clone();
                self.pages[copy] = PageFingerprint { is_first: self.pages[copy].is_first, ..page };
            }
            return Ok(());
        }
        if is_full {
            return Ok(());
        }
        if self.all_close && !candidate.is_close {
            // Diversity must not move a clearly worse candidate before a better one.
            self.all_close = false;
            self.first.append(&mut self.rest);
        }
        let same_host =
            self.pages.iter().filter(|accepted| accepted.is_first && accepted.host == page.host).count();
        let is_first = self.first.len() < DIVERSE_HITS && !(self.rules.diverse && same_host >= MAX_PER_HOST);
        if is_first {
            self.first.push(self.pages.len());
        } else {
            if self.first.len() < DIVERSE_HITS && !self.crowding_hosts.contains(&page.host) {
                self.crowding_hosts.push(page.host.clone());
            }
            self.rest.push(self.pages.len());
        }
        self.accepted.push(candidate.clone());
        self.pages.push(PageFingerprint { is_first, ..page });
        Ok(())
    }
}

/// The properties of a page by which copies are recognized.
struct PageFingerprint {
    bytes: OwnedBytes,
    host: String,
    /// The URL in the canonical form of [`PageIdentity`].
    identity: String,
    path: String,
    /// Length of the query string of the URL.
    query_bytes: usize,
    words: u32,
    title: OnceCell<String>,
    shingles: OnceCell<Vec<u64>>,
    /// True if it is among the first hits, which have diverse hosts.
    is_first: bool,
}

impl PageFingerprint {
    fn from_bytes(bytes: OwnedBytes) -> Option<Self> {
        let doc = DisplayDoc::decode(&bytes)?;
        let identity = PageIdentity::from_address(doc.header.url);
        let words = doc.body_words();
        let (title, shingles) = (OnceCell::new(), OnceCell::new());
        let host = identity.host().to_owned();
        let url = doc.header.url.split('#').next().unwrap_or_default();
        let (before, query) = url.split_once('?').unwrap_or((url, ""));
        let (_, path) =
            before.split_once("://").and_then(|(_, rest)| rest.split_once('/')).unwrap_or_default();
        let (path, query_bytes) = (path.trim_end_matches('/').to_owned(), query.len());
        let identity = identity.into();
        Some(Self { bytes, host, identity, path, query_bytes, words, title, shingles, is_first: false })
    }

    /// Returns true if the URL is that of the copy with a shorter query string.
    fn has_shorter_query_than(&self, copy: &Self) -> bool {
        self.query_bytes < copy.query_bytes && self.host == copy.host && self.path == copy.path
    }

    fn has_same_title(&self, other: &Self) -> bool {
        let title = self.title();
        !title.is_empty() && title == other.title()
    }

    /// Returns the folded words of the title.
    fn title(&self) -> &str {
        self.title.get_or_init(|| {
            let mut title = String::new();
            if let Some(doc) = DisplayDoc::decode(&self.bytes) {
                each_word(doc.header.title, |word| {
                    title.push_str(word.lower);
                    title.push(' ');
                });
            }
            folded(&title)
        })
    }

    fn is_copy(&self, other: &Self, rules: SelectionRules) -> bool {
        if self.identity == other.identity {
            return true;
        }
        rules.collapse_texts
            && can_be_copies(self.words, other.words)
            && self.has_same_title(other)
            && resemblance(self.shingles(), other.shingles()) >= MIN_RESEMBLANCE
    }

    /// Returns the sorted, distinct hashes of the shingles of a few blocks, which are evenly spread over the text.
    fn shingles(&self) -> &[u64] {
        self.shingles.get_or_init(|| {
            let mut shingles = Vec::new();
            let Some(doc) = DisplayDoc::decode(&self.bytes) else {
                return shingles;
            };
            let mut last = None;
            for part in 0..COMPARED_BLOCKS {
                let position = u64::from(self.words) * u64::from(part) / u64::from(COMPARED_BLOCKS);
                let block = doc.block_at(u32::try_from(position).unwrap_or(u32::MAX));
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
        each_word(passage, |word| words.push(fingerprint_of_bytes(word.lower.as_bytes())));
    }
    let combine = |words: &[u64]| words.iter().fold(0, |sum: u64, hash| sum.rotate_left(17) ^ hash);
    shingles.extend(words.windows(SHINGLE_WORDS.min(words.len().max(1))).map(combine));
}

/// Returns the Jaccard similarity of two sorted lists without duplicates.
fn resemblance(a: &[u64], b: &[u64]) -> f64 {
    let common = a.iter().filter(|shingle| b.binary_search(shingle).is_ok()).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// Returns true if the index has documents of other hosts than `hosts`. Returns false if `hosts` is empty.
fn has_other_hosts(view: &SubIndexSearcher, hosts: &[String]) -> tantivy::Result<bool> {
    let mut documents = 0;
    for host in hosts {
        documents += view.searcher.doc_freq(&Term::from_field_text(view.fields.site, host))?;
    }
    Ok(!hosts.is_empty() && documents < view.searcher.num_docs())
}
