//! The names of the stages.

use tracing::Span;
use tracing::field::Empty;

use crate::request::TARGET;

macro_rules! stages {
    ($($(#[$doc:meta])* $stage:ident = $name:literal,)*) => {
        /// A part of the work on a request. Some are within others: `fetch` within `page` within `gather`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Stage {
            $($(#[$doc])* $stage,)*
        }

        impl Stage {
            /// All of them, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$stage,)*];

            /// Returns the name, as metrics, traces and the manual spell it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$stage => $name,)*
                }
            }

            /// Makes a span of this name; its fields are all that a stage may tell.
            pub(crate) fn span(self) -> Span {
                match self {
                    $(Self::$stage => {
                        tracing::info_span!(target: TARGET, $name, source = Empty)
                    })*
                }
            }
        }
    };
}

stages! {
    /// Authentication of the caller.
    Authenticate = "authenticate",
    /// The wait to be let in.
    Admit = "admit",
    /// The body to a plan.
    Decode = "decode",
    /// The wait of a search for a turn on the processors.
    ComputeWait = "compute_wait",
    /// Credits are held.
    Hold = "hold",
    /// The results of a search, from all sources.
    Find = "find",
    /// One source is asked.
    Source = "source",
    /// The embedded index finds, orders and chooses.
    Rank = "rank",
    /// The embedded index writes the passages of its hits.
    Snippets = "snippets",
    /// The lists of the sources become one.
    Merge = "merge",
    /// Threat protection checks the results.
    ThreatFilter = "threat_filter",
    /// The pages of the results.
    Gather = "gather",
    /// One page.
    Page = "page",
    /// Threat protection checks one URL of a page.
    UrlCheck = "url_check",
    /// The page cache is asked.
    Cache = "cache",
    /// A page comes from its host.
    Fetch = "fetch",
    /// The browser draws a page.
    Browser = "browser",
    /// A document, such as a PDF, becomes a page.
    Document = "document",
    /// A page is parsed and written in its formats.
    Extract = "extract",
    /// A language model is asked.
    Model = "model",
    /// A page goes to the page cache.
    Store = "store",
    /// The files of a page go to where they are kept.
    Publish = "publish",
    /// Pages go to the index and its mirrors.
    Ingest = "ingest",
    /// Hits and pages become the answer.
    Assemble = "assemble",
    /// Credits are charged.
    Settle = "settle",
    /// The answer becomes bytes.
    Encode = "encode",
}
