//! One search: compile, find candidates, rank them, show the best.
//!
//! Finding is two cheap passes of the engine instead of one clever query: first the documents with all words, and
//! only when these are too few, the best of those with some. Both stay simple enough for the engine to skip most
//! postings. Ranking then looks at word positions of a few dozen candidates, and the passages shown come from the
//! same positions, so no text is analysed at query time.

use std::cmp::Reverse;

use jiff::Timestamp;
use tantivy::query::{Query as IndexQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Term};
use websvc_query::{Query, Sort, TbsRange};
use websvc_stage::{Stage, StageTimes};

use crate::country;
use crate::display_doc::{DisplayDoc, DisplayDocHeader};
use crate::feedback::RelevanceFeedback;
use crate::filter::{Compiled, Compiler};
use crate::finder::{CandidateFinder, append_new};
use crate::freshness::{SegmentDates, boost_fresh};
use crate::rank::{
    Candidate, QueryStatistics, SATURATION, ScoredWord, best_first, mark_close_candidates, rank,
    read_positions, typed,
};
use crate::select::{Selection, SelectionRules, leaves_others, select};
use crate::snippet;
use crate::sub_index::{SubIndexSearcher, find};
use crate::suggest::did_you_mean;

/// Options of a search beside its query text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// Vertical of the search.
    pub vertical: Vertical,
    /// How many hits at most.
    pub limit: usize,
    /// Which hosts may or may not occur.
    pub domains: DomainFilter,
    /// Only documents whose date lies in this range; documents without a date are left out.
    pub time: Option<TbsRange>,
    /// The moment that relative ranges are counted back from.
    pub now: Timestamp,
    /// The order of the hits.
    pub sort: Sort,
    /// Content of [`Hit::description`].
    pub highlights: SnippetMode,
    /// Filter of explicit pages and their images.
    pub safe: Safe,
    /// The country of the searcher, ISO 3166-1 alpha-2 in upper case. Its pages come before others that are as good.
    pub country: Option<String>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            vertical: Vertical::Web,
            limit: 10,
            domains: DomainFilter::Any,
            time: None,
            now: Timestamp::UNIX_EPOCH,
            sort: Sort::Relevance,
            highlights: SnippetMode::Passages,
            safe: Safe::Off,
            country: None,
        }
    }
}

/// Verticals of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vertical {
    /// Pages.
    #[default]
    Web,
    /// The images of pages, each URL once.
    Images,
    /// Pages that are news.
    News,
}

/// Filter of explicit pages: those that label themselves, and those that use explicit words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Safe {
    /// Nothing is left out.
    #[default]
    Off,
    /// Explicit pages are left out.
    On,
}

/// Restricts hits to hosts; a host stands for its subdomains too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DomainFilter {
    /// All hosts.
    #[default]
    Any,
    /// Only these hosts.
    Include(Vec<String>),
    /// All but these hosts.
    Exclude(Vec<String>),
}

/// Content of a hit's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SnippetMode {
    /// The passage of the page that answers the query best.
    #[default]
    Passages,
    /// The page's own description, whatever was asked.
    PageDescription,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchOutcome {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Parts of the query that could not be applied, as sentences for the caller.
    pub warnings: Vec<String>,
}

/// A page or an image that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The URL of the page.
    pub url: String,
    /// The title; of an image its alternative text, else its caption, else the title of the page. May be empty.
    pub title: String,
    /// A passage or the page's description (see [`SnippetMode`]), about 160 to 300 characters; may be empty. Of an
    /// image a passage of the text around it, or its caption.
    pub description: String,
    /// The relevance; only comparable within one answer.
    pub score: f32,
    /// The two-letter language code, where the language is known.
    pub language: Option<String>,
    /// When the page says it was published.
    pub published: Option<Timestamp>,
    /// When the page was published, else modified, else first seen.
    pub date: Option<Timestamp>,
    /// The image, or the picture of a piece of news.
    pub image: Option<HitImage>,
}

/// The picture of a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitImage {
    /// Its absolute URL.
    pub url: String,
    /// Width in pixels, when known.
    pub width: Option<u32>,
    /// Height in pixels, when known.
    pub height: Option<u32>,
}

/// Up to this many words, documents that lack one come after all that have all: such queries are names and
/// keywords. Longer ones are sentences, where many words are dispensable.
pub(crate) const KEYWORDS: usize = 4;

/// How many candidates beyond the limit are looked at closely.
const SPARE_CANDIDATES: usize = 20;

/// How much a page of the searcher's country gains, as a share of the greatest possible BM25 score: it passes pages
/// that are about as good, and no better one.
const COUNTRY_SHARE: f32 = 0.05;

/// How many times as many are looked at when copies of the same page took the places.
const WIDER: usize = 8;

/// When hits stand for several candidates, at most this many candidates are looked at.
const MAX_CANDIDATES: usize = 5_000;

/// One state of the index, ready to be searched.
pub(crate) struct IndexSearcher<'a> {
    pub(crate) pages: &'a SubIndexSearcher,
    pub(crate) images: &'a SubIndexSearcher,
    pub(crate) stages: &'a StageTimes,
}

impl IndexSearcher<'_> {
    pub(crate) fn search(&self, query: &Query, options: &SearchOptions) -> tantivy::Result<SearchOutcome> {
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
        let (mut chosen, observed) = self.stages.time(Stage::Rank, || match options.vertical {
            Vertical::Images => self.choose_images(&compiled, &statistics, options),
            Vertical::Web | Vertical::News => {
                choose_pages(view, &mut compiled, &statistics, options, SelectionRules::of(query, options))
            }
        })?;
        let hits = self.stages.time(Stage::Snippets, || -> tantivy::Result<Vec<Hit>> {
            let mut hits = Vec::with_capacity(chosen.len());
            for candidate in &mut chosen {
                let bytes = candidate.card(view)?;
                if let Some(card) = DisplayDoc::decode(&bytes) {
                    hits.push(hit(&card, candidate, &observed, &statistics.words, options.highlights));
                }
            }
            Ok(hits)
        })?;
        if hits.is_empty() {
            compiled.warnings.extend(did_you_mean(searcher, fields, query, &compiled.words)?);
        }
        Ok(SearchOutcome { hits, warnings: compiled.warnings })
    }

    /// Finds and orders images, each once; returns with them where the words stand in them.
    fn choose_images(
        &self,
        compiled: &Compiled,
        statistics: &QueryStatistics,
        options: &SearchOptions,
    ) -> tantivy::Result<(Vec<Candidate>, WordPositions)> {
        let finder = CandidateFinder { searcher: &self.images.searcher, compiled, statistics, options };
        let mut wanted = options.limit + SPARE_CANDIDATES;
        loop {
            let mut candidates = finder.find_candidates(wanted)?;
            let more = candidates.len() >= wanted && wanted < MAX_CANDIDATES;
            let observed = order(self.images, statistics, options, &mut candidates)?;
            let candidates = self.each_image_once(candidates, options.limit)?;
            if candidates.len() >= options.limit || !more {
                return Ok((candidates, observed));
            }
            wanted *= 4;
        }
    }

    /// Keeps the best candidate of each image whose page is there, at most `limit`.
    fn each_image_once(&self, candidates: Vec<Candidate>, limit: usize) -> tantivy::Result<Vec<Candidate>> {
        let SubIndexSearcher { fields, searcher, .. } = self.images;
        let (mut kept, mut seen) = (Vec::new(), Vec::new());
        for mut candidate in candidates {
            let address = candidate.address;
            let columns = searcher.segment_reader(address.segment_ord).fast_fields();
            let identity = columns.u64("fingerprint")?.first(address.doc_id);
            if seen.contains(&identity) {
                continue;
            }
            let bytes = candidate.card(self.images)?;
            let Some(card) = DisplayDoc::decode(&bytes) else { continue };
            if find(&self.pages.searcher, fields, card.head.url)?.is_some() {
                seen.push(identity);
                kept.push(candidate);
            }
            if kept.len() >= limit {
                break;
            }
        }
        Ok(kept)
    }
}

/// Finds, orders and chooses pages; returns with them where the words stand in them.
fn choose_pages(
    view: &SubIndexSearcher,
    compiled: &mut Compiled,
    statistics: &QueryStatistics,
    options: &SearchOptions,
    rules: SelectionRules,
) -> tantivy::Result<(Vec<Candidate>, WordPositions)> {
    let mut wanted = options.limit + SPARE_CANDIDATES;
    let mut candidates = Vec::new();
    let mut widened = false;
    loop {
        let finder = CandidateFinder { searcher: &view.searcher, compiled, statistics, options };
        append_new(&mut candidates, finder.find_candidates(wanted)?);
        let observed = order(view, statistics, options, &mut candidates)?;
        let Selection { chosen, crowding } = select(&mut candidates, view, rules, options.limit)?;
        let copies = chosen.len() < options.limit;
        let exhausted = candidates.len() < wanted;
        if widened || exhausted || !(copies || leaves_others(view, &crowding)?) {
            return Ok((chosen, observed));
        }
        // Once more without the hosts that crowd the first hits, or deeper below the copies.
        widened = true;
        if copies {
            wanted *= WIDER;
        }
        compiled.excluded.extend(crowding.iter().map(|host| documents_of(view, host)));
    }
}

/// Puts candidates in the order that is asked for, and returns where the words stand in them.
fn order(
    view: &SubIndexSearcher,
    statistics: &QueryStatistics,
    options: &SearchOptions,
    candidates: &mut [Candidate],
) -> tantivy::Result<WordPositions> {
    let SubIndexSearcher { fields, searcher, generation } = view;
    let observed = read_positions(searcher, &statistics.words, candidates)?;
    match options.sort {
        Sort::Relevance => {
            let keywords = typed(&statistics.words).len() <= KEYWORDS;
            rank(&statistics.words, &observed, keywords, candidates);
            if !keywords {
                RelevanceFeedback { view, statistics, observed: &observed }.rescore(candidates)?;
            }
            if let Some(country) = &options.country {
                let bonus = COUNTRY_SHARE * statistics.maximum().max(SATURATION);
                country::boost_country(searcher, fields, country, bonus, candidates)?;
            }
            boost_fresh(&generation.dates, options.now, statistics.maximum(), candidates);
            best_first(candidates);
            if !keywords {
                mark_close_candidates(candidates);
            }
        }
        Sort::Date => sort_by_date(&generation.dates, candidates),
    }
    Ok(observed)
}

/// Returns the documents of a host and its subdomains.
fn documents_of(view: &SubIndexSearcher, host: &str) -> Box<dyn IndexQuery> {
    Box::new(TermQuery::new(Term::from_field_text(view.fields.site, host), IndexRecordOption::Basic))
}

fn hit(
    card: &DisplayDoc<'_>,
    candidate: &Candidate,
    observed: &[(u32, u16)],
    words: &[ScoredWord],
    highlights: SnippetMode,
) -> Hit {
    let description = match highlights {
        SnippetMode::Passages => snippet::snippet(card, &observed[candidate.observed.clone()], words),
        SnippetMode::PageDescription => snippet::page_description(card),
    };
    let DisplayDocHeader { url, title, language, published, date, image, width, height, .. } = card.head;
    let time = |at: Option<i64>| at.and_then(|at| Timestamp::from_second(at).ok());
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

/// Positions of the words in candidates, see [`observe`].
type WordPositions = Vec<(u32, u16)>;

fn sort_by_date(dates: &[SegmentDates], candidates: &mut [Candidate]) {
    let date = |at: DocAddress| dates[at.segment_ord as usize].date(at.doc_id);
    candidates.sort_by_cached_key(|candidate| Reverse(date(candidate.address)));
}
