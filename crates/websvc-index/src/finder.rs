//! Finding candidates: the tantivy queries that are run for a search.

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query as IndexQuery};
use tantivy::{DocAddress, Order, Searcher};
use websvc_query::Sort;

use crate::candidate::Candidate;
use crate::compiled::Compiled;
use crate::filtered_query::FilteredQuery;
use crate::rank::{QueryStatistics, ScoredWord, typed};
use crate::search_options::SearchOptions;

/// Minimum documents of a frequent word, all positions of which take long to read.
const FREQUENT_WORD_DOCUMENTS: u64 = 2_000;

/// Number of candidates above the number of hits that are ranked for them.
const SPARE_CANDIDATES: usize = 20;

/// The candidates that were found.
#[derive(Default)]
pub(crate) struct Found {
    /// Documents with the best scores, best first.
    pub(crate) candidates: Vec<Candidate>,
    /// True if a greater depth finds more.
    pub(crate) has_more: bool,
}

/// A finder of candidates for a compiled query.
pub(crate) struct CandidateFinder<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) compiled: &'a Compiled,
    pub(crate) statistics: &'a QueryStatistics,
    pub(crate) options: &'a SearchOptions,
}

impl CandidateFinder<'_> {
    /// Returns about `depth` documents with the best BM25 scores. Weaker matches are left out while the better ones
    /// suffice. The limit of the search has no effect, so that it does not change the order of the hits.
    pub(crate) fn find_candidates(&self, depth: usize) -> tantivy::Result<Found> {
        let enough = depth.saturating_sub(SPARE_CANDIDATES);
        if self.statistics.words.is_empty() {
            return self.find_without_words(depth, enough);
        }
        if self.has_frequent_phrases() {
            return Ok(complete(self.find_phrases(depth)?, depth));
        }
        let by_date = self.options.sort == Sort::Date;
        let is_keyword_query = self.statistics.is_keyword_query();
        let mut found = Vec::new();
        if !self.statistics.runs.is_empty() && !by_date {
            found = self.find_runs(depth)?;
            if is_keyword_query && found.len() >= enough {
                return Ok(Found { candidates: found, has_more: true });
            }
        }
        let can_require_all = typed(&self.statistics.words).len() > 1 && !self.compiled.is_quoted();
        if can_require_all && (is_keyword_query || by_date) {
            append_new(&mut found, self.run(Occur::Must, depth)?);
            if by_date && !found.is_empty() {
                return Ok(complete(found, depth));
            }
            if found.len() >= enough {
                return Ok(Found { candidates: found, has_more: true });
            }
        }
        let some_words = self.run(Occur::Should, depth)?;
        let has_more = some_words.len() >= depth;
        append_new(&mut found, some_words);
        Ok(Found { candidates: found, has_more })
    }

    /// Finds documents by filters alone or, if all words are stop words, by the exact words.
    fn find_without_words(&self, depth: usize, enough: usize) -> tantivy::Result<Found> {
        if self.compiled.plain_words == 0 {
            return Ok(complete(self.collect(Vec::new(), depth)?, depth));
        }
        if !self.compiled.words.iter().all(|word| word.forms.is_empty()) || self.compiled.words.is_empty() {
            // None of the words occurs in the index.
            return Ok(Found::default());
        }
        let text = self.compiled.words.iter().map(|word| word.exact.as_str()).collect::<Vec<_>>();
        let mut found = match self.statistics.phrase_query(&text) {
            Some(phrase) => self.collect(vec![(Occur::Must, phrase)], depth)?,
            None => Vec::new(),
        };
        if found.len() >= enough {
            return Ok(Found { candidates: found, has_more: true });
        }
        let exact = self.statistics.exact_queries(&text);
        let clauses = exact.into_iter().map(|term| (Occur::Must, term)).collect();
        let all_words = self.collect(clauses, depth)?;
        let has_more = all_words.len() >= depth;
        append_new(&mut found, all_words);
        Ok(Found { candidates: found, has_more })
    }

    /// Finds documents in which one of the runs of the query occurs as typed, such as `1.2.3`. The parts of a run may be
    /// frequent, so that the documents with the best scores need not have the run.
    fn find_runs(&self, depth: usize) -> tantivy::Result<Vec<Candidate>> {
        let runs = self.statistics.runs.iter().map(|run| run.query.box_clone()).collect();
        let any_run = ConstScoreQuery::new(Box::new(BooleanQuery::union(runs)), 0.0);
        let words = self.statistics.words.iter().flat_map(ScoredWord::terms);
        let mut clauses: Vec<(Occur, Box<dyn IndexQuery>)> = vec![(Occur::Must, Box::new(any_run))];
        clauses.extend(words.map(|word| (Occur::Should, word)));
        self.collect(vec![(Occur::Must, Box::new(BooleanQuery::new(clauses)))], depth)
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

/// Returns the candidates of a query without weaker matches after them.
fn complete(candidates: Vec<Candidate>, depth: usize) -> Found {
    let has_more = candidates.len() >= depth;
    Found { candidates, has_more }
}

/// Appends the candidates of `more` that are not in `found`. The candidates in `found` have better scores.
pub(crate) fn append_new(found: &mut Vec<Candidate>, more: Vec<Candidate>) {
    let mut seen: Vec<DocAddress> = found.iter().map(|candidate| candidate.address).collect();
    seen.sort_unstable();
    found.extend(more.into_iter().filter(|candidate| seen.binary_search(&candidate.address).is_err()));
}
