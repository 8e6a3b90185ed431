//! Execution of a search: compile the query, find candidates, rank them and build the hits.
//!
//! Finding runs two simple tantivy queries instead of a complex one: first for documents with all words, then, if there
//! are too few, for the best documents with some of the words. Both are simple enough for tantivy to skip most
//! postings. Ranking then reads the word positions of a few dozen candidates. Snippets are chosen by the same
//! positions, so no text is tokenized for them.
//!
//! The limit of a search must not change the order of its hits. Candidates are therefore ranked to a fixed depth
//! ([`FIRST_DEPTH`]). Only if that gives too few hits, more candidates are ranked, and follow after the hits so far.

use std::cmp::Reverse;
use std::ops::Range;

use jiff::Timestamp;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Query as IndexQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Term};
use websvc_query::{Query, Sort};
use websvc_stage::{Stage, StageTimes};

use crate::candidate::{Candidate, best_first};
use crate::compiled::Compiled;
use crate::country;
use crate::display_doc::{DisplayDoc, DisplayDocHeader};
use crate::feedback::RelevanceFeedback;
use crate::filter::Compiler;
use crate::finder::{CandidateFinder, Found, append_new};
use crate::freshness::boost_fresh;
use crate::place::{boost_places, named_in};
use crate::rank::{QueryStatistics, SATURATION, ScoredWord, mark_close_candidates, rank, read_positions};
use crate::search_options::{Hit, HitImage, SearchOptions, SearchOutcome, SnippetMode, Vertical};
use crate::segment_dates::SegmentDates;
use crate::select::{Selection, SelectionRules};
use crate::semantic::{Meaning, MeaningSource};
use crate::snippet;
use crate::sub_index::{SubIndexSearcher, find};
use crate::suggest::{did_you_mean, showing_results_for};

/// Number of candidates that every search ranks, enough for ten hits.
const FIRST_DEPTH: usize = 30;

/// Factor of the number of candidates that are ranked next, if those so far gave too few hits.
const DEPTH_FACTOR: usize = 4;

/// Minimum number of candidates that are ranked before a search for pages ends with too few hits, because others were
/// copies. A larger limit allows [`DEPTH_FACTOR`] candidates for each hit.
const MAX_DEPTH: usize = FIRST_DEPTH * DEPTH_FACTOR * DEPTH_FACTOR;

/// Bonus of a page of the searcher's country, as a share of the maximum BM25 score. It is too small to pass pages that
/// are clearly more relevant.
const COUNTRY_SHARE: f32 = 0.05;

/// Maximum candidates of an image search, which may have many candidates for the same image.
const MAX_CANDIDATES: usize = 5_000;

/// A searcher of one state of the index, which consists of pages and images.
pub(crate) struct IndexSearcher<'a> {
    pub(crate) pages: &'a SubIndexSearcher,
    pub(crate) images: &'a SubIndexSearcher,
    pub(crate) stages: &'a StageTimes,
}

impl IndexSearcher<'_> {
    /// Searches by words and, with `meaning`, by that as well.
    pub(crate) fn search(
        &self,
        query: &Query,
        options: &SearchOptions,
        meaning: Option<MeaningSource<'_>>,
    ) -> tantivy::Result<SearchOutcome> {
        let view = match options.vertical {
            Vertical::Web | Vertical::News => self.pages,
            Vertical::Images => self.images,
        };
        let SubIndexSearcher { fields, searcher, generation } = view;
        let compiler = Compiler {
            searcher,
            fields,
            vocabulary: &generation.vocabulary,
            vertical: options.vertical,
            pages: self.pages,
        };
        let mut compiled = compiler.compile(query)?;
        if options.limit == 0 || compiled.is_empty() {
            return Ok(SearchOutcome { hits: Vec::new(), warnings: compiled.warnings });
        }
        compiler.restrict(options, &mut compiled);
        let statistics = QueryStatistics::new(searcher, fields, &compiled)?;
        let meaning = meaning.map(|source| Meaning::new(source, &compiled, &statistics, options));
        let meaning = meaning.transpose()?.flatten();
        let (mut selected, positions) = self.stages.time(Stage::Rank, || match options.vertical {
            Vertical::Images => self.select_images(&compiled, &statistics, options),
            Vertical::Web | Vertical::News => {
                let ranking =
                    PageRanking { view, statistics: &statistics, options, meaning: meaning.as_ref() };
                ranking.select(&mut compiled, SelectionRules::from_query(query, options))
            }
        })?;
        let hits = self.stages.time(Stage::Snippets, || -> tantivy::Result<Vec<Hit>> {
            let mut hits = Vec::with_capacity(selected.len());
            for candidate in &mut selected {
                let bytes = candidate.display_doc(view)?;
                if let Some(doc) = DisplayDoc::decode(&bytes) {
                    hits.push(hit(&doc, candidate, &positions, &statistics.words, options.highlights));
                }
            }
            Ok(hits)
        })?;
        if hits.is_empty() {
            let Compiled { words, corrections, .. } = &compiled;
            let suggestion = did_you_mean(searcher, fields, query, words, corrections)?;
            compiled.warnings.extend(suggestion);
        } else {
            compiled.warnings.extend(showing_results_for(query, &compiled.corrections));
        }
        Ok(SearchOutcome { hits, warnings: compiled.warnings })
    }

    /// Finds and ranks distinct images. Returns them with the word positions of all candidates.
    fn select_images(
        &self,
        compiled: &Compiled,
        statistics: &QueryStatistics,
        options: &SearchOptions,
    ) -> tantivy::Result<(Vec<Candidate>, WordPositions)> {
        let finder = CandidateFinder { searcher: &self.images.searcher, compiled, statistics, options };
        let (mut images, mut seen, mut positions) = (Vec::new(), Vec::new(), WordPositions::new());
        let mut depth = FIRST_DEPTH;
        loop {
            let Found { mut candidates, has_more } = finder.find_candidates(depth)?;
            sort_candidates(self.images, statistics, options, None, &mut candidates, &mut positions)?;
            self.add_distinct_images(candidates, options.limit, &mut seen, &mut images)?;
            if images.len() >= options.limit || !has_more || depth >= MAX_CANDIDATES {
                return Ok((images, positions));
            }
            depth *= DEPTH_FACTOR;
        }
    }

    /// Adds the best candidate of each new image whose page is committed, until there are `limit`. `seen` has the
    /// fingerprints of the images.
    fn add_distinct_images(
        &self,
        candidates: Vec<Candidate>,
        limit: usize,
        seen: &mut Vec<Option<u64>>,
        images: &mut Vec<Candidate>,
    ) -> tantivy::Result<()> {
        let SubIndexSearcher { fields, searcher, .. } = self.images;
        for mut candidate in candidates {
            if images.len() >= limit {
                break;
            }
            let address = candidate.address;
            let columns = searcher.segment_reader(address.segment_ord).fast_fields();
            let fingerprint = columns.u64("fingerprint")?.first(address.doc_id);
            if seen.contains(&fingerprint) {
                continue;
            }
            let bytes = candidate.display_doc(self.images)?;
            let Some(doc) = DisplayDoc::decode(&bytes) else { continue };
            if find(&self.pages.searcher, fields, doc.header.url)?.is_some() {
                seen.push(fingerprint);
                images.push(candidate);
            }
        }
        Ok(())
    }
}

/// The ranking of the pages for one query.
struct PageRanking<'a> {
    view: &'a SubIndexSearcher,
    statistics: &'a QueryStatistics,
    options: &'a SearchOptions,
    /// The meaning of the query, if the index has vectors and the query has one.
    meaning: Option<&'a Meaning<'a>>,
}

impl PageRanking<'_> {
    /// Finds, ranks and selects pages. Returns them with the word positions of all candidates.
    fn select(
        &self,
        compiled: &mut Compiled,
        rules: SelectionRules,
    ) -> tantivy::Result<(Vec<Candidate>, WordPositions)> {
        let (view, limit) = (self.view, self.options.limit);
        let (mut selection, mut positions) = (Selection::new(view, rules), WordPositions::new());
        let mut depth = FIRST_DEPTH;
        loop {
            let Found { candidates: mut found, has_more } = self.find(compiled, depth)?;
            if depth == FIRST_DEPTH {
                append_new(&mut found, find_near(view, compiled, self.statistics, self.options)?);
            }
            let mut candidates = found.clone();
            self.sort(&mut candidates, &mut positions)?;
            selection.add(&mut candidates, limit)?;
            let crowding_hosts = selection.crowding_hosts()?.to_vec();
            if depth == FIRST_DEPTH && found.len() >= depth && !crowding_hosts.is_empty() {
                // The hosts that dominate the first hits are left out, and all candidates are ranked again.
                let excluded = compiled.excluded.len();
                compiled.excluded.extend(crowding_hosts.iter().map(|host| documents_of(view, host)));
                append_new(&mut found, self.find(compiled, depth)?.candidates);
                compiled.excluded.truncate(excluded);
                (selection, positions) = (Selection::new(view, rules), WordPositions::new());
                self.sort(&mut found, &mut positions)?;
                selection.add(&mut found, limit)?;
            }
            if selection.len() >= limit || !has_more || depth >= MAX_DEPTH.max(DEPTH_FACTOR * limit) {
                return Ok((selection.into_hits(limit), positions));
            }
            depth *= DEPTH_FACTOR;
        }
    }

    /// Finds candidates by words and by meaning.
    fn find(&self, compiled: &Compiled, depth: usize) -> tantivy::Result<Found> {
        let Self { view, statistics, options, meaning } = self;
        let finder = CandidateFinder { searcher: &view.searcher, compiled, statistics, options };
        let Some(meaning) = meaning else { return finder.find_candidates(depth) };
        let mut found = finder.find_candidates(meaning.min_depth(depth))?;
        found.has_more |= meaning.add_nearest(view, compiled, statistics, (depth, &mut found.candidates))?;
        Ok(found)
    }

    fn sort(&self, candidates: &mut [Candidate], all_positions: &mut WordPositions) -> tantivy::Result<()> {
        sort_candidates(self.view, self.statistics, self.options, self.meaning, candidates, all_positions)
    }
}

/// Finds the best pages that name the city of the searcher, because it may be on none of the best pages.
fn find_near(
    view: &SubIndexSearcher,
    compiled: &mut Compiled,
    statistics: &QueryStatistics,
    options: &SearchOptions,
) -> tantivy::Result<Vec<Candidate>> {
    let Some(city) = options.places.first().filter(|place| !place.is_region) else { return Ok(Vec::new()) };
    if options.sort == Sort::Date {
        return Ok(Vec::new());
    }
    let names = BooleanQuery::union(named_in(view.fields.exact, city));
    compiled.filters.push(Box::new(ConstScoreQuery::new(Box::new(names), 0.0)));
    let finder = CandidateFinder { searcher: &view.searcher, compiled, statistics, options };
    let found = finder.find_candidates(FIRST_DEPTH);
    compiled.filters.pop();
    Ok(found?.candidates)
}

/// Sorts candidates in the requested order, and appends their word positions to those of earlier candidates.
fn sort_candidates(
    view: &SubIndexSearcher,
    statistics: &QueryStatistics,
    options: &SearchOptions,
    meaning: Option<&Meaning<'_>>,
    candidates: &mut [Candidate],
    all_positions: &mut WordPositions,
) -> tantivy::Result<()> {
    let SubIndexSearcher { fields, searcher, generation } = view;
    let positions = read_positions(searcher, &statistics.words, candidates)?;
    match options.sort {
        Sort::Relevance => {
            rank(statistics, &positions, meaning.is_some(), candidates);
            let is_keyword_query = statistics.is_keyword_query();
            if !is_keyword_query {
                RelevanceFeedback { view, statistics, positions: &positions }.rescore(meaning, candidates)?;
            }
            if let Some(country) = &options.country {
                let bonus = COUNTRY_SHARE * statistics.max_score().max(SATURATION);
                country::boost_country(searcher, fields, country, bonus, candidates)?;
            }
            let max_score = statistics.max_score().max(SATURATION);
            boost_places(searcher, fields, &options.places, max_score, candidates)?;
            boost_fresh(&generation.dates, options.now, statistics.max_score(), candidates);
            best_first(candidates);
            if let Some(meaning) = meaning {
                meaning.combine(view, candidates)?;
            }
            if !is_keyword_query || meaning.is_some() {
                mark_close_candidates(candidates);
            }
        }
        Sort::Date => sort_by_date(&generation.dates, candidates),
    }
    let offset = all_positions.len();
    for candidate in candidates {
        let Range { start, end } = candidate.positions;
        candidate.positions = start + offset..end + offset;
    }
    all_positions.extend(positions);
    Ok(())
}

/// Returns the documents of a host and its subdomains.
fn documents_of(view: &SubIndexSearcher, host: &str) -> Box<dyn IndexQuery> {
    Box::new(TermQuery::new(Term::from_field_text(view.fields.site, host), IndexRecordOption::Basic))
}

fn hit(
    doc: &DisplayDoc<'_>,
    candidate: &Candidate,
    positions: &[(u32, u16)],
    words: &[ScoredWord],
    mode: SnippetMode,
) -> Hit {
    let description = match mode {
        SnippetMode::Passages => snippet::snippet(doc, &positions[candidate.positions.clone()], words),
        SnippetMode::PageDescription => snippet::page_description(doc),
    };
    let DisplayDocHeader { url, title, language, published, date, image, width, height, .. } = doc.header;
    let time = |seconds: Option<i64>| seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    Hit {
        url: url.to_owned(),
        title: title.to_owned(),
        description,
        score: candidate.score,
        language: (!language.is_empty()).then(|| language.to_owned()),
        published: time(published),
        date: time(date),
        image: (!image.is_empty()).then(|| HitImage { url: image.to_owned(), width, height }),
    }
}

/// Word positions of candidates, see [`read_positions`].
type WordPositions = Vec<(u32, u16)>;

fn sort_by_date(dates: &[SegmentDates], candidates: &mut [Candidate]) {
    let date = |address: DocAddress| dates[address.segment_ord as usize].date(address.doc_id);
    candidates.sort_by_cached_key(|candidate| Reverse(date(candidate.address)));
}
