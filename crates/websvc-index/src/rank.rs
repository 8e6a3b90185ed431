//! Ranking of candidates: BM25F from the engine, plus what only word positions tell.

use std::ops::Range;

use tantivy::directory::OwnedBytes;
use tantivy::postings::Postings;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, PhraseQuery, Query as IndexQuery,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocSet, Searcher, Term};

use crate::filter::Compiled;
use crate::freshness;
use crate::schema::{BODY_AT, Fields};
use crate::sub_index::SubIndexSearcher;
use crate::vocabulary::{Compound, SCORED};

/// A word that ranks and occurs in the index.
pub(crate) struct ScoredWord {
    pub(crate) terms: Vec<Term>,
    /// In how many documents some form occurs (at most: forms may share documents).
    pub(crate) doc_freq: u64,
    /// Inverse document frequency as BM25 counts it, times [`ScoredWord::boost`].
    pub(crate) idf: f32,
    /// How often the query has it, in whatever form.
    count: u16,
    /// How much more a word counts that the query repeats.
    boost: f32,
    /// Of a compound the words that it stands for, as bits; others have none.
    covers: u64,
}

impl ScoredWord {
    /// Notes `times` more occurrences in the query. They saturate as BM25 has it (k3 = 8).
    fn repeat(&mut self, times: u16) {
        const K3: f32 = 8.0;
        self.count = self.count.saturating_add(times);
        let count = f32::from(self.count);
        let boost = (K3 + 1.0) * count / (K3 + count);
        self.idf *= boost / self.boost;
        self.boost = boost;
    }

    /// Returns one scoring query for each form.
    pub(crate) fn terms(&self) -> impl Iterator<Item = Box<dyn IndexQuery>> {
        self.terms.iter().map(|term| self.term(term))
    }

    fn term(&self, term: &Term) -> Box<dyn IndexQuery> {
        let query = TermQuery::new(term.clone(), SCORED);
        if self.boost > 1.0 {
            Box::new(BoostQuery::new(Box::new(query), self.boost))
        } else {
            Box::new(query)
        }
    }

    /// Returns one scoring query for all forms.
    pub(crate) fn any(&self) -> Box<dyn IndexQuery> {
        match self.terms.as_slice() {
            [only] => self.term(only),
            _ => Box::new(BooleanQuery::union(self.terms().collect())),
        }
    }
}

/// The words of a query with their frequencies. As the engine's statistics it makes all forms of a word equally
/// rare, as a rare form of a common word says no more than the common one.
pub(crate) struct QueryStatistics {
    pub(crate) words: Vec<ScoredWord>,
    pub(crate) documents: u64,
    exact: Field,
    tokens: u64,
    terms: Field,
    searcher: Searcher,
}

impl QueryStatistics {
    pub(crate) fn new(searcher: &Searcher, fields: &Fields, compiled: &Compiled) -> tantivy::Result<Self> {
        let words = &compiled.words;
        let documents = searcher.total_num_docs()?;
        let tokens = searcher.total_num_tokens(fields.terms)?;
        let mut scored: Vec<ScoredWord> = Vec::with_capacity(words.len());
        // Where each word is among them; words with the same stem share a place.
        let mut places: Vec<Option<usize>> = vec![None; words.len()];
        for (word, place) in words.iter().zip(&mut places) {
            let (mut terms, mut doc_freq) = (Vec::with_capacity(word.forms.len()), 0);
            let mut count = word.count;
            for form in &word.forms {
                let term = Term::from_field_text(fields.terms, form);
                if let Some(at) = scored.iter().position(|other| other.terms.contains(&term)) {
                    // Another word with the same stem.
                    *place = Some(at);
                    scored[at].repeat(std::mem::take(&mut count));
                    continue;
                }
                let documents = searcher.doc_freq(&term)?;
                if documents > 0 {
                    doc_freq += documents;
                    terms.push(term);
                }
            }
            let doc_freq = doc_freq.min(documents);
            if !terms.is_empty() {
                let idf = inverse_document_frequency(doc_freq, documents);
                let mut word = ScoredWord { terms, doc_freq, idf, count: 1, boost: 1.0, covers: 0 };
                word.repeat(count.saturating_sub(1));
                *place = Some(scored.len());
                scored.push(word);
            }
        }
        add_compounds(searcher, fields, compiled, &places, &mut scored)?;
        Ok(Self {
            words: scored,
            exact: fields.exact,
            documents,
            tokens,
            terms: fields.terms,
            searcher: searcher.clone(),
        })
    }

    /// Returns the score that BM25 cannot exceed for the query.
    pub(crate) fn maximum(&self) -> f32 {
        SATURATION * self.total()
    }

    /// Returns the summed rarity of the words.
    pub(crate) fn total(&self) -> f32 {
        typed(&self.words).iter().map(|word| word.idf).sum()
    }

    /// Returns a scoring query for each word, which its compounds answer too.
    pub(crate) fn each(&self) -> impl Iterator<Item = Box<dyn IndexQuery>> {
        let (words, compounds) = self.words.split_at(typed(&self.words).len());
        words.iter().enumerate().map(move |(at, word)| {
            let mut any = vec![word.any()];
            for compound in compounds.iter().filter(|compound| compound.covers >> at.min(63) & 1 == 1) {
                // The compound scores once, for the first of its words.
                let first = compound.covers.trailing_zeros() as usize == at;
                let query = compound.any();
                any.push(if first { query } else { Box::new(ConstScoreQuery::new(query, 0.0)) });
            }
            if any.len() == 1 { any.swap_remove(0) } else { Box::new(BooleanQuery::union(any)) }
        })
    }

    /// Returns how many words a document has on average.
    pub(crate) fn mean_length(&self) -> f32 {
        (self.tokens as f32 / self.documents.max(1) as f32).max(1.0)
    }

    /// Returns a query for each of `words` as typed.
    pub(crate) fn literal(&self, words: &[&str]) -> Vec<Box<dyn IndexQuery>> {
        let term = |word: &&str| Term::from_field_text(self.exact, word);
        words
            .iter()
            .map(|word| -> Box<dyn IndexQuery> { Box::new(TermQuery::new(term(word), SCORED)) })
            .collect()
    }

    /// Returns a query for `words` side by side; `None` for fewer than two.
    pub(crate) fn adjacent(&self, words: &[&str]) -> Option<Box<dyn IndexQuery>> {
        let terms: Vec<_> = words.iter().map(|word| Term::from_field_text(self.exact, word)).collect();
        (terms.len() > 1).then(|| -> Box<dyn IndexQuery> { Box::new(PhraseQuery::new(terms)) })
    }
}

/// Appends the compounds of the query that occur to its words. `places` tells where each word that was typed is among
/// them. Where neither part occurs the compound is a word itself.
fn add_compounds(
    searcher: &Searcher,
    fields: &Fields,
    compiled: &Compiled,
    places: &[Option<usize>],
    scored: &mut Vec<ScoredWord>,
) -> tantivy::Result<()> {
    let words = &compiled.words;
    let documents = searcher.total_num_docs()?;
    let place_of = |part: &String| places[words.iter().position(|word| word.exact == *part)?];
    let (mut lone, mut covering) = (Vec::new(), Vec::new());
    for Compound { parts, forms } in &compiled.compounds {
        let mut terms = Vec::new();
        let mut doc_freq = 0;
        for form in forms {
            let term = Term::from_field_text(fields.terms, form);
            let known = scored.iter().chain(&lone).chain(&covering).any(|other| other.terms.contains(&term));
            let documents = if known { 0 } else { searcher.doc_freq(&term)? };
            if documents > 0 {
                doc_freq += documents;
                terms.push(term);
            }
        }
        if terms.is_empty() {
            continue;
        }
        let covered = || parts.iter().filter_map(place_of);
        // A rare spelling says no more than the words that it stands for.
        let usual = covered().map(|at| scored[at].doc_freq).min().unwrap_or_default();
        let doc_freq = doc_freq.max(usual).min(documents);
        let idf = inverse_document_frequency(doc_freq, documents);
        let covers = covered().filter(|&at| at < 64).fold(0, |bits, at| bits | 1 << at);
        let word = ScoredWord { terms, doc_freq, idf, count: 1, boost: 1.0, covers };
        if covers == 0 { lone.push(word) } else { covering.push(word) }
    }
    scored.append(&mut lone);
    scored.append(&mut covering);
    Ok(())
}

impl Bm25StatisticsProvider for QueryStatistics {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        if field == self.terms { Ok(self.tokens) } else { self.searcher.total_num_tokens(field) }
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let word = self.words.iter().find(|word| word.terms.contains(term));
        word.map_or_else(|| self.searcher.doc_freq(term), |word| Ok(word.doc_freq))
    }
}

/// Returns the words that were typed, without the compounds after them.
pub(crate) fn typed(words: &[ScoredWord]) -> &[ScoredWord] {
    &words[..words.partition_point(|word| word.covers == 0)]
}

/// Returns how much the presence of a word says, as BM25 counts it.
pub(crate) fn inverse_document_frequency(doc_freq: u64, documents: u64) -> f32 {
    let without = documents.saturating_sub(doc_freq);
    ((without as f32 + 0.5) / (doc_freq as f32 + 0.5)).ln_1p()
}

/// A document that may become a hit.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) address: DocAddress,
    pub(crate) score: f32,
    /// True if the candidate answers about as well as the best: it has all words of a short query, or scores near
    /// the best for a longer one.
    pub(crate) rival: bool,
    /// Range of its word positions in the list of [`observe`].
    pub(crate) observed: Range<usize>,
    /// Its card, once that was read.
    card: Option<OwnedBytes>,
}

impl Candidate {
    pub(crate) fn new(address: DocAddress, score: f32) -> Self {
        Self { address, score, rival: true, observed: 0..0, card: None }
    }

    /// Returns the bytes of its card. They are read once, and never copied.
    pub(crate) fn card(&mut self, view: &SubIndexSearcher) -> tantivy::Result<OwnedBytes> {
        let bytes = match self.card.take() {
            Some(bytes) => bytes,
            None => view.card(self.address)?,
        };
        Ok(self.card.insert(bytes).clone())
    }
}

/// Of one word in one document, occurrences beyond this many are not looked at.
const MAX_OCCURRENCES: usize = 500;

/// Reads where the words stand in the candidates: (position, word), sorted by position for each candidate.
pub(crate) fn read_positions(
    searcher: &Searcher,
    words: &[ScoredWord],
    candidates: &mut [Candidate],
) -> tantivy::Result<Vec<(u32, u16)>> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by_key(|&at| candidates[at].address);
    let mut by_candidate: Vec<Vec<(u32, u16)>> = vec![Vec::new(); candidates.len()];
    let mut positions = Vec::new();
    for group in
        order.chunk_by(|&a, &b| candidates[a].address.segment_ord == candidates[b].address.segment_ord)
    {
        let segment = searcher.segment_reader(candidates[group[0]].address.segment_ord);
        for (ord, word) in words.iter().enumerate() {
            for term in &word.terms {
                let index = segment.inverted_index(term.field())?;
                let Some(mut postings) =
                    index.read_postings(term, IndexRecordOption::WithFreqsAndPositions)?
                else {
                    continue;
                };
                for &at in group {
                    let doc = candidates[at].address.doc_id;
                    if postings.doc() < doc {
                        postings.seek(doc);
                    }
                    if postings.doc() == doc {
                        postings.positions(&mut positions);
                        positions.dedup();
                        positions.truncate(MAX_OCCURRENCES);
                        by_candidate[at].extend(positions.iter().map(|&position| (position, ord as u16)));
                    }
                }
            }
        }
    }
    let mut observed = Vec::with_capacity(by_candidate.iter().map(Vec::len).sum());
    for (candidate, mut list) in candidates.iter_mut().zip(by_candidate) {
        // As many sorted runs as words, which the stable sort merges.
        list.sort();
        let start = observed.len();
        observed.append(&mut list);
        candidate.observed = start..observed.len();
    }
    Ok(observed)
}

/// BM25 gives a word at most this much per unit of rarity (k1 + 1).
pub(crate) const SATURATION: f32 = 2.2;

/// Shares of the greatest possible BM25 score that a full title and perfect neighbourhood add.
const TITLE_SHARE: f32 = 0.2;
const NEIGHBOUR_SHARE: f32 = 0.2;

/// Words farther apart than this are no neighbours.
const NEIGHBOURHOOD: u32 = 6;

/// Sorts candidates best first, and sets their scores.
pub(crate) fn rank(
    words: &[ScoredWord],
    observed: &[(u32, u16)],
    keywords: bool,
    candidates: &mut [Candidate],
) {
    let total: f32 = typed(words).iter().map(|word| word.idf).sum();
    for candidate in candidates.iter_mut() {
        let seen = &observed[candidate.observed.clone()];
        let (title, all) = title_and_coverage(words, seen);
        candidate.score += SATURATION * (TITLE_SHARE * title + NEIGHBOUR_SHARE * neighbours(words, seen));
        candidate.rival = all || !keywords;
        if keywords && all {
            // Above everything that a document without one of the words can reach.
            candidate.score += SATURATION * total * (1.0 + TITLE_SHARE + NEIGHBOUR_SHARE + freshness::SHARE);
        }
    }
    best_first(candidates);
}

/// Notes which candidates for a long question, best first, answer about as well as the best: everything has some of
/// the words, so the scores must tell.
pub(crate) fn mark_close_candidates(candidates: &mut [Candidate]) {
    const NEAR: f32 = 0.5;
    let best = candidates.first().map_or(0.0, |best| best.score);
    for candidate in candidates {
        candidate.rival = candidate.score >= NEAR * best;
    }
}

/// Sorts candidates by score.
pub(crate) fn best_first(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.address.cmp(&b.address)));
}

/// Returns the summed rarity of the words in the title, and whether the document has all words.
fn title_and_coverage(words: &[ScoredWord], seen: &[(u32, u16)]) -> (f32, bool) {
    let (mut in_title, mut anywhere) = (0u64, 0u64);
    let typed = typed(words);
    for &(position, word) in seen {
        let bit = match words[usize::from(word)].covers {
            0 => 1 << word.min(63),
            covers => covers,
        };
        anywhere |= bit;
        if position < BODY_AT {
            in_title |= bit;
        }
    }
    let has = |set: u64, at: usize| set >> at.min(63) & 1 == 1;
    let title = typed.iter().enumerate().filter(|&(at, _)| has(in_title, at)).map(|(_, word)| word.idf).sum();
    (title, (0..typed.len()).all(|at| has(anywhere, at)))
}

/// Returns how much the words stand together as in the query: for each two neighbours of the query the inverse
/// squares of their distances, summed and saturated as BM25 saturates frequencies.
fn neighbours(words: &[ScoredWord], seen: &[(u32, u16)]) -> f32 {
    let typed = typed(words);
    if typed.len() < 2 {
        return 0.0;
    }
    let mut near = vec![0f32; words.len()];
    for (at, &(position, word)) in seen.iter().enumerate() {
        if usize::from(word) >= typed.len() {
            // A compound is its words side by side.
            near[words[usize::from(word)].covers.trailing_zeros() as usize] += 1.0;
            continue;
        }
        let close = seen[at + 1..].iter().take_while(|(other, _)| other - position <= NEIGHBOURHOOD);
        for &(other, next) in close {
            let distance = (other - position).max(1) as f32;
            if usize::from(next) >= typed.len() {
                continue;
            }
            if next == word + 1 {
                near[usize::from(word)] += 1.0 / (distance * distance);
            } else if word == next + 1 {
                // The reverse order is weaker evidence.
                near[usize::from(next)] += 0.5 / (distance * distance);
            }
        }
    }
    let pairs = typed.windows(2).zip(&near);
    pairs.map(|(pair, &near)| pair[0].idf.min(pair[1].idf) * near / (near + 1.0)).sum()
}
