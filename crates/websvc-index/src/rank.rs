//! Ranking of candidates: the BM25F score of tantivy plus scores from word positions.

use tantivy::postings::Postings;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, PhraseQuery, Query as IndexQuery,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, Searcher, Term};

use crate::candidate::{Candidate, best_first};
use crate::compiled::Compiled;
use crate::freshness;
use crate::run::Run;
use crate::schema::{BODY_START, Fields};
use crate::vocabulary::{Compound, SCORED};

/// Maximum words of a keyword query, such as a name, for which documents with all words rank before all others. Longer
/// queries are sentences, in which many words are dispensable.
pub(crate) const MAX_KEYWORDS: usize = 4;

/// A scoring word of the query that occurs in the index.
pub(crate) struct ScoredWord {
    /// The terms of its forms.
    pub(crate) terms: Vec<Term>,
    /// Upper bound of the number of documents with some form; a document with several forms counts several times.
    pub(crate) doc_freq: u64,
    /// Inverse document frequency of BM25, times [`ScoredWord::boost`].
    pub(crate) idf: f32,
    /// Number of occurrences in the query, in any form.
    count: u16,
    /// Weight of a word that the query repeats, or of a compound.
    boost: f32,
    /// For a compound, a bit set of the words that it joins or contains; zero for other words.
    covers: u64,
}

impl ScoredWord {
    /// Adds `times` occurrences in the query. They saturate as in BM25 (k3 = 8).
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
        if self.boost != 1.0 {
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

/// The words of a query with their frequencies.
///
/// As [`Bm25StatisticsProvider`], it gives all forms of a word the same frequency, because a rare form of a common word
/// is no more specific than the common one.
pub(crate) struct QueryStatistics {
    pub(crate) words: Vec<ScoredWord>,
    pub(crate) runs: Vec<Run>,
    pub(crate) documents: u64,
    /// Number of words, where a run counts as one and a mark as none.
    keywords: usize,
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
        // For each word its index in `scored`; words with the same stem share an index.
        let mut indexes: Vec<Option<usize>> = vec![None; words.len()];
        for (word, index) in words.iter().zip(&mut indexes) {
            let (mut terms, mut doc_freq) = (Vec::with_capacity(word.forms.len()), 0);
            let mut count = word.count;
            for form in &word.forms {
                let term = Term::from_field_text(fields.terms, form);
                if let Some(existing) = scored.iter().position(|other| other.terms.contains(&term)) {
                    // Another word has the same stem.
                    *index = Some(existing);
                    scored[existing].repeat(std::mem::take(&mut count));
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
                *index = Some(scored.len());
                scored.push(word);
            }
        }
        let marks = add_marks(searcher, fields, compiled, &mut scored)?;
        add_compounds(searcher, fields, compiled, &indexes, &mut scored)?;
        let runs = compiled.runs.iter().filter_map(|run| Run::new(compiled, fields.exact, run, &indexes));
        let runs: Vec<Run> = runs.collect();
        let joined: usize = runs.iter().map(|run| run.words().count() - 1).sum();
        let keywords = typed(&scored).len().saturating_sub(marks + joined);
        Ok(Self {
            words: scored,
            runs,
            exact: fields.exact,
            documents,
            keywords,
            tokens,
            terms: fields.terms,
            searcher: searcher.clone(),
        })
    }

    /// Returns true if the query is short enough to be a keyword query.
    pub(crate) fn is_keyword_query(&self) -> bool {
        self.keywords <= MAX_KEYWORDS
    }

    /// Returns the maximum BM25 score of the query.
    pub(crate) fn max_score(&self) -> f32 {
        SATURATION * self.total_idf()
    }

    /// Returns the sum of the inverse document frequencies of the words.
    pub(crate) fn total_idf(&self) -> f32 {
        typed(&self.words).iter().map(|word| word.idf).sum()
    }

    /// Returns a scoring query for each word, which also matches the compounds with the word.
    pub(crate) fn word_queries(&self) -> impl Iterator<Item = Box<dyn IndexQuery>> {
        let (words, compounds) = self.words.split_at(typed(&self.words).len());
        words.iter().enumerate().map(move |(index, word)| {
            let mut any = vec![word.any()];
            for compound in compounds.iter().filter(|compound| compound.covers >> index.min(63) & 1 == 1) {
                // A compound scores only once, for the first of its words.
                let is_first = compound.covers.trailing_zeros() as usize == index;
                let query = compound.any();
                any.push(if is_first { query } else { Box::new(ConstScoreQuery::new(query, 0.0)) });
            }
            if any.len() == 1 { any.swap_remove(0) } else { Box::new(BooleanQuery::union(any)) }
        })
    }

    /// Returns the average number of words of a document.
    pub(crate) fn mean_length(&self) -> f32 {
        (self.tokens as f32 / self.documents.max(1) as f32).max(1.0)
    }

    /// Returns a query for each of `words` without stemming.
    pub(crate) fn exact_queries(&self, words: &[&str]) -> Vec<Box<dyn IndexQuery>> {
        let term = |word: &&str| Term::from_field_text(self.exact, word);
        words
            .iter()
            .map(|word| -> Box<dyn IndexQuery> { Box::new(TermQuery::new(term(word), SCORED)) })
            .collect()
    }

    /// Returns a query for `words` as a phrase; `None` for fewer than two words.
    pub(crate) fn phrase_query(&self, words: &[&str]) -> Option<Box<dyn IndexQuery>> {
        let terms: Vec<_> = words.iter().map(|word| Term::from_field_text(self.exact, word)).collect();
        (terms.len() > 1).then(|| -> Box<dyn IndexQuery> { Box::new(PhraseQuery::new(terms)) })
    }
}

/// Appends the marks of the query that occur in the index to the scored words, and returns their number. In an index
/// that was written before marks existed, none occur.
fn add_marks(
    searcher: &Searcher,
    fields: &Fields,
    compiled: &Compiled,
    scored: &mut Vec<ScoredWord>,
) -> tantivy::Result<usize> {
    let documents = searcher.total_num_docs()?;
    let words = scored.len();
    for mark in &compiled.marks {
        let term = Term::from_field_text(fields.terms, mark);
        let doc_freq = searcher.doc_freq(&term)?.min(documents);
        if doc_freq > 0 && !scored[words..].iter().any(|other| other.terms.contains(&term)) {
            let idf = inverse_document_frequency(doc_freq, documents);
            scored.push(ScoredWord { terms: vec![term], doc_freq, idf, count: 1, boost: 1.0, covers: 0 });
        }
    }
    Ok(scored.len() - words)
}

/// Appends the compounds of the query that occur in the index to the scored words.
///
/// `indexes` has the index in `scored` of each word of the query. A compound of which neither part occurs is scored
/// like a word.
fn add_compounds(
    searcher: &Searcher,
    fields: &Fields,
    compiled: &Compiled,
    indexes: &[Option<usize>],
    scored: &mut Vec<ScoredWord>,
) -> tantivy::Result<()> {
    let words = &compiled.words;
    let documents = searcher.total_num_docs()?;
    let index_of = |part: &String| indexes[words.iter().position(|word| word.exact == *part)?];
    let (mut standalone, mut covering) = (Vec::new(), Vec::new());
    for Compound { parts, forms, weight } in &compiled.compounds {
        let mut terms = Vec::new();
        let mut doc_freq = 0;
        for form in forms {
            let term = Term::from_field_text(fields.terms, form);
            let mut others = scored.iter().chain(&standalone).chain(&covering);
            let is_scored = others.any(|other| other.terms.contains(&term));
            let documents = if is_scored { 0 } else { searcher.doc_freq(&term)? };
            if documents > 0 {
                doc_freq += documents;
                terms.push(term);
            }
        }
        if terms.is_empty() {
            continue;
        }
        let covered = || parts.iter().filter_map(index_of);
        // A rare spelling is no more specific than the words that it joins.
        let min_doc_freq = covered().map(|index| scored[index].doc_freq).min().unwrap_or_default();
        let doc_freq = doc_freq.max(min_doc_freq).min(documents);
        let idf = weight * inverse_document_frequency(doc_freq, documents);
        let covers = covered().filter(|&index| index < 64).fold(0, |bits, index| bits | 1 << index);
        let word = ScoredWord { terms, doc_freq, idf, count: 1, boost: *weight, covers };
        if covers == 0 { standalone.push(word) } else { covering.push(word) }
    }
    scored.append(&mut standalone);
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

/// Returns the typed words, without the compounds after them.
pub(crate) fn typed(words: &[ScoredWord]) -> &[ScoredWord] {
    &words[..words.partition_point(|word| word.covers == 0)]
}

/// Returns the inverse document frequency of BM25.
pub(crate) fn inverse_document_frequency(doc_freq: u64, documents: u64) -> f32 {
    let without = documents.saturating_sub(doc_freq);
    ((without as f32 + 0.5) / (doc_freq as f32 + 0.5)).ln_1p()
}

/// Maximum occurrences of a word in a document that are read.
const MAX_OCCURRENCES: usize = 500;

/// Reads the positions of the words in the candidates: pairs of position and index of the word, sorted by position for
/// each candidate.
pub(crate) fn read_positions(
    searcher: &Searcher,
    words: &[ScoredWord],
    candidates: &mut [Candidate],
) -> tantivy::Result<Vec<(u32, u16)>> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by_key(|&candidate| candidates[candidate].address);
    let mut by_candidate: Vec<Vec<(u32, u16)>> = vec![Vec::new(); candidates.len()];
    let mut buffer = Vec::new();
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
                for &candidate in group {
                    let doc = candidates[candidate].address.doc_id;
                    if postings.doc() < doc {
                        postings.seek(doc);
                    }
                    if postings.doc() == doc {
                        postings.positions(&mut buffer);
                        buffer.dedup();
                        buffer.truncate(MAX_OCCURRENCES);
                        let found = buffer.iter().map(|&position| (position, ord as u16));
                        by_candidate[candidate].extend(found);
                    }
                }
            }
        }
    }
    let mut positions = Vec::with_capacity(by_candidate.iter().map(Vec::len).sum());
    for (candidate, mut list) in candidates.iter_mut().zip(by_candidate) {
        // The list has a sorted run for each term; the stable sort merges such runs.
        list.sort();
        let start = positions.len();
        positions.append(&mut list);
        candidate.positions = start..positions.len();
    }
    Ok(positions)
}

/// Maximum BM25 score of a word with an inverse document frequency of one (k1 + 1).
pub(crate) const SATURATION: f32 = 2.2;

/// Bonus of a title with all words, as a share of the maximum BM25 score.
const TITLE_SHARE: f32 = 0.2;
/// Maximum bonus of words close to each other, as a share of the maximum BM25 score.
const PROXIMITY_SHARE: f32 = 0.2;
/// Bonus of a run that occurs as typed, as a share of the maximum BM25 score of its words.
const RUN_SHARE: f32 = 0.5;

/// Maximum distance of two words for the proximity bonus.
const MAX_DISTANCE: u32 = 6;

/// Bonus of a document with all words of a keyword query whose meaning is ranked too, as a share of the maximum BM25 score.
/// It is too small to come before all documents that say the same in other words.
const COMPLETE_SHARE_WITH_MEANING: f32 = 0.2;

/// Adds the bonuses for title, proximity, runs and complete matches to the scores, and sorts the candidates best first.
pub(crate) fn rank(
    statistics: &QueryStatistics,
    positions: &[(u32, u16)],
    has_meaning: bool,
    candidates: &mut [Candidate],
) {
    // More than the maximum score of a document without one of the words.
    const COMPLETE_SHARE: f32 = 1.0 + TITLE_SHARE + PROXIMITY_SHARE + RUN_SHARE + freshness::SHARE;
    let QueryStatistics { words, runs, .. } = statistics;
    let is_keyword_query = statistics.is_keyword_query();
    let share = if has_meaning { COMPLETE_SHARE_WITH_MEANING } else { COMPLETE_SHARE };
    let complete_bonus = share * statistics.max_score();
    let mut has_all_runs = vec![false; candidates.len()];
    for (candidate, has_all_runs) in candidates.iter_mut().zip(&mut has_all_runs) {
        let positions = &positions[candidate.positions.clone()];
        let (title, has_all_words) = title_and_coverage(words, positions);
        let found = || runs.iter().filter(|run| run.occurs(positions));
        let in_runs: f32 = found().flat_map(Run::words).map(|word| words[word].idf).sum();
        let in_runs = RUN_SHARE * in_runs.min(statistics.total_idf());
        let shares = TITLE_SHARE * title + PROXIMITY_SHARE * proximity(words, positions) + in_runs;
        candidate.score += SATURATION * shares;
        candidate.is_close = has_all_words || !is_keyword_query;
        *has_all_runs = !runs.is_empty() && found().count() == runs.len();
        if is_keyword_query && has_all_words {
            candidate.score += complete_bonus;
        }
    }
    if is_keyword_query && has_all_runs.contains(&true) {
        for (candidate, has_all_runs) in candidates.iter_mut().zip(has_all_runs) {
            candidate.is_close &= has_all_runs;
            candidate.score += if candidate.is_close { complete_bonus } else { 0.0 };
        }
    }
    best_first(candidates);
}

/// Sets [`Candidate::is_close`] for a long query. Every candidate has some of the words, so only scores can decide. The
/// candidates must be sorted best first.
pub(crate) fn mark_close_candidates(candidates: &mut [Candidate]) {
    const MIN_SHARE: f32 = 0.5;
    let best = candidates.first().map_or(0.0, |best| best.score);
    for candidate in candidates {
        candidate.is_close = candidate.score >= MIN_SHARE * best;
    }
}

/// Returns the sum of the inverse document frequencies of the words in the title, and true if the document has all
/// words.
fn title_and_coverage(words: &[ScoredWord], positions: &[(u32, u16)]) -> (f32, bool) {
    let (mut in_title, mut anywhere) = (0u64, 0u64);
    let typed = typed(words);
    for &(position, word) in positions {
        let bit = match words[usize::from(word)].covers {
            0 => 1 << word.min(63),
            covers => covers,
        };
        anywhere |= bit;
        if position < BODY_START {
            in_title |= bit;
        }
    }
    let has = |set: u64, index: usize| set >> index.min(63) & 1 == 1;
    let in_title = typed.iter().enumerate().filter(|&(index, _)| has(in_title, index));
    (in_title.map(|(_, word)| word.idf).sum(), (0..typed.len()).all(|index| has(anywhere, index)))
}

/// Returns a score for words that are as close to each other as in the query: for each pair of neighbors in the query,
/// the sum of the inverse squares of their distances, which saturates like frequencies in BM25.
fn proximity(words: &[ScoredWord], positions: &[(u32, u16)]) -> f32 {
    let typed = typed(words);
    if typed.len() < 2 {
        return 0.0;
    }
    // For each word, the sum of its pairs with the next word of the query.
    let mut sums = vec![0f32; words.len()];
    for (index, &(position, word)) in positions.iter().enumerate() {
        if usize::from(word) >= typed.len() {
            // A compound of two words counts as its words at distance one.
            let covers = words[usize::from(word)].covers;
            sums[covers.trailing_zeros() as usize] += if covers.count_ones() > 1 { 1.0 } else { 0.0 };
            continue;
        }
        let close = positions[index + 1..].iter().take_while(|(other, _)| other - position <= MAX_DISTANCE);
        for &(other, next) in close {
            let distance = (other - position).max(1) as f32;
            if usize::from(next) >= typed.len() {
                continue;
            }
            if next == word + 1 {
                sums[usize::from(word)] += 1.0 / (distance * distance);
            } else if word == next + 1 {
                // The reverse order is weaker evidence.
                sums[usize::from(next)] += 0.5 / (distance * distance);
            }
        }
    }
    let pairs = typed.windows(2).zip(&sums);
    pairs.map(|(pair, &sum)| pair[0].idf.min(pair[1].idf) * sum / (sum + 1.0)).sum()
}
