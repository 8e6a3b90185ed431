//! Finding candidates: the tantivy queries that are run for a search.

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query as IndexQuery};
use tantivy::{DocAddress, Order, Searcher};
use websvc_query::Sort;

use crate::filter::Compiled;
use crate::filtered_query::FilteredQuery;
use crate::rank::{Candidate, QueryStatistics, ScoredWord, typed};
use crate::search::SearchOptions;

/// Minimum documents of a frequent word, all positions of which take long to read.
const FREQUENT_WORD_DOCUMENTS: u64 = 2_000;

/// A finder of candidates for a compiled query.
pub(crate) struct CandidateFinder<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) compiled: &'a Compiled,
    pub(crate) statistics: &'a QueryStatistics,
    pub(crate) options: &'a SearchOptions,
}

impl CandidateFinder<'_> {
    /// Returns about `wanted` documents with the best BM25 scores.
    pub(crate) fn find_candidates(&self, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        if self.statistics.words.is_empty() {
            return self.find_without_words(wanted);
        }
        if self.has_frequent_phrases() {
            return self.find_phrases(wanted);
        }
        let mut found = Vec::new();
        let can_require_all = typed(&self.statistics.words).len() > 1 && !self.compiled.is_quoted();
        if can_require_all && (self.statistics.is_keyword_query() || self.options.sort == Sort::Date) {
            found = self.run(Occur::Must, wanted)?;
            if found.len() >= self.options.limit || (self.options.sort == Sort::Date && !found.is_empty()) {
                return Ok(found);
            }
        }
        append_new(&mut found, self.run(Occur::Should, wanted)?);
        Ok(found)
    }

    /// Finds documents by filters alone or, if all words are stop words, by the exact words.
    fn find_without_words(&self, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        if self.compiled.plain_words == 0 {
            return self.collect(Vec::new(), wanted);
        }
        if !self.compiled.words.iter().all(|word| word.forms.is_empty()) || self.compiled.words.is_empty() {
            // None of the words occurs in the index.
            return Ok(Vec::new());
        }
        let text = self.compiled.words.iter().map(|word| word.exact.as_str()).collect::<Vec<_>>();
        let mut found = match self.statistics.phrase_query(&text) {
            Some(phrase) => self.collect(vec![(Occur::Must, phrase)], wanted)?,
            None => Vec::new(),
        };
        if found.len() < self.options.limit {
            let exact = self.statistics.exact_queries(&text);
            let clauses = exact.into_iter().map(|term| (Occur::Must, term)).collect();
            append_new(&mut found, self.collect(clauses, wanted)?);
        }
        Ok(found)
    }

    /// Returns true if the query has only phrases of words so frequent that checking the phrases last is faster.
    fn has_frequent_phrases(&self) -> bool {
        self.compiled.is_quoted()
            && self.statistics.is_keyword_query()
            && self.options.sort == Sort::Relevance
            && typed(&self.statistics.words).iter().all(|word| word.doc_freq >= FREQUENT_WORD_DOCUMENTS)
    }

    /// Finds the best documents with all phrases; those with all words in some form come first.
    fn find_phrases(&self, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        let Compiled { phrases, excluded, words, .. } = self.compiled;
        let best = |ranked: BooleanQuery| {
            let phrases = phrases.iter().map(|phrase| (Occur::Must, phrase.box_clone()));
            let excluded = excluded.iter().map(|filter| (Occur::MustNot, filter.box_clone()));
            let filter = BooleanQuery::new(phrases.chain(excluded).collect());
            self.best(&FilteredQuery { ranked: Box::new(ranked), filter: Box::new(filter) }, wanted)
        };
        let all_words = || BooleanQuery::intersection(self.statistics.word_queries().collect());
        let mut found = best(all_words())?;
        if found.len() < wanted {
            // If a word is a stop word in the language of a document, the document has it only in the field `exact`.
            let text = words.iter().map(|word| word.exact.as_str()).collect::<Vec<_>>();
            let exact = BooleanQuery::intersection(self.statistics.exact_queries(&text));
            let mut clauses: Vec<(Occur, Box<dyn IndexQuery>)> = vec![
                (Occur::Must, Box::new(ConstScoreQuery::new(Box::new(exact), 0.0))),
                (Occur::MustNot, Box::new(all_words())),
            ];
            let words = self.statistics.words.iter().flat_map(ScoredWord::terms);
            clauses.extend(words.map(|term| (Occur::Should, term)));
            found.extend(best(BooleanQuery::new(clauses))?);
            found.truncate(wanted);
        }
        Ok(found)
    }

    /// Finds documents in which all (`Must`) or some (`Should`) words occur.
    fn run(&self, occur: Occur, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        let clauses = match occur {
            Occur::Should => {
                self.statistics.words.iter().flat_map(ScoredWord::terms).map(|term| (occur, term)).collect()
            }
            Occur::Must | Occur::MustNot => {
                self.statistics.word_queries().map(|word| (occur, word)).collect()
            }
        };
        self.collect(clauses, wanted)
    }

    /// Runs a query with the scoring clauses and all filters.
    fn collect(
        &self,
        scoring: Vec<(Occur, Box<dyn IndexQuery>)>,
        wanted: usize,
    ) -> tantivy::Result<Vec<Candidate>> {
        let Compiled { filters, phrases, excluded, plain_words, .. } = self.compiled;
        let filters = || filters.iter().chain(phrases);
        let mut clauses = Vec::new();
        if filters().next().is_none() && excluded.is_empty() {
            clauses = scoring;
        } else {
            clauses.extend(filters().map(|filter| (Occur::Must, filter.box_clone())));
            clauses.extend(excluded.iter().map(|filter| (Occur::MustNot, filter.box_clone())));
            if !scoring.is_empty() {
                let requires_all = scoring.iter().any(|(occur, _)| *occur == Occur::Must);
                let is_optional = !requires_all && *plain_words == 0 && filters().next().is_some();
                let occur = if is_optional { Occur::Should } else { Occur::Must };
                clauses.push((occur, Box::new(BooleanQuery::new(scoring)) as Box<dyn IndexQuery>));
            }
            if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
                clauses.push((Occur::Must, Box::new(tantivy::query::AllQuery)));
            }
        }
        let query = BooleanQuery::new(clauses);
        match self.options.sort {
            Sort::Relevance => self.best(&query, wanted),
            Sort::Date => {
                let newest = TopDocs::with_limit(wanted).order_by_fast_field::<i64>("date", Order::Desc);
                let found = self.searcher.search(&query, &newest)?;
                Ok(found.into_iter().map(|(_, address)| Candidate::new(address, 0.0)).collect())
            }
        }
    }

    /// Returns the documents with the best scores, best first.
    fn best(&self, query: &dyn IndexQuery, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        let top = TopDocs::with_limit(wanted).order_by_score();
        let found = self.searcher.search_with_statistics_provider(query, &top, self.statistics)?;
        Ok(found.into_iter().map(|(score, address)| Candidate::new(address, score)).collect())
    }
}

/// Appends the candidates of `more` that are not in `found`. The candidates in `found` have better scores.
pub(crate) fn append_new(found: &mut Vec<Candidate>, more: Vec<Candidate>) {
    let mut seen: Vec<DocAddress> = found.iter().map(|candidate| candidate.address).collect();
    seen.sort_unstable();
    found.extend(more.into_iter().filter(|candidate| seen.binary_search(&candidate.address).is_err()));
}
