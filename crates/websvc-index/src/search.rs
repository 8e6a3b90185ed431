//! One search: compile, find candidates, rank them, show the best.
//!
//! Finding is two cheap passes of the engine instead of one clever query: first the documents with all words, and
//! only when these are too few, the best of those with some. Both stay simple enough for the engine to skip most
//! postings. Ranking then looks at word positions of a few dozen candidates, and the passages shown come from the
//! same positions, so no text is analysed at query time.

use jiff::Timestamp;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query as IndexQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Order, Searcher, Term};
use websvc_query::{Query, Sort, TbsRange};

use crate::card::{Card, Head};
use crate::feedback::Feedback;
use crate::filter::{Compiled, Compiler};
use crate::freshness::prefer_fresh;
use crate::highlight;
use crate::place;
use crate::rank::{
    Candidate, SATURATION, ScoredWord, Statistics, best_first, observe, rank, tell_rivals, typed,
};
use crate::select::{Rules, Selection, leaves_others, select};
use crate::shelf::{View, find};
use crate::suggest::did_you_mean;

/// What to search for beside the query text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// What is searched for.
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
    /// What [`Hit::description`] holds.
    pub highlights: Highlights,
    /// Whether explicit pages are left out, and the images of such pages.
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
            highlights: Highlights::Passages,
            safe: Safe::Off,
            country: None,
        }
    }
}

/// What is searched for.
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

/// Whether explicit pages are left out: those that say so of themselves, and those whose words do.
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

/// What the description of a hit holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Highlights {
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
    /// A passage or the page's description (see [`Highlights`]), about 160 to 300 characters; may be empty. Of an
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
pub(crate) struct Snapshot<'a> {
    pub(crate) pages: &'a View,
    pub(crate) images: &'a View,
}

impl Snapshot<'_> {
    pub(crate) fn search(&self, query: &Query, options: &SearchOptions) -> tantivy::Result<SearchOutcome> {
        let view = match options.vertical {
            Vertical::Web | Vertical::News => self.pages,
            Vertical::Images => self.images,
        };
        let View { fields, searcher, generation } = view;
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
        let statistics = Statistics::new(searcher, fields, &compiled)?;
        let (mut chosen, observed) = match options.vertical {
            Vertical::Images => self.choose_images(&compiled, &statistics, options)?,
            Vertical::Web | Vertical::News => {
                choose_pages(view, &mut compiled, &statistics, options, Rules::of(query, options))?
            }
        };
        let mut hits = Vec::with_capacity(chosen.len());
        for candidate in &mut chosen {
            let bytes = candidate.stored(view)?;
            if let Some(card) = Card::decode(&bytes) {
                hits.push(hit(&card, candidate, &observed, &statistics.words, options.highlights));
            }
        }
        if hits.is_empty() {
            compiled.warnings.extend(did_you_mean(searcher, fields, query, &compiled.words)?);
        }
        Ok(SearchOutcome { hits, warnings: compiled.warnings })
    }

    /// Finds and orders images, each once; returns with them where the words stand in them.
    fn choose_images(
        &self,
        compiled: &Compiled,
        statistics: &Statistics,
        options: &SearchOptions,
    ) -> tantivy::Result<(Vec<Candidate>, Observed)> {
        let finder = Finder { searcher: &self.images.searcher, compiled, statistics, options };
        let mut wanted = options.limit + SPARE_CANDIDATES;
        loop {
            let mut candidates = finder.find(wanted)?;
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
        let View { fields, searcher, .. } = self.images;
        let (mut kept, mut seen) = (Vec::new(), Vec::new());
        for mut candidate in candidates {
            let address = candidate.address;
            let columns = searcher.segment_reader(address.segment_ord).fast_fields();
            let identity = columns.u64("fingerprint")?.first(address.doc_id);
            if seen.contains(&identity) {
                continue;
            }
            let bytes = candidate.stored(self.images)?;
            let Some(card) = Card::decode(&bytes) else { continue };
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
    view: &View,
    compiled: &mut Compiled,
    statistics: &Statistics,
    options: &SearchOptions,
    rules: Rules,
) -> tantivy::Result<(Vec<Candidate>, Observed)> {
    let mut wanted = options.limit + SPARE_CANDIDATES;
    let mut candidates = Vec::new();
    let mut widened = false;
    loop {
        let finder = Finder { searcher: &view.searcher, compiled, statistics, options };
        append_new(&mut candidates, finder.find(wanted)?);
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
    view: &View,
    statistics: &Statistics,
    options: &SearchOptions,
    candidates: &mut [Candidate],
) -> tantivy::Result<Observed> {
    let View { fields, searcher, .. } = view;
    let observed = observe(searcher, &statistics.words, candidates)?;
    match options.sort {
        Sort::Relevance => {
            let keywords = typed(&statistics.words).len() <= KEYWORDS;
            rank(&statistics.words, &observed, keywords, candidates);
            if !keywords {
                Feedback { view, statistics, observed: &observed }.refine(candidates)?;
            }
            if let Some(country) = &options.country {
                let bonus = COUNTRY_SHARE * statistics.maximum().max(SATURATION);
                place::prefer(searcher, fields, country, bonus, candidates)?;
            }
            prefer_fresh(searcher, options.now, statistics.maximum(), candidates)?;
            best_first(candidates);
            if !keywords {
                tell_rivals(candidates);
            }
        }
        Sort::Date => sort_by_date(searcher, candidates)?,
    }
    Ok(observed)
}

/// Returns the documents of a host and its subdomains.
fn documents_of(view: &View, host: &str) -> Box<dyn IndexQuery> {
    Box::new(TermQuery::new(Term::from_field_text(view.fields.site, host), IndexRecordOption::Basic))
}

fn hit(
    card: &Card<'_>,
    candidate: &Candidate,
    observed: &[(u32, u16)],
    words: &[ScoredWord],
    highlights: Highlights,
) -> Hit {
    let description = match highlights {
        Highlights::Passages => highlight::passage(card, &observed[candidate.observed.clone()], words),
        Highlights::PageDescription => highlight::page_description(card),
    };
    let Head { url, title, language, published, date, image, width, height, .. } = card.head;
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

struct Finder<'a> {
    searcher: &'a Searcher,
    compiled: &'a Compiled,
    statistics: &'a Statistics,
    options: &'a SearchOptions,
}

/// Where the words stand in candidates, see [`observe`].
type Observed = Vec<(u32, u16)>;

impl Finder<'_> {
    /// Tells whether the words are few enough to be keywords.
    fn keyword_query(&self) -> bool {
        typed(&self.statistics.words).len() <= KEYWORDS
    }

    fn find(&self, wanted: usize) -> tantivy::Result<Vec<Candidate>> {
        if self.statistics.words.is_empty() {
            return self.find_without_words(wanted);
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
        let top = TopDocs::with_limit(wanted);
        match self.options.sort {
            Sort::Relevance => {
                let found = self.searcher.search_with_statistics_provider(
                    &query,
                    &top.order_by_score(),
                    self.statistics,
                )?;
                Ok(found.into_iter().map(|(score, address)| Candidate::new(address, score)).collect())
            }
            Sort::Date => {
                let newest = top.order_by_fast_field::<i64>("date", Order::Desc);
                let found = self.searcher.search(&query, &newest)?;
                Ok(found.into_iter().map(|(_, address)| Candidate::new(address, 0.0)).collect())
            }
        }
    }
}

/// Appends those of `more` that are not among `found`, which are the better ones.
fn append_new(found: &mut Vec<Candidate>, more: Vec<Candidate>) {
    let mut seen: Vec<DocAddress> = found.iter().map(|candidate| candidate.address).collect();
    seen.sort_unstable();
    found.extend(more.into_iter().filter(|candidate| seen.binary_search(&candidate.address).is_err()));
}

fn sort_by_date(searcher: &Searcher, candidates: &mut [Candidate]) -> tantivy::Result<()> {
    let mut dates = Vec::with_capacity(candidates.len());
    for candidate in candidates.iter() {
        let column = searcher.segment_reader(candidate.address.segment_ord).fast_fields().i64("date")?;
        dates.push((candidate.address, column.first(candidate.address.doc_id)));
    }
    dates.sort_unstable();
    let date = |address: DocAddress| {
        dates.binary_search_by_key(&address, |&(known, _)| known).ok().and_then(|at| dates[at].1)
    };
    candidates.sort_by_key(|candidate| std::cmp::Reverse(date(candidate.address)));
    Ok(())
}
