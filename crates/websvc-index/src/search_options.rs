//! The options of a search and its outcome.

use std::time::Instant;

use jiff::Timestamp;
use websvc_query::{Sort, TbsRange};

/// Options of a search in addition to the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// Vertical of the search.
    pub vertical: Vertical,
    /// Maximum hits.
    pub limit: usize,
    /// Filter of hosts.
    pub domains: DomainFilter,
    /// Filter of dates; excludes documents without a date.
    pub time: Option<TbsRange>,
    /// The current time, from which relative ranges and the age of documents are computed.
    pub now: Timestamp,
    /// The order of the hits.
    pub sort: Sort,
    /// Content of [`Hit::description`].
    pub highlights: SnippetMode,
    /// Filter of explicit pages and their images.
    pub safe: Safe,
    /// The country of the searcher, ISO 3166-1 alpha-2 in upper case. Its pages rank before equally relevant ones.
    pub country: Option<String>,
    /// The time until which the encoder of the query may take; then the search is one by words.
    pub deadline: Option<Instant>,
    /// The city and the region of the searcher, the nearest first. Pages that name them rank before others.
    pub places: Vec<Place>,
}

/// A place of the searcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its names in several languages. A page names the place if it has one of them.
    pub names: Vec<String>,
    /// True for a region, whose pages rank before others by less.
    pub is_region: bool,
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
            places: Vec::new(),
            deadline: None,
        }
    }
}

/// Verticals of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vertical {
    /// Pages.
    #[default]
    Web,
    /// The images of pages; each image URL occurs once.
    Images,
    /// News pages.
    News,
}

/// Filter of explicit pages, which label themselves as such or have explicit words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Safe {
    /// Explicit pages are included.
    #[default]
    Off,
    /// Explicit pages are excluded.
    On,
}

/// Filter of hosts; each host includes its subdomains.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DomainFilter {
    /// All hosts.
    #[default]
    Any,
    /// Only these hosts.
    Include(Vec<String>),
    /// All hosts except these.
    Exclude(Vec<String>),
}

/// Content of the description of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SnippetMode {
    /// The passage of the page that matches the query best.
    #[default]
    Passages,
    /// The description from the metadata of the page, independent of the query.
    PageDescription,
}

/// The outcome of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchOutcome {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Warnings for the user, such as operators that were ignored or a spelling suggestion.
    pub warnings: Vec<String>,
}

/// A page or an image that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The URL of the page.
    pub url: String,
    /// The title; may be empty. The title of an image is the first non-empty one of its alternative text, its caption
    /// and the title of the page.
    pub title: String,
    /// A passage or the description of the page (see [`SnippetMode`]) of about 160 to 300 characters; may be empty. For
    /// an image, a passage of the text around it, or its caption.
    pub description: String,
    /// The relevance; only comparable within one outcome.
    pub score: f32,
    /// The two-letter language code, if the language is known.
    pub language: Option<String>,
    /// Publication date from the metadata of the page.
    pub published: Option<Timestamp>,
    /// The first known of: time of publication, of modification, first seen.
    pub date: Option<Timestamp>,
    /// The image, or the image of a news article.
    pub image: Option<HitImage>,
}

/// The image of a hit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HitImage {
    /// The absolute URL.
    pub url: String,
    /// Width in pixels; `None` if unknown.
    pub width: Option<u32>,
    /// Height in pixels; `None` if unknown.
    pub height: Option<u32>,
}
