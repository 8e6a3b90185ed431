//! Finding candidates: which passes of the engine a query takes.

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query as IndexQuery};
use tantivy::{DocAddress, Order, Searcher};
use websvc_query::Sort;

use crate::filter::Compiled;
use crate::filtered_query::FilteredQuery;
use crate::rank::{Candidate, QueryStatistics, ScoredWord, typed};
use crate::search::{KEYWORDS, SearchOptions};

/// Words in at least this many documents are frequent: the positions of all of them take long to read.
const FREQUENT: u64 = 2_000;

/// Finds candidates for a query that was compiled.
pub(crate) struct CandidateFinder<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) compiled: &'a Compiled,
    pub(crate) statistics: &'a QueryStatistics,
    pub(crate) options: &'a SearchOptions,
}

impl CandidateFinder<'_> {
    /// Tells whether the words are few enough to be keywords.
    fn keyword_query(&self) -> bool {
        typed(&self.statistics.words).len() <= KEYWORDS
    }

    /// Returns about `wanted` documents, the best by what the engine knows of scores.
    pub(crate) fn find_candidates(&self, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        if self.statistics.words.is_empty() {
            return self.find_without_words(wanted);
        }
        if self.has_frequent_quotes() {
            return self.find_quotes(wanted);
        }
        let mut found = Vec::new();
        let selective = typed(&self.statistics.words).len() > 1 && !self.compiled.is_quoted();
        if selective && (self.keyword_query() || self.options.sort == Sort::Date) {
            found = self.run(Occur::Must, wanted)?;
            if found.len() >= self.options.limit || (self.options.sort == Sort::Date && !found.is_empty()) {
                return Ok(found);
            }
        }
        append_new(&mut found, self.run(Occur::Should, wanted)?);
        Ok(found)
    }

    /// Finds documents by filters alone, or, for a query of stop words, by their literal occurrence.
    fn find_without_words(&self, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        if self.compiled.plain_words == 0 {
            return self.collect(Vec::new(), wanted);
        }
        if !self.compiled.words.iter().all(|word| word.forms.is_empty()) || self.compiled.words.is_empty() {
            // None of the words occurs anywhere.
            return Ok(Vec::new());
        }
        let text = self.compiled.words.iter().map(|word| word.exact.as_str()).collect::<Vec<_>>();
        let mut found = match self.statistics.adjacent(&text) {
            Some(phrase) => self.collect(vec![(Occur::Must, phrase)], wanted)?,
            None => Vec::new(),
        };
        if found.len() < self.options.limit {
            let literal =
                self.statistics.literal(&text).into_iter().map(|term| (Occur::Must, term)).collect();
            append_new(&mut found, self.collect(literal, wanted)?);
        }
        Ok(found)
    }

    /// Tells whether the query is quotes alone, of words so frequent that it pays to look for them last.
    fn has_frequent_quotes(&self) -> bool {
        self.compiled.is_quoted()
            && self.keyword_query()
            && self.options.sort == Sort::Relevance
            && typed(&self.statistics.words).iter().all(|word| word.doc_freq >= FREQUENT)
    }

    /// Finds the best documents with all quotes, those with all words in some form first.
    fn find_quotes(&self, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        let Compiled { phrases, excluded, words, .. } = self.compiled;
        let best = |ranked: BooleanQuery| {
            let quotes = phrases.iter().map(|quote| (Occur::Must, quote.box_clone()));
            let others = excluded.iter().map(|filter| (Occur::MustNot, filter.box_clone()));
            let check = BooleanQuery::new(quotes.chain(others).collect());
            self.best(&FilteredQuery { ranked: Box::new(ranked), check: Box::new(check) }, wanted)
        };
        let all_words = || BooleanQuery::intersection(self.statistics.each().collect());
        let mut found = best(all_words())?;
        if found.len() < wanted {
            // A document in whose language a word is a stop word has it only as typed.
            let text = words.iter().map(|word| word.exact.as_str()).collect::<Vec<_>>();
            let literal = BooleanQuery::intersection(self.statistics.literal(&text));
            let mut clauses: Vec<(Occur, Box<dyn IndexQuery>)> = vec![
                (Occur::Must, Box::new(ConstScoreQuery::new(Box::new(literal), 0.0))),
                (Occur::MustNot, Box::new(all_words())),
            ];
            let words = self.statistics.words.iter().flat_map(ScoredWord::terms);
            clauses.extend(words.map(|term| (Occur::Should, term)));
            found.extend(best(BooleanQuery::new(clauses))?);
            found.truncate(wanted);
        }
        Ok(found)
    }

    fn run(&self, occur: Occur, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        let clauses = match occur {
            Occur::Should => {
                self.statistics.words.iter().flat_map(ScoredWord::terms).map(|term| (occur, term)).collect()
            }
            Occur::Must | Occur::MustNot => self.statistics.each().map(|word| (occur, word)).collect(),
        };
        self.collect(clauses, wanted)
    }

    /// Runs the scoring clauses within the filters.
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
                let conjunctive = scoring.iter().any(|(occur, _)| *occur == Occur::Must);
                let optional = !conjunctive && *plain_words == 0 && filters().next().is_some();
                let occur = if optional { Occur::Should } else { Occur::Must };
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

/// Appends those of `more` that are not among `found`, which are the better ones.
pub(crate) fn append_new(found: &mut Vec<Candidate>, more: Vec<Candidate>) {
    let mut seen: Vec<DocAddress> = found.iter().map(|candidate| candidate.address).collect();
    seen.sort_unstable();
    found.extend(more.into_iter().filter(|candidate| seen.binary_search(&candidate.address).is_err()));
}
